"""The file in which a project configures pytest, and what it sets there."""

import configparser
import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# In the order in which pytest looks.
FILES = {
    "pytest.toml": ("pytest",),
    ".pytest.toml": ("pytest",),
    "pytest.ini": ("pytest",),
    ".pytest.ini": ("pytest",),
    "pyproject.toml": ("tool", "pytest"),
    "tox.ini": ("pytest",),
    "setup.cfg": ("tool:pytest",),
}
"""By name, the section about pytest. The first four hold nothing else, and count without it too."""


def configuration(folder: Path) -> tuple[Path, Mapping[str, Any]] | None:
    """Return the first file in a folder that configures pytest, with its values; an unreadable one counts as none."""
    for name, keys in FILES.items():
        if (file := folder / name).is_file() and (values := _section(file, keys)) is not None:
            return file, values
    return None


def words(value: object) -> list[str]:
    """Return the words of a value: of a list, or of a text as a shell takes it apart."""
    if isinstance(value, list):
        return [str(word) for word in value]
    try:
        return shlex.split(str(value or ""))
    except ValueError:
        return str(value).split()


def _section(file: Path, keys: tuple[str, ...]) -> Mapping[str, Any] | None:
    nothing: Mapping[str, Any] | None = {} if file.stem in ("pytest", ".pytest") else None
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
        if file.suffix != ".toml":
            parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
            parser.read_string(text)
            return dict(parser[keys[0]]) if keys[0] in parser else nothing
        found: Any = tomllib.loads(text)
    except (ValueError, configparser.Error, OSError):
        return None
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    if not isinstance(found, dict):
        return nothing
    inner = found.get("ini_options")  # of pytest before version 9
    return inner if isinstance(inner, dict) else found
