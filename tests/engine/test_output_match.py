"""Test output match, classes and what a chain keeps, against figures worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import pytest
from factories import code_row

from core.analyses.chain import drop
from core.metrics.output_match import Class, class_of, kept, match, parted, tom
from core.trips.chain import ChainTrip
from core.types import Item, Outcome, Span, TestResult, Verdict


def outputs(*signatures: str) -> dict[str, str]:
    return {f"t{n}": signature for n, signature in enumerate(signatures)}


def test_the_example_of_the_authors_code() -> None:
    one = outputs("pass", "pass", "value 10", "value 4", "error ValueError: bad")
    other = outputs("pass", "pass", "value 10", "value 7", "error TypeError: bad")
    assert tom(one, other) == 0.6
    assert parted(one, other) == ["t3", "t4"]


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("pass", "pass", True),
        ("value 1", "value 1", True),
        ("value '1'", "value 1", False),
        ("pass", "value 1", False),
        ("error ValueError: no", "error ValueError: no", True),
        ("error ValueError: no", "error ValueError: none", False),
        *((what, what, False) for what in ("timeout", "memory", "crash", "missing")),
    ],
)
def test_what_matches(one: str, other: str, alike: bool) -> None:
    assert match(one, other) is alike


def test_unstable_tests_are_left_out_and_none_left_is_no_figure() -> None:
    assert tom(outputs("unstable", "pass"), outputs("value 1", "pass")) == 1.0
    assert tom(outputs("pass", "pass"), outputs("unstable", "value 2")) == 0.0
    assert tom(outputs("unstable"), outputs("pass")) is None


def test_a_test_that_only_one_program_has_matches_nothing() -> None:
    assert tom({"a": "pass", "b": "pass"}, {"a": "pass"}) == 0.5


class Troubled:
    """An oracle that judges once and then has trouble of its own."""

    def __init__(self) -> None:
        self.verdicts = [
            Verdict(Outcome.FAIL, 0.1, (TestResult("t", "failed", signature="value 1"),)),
            Verdict(Outcome.INFRASTRUCTURE, 0.1, detail="The sandbox did not answer."),
        ]

    def judge(self, candidate: object, tests: Sequence[str], *, every_test: bool = False) -> Verdict:
        return self.verdicts.pop(0)


def test_trouble_of_ours_is_no_unstable_program() -> None:
    """Else every test would be left out, and the chain had no TOM though nothing is wrong with its programs."""

    class Trip(ChainTrip):
        def __init__(self) -> None:
            self._oracle = Troubled()  # type: ignore[assignment]
            self._chained = SimpleNamespace(candidate=lambda *_, **__: None)  # type: ignore[assignment]

    item = Item("k", "problem", "a.py", Span(0, 1), 1, 1, "x", ("t",))
    assert Trip().judge(item, code_row("y")).outcome is Outcome.INFRASTRUCTURE


def test_classes() -> None:
    assert [class_of(*pair) for pair in ((True, True), (True, False), (False, False), (False, True))] == list(Class)


@pytest.mark.parametrize(
    ("toms", "fixed", "wanted"),
    [
        ([1.0] * 5, None, [True] * 5),
        ([1.0, 0.5, 1.0, 1.0, 1.0], None, [True, False, False, False, False]),
        ([1.0, 1.0], None, [True, True, None, None, None]),
        ([1.0], 1, [True] * 5),
        ([], 0, [True] * 5),
        ([0.9], 1, [False] * 5),
        ([1.0, None, 1.0], None, [True, None, None, None, None]),
    ],
)
def test_what_a_chain_keeps(toms: list[float | None], fixed: int | None, wanted: list[bool | None]) -> None:
    assert kept(toms, 5, fixed) == wanted


@pytest.mark.parametrize(
    ("first", "ssc", "lost", "one", "sc", "gone"),
    [
        # Table 1, HumanEval+ of 163 problems: GPT-3.5, GPT-4 and StarChat, as the whole counts behind the percentages.
        (117, 66, 43.6, 92, 82, 10.9),
        (122, 104, 14.8, 137, 124, 9.5),
        (41, 9, 78.0, 32, 18, 43.8),
    ],
)
def test_drops_of_the_paper(first: int, ssc: int, lost: float, one: int, sc: int, gone: float) -> None:
    n = 163
    accuracy, consistency = drop(first / n, ssc / n), drop(one / n, sc / n)
    assert accuracy is not None and consistency is not None
    assert (round(100 * accuracy, 1), round(100 * consistency, 1)) == (lost, gone)
    assert drop(0.0, 0.0) is None and drop(None, 0.5) is None
