"""Three-shot prompts of EditingRTC: describe an edit, apply it again (RTC paper, Sec. 3.2 and 4).

The words are data, in `resources/prompts/editing.toml`. Models are asked in turns of a conversation; in the
style `code` the same parts stand under headings of one text, which the model goes on writing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.generation import PLAIN, Block, Fits, Message, Prompt
from rtc_inspector.core.models.prompts import CODE, LEAST_ROOM, ROOM_FACTOR
from rtc_inspector.core.settings.words import words_of

BEFORE, EDIT, AFTER, END = "# Before:", "# Edit:", "# After:", "# End"  # the headings in the style `code`
UNINFORMATIVE = "Edit."  # the utterance eps of the baseline


@dataclass(frozen=True, slots=True)
class Shot:
    """One worked example."""

    old: str
    new: str
    description: str


@dataclass(frozen=True, slots=True)
class Wording:
    """The texts of the resource file. `version`: goes up with every change of what models are asked."""

    version: int
    system: str
    forward: str
    backward: str
    shots: tuple[Shot, ...]


@cache
def wording(own: str = "") -> Wording:
    """Return the texts of the resource file, with a person's `own` in their place."""
    data = words_of("editing", own)
    shots = (Shot(shot["old"].strip("\n"), shot["new"].strip("\n"), shot["description"]) for shot in data["shots"])
    forward, backward = data["forward"]["question"], data["backward"]["question"]
    return Wording(data["version"], data["system"], forward, backward, tuple(shots))


def edit_forward_prompt(old: str, new: str, fits: Fits, style: str = "chat", own: str = "") -> Prompt:
    """Ask what differs between the old and the new code; `own`: a person's words, as TOML.

    Where the window is too small shots are left out, and `truncated` says so. Raises ModelError when not even the
    question fits.
    """
    words = wording(own)

    def ask(shots: Sequence[Shot]) -> Prompt:
        turns = [(_forward_question(words, shot.old, shot.new), shot.description) for shot in shots]
        return Prompt(_messages(words, turns, _forward_question(words, old, new)))

    def ask_in_one_text(shots: Sequence[Shot]) -> Prompt:
        parts = [_part(shot.old, after=shot.new) + f"{EDIT} {shot.description}\n\n\n" for shot in shots]
        text = "".join(parts) + _part(old, after=new) + EDIT
        return Prompt((Message(PLAIN, text),), block=Block("", comment="#"))

    return _fitted(words.shots, ask_in_one_text if style == CODE else ask, fits)


def edit_backward_prompt(old: str, description: str, fits: Fits, style: str = "chat", own: str = "") -> Prompt:
    """Ask for the new code, from the old code and the description of the edit alone. Raises ModelError as above."""
    fence, words = fence_for(old), wording(own)

    def ask(shots: Sequence[Shot]) -> Prompt:
        turns = []
        for shot in shots:
            inner = fence_for(shot.old)
            turns.append((_backward_question(words, shot.old, shot.description), f"{inner}\n{shot.new}\n{inner}"))
        messages = _messages(words, turns, _backward_question(words, old, description))
        return Prompt(messages, prefill=f"{fence}\n", stop=(f"\n{fence}",))

    def ask_in_one_text(shots: Sequence[Shot]) -> Prompt:
        parts = [_part(shot.old, edit=shot.description, after=shot.new) + f"{END}\n\n\n" for shot in shots]
        return Prompt(
            (Message(PLAIN, "".join(parts) + _part(old, edit=description) + f"{AFTER}\n"),),
            stop=(f"\n{END}", f"\n{BEFORE}"),
            most_characters=max(LEAST_ROOM, ROOM_FACTOR * len(old)),
        )

    return _fitted(words.shots, ask_in_one_text if style == CODE else ask, fits)


def _part(old: str, edit: str = "", after: str | None = None) -> str:
    lines = [BEFORE, _lines(old).rstrip("\n")]
    lines += [f"{EDIT} " + "\n# ".join(edit.strip().splitlines())] if edit else []
    lines += [AFTER, _lines(after).rstrip("\n")] if after is not None else []
    return "\n".join(lines) + "\n"


def fence_for(text: str) -> str:
    """Return a fence that the text does not hold."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)


def _fitted(shots: Sequence[Shot], ask: Callable[[Sequence[Shot]], Prompt], fits: Fits) -> Prompt:
    for count in range(len(shots), -1, -1):
        prompt = replace(ask(shots[:count]), truncated=count < len(shots))
        if fits(prompt):
            return prompt
    raise ModelError(
        "An edit does not fit the model's context window, even without examples before it.",
        "Use a larger context size, a model with a larger window, or a smaller --max-edit-characters.",
    )


def _messages(words: Wording, turns: Sequence[tuple[str, str]], question: str) -> tuple[Message, ...]:
    messages = [Message("system", words.system)]
    for asked, answered in turns:
        messages += [Message("user", asked), Message("assistant", answered)]
    return (*messages, Message("user", question))


def _forward_question(words: Wording, old: str, new: str) -> str:
    old, new = _lines(old), _lines(new)
    return words.forward.strip().format(old=old, new=new, fence=fence_for(old + "\n" + new))


def _backward_question(words: Wording, old: str, description: str) -> str:
    return words.backward.strip().format(old=_lines(old), description=description.strip(), fence=fence_for(old))


def _lines(text: str) -> str:
    """Return the text with the one kind of line end that models are used to."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
