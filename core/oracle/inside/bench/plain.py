"""Tests of a generated project, which need no pytest: functions that are given `record_property` and nothing else.

Each child imports the changed program and its tests anew. A process without pytest is small, and so is what a child of
it copies of it. Programs that can do nothing but compute are judged one after another in the same child.
"""

from __future__ import annotations

import ast
import gc
import importlib
import io
import json
import os
import random
import signal
import sys
import time
import weakref
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any, Callable

from .. import audit
from ..candidate import REFUSALS, files_of, take_up
from ..channel import Send
from ..child import STOPPED
from ..evidence import Watch, hide, snapshot
from ..messages import message_of, relative, signature_in
from ..screening import screen
from ..sources import install
from .confined import confined, perhaps

assert sys.platform != "win32"  # inside a sandbox

UNFIT = -1
"""What a child answers where a program is not for it."""
FAREWELL = 0.2
"""Seconds that what a program left in the middle of something may take to end."""
HELPER = "rtc_recording"
"""What the tests import of the generated project beside its programs."""


class Plain:
    """What children share: modules that the programs import, and the code of the tests that were asked for so far."""

    def __init__(self, config: dict[str, Any]) -> None:
        """Import each program once, for what it imports; raises whatever that raises."""
        self._config = config
        self._root = str(config["root"])
        sys.path.insert(0, os.path.join(self._root, "tests"))
        self._helper = importlib.import_module(HELPER)
        relative("", self._root)  # its pattern is compiled once, and forks have it
        for name in sorted(os.listdir(os.path.join(self._root, "problems"))):
            module, _, ending = name.partition(".")
            if ending == "py" and module != "__init__":
                importlib.import_module("problems." + module)
                del sys.modules["problems." + module]
        self._finder = install()
        self._codes: dict[str, CodeType] = {}
        self._changes = snapshot()
        self._places = audit.Places(self._root)
        # As it is before any program: one that is imported could replace what records the answers.
        self._watch = Watch(self._root)
        self._watch.add([SimpleNamespace(module=self._helper)])
        hide()

    def prepare(self, request: dict[str, Any]) -> None:
        """In the process that forks: compile the tests, which candidates cannot change, once for all of them."""
        for file in files_of(request["tests"]):
            if file not in self._codes:
                path = os.path.join(self._root, file)
                with open(path, "rb") as source:  # nothing keeps the text, which a program could find
                    self._codes[file] = compile(source.read(), path, "exec", dont_inherit=True)

    def run(self, send: Send, request: dict[str, Any]) -> None:
        """Run the request in this child."""
        if request.get("changes") and not take_up(send, request, self._config, self._finder):
            return
        leave = os._exit
        patched = audit.install(send, self._places, request)
        status = self._judge(send, request, patched, self._watch)
        if status:
            leave(status)

    def may_share(self, request: dict[str, Any]) -> bool:
        """In the process that forks: whether it is worth asking a child that judges many."""
        changes = request.get("changes", ())
        return len(changes) == 1 and not request.get("stream") and perhaps(changes[0]["text"])

    def share(self, send: Send, asked: int) -> None:
        """In a child: judge programs one after another, as long as they can do nothing but compute.

        Each leaves nothing to the next: its module goes, and what it has in the middle of something (a generator that
        waits in a `try`, say) is ended before the answer. This process ends with the first program of which something
        is left that could still run, or behind which anything is found changed.
        """
        odd: list[str] = []

        def told(kind: str, *values: Any, wait: bool = False) -> None:
            # How much memory there is depends on who was here before.
            short = any("MemoryError" in value for value in values if isinstance(value, str))
            if short or (kind == "evidence" and values[1]):
                odd.append(kind)
            send(kind, *values, wait=kind != "start")  # all else is wanted with the answer, and each write costs

        patched = audit.install(lambda *heard: odd.append("audit"), self._places, {})
        nothing = io.TextIOWrapper(io.FileIO(os.devnull, "w"), sys.stdout.encoding, sys.stdout.errors)
        drawn = random.getstate()
        gc.freeze()
        for line in os.fdopen(asked, "rb"):
            request = json.loads(line.decode())
            (change,) = request["changes"]
            sys.stdout = sys.stderr = nothing
            random.setstate(drawn)
            self.prepare(request)
            if not self._take_confined(change):
                send("answer", UNFIT, True)
                continue
            odd.clear()  # what was heard so far was our own work
            status = self._judge(told, request, patched, None)
            gone = self._forget(request["tests"], change)
            send("answer", UNFIT if odd else status, gone and not odd)

    def _take_confined(self, change: dict[str, Any]) -> bool:
        """Have the program imported from now on; False where it can do more than compute, or does not compile."""
        path = os.path.join(self._root, change["path"])
        try:
            text = change["text"].encode(change["encoding"])
            tree: Any = compile(text, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
            if not confined(tree) or any(screen(change["original"], change["text"])):
                return False
            self._finder.place(path, text, compile(tree, path, "exec", dont_inherit=True), ".".join(_module_of(change)))
        except REFUSALS:
            return False
        return True

    def _forget(self, tests: list[str], change: dict[str, Any]) -> bool:
        """Drop the program and its tests; whether nothing is left of it that could run.

        Each function has the names of its module, whatever else holds it: they are gone when what was put there is.
        """
        package, name = _module_of(change)
        program = sys.modules.pop(package + "." + name, None)
        vars(sys.modules[package]).pop(name, None)
        for file in files_of(tests):
            sys.modules.pop(_module_name(file), None)
        if program is None:  # it could not be imported
            return False
        mark: set[str] = set()  # can be seen to be gone
        left = weakref.ref(mark)
        vars(program)["the mark of this program"] = mark
        del mark, program
        # What it runs as it ends is no part of a test: where that does not end, this process does, and one of its own
        # says what the program is worth.
        signal.setitimer(signal.ITIMER_REAL, FAREWELL)
        gc.collect()
        signal.setitimer(signal.ITIMER_REAL, 0)
        gc.freeze()  # what is left is needed on: the next collection need not look through it
        return left() is None

    def _judge(self, send: Send, request: dict[str, Any], patched: Callable[[], bool], watch: Watch | None) -> int:
        """Run the tests and report them; the status that this is to end with.

        `watch`: over the tests' own modules, which a program that can only compute has no name for.
        """
        calls = _Calls(send, request, self._root)
        try:
            for file in files_of(request["tests"]):
                calls.load(file, self._codes[file])
            if watch is not None:
                watch.add([SimpleNamespace(module=module) for module in calls.modules])
            calls.all()
        except _Stopped:
            return STOPPED
        if not calls.failed:
            changed = self._changes(patched()) + (watch or self._watch).changes()
            send("evidence", calls.canaries(request["bits"]), changed, wait=True)
        send("end", not calls.failed)
        return 0


class _Stopped(Exception):
    """A test failed, and only the verdict is wanted."""


class _Calls:
    """Calls tests and reports them, as `Reporter` does for pytest.

    Attributes:
        failed: whether a file could not be imported or a test did not pass.
        modules: the files of tests that were imported.
    """

    def __init__(self, send: Send, request: dict[str, Any], root: str) -> None:
        self._send = send
        self._root = root
        self._tests: list[str] = request["tests"]
        self._fail_fast = bool(request.get("fail_fast"))
        self._left = int(request.get("output_bytes", 1 << 18))
        self._functions: dict[str, Callable[..., None]] = {}
        self._clock = time.perf_counter
        self.failed = False
        self.modules: list[ModuleType] = []

    def load(self, file: str, code: CodeType) -> None:
        """Import a file of tests, or report that the program cannot be imported."""
        module = ModuleType(_module_name(file))
        module.__file__ = os.path.join(self._root, file)
        sys.modules[module.__name__] = module
        try:
            exec(code, vars(module))  # noqa: S102 - what an import does
        except Exception as error:
            self._send("collect-error", file, message_of(error, self._root))
            self._fail()
            return
        self._functions.update((file + "::" + name, value) for name, value in vars(module).items())
        self.modules.append(module)

    def all(self) -> None:
        """The tests in their order."""
        found = [test for test in self._tests if test in self._functions]
        self._send("collected", found, wait=True)
        for test in found:
            self._send("start", test)
            started = self._clock()
            error, properties, printed = self._call(self._functions[test])
            seconds = self._clock() - started
            outcome = "passed" if error is None else "failed"
            output = printed[: self._left]
            self._left -= len(output)
            said = "" if error is None else message_of(error, self._root)
            more = error is None and test != found[-1]
            values = (test, outcome, seconds, said, output, len(printed) - len(output), signature_in(properties))
            self._send("test", *values, wait=more)
            if error is not None:
                self._fail()

    def canaries(self, bits: list[int]) -> list[str]:
        """Call tests that must fail (1) or must not, and return how each ended; the parent knows which must fail."""
        return ["passed" if self._call(_wrong if bit else _right)[0] is None else "failed" for bit in bits]

    def _call(self, test: Callable[..., None]) -> tuple[BaseException | None, list[tuple[str, object]], str]:
        """Call a test; return what it raised, what it recorded and what was printed meanwhile."""
        properties: list[tuple[str, object]] = []
        streams, printed = (sys.stdout, sys.stderr), io.StringIO()
        sys.stdout = sys.stderr = printed
        try:
            test(record_property=lambda name, value: properties.append((name, value)))
        except KeyboardInterrupt:  # pytest ends with it, too
            raise
        except BaseException as error:
            return error, properties, printed.getvalue()
        finally:
            sys.stdout, sys.stderr = streams
        return None, properties, printed.getvalue()

    def _fail(self) -> None:
        self.failed = True
        if self._fail_fast:
            raise _Stopped


def _right(record_property: object) -> None:
    """A test that passes."""


def _wrong(record_property: object) -> None:
    raise AssertionError("canary")


def _module_of(change: dict[str, Any]) -> list[str]:
    """Package and module that a program is imported by: all of them lie side by side."""
    return str(change["path"])[: -len(".py")].split("/")


def _module_name(file: str) -> str:
    return os.path.splitext(os.path.basename(file))[0]
