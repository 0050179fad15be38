"""Put words, most often a model's, into a function as its docstring."""

from __future__ import annotations

import textwrap

import libcst as cst

from rtc_inspector.core.rewrites.program import Edit, Program, Refused, Rewritten, docstring
from rtc_inspector.core.types import Span

WIDTH = 88


def undocumented(program: Program, path: str, start: int) -> Refused | None:
    """Return why no docstring can be added to a function; None when one can."""
    found = _docstring_place(program, path, start)
    return found if isinstance(found, Refused) else None


def document(program: Program, path: str, start: int, words: str) -> Rewritten | Refused:
    """Make the words the docstring of a function that has none."""
    place = _docstring_place(program, path, start)
    if isinstance(place, Refused):
        return place
    # A backslash or three quotes would end the text or mean something in it, and a doctest in it would be run.
    lines = [line.strip() for line in words.replace("\\", "/").replace('"""', "'''").splitlines()]
    plain = " ".join(line for line in lines if line and not line.startswith((">>>", "...")))
    if not plain:
        return Refused("there are no words")
    at, indentation, newline = place
    if plain.endswith('"'):
        plain += " "  # else four quotes end the text
    wrapped = textwrap.wrap(plain, max(20, WIDTH - len(indentation))) or [plain]
    text = f'"""{wrapped[0]}'
    if len(wrapped) > 1:
        text += "".join(f"{newline}{indentation}{line}" for line in wrapped[1:]) + f"{newline}{indentation}"
    return Rewritten({path: (Edit(Span(at, at), f'{text}"""{newline}{indentation}'),)})


def _docstring_place(program: Program, path: str, start: int) -> tuple[int, str, str] | Refused:
    """Return where a docstring goes, its indentation and how the file ends its lines, or why none can be added."""
    parsed = program.parsed(path)
    function = parsed.function(start) if parsed else None
    if parsed is None or function is None:
        return Refused("its file cannot be parsed exactly")
    if not isinstance(function.body, cst.IndentedBlock):
        return Refused("it stands on one line")
    if docstring(function) is not None:
        return Refused("it has a docstring")
    first = function.body.body[0]
    at = parsed.span(first).start
    if isinstance(first, cst.FunctionDef | cst.ClassDef) and first.decorators:
        at = parsed.span(first.decorators[0]).start
    indentation = parsed.indentation(at)
    return Refused("its statements share lines") if indentation is None else (at, indentation, parsed.newline)
