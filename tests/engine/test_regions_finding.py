"""From a project's files and its coverage to what can be sampled."""

from __future__ import annotations

from dataclasses import replace

import pytest
from real_modules import as_file

from rtc_inspector.core.errors import Cancelled
from rtc_inspector.core.regions.candidates import find_regions
from rtc_inspector.core.settings import RegionSettings
from rtc_inspector.core.types import CoverageMap

TEXT = "FIRST = 'a statement that is long enough'\nSECOND = 'another one that is long enough'\n"
EVERY_LINE = frozenset({1, 2})


def quiet(stage: str, done: int, total: int) -> None:
    pass


def test_covered_regions_of_all_files_come_weighed() -> None:
    files = [as_file(TEXT, "a.py"), as_file(TEXT, "b.py"), as_file(TEXT, "unused.py")]
    coverage = CoverageMap(("t::a",), {}, {"a.py": EVERY_LINE, "b.py": EVERY_LINE})
    found = find_regions(files, coverage, RegionSettings(), quiet)
    assert {region.path for region in found.regions} == {"a.py", "b.py"}
    assert len(found.regions) == 6
    covered = {(each.path, at) for each in found.regions for at in range(each.span.start, each.span.end)}
    assert sum(region.weight for region in found.regions) == pytest.approx(len(covered))
    assert found.problems == ()


def test_test_files_are_never_taken_though_they_run() -> None:
    coverage = CoverageMap(("t::a",), {}, {"test_a.py": EVERY_LINE})
    files = [replace(as_file(TEXT, "test_a.py"), is_test=True)]
    assert find_regions(files, coverage, RegionSettings(), quiet).regions == ()


def test_a_file_that_cannot_be_taken_costs_only_itself() -> None:
    files = [as_file("x = = 1\n", "broken.py"), as_file(TEXT, "good.py")]
    coverage = CoverageMap(("t::a",), {}, {"broken.py": EVERY_LINE, "good.py": EVERY_LINE})
    found = find_regions(files, coverage, RegionSettings(), quiet)
    assert {region.path for region in found.regions} == {"good.py"}
    assert len(found.problems) == 1
    assert "broken.py" in found.problems[0]


def test_progress_can_cancel() -> None:
    def stop(stage: str, done: int, total: int) -> None:
        raise Cancelled

    coverage = CoverageMap(("t::a",), {}, {"a.py": EVERY_LINE})
    with pytest.raises(Cancelled):
        find_regions([as_file(TEXT, "a.py")], coverage, RegionSettings(), stop)
