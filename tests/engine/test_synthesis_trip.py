"""What a synthesis trip says of a project that gives it nothing to draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path

import pytest

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.regions.candidates import Ahead
from rtc_inspector.core.settings import RegionSettings, RunSettings
from rtc_inspector.core.trips.judged import Judged
from rtc_inspector.core.trips.synthesis import SynthesisTrip
from rtc_inspector.core.types import Candidate, Codebase, CoverageMap, Outcome, SourceFile, Suite, Verdict
from rtc_inspector.core.waiting import in_thread

TEXT = "def f(x):\n    first = x + 1\n    return first\n\n\ndef g(x):\n    second = x + 2\n    return second\n"


def looked_ahead(file: SourceFile, region: RegionSettings) -> list[Future[Ahead]]:
    """The candidates of a file, as they were looked for when the project was opened."""
    return [in_thread(lambda: Ahead((file,), region))]


class Unasked:
    """An oracle that has nothing to judge."""

    name, image_digest = "tests/unasked", ""

    def suite(self, progress: Callable[[str, int, int], None]) -> Suite:
        raise AssertionError

    def judge(
        self,
        candidate: Candidate,
        tests: Sequence[str],
        *,
        every_test: bool = False,
        again: bool = False,
        confirm: bool = True,
    ) -> Verdict:
        raise AssertionError

    def close(self) -> None:
        """Nothing runs."""


@pytest.mark.parametrize("lines", [{}, {1: frozenset({0})}])
def test_a_project_without_a_candidate_is_told_so(lines: dict[int, frozenset[int]]) -> None:
    """Nothing is covered, or what is covered is too short; not: the tests notice no deletion."""
    coverage = CoverageMap(("test_a.py::test",), {"a.py": lines}, {})
    file = SourceFile("a.py", "x = 1\n", "utf-8", is_test=False)
    trip = SynthesisTrip(
        Judged(
            Codebase(Path("/project"), (file,), ()),
            Unasked(),
            Suite((), {}, coverage, 0.0, "3.11"),
        ),
        RunSettings(),
        lambda text: None,
        looked_ahead(file, RegionSettings()),
    )
    assert list(trip.items(5, 0, {}, lambda *_: None)) == []
    with pytest.raises(ProjectError, match="no region to draw: its tests run no statements of 32 to 384 characters"):
        trip.shortfall(0, 5)


class Saying(Unasked):
    """An oracle that says what it was told to: of deletions, and of the region's own text."""

    def __init__(self, deleted: Outcome, own: Outcome) -> None:
        self._deleted, self._own = deleted, own

    def judge(
        self,
        candidate: Candidate,
        tests: Sequence[str],
        *,
        every_test: bool = False,
        again: bool = False,
        confirm: bool = True,
    ) -> Verdict:
        outcome = self._own if candidate.new_text == candidate.file.text else self._deleted
        return Verdict(outcome, 0.0, (), f"test_a.py::test ended in {outcome}.")


@pytest.mark.parametrize(
    ("oracle", "said"),
    [
        (Saying(Outcome.PASS, Outcome.PASS), "the tests notice the deletion of none of them."),
        (
            Saying(Outcome.FAIL, Outcome.TIMEOUT),
            "of 4 of 4 drawn, its own text does not pass its tests (timeout): test_a.py::test ended in timeout.",
        ),
    ],
)
def test_the_reason_that_holds_for_most_regions_is_said(oracle: Saying, said: str) -> None:
    lines = {line: frozenset({0}) for line in range(1, 9)}
    file = SourceFile("a.py", TEXT, "utf-8", is_test=False)
    region = RegionSettings(min_characters=10, max_characters=20)
    trip = SynthesisTrip(
        Judged(
            Codebase(Path("/project"), (file,), ()),
            oracle,
            Suite((), {}, CoverageMap(("test_a.py::test",), {"a.py": lines}, {}), 0.0, "3.11"),
        ),
        RunSettings(region=region),
        lambda text: None,
        looked_ahead(file, region),
    )
    dropped = list(trip.items(9, 0, {}, lambda *_: None))
    assert dropped and not any(item.admitted for item in dropped)
    with pytest.raises(ProjectError) as raised:
        trip.shortfall(0, 9)
    assert raised.value.problem == f"No region of this project was admitted: {said}"


@pytest.mark.parametrize(("functions", "warned"), [(2, True), (30, False)])
def test_a_draw_beyond_a_fifth_of_what_is_disjoint_is_warned(functions: int, warned: bool) -> None:
    text = "".join(
        f"def f{n}(x):\n    total = x * {n} + {n} * {n} - x\n    return total\n\n\n" for n in range(functions)
    )
    lines = {number: frozenset({0}) for number in range(1, text.count("\n") + 1)}
    file = SourceFile("a.py", text, "utf-8", is_test=False)
    trip = SynthesisTrip(
        Judged(
            Codebase(Path("/project"), (file,), ()),
            Saying(Outcome.FAIL, Outcome.PASS),
            Suite((), {}, CoverageMap(("test_a.py::test",), {"a.py": lines}, {}), 0.0, "3.11"),
        ),
        RunSettings(),
        lambda text: None,
        looked_ahead(file, RegionSettings()),
    )
    items = list(trip.items(2, 0, {}, lambda *_: None))
    said = " ".join(trip.shortfall(len(items), 2))
    assert len(items) == 2
    assert trip.available >= len(items)
    assert (f"2 of about {functions} regions that do not overlap were drawn" in said) == warned
