"""How this process is scheduled and limited: a child of the same user could change that for its parent."""

from __future__ import annotations

import os
import resource
from typing import Any

KINDS = sorted({value for name, value in vars(resource).items() if name.startswith("RLIMIT_")})


def standing() -> list[Any]:
    """Compared before and after each child."""
    found: list[Any] = [resource.getrlimit(kind) for kind in KINDS]
    found += [os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0), sorted(os.sched_getaffinity(0))]
    return found
