"""Intervals and correlations against exact figures, published figures and simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from rtc_inspector.core.metrics.statistics import interval, p_value, pass_at_k
from rtc_inspector.core.metrics.validity import auc, pearson, spearman


@pytest.mark.parametrize("size", [1, 2, 5, 8, 20, 80])
def test_for_outcomes_it_lies_within_clopper_and_pearsons_and_covers_every_rate(size: int) -> None:
    """Exact, by summing the binomial distribution; two of two are told as Clopper and Pearson tell them, or better."""
    found = [interval([1.0] * passed + [0.0] * (size - passed)) for passed in range(size + 1)]
    for passed, (mean, low, high) in enumerate(found):
        exact = stats.binomtest(passed, size).proportion_ci(method="exact")
        assert mean == pytest.approx(passed / size)
        assert exact.low <= low <= mean <= high <= exact.high
    rates = np.concatenate(
        [np.geomspace(1e-3, 0.02, 60), np.linspace(0.02, 0.98, 193), 1 - np.geomspace(1e-3, 0.02, 60)]
    )
    chances = stats.binom.pmf(np.arange(size + 1)[:, None], size, rates)
    held = np.array([(low <= rates) & (rates <= high) for _, low, high in found])
    assert (chances * held).sum(axis=0).min() >= 0.95 - 1e-9


@pytest.mark.parametrize(("passed", "size"), [(0, 9), (3, 20), (17, 20), (40, 163)])
def test_the_p_of_a_rate_is_the_chance_of_what_is_as_unlikely(passed: int, size: int) -> None:
    """Blaker's (2000), by adding up: of each number of passes the smaller tail, against that of the number seen."""
    values, counts = [1.0] * passed + [0.0] * (size - passed), np.arange(size + 1)
    for rate in (0.05, 0.13, 0.31, 0.77):
        binomial = stats.binom(size, rate)
        tails = np.minimum(binomial.cdf(counts), binomial.sf(counts - 1))
        assert p_value(values, mean=rate) == pytest.approx(
            binomial.pmf(counts)[tails <= tails[passed] * (1 + 1e-9)].sum()
        )


@pytest.mark.parametrize(("gains", "losses", "size"), [(6, 0, 40), (9, 2, 40), (20, 15, 80), (0, 0, 20), (1, 6, 30)])
def test_a_difference_of_outcomes_leaves_out_0_where_mcnemars_statistic_is_large(
    gains: int, losses: int, size: int
) -> None:
    """(b - c)^2 / (b + c) against the square of Student's t; the bounds are near those of Tango's interval."""
    first = [0.0] * gains + [1.0] * losses + [0.0] * (size - gains - losses)
    second = [1.0] * gains + [0.0] * losses + [0.0] * (size - gains - losses)
    square = stats.t.ppf(0.975, size - 1) ** 2
    mean, low, high = interval(second, against=first)
    assert mean == pytest.approx((gains - losses) / size)
    assert (low > 0 or high < 0) == ((gains - losses) ** 2 > square * (gains + losses))
    for bound in (low, high):
        assert tango(gains, losses, size, bound) == pytest.approx(square, rel=0.25)


def tango(gains: int, losses: int, size: int, value: float) -> float:
    """The square of Tango's (1998) score statistic of a difference of `value`."""
    first = 2 * size
    second = (2 * size - gains + losses) * value - gains - losses
    loss = (math.sqrt(second**2 + 4 * first * losses * value * (1 - value)) - second) / (2 * first)
    return (gains - losses - size * value) ** 2 / (size * (2 * loss + value * (1 - value)))


def test_a_difference_that_every_item_has_is_clear_where_items_vary() -> None:
    """Scores that vary much with their region, and a constant lift over it: pairing removes most of the variance."""
    baselines = [0.0, 1 / 3, 2 / 3] * 20
    scores = [base + 1 / 3 for base in baselines]
    mean, low, high = interval(scores, against=baselines)
    assert mean == pytest.approx(1 / 3)
    assert high - low < 0.1
    swapped = interval(baselines, against=scores)
    assert swapped == pytest.approx((-mean, -high, -low))
    with pytest.raises(ValueError, match="shorter"):
        interval(scores, against=baselines[:-1])


def test_the_p_of_a_difference_is_where_its_interval_just_reaches_the_value() -> None:
    rng = np.random.default_rng(8)
    first, second = rng.binomial(3, 0.3, 25) / 3, rng.binomial(3, 0.5, 25) / 3
    p = p_value(second.tolist(), against=first.tolist())
    _, low, high = interval(second.tolist(), against=first.tolist(), level=1 - p)
    assert 0 < p < 1
    assert min(abs(low), abs(high)) < 1e-6


def test_shares_between_0_and_1_vary_less_than_outcomes() -> None:
    """The bounds solve the equation that defines them, with the share of the largest variance that the values have."""
    values = np.array([0.1, 0.2, 0.2, 0.5, 0.8, 0.9, 0.4, 0.6])
    mean, low, high = interval(values.tolist())
    seen = np.var(values, ddof=1) / (mean * (1 - mean))
    carry = values.sum() ** 2 / (values**2).sum()
    effect = seen + (1 - seen) / (1 + carry**2)
    assert 5 < carry < 7
    assert seen < effect < 0.5
    for bound in (low, high):
        expected = stats.t.ppf(0.975, 7) ** 2 * effect * bound * (1 - bound) / 7.5
        assert (mean - bound) ** 2 == pytest.approx(expected)


def test_passes_that_few_items_carry_count_as_clustered() -> None:
    """Two items carry what in the other sample ten do: the same mean, and far less is known of it."""
    spread, heaped = [0.1] * 10 + [0.0] * 10, [0.5] * 2 + [0.0] * 18
    assert interval(spread)[2] < interval(heaped)[2]
    turned = [tuple(1 - bound for bound in interval([1 - value for value in sample])) for sample in (spread, heaped)]
    assert turned[0] == pytest.approx((interval(spread)[0], interval(spread)[2], interval(spread)[1]))


def test_one_loss_weighs_in_full_beside_many_small_gains() -> None:
    """Where no loss was seen nothing tells how large one would be: the lower bound is further away than the upper."""
    scores, baselines = [0.3] * 10 + [0.2, 0.4] * 5, [0.0] * 20
    mean, low, high = interval(scores, against=baselines)
    assert mean - low > 1.5 * (high - mean)
    assert low > 0


def test_the_same_input_gives_the_same_bounds_and_order_does_not_matter() -> None:
    values = [0.0, 1.0, 2 / 3] * 20
    assert interval(values) == interval(values)
    assert interval(sorted(values)) == pytest.approx(interval(values), abs=1e-12)


def test_with_many_regions_it_is_the_plain_interval_of_a_mean() -> None:
    values = np.random.default_rng(1).beta(2, 3, 4000)
    mean, low, high = interval(values.tolist())
    half = 1.96 * values.std(ddof=1) / math.sqrt(4000)
    assert (low, high) == pytest.approx((mean - half, mean + half), abs=2e-4)


@pytest.mark.parametrize("lowest", [0.0, -1.0])
@pytest.mark.parametrize("size", [2, 30])
def test_a_bound_is_where_means_stop_being_plausible(lowest: float, size: int) -> None:
    """Every mean inside is plausible and none outside, also where all agree: p is the level's other side."""
    rng = np.random.default_rng(size)
    for values in (rng.choice([0.0, 1 / 3, 1.0], size), np.full(size, 1 / 3), np.full(size, 1.0)):
        mean, low, high = interval(values.tolist(), lowest)
        assert lowest <= low <= mean <= high <= 1
        for each in np.linspace(lowest, 1, 7):
            assert (p_value(values.tolist(), lowest, mean=float(each)) > 0.05) == (low <= each <= high)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("gain", [1 / 3, 1.0])
def test_two_or_three_differences_contradict_hardly_anything(size: int, gain: float) -> None:
    for gains in ([gain] * size, [gain] + [0.0] * (size - 1)):
        mean, low, high = interval(gains, against=[0.0] * size)
        assert low < -0.9 and high >= mean + 0.15 * (1 - mean)
        mirrored = interval([0.0] * size, against=gains)
        assert mirrored == pytest.approx((-mean, -high, -low))


def test_agreement_is_not_certainty() -> None:
    """None of n: as unlikely as 1 in 20 at the bound, or in 40; at a value inside the scale both ends are open."""
    for size in (20, 100):
        assert 1 - 0.05 ** (1 / size) < interval([0.0] * size)[2] < 1 - 0.025 ** (1 / size)
        assert interval([1.0] * size)[1] == pytest.approx(1 - interval([0.0] * size)[2])
    mean, low, high = interval([0.0] * 40, -1.0)
    assert mean == 0.0
    assert -low == pytest.approx(high)
    assert interval([1.0]) == pytest.approx((1.0, 0.05, 1.0)), "one region tells next to nothing"
    assert interval([0.5]) == (0.5, 0.0, 1.0), "and nothing, where it is no outcome"


def test_lift_covers_where_most_items_have_none() -> None:
    """Three reconstructions and one baseline an item; where the rate is low plain t intervals of lift cover a half."""
    rng = np.random.default_rng(12)
    chances = rng.beta(0.1, 1.9, (200, 20))
    scores, baselines = rng.binomial(3, chances) / 3, rng.binomial(1, chances / 2).astype(float)
    bounds = [
        interval(score, against=baseline) for score, baseline in zip(scores.tolist(), baselines.tolist(), strict=True)
    ]
    assert np.mean([low <= 0.025 <= high for _, low, high in bounds]) >= 0.935


def test_it_covers_shares_that_cluster_within_items() -> None:
    rng = np.random.default_rng(11)
    runs = rng.binomial(3, rng.beta(0.05, 0.95, (300, 20))) / 3
    covered = [low <= 0.05 <= high for _, low, high in (interval(run.tolist()) for run in runs)]
    assert 0.92 <= np.mean(covered) <= 1.0


@pytest.mark.parametrize(("size", "widest"), [(12, 1.3), (40, 1.12), (160, 1.05)])
def test_a_small_change_of_a_continuous_figure_is_bounded_by_what_was_seen_of_it(size: int, widest: float) -> None:
    """Cosines that rise by 0.014, give or take 0.01: hardly wider than Student's t, and held as often."""
    rng = np.random.default_rng(size)
    before, held, widths = rng.uniform(0.2, 0.8, size), [], []
    for _ in range(200):
        change = rng.normal(0.014, 0.01, size)
        after = before + change
        mean, low, high = interval(after.tolist(), -1.0, against=before.tolist(), continuous=True)
        plain = stats.t.interval(0.95, size - 1, change.mean(), change.std(ddof=1) / math.sqrt(size))
        assert mean == pytest.approx(change.mean())
        held.append(low <= 0.014 <= high)
        widths.append((high - low) / (plain[1] - plain[0]))
        p = p_value(after.tolist(), -1.0, against=before.tolist(), continuous=True)
        assert (p < 0.05) == (low > 0 or high < 0)
    assert np.mean(held) >= 0.935
    assert 1 <= np.mean(widths) <= widest


def test_continuous_figures_that_all_agree_or_share_clusters_prove_no_more_than_those() -> None:
    same = interval([0.25] * 12, -1.0, against=[0.0] * 12, continuous=True)
    assert same == interval([0.25] * 12, -1.0, against=[0.0] * 12) and same[1] < 0 < 0.28 < same[2]
    assert interval([0.4], -1.0, continuous=True)[1:] == (-1.0, 1.0)
    alike, files = [0.1, 0.3, 0.2, 0.25] * 4, [place % 4 for place in range(16)]
    _, low, high = interval(alike, -1.0, clusters=files, continuous=True)
    of_four = interval(alike[:4], -1.0, continuous=True)
    assert (low, high) == pytest.approx(of_four[1:])
    assert interval([0.1, 0.3] * 20, continuous=True) == interval([0.1, 0.3] * 20), "a share from 0 to 1 is one"


def test_items_of_one_file_count_as_drawn_together() -> None:
    """Wholly alike within their file they are worth no more than files; unlike, as much as items."""
    alike = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0] * 10
    files = [place // 3 for place in range(60)]
    _, low, high = interval(alike, clusters=files)
    _, fewer_low, fewer_high = interval(alike[::3])
    assert (low, high) == pytest.approx((fewer_low, fewer_high), abs=0.01)
    mixed = [0.0, 1.0, 0.5] * 20
    assert interval(mixed, clusters=files)[2] - interval(mixed)[2] < 0.02
    assert interval([0.0] * 60, clusters=files)[2] == pytest.approx(interval([0.0] * 20)[2], rel=0.15)
    assert interval(alike, clusters=["one"] * 60)[1:] == (0.0, 1.0), "one file tells nothing of others"


def test_no_values_have_no_interval() -> None:
    with pytest.raises(ValueError, match="at least one"):
        interval([])


def test_pass_at_k_is_the_share_of_draws_with_a_pass() -> None:
    for samples, correct, k in [(5, 2, 3), (6, 0, 2), (4, 4, 1), (7, 3, 7)]:
        draws = list(itertools.combinations([True] * correct + [False] * (samples - correct), k))
        assert pass_at_k(samples, correct, k) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert pass_at_k(2000, 1, 1000) == pytest.approx(0.5)
    assert pass_at_k(10, 3, 1) == pytest.approx(0.3)
    assert pass_at_k(10, 3, 5) == pytest.approx(11 / 12)
    assert pass_at_k(5, 1, 5) == 1.0
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
    assert pearson(values, passed) == pytest.approx(expected)
    assert pearson(values, [True] * 5) is None
