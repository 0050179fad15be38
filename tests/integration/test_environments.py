"""Environments made from a project's requirements and a folder of wheels; no network."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import pytest
from local_wheels import PROJECT, make_wheels
from oracle_projects import Opened, write

from rtc_inspector.core.errors import Cancelled, TargetError
from rtc_inspector.core.oracle import environment
from rtc_inspector.core.oracle.factory import open_oracle
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.source.codebase import open_codebase
from rtc_inspector.core.types import Outcome


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


def test_a_stop_ends_pip_and_leaves_nothing_half_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    asked: list[float] = []

    def report(stage: str, done: int, total: int) -> None:
        asked.append(time.monotonic())
        if stage == "installing" and silent.accepted.is_set():
            raise Cancelled

    with SilentIndex() as silent:
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{silent.port}/simple")
        codebase = open_codebase(write(tmp_path / "project", PROJECT))
        with pytest.raises(Cancelled):
            open_oracle(codebase, OracleSettings(sandbox="bubblewrap", install=True), print, report)
    assert time.monotonic() - asked[-1] < 10.0
    assert not list((tmp_path / "cache" / "rtc-inspector" / "environments").glob("*/")), "half an environment stayed"


class SilentIndex:
    """Takes a connection and never answers."""

    def __enter__(self) -> SilentIndex:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self.accepted = threading.Event()
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()
        return self

    def _accept(self) -> None:
        self._connection, _ = self._server.accept()
        self.accepted.set()

    def __exit__(self, *_: object) -> None:
        self._thread.join(10.0)
        self._connection.close()
        self._server.close()
