"""Whether two figures rank models alike: correlations over few models, with what so few allow to be said."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import permutations
from statistics import NormalDist

import numpy as np

from rtc_inspector.core.metrics.statistics import LEVEL, pearson, spearman

FEWEST = 4
"""Models; with three, Fisher's interval does not exist and any order is likely by chance."""
MOST_EXACT = 8
"""Models for which every order can be tried."""
RESAMPLES = 1000


def fisher_interval(r: float, n: int) -> tuple[float, float] | None:
    """Return the interval of Pearson's r over `n` pairs by Fisher's transformation; None below four pairs.

    The paper's r = 0.947 of five models has 0.40 to 0.997. An r of 1 or -1 has none: the transformation is infinite
    there, and a few points on a line prove no line.
    """
    if n < FEWEST or abs(r) >= 1.0 - 1e-12:
        return None
    half = NormalDist().inv_cdf((1 + LEVEL) / 2) / math.sqrt(n - 3)
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


def spearman_p(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return how often a random order of the second agrees, or disagrees, as well as this one.

    None for too many pairs, and where the correlation is not defined. Exact and two-sided: every order counts once.
    Five models with rho = 0.9 have 10 of 120.
    """
    seen = spearman(first, second)
    if seen is None or len(first) > MOST_EXACT:
        return None
    orders = [spearman(first, order) or 0.0 for order in permutations(second)]
    return sum(abs(rho) >= abs(seen) - 1e-12 for rho in orders) / len(orders)


def resampled(systems: Sequence[Mapping[str, tuple[float, float]]]) -> dict[str, tuple[float, float]]:
    """Intervals of Pearson's r and Spearman's rho when other problems had been drawn, the models being these.

    A system maps each problem to two figures; both come from the same drawn problems, and all systems from the same
    draw. Draws in which a figure does not vary between the systems are left out; too few left, and there is none.
    """
    keys = sorted(set().union(*systems)) if systems else []
    if len(systems) < FEWEST or len(keys) < 2:
        return {}
    table = np.full((len(systems), len(keys), 2), np.nan)
    for row, system in enumerate(systems):
        for column, key in enumerate(keys):
            if key in system:
                table[row, column] = system[key]
    draws = np.random.default_rng(0).integers(0, len(keys), (RESAMPLES, len(keys)))
    found: dict[str, list[float]] = {"pearson": [], "spearman": []}
    for draw in draws:
        chosen = table[:, draw]
        if np.isnan(chosen).all(axis=1).any():
            continue
        x, y = np.nanmean(chosen, axis=1).T.tolist()
        for name, value in (("pearson", pearson(x, y)), ("spearman", spearman(x, y))):
            if value is not None:
                found[name].append(value)
    tail = (1 - LEVEL) / 2
    return {
        name: (float(np.quantile(values, tail)), float(np.quantile(values, 1 - tail)))
        for name, values in found.items()
        if len(values) >= RESAMPLES / 2
    }
