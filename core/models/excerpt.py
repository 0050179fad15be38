"""Cut a file to whole statements around a region, so that it fits a context window.

What is kept first: the signatures around the region, then imports, then statements by their distance in lines from the
region's home, the function or class around it. So regions of one home are shown in the same excerpt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from rtc_inspector.core.languages import PYTHON, Language
from rtc_inspector.core.languages.trees import Block, Statement, statements
from rtc_inspector.core.syntax import NEWLINE, indent_of
from rtc_inspector.core.types import Span

CUT = "..."
"""Stands, as a comment, for lines that were left out."""
LARGE = 24
"""Lines from which on a compound statement is cut inside rather than dropped whole."""
LEAST_TELLING = 12
"""Characters from which on a line tells its place in a file."""
HOME = 80
"""Lines of a function or class at most for its regions to be shown in the same excerpt."""


@dataclass(frozen=True, slots=True)
class Lines:
    """A half-open range of 0-based line numbers."""

    start: int
    end: int

    def distance(self, other: Lines) -> int:
        return max(0, self.start - other.end, other.start - self.end)


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines kept or cut together. `needs`: signatures they would not make sense without; lower ranks stay longer."""

    lines: Lines
    rank: tuple[int, int, int]
    needs: tuple[Lines, ...]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What is left of a file.

    Attributes:
        before, after: the lines around the region, without line ends.
        cut: whether anything was left out.
        share: of the characters outside the region, those that are shown, 0..1.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    cut: bool
    share: float = 1.0


@dataclass(slots=True)
class Outline:
    """A file's lines and the units outside the region, the most needed first."""

    lines: list[str]
    region: Lines
    home: Lines
    comment: str = "#"
    names: tuple[str, ...] = ()
    units: list[Unit] = field(default_factory=list)

    @classmethod
    def of(cls, text: str, span: Span, language: Language = PYTHON) -> Outline:
        """Parse `text`; a file that does not parse is cut line by line."""
        lines = NEWLINE.split(text)
        start = len(NEWLINE.findall(text, 0, span.start))
        region = Lines(start, start + len(NEWLINE.findall(text, span.start, span.end)) + 1)
        outline = cls(lines, region, region, language.comment)
        tree = statements(text, language)
        if tree is None:
            outline.units = [outline._unit(Lines(i, i + 1), 2, ()) for i in range(len(lines))]
        else:
            outline.home = _home(tree, region)
            outline.units = list(outline._block(tree, Lines(0, len(lines)), ()))
        outline.units = [u for u in outline.units if u.lines.start < u.lines.end and not outline._inside(u.lines)]
        outline.units.sort(key=lambda u: u.rank)
        return outline

    @property
    def region_lines(self) -> list[str]:
        return self.lines[self.region.start : self.region.end]

    def excerpt(self, kept: int) -> Excerpt:
        """The region's surroundings with the first `kept` units only."""
        wanted = [False] * len(self.lines)
        for unit in self.units[:kept]:
            for part in (unit.lines, *unit.needs):
                wanted[part.start : part.end] = [True] * (part.end - part.start)
        # A unit that holds more than the region has some of the region's own lines: those are not shown around it.
        wanted[self.region.start : self.region.end] = [False] * len(self.region_lines)
        before = self._shown(range(self.region.start), wanted)
        after = self._shown(range(self.region.end, len(self.lines)), wanted)
        shown = sum(len(line) for line, kept_line in zip(self.lines, wanted, strict=True) if kept_line)
        return Excerpt(before, after, kept < len(self.units), shown / self._outside if self._outside else 1.0)

    @property
    def _outside(self) -> int:
        return sum(map(len, self.lines)) - sum(map(len, self.region_lines))

    def cut_before(self, excerpt: Excerpt) -> bool:
        return excerpt.before != tuple(self.lines[: self.region.start])

    def share_before(self, excerpt: Excerpt) -> float:
        """The share of the file outside the region that is shown by who shows only what stands before it."""
        known = set(self.lines[: self.region.start])
        shown = sum(len(line) for line in excerpt.before if line in known)
        return shown / self._outside if self._outside else 1.0

    def line_after(self, indent: str) -> tuple[str, ...]:
        """The line below the region, with the line ends around it, if an answer of that indentation could run into it.

        A short line may well be part of the answer.
        """
        line = next((line for line in self.lines[self.region.end :] if line.strip()), "")
        alike = line.startswith(indent) and not line[len(indent) :][:1].isspace()
        return (f"\n{line.rstrip()}\n",) if alike and len(line.strip()) >= LEAST_TELLING else ()

    def _shown(self, numbers: range, wanted: Sequence[bool]) -> tuple[str, ...]:
        shown: list[str] = []
        gap = False
        for n in numbers:
            if wanted[n]:
                if gap:
                    shown.append(f"{indent_of(self.lines[n])}{self.comment} {CUT}")
                shown.append(self.lines[n])
                gap = False
            elif self.lines[n].strip():
                gap = True
        if gap:
            below = numbers.stop <= self.region.start
            shown.append(f"{indent_of(self.lines[self.region.start]) if below else ''}{self.comment} {CUT}")
        return tuple(shown)

    # ------------------------------------------------------------------ units

    def _block(self, block: Block, limits: Lines, needs: tuple[Lines, ...]) -> Iterator[Unit]:
        """Yield units of one block; blank lines and comments go with the statement after them."""
        at, body = limits.start, block.statements
        for i, statement in enumerate(body):
            last = i + 1 == len(body)
            end = limits.end if last else min(body[i + 1].first - 1, statement.last)
            end = max(at, end)
            yield from self._statement(statement, Lines(at, end), needs)
            at = end

    def _statement(self, statement: Statement, lines: Lines, needs: tuple[Lines, ...]) -> Iterator[Unit]:
        blocks = [block for block in statement.blocks if block.statements]
        encloses = self._encloses(statement)
        if not blocks or not (encloses or lines.end - lines.start > LARGE):
            yield self._unit(lines, 1 if statement.imports else 2, needs)
            return
        at = lines.start
        for i, block in enumerate(blocks):
            head = Lines(at, max(at, block.statements[0].first - 1))
            after = block.statements[-1].last
            end = lines.end if i + 1 == len(blocks) else max(head.end, after)
            # What closes a block goes with its head: a brace, which no statement holds.
            tail = Lines(min(max(head.end, after), statement.last), statement.last) if i + 1 == len(blocks) else None
            inner = Lines(head.end, end if tail is None or tail.start == tail.end else tail.start)
            inside = inner.start < self.region.end and self.region.start < inner.end
            if inside and encloses and block.name:
                self.names += (block.name,)
            yield self._unit(head, 0 if inside else 2, needs)
            needs = (*needs, head)
            if tail is not None and tail.start < tail.end:
                yield self._unit(Lines(tail.start, lines.end), 0 if inside else 2, needs)
                needs = (*needs, tail)
            yield from self._block(block, inner, needs)
            at = end

    def _encloses(self, statement: Statement) -> bool:
        first, end = statement.first - 1, statement.last
        holds = first <= self.region.start and self.region.end <= end
        return holds and (first, end) != (self.region.start, self.region.end)

    def _unit(self, lines: Lines, rank: int, needs: tuple[Lines, ...]) -> Unit:
        return Unit(lines, (rank, lines.distance(self.home), lines.distance(self.region)), needs)

    def _inside(self, lines: Lines) -> bool:
        return self.region.start <= lines.start and lines.end <= self.region.end


def fitting(outline: Outline, fits: Callable[[Excerpt], bool]) -> Excerpt | None:
    """The largest excerpt that fits, found by halving; None when not even the region alone does."""
    whole = outline.excerpt(len(outline.units))
    if fits(whole):
        return whole
    if not fits(outline.excerpt(0)):
        return None
    low, high = 0, len(outline.units) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if fits(outline.excerpt(middle)):
            low = middle
        else:
            high = middle - 1
    return outline.excerpt(low)


def _home(block: Block, region: Lines) -> Lines:
    """Return the outermost statement around the region that is not longer than HOME; else the region itself."""
    for statement in block.statements:
        lines = Lines(statement.first - 1, statement.last)
        if lines.start <= region.start and region.end <= lines.end:
            if lines.end - lines.start <= HOME:
                return lines
            return next((h for b in statement.blocks if (h := _home(b, region)) != region), region)
    return region
