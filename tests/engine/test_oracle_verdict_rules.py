"""From frames to a verdict: what a pass needs, piece by piece."""

from __future__ import annotations

import json
import os
import threading
from typing import Any

import pytest

from core.oracle.inside.channel import FrameReader, open_channel
from core.oracle.inside.screening import screen
from core.oracle.verdicts import Allowances, Observation, conclude
from core.types import Outcome

TESTS = ("t.py::a", "t.py::b")


def frames(**changes: Any) -> list[list[Any]]:
    """What a clean pass sends; a keyword set to None leaves that kind out."""
    usual: dict[str, list[list[Any]]] = {
        "screen": [[[]]],
        "collected": [[list(TESTS)]],
        "start": [[test] for test in TESTS],
        "test": [[test, "passed", 0.1, "", "said", 0] for test in TESTS],
        "evidence": [[["failed", "passed"], []]],
        "end": [[True]],
        "exit": [[0]],
    }
    usual.update({kind.replace("_", "-"): values for kind, values in changes.items()})
    return [[kind, *values] for kind, group in usual.items() if group is not None for values in group]


def verdict(sent: list[list[Any]], **reply: Any) -> Outcome:
    usual = {"killed": "", "test": "", "exit": 0, "signal": None, "broken": False, "flooded": False, "printed": ""}
    seen = Observation.of({**usual, "bits": [1, 0], "frames": sent, **reply})
    allowed = Allowances(frozenset({"allowed.change"}), frozenset({("os.fork", "lib.py")}))
    return conclude(seen, TESTS, allowed, 0.5, "tests/x", 1000).outcome


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
    ({"screen": [[["gc"]]]}, {}),
    ({"audit": [["gc.get_objects", "lib.py"]]}, {}),
    ({}, {"broken": True}),
]


@pytest.mark.parametrize(("changes", "reply"), SUSPICIOUS)
def test_a_pass_without_all_its_evidence_is_tampered(changes: dict[str, Any], reply: dict[str, Any]) -> None:
    assert verdict(frames(**changes), **reply) is Outcome.TAMPERED


def test_what_the_project_does_itself_is_no_evidence_against_a_candidate() -> None:
    usual = frames(evidence=[[["failed", "passed"], ["allowed.change"]]], audit=[["os.fork", "lib.py"]])
    assert verdict(usual) is Outcome.PASS
    assert verdict(frames(audit=[["os.kill", "lib.py"]])) is Outcome.PASS
    assert verdict(frames(audit=[["os.kill", "other.py"]])) is Outcome.TAMPERED


OTHER = [
    ({"end": None}, {}, Outcome.CRASH),
    ({}, {"exit": None, "signal": 11}, Outcome.CRASH),
    ({"end": None}, {"exit": None, "signal": 9}, Outcome.OUT_OF_MEMORY),
    ({"end": None, "audit": [["os.kill", "a.py"]]}, {"exit": None, "signal": 9}, Outcome.CRASH),
    ({"end": None}, {"killed": "timeout", "exit": None, "signal": 9}, Outcome.TIMEOUT),
    ({"end": None}, {"killed": "flood", "exit": None, "signal": 9}, Outcome.TAMPERED),
    ({"end": None, "syntax": [["SyntaxError: x", 3]]}, {}, Outcome.SYNTAX_ERROR),
    ({"collect_error": [["t.py", "ImportError: x"]]}, {}, Outcome.IMPORT_ERROR),
    ({"collect_error": [["t.py", "E   MemoryError"]]}, {}, Outcome.OUT_OF_MEMORY),
    ({"test": [["t.py::a", "passed", 0.1, "", "", 0]]}, {}, Outcome.CRASH),
    ({"test": [["t.py::a", "skipped", 0.1, "", "", 0]]}, {}, Outcome.FAIL),
    ({"test": [["t.py::a", "xpassed", 0.1, "", "", 0]]}, {}, Outcome.FAIL),
    ({"test": [["t.py::a", "failed", 0.1, "x\nMemoryError", "", 0]]}, {}, Outcome.OUT_OF_MEMORY),
    ({"collected": [[["t.py::a"]]], "test": [["t.py::a", "passed", 0.1, "", "", 0]]}, {}, Outcome.FAIL),
]


@pytest.mark.parametrize(("changes", "reply", "outcome"), OTHER)
def test_every_other_ending(changes: dict[str, Any], reply: dict[str, Any], outcome: Outcome) -> None:
    assert verdict(frames(**changes), **reply) is outcome


def test_output_is_capped_and_says_so() -> None:
    usual = {"killed": "", "test": "", "exit": 0, "signal": None, "broken": False, "flooded": False, "printed": ""}
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
    "x = [m for m in modules]\n",
    "# gc and inspect are fine here\nx = 1\n",
    '"""It inspects the stack of modules; evaluate."""\n',
    "def signal(kill, stack): return kill\n",
    "x = type(y).__name__\n",
    "x = getattr(y, 'name')\n",
    "x = f'{sys.path}/x'\n",
    "class A:\n    def __eq__(self, other): return isinstance(other, A) and self.x == other.x\n",
    "class A:\n def __eq__(self, o):\n  if type(self) is type(o): return self.x == o.x\n  return NotImplemented\n",
    "class A:\n    def __ne__(self, other): return not self == other\n",
    "class A:\n    def __eq__(self, other): return self.x == other.x\n",
    "class A:\n    def __eq__(self, other): return (self.x, self.key()) == (other.x, other.key())\n",
    "class A(int):\n    def __eq__(self, other): return int(self) == int(other)\n",
    "class A(B):\n    def __eq__(self, other): return super().__eq__(other) and self.__dict__ == other.__dict__\n",
    "class A:\n def __eq__(s, o):\n  if not hasattr(o, 'x'): return False\n  return s.x == o.x and set(s) == set(o)\n",
    "class A:\n def __eq__(s, o):\n  if isinstance(o, (int, A)): return s.x == o\n  return NotImplemented\n",
    "class A:\n    def __ne__(self, other): return self.x != other.x or self.y != other.y\n",
    "x = A.__eq__(a, b)\n",
    "x = '%99999999d' % 1 + '{:99999999}'.format(2)\n",
    "x = 'modified'.replace('i', 'e') + str(y)\n",
    "import inspect\nx = inspect.signature(f)\n",
    "from inspect import isclass, signature\n",
    "import importlib.resources\nx = importlib.resources.files('a')\n",
    "x = type('A', (), {'a': 1})\n",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_code_is_not_suspicious(text: str) -> None:
    assert screen("x = 0\n", text) == []


def test_where_a_file_has_exec_more_of_it_is_its_way() -> None:
    assert screen("exec(x)\n", "exec(x)\nexec(y)\n") == []
    assert screen("exec(x)\n", "exec(x)\ncurrentframe()\n") == ["currentframe"]


def test_a_comparison_that_was_there_may_be_written_anew_and_none_be_added() -> None:
    guarded = "class A:\n    def __eq__(self, other): return isinstance(other, A) and self.x == other.x\n"
    anew = "class A:\n    def __eq__(self, other): return all(map(eq, self, other))\n"
    assert screen(guarded, anew) == []
    assert screen(guarded, guarded + anew.replace("class A", "class B")) == ["__eq__"]
    plain = "import inspect\nx = inspect.signature(f)\n"
    assert screen(plain, plain.replace("signature", "getclosurevars")) == ["inspect"]


HARMFUL = [
    "from gc import get_stats as s, unfreeze\n",
    "from sys import modules\n",
    "x = os.sys.modules\n",
    "x = getattr(sys, '_getf' + 'rame')\n",
    "x = getattr(sys, 'modules')\n",
    "x = f.f_back\n",
    "exec('x')\n",
    "class A:\n    def __eq__(self, other): return True\n",
    "A.__eq__ = lambda s, o: True\n",
    "x = type('A', (), {k: 1})\n",
    "x = type('A', (), {'__eq__': f})\n",
    "class A:\n    def __eq__(self, other): return isinstance(other, A) and 1\nglobals()['A'] = int\n",
    "class A(metaclass=M):\n    def __eq__(self, other): return isinstance(other, A) and 1\n",
    "class A:\n    def __eq__(self, other):\n        if not isinstance(other, A): return True\n        return False\n",
    "class A:\n    def __eq__(self, other): return self.imag == other.imag\n",
    "class A:\n    def __eq__(self, other): return self.x() == other.isalpha()\n",
    "class A:\n    def __eq__(self, other): return self.learn(other) == other.x\n",
    "class A:\n    def __eq__(self, other): return not self.x != other.x\n",
    "class A:\n    def __eq__(self, other): return self.x == other.x or True\n",
    "class A:\n    def __eq__(self, other): return other == other\n",
    "class A:\n    def __eq__(self, other): return self.x == other or NotImplemented\nNotImplemented = True\n",
    "class A:\n    def __eq__(self, other): return self.__class__ == other.__class__\n",
    "class A:\n    def __eq__(self, other): return hasattr(self, other) and self.x == other\n",
    "class A:\n    def __eq__(self, other): return self.x < other and self.x == other\n",
    "class A:\n    def __eq__(self, other): return int(self) == int(other)\nint = len\n",
    "class A:\n    def __eq__(self, other=(x := []), y=0): return self.x == other\n    __eq__ = f\n",
    "import inspect\nx = inspect.getmodule(f)\n",
    "import inspect\nx = inspect\n",
    "from inspect import stack\n",
    "import importlib.metadata as m\nx = m.entry_points()\n",
    "import importlib\n",
    "from tests import test_a\n",
    "x = vars(os)['mod' 'ules']\n",
    "x = ''.join(['_py', 'test'])\n",
    "x = '__%s__' % 'eq'\n",
    "x = '__qe__'[::-1]\n",
    "x = 'tsetyp_'[::-1].lower()\n",
    "x = '__{}__'.format('eq')\n",
    "x = ''.join(reversed('seludom'))\n",
    "x = chr(95) + chr(95) + 'eq' + '__'\n",
    "x = b'_pytest'.decode()\n",
    "import ｇｃ\n\nｇｃ.unfreeze()\n",
]


@pytest.mark.parametrize("text", HARMFUL)
def test_looking_into_the_judge_is_suspicious(text: str) -> None:
    assert screen("x = 0\n", text)
    assert screen(text, text) == []
