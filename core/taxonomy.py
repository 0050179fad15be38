"""The error modes an annotator chooses from: read, revised, and written as TOML."""

import itertools
import json
import re
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rtc_inspector import resources
from rtc_inspector.core.errors import UserError

BUNDLED = "error_modes.toml"
KEYS = range(1, 10)
NO_KEY = 0


@dataclass(frozen=True, slots=True)
class ErrorMode:
    """One label."""

    id: str  # what is stored; it never changes
    key: int  # the digit that chooses it; NO_KEY when all digits are taken, or when it is retired
    name: str
    about: str
    retired: bool = False  # no longer offered; labels given with it keep it and its name
    guide: str = ""  # a line of the team's own: when to choose it, on the code at hand
    clean: bool = False  # nothing is wrong. It stands alone, has no digit, and is offered where passes are in turn


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """The modes in the order they are offered, retired ones last. Each revision has a higher `version`."""

    version: int
    modes: tuple[ErrorMode, ...]

    @property
    def offered(self) -> tuple[ErrorMode, ...]:
        return tuple(mode for mode in self.modes if not mode.retired)

    def name(self, mode: str) -> str:
        """Return the name of a stored label; one that is not known keeps its id."""
        return next((each.name for each in self.modes if each.id == mode), mode)

    def to_toml(self) -> str:
        return f"version = {self.version}\n" + "".join(_table(mode) for mode in self.modes)


def read_taxonomy(path: Path | None = None) -> Taxonomy:
    """Return the bundled taxonomy, or the one at `path`. Raises UserError naming what is wrong with it."""
    path = path or resources.path(BUNDLED)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"The error modes in {path} cannot be read: {error}.", _REMEDY) from error
    return parse_taxonomy(text, str(path))


def parse_taxonomy(text: str, where: str) -> Taxonomy:
    """Return a taxonomy from its TOML; `where` it stands is said in errors. Raises UserError."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"The error modes in {where} cannot be read: {error}.", _REMEDY) from error
    modes = data.get("mode")
    if not isinstance(data.get("version"), int) or not isinstance(modes, list) or not modes:
        raise UserError(f"{where} has no version or no error modes.", _REMEDY)
    # Offered before retired, with a digit before without.
    ordered = sorted((_mode(where, each) for each in modes), key=lambda m: (m.retired, m.key == NO_KEY, m.key))
    keys = [str(mode.key) for mode in ordered if mode.key != NO_KEY]
    for what, values in (("id", [mode.id for mode in ordered]), ("key", keys)):
        twice = next((value for value in values if values.count(value) > 1), None)
        if twice is not None:
            raise UserError(f"Two error modes in {where} have the {what} {twice!r}.", _REMEDY)
    if all(mode.retired for mode in ordered):
        raise UserError(f"All error modes in {where} are retired.", _REMEDY)
    return Taxonomy(data["version"], tuple(ordered))


def revised(before: Taxonomy, modes: Sequence[ErrorMode]) -> Taxonomy:
    """Return the next version: `modes` in this order, digits by place; a mode of `before` that is missing is retired.

    One that is clean stands last, without a digit.
    Gives `before` itself when nothing differs.
    """
    kept = {mode.id for mode in modes}
    missing = [replace(mode, retired=True) for mode in before.modes if mode.id not in kept]
    offered = sorted((mode for mode in modes if not mode.retired), key=lambda mode: mode.clean)
    numbered = [
        replace(mode, key=at if at in KEYS and not mode.clean else NO_KEY) for at, mode in enumerate(offered, start=1)
    ]
    retired = [replace(mode, key=NO_KEY) for mode in (*(mode for mode in modes if mode.retired), *missing)]
    after = (*numbered, *retired)
    return before if after == before.modes else Taxonomy(before.version + 1, after)


def fresh_id(name: str, taken: Collection[str]) -> str:
    """Return an id for a new mode of this name: `Off by one` gives `off-by-one`."""
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "mode"
    fresh, number = words, 2
    while fresh in taken:
        fresh, number = f"{words}-{number}", number + 1
    return fresh


_REMEDY = "Mend the file after the pattern of the one that came with RTC Inspector, or delete it."


def _mode(where: str, data: Any) -> ErrorMode:
    try:
        retired, key = bool(data.get("retired", False)), int(data.get("key", NO_KEY))
        name, about, guide = str(data["name"]), str(data.get("about", "")), str(data.get("guide", ""))
        mode = ErrorMode(str(data["id"]), key, name, about, retired, guide, bool(data.get("clean", False)))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"An error mode in {where} lacks or misspells {error}.", _REMEDY) from error
    # Ids stand beside each other where a sample has several modes.
    plain = re.fullmatch(r'[^\s"\\]+', mode.id)
    if not plain or not mode.name or (mode.key not in KEYS and "key" in data):
        problem = f"The error mode {mode.id!r} in {where} needs an id without spaces, a name and a key 1 to 9."
        raise UserError(problem, _REMEDY)
    return replace(mode, key=NO_KEY) if retired else mode


def _table(mode: ErrorMode) -> str:
    lines = ["", "[[mode]]", f"id = {_text(mode.id)}"]
    if mode.key != NO_KEY:
        lines.append(f"key = {mode.key}")
    lines += [f"name = {_text(mode.name)}", f"about = {_text(mode.about)}"]
    if mode.guide:
        lines.append(f"guide = {_text(mode.guide)}")
    lines += [f"{name} = true" for name, on in (("clean", mode.clean), ("retired", mode.retired)) if on]
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    """Return a TOML string: JSON's escapes are TOML's too, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


@dataclass(frozen=True, slots=True)
class TaxonomyFile:
    """The file of a user's error modes; the folder need not exist until they are saved."""

    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / BUNDLED

    def read(self) -> Taxonomy:
        return read_taxonomy(self.path) if self.path.exists() else read_taxonomy()

    def save(self, taxonomy: Taxonomy) -> None:
        """Put it in place of the file that is there, which is kept under another name. Raises UserError."""
        # Written aside first: where the disk is full, the modes that are there stay.
        fresh = self.path.with_suffix(".new")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            fresh.write_text(taxonomy.to_toml(), encoding="utf-8", errors="backslashreplace")
            if self.path.exists():
                try:
                    old = f"v{self.read().version}"
                except UserError:
                    old = "unreadable"
                names = itertools.chain([f".{old}.toml"], (f".{old}-{number}.toml" for number in itertools.count(2)))
                places = (self.path.with_suffix(name) for name in names)
                self.path.replace(next(place for place in places if not place.exists()))
            fresh.replace(self.path)
        except OSError as error:
            problem = f"The error modes could not be saved in {self.folder}: {error.strerror or error}."
            raise UserError(problem, "Make that folder writable, then save again; nothing else was lost.") from error
