"""What is begun before a project's files are read judges it then, and ends where nothing comes of it."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest
from oracle_projects import shop, write
from sandbox_driver import needs_landlock, processes_with

from rtc_inspector.core.errors import ProjectError, TargetError
from rtc_inspector.core.oracle.begun import Begun, BegunSandbox, begin
from rtc_inspector.core.oracle.inside.supervise import descendants
from rtc_inspector.core.oracle.sessionplan import SessionPlan, make_plan, read_options
from rtc_inspector.core.oracle.zygote import Zygote
from rtc_inspector.core.run.unstored import judge_span
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.trips.judged import open_judged
from rtc_inspector.core.types import Outcome, Span
from rtc_inspector.core.waiting import no_poll

SETTINGS = OracleSettings(sandbox="bubblewrap", cache=False)


def started() -> set[int]:
    return processes_with("inside/main.py") & set(descendants())


def planned(begun: Begun, root: Path, settings: OracleSettings) -> tuple[BegunSandbox, SessionPlan]:
    sandbox, interpreter = begun.found(print, no_poll)
    plan = make_plan(root, interpreter, read_options(root), settings)
    return BegunSandbox(sandbox, begun), plan.with_config(collect=True, trace=True)


@pytest.mark.parametrize("name", ["bubblewrap", "landlock"])
def test_the_process_that_was_begun_collects_the_suite(tmp_path: Path, name: str) -> None:
    if name == "landlock":
        needs_landlock()
    root, settings = shop(tmp_path), replace(SETTINGS, sandbox=name)
    with closing(Begun(root, settings)) as begun:
        sandbox, plan = planned(begun, root, settings)
        before = started()
        with closing(Zygote(sandbox, plan)) as zygote:
            assert zygote.greeting["tests"] and zygote.greeting["trouble"] == ""
            assert before <= started() and len(started()) == 2  # a program, and what watches over it
            if name == "bubblewrap":  # else one process at a time has the scratch folder
                with closing(Zygote(sandbox, plan)) as another:
                    assert another.greeting["tests"] == zygote.greeting["tests"]
                    assert started() > before
    assert started() == set()


def test_a_process_that_was_begun_otherwise_ends(tmp_path: Path) -> None:
    root = shop(tmp_path)
    with closing(Begun(root, SETTINGS)) as begun:
        sandbox, plan = planned(begun, root, replace(SETTINGS, memory_mib=SETTINGS.memory_mib + 1))
        before = started()
        with closing(Zygote(sandbox, plan)) as zygote:
            assert zygote.greeting["tests"]
            assert before.isdisjoint(started())


def test_what_was_begun_for_a_folder_without_code_ends(tmp_path: Path) -> None:
    with ExitStack() as stack, pytest.raises(ProjectError):
        open_judged(stack, write(tmp_path, {"note.txt": ""}), SETTINGS, print, lambda *_: None)
    assert started() == set()


def test_a_cold_verdict_comes_from_what_was_begun(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            "one.py": "def one():\n    return 1\n",
            "test_one.py": "from one import one\n\n\ndef test_one():\n    assert one() == 1\n",
        },
    )
    verdict = judge_span(root, "one.py", Span(15, 23), "return 2", SETTINGS, print, lambda *_: None)
    assert verdict.outcome is Outcome.FAIL
    assert started() == set()


def test_an_interpreter_without_pytest_is_refused_with_the_command(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True)
    with pytest.raises(TargetError, match="has no pytest"):
        judge_span(shop(tmp_path), "shop/basket.py", Span(0, 1), "", SETTINGS, print, lambda *_: None)


def test_nothing_is_begun_elsewhere(tmp_path: Path) -> None:
    assert begin(tmp_path / "nowhere", SETTINGS) is None
    assert begin(tmp_path, replace(SETTINGS, image="python:3.12")) is None
    assert begin(tmp_path, replace(SETTINGS, install=True)) is None
