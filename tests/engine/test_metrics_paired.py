"""McNemar's test against published and enumerated figures; the number of items needed against simulation."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from core.metrics.paired import detectable, fair_coin, holm, items_to_decide, mcnemar
from core.metrics.statistics import p_value


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
    test = mcnemar([True, True, True, False, False], [True, False, False, True, False])
    assert (test.both, test.only_first, test.only_second, test.neither) == (1, 2, 1, 1)
    assert test.p == 1.0
    with pytest.raises(ValueError):
        mcnemar([True], [])
    with pytest.raises(ValueError):
        fair_coin(3, 2)


def test_holm_adjusts_in_place_and_never_reverses_the_order() -> None:
    """The worked example of Holm's procedure: 0.01, 0.04, 0.03, 0.005 become 0.03, 0.06, 0.06, 0.02."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([0.2]) == [0.2]


def test_the_number_needed_gives_its_power_when_drawn() -> None:
    """Differences with mean 0.1 and spread 0.5 need n items; samples of n show it in about four of five cases."""
    differences = [0.1 + 0.5, 0.1 - 0.5] * 50
    needed = items_to_decide(differences)
    assert needed is not None
    rng = np.random.default_rng(0)
    drawn = rng.choice(differences, size=(4_000, needed))
    means, errors = drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / math.sqrt(needed)
    assert np.mean(means - 1.96 * errors > 0) == pytest.approx(0.8, abs=0.03)


def test_the_number_needed_grows_with_the_square_of_a_smaller_difference() -> None:
    far, near = ([mean - 0.4, mean + 0.4] * 100 for mean in (0.2, 0.1))
    assert items_to_decide(near) == pytest.approx(4 * (items_to_decide(far) or 0), rel=0.05)


def test_where_all_differ_by_the_same_the_bound_decides() -> None:
    for value, reach in ((1.0, 1.0), (-0.5, 2.0)):
        needed = items_to_decide([value] * 3, reach)
        assert needed is not None
        assert p_value([value] * needed, -reach, reach) < 0.05 <= p_value([value] * (needed - 1), -reach, reach)


def test_no_number_where_none_can_be_told() -> None:
    assert items_to_decide([0.0, 0.0]) is None
    assert items_to_decide([1.0, -1.0]) is None
    assert items_to_decide([1.0]) is None
    assert detectable([0.0, 0.0]) is None
    assert detectable([0.5]) is None
    assert detectable([1.0, -1.0] * 50) == pytest.approx(2.8 * math.sqrt(1.0 / 99), rel=0.01)
