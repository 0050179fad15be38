"""The words that models are asked with: the program's own, in `resources/prompts/`, or what a person put there instead.

A person's words are TOML with the keys of those files; what they leave out stays as it is. A run stores the text.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

from rtc_inspector.core.errors import UserError
from rtc_inspector.resources import text as resource_text

OPTIONAL = frozenset({"first", "last", "where", "fence", "begin", "end"})  # placeholders that a question may leave out
EDITED = {
    "system": "What the model is told first",
    "forward.question": "Asking for a description",
    "backward.question": "Asking for the code",
}
"""The words that the window shows, by key; a file may change the others too."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One text that models are asked with: its key, what it is for, and the placeholders that it needs."""

    key: str
    title: str
    text: str
    needs: tuple[str, ...]


def resource_of(task: str) -> str:
    """Return the name of the file with a task's words."""
    return "editing" if task == "editing" else "synthesis"


@cache
def words_of(task: str, own: str = "") -> dict[str, Any]:
    """Return the words of a task, with a person's `own` in their place. Raises UserError."""
    given = tomllib.loads(resource_text("prompts", f"{resource_of(task)}.toml"))
    try:
        return _joined(given, tomllib.loads(own), "")
    except ValueError as error:  # tomllib's own error is one, too
        remedy = f"Begin with resources/prompts/{resource_of(task)}.toml, and change what its texts say."
        raise UserError(f"The words of the prompts: {error}.", remedy) from error


def instructions(task: str, own: str = "") -> list[Instruction]:
    """Return the texts that a person may change in the window, as they are with `own`. Raises UserError."""
    texts = dict(flat(words_of(task, own)))
    return [Instruction(key, title, texts[key], _needed(texts[key])) for key, title in EDITED.items()]


def changed(task: str, texts: Mapping[str, str], own: str = "") -> str:
    """Return a person's `own` words as TOML, with these texts by their keys; only what is not the program's own."""
    given, now = words_of(task), dict(words_of(task, own))
    for key, text in texts.items():
        table, _, name = key.rpartition(".")
        now |= {table: {**now[table], name: text}} if table else {name: text}
    lines = [f"{key} = {_toml(value)}" for key, value in _differing(given, now)]
    for key, table in given.items():
        if isinstance(table, dict) and (inner := list(_differing(table, now[key]))):
            lines += ["", f"[{key}]", *(f"{name} = {_toml(value)}" for name, value in inner)]
    return "\n".join(lines).strip() + "\n" if lines else ""


def _differing(given: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in now.items():
        same = value.strip() == given[key].strip() if isinstance(value, str) else value == given[key]
        if not same and not isinstance(value, dict):
            yield key, value


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return (
            "[" + ", ".join("{" + ", ".join(f"{k} = {_toml(v)}" for k, v in each.items()) + "}" for each in value) + "]"
        )
    # A text as JSON writes it is one of TOML, but for the character DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_words(text: str) -> str:
    """Return a person's words, given as they are or as the name of their file. Raises ValueError."""
    if "\n" in text or not text:
        return text
    try:
        found = Path(text).expanduser().read_text("utf-8")
        tomllib.loads(found)
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{text} cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{text} is not TOML: {error}") from None
    return found.rstrip() + "\n"


def flat(words: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Yield each text under its whole key, e.g. `forward.question`; the worked examples as one text of their own."""
    for key, value in words.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{before}{key}.")
        elif not isinstance(value, int):
            yield before + key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _joined(given: Mapping[str, Any], own: Mapping[str, Any], before: str) -> dict[str, Any]:
    """Return the program's words with a person's in their place. Raises ValueError."""
    for key, value in own.items():
        name = before + key
        if key not in given:
            raise ValueError(f"there is nothing called {name}; there is {', '.join(given)}")
        if type(value) is not type(given[key]):
            raise ValueError(f"{name} is {'a text' if isinstance(given[key], str) else 'of another form'}")
        if isinstance(value, str):
            _check_placeholders(name, given[key], value)
        elif isinstance(value, list):
            keys = set(given[key][0])
            for shot in value:
                texts = isinstance(shot, dict) and all(isinstance(each, str) for each in shot.values())
                if not texts or set(shot) != keys:
                    raise ValueError(f"each of {name} has the texts {', '.join(given[key][0])}, and nothing else")
    own = {key: _joined(given[key], value, f"{before}{key}.") if isinstance(value, dict) else value
           for key, value in own.items() if key != "version"}  # fmt: skip
    return {**given, **own}


def _needed(text: str) -> tuple[str, ...]:
    names = (name for _, name, _, _ in Formatter().parse(text) if name)
    return tuple(name for name in dict.fromkeys(names) if name not in OPTIONAL)


def _check_placeholders(name: str, given: str, own: str) -> None:
    allowed = {each for _, each, _, _ in Formatter().parse(given) if each is not None}
    if not allowed:
        return  # nothing is filled in here, and braces are braces
    try:
        used = {each for _, each, _, _ in Formatter().parse(own) if each is not None}
    except ValueError as error:
        raise ValueError(f"{name}: {error}; write a brace as {{{{ or }}}}") from None
    for each in _needed(given):
        if each not in used:
            raise ValueError(f"{name} lacks {{{each}}}, in whose place the {each} is put")
    if strange := sorted(used - allowed):
        raise ValueError(
            f"{name} has no {{{strange[0]}}}; it has {', '.join(f'{{{each}}}' for each in sorted(allowed))}"
        )
