"""What a synthesis trip says of a project that gives it nothing to draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from core.errors import ProjectError
from core.settings import RegionSettings
from core.trips.synthesis import SynthesisTrip
from core.types import Candidate, Codebase, CoverageMap, SourceFile, Suite, Verdict


class Unasked:
    """An oracle that has nothing to judge."""

    name, image_digest = "tests/unasked", ""

    def suite(self, progress: Callable[[str, int, int], None]) -> Suite:
        raise AssertionError

    def judge(self, candidate: Candidate, tests: Sequence[str], *, every_test: bool = False) -> Verdict:
        raise AssertionError

    def close(self) -> None:
        """Nothing runs."""


@pytest.mark.parametrize("lines", [{}, {1: frozenset({0})}])
def test_a_project_without_a_candidate_is_told_so(lines: dict[int, frozenset[int]]) -> None:
    """Nothing is covered, or what is covered is too short; not: the tests notice no deletion."""
    coverage = CoverageMap(("test_a.py::test",), {"a.py": lines}, {})
    file = SourceFile("a.py", "x = 1\n", "utf-8", is_test=False)
    trip = SynthesisTrip(
        Codebase(Path("/project"), (file,), ()),
        Suite((), {}, coverage, 0.0, "3.11"),
        Unasked(),
        RegionSettings(),
        lambda text: None,
    )
    assert list(trip.items(5, 0, {}, lambda *_: None)) == []
    with pytest.raises(ProjectError, match="no region to draw: its tests run no statements of 32 to 384 characters"):
        trip.shortfall(0, 5)
