"""Candidates for regions: runs of statements in one block (RTC paper, Sec. 4.2).

Python's own `ast` says what a block is and where its statements stand, the grammar of every other language.
"""

from __future__ import annotations

import ast
import math
import random
import re
import threading
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, groupby

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.languages import PYTHON, Language, language_for
from rtc_inspector.core.languages.trees import statements
from rtc_inspector.core.regions.coverage import StatementMap, cover, map_statements
from rtc_inspector.core.settings import RegionSettings
from rtc_inspector.core.syntax import AnyFunction, Lines, blocks_of, is_bare_text, parsed
from rtc_inspector.core.types import CoverageMap, Region, Report, SourceFile, Span
from rtc_inspector.core.waiting import in_thread

_BLANK = re.compile(r"(?:[ \t\f]|\\(?:\r\n|\r|\n))*")
_SEMICOLON = re.compile(_BLANK.pattern + ";")
# Lines without code; `.` stops at \n only, so lines come without their end.
_BARE = re.compile(r"[ \t\f]*(?:#.*)?")
_BARE_IN_BRACES = re.compile(r"[ \t\f]*(?:(?://|/\*|\*(?:[ \t/]|$)).*)?")


def enumerate_candidates(file: SourceFile, settings: RegionSettings) -> list[Region]:
    """Return every run of consecutive statements whose text keeps the bounds on characters, both included.

    None for a test file. Raises ProjectError when the statements cannot be located exactly.
    """
    if file.is_test:
        return []
    lines = Lines(file.text)
    spans = (span for block in parse_blocks(file) for span in _runs(block, settings))
    return sorted((as_region(file, span, lines) for span in spans), key=lambda r: (r.span.start, r.span.end))


def as_region(file: SourceFile, span: Span, lines: Lines) -> Region:
    """Return the region at `span`, not yet asked about coverage."""
    return Region(
        path=file.path,
        span=span,
        start_line=lines.number(span.start),
        end_line=lines.number(span.end - 1),
        text=file.text[span.start : span.end],
    )


def _runs(block: Block, settings: RegionSettings) -> Iterator[Span]:
    for first, start in enumerate(block.statements):
        if first == 0 and block.docstring and not settings.allow_docstring_start:
            continue
        for last in block.statements[first:]:
            length = last.end - start.start
            if length > settings.max_characters:
                break
            if length >= settings.min_characters:
                yield Span(start.start, last.end)


def how_many(files: Sequence[SourceFile], settings: RegionSettings, most: int) -> int:
    """Return how many regions could be drawn from files if tests reached all of them; `most` where there are more."""
    number = 0
    for file in files:
        if number >= most:
            break
        end = 0
        with suppress(ProjectError):
            for span in sorted((each.span for each in enumerate_candidates(file, settings)), key=lambda each: each.end):
                if span.start >= end or settings.allow_overlap:
                    number, end = number + 1, span.end
    return min(number, most)


# --------------------------------------------------------------------------- of a whole project


@dataclass(frozen=True, slots=True)
class Found:
    """The stock of a project to sample from: weighed regions, and a sentence for each file that was not taken."""

    regions: tuple[Region, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Looked:
    """The facts of a file that need no run of its tests: candidates, and its statements where it is Python."""

    candidates: list[Region]
    statements: StatementMap | None


def look(file: SourceFile, settings: RegionSettings) -> Looked:
    """Look through one file. Raises as `enumerate_candidates`, and SyntaxError for Python that does not compile."""
    found = enumerate_candidates(file, settings)
    return Looked(found, map_statements(file.text) if found and language_for(file.path) is PYTHON else None)


class Ahead:
    """Findings of `look` in files, in a thread while a project's tests run, which another processor does."""

    def __init__(self, files: Sequence[SourceFile], settings: RegionSettings) -> None:
        self._settings = settings
        self._found: dict[str, Looked] = {}
        self._busy = threading.Lock()
        self._files = deque(file for file in files if not file.is_test)
        in_thread(self._find)

    def _find(self) -> None:
        while self._files:
            with self._busy, suppress(ProjectError, SyntaxError, IndexError):
                file = self._files.popleft()
                self._found[file.path] = look(file, self._settings)

    def of(self, file: SourceFile, settings: RegionSettings) -> Looked:
        """Return what one file has; nothing is looked for ahead any more. Raises as `look`."""
        self._files.clear()
        with self._busy:
            found = self._found.get(file.path) if settings == self._settings else None
        return found or look(file, settings)


def find_regions(
    files: Sequence[SourceFile],
    coverage: CoverageMap,
    settings: RegionSettings,
    progress: Report,
    looked: Callable[[SourceFile, RegionSettings], Looked] = look,
) -> Found:
    """Return the candidates of every code file some line of which ran; files that no test reaches are not even parsed.

    `progress(stage, done, total)` is called before each file; raising from it cancels.
    """
    ran = coverage.lines.keys() | coverage.import_lines.keys()
    code = [file for file in files if (file.path in ran or not coverage.traced) and not file.is_test]
    regions: list[Region] = []
    problems: list[str] = []
    for done, file in enumerate(code):
        progress("finding regions", done, len(code))
        try:
            found = looked(file, settings)
            regions += cover(found.candidates, coverage, settings, file, found.statements)
        except ProjectError as error:
            problems.append(error.problem)
    return Found(tuple(weigh(regions)), tuple(problems))


def snap(file: SourceFile, span: Span) -> Region | None:
    """Return the smallest run of whole statements of one block that covers a selection, of whatever length.

    An empty selection means the line it stands on. Blank lines and comments at the ends of the selection do not count;
    None when nothing else was selected. Raises ProjectError when the file's statements cannot be located.
    """
    lines = Lines(file.text)
    bare = _BARE if language_for(file.path) is PYTHON else _BARE_IN_BRACES
    wanted = _code_in(file.text, span, lines, bare)
    if wanted is None:
        return None
    # A selection inside an `if` lies in its block and, as a part of the whole statement, in the one around it.
    runs = [run for block in parse_blocks(file, True) if (run := _covering(block, wanted, lines))]
    return as_region(file, min(runs, key=len), lines) if runs else None


def _code_in(text: str, span: Span, lines: Lines, bare: re.Pattern[str]) -> Span | None:
    """Return the selection without the blank and comment lines, and the blanks, at its ends."""
    start, end = max(0, min(span.start, len(text))), max(0, min(span.end, len(text)))
    if start == end:
        start, end = lines.bounds(lines.number(start))
    pieces = []
    for number in range(lines.number(start), lines.number(max(start, end - 1)) + 1):
        first, last = lines.bounds(number)
        piece = text[max(first, start) : min(last, end)]
        if piece.strip() and not bare.fullmatch(text[first:last]):
            left = max(first, start) + len(piece) - len(piece.lstrip())
            pieces.append(Span(left, left + len(piece.strip())))
    return Span(pieces[0].start, pieces[-1].end) if pieces else None


def _covering(block: Block, wanted: Span, lines: Lines) -> Span | None:
    """Return the block's statements that the selection touches, if their lines hold all of it."""
    touched = [span for span in block.statements if _reach(span, lines).overlaps(wanted)]
    if not touched:
        return None
    first, last = _reach(touched[0], lines), _reach(touched[-1], lines)
    covered = first.start <= wanted.start and wanted.end <= last.end
    return Span(touched[0].start, touched[-1].end) if covered else None


def _reach(span: Span, lines: Lines) -> Span:
    """Return a statement's whole lines: its indentation and a comment behind it select it too."""
    return Span(lines.bounds(lines.number(span.start))[0], lines.bounds(lines.number(span.end - 1))[1])


@dataclass(frozen=True, slots=True)
class Block:
    """The statements of one indented block, or of the module, in order; decorators and a closing semicolon included.

    `docstring`: the first one is the docstring of the module, class or function; `indented`: False for the module.
    """

    statements: tuple[Span, ...]
    docstring: bool
    indented: bool


@lru_cache(maxsize=32)
def parse_blocks(file: SourceFile, definitions: bool = False) -> tuple[Block, ...]:
    """Return every block with at least one statement, inner before outer; kept for the files last asked about.

    Statements behind a colon on the same line (`if x: return`) are part of their compound statement, not a block.
    `definitions`: with functions and classes that no region is drawn from, in other languages than Python.
    Raises ProjectError for a file whose statements cannot be located.
    """
    language = language_for(file.path)
    blocks = _python_blocks(file.text) if language is PYTHON else _grown_blocks(file.text, language, definitions)
    if blocks is None:
        raise ProjectError(
            f"The statements of {file.path} cannot be located, so no region is taken from it.",
            "Leave it at that, or put its unusual syntax in plainer words.",
        )
    return blocks


def _grown_blocks(text: str, language: Language, definitions: bool) -> tuple[Block, ...] | None:
    """Return what stands together and may be sampled, by the grammar; None where the text does not parse."""
    root = statements(text, language)
    if root is None:
        return None
    runs = (
        tuple(each.span for each in run)
        for block in root.every()
        for wanted, run in groupby(block.statements, lambda each: each.sampled or definitions)
        if wanted
    )
    return tuple(Block(run, docstring=False, indented=True) for run in runs)


def _python_blocks(text: str) -> tuple[Block, ...] | None:
    tree = parsed(text)
    if tree is None:
        return None
    lines, blocks = Lines(text), list[Block]()

    def span(node: ast.stmt) -> Span:
        start, end = lines.start(node), lines.end(node)
        for decorator in getattr(node, "decorator_list", ())[:1]:
            start = lines.start(decorator)
            # The expression of a decorator may itself hold an `@` (matrix product): its sign is the first on its line.
            while start == lines.start(decorator) or text[lines.bounds(lines.number(start))[0] : start].strip():
                start = text.rindex("@", 0, start)
        semicolon = _SEMICOLON.match(text, end)
        return Span(start, semicolon.end() if semicolon else end)

    def enter(owner: ast.AST) -> None:
        for parts in blocks_of(owner):
            for part in parts:
                enter(part)
            spans: list[Span] = []
            for each in map(span, parts):
                if spans and text[spans[-1].end - 1] == ";" and _BLANK.fullmatch(text, spans[-1].end, each.start):
                    spans[-1] = Span(spans[-1].start, each.end)
                else:
                    spans.append(each)
            start = lines.bounds(lines.number(spans[0].start))[0]
            continued = text[:start].rstrip("\r\n").endswith("\\")
            own_line = not text[start : spans[0].start].strip() and not continued
            if owner is tree or (own_line and not text.startswith("elif", spans[0].start)):
                scope = isinstance(owner, ast.Module | ast.ClassDef | AnyFunction)
                blocks.append(Block(tuple(spans), scope and is_bare_text(parts[0]), owner is not tree))

    enter(tree)
    return tuple(blocks)


def weigh(regions: Sequence[Region]) -> list[Region]:
    """Return the regions with w(r) = sum over the characters of r of 1 / number of regions holding that character.

    A character drawn uniformly among the covered ones, then a region uniformly among those holding it, is this draw.
    """
    by_path: dict[str, list[Span]] = defaultdict(list)
    for region in regions:
        by_path[region.path].append(region.span)
    until = {path: _shares_until(spans) for path, spans in by_path.items()}
    return [
        replace(region, weight=until[region.path][region.span.end] - until[region.path][region.span.start])
        for region in regions
    ]


def draw(regions: Sequence[Region], seed: int, allow_overlap: bool) -> Iterator[Region]:
    """Yield every weighed region once, in random order, the heavier the earlier; lazily, so take as many as you need.

    Each next one is drawn with probability proportional to its weight among those left (Efraimidis and Spirakis, 2006).
    Without overlap a region that shares a character with an earlier one is passed over. The order depends on the seed
    and on the regions, not on the order they are given in, nor on the machine.
    """
    chance = random.Random(seed)
    keys: list[tuple[float, Region]] = []
    # Sorted before chance is asked, so that the same regions in any order get the same numbers.
    for region in sorted(regions, key=lambda r: (r.path, r.span.start, r.span.end)):
        if region.weight <= 0:
            raise ValueError(f"{region.path}:{region.span.start} was never weighed")
        # Exponential waiting times at the rate of the weights: who waits shortest comes first.
        keys.append((-math.log1p(-chance.random()) / region.weight, region))
    taken: dict[str, list[Span]] = defaultdict(list)  # by file, in order
    for _, region in sorted(keys, key=lambda key: key[0]):
        spans = taken[region.path]
        at = bisect_left(spans, region.span.start, key=lambda span: span.start)
        if allow_overlap:
            yield region
        elif not any(region.span.overlaps(each) for each in spans[max(0, at - 1) : at + 1]):
            spans.insert(at, region.span)
            yield region


def _shares_until(spans: Sequence[Span]) -> dict[int, float]:
    """Sum 1 / n over the characters of one file up to each border of a span, n being the number around each."""
    change: dict[int, int] = defaultdict(int)
    for span in spans:
        change[span.start] += 1
        change[span.end] -= 1
    borders = sorted(change)
    counts = accumulate(change[border] for border in borders)
    pieces = zip(borders, borders[1:], counts, strict=False)
    sums = accumulate(((end - start) / n if n else 0.0 for start, end, n in pieces), initial=0.0)
    return dict(zip(borders, sums, strict=True))
