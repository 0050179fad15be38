"""Serve a candidate's text for one file, whoever imports it and however often."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import linecache
import os
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType
from typing import Any


class CandidateLoader(importlib.machinery.SourceFileLoader):
    """Compiles the candidate's text; neither the file nor any cached bytecode is read."""

    def __init__(self, fullname: str, path: str, text: bytes) -> None:
        """`text`: the whole file, encoded as the file is."""
        super().__init__(fullname, path)
        self._text = text

    def get_data(self, path: str) -> bytes:
        """The candidate for its own path; other data as it is on disk."""
        return self._text if path == self.path else super().get_data(path)

    def get_code(self, fullname: str) -> CodeType:
        """Fresh code each time, reloads included."""
        code: CodeType = compile(self._text, self.path, "exec", dont_inherit=True)
        return code


class CandidateFinder(importlib.abc.MetaPathFinder):
    """Finds the changed file among modules of its name."""

    def __init__(self, path: str, text: bytes) -> None:
        """`path`: absolute, links resolved."""
        self._path = path
        self._text = text
        stem = os.path.splitext(os.path.basename(path))[0]
        self._name = os.path.basename(os.path.dirname(path)) if stem == "__init__" else stem

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The usual spec with our loader when it leads to the changed file."""
        if fullname.rpartition(".")[2] != self._name:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                return self._ours(spec)
        return None

    def _ours(self, spec: importlib.machinery.ModuleSpec) -> importlib.machinery.ModuleSpec | None:
        if spec.origin is None or os.path.realpath(spec.origin) != self._path:
            return None
        spec.loader = CandidateLoader(spec.name, spec.origin, self._text)
        spec.cached = None
        return spec


def serve(path: str, text: bytes) -> None:
    """Install the finder ahead of all others and let tracebacks show the candidate's lines."""
    real = os.path.realpath(path)
    finder = CandidateFinder(real, text)
    sys.meta_path.insert(0, finder)
    _outrank_assertion_rewriting(finder)
    lines = text.decode("utf-8", "replace").splitlines(True)
    for name in {path, real}:
        linecache.cache[name] = (len(text), None, lines, name)


def _outrank_assertion_rewriting(finder: CandidateFinder) -> None:
    """pytest puts its own finder first later on; it must step back for the changed file."""
    from _pytest.assertion import rewrite

    usual: Any = rewrite.AssertionRewritingHook.find_spec

    def find_spec(self: Any, name: str, path: Any = None, target: Any = None) -> Any:
        spec = usual(self, name, path, target)
        if spec is None or spec.origin is None or os.path.realpath(spec.origin) != finder._path:
            return spec
        return finder._ours(spec)

    rewrite.AssertionRewritingHook.find_spec = find_spec  # type: ignore[method-assign]
