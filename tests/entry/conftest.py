"""The command line as its users start it: a subprocess, with folders of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from projects import Inspector, write_shop

from rtc_inspector.app.cli import main


@pytest.fixture(scope="session")
def own_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment whose data and cache folders are empty, so that no test reads what another machine left."""
    base = tmp_path_factory.mktemp("home")
    return {
        **os.environ,
        "XDG_DATA_HOME": str(base / "data"),
        "XDG_CACHE_HOME": str(base / "cache"),
        "XDG_CONFIG_HOME": str(base / "config"),
        "QT_QPA_PLATFORM": "offscreen",
        "COLUMNS": "120",
    }


@pytest.fixture(scope="session")
def inspector(own_folders: dict[str, str]) -> Inspector:
    """Call `rtc-inspector` with arguments; text output is captured."""

    def call(
        *arguments: object, timeout: float = 300, cwd: Path | None = None, **changes: str
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "rtc_inspector", *map(str, arguments)]
        environment = {**own_folders, **changes}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout, cwd=cwd)

    return call


@pytest.fixture
def inside(own_folders: dict[str, str], capsys: pytest.CaptureFixture[str]) -> Inspector:
    """Call the command line as `inspector` does, but in this process, which has loaded it already."""

    def call(*arguments: object, cwd: Path | None = None, **changes: str) -> subprocess.CompletedProcess[str]:
        words = list(map(str, arguments))
        capsys.readouterr()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in {**own_folders, **changes}.items():
                patch.setenv(name, value)
            if cwd is not None:
                patch.chdir(cwd)
            try:
                status = main(words)
            except SystemExit as end:
                status = int(end.code or 0)
        return subprocess.CompletedProcess(words, status, *capsys.readouterr())

    return call


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small tested project."""
    return write_shop(tmp_path / "shop")
