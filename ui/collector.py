"""Python's search for reference cycles, made rare: over a large run it stops every thread for a tenth of a second."""

from __future__ import annotations

import gc

YOUNG, MIDDLE, OLD = 50_000, 20, 100
"""Allocations until the youngest objects are searched, and how many searches pass until older ones are."""


def calm_collector() -> None:
    """Leave what is loaded by now out of every search, and search seldom. Call once, when the window stands."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
