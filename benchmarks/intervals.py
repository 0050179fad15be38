"""How often intervals hold the truth, and how often equal runs get a winner. docs/statistics.md shows what this prints.

usage: python benchmarks/intervals.py [--draws 5000] [--only coverage|winners|outcomes|continuous|cosmetic]
Prints Markdown tables, then one `name=value` a line. Rates are shares of 1. About ten minutes on one core.

Items are simulated as the methods make them: an item has a chance of passing, drawn from a beta distribution whose
mean is the rate; `clustering` is the correlation of outcomes within an item (0: all items are alike; 1: an item always
passes or never does). Its score is the share of Nf outcomes that pass. Lift has one baseline outcome an item; a paired
difference has a second score of Nf outcomes. Two scores of one item come from the same quantile of their
distributions (what is hard for one is hard for the other), or are independent.

Plain outcomes are held against Clopper and Pearson's interval at every count, continuous differences against Student's
t, and the cosmetic tables' tests against tables in which nothing changes.

`coverage_max` is of 20 and 80 items, over the settings where the upper limit can be held at all; `least_possible` and
`may_leave_out` say how the others are told, `coverage_max_any` is of all. Where all scores are 0 or 1 nothing is drawn:
the distribution is summed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, stdtrit
from scipy.stats import binom, norm

from rtc_inspector.core.metrics.paired import fewest_to_show, joint_level, mean_difference, no_change_p
from rtc_inspector.core.metrics.statistics import LEVEL, UNSEEN, Differences, Shares, critical_value, interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SIZES = (5, 20, 80)
RATES = (0.0, 0.02, 0.05, 0.1, 0.3, 0.5, 0.9)
SAMPLES = (1, 3, 10)
CLUSTERING = (0.0, 0.3, 1.0)
KINDS = ("share", "lift", "paired difference")
LOW, HIGH = 0.935, 0.975
SUSPECT = 0.942
"""Settings below are drawn again with ten times as many draws: else the least of hundreds is partly bad luck."""
FEW_DIFFER = 20
"""Items that differ, up to which the sign-flip test is summed exactly."""
_GRID = 20_000


@dataclass(frozen=True)
class Setting:
    """One population of items. `other`: the rate of what is subtracted; `linked`: both of the same quantile."""

    kind: str
    rate: float
    other: float
    samples: int
    clustering: float
    linked: bool

    @property
    def truth(self) -> float:
        """What the interval should hold."""
        return self.rate - self.other

    @property
    def whole(self) -> bool:
        """Whether every score is 0 or 1."""
        return self.samples == 1 or self.clustering == 1.0

    @property
    def gain(self) -> float:
        """The chance that the first score of an item is 1 and the second 0, where all are 0 or 1."""
        first, second = chances(self.rate, self.clustering), chances(self.other, self.clustering)
        return float(np.mean(first * (1 - second)) if self.linked else first.mean() * (1 - second.mean()))


def settings(kind: str) -> Iterator[Setting]:
    """Every one that differs from the others. One outcome an item cannot show clustering, but two linked ones can."""
    for rate, samples, clustering in product(RATES, SAMPLES, CLUSTERING):
        others = [0.0] if kind == "share" else sorted({0.0, rate / 2, rate})
        for other, linked in product(others, (False, True)):
            if (linked and (kind == "share" or clustering == 0.0)) or (samples == 1 and clustering and not linked):
                continue
            yield Setting(kind, rate, other, samples, clustering, linked)


@cache
def chances(rate: float, clustering: float) -> Floats:
    """The chances of passing of many items, in order."""
    quantiles = (np.arange(_GRID) + 0.5) / _GRID
    if rate <= 0 or clustering <= 0:
        return np.full(_GRID, rate)
    if clustering >= 1:
        return (quantiles < rate).astype(np.float64)
    strength = 1 / clustering - 1
    made = betaincinv(rate * strength, (1 - rate) * strength, 1 - quantiles)
    return np.clip(np.nan_to_num(made), 0.0, 1.0)


def coverage(setting: Setting, size: int, draws: int, rng: np.random.Generator) -> tuple[float, float]:
    """How often the interval holds the truth, and how often any must (`least_possible`, `may_leave_out`)."""
    if setting.whole:
        return exact_coverage(setting, size)
    places = rng.integers(0, _GRID, (draws, size))
    passed = rng.binomial(setting.samples, chances(setting.rate, setting.clustering)[places])
    if setting.kind == "share":
        held = plausible(Shares.of(passed / setting.samples), setting.truth, size)
        every = passed == setting.samples
        plain = (every | (passed == 0)).all(axis=1)  # by luck all scores are 0 or 1, and bounded as outcomes
        held[plain] = outcomes_hold(size, setting.truth)[every[plain].sum(axis=1)]
        tells = np.ones(draws, dtype=bool)
    else:
        if not setting.linked:
            places = rng.integers(0, _GRID, (draws, size))
        baselines = 1 if setting.kind == "lift" else setting.samples
        others = rng.binomial(baselines, chances(setting.other, setting.clustering)[places])
        passed = passed - others * (setting.samples // baselines)
        held = plausible(Differences.of(passed / setting.samples, UNSEEN / size), setting.truth, size)
        tells = flipped(passed) <= 1 - LOW
    means, chance = np.mean(passed, axis=1) / setting.samples, np.full(draws, 1 / draws)
    return float(held.mean()), least_possible(means, chance, setting.truth, tells)


def plausible(spread: Shares | Differences, mean: float, size: int) -> NDArray[np.bool_]:
    """Whether the intervals of samples hold a mean: as `core.metrics.statistics.interval`, without its search."""
    critical = critical_value(LEVEL, size, paired=isinstance(spread, Differences))
    held: NDArray[np.bool_] = (spread.mean - mean) ** 2 <= critical * spread.variance(mean) / size + 1e-12
    return held


def exact_coverage(setting: Setting, size: int) -> tuple[float, float]:
    """Of scores that are 0 or 1, over all that can be seen: so many items gain, so many lose."""
    if setting.kind == "share":
        counts = np.arange(size + 1)
        chance = binom.pmf(counts, size, setting.rate)
        held = float(chance[outcomes_hold(size, setting.rate)].sum())
        return held, least_possible(counts / size, chance, setting.rate, np.ones(size + 1, dtype=bool))
    gains, losses = outcomes(size)
    chance = probabilities(size, setting.gain, setting.gain - setting.truth)
    held = float(chance[plausible(whole_differences(size), setting.truth, size)].sum())
    least = least_possible((gains - losses) / size, chance, setting.truth, np.ones(len(gains), dtype=bool))
    allowed = may_leave_out(size, round(setting.truth, 9))
    return held, max(least, 1 - float(chance[allowed].sum()))


@cache
def outcome_bounds(size: int) -> Floats:
    """The bounds of a rate after each number of passes of so many outcomes."""
    return np.array([interval([1.0] * passes + [0.0] * (size - passes))[1:] for passes in range(size + 1)])


def outcomes_hold(size: int, rate: float) -> NDArray[np.bool_]:
    """Whether the interval after each number of passes holds a rate."""
    low, high = outcome_bounds(size).T
    held: NDArray[np.bool_] = (low <= rate + 1e-12) & (rate <= high + 1e-12)
    return held


@cache
def outcomes(size: int) -> tuple[Ints, Ints]:
    """How many of so many items gain and how many lose: every pair that there is."""
    gains, losses = (each.ravel() for each in np.meshgrid(np.arange(size + 1), np.arange(size + 1), indexing="ij"))
    return gains[gains + losses <= size], losses[gains + losses <= size]


def probabilities(size: int, gain: float, loss: float) -> Floats:
    """Of every pair in `outcomes`."""
    gains, losses = outcomes(size)
    among_rest = min(1.0, max(0.0, loss) / max(1e-12, 1 - gain))
    chance: Floats = binom.pmf(gains, size, gain) * binom.pmf(losses, size - gains, among_rest)
    return chance


@cache
def whole_differences(size: int) -> Differences:
    """The differences of every pair in `outcomes`."""
    gains, losses = outcomes(size)
    places = np.arange(size)
    ups, downs = places < gains[:, None], places >= size - losses[:, None]
    return Differences.of(ups.astype(np.float64) - downs, UNSEEN / size)


@cache
def may_leave_out(size: int, truth: float) -> NDArray[np.bool_]:
    """The pairs in `outcomes` after which an interval may leave out `truth`, and cover `LOW` wherever that is true.

    An interval that leaves it out after some gains and losses does so after more gains and fewer losses, too (or the
    other way round, below the truth). What all those come to is the least that it errs by, whatever the true rates
    are; where that is more than 1 - LOW for some rates with this difference, no interval may.
    """
    gains, losses = outcomes(size)
    worst = np.zeros((2, size + 1, size + 1))
    for lost in [0.0, *np.geomspace(0.0005, 1, 60) * (1 - abs(truth)) / 2]:
        lost += max(0.0, -truth)
        chance = np.zeros((size + 1, size + 1))
        chance[gains, losses] = probabilities(size, lost + truth, lost)
        above = chance[::-1].cumsum(axis=0)[::-1].cumsum(axis=1)
        below = chance[:, ::-1].cumsum(axis=1)[:, ::-1].cumsum(axis=0)
        worst = np.maximum(worst, [above, below])
    apart = (gains - losses) / size - truth
    return ((apart > 1e-9) & (worst[0][gains, losses] <= 1 - LOW)) | (
        (apart < -1e-9) & (worst[1][gains, losses] <= 1 - LOW)
    )


def least_possible(means: Floats, chance: Floats, truth: float, tells: NDArray[np.bool_]) -> float:
    """The least that an interval can cover here, if it covers `LOW` or more.

    It may leave out the truth only where the observed mean lies in one of two tails, and means come in steps: so the
    most that can be left out is what two tails hold that come to 1 - LOW or less. Of a difference the tail away from 0
    counts only where the data tell it from 0 (`tells`): an interval that holds 0 and the observed difference holds
    all between them.
    """
    steps = np.unique(np.round(means, 9))
    if truth == 0 and not tells.all():  # both tails at once: nothing tells one side from the other
        tails = [float(chance[(np.abs(means) >= step - 1e-9) & tells].sum()) for step in np.unique(np.abs(steps))]
        return 1 - max([tail for tail in tails if tail <= 1 - LOW], default=0.0)
    below = [0.0, *(float(chance[means <= step + 1e-9].sum()) for step in steps if step < truth - 1e-9)]
    above = [0.0, *(float(chance[(means >= step - 1e-9) & tells].sum()) for step in steps if step > truth + 1e-9)]
    return 1 - max(low + high for low in below for high in above if low + high <= 1 - LOW)


def flipped(differences: Ints) -> Floats:
    """Two-sided p of the exact sign-flip test, one row of items a draw: were each sign as likely the other one.

    With fewer than five items that differ it is never below 0.0625, however they differ.
    """
    sizes = -np.sort(-np.abs(differences), axis=1)
    total, most = np.abs(differences.sum(axis=1)), int(sizes.max(initial=1))
    many = (sizes > 0).sum(axis=1) > FEW_DIFFER
    p = 2 * norm.sf(total / np.sqrt(np.maximum((differences**2).sum(axis=1), 1)))
    kinds, at = np.unique(sizes[~many][:, :FEW_DIFFER], axis=0, return_inverse=True)
    middle = most * kinds.shape[1]
    chance = np.zeros((len(kinds), 2 * middle + 1))
    chance[:, middle] = 1.0
    for column in kinds.T:
        for step in np.unique(column[column > 0]):
            old = chance[column == step]
            new = np.zeros_like(old)
            new[:, step:] += old[:, :-step] / 2
            new[:, :-step] += old[:, step:] / 2
            chance[column == step] = new
    tails = np.cumsum(chance[:, ::-1], axis=1)[:, ::-1]
    p[~many] = np.minimum(1.0, 2 * tails[at.ravel(), middle + total[~many]])
    return np.where(total == 0, 1.0, p)


def cover(draws: int) -> dict[str, object]:
    """The table of coverage, and its figures."""
    found: dict[tuple[str, int], dict[Setting, float]] = {}
    reachable: dict[tuple[str, int], list[float]] = {}
    for kind, size in product(KINDS, SIZES):
        rng = np.random.default_rng(size)
        drawn = {setting: coverage(setting, size, draws, rng) for setting in settings(kind)}
        cells = {setting: share for setting, (share, _) in drawn.items()}
        for setting in [setting for setting, share in cells.items() if share < SUSPECT]:
            cells[setting] = float(np.mean([coverage(setting, size, draws, rng)[0] for _ in range(10)]))
        found[kind, size] = cells
        reachable[kind, size] = [cells[setting] for setting, (_, least) in drawn.items() if least <= HIGH]
    for kind in KINDS:
        print(f"\nCoverage of the nominal {LEVEL:.0%} interval of a {kind}: least to most over clustering")
        print("\n| rate | Nf | " + " | ".join(f"n = {size}" for size in SIZES) + " |\n|---|---|---|---|---|")
        for rate, samples in product(RATES, SAMPLES):
            parts = []
            for size in SIZES:
                cell = [c for s, c in found[kind, size].items() if (s.rate, s.samples) == (rate, samples)]
                parts.append(f"{min(cell):.3f} to {max(cell):.3f}")
            print(f"| {rate} | {samples} | " + " | ".join(parts) + " |")
    print(f"\nSettings where at most {HIGH:.1%} can be covered at all, and what is covered there\n")
    print("| | n | settings | in reach | least | median | most | above |\n|---|---|---|---|---|---|---|---|")
    figures: dict[str, object] = {}
    for kind, size in product(KINDS, SIZES[1:]):
        held, whole = reachable[kind, size], found[kind, size]
        above = np.mean([share > HIGH for share in held])
        print(
            f"| {kind} | {size} | {len(whole)} | {len(held)} | {min(held):.3f} | {np.median(held):.3f} "
            f"| {max(held):.3f} | {above:.0%} |"
        )
        name = f"{kind.split()[0]}_n{size}"
        figures[f"coverage_median_{name}"] = round(float(np.median(held)), 4)
        figures[f"coverage_within_{name}"] = round(float(np.mean([LOW <= share <= HIGH for share in held])), 3)
    every = {size: [share for kind in KINDS for share in found[kind, size].values()] for size in SIZES}
    figures |= {f"coverage_min_n{size}": round(min(held), 4) for size, held in every.items()}
    figures["coverage_max_any"] = round(max(max(every[size]) for size in SIZES[1:]), 4)
    figures["coverage_max"] = round(max(max(held) for (_, size), held in reachable.items() if size > SIZES[0]), 4)
    return figures


def of_files(draws: int) -> dict[str, object]:
    """Coverage of other files like those drawn, where items of one file resemble each other."""
    print("\nCoverage of the rate in other files, items counted as drawn alone and as drawn by file")
    print("\n| files | items a file | rate | resemblance in a file | alone | by file |\n|---|---|---|---|---|---|")
    rng = np.random.default_rng(3)
    least = 1.0
    for (files, items), rate, alike in product(((20, 4), (10, 8), (5, 8)), (0.05, 0.3), (0.1, 0.5)):
        names = np.repeat(np.arange(files), items)
        held = [0, 0]
        for _ in range(draws):
            chance = rng.choice(chances(rate, alike), files)[names]
            values = (rng.binomial(3, chance) / 3).tolist()
            for place, clusters in enumerate((None, names.tolist())):
                _, low, high = interval(values, clusters=clusters)
                held[place] += low <= rate <= high
        least = min(least, held[1] / draws)
        print(f"| {files} | {items} | {rate} | {alike} | {held[0] / draws:.3f} | {held[1] / draws:.3f} |")
    return {"coverage_min_by_file": round(least, 4)}


RUNS = (2, 3, 10)
WINNER_SIZES = (10, 20, 80)
WINNER_RATES = (0.05, 0.3)


def crown(draws: int) -> dict[str, object]:
    """How often one of several equal runs is called better than another, with joint intervals and with single ones."""
    print("\nEqual runs of which one is called better, most over rate, Nf (1, 3, 10) and clustering")
    print("\n| runs | n | joint intervals | single intervals |\n|---|---|---|---|")
    most: dict[int, float] = {}
    for runs, size in product(RUNS, WINNER_SIZES):
        rng = np.random.default_rng(runs * 1000 + size)
        joint = [critical_value(level, size, paired=True) for level in (joint_level(runs), LEVEL)]
        worst = [0.0, 0.0]
        for rate, samples, clustering in product(WINNER_RATES, SAMPLES, (0.0, 0.3, 1.0)):
            if samples == 1 and clustering == 0.3:  # one outcome an item cannot show it
                continue
            linked = clustering < 1  # where items always pass or never do, equal and linked runs never differ
            found = np.mean(winners(runs, size, rate, samples, clustering, linked, joint, draws, rng), axis=1)
            if found[0] > 0.045:
                again = [winners(runs, size, rate, samples, clustering, linked, joint, draws, rng) for _ in range(5)]
                found = np.mean(np.concatenate(again, axis=1), axis=1)
            worst = [max(pair) for pair in zip(worst, found, strict=True)]
        most[runs] = max(most.get(runs, 0.0), worst[0])
        print(f"| {runs} | {size} | {worst[0]:.3f} | {worst[1]:.3f} |")
    figures: dict[str, object] = {f"false_winner_{runs}_runs": round(share, 4) for runs, share in most.items()}
    return figures | {"false_winner_max": round(max(most.values()), 4)}


def winners(
    runs: int, size: int, rate: float, samples: int, clustering: float, linked: bool, criticals: Sequence[float],
    draws: int, rng: np.random.Generator,
) -> NDArray[np.bool_]:  # fmt: skip
    """Whether any pair of runs is told apart, one row a critical value, one column a draw."""
    chance = chances(rate, clustering)
    places = rng.integers(0, _GRID, (draws, size))
    passed = []
    for _ in range(runs):
        passed.append(rng.binomial(samples, chance[places]) / samples)
        if not linked:
            places = rng.integers(0, _GRID, (draws, size))
    told = np.zeros((len(criticals), draws), dtype=bool)
    for first, second in combinations(passed, 2):
        spread = Differences.of(second - first, UNSEEN / size)
        told |= spread.mean**2 > np.array(criticals)[:, None] * spread.variance(0.0) / size + 1e-12
    return told


def forecast(draws: int) -> dict[str, object]:
    """What the range of further items is worth: how often as many more decide, for runs that n items left undecided."""
    size, cap = 40, 2_000
    print(f"\nFurther items named after {size} that decide nothing, and how often as many decide (at most {cap:,})")
    print("\n| true difference | undecided at first | least named (quartiles) | least decides | most decides |")
    print("|---|---|---|---|---|")
    for difference in (0.0, 0.05, 0.1, 0.2):
        rng = np.random.default_rng(7)
        named: list[tuple[int, int]] = []
        decided: list[tuple[bool, bool]] = []
        for _ in range(draws):
            seen = _runs(0.3, difference, size, rng)
            judged = mean_difference(*seen)
            if judged.further is None:
                continue
            least, most = min(judged.further[0], cap), min(judged.further[1] or cap, cap)
            named.append((least, most))
            more = _runs(0.3, difference, most, rng)
            grown = [[one + other[:count] for one, other in zip(seen, more, strict=True)] for count in (least, most)]
            bounds = [interval(second, against=first) for first, second in grown]
            decided.append((_leaves_out_0(bounds[0]), _leaves_out_0(bounds[1])))
        low, middle, high = np.quantile([least for least, _ in named], [0.25, 0.5, 0.75])
        shares_decided = np.mean(decided, axis=0)
        print(
            f"| {difference} | {len(named) / draws:.0%} | {middle:.0f} ({low:.0f} to {high:.0f}) "
            f"| {shares_decided[0]:.0%} | {shares_decided[1]:.0%} |"
        )
    return {}


def _runs(rate: float, difference: float, size: int, rng: np.random.Generator) -> tuple[list[float], list[float]]:
    """Scores of two runs with three samples an item, clustering 0.3, linked."""
    places = rng.integers(0, _GRID, size)
    first, second = (rng.binomial(3, chances(each, 0.3)[places]) / 3 for each in (rate, rate + difference))
    return first.tolist(), second.tolist()


def _leaves_out_0(bounded: tuple[float, float, float]) -> bool:
    return bounded[1] > 0 or bounded[2] < 0


OUTCOMES = (*range(1, 21), 30, 40, 80, 164)


def exact() -> dict[str, object]:
    """Plain outcomes: how often every rate is covered, and by how much an interval is wider than Clopper-Pearson's."""
    print("\nPlain outcomes: least coverage of any rate, and the most by which an interval is wider than the exact one")
    print("\n| n | least coverage | wider by |\n|---|---|---|")
    rare = np.geomspace(1e-4, 0.02, 400)
    rates = np.concatenate([rare, np.linspace(0.02, 0.98, 961), 1 - rare])
    least: dict[int, float] = {}
    wider: dict[int, float] = {}
    for size in OUTCOMES:
        counts = np.arange(size + 1)
        low, high = outcome_bounds(size).T
        below = np.nan_to_num(betaincinv(np.maximum(counts, 1), size - counts + 1, (1 - LEVEL) / 2)) * (counts > 0)
        above = np.where(counts < size, betaincinv(counts + 1, np.maximum(size - counts, 1), (1 + LEVEL) / 2), 1.0)
        held = (low[:, None] <= rates) & (rates <= high[:, None])
        least[size] = float((binom.pmf(counts[:, None], size, rates) * held).sum(axis=0).min())
        wider[size] = float(((high - low) - (above - below)).max())
        if size in (1, 2, 5, 10, 20, 40, 80, 164):
            print(f"| {size} | {least[size]:.3f} | {wider[size]:.4f} |")
    from_five = min(held for size, held in least.items() if size >= 5)
    return {"outcomes_coverage_min": round(from_five, 4), "wider_than_exact_max": round(max(wider.values()), 4)}


CHANGES: dict[str, tuple[float, Callable[[np.random.Generator, tuple[int, ...]], Floats]]] = {
    "small, all alike": (0.014, lambda rng, shape: rng.normal(0.014, 0.01, shape)),
    "only up, skewed": (0.02, lambda rng, shape: rng.exponential(0.02, shape)),
    "every second one": (0.015, lambda rng, shape: rng.normal(0.03, 0.02, shape) * (rng.random(shape) < 0.5)),
    "both ways, long tails": (0.01, lambda rng, shape: 0.01 + 0.02 * rng.standard_t(3, shape)),
    "every fifth one, skewed": (0.01, lambda rng, shape: rng.exponential(0.05, shape) * (rng.random(shape) < 0.2)),
}
"""Ways in which a continuous score changes: the mean of the change, and how it is drawn."""
RARE = "every fifth one, skewed"
"""Told by a figure of its own: what few items show of rare changes no interval knows that rests on what was seen."""
GROUPED = ((12, 1), (40, 1), (160, 1), (10, 8), (20, 4), (160, 3))
"""Clusters, and items of each; half of the items of a cluster change as the cluster does."""


def steady(draws: int) -> dict[str, object]:
    """Differences of continuous scores: coverage, and mean width over that of Student's t (clusters: of their sums)."""
    print("\nDifferences of a continuous score: coverage, its width over Student's t, and coverage of Student's t")
    print("\n| change | items | clusters | coverage | width | Student's t |\n|---|---|---|---|---|---|")
    rng = np.random.default_rng(5)
    held: dict[str, float] = {}
    width = 0.0
    for (name, (truth, draw)), (groups, each) in product(CHANGES.items(), GROUPED):
        names = np.repeat(np.arange(groups), each)
        alone, together = draw(rng, (draws, groups * each)), draw(rng, (draws, groups))[:, names]
        values = np.where(rng.random(alone.shape) < 0.5 * (each > 1), together, alone)
        clusters = names.tolist() if each > 1 else None
        nothing = [0.0] * values.shape[1]
        found = np.array(
            [interval(row, -1, against=nothing, clusters=clusters, continuous=True) for row in values.tolist()]
        )
        sums = (values - values.mean(axis=1, keepdims=True)).reshape(draws, groups, each).sum(axis=2)
        error = np.sqrt((sums**2).sum(axis=1) * groups / (groups - 1)) / values.shape[1]
        half = stdtrit(groups - 1, (1 + LEVEL) / 2) * error
        covers = float(np.mean((found[:, 1] <= truth) & (truth <= found[:, 2])))
        plain = float(np.mean(np.abs(values.mean(axis=1) - truth) <= half))
        wider = float((found[:, 2] - found[:, 1]).mean() / (2 * half.mean()))
        held[name] = min(held.get(name, 1.0), covers)
        width = max(width, wider if name != RARE else 0.0)
        print(
            f"| {name} | {groups * each} | {groups if each > 1 else '-'} | {covers:.3f} | {wider:.2f} | {plain:.3f} |"
        )
    return {
        "continuous_coverage_min": round(min(share for name, share in held.items() if name != RARE), 4),
        "continuous_coverage_min_rare": round(held[RARE], 4),
        "continuous_width_vs_t_max": round(width, 3),
    }


CELLS = 20
FUNCTIONS = (2, 3, 5, 8, 12, 20, 60)


def unchanged(draws: int) -> dict[str, object]:
    """How often any of twenty cells of a cosmetic table is found to change where nothing does."""
    print(f"\nTables of {CELLS} cells in which nothing changes: how often a cell is found to (p by Holm below 0.05)")
    print("\n| functions | shares of ten names | round trips | likenesses |\n|---|---|---|---|")
    worst = 0.0
    for functions in FUNCTIONS:
        rng, found = np.random.default_rng(functions), []
        for kind in ("names", "trips", "likenesses"):
            # Holm finds something where the least of all p is below this, and cells are independent here.
            level = 0.05 / CELLS
            share, many = false_finding(kind, functions, level, draws, rng), draws
            if 1 - (1 - share) ** CELLS > 0.04:
                many *= 10
                share = false_finding(kind, functions, level, many, rng)
            found.append(1 - (1 - share) ** CELLS)
        worst = max(worst, *found)
        few = " (too few for any)" if functions < fewest_to_show(0.05 / CELLS) else ""
        print(f"| {functions}{few} | " + " | ".join(f"{share:.3f}" for share in found) + " |")
    return {"cosmetic_false_finding_max": round(worst, 4)}


def false_finding(kind: str, functions: int, level: float, draws: int, rng: np.random.Generator) -> float:
    """How often functions that are scored twice alike have a p of no change below `level`."""
    shape = (draws, functions, 2)
    if kind == "likenesses":
        scores = rng.beta(4, 2, shape)
    else:
        asked = 10 if kind == "names" else 1
        scores = rng.binomial(asked, np.broadcast_to(rng.beta(1, 1, (draws, functions, 1)), shape)) / asked
    differences = (scores[..., 0] - scores[..., 1]).round(9).tolist()
    return float(np.mean([(no_change_p(each) or 0.0) < level for each in differences]))


def main() -> None:
    """Print tables, then figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=5_000)
    parser.add_argument("--only", choices=("coverage", "winners", "outcomes", "continuous", "cosmetic"))
    options = parser.parse_args()
    figures: dict[str, object] = {}
    if options.only in (None, "coverage"):
        figures |= cover(options.draws) | of_files(max(options.draws // 4, 100))
    if options.only in (None, "winners"):
        figures |= crown(options.draws) | forecast(max(options.draws // 50, 60))
    if options.only in (None, "outcomes"):
        figures |= exact()
    if options.only in (None, "continuous"):
        figures |= steady(options.draws // 2)
    if options.only in (None, "cosmetic"):
        figures |= unchanged(options.draws * 4)
    print()
    for name, value in figures.items():
        print(f"{name}={value}")


if __name__ == "__main__":
    main()
