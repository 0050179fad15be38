"""Three-shot prompts of SynthesisRTC: describe a region, write it again (RTC paper, Sec. 3.1 and 4).

The words are data, in `resources/prompts/synthesis.toml`. Constant text stands first, then the file, then what varies:
the description is shown after the file, at the TODO comment's own indentation, so that all descriptions share the file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files

from core.errors import ModelError
from core.generation import Fits, Message, Prompt
from core.models.excerpt import Excerpt, Outline, fitting
from core.types import Span

UNINFORMATIVE = "Implement."
"""The utterance eps of the baseline; shown as `# TODO: Implement.`."""
PLACEHOLDER = "# TODO"
"""What stands in the file where the region was."""
REGION_ROOM, DESCRIPTION_ROOM = 480, 600
"""Characters that a cut file leaves free at least, so that the cut does not depend on what is asked of its excerpt."""

Ask = Callable[[Excerpt], Prompt]


@dataclass(frozen=True, slots=True)
class Shot:
    """One worked example: a file in three parts and the region's description."""

    where: str
    before: str
    region: str
    after: str
    description: str


@dataclass(frozen=True, slots=True)
class Wording:
    """The texts of the resource file. `version`: goes up with every change of what models are asked."""

    version: int
    system: str
    forward: str
    backward: str
    answer_start: str
    answer_end: str
    shots: tuple[Shot, ...]


@cache
def wording() -> Wording:
    """Read the resource file once."""
    data = tomllib.loads(files("resources").joinpath("prompts/synthesis.toml").read_text(encoding="utf-8"))
    return Wording(
        version=data["version"],
        system=data["system"],
        forward=data["forward"]["question"],
        backward=data["backward"]["question"],
        answer_start=data["backward"]["answer_start"],
        answer_end=data["backward"]["answer_end"],
        shots=tuple(Shot(**shot) for shot in data["shots"]),
    )


def forward_prompt(file_text: str, region_span: Span, fits: Fits) -> Prompt:
    """Ask for a description of the region, the file around it shown.

    Raises ModelError when not even the region alone fits.
    """
    outline = Outline.of(file_text, region_span)
    region = tuple(outline.lines[outline.region.start : outline.region.end])

    def ask(excerpt: Excerpt, shown: str = "\n".join(region)) -> Prompt:
        first = len(excerpt.before) + 1
        file = "\n".join([*excerpt.before, *region, *excerpt.after])
        question = _forward_question(file, shown, (first, first + len(region) - 1), ".".join(outline.names))
        return Prompt((*_forward_shots(), Message("user", question)), truncated=excerpt.cut)

    return _fitted(outline, ask, lambda e: ask(e, _filled("\n".join(region), REGION_ROOM)), fits)


def backward_prompt(file_text: str, region_span: Span, description: str, fits: Fits) -> Prompt:
    """Ask for the code of the region: a TODO comment stands in its place and carries `description` after the file.

    Raises ModelError when not even the comment alone fits.
    """
    words = wording()
    outline = Outline.of(file_text, region_span)
    region = outline.lines[outline.region.start : outline.region.end]
    place = _placeholder_lines(file_text, region_span)
    todo = todo_comment(indentation(place[0]), description)

    def ask(excerpt: Excerpt, shown: Sequence[str] = place, todo: str = todo) -> Prompt:
        file = "\n".join([*excerpt.before, *shown, *excerpt.after])
        question = Message("user", _backward_question(file, todo))
        return Prompt(
            (*_backward_shots(), question),
            truncated=excerpt.cut,
            prefill=words.answer_start,
            stop=(words.answer_end,),
        )

    return _fitted(outline, ask, lambda e: ask(e, region, _filled(todo, DESCRIPTION_ROOM)), fits)


def _fitted(outline: Outline, ask: Ask, largest: Ask, fits: Fits) -> Prompt:
    """The prompt with as much of the file as fits.

    A file that must be cut is cut so that the `largest` prompt of its home fits too: then all prompts of that home
    show the same excerpt, and what was evaluated for one serves the others. Raises ModelError.
    """
    whole = ask(outline.excerpt(len(outline.units)))
    if fits(whole):
        return whole
    for size in (largest, ask):
        excerpt = fitting(outline, partial(_fits, size, fits))
        if excerpt is not None and fits(prompt := ask(excerpt)):
            return prompt
    raise too_large()


def too_large() -> ModelError:
    """What to say of a region that fits no prompt."""
    return ModelError(
        "A region does not fit the model's context window, even without the file around it.",
        "Use a larger context size, or a model with a larger window.",
    )


def _fits(ask: Ask, fits: Fits, excerpt: Excerpt) -> bool:
    return fits(ask(excerpt))


def _filled(text: str, size: int) -> str:
    """`text` and short words after it, about a token each three characters, up to `size` characters."""
    return text + " to" * ((size - len(text)) // 3)


def _placeholder_lines(text: str, span: Span) -> list[str]:
    """The region's lines with the region replaced by a bare TODO comment; what shares its lines stays."""
    head, rest = rest_of_lines(text, span)
    tail = rest.strip().lstrip(";").strip()
    return [head + PLACEHOLDER, *([indentation(head) + tail] if tail else [])]


def rest_of_lines(text: str, span: Span) -> tuple[str, str]:
    """What shares the region's first line before it, and its last line after it."""
    head = text[max(text.rfind("\n", 0, span.start), text.rfind("\r", 0, span.start)) + 1 : span.start]
    rest = text[span.end :]
    return head, "" if rest[:1] in ("", "\n", "\r") else rest.splitlines()[0]


def todo_comment(before: str, description: str) -> str:
    """The description as a TODO comment, line by line, each with the same white space before it."""
    first, *others = description.strip().splitlines() or [""]
    lines = [f"{PLACEHOLDER}: {first.strip()}", *(f"# {line.strip()}" for line in others)]
    return "\n".join(f"{before}{line}".rstrip() for line in lines)


def indentation(line: str) -> str:
    """The white space that a line begins with."""
    return line[: len(line) - len(line.lstrip())]


def _forward_question(file: str, region: str, lines: tuple[int, int], where: str) -> str:
    place = f", in `{where}`" if where else ""
    return (
        wording()
        .forward.strip()
        .format(file=file.rstrip("\n"), region=region, first=lines[0], last=lines[1], where=place)
    )


def _backward_question(file: str, todo: str) -> str:
    return wording().backward.strip().format(file=file.rstrip("\n"), todo=todo)


def _forward_shots() -> tuple[Message, ...]:
    turns = [Message("system", wording().system)]
    for shot in wording().shots:
        before, region, after = (part.strip("\n").split("\n") for part in (shot.before, shot.region, shot.after))
        lines = (len(before) + 1, len(before) + len(region))
        question = _forward_question("\n".join([*before, *region, *after]), "\n".join(region), lines, shot.where)
        turns += [Message("user", question), Message("assistant", shot.description)]
    return tuple(turns)


def _backward_shots() -> tuple[Message, ...]:
    words = wording()
    turns = [Message("system", words.system)]
    for shot in words.shots:
        before, region, after = (part.strip("\n") for part in (shot.before, shot.region, shot.after))
        indent = indentation(region)
        file = f"{before}\n{indent}{PLACEHOLDER}\n{after}"
        question = _backward_question(file, todo_comment(indent, shot.description))
        answer = f"{words.answer_start}{region}{words.answer_end}"
        turns += [Message("user", question), Message("assistant", answer)]
    return tuple(turns)
