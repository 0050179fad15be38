"""From frames to a verdict: what a pass needs, piece by piece."""

from __future__ import annotations

import json
import os
import threading
from typing import Any

import pytest

from rtc_inspector.core.oracle.inside.child import FrameReader, open_channel
from rtc_inspector.core.oracle.inside.screening import screen
from rtc_inspector.core.oracle.verdicts import Allowances, Observation, conclude
from rtc_inspector.core.types import Outcome, Verdict

_NAMES = ["eq", "ne", "lt", "le", "gt", "ge", "bool", "contains", "instancecheck"]
TESTS = ("t.py::a", "t.py::b")


def frames(**changes: Any) -> list[list[Any]]:
    """What a clean pass sends; a keyword set to None leaves that kind out."""
    usual: dict[str, list[list[Any]]] = {
        "screen": [[[]]],
        "collected": [[list(TESTS)]],
        "start": [[test] for test in TESTS],
        "test": [[test, "passed", 0.1, "", "said", 0, ""] for test in TESTS],
        "evidence": [[["failed", "passed"], []]],
        "end": [[True]],
        "exit": [[0]],
    }
    usual.update({kind.replace("_", "-"): values for kind, values in changes.items()})
    return [[kind, *values] for kind, group in usual.items() if group is not None for values in group]


def judged(sent: list[list[Any]], **reply: Any) -> Verdict:
    usual = {
        "killed": "",
        "test": "",
        "exit": 0,
        "signal": None,
        "broken": False,
        "flooded": False,
        "printed": "",
        "outlived": False,
    }
    seen = Observation.of({**usual, "bits": [1, 0], "frames": sent, **reply})
    allowed = Allowances(frozenset({"allowed.change"}), frozenset({("reads test_a.py", "lib.py"), ("fork", "lib.py")}))
    return conclude(seen, TESTS, allowed, 0.5, "tests/x", 1000)


def verdict(sent: list[list[Any]], **reply: Any) -> Outcome:
    return judged(sent, **reply).outcome


def test_a_clean_run_passes() -> None:
    assert verdict(frames()) is Outcome.PASS


SUSPICIOUS = [
    ({"evidence": None}, {}),
    ({"evidence": [[["passed", "passed"], []]]}, {}),
    ({"evidence": [[["failed", "failed"], []]]}, {}),
    ({"evidence": [[["failed", "passed"], ["pytest.raises"]]]}, {}),
    ({"evidence": [[["failed", "passed"], []], [["failed", "passed"], []]]}, {}),
    ({"end": [[True], [True]]}, {}),
    ({"end": [[False]]}, {}),
    ({"screen": [[["it defines __eq__"]]]}, {}),
    ({"audit": [["reads test_a.py", "other.py"]]}, {}),
    ({"audit": [["reads data of tests", "lib.py"]]}, {}),
    ({}, {"outlived": True}),
    ({}, {"broken": True}),
]


@pytest.mark.parametrize(("changes", "reply"), SUSPICIOUS)
def test_a_pass_without_all_its_evidence_is_tampered(changes: dict[str, Any], reply: dict[str, Any]) -> None:
    assert verdict(frames(**changes), **reply) is Outcome.TAMPERED


def test_what_the_project_does_itself_is_no_evidence_against_a_candidate() -> None:
    usual = frames(evidence=[[["failed", "passed"], ["allowed.change"]]], audit=[["reads test_a.py", "lib.py"]])
    assert verdict(usual) is Outcome.PASS


OTHER = [
    ({"end": None}, {}, Outcome.CRASH),
    ({}, {"exit": None, "signal": 11}, Outcome.CRASH),
    ({"end": None}, {"exit": None, "signal": 9}, Outcome.OUT_OF_MEMORY),
    ({"end": None, "audit": [["signals", "a.py"]]}, {"exit": None, "signal": 9}, Outcome.CRASH),
    ({"end": None}, {"killed": "timeout", "exit": None, "signal": 9}, Outcome.TIMEOUT),
    ({"end": None}, {"killed": "flood", "exit": None, "signal": 9}, Outcome.TAMPERED),
    ({"end": None, "syntax": [["SyntaxError: x", 3]]}, {}, Outcome.SYNTAX_ERROR),
    ({"collect_error": [["t.py", "ImportError: x"]]}, {}, Outcome.IMPORT_ERROR),
    ({"collect_error": [["t.py", "E   MemoryError"]]}, {}, Outcome.OUT_OF_MEMORY),
    ({"test": [["t.py::a", "passed", 0.1, "", "", 0, ""]]}, {}, Outcome.CRASH),
    ({"test": [["t.py::a", "skipped", 0.1, "", "", 0, ""]]}, {}, Outcome.FAIL),
    ({"test": [["t.py::a", "xpassed", 0.1, "", "", 0, ""]]}, {}, Outcome.FAIL),
    ({"test": [["t.py::a", "failed", 0.1, "x\nMemoryError", "", 0, ""]]}, {}, Outcome.OUT_OF_MEMORY),
    ({"collected": [[["t.py::a"]]], "test": [["t.py::a", "passed", 0.1, "", "", 0, ""]]}, {}, Outcome.FAIL),
]


@pytest.mark.parametrize(("changes", "reply", "outcome"), OTHER)
def test_every_other_ending(changes: dict[str, Any], reply: dict[str, Any], outcome: Outcome) -> None:
    assert verdict(frames(**changes), **reply) is outcome


def test_output_is_capped_and_says_so() -> None:
    usual = {
        "killed": "",
        "test": "",
        "exit": 0,
        "signal": None,
        "broken": False,
        "flooded": False,
        "printed": "",
        "outlived": False,
    }
    seen = Observation.of({**usual, "bits": [1, 0], "frames": frames()})
    found = conclude(seen, TESTS, Allowances(), 0.5, "tests/x", 5)
    assert found.output == "saids\n[3 characters cut]"


def test_frames_need_nonce_and_order() -> None:
    reader = FrameReader("n", 1000)
    assert reader.feed(b'n 0 a [1]\nforged 1 end [true]\nn 1 b "x"') == [("a", [1])]
    assert not reader.broken
    assert reader.feed(b"\n") == []
    assert reader.broken


def test_a_frame_out_of_order_is_noticed() -> None:
    reader = FrameReader("n", 1000)
    assert reader.feed(b"n 1 end [true]\n") == []
    assert reader.broken


def test_frames_of_many_threads_keep_their_order() -> None:
    reading, writing = os.pipe()
    send, reader, found = open_channel(writing, "n", os.getpid()), FrameReader("n", 1 << 20), []
    threads = [threading.Thread(target=lambda: [send("a", number) for number in range(50)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        found = reader.feed(stream.read())
    assert len(found) == 400 and not reader.broken


def test_what_waits_is_written_with_what_comes_next() -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    send, reader = open_channel(writing, "n", os.getpid()), FrameReader("n", 1 << 20)
    send("a", 1, wait=True)
    with pytest.raises(BlockingIOError):
        os.read(reading, 1)
    send("b", 2)
    assert reader.feed(os.read(reading, 1000)) == [("a", [1]), ("b", [2])] and not reader.broken
    os.close(reading)
    os.close(writing)


def test_a_flood_is_noticed() -> None:
    reader = FrameReader("n", 10)
    assert reader.feed(json.dumps(["x" * 20]).encode()) == []
    assert reader.flooded


HARMLESS = [
    "x = re.compile('a')\n",
    "# gc and inspect are fine here\nx = 1\n",
    '"""It inspects the stack of modules; evaluate."""\n',
    "def signal(kill, stack): return kill\n",
    "x = getattr(y, 'name')\n",
    "exec(template.format(name=name), namespace)\n",
    "x = sys.modules[__name__]\n",
    "x = A.__eq__(a, b)\n",
    "import importlib\nx = importlib.import_module(name)\n",
    "from django.test import Client\nimport numpy.testing\n",
    "x = settings.get('test_mode')\n",
    "x = type('A', (), {'a': 1})\n",
    "gc = latest = compare = 1\n",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_code_is_neither_held_up_nor_flagged(text: str) -> None:
    assert screen("x = 0\n", text) == []


OWN_PARTS = [
    "class A:\n    def __eq__(self, other): return self.x == other.x\n",
    "class A:\n    def __eq__(self, o):\n        if not isinstance(o, A):\n            return NotImplemented\n"
    "        return (self.x, self.y) == (o.x, o.y)\n    def __hash__(self): return hash((self.x, self.y))\n",
    "class A:\n    def __eq__(self, o): return isinstance(o, A) and self.x == o.x and self.y[0] == o.y[0]\n",
    "class A:\n    def __lt__(self, other):\n        'Sort backwards.'\n        return other.rank < self.rank\n",
    "class A:\n    def __ge__(self, o): return self.x > o.x or (self.x == o.x and -self.y >= -o.y)\n",
    "class A:\n    def __bool__(self): return self.x is not None\n",
    "class A(str):\n    def __contains__(self, key): return super().__contains__(key.lower())\n",
    "class A:\n    def __contains__(self, key): return key in self.names\n",
]


@pytest.mark.parametrize("text", OWN_PARTS)
def test_a_comparison_of_a_values_own_parts_is_as_honest_as_a_dataclass(text: str) -> None:
    assert screen("x = 0\n", text) == []


HONEST = "class A:\n    def __eq__(self, other): return self.x == other.x\n"
FORMS = [
    "class A:\n    def __eq__(self, other):\n        return type(self) is type(other) and vars(self) == vars(other)\n",
    "class A:\n    def __eq__(self, other): return all(map(eq, self, other))\n",
    "class A:\n    __eq__ = lambda self, other: self.x == other.x\n",
    "class A:\n def __eq__(s, o):\n  if isinstance(o, (int, A)): return s.x == o\n  return NotImplemented\n",
    "class A:\n def __eq__(s, o):\n  if isinstance(o, A): return True\n  return False\n",
    "class A:\n def __eq__(s, o):\n  raise TypeError\n",
    "class A:\n def __eq__(s, o):\n  return NotImplemented\n",
    "x = 1\n",
]


@pytest.mark.parametrize("anew", FORMS)
def test_a_comparison_that_was_there_may_be_written_anew(anew: str) -> None:
    assert screen(HONEST, anew) == []


FIXED = [
    "class A:\n    def __eq__(self, other): return True\n",
    "class A:\n    def __eq__(self, other):\n        print(other)\n        return True\n",
    "class A:\n    def __eq__(self, other): return 1 == 1\n",
    "class A:\n    def __eq__(self, other): return bool(self.x)\n",
    "class A:\n    def __eq__(self, other): return self.x == self.x\n",
    "class A:\n    def __eq__(*both): return True\n",
    "class A:\n    __eq__ = lambda self, other: True\n",
    "class A:\n    __eq__ = lambda *both: 1\n",
]


@pytest.mark.parametrize("text", FIXED)
def test_a_comparison_that_says_the_same_of_everything_is_held_up(text: str) -> None:
    assert screen(HONEST, text) == ["__eq__ says the same of everything"]
    assert screen(text, text) == []


BROUGHT = [
    *(f"class A:\n    def __{name}__(self, *other): return self.x == other\n" for name in _NAMES),
    "class A(str):\n    def __eq__(self, other): return str(self) == str(other)\n",
    "class A(int):\n    def __eq__(self, other): return self.imag == other.imag\n",
    "class A:\n    def __eq__(self, other): return self.__class__ is other.__class__\n",
    "class A:\n    def __eq__(self, other): return other.agree(self.x) == self.agree(other.x)\n",
    "class A:\n    def __eq__(self, other): return isinstance(other, A)\n",
    "class A:\n    def __eq__(self, other):\n        self.x = other\n        return self.x == other.x\n",
    "class A:\n    def __contains__(self, key): return key in [key]\n",
    "class A:\n    def __eq__(self, other): return self.x == other.x or self.x != other.x\n",
    "class A:\n    def __eq__(self, other): return isinstance(other, A) or self.x == other.x\n",
    "class A:\n    def __eq__(self, other): return self.x is not other.x\n",
    "class A:\n    def __eq__(self, other): return self.x >= other.x\n",
    "class A:\n    def __eq__(self, other): return self.x + other.x == other.x + self.x\n",
    "class A:\n    def __le__(self, other): return self.x <= other.x or self.x >= other.x\n",
    "class A:\n    def __instancecheck__(self, other): return self.x == other.x\n",
    "class A:\n    def __contains__(self, key): return key not in self.names\n",
    "A.__eq__ = lambda s, o: s.x == o.x\n",
    "class A:\n    __ne__ = f\n",
    "setattr(A, '__eq__', f)\n",
    "x = type('A', (), {'__eq__': f})\n",
    "x = type('A', (), dict(__eq__=f))\n",
    "m.__eq__.return_value = True\n",
    "from unittest.mock import ANY\n",
    "from unittest import mock\nx = mock.ANY\n",
    "@dataclass\nclass A:\n    x: int = field(compare=False)\n",
    "from tests import test_a\n",
    "from test_basket import EXPECTED\n",
    "x = importlib.import_module('tests.test_a').EXPECTED\n",
    "x = sys.modules['test_basket'].EXPECTED\n",
    "import conftest\n",
]


@pytest.mark.parametrize("text", BROUGHT)
def test_a_candidate_brings_no_comparison_along_and_reads_no_tests(text: str) -> None:
    assert len(screen("x = 0\n", text)) == 1
    assert screen(text, text) == []
