"""How a project is opened for each task. Only the task that is asked for is loaded: a parser takes half a second."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from core.kinds import task
from core.trips.opening import Opener
from core.types import Task


def _synthesis() -> Opener:
    from core.trips.synthesis import open_synthesis

    return open_synthesis


def _editing() -> Opener:
    from core.trips.editing import open_editing

    return open_editing


_OPENERS: Mapping[str, Callable[[], Opener]] = MappingProxyType({Task.SYNTHESIS: _synthesis, Task.EDITING: _editing})


def opener(name: str) -> Opener:
    """What opens a project for the task of that name. Raises UserError naming the tasks there are."""
    return _OPENERS[task(name).name]()
