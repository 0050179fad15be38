"""Means with intervals, pass@k, and correlations. Everything is deterministic: the same input gives the same bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_FEW = 64
"""Up to so many distinct values a resample is drawn as counts, not as indices."""
_CHUNK = 4_000_000
"""Indices held in memory at a time: 32 MB."""


def interval(
    values: Sequence[float],
    lowest: float = 0.0,
    highest: float = 1.0,
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> tuple[float, float, float]:
    """Mean of `values` and its percentile bootstrap interval; the regions are what is resampled.

    `values` holds one number a region, each between `lowest` and `highest`. Where all are equal a bootstrap would
    claim certainty, so `unanimous` bounds them instead. Few distinct values make it cheap at any number of regions: a
    resample is then a draw of counts, which has the very same distribution. So the points of a running chart use
    this function too, with fewer resamples, and no other approximation. Raises ValueError when empty.
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.size == 0:
        raise ValueError("an interval needs at least one value")
    mean = math.fsum(values) / len(values)
    distinct, counts = np.unique(sample, return_counts=True)
    if distinct.size == 1:
        return (mean, *unanimous(mean, sample.size, lowest, highest, level))
    rng = np.random.default_rng(seed)
    if distinct.size <= _FEW:
        drawn = rng.multinomial(sample.size, counts / sample.size, size=resamples)
        means = drawn @ distinct / sample.size
    else:
        means = _resampled_means(sample, resamples, rng)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return mean, min(float(low), mean), max(float(high), mean)


def unanimous(
    value: float, count: int, lowest: float = 0.0, highest: float = 1.0, level: float = 0.95
) -> tuple[float, float]:
    """Bounds on a mean of which `count` observations were all `value`.

    With probability `level` at most u = 1 - ((1 - level) / 2)^(1 / count) of all regions differ from `value`: the
    Clopper-Pearson bound for none in `count`. Those could lie as far off as `lowest` and `highest`. At a bound this
    is Clopper-Pearson itself (0 of 100 passed: 0 to 0.036).
    """
    differing = 1.0 - ((1.0 - level) / 2) ** (1.0 / count)
    return value - differing * (value - lowest), value + differing * (highest - value)


def lift_interval(
    scores: Sequence[float], baselines: Sequence[float], *, resamples: int = 10_000, seed: int = 0
) -> tuple[float, float, float]:
    """Mean lift with its interval; score and baseline of one region stay together in every resample.

    Raises ValueError when empty or of unequal length.
    """
    lifts = [score - baseline for score, baseline in zip(scores, baselines, strict=True)]
    return interval(lifts, lowest=-1.0, resamples=resamples, seed=seed)


def pass_at_k(samples: int, correct: int, k: int) -> float:
    """Chance that one of `k` drawn samples passes, unbiased: 1 - C(n - c, k) / C(n, k) (metric audit, pass@k).

    Raises ValueError unless 1 <= k <= samples and 0 <= correct <= samples.
    """
    if not (1 <= k <= samples and 0 <= correct <= samples):
        raise ValueError(f"pass@{k} of {correct} correct in {samples} samples is undefined")
    return 1.0 - math.comb(samples - correct, k) / math.comb(samples, k)


def pearson(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Linear correlation; None for fewer than two pairs or where one side does not vary.

    Raises ValueError for unequal lengths.
    """
    if len(first) != len(second):
        raise ValueError("a correlation needs pairs")
    if len(first) < 2:
        return None
    x, y = (np.asarray(side, dtype=np.float64) - np.mean(side) for side in (first, second))
    spread = math.sqrt(float(x @ x) * float(y @ y))
    return None if spread == 0 else max(-1.0, min(1.0, float(x @ y) / spread))


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Rank correlation, ties sharing their mean rank; None as in `pearson`."""
    return pearson(_ranks(first), _ranks(second))


def auc(values: Sequence[float], passed: Sequence[bool]) -> float | None:
    """Chance that a passing candidate has a larger value than a failing one, ties counting half (area under the ROC).

    0.5 tells nothing. None where all pass or all fail. Raises ValueError for unequal lengths.
    """
    ranks = [rank for rank, did in zip(_ranks(values), passed, strict=True) if did]
    won, lost = len(ranks), len(passed) - len(ranks)
    return (math.fsum(ranks) - won * (won + 1) / 2) / (won * lost) if won and lost else None


def point_biserial(values: Sequence[float], passed: Sequence[bool]) -> float | None:
    """Correlation of a metric with passing (metric audit: CodeBERTScore 0.162, EDIT-SIM 0.186); None as `pearson`."""
    return pearson(values, [float(did) for did in passed])


def _ranks(values: Sequence[float]) -> list[float]:
    _, place, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean_rank = last - (counts - 1) / 2
    return [float(rank) for rank in mean_rank[place]]


def _resampled_means(sample: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Means of `resamples` draws with replacement, a chunk at a time so that memory stays bounded."""
    means = np.empty(resamples)
    step = max(1, _CHUNK // sample.size)
    for start in range(0, resamples, step):
        stop = min(start + step, resamples)
        drawn = rng.integers(0, sample.size, size=(stop - start, sample.size), dtype=np.int32)
        means[start:stop] = sample[drawn].mean(axis=1)
    return means
