"""How a project is opened for each task."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from core.trips.editing import open_editing
from core.trips.opening import Opener
from core.trips.synthesis import open_synthesis
from core.trips.tasks import task
from core.types import Task

_OPENERS: Mapping[str, Opener] = MappingProxyType({Task.SYNTHESIS: open_synthesis, Task.EDITING: open_editing})


def opener(name: str) -> Opener:
    """What opens a project for the task of that name. Raises UserError naming the tasks there are."""
    return _OPENERS[task(name).name]
