"""RTC and lift with their intervals, from the values of single items (RTC paper, Sec. 3)."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from core.store.rows import Interval, RunningPoint, Score

NOTHING = Score(None, None, None)
_REMEMBERED = 4096
_RESAMPLES = 10_000
_RESAMPLES_BEFORE_THE_LAST = 2_000
"""For the points of a chart that are not the run's score itself."""

ITEM_SCORES = """
    SELECT item_id, admitted, state, samples, rtc, lift FROM item_scores
    WHERE run_id = ? AND NOT extra ORDER BY last_verdict_id
"""
"""One row an item, in the order the last verdicts came."""

FILE_SCORES = """
    SELECT path, sum(admitted) AS items, sum(state = 'done') AS done, avg(rtc) AS rtc, avg(lift) AS lift
    FROM item_scores WHERE run_id = ? AND NOT extra GROUP BY path ORDER BY path
"""
"""The view `file_scores` for one run; SQLite does not push a run's id through two levels of groups."""

FACET_VALUES = """
    SELECT f.key AS facet, f.value AS value, s.item_id, s.rtc, s.lift
    FROM item_scores s
    JOIN items i ON i.id = s.item_id
    JOIN json_each(i.facets) f
    WHERE s.run_id = ? AND s.admitted AND NOT s.extra ORDER BY f.key, f.value, s.item_id
"""
"""One row for each facet of each admitted item of a run."""

REFERENCE_VALUES = """
    SELECT i.id AS item_id, avg(v.outcome = 'pass') AS value
    FROM items i
    JOIN samples d ON d.item_id = i.id AND d.role = 'forward' AND d.author IN ('commit', 'comment')
    JOIN samples s ON s.parent_id = d.id
    JOIN verdicts v ON v.id = (SELECT max(l.id) FROM verdicts l WHERE l.sample_id = s.id)
    WHERE i.run_id = ? AND i.admitted AND v.outcome <> 'infrastructure'
    GROUP BY i.id
"""
"""How often the code made from words that came with the item passes, item by item."""

DESCRIPTION_VALUES = """
    SELECT i.id AS item_id, avg(c.value) AS value
    FROM items i
    JOIN samples d ON d.item_id = i.id AND d.role = 'forward' AND d.counted
    JOIN scores c ON c.sample_id = d.id AND c.reference_id IS NULL AND c.metric = 'description_bleu'
    WHERE i.run_id = ? AND i.admitted
    GROUP BY i.id
"""
"""Mean BLEU of each item's descriptions against those words."""

METRIC_VALUES = """
    SELECT item_id, rtc, rtc - baseline AS lift FROM (
        SELECT i.id AS item_id,
            avg(CASE WHEN s.role = 'backward' THEN c.value END) AS rtc,
            avg(CASE WHEN s.role = 'baseline' THEN c.value END) AS baseline
        FROM items i
        JOIN samples s ON s.item_id = i.id AND s.counted
        JOIN scores c ON c.sample_id = s.id AND c.reference_id IS NULL AND c.metric = ?2
        WHERE i.run_id = ?1 AND i.admitted AND NOT i.extra
        GROUP BY i.id
    )
"""
"""RTC and lift of each item with sim being a stored metric instead of the tests."""


SCORED_CODE = """
    SELECT s.id AS sample_id, s.item_id, c.value, v.outcome = 'pass' AS passed
    FROM items i
    JOIN samples s ON s.item_id = i.id AND s.counted AND s.role = 'backward'
    JOIN scores c ON c.sample_id = s.id AND c.metric = ?2 AND c.reference_id IS NULL
    JOIN verdicts v ON v.id = (SELECT max(l.id) FROM verdicts l WHERE l.sample_id = s.id)
    WHERE i.run_id = ?1 AND i.admitted AND NOT i.extra AND v.outcome <> 'infrastructure'
    ORDER BY i.id, s.id
"""
"""A metric beside the verdict, one row a judged reconstruction (metric audit: does the one tell the other?)."""


@dataclass(frozen=True, slots=True)
class Value:
    """RTC and lift of one item; lift is None until its baseline was judged."""

    item_id: int
    rtc: float
    lift: float | None


@dataclass(frozen=True, slots=True)
class Standing:
    """What a run's items come to.

    Attributes:
        changes: the run's count of changes when this was asked; another count makes it stale.
    """

    changes: int
    items_admitted: int
    items_dropped: int
    items_complete: int
    samples: int
    rtc: Score
    lift: Score

    def to_json(self) -> str:
        """For keeping it with a finished run, so that a list of runs need not look at their samples."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read back what `to_json` wrote."""
        data = json.loads(text)
        return cls(**data | {"rtc": Score(**data["rtc"]), "lift": Score(**data["lift"])})


def tally(rows: Sequence[Mapping[str, Any]], changes: int, bounds: Bounds) -> Standing:
    """Count and score the rows of `ITEM_SCORES`."""
    admitted = sum(row["admitted"] for row in rows)
    rtc, lift = bounds.pair(list(values_of(rows)))
    return Standing(
        changes,
        items_admitted=admitted,
        items_dropped=len(rows) - admitted,
        items_complete=sum(row["state"] == "done" for row in rows),
        samples=sum(row["samples"] for row in rows),
        rtc=rtc,
        lift=lift,
    )


def values_of(rows: Iterable[Mapping[str, Any]]) -> Iterator[Value]:
    """The values of the items that have any."""
    return (Value(row["item_id"], row["rtc"], row["lift"]) for row in rows if row["rtc"] is not None)


class Bounds:
    """Means with intervals; what was computed once is remembered, as charts ask again after every commit.

    An interval depends on how often each value occurs, so that is what it is remembered by.
    """

    def __init__(self, interval: Interval | None) -> None:
        """Without an `interval` every score has a mean only."""
        self._interval = interval
        self._known: dict[tuple[float, int, frozenset[tuple[float, int]]], Score] = {}

    def would_add_to(self, score: Score) -> bool:
        """Whether the bounds this score lacks could be computed here."""
        return self._interval is not None and score.value is not None and score.low is None

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
