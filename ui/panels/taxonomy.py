"""The error modes an annotator chooses from, read from TOML."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import resources
from core.errors import UserError

BUNDLED = "error_modes.toml"
KEYS = range(1, 10)


@dataclass(frozen=True, slots=True)
class ErrorMode:
    """One label. `id` is what is stored; `key` is the digit that chooses it."""

    id: str
    key: int
    name: str
    about: str


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """All labels, by key."""

    version: int
    modes: tuple[ErrorMode, ...]

    def name(self, mode: str) -> str:
        """The name of a stored label; one of another version keeps its id."""
        return next((each.name for each in self.modes if each.id == mode), mode)

    def by_key(self, key: int) -> ErrorMode | None:
        """The mode a digit chooses."""
        return next((each for each in self.modes if each.key == key), None)


def read_taxonomy(path: Path | None = None) -> Taxonomy:
    """The bundled taxonomy, or the user's own at `path`. Raises UserError naming what is wrong with it."""
    path = path or resources.path(BUNDLED)
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"The error modes in {path} cannot be read: {error}.", _REMEDY) from error
    modes = data.get("mode")
    if not isinstance(data.get("version"), int) or not isinstance(modes, list) or not modes:
        raise UserError(f"{path} has no version or no error modes.", _REMEDY)
    made = tuple(sorted((_mode(path, each) for each in modes), key=lambda mode: mode.key))
    _check_unique(path, made)
    return Taxonomy(data["version"], made)


_REMEDY = "Mend the file after the pattern of the one that came with RTC Inspector, or delete it."


def _mode(path: Path, data: Any) -> ErrorMode:
    """One entry. Raises UserError."""
    try:
        mode = ErrorMode(str(data["id"]), int(data["key"]), str(data["name"]), str(data.get("about", "")))
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"An error mode in {path} lacks or misspells {error}.", _REMEDY) from error
    if not mode.id or not mode.name or mode.key not in KEYS:
        raise UserError(f"The error mode {mode.id!r} in {path} needs an id, a name and a key 1 to 9.", _REMEDY)
    return mode


def _check_unique(path: Path, modes: tuple[ErrorMode, ...]) -> None:
    """No id and no key twice. Raises UserError."""
    for what, values in (("id", [mode.id for mode in modes]), ("key", [str(mode.key) for mode in modes])):
        twice = next((value for value in values if values.count(value) > 1), None)
        if twice is not None:
            raise UserError(f"Two error modes in {path} have the {what} {twice!r}.", _REMEDY)
