"""Agreement between annotators beyond chance, with intervals: Cohen's kappa and Krippendorff's alpha.

Both are 1 - observed / expected disagreement over nominal labels: two different labels are simply different. Intervals
are percentile bootstraps over samples. A coefficient is a function of sums over samples, and samples with the same
labels add the same to those sums; so a resample is drawn as counts of the distinct ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Disagreement = Callable[[Floats], tuple[Floats, Floats]]
"""Observed and expected disagreement from summed features, one row a resample."""

U = TypeVar("U", bound=Hashable)
RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A coefficient with its 95 % interval.

    Attributes:
        value: 1 is perfect, 0 what chance gives; None when undefined: nothing to compare, or one label throughout.
        low, high: None as well where resampling changes nothing: an annotator who gave one label throughout has a
            kappa of 0 whatever the samples, which is no certainty.
        samples: that went into it.
    """

    value: float | None
    low: float | None
    high: float | None
    samples: int


def cohen_kappa(pairs: Sequence[tuple[str, str]], *, resamples: int = RESAMPLES, seed: int = 0) -> Estimate:
    """Cohen (1960) for two annotators: `pairs` holds the labels of each sample that both labelled."""
    names = sorted({name for pair in pairs for name in pair})
    size = len(names)

    def features(pair: tuple[str, str]) -> Floats:
        made = np.zeros(2 * size + 1)
        made[names.index(pair[0])] = made[size + names.index(pair[1])] = 1
        made[-1] = pair[0] != pair[1]
        return made

    def disagreement(sums: Floats) -> tuple[Floats, Floats]:
        first, second = sums[:, :size], sums[:, size:-1]
        total = first.sum(axis=1)
        return sums[:, -1] / total, 1 - (first * second).sum(axis=1) / total**2

    return _estimate(list(pairs), features, disagreement, resamples, seed)


def krippendorff_alpha(samples: Sequence[Sequence[str]]) -> Estimate:
    """Krippendorff's nominal alpha for any number of annotators: `samples` holds the labels each sample has.

    Labels may be missing; a sample with fewer than two labels says nothing and is left out.
    """
    units = [tuple(sorted(labels)) for labels in samples if len(labels) > 1]
    names = sorted({name for unit in units for name in unit})

    def features(unit: tuple[str, ...]) -> Floats:
        counts = np.array([unit.count(name) for name in names], dtype=np.float64)
        differing = (counts * (len(unit) - counts)).sum() / (len(unit) - 1)
        return np.append(counts, differing)

    def disagreement(sums: Floats) -> tuple[Floats, Floats]:
        counts = sums[:, :-1]
        total = counts.sum(axis=1)
        return sums[:, -1] / total, (total**2 - (counts**2).sum(axis=1)) / (total * (total - 1))

    return _estimate(units, features, disagreement)


def _estimate(
    units: Sequence[U],
    features: Callable[[U], Floats],
    disagreement: Disagreement,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """One minus the ratio of the two disagreements, bounded by resampling units."""
    if not units:
        return Estimate(None, None, None, 0)
    distinct = Counter(units)
    table = np.array([features(unit) for unit in distinct])
    counts = np.array(list(distinct.values()))
    observed, expected = (float(part[0]) for part in disagreement((counts @ table)[None, :]))
    if expected <= 0:
        return Estimate(None, None, None, len(units))
    value = 1 - observed / expected
    if observed == 0:
        return Estimate(value, _never_differing(len(units), expected), 1.0, len(units))
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(units), counts / len(units), size=resamples)
    seen, chance = disagreement(drawn @ table)
    values = 1 - seen[chance > 0] / chance[chance > 0]
    low, high = (float(bound) for bound in np.quantile(values, [0.025, 0.975]))
    if high - low < 1e-12:
        return Estimate(value, None, None, len(units))
    return Estimate(value, min(low, value), max(high, value), len(units))


def _never_differing(samples: int, expected: float) -> float:
    """The lower bound where annotators never differed, and a bootstrap would claim certainty.

    With probability 0.975 they differ on at most 1 - 0.025^(1 / samples) of all samples: Clopper-Pearson for none.
    """
    differing = 1.0 - float(0.025 ** (1 / samples))
    return max(1.0 - differing / expected, -1.0)
