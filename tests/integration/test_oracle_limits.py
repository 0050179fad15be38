"""Time limits: what is paid once a process, and a machine that is slower than it was, are no candidate's fault."""

from __future__ import annotations

from pathlib import Path

from oracle_projects import Opened, write

from rtc_inspector.core.regions.candidates import Ahead
from rtc_inspector.core.settings import RegionSettings, RunSettings
from rtc_inspector.core.trips.judged import Judged
from rtc_inspector.core.trips.synthesis import SynthesisTrip
from rtc_inspector.core.types import NEAR_LIMIT, Outcome
from rtc_inspector.core.waiting import in_thread

FLOOR = 0.2
SLOW = """import functools
import time


@functools.lru_cache(None)
def table():
    time.sleep(0.4)
    return {"a": 1, "b": 2}


def value(name):
    found = table()[name]
    return found + 1


def delay(path):
    with open(path) as file:
        return float(file.read())
"""
FIXTURE = """import time

import pytest


@pytest.fixture(scope="session")
def server():
    time.sleep(0.4)
    return "up"
"""
TESTS = """from slow import value


def test_first(server): assert value("a") == 2 and server == "up"
def test_second(server): assert value("b") == 3 and server == "up"
def test_third(server): assert value("a") != value("b") and server == "up"
"""


def opened(root: Path) -> Opened:
    return Opened(root, test_timeout_floor=FLOOR, identity_runs=2)


def test_what_is_made_once_may_fall_to_any_test_and_costs_no_region(tmp_path: Path) -> None:
    """A fixture of the session and a cached table, each made by whichever test comes first in a process."""
    project = opened(write(tmp_path, {"slow.py": SLOW, "conftest.py": FIXTURE, "test_slow.py": TESTS}))
    try:
        for test in project.tests:
            good = project.candidate("slow.py", "return found + 1", f"return 1 + found  # {test}")
            assert project.oracle.judge(good, [test]).outcome is Outcome.PASS, test
        bad = project.candidate("slow.py", "return found + 1", "return found")
        assert project.oracle.judge(bad, project.tests).outcome is Outcome.FAIL
        endless = project.candidate("slow.py", "return found + 1", "while True: pass")
        assert project.oracle.judge(endless, project.tests).outcome is Outcome.TIMEOUT
        judged = Judged(project.codebase, project.oracle, project.suite)
        settings = RunSettings(region=RegionSettings(min_characters=10))
        ahead = [in_thread(lambda: Ahead(project.codebase.files, settings.region))]
        trip = SynthesisTrip(judged, settings, lambda text: None, ahead)
        items = list(trip.items(9, 0, {}, lambda *_: None))
        assert items and all(item.admitted for item in items), [item.reason for item in items]
    finally:
        project.oracle.close()


def test_a_candidate_has_the_time_that_the_unmodified_project_needs_now(tmp_path: Path) -> None:
    """As on a machine that has become busy: the delay that a file of the project names grows after learning."""
    tests = (
        "import pathlib, time\nfrom slow import delay\n"
        "def test_delay():\n    seconds = delay(pathlib.Path(__file__).with_name('delay.txt'))\n"
        "    time.sleep(seconds)\n    assert seconds >= 0\n"
    )
    project = opened(write(tmp_path, {"slow.py": SLOW, "test_slow.py": tests, "delay.txt": "0.01"}))
    try:
        (tmp_path / "delay.txt").write_text("0.5")
        good = project.candidate("slow.py", "return float(file.read())", "return float(file.read().strip())")
        assert project.oracle.judge(good, project.tests).outcome is Outcome.PASS
        bad = project.candidate("slow.py", "return float(file.read())", "return -1.0")
        assert project.oracle.judge(bad, project.tests).outcome is Outcome.FAIL
        endless = project.candidate("slow.py", "return float(file.read())", "while True: pass")
        assert project.oracle.judge(endless, project.tests).outcome is Outcome.TIMEOUT
    finally:
        project.oracle.close()


def test_a_verdict_near_its_time_limit_is_marked(tmp_path: Path) -> None:
    """More than half of a second, or less than twice as much: another machine may say something else of it."""
    files = {"near.py": "import time\n\n\ndef value():\n    return 1\n"}
    files["test_near.py"] = "from near import value\n\n\ndef test_value(): assert value() == 1\n"
    project = Opened(write(tmp_path, files), test_timeout_floor=1.0, identity_runs=2)

    def judged(body: str) -> tuple[Outcome, bool]:
        verdict = project.oracle.judge(project.candidate("near.py", "return 1", body), project.tests, every_test=True)
        return verdict.outcome, NEAR_LIMIT in verdict.flags

    try:
        assert judged("return 0 + 1") == (Outcome.PASS, False)
        assert judged("time.sleep(0.65); return 1") == (Outcome.PASS, True)
        assert judged("time.sleep(1.4); return 1") == (Outcome.TIMEOUT, True)
        assert judged("while True: pass") == (Outcome.TIMEOUT, False)
    finally:
        project.oracle.close()
