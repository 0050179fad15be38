"""The command line as its users start it: a subprocess, with folders of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from projects import Inspector, write_shop


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
def project(tmp_path: Path) -> Path:
    """A small tested project."""
    return write_shop(tmp_path / "shop")
