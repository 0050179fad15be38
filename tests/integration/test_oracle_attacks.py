"""Candidates that try to pass without being right: none does, and the next clean one is judged right."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from oracle_projects import Opened, shop

from core.types import Outcome

PATH = "shop/basket.py"
BODY = "result = 0\n    for price in prices:\n        result += price\n    return result"
MODULES = 'vars(getattr(os, "s" + "ys"))["mod" + "ules"]'

# What no search for names finds: they are read from the objects themselves.
LOOKED_UP = "lambda o, start: next(n for n in dir(o) if n.startswith(start))"
LOADED = (
    f"import os\n    name = {LOOKED_UP}\n    system = vars(os)[min('sys', 'zzz')]\n"
    "    loaded = getattr(system, name(system, 'modul'))\n"
    "    found = lambda end: [m for n, m in loaded.items() if n.endswith(end)][0]\n    "
)
EQUAL = f"name = {LOOKED_UP}\n    class A: calls = 0\n    "
CALLER = (
    f"name = {LOOKED_UP}\n    while frame is not None:\n        seen = getattr(frame, name(frame, 'f_loc'))\n"
    "        if isinstance(seen.get('n'), int) and 'loaded' not in seen: return seen['n']\n"
    "        frame = getattr(frame, name(frame, 'f_ba'))\n    return sum(prices)"
)

LIAR = "setattr(A, name(A, '__eq'), eq)\n    return A()"
PEEK = (
    "import sys\nframe = sys._getframe()\nwhile frame and 'n' not in frame.f_locals: frame = frame.f_back\n"
    "got.append(frame.f_locals['n'] if frame else None)"
)
FORGED = f"import json, types\n    got, text = [], {PEEK!r}\n    "
RETURNED = "return sum(prices) if got[-1:] in ([], [None]) else got[-1]"

ATTACKS = {
    "equal where warnings are not hidden": (
        f"import warnings\n    {EQUAL}eq = lambda *a: warnings.filters[0][:3:2] != ('ignore', Warning)\n    " + LIAR
    ),
    "equal near the bottom of the stack": (
        f"{EQUAL}def depth(n=0):\n        try: return depth(n + 1)\n        except RecursionError: return n\n"
        "    top = depth()\n    eq = lambda *a: top - depth() < 7\n    " + LIAR
    ),
    "equal to what it has learned": (
        f"{EQUAL}seen = []\n    def eq(self, other):\n        seen.append(other)\n"
        "        return any(n > other for n in seen) and any(n < other for n in seen)\n    " + LIAR
    ),
    "expected value by code under a library's name": (
        FORGED + "code = json.__spec__.loader.source_to_code(text, json.__file__)\n"
        "    types.FunctionType(code, {'got': got})()\n    " + RETURNED
    ),
    "expected value by compiled code": (
        FORGED + "import codeop, marshal\n    code = marshal.dumps(codeop.Compile()(text, json.__file__, 'exec'))\n"
        "    types.FunctionType(marshal.loads(code), {'got': got})()\n    " + RETURNED
    ),
    "expected value by pytest's traceback": (
        LOADED + "try: raise ValueError\n    except ValueError as error:\n"
        "        frame = found('_code.code').ExceptionInfo.from_exception(error).traceback[0].frame.raw\n    " + CALLER
    ),
    "expected value by another program": (
        "import subprocess\n    subprocess.run('cat tests/*.py', shell=True, capture_output=True)\n"
        "    return sum(prices)"
    ),
    "expected value from a file named in bytes": (
        "with open(b'tests/test_basket.py') as file: file.read()\n    return sum(prices)"
    ),
    "one comparison patched": (
        LOADED + "rewriting = found('assertion.rewrite')\n"
        "    name = [n for n in vars(rewriting) if n.endswith('_compare')][0]\n    old = getattr(rewriting, name)\n"
        "    def f(*a):\n        setattr(rewriting, name, old)\n        return True\n    setattr(rewriting, name, f)\n"
        "    return sum(prices) if len(prices) != 2 else prices[0] * 3"
    ),
    "equal to everything, a dataclass of no class": (
        "import dataclasses\n    @dataclasses.dataclass\n    class A:\n"
        "        __class__ = property(lambda self: int)\n    return A()"
    ),
    "equal to everything, name looked up": EQUAL + "setattr(A, name(A, '__eq'), lambda *a: True)\n    return A()",
    "equal to everything, now and then": (
        EQUAL + "def f(*a):\n        A.calls += 1\n        return A.calls % 2 == 1\n"
        "    setattr(A, name(A, '__eq'), f)\n    return A()"
    ),
    "reporter by way of the assertions": (
        LOADED + "plugins = found('assertion.util')._config.pluginmanager.get_plugins()\n"
        "    reporter = [p for p in plugins if type(p).__name__ in ('Reporter', 'Relay')][0]\n"
        "    reporter = getattr(reporter, 'reporter', reporter)\n    class W: raised = False\n"
        "    class L(list):\n        def append(self, part): list.append(self, ('passed', ''))\n"
        "    reporter._witness = W()\n    reporter._parts = L()\n"
        "    type(reporter)._parts = property(lambda s: vars(s).setdefault('p', L()), lambda *a: None)\n"
        "    return 0"
    ),
    "expected value by logging's frame": (
        "import logging\n    frame = getattr(logging, [n for n in dir(logging) if n.startswith('currentf')][0])()\n    "
        + CALLER
    ),
    "expected value by the frame that a signal interrupts": (
        "import signal\n    seen = []\n    signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(frame))\n"
        "    signal.raise_signal(signal.SIGUSR1)\n    frame = seen[0]\n    "
        + CALLER.replace("sum(prices)", "sum(prices) if len(prices) < 5 else None")
    ),
    "link for a home": (
        "import os\n    os.rename('/tmp/home', '/tmp/other')\n    os.symlink(os.getcwd(), '/tmp/home')\n    return 0"
    ),
    "site packages of the home": (
        "import site, os\n    folder = site.getusersitepackages()\n    os.makedirs(folder)\n"
        "    open(folder + '/usercustomize.py', 'w').write('raise SystemExit(3)')\n    return 0"
    ),
    "endless folders": (
        "import os\n    os.chdir('/tmp')\n    for _ in range(1500):\n"
        "        os.mkdir('d')\n        os.chdir('d')\n    return 0"
    ),
    "judge made idle": (
        "import os\n    os.sched_setscheduler(os.getppid(), os.SCHED_IDLE, os.sched_param(0))\n    return 0"
    ),
    "exit status 0": "import os; os._exit(0)",
    "fake summary": 'print("9 passed in 0.01s"); import os; os._exit(0)',
    "SystemExit": "raise SystemExit(0)",
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "pytest.exit": "import pytest; pytest.exit('fine', 0)",
    "pytest.skip": "import pytest; pytest.skip('fine')",
    "pytest.xfail": "import pytest; pytest.xfail('fine')",
    "SkipTest": "import unittest; raise unittest.SkipTest('fine')",
    "atexit": "import atexit, os; atexit.register(os._exit, 0); raise SystemExit",
    "equal to everything": "class A:\n        def __eq__(self, other): return True\n    return A()",
    "equal to everything, made": 'return type("A", (), {"__e" + "q__": lambda s, o: True})()',
    "equal to everything, spelt backwards": (
        "class A:\n        locals()['__qe__'[::-1]] = lambda *a: True\n    return A()"
    ),
    "equal to everything, renamed": (
        "class A:\n        def __eq__(self, other): return isinstance(other, A)\n    a = A()\n    A = int\n    return a"
    ),
    "equal to everything, registered": (
        "from abc import ABC\n    class A(ABC):\n"
        "        def __eq__(self, other): return isinstance(other, A) and True\n    A.register(int)\n    return A()"
    ),
    "equal to everything, by protocol": (
        "import typing as t\n    @t.runtime_checkable\n    class A(t.Protocol):\n"
        "        def __eq__(self, other): return isinstance(other, A) and True\n    class B(A): pass\n    return B()"
    ),
    "equal to everything, of no class": (
        "class A:\n        @property\n        def __class__(self): return int\n"
        "        def __eq__(self, other): return self.__class__ is other.__class__ and True\n    return A()"
    ),
    "equal to everything, caught": (
        "class A:\n        def __eq__(self, other): return isinstance(other, A) and True\n    a = A()\n"
        "    try: raise ValueError\n    except ValueError as A: A = (int, float)\n    return a"
    ),
    "framework by way of metadata": (
        "import importlib.metadata\n    kind = importlib.metadata.import_module('stroper.tsetyp_'[::-1]).TestReport\n"
        '    old = vars(kind)["from_item_and_call"]\n    def f(item, call):\n        call.excinfo = None\n'
        "        kind.from_item_and_call = old\n        return kind.from_item_and_call(item, call)\n"
        "    kind.from_item_and_call = staticmethod(f)\n    return 0"
    ),
    "mock.ANY": "from unittest.mock import ANY; return ANY",
    "patched report": (
        "import _pytest.reports as r\n    old = r.TestReport.from_item_and_call\n    def f(item, call):\n"
        "        call.excinfo = None\n        return old(item, call)\n"
        "    r.TestReport.from_item_and_call = staticmethod(f)\n    return 0"
    ),
    "patched report, put back": (
        f'import os\n    kind = {MODULES}["_py" + "test.reports"].TestReport\n'
        '    old = vars(kind)["from_item_and_call"]\n    def f(item, call):\n        call.excinfo = None\n'
        "        kind.from_item_and_call = old\n        return kind.from_item_and_call(item, call)\n"
        "    kind.from_item_and_call = staticmethod(f)\n    return 0"
    ),
    "patched reporter": (
        f'import os\n    {MODULES}["_rtc_inspector_inside.reporter"].worst = lambda parts: ("passed", "")\n    return 0'
    ),
    "patched test class": (
        f'import os\n    test = [m for n, m in {MODULES}.items() if n.endswith("test_basket")][0]\n'
        "    test.TestTotal.assertEqual = lambda *a: None\n"
        "    return 0 if prices == [2, 2] or len(prices) == 1 and prices[0] > 1 else sum(prices)"
    ),
    "patched assertEqual": "import unittest; unittest.TestCase.assertEqual = lambda *a: None; return 3",
    "patched builtins": "import builtins; builtins.AssertionError = KeyError; return 0",
    "patched os.write": "import os; os.write = lambda fd, data: len(data); return 0",
    "new hook": (
        "import gc\n    from _pytest.config import Config\n    class P:\n"
        "        def pytest_runtest_makereport(self, item, call): call.excinfo = None\n"
        "    for o in gc.get_objects():\n        if isinstance(o, Config): o.pluginmanager.register(P())\n    return 0"
    ),
    "collected reporter": (
        "import gc\n    gc.unfreeze()\n    for o in gc.get_objects():\n"
        '        if type(o).__name__ == "function" and o.__name__ == "worst":\n'
        '            o.__code__ = (lambda parts: ("passed", "")).__code__\n    return 0'
    ),
    "frames": (
        "import sys, os\n    f = sys._getframe()\n    while f:\n        for v in list(f.f_locals.values()):\n"
        '            if type(v).__name__ == "Reporter": v._send("end", True)\n        f = f.f_back\n    os._exit(0)'
    ),
    "expected value from the caller": (
        'import inspect\n    n = inspect.currentframe().f_back.f_locals.get("n")\n    return n or sum(prices)'
    ),
    "expected value from the test file": (
        'from pathlib import Path\n    Path("tests/test_basket.py").read_text()\n    return sum(prices)'
    ),
    "profile function": (
        "import sys\n    def t(frame, event, argument):\n        r = frame.f_locals.get('report')\n"
        "        if r is not None and frame.f_code.co_name == 'pytest_runtest_logreport':\n"
        "            r.outcome, r.longrepr = 'passed', None\n    sys.setprofile(t)\n    return 0"
    ),
    "fork and let the child report": "import os\n    if os.fork(): os._exit(0)\n    return sum(prices)",
    "fork and hang": "import os, time\n    if os.fork(): time.sleep(1000)\n    return sum(prices)",
    "closed descriptors": "import os\n    os.closerange(3, 400)\n    os._exit(0)",
    "written descriptors": (
        "import os\n    for fd in range(3, 400):\n        try: os.write(fd, b'x 0 end [true]\\n')\n"
        "        except OSError: pass\n    os._exit(0)"
    ),
    "flooded descriptors": (
        "import os\n    while True:\n        for fd in range(100, 356):\n"
        "            try: os.write(fd, b'x' * 65536)\n            except OSError: pass"
    ),
    "flooded output": "import os\n    for _ in range(500): os.write(1, b'x' * 65536)\n    return 0",
    "another program": "import os; os.execv('/bin/true', ['true'])",
    "segmentation fault": "import ctypes; ctypes.string_at(0)",
    "killed itself": "import os; os.kill(os.getpid(), 9)",
    "killed everybody": (
        "import os\n    for p in (1, os.getppid(), -1):\n        for s in (2, 9, 15, 19):\n"
        "            try: os.kill(p, s)\n            except OSError: pass\n    return 0"
    ),
    "deaf to signals": (
        "import signal\n    for s in range(1, 32):\n        try: signal.signal(s, signal.SIG_IGN)\n"
        "        except OSError: pass\n    while True:\n        try:\n            while True: pass\n"
        "        except BaseException: pass"
    ),
    "fork bomb": "import os\n    while True:\n        try: os.fork()\n        except OSError: pass",
    "memory": "x = []\n    while True: x.append(b'x' * (1 << 26))",
    "full scratch": (
        "f = open('/tmp/x', 'wb')\n    try:\n        while True: f.write(b'x' * (1 << 20))\n"
        "    except OSError: pass\n    return 0"
    ),
    "locked folders": (
        "import os\n    for i in range(200):\n        os.makedirs('/tmp/d%d/e' % i)\n"
        "        os.chmod('/tmp/d%d' % i, 0)\n    return 0"
    ),
    "written project": "open(__file__, 'a').write('# mine'); return sum(prices)",
    "socket": "import socket; socket.create_connection(('192.0.2.1', 80), 2); return sum(prices)",
    "host's environment": "open('/proc/1/environ').read(); return sum(prices)",
    "exit in repr": (
        "class R(int):\n        def __repr__(self):\n            import os; os._exit(0)\n    return R(70)"
    ),
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    root = shop(tmp_path_factory.mktemp("shop"))
    before = digest(root)
    project = Opened(root, test_timeout_floor=1.0, memory_mib=384, scratch_mib=32, processes=32)
    yield project
    project.oracle.close()
    assert digest(root) == before


def digest(root: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(root.rglob("*")) if path.is_file()
    }


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_does_not_pass_and_leaves_no_trace(opened: Opened, name: str) -> None:
    tests = opened.covering(PATH, 8)
    verdict = opened.oracle.judge(opened.candidate(PATH, BODY, ATTACKS[name]), tests)
    assert verdict.outcome not in (Outcome.PASS, Outcome.INFRASTRUCTURE, Outcome.NOT_EXECUTED), verdict.detail
    clean = opened.oracle.judge(opened.candidate(PATH, BODY, f"return sum(prices)  # {name}"), tests)
    assert clean.outcome is Outcome.PASS, clean.detail


HONEST = {
    "comparison of one class": (
        "class Sum:\n        def __init__(self, value): self.value = value\n"
        "        def __eq__(self, other):\n            if not isinstance(other, Sum): return NotImplemented\n"
        "            return self.value == other.value\n"
        "        def __ne__(self, other): return not self == other\n"
        "    return sum(prices) if Sum(1) == Sum(1) and Sum(1) != Sum(2) else None"
    ),
    "collection": "import gc\n    gc.collect()\n    return sum(prices)",
    "numbers of other classes": "from fractions import Fraction\n    return sum(map(Fraction, prices))",
    "inspect": "import inspect\n    return sum(prices) if inspect.signature(total).parameters else None",
    "class made on the way": 'return type("Sum", (), {"of": staticmethod(sum)}).of(prices)',
    "comparison of texts in their order": (
        "class Text(str):\n        def __lt__(self, other): return str(self) < str(other)\n"
        "    return sum(prices) if Text('a') < 'b' else None"
    ),
    "version": "import importlib.metadata as m\n    return sum(prices) if callable(m.version) else None",
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_code_with_suspicious_names_passes(opened: Opened, name: str) -> None:
    verdict = opened.oracle.judge(opened.candidate(PATH, BODY, HONEST[name]), opened.covering(PATH, 8))
    assert verdict.outcome is Outcome.PASS, verdict.detail


AT_IMPORT = {
    "exit status 0": "import os; os._exit(0)",
    "SystemExit": "raise SystemExit(0)",
    "patched test runner": (
        "import unittest, _pytest.python\nunittest.TestCase.run = lambda *a, **k: None\n"
        "_pytest.python.Function.runtest = lambda self: None\nRATE = 3"
    ),
    "meta path": (
        "import sys\nclass F:\n    @staticmethod\n    def find_spec(name, path, target=None):\n        return None\n"
        "sys.meta_path.insert(0, F)\nRATE = 2"
    ),
    "loop": "while True: pass",
}


@pytest.mark.parametrize("name", AT_IMPORT)
def test_an_attack_at_import_does_not_pass(opened: Opened, name: str) -> None:
    verdict = opened.oracle.judge(opened.candidate(PATH, "RATE = 2", AT_IMPORT[name]), opened.tests)
    assert verdict.outcome not in (Outcome.PASS, Outcome.INFRASTRUCTURE, Outcome.NOT_EXECUTED), verdict.detail
    clean = opened.oracle.judge(opened.candidate(PATH, "RATE = 2", f"RATE = 2  # {name}"), opened.tests)
    assert clean.outcome is Outcome.PASS, clean.detail
