"""Candidates that try to pass without being right: none does, and the next clean one is judged right."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from oracle_projects import Opened, shop
from sandbox_driver import needs_landlock

from rtc_inspector.core.types import Outcome

PATH = "shop/basket.py"
BODY = "result = 0\n    for price in prices:\n        result += price\n    return result"
MODULES = 'vars(getattr(os, "s" + "ys"))["mod" + "ules"]'

ATTACKS = {
    "expected value by another program": (
        "import subprocess\n    subprocess.run('cat tests/*.py', shell=True, capture_output=True)\n"
        "    return sum(prices)"
    ),
    "expected value from a file named in bytes": (
        "with open(b'tests/test_basket.py') as file: file.read()\n    return sum(prices)"
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
    "expected value by a copy of the test file": (
        "import shutil; shutil.copy('tests/test_basket.py', '/tmp/x'); return sum(prices)"
    ),
    "expected value by the lines of the test file": (
        "import linecache; linecache.getlines('tests/test_basket.py'); return sum(prices)"
    ),
    "expected value by the source of the test": (
        "import inspect, sys; inspect.getsource(sys.modules['test' + '_basket']); return sum(prices)"
    ),
    "expected value by running the test file": (
        "import runpy; runpy.run_path('tests/test_basket.py'); return sum(prices)"
    ),
    "test module imported": "import test_basket; return sum(prices)",
    "name of the running test": (
        "import os\n    return sum(prices) if 'basket' in os.environ.get('PYTEST_CURRENT_TEST', '') else 0"
    ),
    "patched search": "import re; re.search = lambda *a, **k: True; return sum(prices)",
    "patched method of a library": "import pathlib; pathlib.Path.exists = lambda *a: True; return sum(prices)",
    "patched code of a library": (
        "import math, random\n    random.Random.random\n    import textwrap\n"
        "    textwrap.dedent.__code__ = (lambda text: text).__code__\n    return sum(prices)"
    ),
    "patched test": (
        "import sys\n    for name, module in list(sys.modules.items()):\n        if name.endswith('test_basket'):\n"
        "            module.test_total.__code__ = module.test_many.__code__ = (lambda n=0: None).__code__\n"
        "    return sum(prices)"
    ),
    "patched name in the test": (
        "import sys\n    for name, module in list(sys.modules.items()):\n"
        "        if name.endswith('test_basket'): module.unittest = None\n    return sum(prices)"
    ),
    "planted conftest": ("open('tests/conftest.py', 'w').write('import os; os._exit(0)'); return sum(prices)"),
    "deleted tests": "import os; os.remove('tests/test_basket.py'); return sum(prices)",
    "rewritten tests": "open('tests/test_basket.py', 'w').write(''); return sum(prices)",
    "process that goes on": ("import subprocess; subprocess.Popen(['sleep', '1000']); return sum(prices)"),
    "fork that goes on": "import os, time\n    if not os.fork(): time.sleep(1000)\n    return sum(prices)",
    "thread that goes on": (
        "import threading, time; threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n"
        "    return sum(prices)"
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
    "equal to everything, renamed": (
        "class A:\n        def __eq__(self, other): return isinstance(other, A)\n    a = A()\n    A = int\n    return a"
    ),
    "equal to everything, of no class": (
        "class A:\n        @property\n        def __class__(self): return int\n"
        "        def __eq__(self, other): return self.__class__ is other.__class__ and True\n    return A()"
    ),
    "framework by way of metadata": (
        "import importlib.metadata\n    kind = importlib.metadata.import_module('stroper.tsetyp_'[::-1]).TestReport\n"
        '    old = vars(kind)["from_item_and_call"]\n    def f(item, call):\n        call.excinfo = None\n'
        "        kind.from_item_and_call = old\n        return kind.from_item_and_call(item, call)\n"
        "    kind.from_item_and_call = staticmethod(f)\n    return 0"
    ),
    "pool that works on": (
        "global POOL\n    import time\n    from concurrent.futures import ThreadPoolExecutor\n"
        "    POOL = ThreadPoolExecutor(2)\n    POOL.submit(time.sleep, 1000)\n    return sum(prices)"
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


SYSTEM = {
    *("another folder and collection", "another program", "closed descriptors", "deaf to signals", "deleted tests"),
    *("endless folders", "expected value by another program", "flooded descriptors", "flooded output", "fork and hang"),
    *("fork and let the child report", "fork bomb", "fork that goes on", "fork that is waited for", "full scratch"),
    *("host's environment", "killed everybody", "killed itself", "link for a home", "locked folders", "memory"),
    *("planted conftest", "process that goes on", "program", "rewritten tests", "segmentation fault"),
    *("site packages of the home", "socket", "thread that goes on", "threads", "written descriptors"),
    "written project",
}
"""Those that ask the system for something: the others do in every sandbox what they do in one."""


def cases(names: Iterable[str]) -> list[tuple[str, str]]:
    """Which are tried in which sandbox."""
    return [("bubblewrap", name) for name in names] + [("landlock", name) for name in names if name in SYSTEM]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Opened]]:
    """Open the project in a sandbox, once for all its cases."""
    projects: dict[str, tuple[Opened, dict[str, str]]] = {}

    def opening(sandbox: str) -> Opened:
        if sandbox == "landlock":
            needs_landlock()
        if sandbox not in projects:
            root = shop(tmp_path_factory.mktemp("shop"))
            before = digest(root)
            limits = {"test_timeout_floor": 0.5, "total_timeout_floor": 1.5}
            limits |= {"memory_mib": 384, "scratch_mib": 32, "processes": 32}
            projects[sandbox] = Opened(root, sandbox=sandbox, **limits), before
        return projects[sandbox][0]

    yield opening
    for project, before in projects.values():
        assert clean(project, "at the end") is Outcome.PASS
        project.oracle.close()
        assert digest(project.codebase.root) == before


def clean(project: Opened, mark: str) -> Outcome:
    """What a right candidate comes to that was not judged yet."""
    right = project.candidate(PATH, BODY, f"return sum(prices)  # {mark}")
    return project.oracle.judge(right, project.covering(PATH, 8)).outcome


def digest(root: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(root.rglob("*")) if path.is_file()
    }


@pytest.mark.parametrize(("sandbox", "name"), cases(ATTACKS))
def test_an_attack_does_not_pass_and_leaves_no_trace(opened: Callable[[str], Opened], sandbox: str, name: str) -> None:
    project = opened(sandbox)
    verdict = project.oracle.judge(project.candidate(PATH, BODY, ATTACKS[name]), project.covering(PATH, 8))
    assert verdict.outcome not in (Outcome.PASS, Outcome.INFRASTRUCTURE, Outcome.NOT_EXECUTED), verdict.detail
    if name in SYSTEM:  # the others change nothing but their own process: one clean candidate comes after them all
        assert clean(project, name) is Outcome.PASS


HONEST = {
    "exception in the log": (
        "import logging\n    try: prices[99]\n    except IndexError: logging.exception('none')\n    return sum(prices)"
    ),
    "log call with exc_info": (
        "import logging\n    try: prices[99]\n    except IndexError: logging.warning('none', exc_info=True)\n"
        "    return sum(prices)"
    ),
    "traceback": (
        "import traceback\n    try: prices[99]\n    except IndexError:\n        traceback.print_exc()\n"
        "        assert 'IndexError' in traceback.format_exc()\n    return sum(prices)"
    ),
    "program": (
        "import subprocess, sys\n    text = '+'.join(map(str, prices)) or '0'\n"
        "    return int(subprocess.run([sys.executable, '-c', 'print(%s)' % text], stdout=-1).stdout)"
    ),
    "template that is run": (
        "names = {}\n    exec('def add(values):\\n    return {0}(values)'.format('sum'), names)\n"
        "    return names['add'](prices)"
    ),
    "calculator": ("return eval('+'.join(map(str, prices)) or '0')"),
    "another folder and collection": (
        "import gc, os\n    here = os.getcwd()\n    os.chdir('/tmp')\n    gc.collect()\n    os.chdir(here)\n"
        "    return sum(prices)"
    ),
    "its own module": ("import sys\n    return sys.modules[__name__].RATE * sum(prices) // 2"),
    "fork that is waited for": (
        "import os\n    pid = os.fork()\n    if pid == 0: os._exit(0)\n    os.waitpid(pid, 0)\n    return sum(prices)"
    ),
    "threads": (
        "from concurrent.futures import ThreadPoolExecutor\n    with ThreadPoolExecutor(2) as pool:\n"
        "        return sum(pool.map(int, prices))"
    ),
    "inspect": ("import inspect\n    return sum(prices) if inspect.stack()[0].function == 'total' else 0"),
    "numbers of other classes": ("from fractions import Fraction\n    return sum(map(Fraction, prices))"),
    "class made on the way": ('return type("Sum", (), {"of": staticmethod(sum)}).of(prices)'),
    "version": ("import importlib.metadata as m\n    return sum(prices) if callable(m.version) else None"),
    "helper that compares its own parts": (
        "class Price:\n        def __init__(self, n): self.n = n\n"
        "        def __eq__(self, other): return isinstance(other, Price) and self.n == other.n\n"
        "        def __lt__(self, other): return self.n < other.n\n"
        "        def __hash__(self): return hash(self.n)\n        def __bool__(self): return self.n > 0\n"
        "    return sum(price.n for price in sorted(map(Price, prices)))"
    ),
    "text that ignores case": (
        "class Text(str):\n        def __contains__(self, key): return super().__contains__(key.lower())\n"
        "    return sum(prices) if 'A' in Text('abc') else None"
    ),
    "pool in a global": (
        "global POOL\n    from concurrent.futures import ThreadPoolExecutor\n    POOL = ThreadPoolExecutor(2)\n"
        "    return sum(POOL.map(int, prices))"
    ),
    "warning": ("import warnings\n    warnings.warn('old', stacklevel=2)\n    return sum(prices)"),
}


@pytest.mark.parametrize(("sandbox", "name"), cases(HONEST))
def test_unusual_but_honest_code_passes(opened: Callable[[str], Opened], sandbox: str, name: str) -> None:
    project = opened(sandbox)
    verdict = project.oracle.judge(project.candidate(PATH, BODY, HONEST[name]), project.covering(PATH, 8))
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


@pytest.mark.parametrize(("sandbox", "name"), cases(AT_IMPORT))
def test_an_attack_at_import_does_not_pass(opened: Callable[[str], Opened], sandbox: str, name: str) -> None:
    project = opened(sandbox)
    verdict = project.oracle.judge(project.candidate(PATH, "RATE = 2", AT_IMPORT[name]), project.tests)
    assert verdict.outcome not in (Outcome.PASS, Outcome.INFRASTRUCTURE, Outcome.NOT_EXECUTED), verdict.detail
