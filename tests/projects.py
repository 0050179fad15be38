"""Small projects for tests to open."""

from __future__ import annotations

from pathlib import Path

SHOP = '''\
"""Prices."""


def total(prices, discount):
    subtotal = 0
    for price in prices:
        subtotal += price
    if discount > 0:
        subtotal -= subtotal * discount // 100
    return subtotal
'''
TESTS = """\
from shop import total


def test_sum():
    assert total([1, 2, 3], 0) == 6


def test_discount():
    assert total([100, 100], 10) == 180
"""


def write_shop(root: Path) -> Path:
    """A project of one module and two tests; every statement matters to them."""
    (root / "tests").mkdir(parents=True)
    (root / "shop.py").write_text(SHOP)
    (root / "tests" / "test_shop.py").write_text(TESTS)
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    return root
