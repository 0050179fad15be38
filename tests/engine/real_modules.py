"""Source files of the real world: our own, and some of Python's standard library."""

from __future__ import annotations

import inspect
from functools import cache
from pathlib import Path
from types import ModuleType

from rtc_inspector.core.source.codebase import open_codebase
from rtc_inspector.core.types import SourceFile

OWN_ROOT = Path(__file__).resolve().parents[2]


def source_of(module: ModuleType) -> SourceFile:
    """A module's own file, as if it were a project's."""
    path = Path(inspect.getfile(module))
    return SourceFile(path.name, path.read_bytes().decode(), "utf-8", is_test=False)


@cache
def own_core() -> tuple[SourceFile, ...]:
    """The engine's own files."""
    return tuple(file for file in open_codebase(OWN_ROOT / "core").files if not file.is_test)


def as_file(text: str, path: str = "m.py") -> SourceFile:
    """A text as a code file."""
    return SourceFile(path, text, "utf-8", is_test=False)
