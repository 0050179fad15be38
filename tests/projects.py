"""Small projects for tests to open."""

from __future__ import annotations

import shutil
import site
import subprocess
import venv
from collections.abc import Callable
from pathlib import Path

Inspector = Callable[..., "subprocess.CompletedProcess[str]"]
"""Calls `rtc-inspector` with arguments, as the fixture of that name does."""

SHOP = '''\
"""Prices."""


def total(prices, discount):
    subtotal = 0
    for price in prices:
        subtotal += price
    if discount > 0:
        subtotal -= subtotal * discount // 100
    return subtotal


def cheapest(prices):
    best = None
    for name, price in prices.items():
        if best is None or price < prices[best]:
            best = name
    return best


def receipt(prices):
    lines = [f"{name}: {price}" for name, price in sorted(prices.items())]
    lines.append(f"total: {total(prices.values(), 0)}")
    return "\\n".join(lines)
'''
TESTS = """\
from shop import cheapest, receipt, total


def test_sum():
    assert total([1, 2, 3], 0) == 6


def test_discount():
    assert total([100, 100], 10) == 180


def test_cheapest():
    assert cheapest({"tea": 3, "milk": 1, "rice": 2}) == "milk"


def test_receipt():
    assert receipt({"tea": 3, "milk": 1}) == "milk: 1\\ntea: 3\\ntotal: 4"
"""


def write_shop(root: Path) -> Path:
    """A project of one module and four tests; every statement matters to them."""
    (root / "tests").mkdir(parents=True)
    (root / "shop.py").write_text(SHOP)
    (root / "tests" / "test_shop.py").write_text(TESTS)
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    return root


def write_environment(folder: Path) -> Path:
    """Make a virtual environment that holds pytest and nothing else; return its Python."""
    folder.chmod(0o755)
    venv.create(folder / "env", symlinks=True)
    (target,) = (folder / "env" / "lib").glob("*/site-packages")
    packages = Path(site.getsitepackages()[0])
    for name in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"):
        for source in (packages / name, *packages.glob(f"{name}-*.dist-info")):
            shutil.copytree(source, target / source.name)
    shutil.copy2(packages / "py.py", target)
    return folder / "env" / "bin" / "python"
