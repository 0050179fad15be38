"""Which lines of a file a traceback passes through."""

from __future__ import annotations

import re

_NATIVE = re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)')
_SHORT = re.compile(r"^(?P<path>[^\s:]+\.pyi?):(?P<line>\d+):", re.MULTILINE)


def lines_through(message: str, path: str) -> list[int]:
    """Line numbers in `path` (relative to the project), in the order the traceback names them, each once."""
    found = sorted(
        (match.start(), int(match["line"]))
        for pattern in (_NATIVE, _SHORT)
        for match in pattern.finditer(message)
        if _is(match["path"], path)
    )
    return list(dict.fromkeys(line for _, line in found))


def _is(named: str, path: str) -> bool:
    """Whether a traceback's path is the project's `path`; in messages of older versions it is absolute."""
    return bool(path) and (named == path or (named.startswith("/") and named.endswith(f"/{path}")))
