"""Proof that the test framework still tells right from wrong, and an audit hook that hears who reads tests."""

from __future__ import annotations

import builtins
import importlib.util
import operator
import os
import re
import sys
import time
import types
from _thread import get_ident
from collections.abc import Callable, Iterable, Iterator
from itertools import compress
from os.path import abspath, basename
from typing import Any

from .child import Send

READS = "reads "  # how events begin that are held against a candidate
DATA = READS + "data of tests"
PROGRAMS = frozenset(["subprocess.Popen", "os.posix_spawn", "os.system", "os.exec"])
SIGNALS = frozenset(["os.kill", "os.killpg", "signal.pthread_kill"])
QUOTING = ("traceback.py", "warnings.py", "rewrite.py")
SETTING = "object.__setattr__"  # what is heard where the code of a function is set, or the bases of a class
PATCHING = frozenset([SETTING, "ctypes.dlopen", "ctypes.dlsym", "ctypes.cdata", "ctypes.call_function"])
OPENING = ("open", "os.symlink", "os.link")
TEST_FOLDERS = frozenset(["test", "tests", "testing"])
NAMES_TESTS = re.compile(r"(?<![\w-])tests?/|(?<![\w-])tests\b|\btest_\w*\.py|_test\.py|\bconftest\b|\btest[\w]*\*")
"""In the arguments of a program: what it would read tests by."""
TEST_FILE = re.compile(r"(test\w*|\w+_tests?|conftest)(\.[\w-]+)?\.pyc?")
MOST_FRAMES = 100


def text_of(path: object) -> str:
    """Return a path as plain text, whatever the methods of its class say; empty for what is none."""
    if isinstance(path, bytes):
        return bytes.decode(path, "utf-8", "surrogateescape")
    return str.__str__(path) if isinstance(path, str) else ""


class Places:
    """Whose code a file holds; `changed`: paths of the candidate's files, which are no tests."""

    def __init__(self, root: str) -> None:
        """`root`: of the project. What is on the path for imports by now is a library if it cannot be written to."""
        self.root = root + os.sep
        self.changed: frozenset[str] = frozenset()
        pytest = importlib.util.find_spec("pytest")
        fixed = [os.path.dirname(os.__file__)]
        fixed += [os.path.dirname(os.path.dirname(pytest.origin))] if pytest is not None and pytest.origin else []
        others = [entry for entry in sys.path if os.path.isdir(entry) and not os.access(entry, os.W_OK)]
        self._libraries = tuple(abspath(entry) + os.sep for entry in (*fixed, *others))
        self._abspath = abspath

    def own(self, filename: str) -> bool:
        """Return whether it is the project's, or made by its code: all but a library's is."""
        if filename.startswith("<"):
            return not filename.startswith("<frozen")
        return filename.startswith(self.root) or not filename.startswith(self._libraries)

    def of_tests(self, path: str) -> str:
        """Return what reading a file is called; empty unless it holds tests or lies among the project's tests."""
        full = self._abspath(path) if path else ""
        if not full.startswith(self.root) or full in self.changed:
            return ""
        *folders, name = full[len(self.root) :].split(os.sep)
        if TEST_FILE.fullmatch(name):
            return READS + name
        return DATA if not TEST_FOLDERS.isdisjoint(folders) else ""


def hear_audit(send: Send, places: Places, request: dict[str, Any]) -> Callable[[], bool]:
    """Report each new pair of event and file that is behind it; the host knows those of the unmodified project.

    The files that `request` changes are no tests. The function returned says whether functions may have other code.
    """
    heard = PROGRAMS | SIGNALS | frozenset(OPENING)
    frame_of, thread = sys._getframe, get_ident
    places.changed = frozenset(places.root + change["path"] for change in request.get("changes", ()))
    seen: set[tuple[str, str]] = set()
    busy: set[int] = set()
    patched = False

    def behind(frame: Any) -> str:
        """Return the project's file that is behind what a library does; empty where that is the library's own affair.

        Tracebacks and warnings quote lines of tests, and so does `inspect.stack`: `logging.exception` is honest where
        the exception comes from a callback of a test.
        """
        for _ in range(MOST_FRAMES):
            code = frame.f_code
            if places.own(code.co_filename):
                return str(code.co_filename)
            if basename(code.co_filename) in QUOTING or code.co_name in ("getframeinfo", "get_code"):
                break
            frame = frame.f_back
            if frame is None:
                break
        return ""

    def named(event: str, arguments: tuple[Any, ...]) -> str:
        if event in OPENING:
            return places.of_tests(text_of(arguments[0]))
        if event in SIGNALS:
            return "signals"
        return READS + "tests by a program" if NAMES_TESTS.search(repr(arguments[:2])) else ""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal patched
        patched = patched or event in PATCHING
        if event not in heard or thread() in busy:
            return
        busy.add(thread())
        try:
            deed = named(event, arguments)
            file = behind(frame_of(1)) if deed else ""
            if file and (deed, file) not in seen and not places.of_tests(file):
                seen.add((deed, file))
                send("audit", deed, file)
        except ValueError:  # no such frame: the interpreter is about to end
            return
        finally:
            busy.discard(thread())

    sys.addaudithook(hook)
    return lambda: patched


NOTES = ("_pytest_diamond_inheritance_warning_shown",)
"""What pytest notes on a class of its own at the first item, base or derived class first as the files come."""
OWN = "_rtc_inspector_inside"
FRAMEWORK = ("pytest", "_pytest", "pluggy", OWN)
STANDARD = os.path.dirname(os.__file__) + os.sep
"""Where the standard library lies, which tests and pytest call: `re.search = lambda *a: True` hides failures too."""
INSTALLED = ("site-packages", "dist-packages")
PYTESTS = frozenset(["pdb.set_trace", "sys.unraisablehook", "threading.excepthook", "warnings._showwarnmsg_impl"])
"""What pytest replaces by itself while it runs."""
CODE_OF, IS_NOT = operator.attrgetter("__code__"), operator.is_not
HEAP = 1 << 9  # among the flags of a class: it was made by a `class` statement, or as one
GRACE = 0.2  # seconds that threads have to end, once the tests have


class _Owner:
    """A module or class with what it held."""

    def __init__(self, owner: Any, *, every: bool = False) -> None:
        """`every`: plain values count too, not only what can be called."""
        self.owner = owner
        self._every = every
        self._held = dict(vars(owner))
        self._ids = [*map(id, self._held.values())]
        self._functions = [*_functions(self._held.values())]
        self._codes = [*map(CODE_OF, self._functions)]

    def changes(self) -> list[str]:
        """Return names whose value is another object now. Identity alone counts: `==` could be the candidate's own."""
        now = vars(self.owner)
        if [*map(id, now.values())] == self._ids:
            return []
        changed = [
            key
            for key, value in self._held.items()
            if now.get(key) is not value  # counters and caches may change; what can be called may not
            and (self._every or callable(value) or isinstance(value, (classmethod, staticmethod, property)))
        ]
        added = [key for key in now if key not in self._held and self._shadows(key)]
        return [self._name() + "." + key for key in changed + added]

    def recoded(self) -> list[str]:
        pairs = zip(self._functions, self._codes)
        other = [function for function, code in pairs if CODE_OF(function) is not code]
        return [self._name() + "." + function.__name__ + ".__code__" for function in other]

    def _name(self) -> str:
        return str(getattr(self.owner, "__name__", self.owner))

    def _shadows(self, key: str) -> bool:
        """Return whether a new name hides an inherited or a built-in one; pytest's own notes are known."""
        if key in NOTES:
            return False
        if isinstance(self.owner, type):
            return any(key in vars(base) for base in self.owner.__mro__[1:])
        return hasattr(builtins, key) and not key.startswith("__")


def _functions(values: Iterable[Any]) -> Iterator[types.FunctionType]:
    """Yield Python functions among the values, behind what wraps them in a class."""
    for value in values:
        if isinstance(value, (classmethod, staticmethod)):
            value = value.__func__
        elif isinstance(value, property):
            value = value.fget
        if isinstance(value, types.FunctionType):
            yield value


def snapshot() -> Callable[[bool], list[str]]:
    """Remember the framework and the standard library as they are; the function returned names what has changed.

    It looks at the code of functions where it is told to: setting one is heard of, see `hear_audit`.
    """
    modules = [(name, module) for name, module in [*sys.modules.items()] if _is_watched(name, module)]
    owners = [_Owner(module) for _, module in modules]
    classes: dict[int, type] = {}
    for _, module in modules:
        for value in list(vars(module).values()):
            if isinstance(value, type) and value.__flags__ & HEAP and value.__module__ == module.__name__:
                classes.setdefault(id(value), value)
    owners += map(_Owner, classes.values())
    names = [name for name, _ in modules if not name.startswith(OWN)]
    shown = [module for name, module in modules if not name.startswith(OWN)]
    finders, threads, idle = list(sys.meta_path), _threads(), _idle()

    def changes(recoded: bool) -> list[str]:
        found = {name for owner in owners for name in owner.changes()}
        if recoded:
            found.update(name for owner in owners for name in owner.recoded())
        found.update("sys.modules." + name for name in compress(names, map(IS_NOT, map(sys.modules.get, names), shown)))
        new = [finder for finder in sys.meta_path if not any(finder is old for old in finders)]
        found.update("meta_path." + type(finder).__name__ for finder in new)
        if sys.gettrace() is not None or sys.getprofile() is not None:
            found.add("sys.settrace")
        if _outlive(threads, idle):
            found.add("a thread that goes on")
        return sorted(found - PYTESTS)

    return changes


def _is_watched(name: str, module: Any) -> bool:
    if not isinstance(module, types.ModuleType):
        return False
    file = getattr(module, "__file__", None)
    if not isinstance(file, str):  # built into the interpreter; a project's `__main__` is not
        return name in sys.builtin_module_names or getattr(module.__spec__, "origin", "") == "frozen"
    below = file[len(STANDARD) :] if file.startswith(STANDARD) else ""
    first = name.split(".", 1)[0]
    # typing_extensions changes typing when it is imported, which a candidate may be the first to do.
    return first in FRAMEWORK or (bool(below) and below.split(os.sep)[0] not in INSTALLED and first != "typing")


def _threads() -> int:
    return len(os.listdir("/proc/self/task"))


def _outlive(threads: int, idle: int) -> bool:
    """Return whether more of them run than did, after a moment in which those that are about to end may do so.

    `idle`: how many of those waited for work in a pool, as further ones may.
    """
    give_up = time.monotonic() + GRACE
    while (more := _threads() - threads) > 0:
        if time.monotonic() > give_up:
            return more > _idle() - idle
        time.sleep(0.005)
    return False


def _idle() -> int:
    """Count threads of pools that wait for work: a pool in a module's global stays, and does nothing by itself."""
    code = getattr(getattr(sys.modules.get("concurrent.futures.thread"), "_worker", None), "__code__", None)
    return sum(frame.f_code is code for frame in sys._current_frames().values())


def hide() -> None:
    """Have our own modules found under no name, by the last moment before a candidate runs."""
    for name in [name for name in sys.modules if name.split(".", 1)[0] == OWN]:
        del sys.modules[name]


class Watch:
    """Remembers the tests' own modules and classes, and modules that these name: what they use must stay what it was.

    Each is taken as it was before the first of its tests: what a class sets up for its tests is set up once a stage.
    """

    def __init__(self, root: str) -> None:
        """`root`: of the project, whose modules may do as they like where tests only import them."""
        self._root = root + os.sep
        self._owners: dict[int, _Owner] = {}

    def add(self, items: list[Any]) -> None:
        """Watch the modules and classes of tests that are about to run, and the libraries that these name."""
        for item in items:
            module = getattr(item, "module", None)
            for owner in (module, *(kind for kind in getattr(getattr(item, "cls", None), "__mro__", ()))):
                if owner is not None and owner is not object and id(owner) not in self._owners:
                    self._owners[id(owner)] = _Owner(owner, every=True)
                    self._add_libraries(owner)

    def _add_libraries(self, module: Any) -> None:
        """Watch the foreign modules that `module` names, and their `testing`, which is looked up when called."""
        named = [value for value in vars(module).values() if isinstance(value, types.ModuleType)]
        named += [inner for value in named for inner in [vars(value).get("testing")] if isinstance(inner, type(value))]
        for library in named:
            own = (getattr(library, "__file__", None) or "").startswith(self._root)
            if not own and id(library) not in self._owners and not _is_watched(library.__name__, library):
                self._owners[id(library)] = _Owner(library)

    def changes(self) -> list[str]:
        return [name for owner in self._owners.values() for name in (*owner.changes(), *owner.recoded())]
