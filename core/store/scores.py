"""RTC and lift with their intervals, from the values of single items (RTC paper, Sec. 3)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.store.rows import Interval, RunningPoint, Score

NOTHING = Score(None, None, None)
_REMEMBERED = 4096
_RESAMPLES = 10_000
_RESAMPLES_BEFORE_THE_LAST = 2_000
"""For the points of a chart that are not the run's score itself."""

VERDICT_VALUES = """
    SELECT item_id, rtc, lift FROM item_scores
    WHERE run_id = ? AND rtc IS NOT NULL ORDER BY last_verdict_id
"""
"""One row an item that was judged, in the order the last verdicts came."""

METRIC_VALUES = """
    SELECT item_id, rtc, rtc - baseline AS lift FROM (
        SELECT i.id AS item_id,
            avg(CASE WHEN s.role = 'backward' THEN c.value END) AS rtc,
            avg(CASE WHEN s.role = 'baseline' THEN c.value END) AS baseline
        FROM items i
        JOIN samples s ON s.item_id = i.id AND s.counted
        JOIN scores c ON c.sample_id = s.id AND c.reference_id IS NULL AND c.metric = ?2
        WHERE i.run_id = ?1 AND i.admitted
        GROUP BY i.id
    ) WHERE rtc IS NOT NULL
"""
"""The same with sim being a stored metric instead of the tests."""


@dataclass(frozen=True, slots=True)
class Value:
    """RTC and lift of one item; lift is None until its baseline was judged."""

    item_id: int
    rtc: float
    lift: float | None


class Bounds:
    """Means with intervals; what was computed once is remembered, as charts ask again after every commit.

    An interval depends on how often each value occurs, so that is what it is remembered by.
    """

    def __init__(self, interval: Interval | None) -> None:
        """Without an `interval` every score has a mean only."""
        self._interval = interval
        self._known: dict[tuple[float, int, frozenset[tuple[float, int]]], Score] = {}

    def score(self, values: Sequence[float], lowest: float = 0.0) -> Score:
        """Mean and interval of `values`, each between `lowest` and 1."""
        return self._score(values, Counter(values), lowest, _RESAMPLES)

    def pair(self, values: Sequence[Value]) -> tuple[Score, Score]:
        """RTC and lift over items."""
        return self.score([v.rtc for v in values]), self.score(_lifts(values), -1.0)

    def running(self, values: Sequence[Value], most: int) -> list[RunningPoint]:
        """Scores after each of at most `most` growing parts of `values`, the whole among them."""
        return list(self._running(values, thinned(len(values), most)))

    def _running(self, values: Sequence[Value], ends: Sequence[int]) -> Iterator[RunningPoint]:
        rtc, lift = [v.rtc for v in values], _lifts(values)
        counted: tuple[Counter[float], Counter[float]] = Counter(), Counter()
        start = paired = 0
        for end in ends:
            new = _lifts(values[start:end])
            counted[0].update(rtc[start:end])
            counted[1].update(new)
            start, paired = end, paired + len(new)
            resamples = _RESAMPLES if end == len(values) else _RESAMPLES_BEFORE_THE_LAST
            yield RunningPoint(
                end,
                values[end - 1].item_id,
                self._score(rtc[:end], counted[0], 0.0, resamples),
                self._score(lift[:paired], counted[1], -1.0, resamples),
            )

    def _score(self, values: Sequence[float], counted: Counter[float], lowest: float, resamples: int) -> Score:
        if not values:
            return NOTHING
        if self._interval is None:
            return Score(math.fsum(values) / len(values), None, None)
        key = (lowest, resamples, frozenset(counted.items()))
        if key not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[key] = Score(*self._interval(values, lowest, 1.0, resamples=resamples))
        return self._known[key]


def thinned(total: int, most: int) -> list[int]:
    """At most `most` evenly spaced counts up to `total`, `total` among them.

    The step is a power of two, so that points stay where they are while `total` grows, and are not computed again.
    """
    step = 1
    while -(-total // step) > max(most, 1):
        step *= 2
    ends = list(range(step, total, step))
    return [*ends, total] if total else []


def _lifts(values: Sequence[Value]) -> list[float]:
    return [value.lift for value in values if value.lift is not None]
