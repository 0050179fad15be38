"""Keeps Python's own housekeeping from holding the window up."""

from __future__ import annotations

import gc
import sys

YOUNG, MIDDLE, OLD = 50_000, 20, 100
"""Allocations until the youngest objects are searched, and how many searches pass until older ones are."""
TURN = 0.0001
"""Seconds a background thread computes before the window's thread may; many calls of Qt hand their turn over."""


def calm_collector() -> None:
    """Search for reference cycles seldom, and not in what is loaded by now. Call once, when the window stands.

    Over a large run such a search stops every thread for a tenth of a second.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
    sys.setswitchinterval(TURN)
