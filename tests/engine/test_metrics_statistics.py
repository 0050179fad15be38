"""Intervals and correlations against exact figures, published figures and simulation."""

from __future__ import annotations

import itertools
import math
import tracemalloc

import numpy as np
import pytest

from core.metrics.statistics import (
    auc,
    interval,
    lift_interval,
    pass_at_k,
    pearson,
    point_biserial,
    spearman,
    unanimous,
)


def test_the_interval_is_that_of_every_possible_resample() -> None:
    """With four regions all 4^4 resamples can be listed: the bootstrap must agree with them."""
    values = [0.0, 1.0, 1 / 3, 1 / 3]
    means = [sum(drawn) / 4 for drawn in itertools.product(values, repeat=4)]
    low, high = np.quantile(means, [0.025, 0.975], method="inverted_cdf")
    mean, *bounds = interval(values)
    assert mean == pytest.approx(5 / 12)
    assert bounds == pytest.approx([low, high], abs=0.02)


def test_counts_and_indices_draw_the_same_distribution() -> None:
    """Few distinct values are resampled as counts, many as indices."""
    rng = np.random.default_rng(3)
    coarse = rng.integers(0, 4, 300) / 3
    fine = coarse + rng.uniform(-1e-9, 1e-9, 300)
    assert interval(fine.tolist(), -1, 2) == pytest.approx(interval(coarse.tolist()), abs=0.004)


def test_the_same_input_gives_the_same_bounds_and_order_does_not_matter() -> None:
    values = [0.0, 1.0, 2 / 3] * 20
    assert interval(values) == interval(values)
    assert interval(sorted(values)) == pytest.approx(interval(values), abs=1e-12)


def test_the_interval_shrinks_with_the_square_root_of_regions() -> None:
    def width(regions: int) -> float:
        _, low, high = interval([0.0, 1.0] * (regions // 2))
        return high - low

    assert width(100) / width(1600) == pytest.approx(4, rel=0.1)
    assert width(400) == pytest.approx(2 * 1.96 * 0.5 / 20, rel=0.05)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(11)
    runs = rng.binomial(3, rng.beta(0.5, 1.0, (400, 60))) / 3
    covered = [low <= 1 / 3 <= high for _, low, high in (interval(run.tolist(), resamples=1000) for run in runs)]
    assert 0.91 <= np.mean(covered) <= 0.98


@pytest.mark.parametrize("count", [1, 5, 100])
def test_where_all_regions_agree_the_bound_is_exact(count: int) -> None:
    """Clopper-Pearson: the bound is the rate at which `count` failures in a row have a chance of 0.025."""
    mean, low, high = interval([0.0] * count)
    assert (mean, low) == (0.0, 0.0)
    assert (1 - high) ** count == pytest.approx(0.025)
    mean, low, high = interval([1.0] * count)
    assert (mean, high) == (1.0, 1.0)
    assert low**count == pytest.approx(0.025)


def test_agreement_inside_the_scale_is_not_certainty_either() -> None:
    mean, low, high = interval([0.0] * 40, lowest=-1.0)
    assert mean == 0.0
    assert -low == high == pytest.approx(1 - 0.025 ** (1 / 40))
    assert unanimous(1 / 3, 40) == pytest.approx((1 / 3 - high / 3, 1 / 3 + high * 2 / 3))


def test_lift_is_paired_by_region() -> None:
    """Scores that vary much with their region, and a constant lift over it: pairing removes the variance."""
    baselines = [0.0, 1 / 3, 2 / 3] * 20
    scores = [base + 1 / 3 for base in baselines]
    mean, low, high = lift_interval(scores, [*baselines[:-1], 1 / 3])
    assert mean == pytest.approx(1 / 3 + 1 / 180)
    assert high - low < 0.05
    with pytest.raises(ValueError, match="shorter"):
        lift_interval(scores, baselines[:-1])


def test_no_values_have_no_interval() -> None:
    with pytest.raises(ValueError, match="at least one"):
        interval([])


def test_many_regions_need_little_memory() -> None:
    values = np.random.default_rng(0).random(10_000).tolist()
    tracemalloc.start()
    mean, low, high = interval(values, resamples=2_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert low < mean < high
    assert peak < 100_000_000


def test_pass_at_k_is_the_share_of_draws_with_a_pass() -> None:
    for samples, correct, k in [(5, 2, 3), (6, 0, 2), (4, 4, 1), (7, 3, 7)]:
        draws = list(itertools.combinations([True] * correct + [False] * (samples - correct), k))
        assert pass_at_k(samples, correct, k) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert pass_at_k(2000, 1, 1000) == pytest.approx(0.5)
    for wrong in [(3, 4, 1), (3, 1, 4), (3, 1, 0), (3, -1, 1)]:
        with pytest.raises(ValueError, match="undefined"):
            pass_at_k(*wrong)


HUMANEVAL = ([19.5, 29.3, 37.6, 33.4, 67.7], [8.3, 10.6, 18.3, 18.9, 28.5])
ARCADE = ([5.5, 8.2, 15.3, 14.4, 18.3], [2.7, 3.5, 6.5, 7.7, 11.1])


@pytest.mark.parametrize("table", [HUMANEVAL, ARCADE])
def test_correlations_are_those_the_paper_reports(table: tuple[list[float], list[float]]) -> None:
    """RTC paper, Fig. 2 and Sec. 4: pass@1 against RTC has r = 0.95 and rho = 0.90 on both benchmarks."""
    linear, ranked = pearson(*table), spearman(*table)
    assert linear is not None and ranked is not None
    assert round(linear, 2) == 0.95
    assert round(ranked, 2) == 0.90


def test_ties_share_their_mean_rank() -> None:
    """Ranks 1, 2.5, 2.5, 4 against 2, 1, 3.5, 3.5."""
    expected = pearson([1, 2.5, 2.5, 4], [2, 1, 3.5, 3.5])
    assert spearman([1, 5, 5, 9], [20, 10, 30, 30]) == pytest.approx(expected)
    assert spearman([1, 2, 3], [math.e, math.e**2, math.e**9]) == pytest.approx(1.0)


def test_a_correlation_without_variation_is_undefined() -> None:
    assert pearson([1, 1, 1], [1, 2, 3]) is None
    assert pearson([1], [1]) is None
    assert spearman([], []) is None
    with pytest.raises(ValueError, match="pairs"):
        pearson([1, 2], [1])


def test_auc_is_the_share_of_pairs_in_the_right_order() -> None:
    rng = np.random.default_rng(5)
    values = (rng.integers(0, 6, 60) / 5).tolist()
    passed = (rng.random(60) < 0.4).tolist()
    above = [v for v, did in zip(values, passed, strict=True) if did]
    below = [v for v, did in zip(values, passed, strict=True) if not did]
    wins = sum((a > b) + (a == b) / 2 for a in above for b in below)
    assert auc(values, passed) == pytest.approx(wins / (len(above) * len(below)))
    assert auc([1.0, 2.0], [False, True]) == 1.0
    assert auc([1.0, 2.0], [True, True]) is None


def test_point_biserial_is_the_difference_of_means_in_spreads() -> None:
    values, passed = [0.1, 0.4, 0.5, 0.9, 0.7], [False, False, True, True, True]
    high, low = np.mean([0.5, 0.9, 0.7]), np.mean([0.1, 0.4])
    expected = (high - low) / np.std(values) * math.sqrt(3 * 2 / 25)
    assert point_biserial(values, passed) == pytest.approx(expected)
    assert point_biserial(values, [True] * 5) is None
