"""Cohen's kappa and Krippendorff's alpha against the worked examples they were published with."""

from __future__ import annotations

import random
import statistics
from itertools import chain, repeat

import pytest

from rtc_inspector.core.analyses import agreement
from rtc_inspector.core.analyses.agreement import (
    ALPHA,
    KAPPA,
    cohen_kappa,
    confusion_table,
    krippendorff_alpha,
    measure,
)
from rtc_inspector.core.store.rows import LabelRow
from rtc_inspector.ui.labels.queue import disputed_samples


def pairs(both_yes: int, yes_no: int, no_yes: int, both_no: int) -> list[tuple[str, str]]:
    counts = {("y", "y"): both_yes, ("y", "n"): yes_no, ("n", "y"): no_yes, ("n", "n"): both_no}
    return list(chain.from_iterable(repeat(pair, times) for pair, times in counts.items()))


@pytest.mark.parametrize(
    ("table", "kappa"),
    [((20, 5, 10, 15), 0.4), ((45, 15, 25, 15), 0.1304), ((25, 35, 5, 35), 0.2593)],
)
def test_kappa_of_well_known_tables(table: tuple[int, int, int, int], kappa: float) -> None:
    assert cohen_kappa(pairs(*table)).value == pytest.approx(kappa, abs=5e-5)


def test_kappa_of_three_categories() -> None:
    shares = ((0.25, 0.13, 0.12), (0.12, 0.02, 0.16), (0.03, 0.15, 0.02))
    given = [
        (str(row), str(column))
        for row, line in enumerate(shares)
        for column, share in enumerate(line)
        for _ in range(round(share * 200))
    ]
    agreed = sum(one == other for one, other in given) / 200
    chance = sum(sum(shares[n]) * sum(line[n] for line in shares) for n in range(3))
    assert cohen_kappa(given).value == pytest.approx((agreed - chance) / (1 - chance))


KRIPPENDORFF = {
    "A": "1 2 3 3 2 1 4 1 2 . . .",
    "B": "1 2 3 3 2 2 4 1 2 5 . 3",
    "C": ". 3 3 3 2 3 4 2 2 5 1 .",
    "D": "1 2 3 3 2 4 4 1 2 5 1 .",
}
"""Four observers, twelve units, labels missing: example C of Krippendorff, Computing Alpha-Reliability."""


def test_alpha_of_krippendorffs_own_example() -> None:
    units = [
        [label for label in unit if label != "."] for unit in zip(*map(str.split, KRIPPENDORFF.values()), strict=True)
    ]
    found = krippendorff_alpha(units)
    assert found.value == pytest.approx(0.743, abs=5e-4)
    assert found.n == 11
    assert found.low is not None and found.high is not None and 0.3 < found.low < 0.743 < found.high <= 1


def test_alpha_of_two_observers_and_two_values() -> None:
    """The same author's example A: ten units, alpha 0.095."""
    found = krippendorff_alpha(list(zip("0100000010", "1110010000", strict=True)))
    assert found.value == pytest.approx(0.095, abs=5e-4)


def test_the_interval_is_the_one_of_a_plain_bootstrap(monkeypatch: pytest.MonkeyPatch) -> None:
    given = pairs(20, 5, 10, 15)
    found = cohen_kappa(given)
    assert cohen_kappa(given) == found
    choose = random.Random(1)
    monkeypatch.setattr(agreement, "RESAMPLES", 1)
    plain = [cohen_kappa(choose.choices(given, k=50)).value or 0.0 for _ in range(1000)]
    cuts = statistics.quantiles(plain, n=40)
    assert (found.low, found.high) == (pytest.approx(cuts[0], abs=0.03), pytest.approx(cuts[-1], abs=0.03))


def test_full_agreement_is_not_certainty() -> None:
    few, many = cohen_kappa(pairs(3, 0, 0, 3)), cohen_kappa(pairs(100, 0, 0, 100))
    assert few.value == many.value == 1.0
    assert few.low is not None and many.low is not None and few.low < 0.2 < 0.95 < many.low < 1


def test_an_annotator_of_one_label_gives_no_interval() -> None:
    found = cohen_kappa(pairs(5, 0, 4, 0))
    assert (found.value, found.low, found.high) == (pytest.approx(0.0), None, None)


@pytest.mark.parametrize("given", [[], [("y", "y")] * 8])
def test_nothing_to_tell_apart_is_undefined(given: list[tuple[str, str]]) -> None:
    found = cohen_kappa(given)
    assert (found.value, found.low, found.high, found.n) == (None, None, None, len(given))
    assert krippendorff_alpha(given).value is None


def labels(**said: str) -> list[LabelRow]:
    """One letter a sample and annotator; a dot is no label."""
    return [
        LabelRow(0, sample, name, mode, "", "")
        for name, modes in said.items()
        for sample, mode in enumerate(modes)
        if mode != "."
    ]


def test_two_annotators_are_measured_by_kappa_on_what_both_labelled() -> None:
    found = measure(labels(Ann="aabb.", Bob="aabab"))
    assert (found.coefficient, found.samples, found.disputed) == (KAPPA, 4, 1)
    assert found.annotators == (("Ann", 4), ("Bob", 5))
    assert found.overall == cohen_kappa([("a", "a"), ("a", "a"), ("b", "b"), ("b", "a")])
    (pair,) = found.pairs
    assert (pair.same, pair.estimate) == (0.75, found.overall)
    assert found.same == 0.75
    assert pair.confusion == (("a", "a", 2), ("b", "b", 1), ("b", "a", 1))
    assert confusion_table(pair) == (("a", "b"), ((2, 0), (1, 1)))


def test_three_are_measured_by_alpha_and_each_mode_against_the_rest() -> None:
    given = labels(Ann="aabbc", Bob="aabac", Cyd="ab..c")
    found = measure(given)
    assert found.coefficient == ALPHA
    assert found.overall == krippendorff_alpha(["aaa", "aab", "bb", "ba", "ccc"])
    assert found.same == (3 + 1 + 1 + 0 + 3) / 11
    assert {mode.mode: mode.times for mode in found.modes} == {"a": 6, "b": 4, "c": 3}
    certain = next(mode for mode in found.modes if mode.mode == "c")
    assert certain.estimate.value == 1.0
    assert len(found.pairs) == 3
    assert disputed_samples(given) == {1, 3}


def test_one_annotator_agrees_with_nobody() -> None:
    found = measure(labels(Ann="ab"))
    assert (found.coefficient, found.samples, found.overall.value, found.pairs) == ("", 0, None, ())


def test_of_several_modes_labels_are_the_same_as_a_whole_and_each_mode_by_itself() -> None:
    given = [
        LabelRow(0, sample, name, mode, "", "")
        for name, modes in {"Ann": ["a b", "a", "c", "a"], "Bob": ["b a", "a b", "c", ""]}.items()
        for sample, mode in enumerate(modes)
    ]
    found = measure(given)
    assert (found.samples, found.disputed, found.same) == (3, 1, 2 / 3)
    assert found.annotators == (("Ann", 4), ("Bob", 3))  # a note alone is no label
    assert found.overall == cohen_kappa([("a b", "a b"), ("a", "a b"), ("c", "c")])
    assert {each.mode: each.times for each in found.modes} == {"a": 4, "b": 3, "c": 2}
    by_mode = {each.mode: each.estimate for each in found.modes}
    assert by_mode["a"] == cohen_kappa([("a", "a"), ("a", "a"), ("", "")])
    assert by_mode["b"] == cohen_kappa([("b", "b"), ("", "b"), ("", "")])
    assert disputed_samples(given) == {1}
