"""Tests of a generated project, which need no pytest, and programs that can only compute, which share a process."""

from __future__ import annotations

import ast
import builtins
import collections
import gc
import importlib
import io
import json
import os
import random
import re
import signal
import sys
import time
import weakref
from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any, Callable

from .candidate import REFUSALS, files_of, take_up
from .child import STOPPED, Send
from .messages import message_of, relative, signature_in
from .screening import screen
from .sources import install
from .tampering import Places, Watch, hear_audit, hide, snapshot

_NODES = """
Module FunctionDef arguments arg Return Delete Assign AugAssign AnnAssign For While If Raise Try ExceptHandler
Assert Import ImportFrom alias Global Nonlocal Expr Pass Break Continue
BoolOp NamedExpr BinOp UnaryOp Lambda IfExp Dict Set ListComp SetComp DictComp GeneratorExp comprehension
Yield YieldFrom Compare Call keyword FormattedValue JoinedStr Constant Attribute Subscript Starred Name List Tuple
Slice Index ExtSlice And Or Add Sub Mult MatMult Div Mod Pow LShift RShift BitOr BitXor BitAnd
FloorDiv Invert Not UAdd USub Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn
"""
NODES = frozenset(_NODES.split())  # kinds of nodes that a tree may hold

_BUILTINS = """
abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float format frozenset
hash hex int isinstance issubclass iter len list map max min next oct ord pow print range repr reversed round set
slice sorted str sum tuple zip NotImplemented Ellipsis
Exception ArithmeticError AssertionError AttributeError IndexError KeyError LookupError NameError
NotImplementedError OverflowError RecursionError RuntimeError StopIteration TypeError UnicodeError ValueError
ZeroDivisionError
"""
BUILTINS = frozenset(_BUILTINS.split())

MODULES = {
    "math": "",
    "cmath": "",
    "itertools": "",
    "heapq": "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest",
    "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
    "collections": "Counter OrderedDict defaultdict deque",
    # No `wraps` and no `total_ordering`: they set attributes of what they are given.
    "functools": "cache cmp_to_key lru_cache partial reduce",
    # No `attrgetter` and no `methodcaller`: they reach attributes by a text.
    "operator": "add and_ eq floordiv ge gt itemgetter le lt mod mul ne neg not_ or_ pow sub truediv xor",
    "string": "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits printable punctuation "
    "whitespace",
    "re": "A ASCII I IGNORECASE M MULTILINE S DOTALL X VERBOSE compile escape findall finditer fullmatch match search "
    "split sub subn",
    "random": "choice choices randint random randrange sample seed shuffle uniform",
    "statistics": "fmean mean median median_high median_low mode pstdev pvariance stdev variance",
    "fractions": "Fraction",
    "decimal": "Decimal",
    "hashlib": "md5 sha1 sha256 sha512",
    "copy": "copy deepcopy",
    "sys": "maxsize",
    "typing": "Any Callable Deque DefaultDict Dict FrozenSet Generator Iterable Iterator List Mapping NoReturn "
    "Optional Sequence Set Text Tuple Union",
    "__future__": "annotations",
}
"""Modules that a program may import, and which of their names it may use; of those with an empty text, all."""

_KINDS: tuple[type, ...] = (str, bytes, bytearray, int, float, complex, list, tuple, dict, set, frozenset, range, slice)
_KINDS += (collections.Counter, collections.OrderedDict, collections.defaultdict, collections.deque)
_KINDS += (re.Pattern, type(re.match("", "")))
# Not `format`: "{0.f_back}".format(...) reaches attributes by a text. It is allowed on a literal that does not.
ATTRIBUTES = frozenset(name for kind in _KINDS for name in dir(kind) if name[0] != "_") - {"format", "format_map"}
ATTRIBUTES |= {"__name__", "args", "cache_clear", "cache_info", "close", "digest", "hexdigest", "send", "value"}
REACHING = re.compile(r"\{[^{}:!]*[.\[]")  # a field of a format that looks into its value
OTHERS = frozenset(dir(builtins)) - BUILTINS
LONGEST = 50_000  # characters of a program
SUSPECT = re.compile(
    r"(?m)^\s*(?:class|async|with)\b.*:|\b(?:open|exec|eval|getattr|setattr|globals)\(|\bimport os\b|\.__(?!name__)"
)
"""What nearly always stands for something that is on no list; looked for before anything is parsed."""


def confined(tree: ast.Module) -> bool:
    """Return whether each part of the program is on a list."""
    kinds: dict[str, list[Any]] = {}
    for node in _walk(tree):
        kinds.setdefault(type(node).__name__, []).append(node)
    if not NODES.issuperset(kinds):
        return False

    def of(kind: str) -> list[Any]:
        return kinds.get(kind, [])

    imported = {(each.asname or each.name, each.name) for node in of("Import") for each in node.names}
    modules = dict(imported)
    if len(modules) < len(imported) or not MODULES.keys() >= {*modules.values()}:
        return False
    bound = {node.id for node in of("Name") if type(node.ctx) is not ast.Load}
    bound.update(node.arg for node in of("arg"))
    bound.update(node.name for kind in ("FunctionDef", "ExceptHandler") for node in of(kind) if node.name)
    for node in of("ImportFrom"):
        if node.level or not all(_offers(str(node.module), each.name) for each in node.names):
            return False
        bound.update(each.asname or each.name for each in node.names)
    # A name that is bound in one scope means the built-in one in another, and a module's could be anything's.
    if (
        not bound.isdisjoint(OTHERS)
        or not bound.isdisjoint(modules)
        or any(name[:2] == "__" for name in bound.union(modules))
    ):
        return False
    allowed = bound | BUILTINS | {"__name__"}
    asked = {id(name) for name in _types_asked(of("Compare"), of("Attribute"))}
    asked.update(id(node.value) for node in of("Attribute") if getattr(node.value, "id", None) in modules)
    named = all(node.id in allowed or id(node) in asked for node in of("Name"))
    return named and all(_plain(node, modules) for node in of("Attribute"))


def _walk(tree: ast.AST) -> list[ast.AST]:
    """Return all nodes but those that say how a name is used, faster than `ast.walk`: every candidate waits for it."""
    nodes = [tree]
    for node in nodes:
        for value in vars(node).values():
            if type(value) is list:
                nodes += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                nodes.append(value)
    return nodes


def _types_asked(compared: Sequence[Any], attributes: Sequence[Any]) -> Iterator[ast.expr]:
    """Yield each `type` in `type(x) == y` or `type(x).__name__`: elsewhere a program could make classes with it."""
    looked = [side for node in compared for side in (node.left, *node.comparators)]
    looked += [node.value for node in attributes if node.attr == "__name__"]
    for call in looked:
        if type(call) is not ast.Call or len(call.args) != 1 or call.keywords:
            continue
        if type(call.func) is ast.Name and call.func.id == "type" and type(call.args[0]) is not ast.Starred:
            yield call.func


@lru_cache(maxsize=None)
def _offers(module: str, name: str) -> bool:
    names = MODULES.get(module)
    if names is None:
        return False
    return name in names.split() or (not names and name[0] != "_" and name in dir(importlib.import_module(module)))


def _plain(node: ast.Attribute, modules: dict[str, str]) -> bool:
    base = node.value
    if not isinstance(node.ctx, ast.Load):
        return False
    if isinstance(base, ast.Name) and base.id in modules:
        return _offers(modules[base.id], node.attr)
    if node.attr == "format":
        text = getattr(base, "value", None)
        return isinstance(base, ast.Constant) and isinstance(text, str) and REACHING.search(text) is None
    return node.attr in ATTRIBUTES


assert sys.platform != "win32"  # inside a sandbox

UNFIT = -1  # what a child answers where a program is not for it
FAREWELL = 0.2  # seconds that what a program left in the middle of something may take to end
HELPER = "rtc_recording"  # what the tests import of the generated project beside its programs


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
        self._places = Places(self._root)
        # As it is before any program: one that is imported could replace what records the answers.
        self._watch = Watch(self._root)
        self._watch.add([SimpleNamespace(module=self._helper)])
        hide()

    def prepare(self, request: dict[str, Any]) -> None:
        """Compile the tests once for all candidates, which cannot change them; in the process that forks."""
        for file in files_of(request["tests"]):
            if file not in self._codes:
                path = os.path.join(self._root, file)
                with open(path, "rb") as source:  # nothing keeps the text, which a program could find
                    self._codes[file] = compile(source.read(), path, "exec", dont_inherit=True)

    def run(self, send: Send, request: dict[str, Any]) -> None:
        if request.get("changes") and not take_up(send, request, self._config, self._finder):
            return
        leave = os._exit
        patched = hear_audit(send, self._places, request)
        status = self._judge(send, request, patched, self._watch)
        if status:
            leave(status)

    def may_share(self, request: dict[str, Any]) -> bool:
        """Return whether a program is worth a closer look."""
        texts = [change["text"] for change in request.get("changes", ())]
        if len(texts) != 1 or request.get("stream"):
            return False
        return len(texts[0]) <= LONGEST and SUSPECT.search(texts[0]) is None

    def share(self, send: Send, asked: int) -> None:
        """Judge programs one after another, as long as they can do nothing but compute; in a child.

        Each leaves nothing to the next: its module goes, and what it has in the middle of something (a generator that
        waits in a `try`, say) is ended before the answer. This process ends with the first program of which something
        is left that could still run, or behind which anything is found changed.
        """
        odd: list[str] = []

        def report(kind: str, *values: Any, wait: bool = False) -> None:
            # How much memory there is depends on who was here before.
            short = any("MemoryError" in value for value in values if isinstance(value, str))
            if short or (kind == "evidence" and values[1]):
                odd.append(kind)
            send(kind, *values, wait=kind != "start")  # all else is wanted with the answer, and each write costs

        patched = hear_audit(lambda *heard: odd.append("audit"), self._places, {})
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
            status = self._judge(report, request, patched, None)
            gone = self._forget(request["tests"], change)
            send("answer", UNFIT if odd else status, gone and not odd)

    def _take_confined(self, change: dict[str, Any]) -> bool:
        """Have the program imported from now on; False where it can do more than compute, or does not compile."""
        path = os.path.join(self._root, change["path"])
        try:
            text = change["text"].encode(change["encoding"])
            tree: Any = compile(text, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
            if not confined(tree) or screen(change["original"], change["text"]):
                return False
            self._finder.place(path, text, compile(tree, path, "exec", dont_inherit=True), ".".join(_module_of(change)))
        except REFUSALS:
            return False
        return True

    def _forget(self, tests: list[str], change: dict[str, Any]) -> bool:
        """Drop the program and its tests; return whether nothing is left of it that could run.

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
        """Run the tests and report them; return the status that this is to end with.

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
    """Calls tests and reports them, as `Reporter` does for pytest; `modules`: the files of tests that were imported."""

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
            message = "" if error is None else message_of(error, self._root)
            more = error is None and test != found[-1]
            values = (test, outcome, seconds, message, output, len(printed) - len(output), signature_in(properties))
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
    """Pass."""


def _wrong(record_property: object) -> None:
    raise AssertionError("canary")


def _module_of(change: dict[str, Any]) -> list[str]:
    return str(change["path"])[: -len(".py")].split("/")


def _module_name(file: str) -> str:
    return os.path.splitext(os.path.basename(file))[0]
