"""Every transformation that needs no model, by name: pure functions of a function of a project and a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from core.rewrites.identity import identity
from core.rewrites.logging import logging
from core.rewrites.permute import permute
from core.rewrites.program import Program, Refused, Rewritten
from core.rewrites.rename import rename
from core.rewrites.swap import swap

Transformation = Callable[[Program, str, int, int], Rewritten | Refused]
"""`(program, path, offset of the function's def, seed)`."""

TRANSFORMATIONS: Mapping[str, Transformation] = MappingProxyType(
    {"identity": identity, "rename": rename, "logging": logging, "swap": swap, "permute": permute}
)
