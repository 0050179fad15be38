"""How well a metric stands in for a verdict: the paper's figures from its own tables, and closed forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rtc_inspector.core.metrics.paired import holm
from rtc_inspector.core.metrics.statistics import numbered
from rtc_inspector.core.metrics.validity import (
    Floats,
    auc,
    auc_difference_p,
    clustered_auc,
    correlation,
    paired_t,
    pearson,
    pearson_p,
    power,
    rank_correlation,
    shape,
    sign_flips,
    tau,
    ties,
    welch_t,
    within,
)

RNG = np.random.default_rng(3)
HUMANEVAL, MBPP = 164, 257
TABLES = {  # metric: its mean for each of ten models on HumanEval, on MBPP, and over all in Table 4
    "chrF": (
        (0.238, 0.156, 0.191, 0.398, 0.381, 0.427, 0.368, 0.433, 0.433, 0.482),
        (0.353, 0.201, 0.207, 0.360, 0.299, 0.317, 0.349, 0.487, 0.445, 0.469),
        0.350,
    ),
    "BLEU": (
        (0.111, 0.032, 0.058, 0.251, 0.213, 0.260, 0.199, 0.267, 0.266, 0.325),
        (0.151, 0.032, 0.036, 0.160, 0.085, 0.128, 0.140, 0.317, 0.246, 0.301),
        0.175,
    ),
    "CB-F1": (
        (0.500, 0.705, 0.737, 0.809, 0.799, 0.832, 0.800, 0.830, 0.838, 0.857),
        (0.807, 0.755, 0.752, 0.825, 0.749, 0.802, 0.809, 0.857, 0.844, 0.862),
        0.792,
    ),
}
PASSING = (
    (0.366, 0.018, 0.024, 0.543, 0.500, 0.598, 0.488, 0.652, 0.567, 0.665),
    (0.533, 0.027, 0.012, 0.529, 0.494, 0.366, 0.451, 0.619, 0.786, 0.802),
)


def test_table_4_s_moments_are_the_population_s() -> None:
    """35 + 2 exact matches of 10 models on 164 + 257 problems."""
    values = np.zeros(10 * (HUMANEVAL + MBPP))
    values[:37] = 1
    found = shape(values)
    assert (found.mean, found.sd) == pytest.approx((0.00879, 0.0933), abs=5e-5)
    assert found.skewness == pytest.approx(10.526, abs=5e-4) and found.kurtosis == pytest.approx(108.793, abs=5e-4)
    assert (found.median, found.midhinge, found.lowest, found.highest) == (0, 0, 0, 1)


@pytest.mark.parametrize("name", TABLES)
def test_table_4_s_means_follow_from_tables_1_and_2(name: str) -> None:
    humaneval, mbpp, overall = TABLES[name]
    mean = (HUMANEVAL * np.mean(humaneval) + MBPP * np.mean(mbpp)) / (HUMANEVAL + MBPP)
    assert mean == pytest.approx(overall, abs=6e-4)


@pytest.mark.parametrize(("name", "r"), [("chrF", (0.96, 0.93)), ("BLEU", (0.96, 0.87)), ("CB-F1", (0.52, 0.83))])
def test_metrics_rank_the_paper_s_models_far_better_than_its_programs(name: str, r: tuple[float, float]) -> None:
    for means, passing, expected in zip(TABLES[name][:2], PASSING, r, strict=True):
        found = correlation(np.array(means), np.array(passing))
        assert found is not None and found.value == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize(
    ("r", "p"), [(0.16220, 3.28e-26), (0.18566, 5.83e-34), (0.10299, 2.11e-11)], ids=["CB-F1", "EDIT-SIM", "BERTScore"]
)
def test_the_paper_s_p_values_follow_from_its_correlations(r: float, p: float) -> None:
    assert pearson_p(r, 4_210) == pytest.approx(p, rel=0.01)


def test_a_metric_that_does_not_vary_has_no_moments_and_no_correlation() -> None:
    constant, other = np.ones(20), RNG.random(20)
    found = shape(constant)
    assert (found.skewness, found.kurtosis, found.sd) == (None, None, 0.0)
    assert correlation(constant, other) is tau(constant, other) is rank_correlation(other, constant) is None
    assert within(constant, other > 0.5, np.arange(20) // 4) is None


def test_a_metric_that_is_the_verdict() -> None:
    passed = np.arange(40) % 3 == 0
    clusters = np.arange(40) // 4
    found = correlation(passed.astype(float), passed.astype(float), clusters)
    assert found is not None and found.value == pytest.approx(1.0) and found.p == 0.0
    area = clustered_auc(passed.astype(float), passed, clusters)
    assert area is not None and area.value == 1.0 and area.high == 1.0
    assert area.low == pytest.approx(0.025 ** (1 / 10)), "ten problems that agree prove no certainty"
    opposite = clustered_auc(1.0 - passed, passed, clusters)
    assert opposite is not None and (opposite.value, opposite.low) == (0.0, 0.0)
    assert clustered_auc(np.arange(40.0), np.ones(40, dtype=bool), clusters) is None


def test_auc_is_that_of_all_pairs_and_its_error_that_of_delong() -> None:
    values, passed = np.round(RNG.random(60), 1), RNG.random(60) < 0.5
    alone = np.arange(60)
    found = clustered_auc(values, passed, alone)
    assert found is not None and found.value == pytest.approx(auc(values.tolist(), passed.tolist()))
    won, lost = values[passed], values[~passed]
    better = (won[:, None] > lost).astype(float) + (won[:, None] == lost) / 2
    delong = better.mean(1).var(ddof=1) / len(won) + better.mean(0).var(ddof=1) / len(lost)
    assert float(found.influence @ found.influence) == pytest.approx(delong, rel=0.05)


def test_an_interval_counts_problems_not_candidates() -> None:
    """Each candidate copied ten times over says nothing new."""
    values, passed = RNG.random(50), RNG.random(50) < 0.4
    once = clustered_auc(values, passed, np.arange(50))
    often = clustered_auc(np.repeat(values, 10), np.repeat(passed, 10), np.repeat(np.arange(50), 10))
    assert once is not None and often is not None
    assert (often.value, often.low, often.high) == pytest.approx((once.value, once.low, once.high))
    r = correlation(np.repeat(values, 10), np.repeat(passed, 10).astype(float), np.repeat(np.arange(50), 10))
    same = correlation(values, passed.astype(float), np.arange(50))
    assert r is not None and same is not None and (r.low, r.high) == pytest.approx((same.low, same.high))
    assert r.p < same.p, "the usual formula does count candidates"


def test_the_interval_covers() -> None:
    """200 problems of 4 alike candidates each, the true AUC known by construction."""
    rng, inside = np.random.default_rng(5), 0
    for _ in range(200):
        shift = rng.normal(size=(60, 1))
        passed = rng.random((60, 4)) < 0.5
        values = rng.normal(size=(60, 4)) + shift + passed
        found = clustered_auc(values.ravel(), passed.ravel(), np.repeat(np.arange(60), 4))
        assert found is not None and found.low is not None and found.high is not None
        inside += found.low <= 0.6914 <= found.high  # the normal distribution at 1 / sqrt(2 (1 + 1))
    assert 182 <= inside <= 199


def test_two_metrics_are_told_apart_by_what_problems_add() -> None:
    passed = RNG.random(400) < 0.5
    good, noise = passed + RNG.normal(size=400), RNG.normal(size=400)
    clusters = np.arange(400) // 5
    areas = [clustered_auc(values, passed, clusters) for values in (good, noise, good)]
    assert areas[0] is not None and areas[1] is not None and areas[2] is not None
    assert auc_difference_p(areas[0], areas[1]) < 1e-6
    assert auc_difference_p(areas[0], areas[2]) == 1.0


def test_inside_problems_what_tells_problems_apart_does_not_count() -> None:
    """The value is the problem's share that passes: it tells problems apart, and nothing inside any."""
    clusters = np.repeat(np.arange(30), 8)
    share = np.repeat(np.linspace(0.1, 0.9, 30), 8)
    passed = RNG.random(240) < share
    whole = correlation(share, passed.astype(float))
    assert whole is not None and whole.value > 0.3
    assert within(share, passed, clusters) is None
    noisy = within(share + passed * 0.01, passed, clusters)
    assert noisy is not None and noisy.value == pytest.approx(1.0)


def test_spearman_is_pearson_of_ranks_and_tau_counts_pairs() -> None:
    first, second = np.round(RNG.random(30), 1), np.round(RNG.random(30), 1)
    ranks = [[(side < value).sum() + (side == value).sum() / 2 for value in side] for side in (first, second)]
    found = rank_correlation(first, second)
    assert found is not None and found.value == pytest.approx(pearson(*ranks))
    signs = [
        (np.sign(first[i] - first[j]), np.sign(second[i] - second[j])) for i, j in itertools.combinations(range(30), 2)
    ]
    agreeing = sum(a * b for a, b in signs)
    untied = [sum(sign[side] != 0 for sign in signs) for side in (0, 1)]
    kendall = tau(first, second)
    assert kendall is not None and kendall.value == pytest.approx(agreeing / np.sqrt(untied[0] * untied[1]))


def means(values: Floats) -> dict[object, float]:
    return dict(enumerate(values.tolist()))


def test_identical_systems_tie_everywhere_and_nothing_tells_them_apart() -> None:
    one = means(RNG.random(20))
    assert ties([one, one, one]) == 1.0
    assert ties([one]) is None and ties([one, {}]) is None
    assert power([one, one], paired_t) == {}
    assert ties([one, {problem: value + 5e-7 for problem, value in one.items()}]) == 1.0
    assert ties([one, {problem: value + 5e-6 for problem, value in one.items()}]) == 0.0


@pytest.mark.parametrize("test", [paired_t, sign_flips])
def test_one_difference_throughout_is_certain_one_way(test: object) -> None:
    one = RNG.random(10)
    p = power([means(one), means(one + 0.1)], test)  # type: ignore[arg-type]
    assert p[0, 1] == pytest.approx(0.0 if test is paired_t else 1 / 1024) and p[1, 0] == 1.0


def test_at_most_half_of_the_ordered_pairs_can_be_told_apart() -> None:
    """The paper's 58 of 90 cannot come from the test it describes: one way's p is 1 less the other's."""
    systems = [means(RNG.random(421) + at) for at in range(10)]
    for test in (paired_t, welch_t):
        p = power(systems, test)
        assert len(p) == 90 and sum(each < 0.05 / 90 for each in p.values()) == 45
        assert all(p[i, j] + p[j, i] == pytest.approx(1.0) for i, j in p)


def test_t_tests_are_scipy_s() -> None:
    from scipy.stats import ttest_ind, ttest_rel

    one, other = RNG.random(30), RNG.random(30) + 0.1
    assert paired_t(means(one), means(other)) == pytest.approx(ttest_rel(one, other, alternative="less").pvalue)
    welch = ttest_ind(one, other, equal_var=False, alternative="less").pvalue
    assert welch_t(means(one), means(other)) == pytest.approx(welch)


def test_random_signs_agree_with_t_and_names_become_numbers() -> None:
    one, other = means(RNG.random(60)), means(RNG.random(60) + 0.05)
    assert sign_flips(one, other) == pytest.approx(paired_t(one, other), abs=0.03)
    assert numbered(["b", "a", "b"]).tolist() == [0, 1, 0]
    assert holm([0.01, 0.04]) == [0.02, 0.04]
