"""Environments made from a project's requirements and a folder of wheels; no network."""

from __future__ import annotations

from pathlib import Path

import pytest
from local_wheels import PROJECT, make_wheels
from oracle_projects import Opened, write

from core.errors import TargetError
from core.oracle import environment
from core.oracle.factory import open_oracle
from core.settings import OracleSettings
from core.types import Outcome


def test_a_project_is_judged_in_an_environment_of_its_requirements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels = make_wheels(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/none")
    project = Opened(write(tmp_path / "project", PROJECT), install=True, wheels=str(wheels), identity_runs=1)
    try:
        assert project.tests == ["test_app.py::test_greet"]
        good = project.candidate("app.py", "greeting.WORD + ' ' + name", "f'{greeting.WORD} {name}'")
        bad = project.candidate("app.py", "greeting.WORD + ' ' + name", "name")
        assert project.oracle.judge(good, project.tests).outcome is Outcome.PASS
        assert project.oracle.judge(bad, project.tests).outcome is Outcome.FAIL
    finally:
        project.oracle.close()
    assert any("Installing 2 requirements (pyproject.toml)" in notice for notice in project.notices)
    monkeypatch.setattr(environment, "_make", None)  # the next opening makes nothing
    settings = OracleSettings(sandbox="bubblewrap", install=True, wheels=str(wheels))
    open_oracle(project.codebase, settings, project.notices.append).close()


def test_a_requirement_without_a_wheel_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "wheels").mkdir()
    with pytest.raises(TargetError, match="greeting") as caught:
        Opened(write(tmp_path / "project", PROJECT), install=True, wheels=str(tmp_path / "wheels"))
    assert "--wheels" in caught.value.remedy
    assert not list((tmp_path / "cache" / "rtc-inspector" / "environments").glob("*/")), "half an environment stayed"
    assert OracleSettings().install is False
