"""Three-shot prompts of SynthesisRTC: describe a region, write it again (RTC paper, Sec. 3.1 and 4).

The words are data, in `resources/prompts/synthesis.toml`. Constant text stands first, then the file, then what varies.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from core.errors import ModelError
from core.generation import Message, Prompt
from core.models.excerpt import Excerpt, Outline, fitting
from core.types import Span

UNINFORMATIVE = "Implement."
"""The utterance eps of the baseline; shown as `# TODO: Implement.`."""

Fits = Callable[[Prompt], bool]


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
    """The texts of the resource file."""

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

    def ask(excerpt: Excerpt) -> Prompt:
        first = len(excerpt.before) + 1
        question = _forward_question(
            "\n".join([*excerpt.before, *region, *excerpt.after]),
            "\n".join(region),
            (first, first + len(region) - 1),
            ".".join(outline.names),
        )
        return Prompt((*_forward_shots(), Message("user", question)), truncated=excerpt.cut)

    return _fitted(outline, ask, fits)


def backward_prompt(file_text: str, region_span: Span, description: str, fits: Fits) -> Prompt:
    """Ask for the code of the region, which is shown only as a TODO comment carrying `description`.

    Raises ModelError when not even the comment alone fits.
    """
    words = wording()
    outline = Outline.of(file_text, region_span)
    todo = _todo_lines(file_text, region_span, description)

    def ask(excerpt: Excerpt) -> Prompt:
        file = "\n".join([*excerpt.before, *todo, *excerpt.after])
        question = Message("user", _backward_question(file))
        return Prompt(
            (*_backward_shots(), question),
            truncated=excerpt.cut,
            prefill=words.answer_start,
            stop=(words.answer_end,),
        )

    return _fitted(outline, ask, fits)


def _fitted(outline: Outline, ask: Callable[[Excerpt], Prompt], fits: Fits) -> Prompt:
    excerpt = fitting(outline, lambda e: fits(ask(e)))
    if excerpt is None:
        raise ModelError(
            "A region does not fit the model's context window, even without the file around it.",
            "Use a larger context size, or a model with a larger window.",
        )
    return ask(excerpt)


def _todo_lines(text: str, span: Span, description: str) -> list[str]:
    """The region's lines with the region replaced by a comment; what shares its lines stays."""
    head = text[max(text.rfind("\n", 0, span.start), text.rfind("\r", 0, span.start)) + 1 : span.start]
    rest = text[span.end :].splitlines()[0] if text[span.end : span.end + 1] not in ("", "\n", "\r") else ""
    indent = head[: len(head) - len(head.lstrip())]
    first, *others = description.strip().splitlines() or [""]
    lines = [f"{head}# TODO: {first.strip()}".rstrip()]
    lines += [f"{indent}# {line.strip()}".rstrip() for line in others]
    tail = rest.strip().lstrip(";").strip()
    return [*lines, indent + tail] if tail else lines


def _forward_question(file: str, region: str, lines: tuple[int, int], where: str) -> str:
    place = f", in `{where}`" if where else ""
    return (
        wording()
        .forward.strip()
        .format(file=file.rstrip("\n"), region=region, first=lines[0], last=lines[1], where=place)
    )


def _backward_question(file: str) -> str:
    return wording().backward.strip().format(file=file.rstrip("\n"))


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
        indent = region[: len(region) - len(region.lstrip())]
        question = _backward_question(f"{before}\n{indent}# TODO: {shot.description}\n{after}")
        answer = f"{words.answer_start}{region}{words.answer_end}"
        turns += [Message("user", question), Message("assistant", answer)]
    return tuple(turns)
