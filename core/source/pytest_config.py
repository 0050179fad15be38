"""The project's own pytest configuration, as far as it says where tests live."""

from __future__ import annotations

import configparser
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class PytestConfig:
    """Where pytest looks; empty tuples mean its defaults.

    Attributes:
        folder: that of the configuration file, which the paths below are relative to.
        python_files: patterns of test file names.
        testpaths: files, folders or patterns of folders.
    """

    folder: Path
    python_files: tuple[str, ...] = ()
    testpaths: tuple[str, ...] = ()


def read_pytest_config(root: Path, top: Path) -> PytestConfig:
    """The configuration pytest would take: the first file that has one, in `root` or above it, up to `top`."""
    for folder in (root, *root.parents):
        if not folder.is_relative_to(top):
            break
        for section in _sections(folder):
            return PytestConfig(folder, _words(section.get("python_files")), _words(section.get("testpaths")))
    return PytestConfig(root)


def _sections(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Sections about pytest, in pytest's own order of precedence."""
    readers: dict[str, Callable[[Path], Mapping[str, Any] | None]] = {
        "pytest.toml": lambda file: _toml(file, "pytest") or {},
        ".pytest.toml": lambda file: _toml(file, "pytest") or {},
        "pytest.ini": lambda file: _ini(file, "pytest") or {},
        ".pytest.ini": lambda file: _ini(file, "pytest") or {},
        "pyproject.toml": _pyproject,
        "tox.ini": lambda file: _ini(file, "pytest"),
        "setup.cfg": lambda file: _ini(file, "tool:pytest"),
    }
    for name, reader in readers.items():
        file = folder / name
        section = reader(file) if file.is_file() else None
        if section is not None:
            yield section


def _pyproject(file: Path) -> Mapping[str, Any] | None:
    """`[tool.pytest.ini_options]`, or `[tool.pytest]` as pytest 9 reads it."""
    old = _toml(file, "tool", "pytest", "ini_options")
    return old if old is not None else _toml(file, "tool", "pytest")


def _toml(file: Path, *keys: str) -> Mapping[str, Any] | None:
    """The table under `keys`; None when it is missing or the file is broken."""
    try:
        value: Any = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else None


def _ini(file: Path, section: str) -> Mapping[str, Any] | None:
    """The section; None when it is missing or the file is broken."""
    parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    try:
        parser.read_string(file.read_text(encoding="utf-8", errors="replace"))
    except (OSError, configparser.Error):
        return None
    return dict(parser[section]) if parser.has_section(section) else None


def _words(value: object) -> tuple[str, ...]:
    """A list, or words as a shell splits them."""
    if isinstance(value, list):
        return tuple(str(word) for word in value)
    try:
        return tuple(shlex.split(value)) if isinstance(value, str) else ()
    except ValueError:
        return ()
