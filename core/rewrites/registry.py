"""Every transformation that needs no model, by name: pure functions of a function of a project and a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

import libcst as cst

from rtc_inspector.core.rewrites.permute import permute
from rtc_inspector.core.rewrites.program import Edit, Parsed, Program, Refused, Rewritten, blocks
from rtc_inspector.core.rewrites.rename import rename
from rtc_inspector.core.rewrites.swap import swap
from rtc_inspector.core.types import Span


def identity(program: Program, path: str, start: int, seed: int) -> Rewritten | Refused:
    """Change nothing; models are asked again, with other seeds and other hidden names."""
    return Rewritten({})


CHANCE = 0.3
"""That a line is added between two statements."""
WORDS = ("debug", "here", "checkpoint", "reached", "trace", "step")
_LEAVES = cst.Return | cst.Raise | cst.Break | cst.Continue
_SHOWS_ITSELF = frozenset({"__str__", "__repr__", "__format__"})
"""Methods in which no value is printed: printing `self`, or what holds it, would call them again without end."""


def logging(program: Program, path: str, start: int, seed: int) -> Rewritten | Refused:
    """Print a word or what was just assigned between simple statements of a block, at least once."""
    parsed = program.parsed(path)
    function = parsed.function(start) if parsed else None
    if parsed is None or function is None:
        return Refused("its file cannot be parsed exactly")
    scope = parsed.scope(function.body)
    if scope is None or any(each.name == "print" for each in (*scope.assignments, *scope.globals.assignments)):
        return Refused("`print` is something else in its file")
    draw = random.Random(f"{seed} {path} {start}")
    gaps = [gap for block in blocks(parsed, function) for gap in _gaps(parsed, block)]
    if not gaps:
        return Refused("no two simple statements follow one another")
    chosen = [gap for gap in gaps if draw.random() < CHANCE] or [draw.choice(gaps)]
    names = function.name.value not in _SHOWS_ITSELF
    edits = []
    for before, after in chosen:
        at = parsed.span(after).start
        indentation = parsed.indentation(at)
        if indentation is None:
            return Refused("its statements share lines")
        name = _assigned(before) if names and draw.random() < 0.5 else None
        line = f"print({name})" if name else f'print("{draw.choice(WORDS)}")'
        edits.append(Edit(Span(at, at), f"{line}{parsed.newline}{indentation}"))
    return Rewritten({path: tuple(sorted(edits, key=lambda edit: edit.span.start))})


def _gaps(
    parsed: Parsed, block: Sequence[cst.BaseStatement]
) -> list[tuple[cst.SimpleStatementLine, cst.SimpleStatementLine]]:
    """Return neighbouring statements between which a line is reached, and would not stand beside another print."""
    found = []
    for before, after in pairwise(block):
        if not (isinstance(before, cst.SimpleStatementLine) and isinstance(after, cst.SimpleStatementLine)):
            continue
        if isinstance(before.body[-1], _LEAVES) or _prints(parsed, before) or _prints(parsed, after):
            continue
        found.append((before, after))
    return found


def _prints(parsed: Parsed, line: cst.SimpleStatementLine) -> bool:
    return any(name.value == "print" for name in parsed.every(line, cst.Name))


def _assigned(line: cst.SimpleStatementLine) -> str | None:
    """Return the name that a statement has just bound, so that it can be printed."""
    last = line.body[-1]
    target: cst.CSTNode | None = None
    if isinstance(last, cst.Assign):
        target = last.targets[0].target
    elif isinstance(last, cst.AugAssign) or (isinstance(last, cst.AnnAssign) and last.value is not None):
        target = last.target
    return target.value if isinstance(target, cst.Name) else None


Transformation = Callable[[Program, str, int, int], Rewritten | Refused]
"""`(program, path, offset of the function's def, seed)`."""

TRANSFORMATIONS: Mapping[str, Transformation] = MappingProxyType(
    {"identity": identity, "rename": rename, "logging": logging, "swap": swap, "permute": permute}
)
