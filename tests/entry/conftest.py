"""The command line as its users start it: a subprocess, with folders of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]


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
def inspector(own_folders: dict[str, str]) -> Run:
    """Call `rtc-inspector` with arguments; text output is captured."""

    def call(*arguments: object, timeout: float = 300, **changes: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "app", *map(str, arguments)]
        environment = {**own_folders, **changes}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout)

    return call


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small tested project."""
    root = tmp_path / "shop"
    (root / "tests").mkdir(parents=True)
    (root / "shop.py").write_text(
        '"""Prices."""\n\n\n'
        "def total(prices, discount):\n"
        "    subtotal = 0\n"
        "    for price in prices:\n"
        "        subtotal += price\n"
        "    if discount > 0:\n"
        "        subtotal -= subtotal * discount // 100\n"
        "    return subtotal\n"
    )
    (root / "tests" / "test_shop.py").write_text(
        "from shop import total\n\n\n"
        "def test_sum():\n    assert total([1, 2, 3], 0) == 6\n\n\n"
        "def test_discount():\n    assert total([100, 100], 10) == 180\n"
    )
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    return root
