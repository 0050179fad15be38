"""Which functions of a project are asked about in cosmetic variance, and in which order."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import stdev

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.kinds import COSMETIC_CHANGES
from rtc_inspector.core.regions.admission import admit
from rtc_inspector.core.regions.candidates import as_region
from rtc_inspector.core.regions.coverage import cover
from rtc_inspector.core.settings import RegionSettings, RunSettings
from rtc_inspector.core.source.functions import Function
from rtc_inspector.core.syntax import Lines
from rtc_inspector.core.trips.judged import Judged
from rtc_inspector.core.trips.pool import draw_items
from rtc_inspector.core.trips.versions import Versions
from rtc_inspector.core.types import Item, Region, Report

TRIED = 3
"""Functions of a bucket after which a transformation that none of them gave a value for is not waited for."""


class OnFunctions:
    """A trip whose items are the functions that a project's tests run."""

    def __init__(self, judged: Judged, versions: Versions, settings: RunSettings) -> None:
        """`versions` are of the judged codebase."""
        self._judged, self._versions, self._settings = judged, versions, settings
        self._found: dict[str, tuple[Function, Region]] = {}
        self._dropped: list[Item] = []

    def items(self, wanted: int, seed: int, known: Mapping[str, Item], report: Report) -> Iterator[Item]:
        """Draw functions that the tests run, in turn from each bucket of complexity, so that all fill evenly."""

        def item_of(key: str) -> Item:
            return known.get(key) or self._item(key)

        keys, workers = self._drawn(seed, report), self._settings.oracle.workers
        return draw_items(keys, item_of, wanted, report, "admitting functions", self._dropped, workers)

    def _drawn(self, seed: int, report: Report) -> list[str]:
        buckets: dict[str, list[str]] = {}
        covering = RegionSettings(coverage="any")
        files = [file for file in self._judged.codebase.files if not file.is_test]
        for done, file in enumerate(files):
            report("finding functions", done, len(files))
            lines = Lines(file.text)
            by_body = {each.body: each for each in self._versions.functions(file.path)}
            regions = [as_region(file, body, lines) for body in by_body]
            for region in cover(regions, self._judged.suite.coverage, covering, file):
                function = by_body[region.span]
                key = f"{file.path}:{function.span.start}-{function.span.end}"
                self._found[key] = function, region
                buckets.setdefault(function.bucket, []).append(key)
        draw = random.Random(seed)
        for bucket in sorted(buckets):
            draw.shuffle(buckets[bucket])
        drawn = []
        while any(buckets.values()):
            drawn += [buckets[bucket].pop() for bucket in sorted(buckets, key=_lowest) if buckets[bucket]]
        return drawn

    def _item(self, key: str) -> Item:
        """Return a function as an item, admitted when the tests notice that its statements are gone.

        Else their pass says nothing of a variant.
        """
        function, region = self._found[key]
        file = self._judged.files[region.path]
        item = admit(region, file, self._judged.oracle)
        lines = Lines(file.text)
        text = file.text[function.span.start : function.span.end]
        item = replace(
            item,
            key=key,
            kind="function",
            span=function.span,
            start_line=lines.number(function.span.start),
            end_line=lines.number(function.span.end - 1),
            text=text,
            facets={"complexity": function.bucket, "branches": _branches(function.branches)},
            origin={"function": function.name},
        )
        return replace(item, origin={**item.origin, **self._refusals(item)}) if item.admitted else item

    def _refusals(self, item: Item) -> dict[str, str]:
        """Return why transformations leave the function as it is, as a part of its origin."""
        found = self._versions.refusals(item.path, item.span.start, seed_of(self._settings.seed, item, 0))
        return {f"no {change}": reason for change, reason in found.items()}

    def shortfall(self, admitted: int, wanted: int) -> Sequence[str]:
        """Say when the project has fewer functions than were asked for. Raises ProjectError when it has none."""
        if wanted and not admitted:
            why = Counter(item.reason for item in self._dropped).most_common(1)
            told = f": {why[0][0]}" if why else ": the tests run no function that does something"
            raise ProjectError(
                f"No function of this project can be used{told}.", "Add tests that check what the functions do."
            )
        if admitted >= wanted:
            return ()
        return [f"Only {admitted} functions are run by tests that notice when they are gone ({wanted} were asked for)."]


class Widths:
    """How sure the cells of complexity and transformation are, from what was measured of their functions so far."""

    def __init__(self) -> None:
        self._changes: dict[tuple[str, str], dict[str, float]] = {}

    def learn(self, item: Item, differences: Mapping[str, Sequence[float]]) -> None:
        """Keep the mean difference of an item's variants of each kind, in the place of an earlier one."""
        for change, values in differences.items():
            if values:
                cell = self._changes.setdefault((item.facets["complexity"], change), {})
                cell[item.key] = sum(values) / len(values)

    def of(self, bucket: str, change: str) -> float:
        """Return the standard error of a cell's mean; infinite for fewer than two functions.

        0 where several functions gave nothing: without descriptions no docstring is written, and that empty cell would
        be the widest for ever.
        """
        values = list(self._changes.get((bucket, change), {}).values())
        if len(values) > 1:
            return stdev(values) / math.sqrt(len(values))
        return math.inf if values or self.seen(bucket) < TRIED else 0.0

    def seen(self, bucket: str) -> int:
        """Return how many functions of a bucket were measured."""
        return max((len(cell) for (each, _), cell in self._changes.items() if each == bucket), default=0)

    def widest(self, waiting: Sequence[Item]) -> int:
        """Return the place of the item with a part in the widest cell; of several, the one of the emptiest bucket."""

        def rank(place: int) -> tuple[float, int, int]:
            item = waiting[place]
            bucket = item.facets["complexity"]
            cells = [self.of(bucket, change) for change in COSMETIC_CHANGES if f"no {change}" not in item.origin]
            return -max(cells, default=0.0), self.seen(bucket), place

        return min(range(len(waiting)), key=rank)


def seed_of(run_seed: int, item: Item, draw: int) -> int:
    """Return the seed by which a function's rewrites are drawn."""
    return random.Random(f"{run_seed} {item.key} {draw}").randrange(1 << 30)


def _lowest(bucket: str) -> int:
    """Return the number that a bucket of complexity begins with, as in `10-19`."""
    return int(bucket.partition("-")[0])


def _branches(number: int) -> str:
    """Return a bucket of McCabe's complexity."""
    return next((name for most, name in ((1, "1"), (3, "2-3"), (7, "4-7")) if number <= most), "8 and more")
