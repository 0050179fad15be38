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
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.generation import INFILL, PLAIN, Block, Fits, Infill, Message, Prompt
from rtc_inspector.core.languages import PYTHON, Language, Shot
from rtc_inspector.core.models.excerpt import Excerpt, Outline, fitting
from rtc_inspector.core.settings.words import words_of
from rtc_inspector.core.syntax import indent_of
from rtc_inspector.core.types import Span

UNINFORMATIVE = "Implement."
"""The utterance eps of the baseline; shown as `# TODO: Implement.`."""
REGION_ROOM, DESCRIPTION_ROOM = 480, 600
"""Characters that a cut file leaves free at least, so that the cut does not depend on what is asked of its excerpt."""

LEAST_ROOM, ROOM_FACTOR = 600, 4
"""An answer in the style `code` may be so many characters long, or so many times as long as what it replaces."""
CODE = "code"
"""The style in which a model goes on writing a file."""
PAPER = "paper"
"""The layout with the description in the file, where the RTC paper has it."""

Ask = Callable[[Excerpt], Prompt]


@dataclass(frozen=True, slots=True)
class Wording:
    """The texts of the resource file in one language. `version`: goes up with every change of what models are asked."""

    version: int
    language: Language
    system: str
    begin: str
    end: str
    forward: str
    forward_in_place: str
    backward: str
    backward_in_place: str
    answer_start: str
    answer_end: str
    shots: tuple[Shot, ...]
    summary: str

    @property
    def placeholder(self) -> str:
        return f"{self.language.comment} TODO"


@cache
def wording(own: str = "", language: Language = PYTHON) -> Wording:
    """Return the texts of the resource file, with a person's `own` in their place, as said of a language."""
    data = words_of("synthesis", own)

    def said(text: str) -> str:
        """Return a text that the resource says of Python, as said of the language."""
        begun = language.comment + text.removeprefix("#") if text.startswith("#") else text
        return begun.replace("```python", f"```{language.fences[0]}").replace("Python", language.name)

    theirs = language.shots and data["shots"] == words_of("synthesis")["shots"]
    return Wording(
        version=data["version"],
        language=language,
        system=said(data["system"]),
        begin=said(data["begin"]),
        end=said(data["end"]),
        forward=said(data["forward"]["question"]),
        forward_in_place=said(data["forward"]["question_in_place"]),
        backward=said(data["backward"]["question"]),
        backward_in_place=said(data["backward"]["question_in_place"]),
        answer_start=said(data["backward"]["answer_start"]),
        answer_end=data["backward"]["answer_end"],
        shots=language.shots if theirs else tuple(Shot(**shot) for shot in data["shots"]),
        summary=said(data["code"]["summary"]),
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
        question = _forward_question(words, around, shown, where, layout)
        shots = _forward_shots(words, layout)
        return Prompt((*shots, Message("user", question)), truncated=excerpt.cut, shown=excerpt.share)

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
    head, tail = rest_of_lines(file_text, region_span)
    if style == INFILL:
        return _fitted(outline, partial(_infill, words, head, tail, description), None, fits)
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
    file = "\n".join([*excerpt.before, *place, *excerpt.after])
    question = Message("user", _backward_question(words, file, todo, layout))
    return Prompt(
        (*_backward_shots(words, layout), question),
        truncated=excerpt.cut,
        shown=excerpt.share,
        prefill=words.answer_start,
        stop=(words.answer_end,),
    )


# --------------------------------------------------------------------------- the style `code`


def _code_forward(words: Wording, outline: Outline, excerpt: Excerpt) -> Prompt:
    """The file up to the region, the region between its marks, and the beginning of a comment that sums it up."""
    region = outline.region_lines
    indent = indent_of(region[0])
    lines = [*excerpt.before, _marked(words, "\n".join(region)), indent + words.summary]
    return Prompt(
        (Message(PLAIN, _code_shots(words, forward=True) + "\n".join(lines)),),
        truncated=outline.cut_before(excerpt),
        shown=outline.share_before(excerpt),
        stop=(f"\n{indent}{words.summary}",),
        block=Block(indent, comment=words.language.comment),
    )


def _code_backward(words: Wording, outline: Outline, head: str, description: str, excerpt: Excerpt) -> Prompt:
    """The file up to the region, the description as a TODO comment, and the beginning of the region's first line.

    Of the indentation the last character is left for the model to write: tokenizers put it into the same token as the
    word that follows, and a prompt that ends in the whole of it is one that the model has never seen.
    """
    region = outline.region_lines
    indent = indent_of(head)
    begun = head[:-1] if head == indent else head
    lines = [*excerpt.before, todo_comment(words, indent, description), ""]
    return Prompt(
        (Message(PLAIN, _code_shots(words, forward=False) + "\n".join(lines)),),
        truncated=outline.cut_before(excerpt),
        shown=outline.share_before(excerpt),
        prefill=begun,
        stop=(f"\n{indent}{words.placeholder}", *outline.line_after(indent), *_gap(indent, region)),
        block=Block(indent, quotes=None if words.language is PYTHON else words.language.quotes),
        most_characters=_room(region),
    )


def _gap(indent: str, region: Sequence[str]) -> tuple[str, ...]:
    """Two blank lines end an answer at the margin, where nothing is less indented, unless the region has such a gap."""
    gap = "\n\n\n"
    return () if indent or gap in "\n".join(region) else (gap,)


def _room(region: Sequence[str]) -> int:
    return max(LEAST_ROOM, ROOM_FACTOR * len("\n".join(region)))


@cache
def _code_shots(words: Wording, forward: bool) -> str:
    parts = []
    for shot in words.shots:
        before, region, after = (part.strip("\n") for part in (shot.before, shot.region, shot.after))
        indent = indent_of(region)
        summary = f"{indent}{words.summary} {shot.description}"
        made = [_marked(words, region), summary] if forward else [todo_comment(words, indent, shot.description), region]
        parts.append("\n".join([before, *made, *([after] if after else [])]))
    return "".join(part + "\n\n\n" for part in parts)


# --------------------------------------------------------------------------- fill-in-the-middle


def _infill(words: Wording, head: str, tail: str, description: str, excerpt: Excerpt) -> Prompt:
    before = "\n".join([*excerpt.before, todo_comment(words, indent_of(head), description), head])
    infill = Infill(before, "\n".join([tail, *excerpt.after]))
    return Prompt((), truncated=excerpt.cut, shown=excerpt.share, infill=infill)


# --------------------------------------------------------------------------- what fits


def _fitted(outline: Outline, ask: Ask, largest: Ask | None, fits: Fits) -> Prompt:
    """The prompt with as much of the file as fits.

    A file that must be cut is cut so that the `largest` prompt of its home, if there is one, fits too: then all prompts
    of that home show the same excerpt, and what was evaluated for one serves the others. Raises ModelError.
    """
    whole = ask(outline.excerpt(len(outline.units)))
    if fits(whole):
        return whole
    for size in (largest, ask) if largest is not None else (ask,):
        excerpt = fitting(outline, partial(_fits, size, fits))
        if excerpt is not None and fits(prompt := ask(excerpt)):
            return prompt
    raise ModelError(
        "A region does not fit the model's context window, even without the file around it.",
        "Use a larger context size, or a model with a larger window.",
    )


def _fits(ask: Ask, fits: Fits, excerpt: Excerpt) -> bool:
    return fits(ask(excerpt))


def _filled(text: str, size: int) -> str:
    """`text` and short words after it, about a token each three characters, up to `size` characters."""
    return text + " to" * ((size - len(text)) // 3)


def rest_of_lines(text: str, span: Span) -> tuple[str, str]:
    """Return the text before the region on its first line, and the text after it on its last line."""
    head = text[max(text.rfind("\n", 0, span.start), text.rfind("\r", 0, span.start)) + 1 : span.start]
    rest = text[span.end :]
    return head, "" if rest[:1] in ("", "\n", "\r") else rest.splitlines()[0]


def todo_comment(words: Wording, before: str, description: str) -> str:
    """Return the description as a TODO comment, line by line, each with the same white space before it."""
    first, *others = description.strip().splitlines() or [""]
    lines = [f"{words.placeholder}: {first.strip()}", *(f"{words.language.comment} {line.strip()}" for line in others)]
    return "\n".join(f"{before}{line}".rstrip() for line in lines)


def _marked(words: Wording, region: str) -> str:
    indent = indent_of(region)
    return f"{indent}{words.begin}\n{region}\n{indent}{words.end}"


def _forward_question(words: Wording, file_parts: tuple[str, str, str], shown: str, where: str, layout: str) -> str:
    """Ask of the middle part of a file: marked there in the layout `paper`, else `shown` once more behind the file."""
    before, region, after = file_parts
    place = f", in `{where}`" if where else ""
    above, below = (f"{before}\n" if before else ""), (f"\n{after}" if after else "")
    if layout == PAPER:
        file = f"{above}{_marked(words, region)}{below}".rstrip("\n")
        return words.forward_in_place.strip().format(file=file, begin=words.begin, end=words.end, where=place)
    file = f"{above}{region}{below}".rstrip("\n")
    first = above.count("\n") + 1
    last = first + region.count("\n")
    return words.forward.strip().format(file=file, region=_marked(words, shown), first=first, last=last, where=place)


def _backward_question(words: Wording, file: str, todo: str, layout: str) -> str:
    question = words.backward_in_place if layout == PAPER else words.backward
    return question.strip().format(file=file.rstrip("\n"), todo=todo)


def _forward_shots(words: Wording, layout: str) -> tuple[Message, ...]:
    turns = [Message("system", words.system)]
    for shot in words.shots:
        before, region, after = (part.strip("\n") for part in (shot.before, shot.region, shot.after))
        question = _forward_question(words, (before, region, after), region, shot.where, layout)
        turns += [Message("user", question), Message("assistant", shot.description)]
    return tuple(turns)


def _backward_shots(words: Wording, layout: str) -> tuple[Message, ...]:
    turns = [Message("system", words.system)]
    for shot in words.shots:
        before, region, after = (part.strip("\n") for part in (shot.before, shot.region, shot.after))
        indent = indent_of(region)
        todo = todo_comment(words, indent, shot.description)
        place = todo if layout == PAPER else indent + words.placeholder
        question = _backward_question(words, f"{before}\n{place}\n{after}", todo, layout)
        answer = f"{words.answer_start}{region}{words.answer_end}"
        turns += [Message("user", question), Message("assistant", answer)]
    return tuple(turns)
