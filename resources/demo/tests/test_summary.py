import pytest

from pocketlab.summary import (
    Moments,
    correlation,
    histogram,
    modes,
    outliers,
    quantile,
    ranks,
    trimmed_mean,
)


def test_quantile():
    for share, value in [(0, 1), (0.25, 1.75), (0.5, 3), (0.75, 5.5), (1, 10)]:
        assert quantile([10, 1, 4, 2], share) == value


def test_quantile_of_one_value():
    assert quantile([7], 0.3) == 7


def test_quantile_needs_values():
    with pytest.raises(ValueError, match="at least one value"):
        quantile([], 0.5)


def test_quantile_needs_a_share():
    for share in [-0.1, 1.1]:
        with pytest.raises(ValueError, match=f"between 0 and 1, not {share}"):
            quantile([1, 2], share)


def test_outliers():
    assert outliers([50, 1, 2, 3, 4, 5, -40]) == [50, -40]
    assert outliers([1, 2, 3, 4, 5]) == []


def test_a_value_on_the_margin_is_no_outlier():
    assert outliers([0, 4, 8, 12, 20], reach=1) == []
    assert outliers([-4, 4, 8, 12, 20.5], reach=1) == [20.5]
    assert outliers([-4.5, 4, 8, 12, 20], reach=1) == [-4.5]


def test_outliers_reach_one_and_a_half_by_default():
    assert outliers([-8, 4, 8, 12, 24]) == []
    assert outliers([-8, 4, 8, 12, 25]) == [25]


def test_modes():
    assert modes([3, 1, 3, 2, 1]) == [1, 3]
    assert modes([5, 5, 2, 2, 2]) == [2]


def test_no_modes():
    for values in [[], [1], [3, 1, 2]]:
        assert modes(values) == []


def test_trimmed_mean():
    assert trimmed_mean([100, 1, 2, 3, -50], 0.2) == 2
    assert trimmed_mean([100, 1, 2, 3, -6], 0.19) == 20
    assert trimmed_mean([0.1] * 10, 0) == 0.1


def test_trimmed_mean_of_nothing():
    for values, share in [([], 0), ([1, 2], 0.5)]:
        with pytest.raises(ValueError, match="nothing is left"):
            trimmed_mean(values, share)


def test_ranks():
    assert ranks([30, 10, 20]) == [3, 1, 2]
    assert ranks([5, 1, 5, 0]) == [3.5, 2, 3.5, 1]
    assert ranks([2, 2, 2, 9]) == [2, 2, 2, 4]
    assert ranks([]) == []


def test_correlation():
    assert correlation([1, 2, 3], [2, 4, 6]) == pytest.approx(1)
    assert correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert correlation([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(0.8)


def test_correlation_with_a_constant():
    assert correlation([1, 2, 3], [5, 5, 5]) == 0


def test_correlation_needs_pairs():
    for left, right in [([1], [1]), ([1, 2], [1, 2, 3])]:
        with pytest.raises(ValueError, match="two samples of one length"):
            correlation(left, right)


def test_histogram():
    assert histogram([0, 1, 1.5, 2, 3, 9, -1], [0, 1, 2, 3]) == [1, 2, 2]
    assert histogram([], [0, 1, 2]) == [0, 0]


def test_moments():
    moments = Moments.of([2, 4, 4, 4, 5, 5, 7, 9])
    assert moments.count == 8
    assert moments.mean == pytest.approx(5)
    assert moments.variance == pytest.approx(32 / 7)


def test_variance_of_too_few():
    assert Moments().variance == 0
    assert Moments.of([3]).variance == 0


def test_joined_moments_are_those_of_all_values():
    joined = Moments.of([1, 2, 3]).join(Moments.of([10, 20]))
    whole = Moments.of([1, 2, 3, 10, 20])
    assert joined.count == 5
    assert joined.mean == pytest.approx(whole.mean)
    assert joined.squares == pytest.approx(whole.squares)


def test_joining_nothing():
    assert Moments().join(Moments()) == Moments()
    assert Moments().join(Moments.of([4, 6])) == Moments(2, 5, 2)
    assert Moments.of([4, 6]).join(Moments()) == Moments(2, 5, 2)
