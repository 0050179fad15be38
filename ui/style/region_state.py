"""What became of a region, as the views tell it apart: by colour, by mark and in words."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from rtc_inspector.core.kinds import task
from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.ui.style.theme import current_theme

UNFINISHED = "unfinished"
"""State of a region whose run ended before it was complete."""


class RegionState(StrEnum):
    """The closed set of states a region is drawn in."""

    WAITING = "waiting"
    RUNNING = "running"
    PASS = "pass"
    PARTIAL = "partial"
    FAIL = "fail"
    UNJUDGED = "unjudged"
    DROPPED = "dropped"

    @property
    def failing(self) -> bool:
        """Return whether some reconstruction failed."""
        return self in (RegionState.FAIL, RegionState.PARTIAL)


ORDER = tuple(RegionState)
"""How states sort."""


def region_state(item: ItemRow) -> RegionState:
    """Return the state of a region of a run."""
    if item.state == UNFINISHED:
        return RegionState.UNJUDGED
    # Waiting, running and dropped are the store's own words for it.
    if item.state != "done":
        return RegionState(item.state)
    good = goodness(item)
    if good is None:
        return RegionState.UNJUDGED
    if good >= 1.0:
        return RegionState.PASS
    return RegionState.PARTIAL if good > 0.0 else RegionState.FAIL


def goodness(item: ItemRow) -> float | None:
    """Return where the item's headline stands between the worst, 0, and the best, 1; None where it has none."""
    if item.headline is None:
        return None
    kind = task(item.task)
    return kind.measure(kind.headline).goodness(item.headline)


def state_colour(state: RegionState) -> str:
    """Return the colour of a state's mark and outline."""
    name = "dropped" if state is RegionState.UNJUDGED else state.value
    return current_theme().role(f"region_{name}")


def state_words(item: ItemRow) -> str:
    """Return the state in a few words, with the reason or the count."""
    state = region_state(item)
    if state is RegionState.DROPPED:
        return f"dropped: {item.reason}" if item.reason else "dropped"
    kind = task(item.task)
    good, _, judged = item.tally.partition("/")
    title = kind.measure(kind.tally[0]).title if kind.tally else ""
    figure = "" if item.headline is None else f"{kind.measure(kind.headline).title} {number(item.headline)}"
    count = f"{good} of {judged} {title}" if judged else figure
    remark = kind.remark(item.measures)
    count = f"{count}: {remark}" if remark else count
    if item.state in ("running", UNFINISHED):
        return f"{item.state}, {count}" if judged else item.state
    return state.value if state in (RegionState.WAITING, RegionState.UNJUDGED) else count


def number(value: float | None, sign: bool = False) -> str:
    """Return a score with two decimals, a dash for none."""
    if value is None:
        return "–"
    return f"{value:+.2f}" if sign else f"{value:.2f}"


def tests_said(tests: Sequence[str]) -> str:
    """Return how many tests cover something, as the beginning of a sentence."""
    return f"{len(tests)} test{'s cover' if len(tests) != 1 else ' covers'} it"
