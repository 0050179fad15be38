"""Serve a candidate's texts for its files, whoever imports them and however often.

Nothing of ours is imported here: interpreters that tests start load this file by itself.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import os
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType
from typing import Any


class CandidateLoader(importlib.machinery.SourceFileLoader):
    """Compiles the candidate's text; neither the file nor any cached bytecode is read."""

    def __init__(self, fullname: str, path: str, text: bytes, code: CodeType | None) -> None:
        """`text`: the whole file, encoded as the file is. `code`: what it compiles to, where that is known."""
        super().__init__(fullname, path)
        self._text = text
        self._code = code

    def get_data(self, path: str) -> bytes:
        return self._text if path == self.path else super().get_data(path)

    def get_code(self, fullname: str) -> CodeType:
        if self._code is None:
            self._code = compile(self._text, self.path, "exec", dont_inherit=True)
        return self._code


class CandidateFinder(importlib.abc.MetaPathFinder):
    """Finds the changed files among modules of their names; nothing until `place` was called."""

    def __init__(self) -> None:
        self._texts: dict[str, bytes] = {}
        self._codes: dict[str, CodeType | None] = {}
        self._names: set[str] = set()
        self._known: dict[str, str] = {}

    def place(self, path: str, text: bytes, code: CodeType | None = None, module: str = "") -> None:
        """Have `path` read as `text` from now on, for imports and in tracebacks.

        `module`: its name, where `path` is known to hold no link and to be what that name leads to.
        """
        real = path if module else os.path.realpath(path)
        self._texts[real], self._codes[real] = text, code
        self._known[module] = path
        stem = os.path.splitext(os.path.basename(path))[0]
        self._names.add(os.path.basename(os.path.dirname(path)) if stem == "__init__" else stem)
        lines = text.decode("utf-8", "replace").splitlines(True)
        for name in {path, real}:
            linecache.cache[name] = (len(text), None, lines, name)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the usual spec with our loader when it leads to a changed file."""
        if fullname.rpartition(".")[2] not in self._names:
            return None
        if fullname in self._known:
            direct = importlib.machinery.ModuleSpec(fullname, None, origin=self._known[fullname])
            direct.has_location = True
            return self.ours(direct, self._known[fullname])
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                return self.ours(spec) if self.is_changed(spec) else None
        return None

    def is_changed(self, spec: importlib.machinery.ModuleSpec) -> bool:
        return bool(self._texts) and spec.origin is not None and os.path.realpath(spec.origin) in self._texts

    def ours(self, spec: importlib.machinery.ModuleSpec, real: str = "") -> importlib.machinery.ModuleSpec:
        """Put our loader in the spec of a changed file. `real`: its path without links, where it is known."""
        path = str(spec.origin)
        real = real or os.path.realpath(path)
        spec.loader = CandidateLoader(spec.name, path, self._texts[real], self._codes[real])
        spec.cached = None
        return spec


def install() -> CandidateFinder:
    """Install a finder ahead of all others; pytest puts its own first later on, and steps back for changed files."""
    finder = CandidateFinder()
    sys.meta_path.insert(0, finder)
    if "pytest" in sys.modules:
        from _pytest.assertion import rewrite

        rewritten: Any = rewrite.AssertionRewritingHook.find_spec

        def find_spec(self: Any, name: str, path: Any = None, target: Any = None) -> Any:
            spec = rewritten(self, name, path, target)
            return finder.ours(spec) if spec is not None and finder.is_changed(spec) else spec

        rewrite.AssertionRewritingHook.find_spec = find_spec  # type: ignore[method-assign]
    # Of modules made from a file's path no finder is asked: pytest makes such, and tests of scripts.
    usual: Any = importlib.util.spec_from_file_location

    @functools.wraps(usual)
    def spec_from_file_location(name: str, location: Any = None, **named: Any) -> Any:
        spec = usual(name, location, **named)
        return finder.ours(spec) if spec is not None and not named.get("loader") and finder.is_changed(spec) else spec

    importlib.util.spec_from_file_location = spec_from_file_location
    return finder
