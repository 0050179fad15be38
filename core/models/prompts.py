"""Three-shot prompts of SynthesisRTC: describe a region, write it again (RTC paper, Sec. 3.1 and 4).

The words are data, in `resources/prompts/synthesis.toml`. What is to be described stands between two comments, in
every style and in the shots. A model is asked in one of three styles:

- `chat` and `completion`: turns of a conversation. Constant text stands first, then the file, then what varies. In the
  layout `shared` the description is shown after the file, so that all descriptions share what was read of it; in the
  layout `paper` it stands in the file, in the TODO comment at the region's place. The region that is to be described
  stands behind the file as well, in `paper` it is marked in the file.
- `code`: no conversation, but a file that the model goes on writing, at the region's place. The description is the TODO
  comment above. What follows the region is not shown.
- fill-in-the-middle, for the code only: the file with a gap, by the vocabulary's own marks; no shots.

A file that does not fit is cut to whole statements. What is kept first: the signatures around the region, then imports,
then statements by their distance in lines from the region's home, the function or class around it. So regions of one
home are shown in the same excerpt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.generation import INFILL, PLAIN, Block, Fits, Infill, Message, Prompt, conversation
from rtc_inspector.core.languages import PYTHON, Language, Shot
from rtc_inspector.core.languages.trees import Block as Statements
from rtc_inspector.core.languages.trees import Statement, statements
from rtc_inspector.core.settings.words import flat, words_of
from rtc_inspector.core.syntax import NEWLINE, indent_of
from rtc_inspector.core.types import Span

UNINFORMATIVE = "Implement."  # the utterance eps of the baseline; shown as `# TODO: Implement.`
REGION_ROOM, DESCRIPTION_ROOM = 480, 600
"""Characters that a cut file leaves free at least, so that the cut does not depend on what is asked of its excerpt."""

LEAST_ROOM, ROOM_FACTOR = 600, 4
"""An answer in the style `code` may be so many characters long, or so many times as long as what it replaces."""
CODE = "code"  # the style in which a model goes on writing a file
PAPER = "paper"  # the layout with the description in the file, where the RTC paper has it

Ask = Callable[["Excerpt"], Prompt]


@dataclass(frozen=True, slots=True, eq=False)
class Wording:
    """The texts of the resource file in one language. `version`: goes up with every change of what models are asked."""

    version: int
    language: Language
    texts: Mapping[str, str]  # by their whole keys, e.g. `forward.question`
    shots: tuple[Shot, ...]

    @property
    def placeholder(self) -> str:
        return f"{self.language.comment} TODO"


@cache
def wording(own: str = "", language: Language = PYTHON) -> Wording:
    """Return the texts of the resource file, with a person's `own` in their place, as said of a language."""
    data = words_of("synthesis", own)

    def of_language(text: str) -> str:
        """Return a text that the resource says of Python, as said of the language."""
        begun = language.comment + text.removeprefix("#") if text.startswith("#") else text
        return begun.replace("```python", f"```{language.fences[0]}").replace("Python", language.name)

    theirs = language.shots and data["shots"] == words_of("synthesis")["shots"]
    return Wording(
        version=data["version"],
        language=language,
        texts={key: of_language(text) for key, text in flat(data)},
        shots=language.shots if theirs else tuple(Shot(**shot) for shot in data["shots"]),
    )


def forward_prompt(
    file_text: str,
    region_span: Span,
    fits: Fits,
    style: str = "chat",
    layout: str = "shared",
    own: str = "",
    language: Language = PYTHON,
) -> Prompt:
    """Ask for a description of the region, the file around it shown; `own`: a person's words, as TOML.

    Raises ModelError when not even the region alone fits.
    """
    outline, words = Outline.of(file_text, region_span, language), wording(own, language)
    if style == CODE:
        return _fitted(outline, partial(_code_forward, words, outline), None, fits)
    region, where = "\n".join(outline.region_lines), ".".join(outline.names)

    def ask(excerpt: Excerpt, shown: str = region) -> Prompt:
        around = "\n".join(excerpt.before), region, "\n".join(excerpt.after)
        examples = [
            (_forward_question(words, parts, parts[1], shot.where, layout), shot.description)
            for shot, parts in _shot_parts(words)
        ]
        turns = conversation(words.texts["system"], examples, _forward_question(words, around, shown, where, layout))
        return Prompt(turns, truncated=excerpt.cut, shown=excerpt.share)

    if layout == PAPER:
        return _fitted(outline, ask, None, fits)
    return _fitted(outline, ask, lambda e: ask(e, _filled(region, REGION_ROOM)), fits)


def backward_prompt(
    file_text: str,
    region_span: Span,
    description: str,
    fits: Fits,
    style: str = "chat",
    layout: str = "shared",
    own: str = "",
    language: Language = PYTHON,
) -> Prompt:
    """Ask for the code of the region, of which a TODO comment with `description` is left; `own` as above.

    Raises ModelError when not even the comment alone fits.
    """
    outline, words = Outline.of(file_text, region_span, language), wording(own, language)
    start, rest = region_span.start, file_text[region_span.end :]
    head = file_text[max(file_text.rfind("\n", 0, start), file_text.rfind("\r", 0, start)) + 1 : start]
    tail = "" if rest[:1] in ("", "\n", "\r") else rest.splitlines()[0]
    if style == INFILL:
        todo = todo_comment(words, indent_of(head), description)

        def fill(excerpt: Excerpt) -> Prompt:
            infill = Infill("\n".join([*excerpt.before, todo, head]), "\n".join([tail, *excerpt.after]))
            return Prompt((), truncated=excerpt.cut, shown=excerpt.share, infill=infill)

        return _fitted(outline, fill, None, fits)
    if style == CODE:
        return _fitted(outline, partial(_code_backward, words, outline, head, description), None, fits)
    indent = indent_of(head)
    todo = todo_comment(words, indent, description)
    sharing = tail.strip().lstrip(";").strip()
    behind = [indent + sharing] if sharing else []
    if layout == PAPER:
        standing = head + todo_comment(words, "", description).replace("\n", f"\n{indent}")
        return _fitted(outline, lambda e: _backward_turns(words, e, [standing, *behind], todo, layout), None, fits)

    def ask(excerpt: Excerpt, place: Sequence[str] = (head + words.placeholder, *behind), todo: str = todo) -> Prompt:
        return _backward_turns(words, excerpt, place, todo, layout)

    return _fitted(outline, ask, lambda e: ask(e, outline.region_lines, _filled(todo, DESCRIPTION_ROOM)), fits)


def _backward_turns(words: Wording, excerpt: Excerpt, place: Sequence[str], todo: str, layout: str) -> Prompt:
    examples, start, end = [], words.texts["backward.answer_start"], words.texts["backward.answer_end"]
    for shot, (before, region, after) in _shot_parts(words):
        indent = indent_of(region)
        wanted = todo_comment(words, indent, shot.description)
        there = wanted if layout == PAPER else indent + words.placeholder
        question = _backward_question(words, f"{before}\n{there}\n{after}", wanted, layout)
        examples.append((question, f"{start}{region}{end}"))
    file = "\n".join([*excerpt.before, *place, *excerpt.after])
    return Prompt(
        conversation(words.texts["system"], examples, _backward_question(words, file, todo, layout)),
        truncated=excerpt.cut,
        shown=excerpt.share,
        prefill=start,
        stop=(end,),
    )


def _code_forward(words: Wording, outline: Outline, excerpt: Excerpt) -> Prompt:
    """Show the file up to the region, the region between its marks, and the beginning of a comment that sums it up."""
    region = outline.region_lines
    indent = indent_of(region[0])
    begun = indent + words.texts["code.summary"]
    lines = [*excerpt.before, _marked(words, "\n".join(region)), begun]
    return Prompt(
        (Message(PLAIN, _code_shots(words, forward=True) + "\n".join(lines)),),
        truncated=outline.cut_before(excerpt),
        shown=outline.share_before(excerpt),
        stop=(f"\n{begun}",),
        block=Block(indent, comment=words.language.comment),
    )


def _code_backward(words: Wording, outline: Outline, head: str, description: str, excerpt: Excerpt) -> Prompt:
    """Show the file up to the region, the description as a TODO comment, and the beginning of the region's first line.

    Of the indentation the last character is left for the model to write: tokenizers put it into the same token as the
    word that follows, and a prompt that ends in the whole of it is one that the model has never seen.
    """
    region = outline.region_lines
    indent = indent_of(head)
    begun = head[:-1] if head == indent else head
    lines = [*excerpt.before, todo_comment(words, indent, description), ""]
    gap = "\n\n\n"  # ends an answer at the margin, where nothing is less indented, unless the region has such a gap
    gaps = () if indent or gap in "\n".join(region) else (gap,)
    return Prompt(
        (Message(PLAIN, _code_shots(words, forward=False) + "\n".join(lines)),),
        truncated=outline.cut_before(excerpt),
        shown=outline.share_before(excerpt),
        prefill=begun,
        stop=(f"\n{indent}{words.placeholder}", *outline.line_after(indent), *gaps),
        block=Block(indent, quotes=None if words.language is PYTHON else words.language.quotes),
        most_characters=max(LEAST_ROOM, ROOM_FACTOR * len("\n".join(region))),
    )


@cache
def _code_shots(words: Wording, forward: bool) -> str:
    examples = []
    for shot, (before, region, after) in _shot_parts(words):
        indent = indent_of(region)
        summary = f"{indent}{words.texts['code.summary']} {shot.description}"
        todo = todo_comment(words, indent, shot.description)
        middle = [_marked(words, region), summary] if forward else [todo, region]
        examples.append("\n".join([before, *middle, *([after] if after else [])]))
    return "".join(example + "\n\n\n" for example in examples)


def _shot_parts(words: Wording) -> Iterator[tuple[Shot, tuple[str, str, str]]]:
    """Yield the worked examples, each with its region and the text before and after it."""
    for shot in words.shots:
        yield shot, (shot.before.strip("\n"), shot.region.strip("\n"), shot.after.strip("\n"))


def _fitted(outline: Outline, ask: Ask, largest: Ask | None, fits: Fits) -> Prompt:
    """Return the prompt with as much of the file as fits.

    A file that must be cut is cut so that the `largest` prompt of its home, if there is one, fits too: then all prompts
    of that home show the same excerpt, and what was evaluated for one serves the others. Raises ModelError.
    """
    whole = ask(outline.excerpt(len(outline.units)))
    if fits(whole):
        return whole
    for size in filter(None, (largest, ask)):
        excerpt = outline.fitting(size, fits)
        if excerpt is not None and fits(prompt := ask(excerpt)):
            return prompt
    raise ModelError(
        "A region does not fit the model's context window, even without the file around it.",
        "Use a larger context size, or a model with a larger window.",
    )


def _filled(text: str, size: int) -> str:
    """Return `text` and short words after it, about a token each three characters, up to `size` characters."""
    return text + " to" * ((size - len(text)) // 3)


def todo_comment(words: Wording, before: str, description: str) -> str:
    """Return the description as a TODO comment, line by line, each with the same white space before it."""
    first, *others = description.strip().splitlines() or [""]
    lines = [f"{words.placeholder}: {first.strip()}", *(f"{words.language.comment} {line.strip()}" for line in others)]
    return "\n".join(f"{before}{line}".rstrip() for line in lines)


def _marked(words: Wording, region: str) -> str:
    indent = indent_of(region)
    return f"{indent}{words.texts['begin']}\n{region}\n{indent}{words.texts['end']}"


def _forward_question(words: Wording, file_parts: tuple[str, str, str], shown: str, where: str, layout: str) -> str:
    """Ask of the middle part of a file: marked there in the layout `paper`, else `shown` once more behind the file."""
    before, region, after = file_parts
    place = f", in `{where}`" if where else ""
    above, below = (f"{before}\n" if before else ""), (f"\n{after}" if after else "")
    if layout == PAPER:
        file = f"{above}{_marked(words, region)}{below}".rstrip("\n")
        begin, end = words.texts["begin"], words.texts["end"]
        return words.texts["forward.question_in_place"].strip().format(file=file, begin=begin, end=end, where=place)
    file = f"{above}{region}{below}".rstrip("\n")
    first = above.count("\n") + 1
    last = first + region.count("\n")
    marked, asked = _marked(words, shown), words.texts["forward.question"].strip()
    return asked.format(file=file, region=marked, first=first, last=last, where=place)


def _backward_question(words: Wording, file: str, todo: str, layout: str) -> str:
    question = words.texts["backward.question_in_place" if layout == PAPER else "backward.question"]
    return question.strip().format(file=file.rstrip("\n"), todo=todo)


# --------------------------------------------------------------------------- what is left of a file

CUT = "..."  # stands, as a comment, for lines that were left out
LARGE = 24  # lines from which on a compound statement is cut inside rather than dropped whole
LEAST_TELLING = 12  # characters from which on a line tells its place in a file
HOME = 80  # lines of a function or class at most for its regions to be shown in the same excerpt


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines kept or cut together. `needs`: signatures they would not make sense without; lower ranks stay longer."""

    lines: Span
    rank: tuple[int, int, int]
    needs: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The part of a file that is shown."""

    # `before`, `after`: the lines around the region, without line ends
    before: tuple[str, ...]
    after: tuple[str, ...]
    cut: bool  # whether anything was left out
    share: float = 1.0  # of the characters outside the region, those that are shown, 0..1


@dataclass(slots=True)
class Outline:
    """A file's lines and the units outside the region, the most needed first."""

    lines: list[str]
    region: Span
    home: Span
    comment: str = "#"
    names: tuple[str, ...] = ()
    units: list[Unit] = field(default_factory=list)

    @classmethod
    def of(cls, text: str, span: Span, language: Language = PYTHON) -> Outline:
        """Parse `text`; a file that does not parse is cut line by line."""
        lines = NEWLINE.split(text)
        start = len(NEWLINE.findall(text, 0, span.start))
        region = Span(start, start + len(NEWLINE.findall(text, span.start, span.end)) + 1)
        outline = cls(lines, region, region, language.comment)
        tree = statements(text, language)
        if tree is None:
            outline.units = [outline._unit(Span(i, i + 1), 2, ()) for i in range(len(lines))]
        else:
            outline.home = _home(tree, region)
            outline.units = list(outline._block(tree, Span(0, len(lines)), ()))
        outline.units = [
            unit
            for unit in outline.units
            if unit.lines and not (region.start <= unit.lines.start and unit.lines.end <= region.end)
        ]
        outline.units.sort(key=lambda u: u.rank)
        return outline

    @property
    def region_lines(self) -> list[str]:
        return self.lines[self.region.start : self.region.end]

    def excerpt(self, kept: int) -> Excerpt:
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

    def fitting(self, ask: Ask, fits: Fits) -> Excerpt | None:
        """Return the largest excerpt whose prompt fits, found by halving; None when not even the region alone does."""

        def fit(kept: int) -> bool:
            return fits(ask(self.excerpt(kept)))

        if fit(len(self.units)):
            return self.excerpt(len(self.units))
        if not fit(0):
            return None
        low, high = 0, len(self.units) - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if fit(middle) else (low, middle - 1)
        return self.excerpt(low)

    def cut_before(self, excerpt: Excerpt) -> bool:
        return excerpt.before != tuple(self.lines[: self.region.start])

    def share_before(self, excerpt: Excerpt) -> float:
        """Return the share of the file outside the region that is shown by who shows only what stands before it."""
        above = set(self.lines[: self.region.start])
        shown = sum(len(line) for line in excerpt.before if line in above)
        return shown / self._outside if self._outside else 1.0

    def line_after(self, indent: str) -> tuple[str, ...]:
        """Return the line below the region, with its line ends, if an answer of that indentation could run into it.

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

    def _block(self, block: Statements, limits: Span, needs: tuple[Span, ...]) -> Iterator[Unit]:
        """Yield units of one block; blank lines and comments go with the statement after them."""
        at, body = limits.start, block.statements
        for i, statement in enumerate(body):
            end = max(at, limits.end if i + 1 == len(body) else min(body[i + 1].first - 1, statement.last))
            yield from self._statement(statement, Span(at, end), needs)
            at = end

    def _statement(self, statement: Statement, lines: Span, needs: tuple[Span, ...]) -> Iterator[Unit]:
        blocks = [block for block in statement.blocks if block.statements]
        first, last = statement.first - 1, statement.last
        # It holds the region and more.
        encloses = first <= self.region.start and self.region.end <= last
        encloses = encloses and (first, last) != (self.region.start, self.region.end)
        if not blocks or not (encloses or lines.end - lines.start > LARGE):
            yield self._unit(lines, 1 if statement.imports else 2, needs)
            return
        at = lines.start
        for i, block in enumerate(blocks):
            head = Span(at, max(at, block.statements[0].first - 1))
            after = block.statements[-1].last
            end = lines.end if i + 1 == len(blocks) else max(head.end, after)
            # What closes a block goes with its head: a brace, which no statement holds.
            tail = Span(min(max(head.end, after), statement.last), statement.last) if i + 1 == len(blocks) else None
            inner = Span(head.end, end if tail is None or tail.start == tail.end else tail.start)
            inside = inner.start < self.region.end and self.region.start < inner.end
            if inside and encloses and block.name:
                self.names += (block.name,)
            yield self._unit(head, 0 if inside else 2, needs)
            needs = (*needs, head)
            if tail is not None and tail.start < tail.end:
                yield self._unit(Span(tail.start, lines.end), 0 if inside else 2, needs)
                needs = (*needs, tail)
            yield from self._block(block, inner, needs)
            at = end

    def _unit(self, lines: Span, rank: int, needs: tuple[Span, ...]) -> Unit:
        home, region = (max(0, lines.start - each.end, each.start - lines.end) for each in (self.home, self.region))
        return Unit(lines, (rank, home, region), needs)


def _home(block: Statements, region: Span) -> Span:
    """Return the outermost statement around the region that is not longer than HOME; else the region itself."""
    for statement in block.statements:
        lines = Span(statement.first - 1, statement.last)
        if lines.start <= region.start and region.end <= lines.end:
            if lines.end - lines.start <= HOME:
                return lines
            return next((h for b in statement.blocks if (h := _home(b, region)) != region), region)
    return region
