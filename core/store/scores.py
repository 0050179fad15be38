"""Figures of runs: means of items' measures with their intervals, by run, file and facet, and as a run grows."""

import dataclasses
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rtc_inspector.core.kinds import Kind, Measure
from rtc_inspector.core.settings.setting import read_back
from rtc_inspector.core.store.rows import NOTHING, Interval, RunFigures, RunningPoint
from rtc_inspector.core.types import Estimate

FORMAT = 7
"""Of the scores kept with a finished run; another one, or another way of making intervals, has them made anew."""
_REMEMBERED = 4096

Parts = tuple[float, ...]  # one item's value, or two of which the second is subtracted from the first


def figures_text(figures: RunFigures) -> str:
    """Return JSON to keep with a finished run, so that a list of runs need not look at their samples."""
    return json.dumps(dataclasses.asdict(figures) | {"format": FORMAT})


def read_figures(text: str) -> RunFigures | None:
    """Read back what `figures_text` wrote; None where it was written in another format."""
    data = json.loads(text)
    return read_back(RunFigures, data) if data.get("format") == FORMAT else None


class Bounds:
    """Means with intervals; what was computed once is remembered, as charts ask again after every commit.

    An interval depends on how often each value occurs, so that is what it is remembered by.
    """

    def __init__(self, interval: Interval | None) -> None:
        # Without an interval every score has a mean only.
        self._interval = interval
        self._known: dict[tuple[float, bool, frozenset[tuple[Parts, int]]], Estimate] = {}

    @property
    def any(self) -> bool:
        return self._interval is not None

    def score(self, values: Sequence[float], lowest: float = 0.0, *, continuous: bool = False) -> Estimate:
        parts = [(value,) for value in values]
        return self._score(parts, Counter(parts), (lowest, continuous))

    def scores(self, kind: Kind, items: Iterable[Mapping[str, float]]) -> dict[str, Estimate]:
        rows = list(items)
        return {measure.name: self.measure(measure, rows) for measure in kind.averaged}

    def measure(self, measure: Measure, rows: Iterable[Mapping[str, float]]) -> Estimate:
        values = [_parts(measure, row) for row in rows if measure.name in row]
        return self._score(values, Counter(values), _scale(measure))

    def running(
        self, measures: Sequence[Measure], items: Sequence[tuple[int, Mapping[str, float]]], most: int
    ) -> list[RunningPoint]:
        """Return scores after each of at most `most` growing parts of `items` (id, measures), the whole among them."""
        values: dict[str, list[Parts]] = {measure.name: [] for measure in measures}
        counted: dict[str, Counter[Parts]] = {measure.name: Counter() for measure in measures}
        points, start = [], 0
        for end in thinned(len(items), most):
            for _, row in items[start:end]:
                for measure in measures:
                    if measure.name in row:
                        parts = _parts(measure, row)
                        values[measure.name].append(parts)
                        counted[measure.name][parts] += 1
            start = end
            scores = {m.name: self._score(values[m.name], counted[m.name], _scale(m)) for m in measures}
            points.append(RunningPoint(end, items[end - 1][0], scores))
        return points

    def _score(self, values: Sequence[Parts], counted: Counter[Parts], scale: tuple[float, bool]) -> Estimate:
        if not values:
            return NOTHING
        if self._interval is None:
            return Estimate(
                math.fsum(each[0] - sum(each[1:]) for each in values) / len(values), None, None, len(values)
            )
        key = (*scale, frozenset(counted.items()))
        if key not in self._known:
            # All at once: it happens after thousands of charts, and what is asked for again is made in milliseconds.
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            against = [each[1] for each in values if len(each) > 1]
            lowest, continuous = scale
            first = [each[0] for each in values]
            bounds = self._interval(first, lowest, against=against or None, continuous=continuous)
            # Where both sides are alike, their difference may come to -2e-17.
            mean, low, high = (each if abs(each) > 1e-12 else 0.0 for each in bounds)
            self._known[key] = Estimate(mean, low, high, len(values))
        return self._known[key]


def _parts(measure: Measure, row: Mapping[str, float]) -> Parts:
    """Return what an item's measure is made of: itself, or the two of which it is the difference."""
    return (row[measure.name],) if measure.less is None else (row[measure.less[0]], row[measure.less[1]])


def _scale(measure: Measure) -> tuple[float, bool]:
    """Return the lowest that the parts can be, and whether they are continuous."""
    return (measure.lowest if measure.less is None else 0.0), measure.continuous


def thinned(total: int, most: int) -> list[int]:
    """Return at most `most` evenly spaced counts up to `total`, `total` among them.

    The step is a power of two, so that points stay where they are while `total` grows, and are not computed again.
    """
    step = 1
    while -(-total // step) > max(most, 1):
        step *= 2
    ends = list(range(step, total, step))
    return [*ends, total] if total else []
