"""Weights, and drawing without replacement (RTC paper, Sec. 4.2; the choices are argued in docs/sampling.md)."""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from rtc_inspector.core.types import Region, Span


def weigh(regions: Sequence[Region]) -> list[Region]:
    """Return the regions with w(r) = sum over the characters of r of 1 / number of regions holding that character.

    A character drawn uniformly among the covered ones, then a region uniformly among those holding it, is this draw.
    """
    by_path: dict[str, list[Span]] = defaultdict(list)
    for region in regions:
        by_path[region.path].append(region.span)
    until = {path: _shares_until(spans) for path, spans in by_path.items()}
    return [
        replace(region, weight=until[region.path][region.span.end] - until[region.path][region.span.start])
        for region in regions
    ]


def draw(regions: Sequence[Region], seed: int, allow_overlap: bool) -> Iterator[Region]:
    """Yield every weighed region once, in random order, the heavier the earlier; lazily, so take as many as you need.

    Each next one is drawn with probability proportional to its weight among those left (Efraimidis and Spirakis, 2006).
    Without overlap a region that shares a character with an earlier one is passed over. The order depends on the seed
    and on the regions, not on the order they are given in, nor on the machine.
    """
    chance = random.Random(seed)
    keys: list[tuple[float, Region]] = []
    # Sorted before chance is asked, so that the same regions in any order get the same numbers.
    for region in sorted(regions, key=lambda r: (r.path, r.span.start, r.span.end)):
        if region.weight <= 0:
            raise ValueError(f"{region.path}:{region.span.start} was never weighed")
        # Exponential waiting times at the rate of the weights: who waits shortest comes first.
        keys.append((-math.log1p(-chance.random()) / region.weight, region))
    taken = _Taken()
    for _, region in sorted(keys, key=lambda key: key[0]):
        if allow_overlap or taken.add(region):
            yield region


def _shares_until(spans: Sequence[Span]) -> dict[int, float]:
    """Sum 1 / n over the characters of one file up to each border of a span, n being the number around each."""
    change: dict[int, int] = defaultdict(int)
    for span in spans:
        change[span.start] += 1
        change[span.end] -= 1
    borders = sorted(change)
    counts = accumulate(change[border] for border in borders)
    pieces = zip(borders, borders[1:], counts, strict=False)
    sums = accumulate(((end - start) / n if n else 0.0 for start, end, n in pieces), initial=0.0)
    return dict(zip(borders, sums, strict=True))


class _Taken:
    """Regions drawn so far, none overlapping another."""

    def __init__(self) -> None:
        self._spans: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def add(self, region: Region) -> bool:
        """Take the region if it is free."""
        spans = self._spans[region.path]
        at = bisect_left(spans, (region.span.start, region.span.end))
        before_free = at == 0 or spans[at - 1][1] <= region.span.start
        after_free = at == len(spans) or spans[at][0] >= region.span.end
        if before_free and after_free:
            spans.insert(at, (region.span.start, region.span.end))
        return before_free and after_free
