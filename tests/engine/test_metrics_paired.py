"""McNemar's test against published and enumerated figures; differences of runs against simulation."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from rtc_inspector.core.metrics.paired import (
    TwoByTwo,
    exact_flips,
    fair_coin,
    fewest_to_show,
    holm,
    joint_level,
    mean_difference,
    no_change_p,
)
from rtc_inspector.core.metrics.statistics import interval


@pytest.mark.parametrize("heads", range(9))
def test_a_fair_coin_is_that_of_all_sequences(heads: int) -> None:
    """Of all 2^8 sequences, those at least as far from the middle."""
    every = [sum(drawn) for drawn in itertools.product((0, 1), repeat=8)]
    extreme = sum(abs(count - 4) >= abs(heads - 4) for count in every)
    assert fair_coin(heads, 8) == Fraction(extreme, 2**8)


def test_published_figures_of_mcnemars_exact_test() -> None:
    """Binomial tails out of tables: 2 * P(X <= 5 | n = 25) and 2 * P(X <= 1 | n = 10)."""
    assert fair_coin(5, 25) == pytest.approx(0.0040773, abs=1e-7)
    assert fair_coin(9, 10) == pytest.approx(22 / 1024)
    assert fair_coin(0, 0) == 1.0


def test_many_items_neither_overflow_nor_take_long() -> None:
    assert fair_coin(5_000, 10_000) == 1.0
    assert 0 <= fair_coin(10, 20_000) < 1e-300
    z = (9_800 + 0.5 - 10_000) / math.sqrt(20_000 / 4)
    assert fair_coin(9_800, 20_000) == pytest.approx(math.erfc(-z / math.sqrt(2)), rel=0.01)


def test_pairs_are_counted_by_who_solved_them() -> None:
    test = TwoByTwo.of(zip([True, True, True, False, False], [True, False, False, True, False], strict=True))
    assert (test.both, test.only_first, test.only_second, test.neither) == (1, 2, 1, 1)
    assert test.mcnemar_p == 1.0
    with pytest.raises(ValueError):
        fair_coin(3, 2)


def test_holm_adjusts_in_place_and_never_reverses_the_order() -> None:
    """The worked example of Holm's procedure: 0.01, 0.04, 0.03, 0.005 become 0.03, 0.06, 0.06, 0.02."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([0.2]) == [0.2]


def test_all_pairs_of_runs_share_the_five_percent() -> None:
    assert [round(1 - joint_level(runs), 6) for runs in (2, 3, 10)] == [0.05, 0.016667, 0.001111]
    first, second = [0.5] * 40, [1.0] * 12 + [0.0] * 4 + [0.5] * 24
    alone, joint = mean_difference(first, second), mean_difference(first, second, runs=3)
    assert joint.p == pytest.approx(3 * alone.p)
    assert joint.low < alone.low < alone.value < alone.high < joint.high


@pytest.mark.parametrize("runs", [2, 3, 10])
def test_an_interval_leaves_out_0_exactly_where_the_adjusted_p_is_small(runs: int) -> None:
    rng = np.random.default_rng(runs)
    drawn = []
    for _ in range(16):
        first, second = rng.binomial(3, 0.3, 30) / 3, rng.binomial(3, rng.uniform(0.3, 0.8), 30) / 3
        drawn.append(mean_difference(first.tolist(), second.tolist(), runs=runs))
    assert all(each.decided == (each.p < 0.05) for each in drawn)
    assert {each.decided for each in drawn} == {True, False}


@pytest.mark.parametrize("runs", [2, 3])
def test_equal_runs_get_a_winner_in_at_most_one_of_twenty_cases(runs: int) -> None:
    """Twenty items of three reconstructions each, by runs of one model; of 120 draws 0.05 may look like 0.09."""
    rng = np.random.default_rng(4)
    told = 0
    for _ in range(120):
        scores = (rng.binomial(3, rng.beta(0.5, 1.0, 20)[None, :].repeat(runs, 0)) / 3).tolist()
        level = joint_level(runs)
        bounds = [interval(b, against=a, level=level) for a, b in itertools.combinations(scores, 2)]
        told += any(low > 0 or high < 0 for _, low, high in bounds)
    assert told / 120 <= 0.09


def test_what_is_detectable_is_detected_in_four_of_five_cases() -> None:
    """Eighty items of 0 or 1 in two unlinked runs; as many whose rates differ by what is detectable show it."""
    rng = np.random.default_rng(0)
    first = [0.0, 1.0] * 40
    seen = mean_difference(first, [0.0, 0.0, 1.0, 1.0] * 20)
    assert seen.detectable == pytest.approx(2.8 * math.sqrt(0.5 / 80), rel=0.05)
    rates = 0.5 - seen.detectable / 2, 0.5 + seen.detectable / 2
    drawn = [[rng.binomial(1, rate, 80).astype(float).tolist() for rate in rates] for _ in range(100)]
    assert np.mean([_told_apart(*pair) for pair in drawn]) == pytest.approx(0.8, abs=0.12)


def test_further_items_are_a_range_and_open_where_nothing_may_differ() -> None:
    near = mean_difference([0.0] * 6 + [1.0] * 2 + [0.0, 1.0] * 16, [1.0] * 6 + [0.0] * 2 + [0.0, 1.0] * 16)
    assert near.further is not None and near.further[1] is not None
    assert 0 < near.further[0] < near.further[1]
    equal = mean_difference([0.0, 1.0] * 20, [1.0, 0.0] * 20)
    assert equal.further is not None and equal.further[1] is None
    assert mean_difference([0.0] * 40, [1.0] * 20 + [0.0] * 20).further is None


def test_items_that_never_differ_prove_little() -> None:
    alike = mean_difference([0.0] * 20, [0.0] * 20)
    assert not alike.decided and alike.p == 1.0
    assert 0.15 < alike.detectable < 0.35
    assert mean_difference([0.5], [1.0]).detectable == 1.0


def _told_apart(first: list[float], second: list[float]) -> bool:
    _, low, high = interval(second, against=first)
    return low > 0 or high < 0


def test_random_signs_are_counted_as_if_every_way_were_tried() -> None:
    rng = np.random.default_rng(3)
    for size in (2, 5, 9):
        differences = rng.normal(0.3, 1, size).round(1)
        signs = np.array(list(itertools.product((-1, 1), repeat=size)))
        as_low = (signs @ differences <= differences.sum() + 1e-9).mean()
        assert exact_flips(differences.tolist()) == pytest.approx(as_low)
    known = [-0.3, -0.1, 0.2, -0.4, -0.05]
    both = stats.permutation_test((known,), np.mean, permutation_type="samples").pvalue
    assert no_change_p(known) == no_change_p([*known, 0.0, 0.0]) == pytest.approx(both)


def test_p_of_no_change_of_few_of_many_and_of_none() -> None:
    assert no_change_p([]) is None and no_change_p([0.5]) is None and no_change_p([0.0] * 9) == 1.0
    assert no_change_p([-0.2] * 4) == 0.125, "as four tosses of a coin"
    assert no_change_p([-0.1, -0.2]) == 0.5
    assert no_change_p([-1.0, 1.0] * 30) == 1.0
    many = [n / 1000 - 0.05 for n in range(400)]
    assert no_change_p(many) == pytest.approx(stats.ttest_1samp(many, 0).pvalue)
    for level in (0.05, 0.05 / 20):
        fewest = fewest_to_show(level)
        assert (no_change_p([1.0] * fewest) or 0) < level <= (no_change_p([1.0] * (fewest - 1)) or 0)
