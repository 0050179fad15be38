"""How often intervals hold the truth, and how often equal runs get a winner. docs/statistics.md shows what this prints.

usage: python benchmarks/intervals.py [--draws 10000] [--only coverage|winners]
Prints Markdown tables, then one `name=value` a line. Rates are shares of 1. About ten minutes on one core.

Items are simulated as the methods make them: an item has a chance of passing, drawn from a beta distribution whose
mean is the rate; `clustering` is the correlation of outcomes within an item (0: all items are alike; 1: an item always
passes or never does). Its score is the share of Nf outcomes that pass. Lift has one baseline outcome an item; a paired
difference has a second score of Nf outcomes. Two scores of one item come from the same quantile of their
distributions (what is hard for one is hard for the other), or are independent.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from core.metrics.statistics import LEVEL, critical_value, plausible

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SIZES = (5, 20, 80)
RATES = (0.0, 0.02, 0.05, 0.1, 0.3, 0.5, 0.9)
SAMPLES = (1, 3, 10)
CLUSTERING = (0.0, 0.3, 0.7, 1.0)
KINDS = ("share", "lift", "paired difference")
LOW, HIGH = 0.935, 0.975
SUSPECT = 0.942
"""Settings below are drawn again with ten times as many draws: else the least of hundreds is partly bad luck."""
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
    def lowest(self) -> float:
        return 0.0 if self.kind == "share" else -1.0

    @property
    def truth(self) -> float:
        return self.rate - self.other


def settings(kind: str) -> Iterator[Setting]:
    """Every one that differs from the others. One outcome an item cannot show clustering, but two linked ones can."""
    for rate, samples, clustering in product(RATES, SAMPLES, CLUSTERING):
        others = [0.0] if kind == "share" else sorted({0.0, rate / 2, rate})
        for other, linked in product(others, (False, True)):
            if (linked and (kind == "share" or clustering == 0.0)) or (samples == 1 and clustering and not linked):
                continue
            yield Setting(kind, rate, other, samples, clustering, linked)


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


def scores(setting: Setting, size: int, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """All values an item can have, and how often each occurs in each draw (draws, values)."""
    places = rng.integers(0, _GRID, (draws, size))
    passed = rng.binomial(setting.samples, chances(setting.rate, setting.clustering)[places])
    if setting.kind == "share":
        return np.arange(setting.samples + 1) / setting.samples, shares(passed, setting.samples + 1)
    if not setting.linked:
        places = rng.integers(0, _GRID, (draws, size))
    baselines = 1 if setting.kind == "lift" else setting.samples
    against = rng.binomial(baselines, chances(setting.other, setting.clustering)[places])
    steps = setting.samples
    values = passed - against * (steps // baselines) + steps
    return np.arange(-steps, steps + 1) / steps, shares(values, 2 * steps + 1)


def shares(values: Ints, kinds: int) -> Floats:
    """How often each of 0 .. kinds - 1 occurs in each row."""
    rows, size = values.shape
    places = (values + np.arange(rows)[:, None] * kinds).ravel()
    return np.bincount(places, minlength=rows * kinds).reshape(rows, kinds) / size


def coverage(setting: Setting, size: int, draws: int, rng: np.random.Generator) -> float:
    """How often the interval holds the truth."""
    support, counted = scores(setting, size, draws, rng)
    held = plausible(support, counted, float(size), setting.truth, critical_value(LEVEL, size))
    return float(np.mean(held))


def cover(draws: int) -> dict[str, object]:
    """The table of coverage, and its figures."""
    found: dict[tuple[str, int], dict[Setting, float]] = {}
    for kind, size in product(KINDS, SIZES):
        rng = np.random.default_rng(size)
        cells = {setting: coverage(setting, size, draws, rng) for setting in settings(kind)}
        for setting in [setting for setting, share in cells.items() if share < SUSPECT]:
            cells[setting] = float(np.mean([coverage(setting, size, draws, rng) for _ in range(10)]))
        found[kind, size] = cells
    for kind in KINDS:
        print(f"\nCoverage of the nominal {LEVEL:.0%} interval of a {kind}: least to most over clustering")
        print("\n| rate | Nf | " + " | ".join(f"n = {size}" for size in SIZES) + " |\n|---|---|---|---|---|")
        for rate, samples in product(RATES, SAMPLES):
            parts = []
            for size in SIZES:
                cell = [c for s, c in found[kind, size].items() if (s.rate, s.samples) == (rate, samples)]
                parts.append(f"{min(cell):.3f} to {max(cell):.3f}")
            print(f"| {rate} | {samples} | " + " | ".join(parts) + " |")
    figures: dict[str, object] = {}
    for kind, size in product(KINDS, SIZES):
        held = [share for setting, share in found[kind, size].items() if setting.rate]
        name = f"{kind.split()[0]}_n{size}"
        figures[f"coverage_median_{name}"] = round(float(np.median(held)), 4)
        figures[f"coverage_max_{name}"] = round(max(held), 4)
        figures[f"coverage_within_{name}"] = round(float(np.mean([LOW <= share <= HIGH for share in held])), 3)
    every = {size: [share for kind in KINDS for share in found[kind, size].values()] for size in SIZES}
    figures |= {f"coverage_min_n{size}": round(min(held), 4) for size, held in every.items()}
    figures["coverage_max"] = round(max(max(held) for held in every.values()), 4)
    return figures


def main() -> None:
    """Print tables, then figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--only", choices=("coverage", "winners"))
    options = parser.parse_args()
    figures: dict[str, object] = {}
    if options.only != "winners":
        figures |= cover(options.draws)
    print()
    for name, value in figures.items():
        print(f"{name}={value}")


if __name__ == "__main__":
    main()
