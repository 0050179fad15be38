"""Every transformation that needs no model, by name: pure functions of a function of a project and a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from rtc_inspector.core.rewrites.identity import identity
from rtc_inspector.core.rewrites.logging import logging
from rtc_inspector.core.rewrites.permute import permute
from rtc_inspector.core.rewrites.program import Program, Refused, Rewritten
from rtc_inspector.core.rewrites.rename import rename
from rtc_inspector.core.rewrites.swap import swap

Transformation = Callable[[Program, str, int, int], Rewritten | Refused]
"""`(program, path, offset of the function's def, seed)`."""

TRANSFORMATIONS: Mapping[str, Transformation] = MappingProxyType(
    {"identity": identity, "rename": rename, "logging": logging, "swap": swap, "permute": permute}
)
