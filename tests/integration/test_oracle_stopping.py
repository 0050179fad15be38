"""A stop is heard within a second, and what cannot be judged is refused before any test runs."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from oracle_projects import write

from rtc_inspector.core.errors import Cancelled, UserError
from rtc_inspector.core.run.unstored import judge_span, sample_items
from rtc_inspector.core.settings import OracleSettings, RegionSettings, RunSettings
from rtc_inspector.core.types import Span

ORACLE = OracleSettings(sandbox="bubblewrap", cache=False, identity_runs=2, test_timeout_floor=20.0)
FILES = {
    "thing.py": (
        "def count(remaining):\n    while remaining > 0:\n"
        "        remaining = max(remaining - 1, 0)  # without it, it never ends\n    return remaining\n"
    ),
    "test_thing.py": "import thing\ndef test_count(): assert thing.count(3) == 0\n",
}


def ignore(text: str) -> None:
    """Nobody reads notices here."""


def test_a_stop_is_heard_while_a_region_is_judged(tmp_path: Path) -> None:
    asked: list[float] = []

    def report(stage: str, done: int, total: int) -> None:
        if stage == "admitting regions":
            asked.append(time.monotonic())
            if asked[-1] > asked[0] + 1.0:
                raise Cancelled

    settings = RunSettings(regions=1, oracle=ORACLE, region=RegionSettings(max_characters=40))
    with pytest.raises(Cancelled):
        list(sample_items(write(tmp_path, FILES), settings, ignore, report))
    assert time.monotonic() - asked[-1] < 5.0  # a quarter of what the test under way may take


def test_a_span_outside_the_file_is_refused_before_any_test_runs(tmp_path: Path) -> None:
    stages: list[str] = []
    with pytest.raises(UserError, match="do not lie"):
        judge_span(
            write(tmp_path, FILES),
            "thing.py",
            Span(0, 10_000),
            "",
            ORACLE,
            ignore,
            lambda stage, done, total: stages.append(stage),
        )
    assert stages == []
