"""Small projects that exercise the oracle, written into a folder of the test's own."""

from __future__ import annotations

from pathlib import Path

from rtc_inspector.core.oracle.factory import open_oracle
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.source.codebase import open_codebase
from rtc_inspector.core.types import Candidate, Codebase, Oracle, Span, Suite

SHOP = '''"""Baskets."""

RATE = 2


def total(prices):
    """Sum of the prices."""
    result = 0
    for price in prices:
        result += price
    return result


def names(items):
    """Names in upper case."""
    return [item.upper() for item in items]


def doubled(price):
    """Price after the rate."""
    return price * RATE


class Till:
    """Keeps what was paid."""

    def __init__(self):
        self.paid = []

    def pay(self, amount):
        """Take an amount; it must be positive."""
        if amount <= 0:
            raise ValueError("not positive")
        self.paid.append(amount)
        return total(self.paid)


def _table():
    return {n: n * n for n in range(5)}


SQUARES = _table()
'''

SHOP_TESTS = """import unittest

import pytest

from shop import basket


@pytest.fixture(scope="module")
def till():
    return basket.Till()


def test_total():
    print("adding up")
    assert basket.total([1, 2]) == 3


@pytest.mark.parametrize("n", [1, 5])
def test_many(n):
    assert basket.total([1] * n) == n


def test_rate():
    assert basket.RATE == 2
    assert basket.doubled(3) == 6


def test_names():
    assert basket.names(["a"]) == ["A"]


def test_till(till):
    assert till.paid == []


def test_pay():
    till = basket.Till()
    assert till.pay(1) == 1
    assert till.pay(2) == 3
    with pytest.raises(ValueError):
        till.pay(0)


def test_squares():
    assert basket.SQUARES[3] == 9


class TestTotal(unittest.TestCase):
    def test_total(self):
        self.assertEqual(basket.total([2, 2]), 4)

    def test_sub(self):
        for n in (1, 2):
            with self.subTest(n=n):
                self.assertEqual(basket.total([n]), n)
"""


def write(root: Path, files: dict[str, str]) -> Path:
    """Write the files below `root`."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def shop(root: Path) -> Path:
    """A project whose tests all pass."""
    return write(root, {"shop/__init__.py": "", "shop/basket.py": SHOP, "tests/test_basket.py": SHOP_TESTS})


class Opened:
    """A project with its oracle and suite."""

    def __init__(self, root: Path, **settings: object) -> None:
        self.notices: list[str] = []
        self.codebase: Codebase = open_codebase(root)
        defaults: dict[str, object] = {"sandbox": "bubblewrap", "cache": False, "memory_mib": 512}
        chosen = OracleSettings(**{**defaults, **settings})  # type: ignore[arg-type]
        self.oracle: Oracle = open_oracle(self.codebase, chosen, self.notices.append)
        self.suite: Suite = self.oracle.suite(lambda stage, done, total: None)

    def candidate(self, path: str, old: str, new: str) -> Candidate:
        """`old` (found once) replaced by `new`."""
        file = self.codebase.file(path)
        assert file.text.count(old) == 1
        start = file.text.index(old)
        return Candidate(file, Span(start, start + len(old)), new)

    def covering(self, path: str, line: int) -> list[str]:
        """Tests that run a line."""
        by_line = self.suite.coverage.lines[path]
        return [self.suite.coverage.tests[index] for index in sorted(by_line.get(line, ()))]

    @property
    def tests(self) -> list[str]:
        """All trusted tests."""
        return [test.node_id for test in self.suite.tests]
