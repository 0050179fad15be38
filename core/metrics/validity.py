"""How well a metric stands in for a verdict: shape of its values, correlations, AUC, ties, power (metric audit).

Candidates of one problem resemble each other, so intervals count problems, not candidates. A figure that is not
defined is None. The same input always gives the same figures.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from rtc_inspector.core.metrics.paired import EXACT_FLIPS, exact_flips
from rtc_inspector.core.metrics.statistics import LEVEL, numbered

Floats = NDArray[np.float64]
RESAMPLES = 2_000
TIE = 1e-6  # two values nearer than this are the same
FLIPS = 5_000  # random ways of turning signs, where there are too many to count them all


@dataclass(frozen=True, slots=True)
class Shape:
    """Where the values of a metric lie. Moments are the population's; a metric that does not vary has no last two."""

    lowest: float
    highest: float
    mean: float
    median: float
    midhinge: float  # (Q1 + Q3) / 2
    sd: float
    skewness: float | None
    kurtosis: float | None  # in excess of the normal distribution's


def shape(values: Sequence[float] | Floats) -> Shape:
    """Return bounds seen, centre and moments. Raises ValueError when empty."""
    if not len(values):
        raise ValueError("no values have no shape")
    sample = np.asarray(values, dtype=np.float64)
    first, median, third = (float(each) for each in np.quantile(sample, [0.25, 0.5, 0.75]))
    apart = sample - sample.mean()
    variance = float((apart**2).mean())
    varies = variance > 1e-18
    return Shape(
        float(sample.min()),
        float(sample.max()),
        float(sample.mean()),
        median,
        (first + third) / 2,
        math.sqrt(variance),
        float((apart**3).mean()) / variance**1.5 if varies else None,
        float((apart**4).mean()) / variance**2 - 3 if varies else None,
    )


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation with its p by the usual formula, which takes every candidate to be independent, and an interval."""

    value: float
    p: float
    n: int
    # `low`, `high`: by resampling problems; None where none was asked for or nothing can be resampled
    low: float | None = None
    high: float | None = None


def pearson_p(r: float, n: int) -> float:
    """Return the two-sided p of a correlation over n pairs by t = r sqrt((n - 2) / (1 - r^2))."""
    from scipy.special import stdtr

    if n < 3:
        return 1.0
    if abs(r) >= 1:
        return 0.0
    return 2 * float(stdtr(n - 2, -abs(r) * math.sqrt((n - 2) / (1 - r * r))))


def pearson(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> float | None:
    """Return the linear correlation; None for fewer than two pairs or where a side does not vary.

    With passing as a side, 0 or 1, it is the point-biserial one (CodeBERTScore 0.162, EDIT-SIM 0.186). Raises
    ValueError for unequal lengths.
    """
    x, y = (np.asarray(side, dtype=np.float64) for side in (first, second))
    if len(x) != len(y):
        raise ValueError("a correlation needs pairs")
    if len(x) < 2:
        return None
    x, y = x - x.mean(), y - y.mean()
    spread = math.sqrt(float(x @ x) * float(y @ y))
    return None if spread < 1e-12 else max(-1.0, min(1.0, float(x @ y) / spread))


def spearman(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> float | None:
    """Return the rank correlation, ties sharing their mean rank; None as in `pearson`."""
    from scipy.stats import rankdata

    return pearson(rankdata(first), rankdata(second))


def correlation(first: Floats, second: Floats, clusters: NDArray[np.int64] | None = None) -> Correlation | None:
    """Return Pearson's r with its p, and its interval over `clusters`; None as `pearson`."""
    r = pearson(first, second)
    if r is None:
        return None
    bounds = _resampled(first - first.mean(), second - second.mean(), clusters) if clusters is not None else None
    return Correlation(r, pearson_p(r, len(first)), len(first), *(bounds or (None, None)))


def rank_correlation(first: Floats, second: Floats, clusters: NDArray[np.int64] | None = None) -> Correlation | None:
    """Return Spearman's rho as `correlation` does. The interval takes the ranks as they are."""
    from scipy.stats import rankdata

    return correlation(rankdata(first), rankdata(second), clusters)


def tau(first: Floats, second: Floats) -> Correlation | None:
    """Return Kendall's tau-b; None where a side does not vary."""
    from scipy.stats import kendalltau

    if len(first) < 2 or np.ptp(first) < 1e-12 or np.ptp(second) < 1e-12:
        return None
    found = kendalltau(first, second)
    return Correlation(float(found.statistic), float(found.pvalue), len(first))


def within(values: Floats, passed: NDArray[np.bool_], clusters: NDArray[np.int64]) -> Correlation | None:
    """Return the point-biserial correlation inside problems: each problem's means are taken off both sides first.

    Only problems with candidates that pass and others that fail say something.
    """
    if not len(values):
        return None
    counts = np.bincount(clusters)
    means = [np.bincount(clusters, side) / np.maximum(counts, 1) for side in (values, passed)]
    x, y = values - means[0][clusters], passed - means[1][clusters]
    mixed = ((means[1] > 0) & (means[1] < 1))[clusters]
    return correlation(x[mixed], y[mixed], numbered(clusters[mixed].tolist())) if mixed.any() else None


def _resampled(x: Floats, y: Floats, clusters: NDArray[np.int64]) -> tuple[float, float] | None:
    """Return percentiles of r over drawn problems: r is made of sums, so a draw is a row of counts of problems."""
    groups = int(clusters.max()) + 1
    if groups < 2:
        return None
    parts = (np.ones_like(x), x, y, x * x, y * y, x * y)
    sums = np.stack([np.bincount(clusters, part, groups) for part in parts], axis=1)
    drawn = np.random.default_rng(0).multinomial(groups, np.full(groups, 1 / groups), RESAMPLES) @ sums
    n, sx, sy, sxx, syy, sxy = drawn.T
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (n * sxy - sx * sy) / np.sqrt((n * sxx - sx**2) * (n * syy - sy**2))
    finite = r[np.isfinite(r)]
    if len(finite) < RESAMPLES / 2:
        return None
    low, high = (float(each) for each in np.quantile(finite, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]))
    return max(-1.0, low), min(1.0, high)


@dataclass(frozen=True)
class Auc:
    """The chance that a passing candidate has a larger value than a failing one, ties counting half."""

    value: float
    # `low`, `high`: counting problems; None where they cannot be told
    low: float | None
    high: float | None
    influence: Floats  # what each problem adds to the estimate's error, for holding two metrics against each other


def auc(values: Sequence[float] | Floats, passed: Sequence[bool] | NDArray[np.bool_]) -> float | None:
    """Return the area under the ROC curve, see `Auc`; None where all pass or all fail.

    Raises ValueError for unequal lengths.
    """
    from scipy.stats import rankdata

    ranks = [rank for rank, did in zip(rankdata(values).tolist(), passed, strict=True) if did]
    won, lost = len(ranks), len(passed) - len(ranks)
    return (math.fsum(ranks) - won * (won + 1) / 2) / (won * lost) if won and lost else None


def clustered_auc(values: Floats, passed: NDArray[np.bool_], clusters: NDArray[np.int64]) -> Auc | None:
    """Return the area under the ROC curve with its interval (DeLong 1988; clusters: Obuchowski 1997), on logits.

    None where all pass or all fail. `clusters` numbers the problems from 0.
    """
    from scipy.stats import rankdata

    area = auc(values, passed)
    if area is None:
        return None
    # How each candidate stands to those of the other outcome is all that the area and its error are made of.
    others = np.where(passed, len(passed) - passed.sum(), passed.sum())
    above = rankdata(values)
    above[passed] -= rankdata(values[passed])
    above[~passed] -= rankdata(values[~passed])
    above = np.where(passed, above / others, 1 - above / others)
    influence = np.bincount(clusters, (above - area) / (len(passed) - others)).astype(np.float64)
    fewest = min(len(set(clusters[each].tolist())) for each in (passed, ~passed))
    return Auc(area, *_auc_bounds(area, _error(influence), fewest), influence)


def _error(influence: Floats) -> float:
    groups = len(influence)
    return math.sqrt(groups / (groups - 1) * float(influence @ influence)) if groups > 1 else math.inf


def _auc_bounds(area: float, error: float, groups: int) -> tuple[float | None, float | None]:
    """Return the bounds of an AUC, None where its error does not tell them.

    Where all pairs agree, the bound is that of as many agreeing problems (`0.025^(1 / n)`), as for shares.
    """
    if area in (0.0, 1.0):
        bound = float(0.025 ** (1 / groups))
        return (bound, 1.0) if area else (0.0, 1 - bound)
    if not math.isfinite(error) or error < 1e-12:
        return None, None
    from scipy.special import stdtrit

    logit = math.log(area / (1 - area))
    reach = float(stdtrit(max(1, groups - 1), (1 + LEVEL) / 2)) * error / (area * (1 - area))
    low, high = (1 / (1 + math.exp(-max(-700.0, min(700.0, logit + way * reach)))) for way in (-1, 1))
    return low, high


def auc_difference_p(one: Auc, other: Auc) -> float:
    """Return the two-sided p of two metrics having the same AUC on the same candidates, counting problems."""
    from scipy.special import stdtr

    apart, influence = one.value - other.value, one.influence - other.influence
    error = _error(influence)
    if error < 1e-12 or not math.isfinite(error):
        return 1.0 if abs(apart) < 1e-12 or not math.isfinite(error) else 0.0
    return 2 * float(stdtr(len(influence) - 1, -abs(apart) / error))


# --------------------------------------------------------------------------- between systems

Means = Mapping[Hashable, float]  # a system's value of a metric on each problem that it attempted


def ties(systems: Sequence[Means]) -> float | None:
    """Return the share of problems and unordered pairs of systems with one value; None without a common problem."""
    same = total = 0
    for one, other in combinations(systems, 2):
        common = one.keys() & other.keys()
        total += len(common)
        same += sum(abs(one[problem] - other[problem]) <= TIE for problem in common)
    return same / total if total else None


Test = Callable[[Means, Means], float | None]
"""One-sided p of the first system's mean being less than the second's; None where nothing can be told."""


def paired_t(one: Means, other: Means) -> float | None:
    """Test by Student's t over the problems that both attempted."""
    from scipy.special import stdtr

    apart = _differences(one, other)
    if len(apart) < 2:
        return None
    mean, sd = float(apart.mean()), float(apart.std(ddof=1))
    if sd < 1e-12:
        # All differences are alike: Student's t would divide by 0.
        return None if abs(mean) < 1e-12 else float(mean > 0)
    return float(stdtr(len(apart) - 1, mean / sd * math.sqrt(len(apart))))


def welch_t(one: Means, other: Means) -> float | None:
    """Test by Welch's t, as if the two had attempted different problems."""
    from scipy.special import stdtr

    first, second = (np.array(list(each.values())) for each in (one, other))
    if len(first) < 2 or len(second) < 2:
        return None
    mean = float(first.mean() - second.mean())
    parts = [float(each.var(ddof=1)) / len(each) for each in (first, second)]
    if sum(parts) < 1e-24:
        return None if abs(mean) < 1e-12 else float(mean > 0)
    freedom = sum(parts) ** 2 / sum(p * p / (len(each) - 1) for p, each in zip(parts, (first, second), strict=True))
    return float(stdtr(freedom, mean / math.sqrt(sum(parts))))


def sign_flips(one: Means, other: Means) -> float | None:
    """Return how often differences with random signs have so small a mean: no distribution is assumed.

    None where the two differ on no problem that both attempted.
    """
    apart = _differences(one, other)
    if not len(apart) or not np.abs(apart).max() > 1e-12:
        return None
    if len(moved := apart[np.abs(apart) > 1e-12]) <= EXACT_FLIPS:
        return exact_flips(moved.tolist())
    signs = np.random.default_rng(0).choice(np.array([-1.0, 1.0]), (FLIPS, len(apart)))
    return float((1 + (signs @ apart <= apart.sum() + 1e-12).sum()) / (1 + FLIPS))


def _differences(one: Means, other: Means) -> Floats:
    return np.array([one[problem] - other[problem] for problem in one if problem in other])


def power(systems: Sequence[Means], test: Test) -> dict[tuple[int, int], float]:
    """Return p for every ordered pair of systems (by their places) of which something can be told."""
    ps = {(at, to): test(systems[at], systems[to]) for at, to in permutations(range(len(systems)), 2)}
    return {pair: p for pair, p in ps.items() if p is not None}


# ---- few models


FEWEST = 4  # models; with three, Fisher's interval does not exist and any order is likely by chance
MOST_EXACT = 8  # models for which every order can be tried
PROBLEM_DRAWS = 1000


def fisher_interval(r: float, n: int) -> tuple[float, float] | None:
    """Return the interval of Pearson's r over `n` pairs by Fisher's transformation; None below four pairs.

    An r of 1 or -1 has none: the transformation is infinite there, and a few points on a line prove no line.
    """
    if n < FEWEST or abs(r) >= 1.0 - 1e-12:
        return None
    half = NormalDist().inv_cdf((1 + LEVEL) / 2) / math.sqrt(n - 3)
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


def spearman_p(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return how often a random order of the second agrees, or disagrees, as well as this one.

    None for too many pairs, and where the correlation is not defined. Exact and two-sided: every order counts once.
    """
    seen = spearman(first, second)
    if seen is None or len(first) > MOST_EXACT:
        return None
    orders = [spearman(first, order) or 0.0 for order in permutations(second)]
    return sum(abs(rho) >= abs(seen) - 1e-12 for rho in orders) / len(orders)


def resampled(systems: Sequence[Mapping[str, tuple[float, float]]]) -> dict[str, tuple[float, float]]:
    """Return intervals of Pearson's r and Spearman's rho when other problems had been drawn, the models being these.

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
    draws = np.random.default_rng(0).integers(0, len(keys), (PROBLEM_DRAWS, len(keys)))
    found: dict[str, list[float]] = {"pearson": [], "spearman": []}
    for draw in draws:
        chosen = table[:, draw]
        if np.isnan(chosen).all(axis=1).any():
            continue
        x, y = np.nanmean(chosen, axis=1).T.tolist()
        for name, value in (("pearson", pearson(x, y)), ("spearman", spearman(x, y))):
            if value is not None:
                found[name].append(value)
    return {name: _percentiles(values) for name, values in found.items() if len(values) >= PROBLEM_DRAWS / 2}


# ---- thresholds


Scored = tuple[float, bool]  # a value, and whether what it belongs to passed
CLUSTER_DRAWS = 1000


def curve(scored: Sequence[Scored]) -> list[tuple[float, float, float | None]]:
    """Return the share of failures and of passes at or above each value, from the largest down, and that value.

    Begins at (0, 0) and ends at (1, 1). Empty where all pass or all fail.
    """
    won = sum(passed for _, passed in scored)
    lost = len(scored) - won
    if not won or not lost:
        return []
    points: list[tuple[float, float, float | None]] = [(0.0, 0.0, None)]
    hits = misses = 0
    ordered = sorted(scored, reverse=True)
    for place, (value, passed) in enumerate(ordered):
        hits, misses = hits + passed, misses + (not passed)
        if place + 1 == len(ordered) or ordered[place + 1][0] != value:  # equal values lie on one side together
            points.append((misses / lost, hits / won, value))
    return points


def youden(scored: Sequence[Scored]) -> float | None:
    """Return the threshold with the most passes less failures, in shares, at or above it (Youden's J).

    It lies halfway between the two values that it parts; of equally good ones it is the lowest. None where all pass or
    all fail, and where no threshold does better than none at all.
    """
    points = curve(scored)
    values = sorted({value for value, _ in scored})
    best, found = 1e-12, None
    for misses, hits, value in points:
        if value is not None and hits - misses >= best:
            best, found = hits - misses, value
    if found is None:
        return None
    place = values.index(found)
    return found if place == 0 else (values[place - 1] + found) / 2


def by_cluster(
    clusters: Sequence[Sequence[Scored]], statistic: Callable[[Sequence[Scored]], float | None]
) -> tuple[float, float] | None:
    """Bootstrap a statistic by percentiles, as if other clusters (directives) had been drawn, each with all it holds.

    Draws in which the statistic is not defined are left out. None for a single cluster, where too few draws define it,
    and where resampling changes nothing: that is no certainty.
    """
    if len(clusters) < 2:
        return None
    draws = np.random.default_rng(0).integers(0, len(clusters), (CLUSTER_DRAWS, len(clusters)))
    found = [statistic([each for place in draw for each in clusters[place]]) for draw in draws.tolist()]
    defined = [value for value in found if value is not None]
    if len(defined) < CLUSTER_DRAWS / 2:
        return None
    low, high = _percentiles(defined)
    return (low, high) if high - low > 1e-12 else None


def _percentiles(values: Sequence[float]) -> tuple[float, float]:
    low, high = (float(bound) for bound in np.quantile(values, [(1 - LEVEL) / 2, 1 - (1 - LEVEL) / 2]))
    return low, high
