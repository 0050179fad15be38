"""Compile the unmodified project once, in the zygote; children import from memory."""

from __future__ import annotations

import contextlib
import importlib.machinery
import os
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any


def remember(paths: list[str]) -> None:
    """Keep the code of these files; a text that differs from what was compiled is compiled anew."""
    compiled: dict[str, tuple[bytes, CodeType]] = {}
    for path in paths:
        with contextlib.suppress(Exception):
            data = Path(path).read_bytes()
            compiled[path] = (data, compile(data, path, "exec", dont_inherit=True))
    _compile_from(compiled)
    _rewrite_from([path for path in paths if "test" in os.path.basename(path)])


def _compile_from(compiled: dict[str, tuple[bytes, CodeType]]) -> None:
    loader: Any = importlib.machinery.SourceFileLoader
    usual = loader.source_to_code

    def source_to_code(self: Any, data: Any, path: Any, **options: Any) -> Any:
        known = compiled.get(path) if isinstance(path, str) else None
        if known is not None and type(data) is bytes and data == known[0]:
            return known[1]
        return usual(self, data, path, **options)

    loader.source_to_code = source_to_code


def _rewrite_from(paths: list[str]) -> None:
    """pytest rewrites the assertions of test files on import, which costs more than compiling them."""
    from _pytest.assertion import rewrite

    usual: Any = getattr(rewrite, "_rewrite_test", None)
    if usual is None:
        return
    rewritten, no_options = {}, SimpleNamespace(getini=lambda name: False)  # asked whether a hook is wanted
    for path in paths:
        with contextlib.suppress(Exception):
            rewritten[path] = usual(Path(path), no_options)

    def rewrite_test(fn: Any, config: Any) -> Any:
        known = rewritten.get(str(fn))
        if known is None or config.getini("enable_assertion_pass_hook"):
            return usual(fn, config)
        return known

    rewrite._rewrite_test = rewrite_test
