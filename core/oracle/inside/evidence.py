"""Proof that the framework still tells right from wrong when all tests have passed."""

from __future__ import annotations

import builtins
import contextlib
import gc
import operator
import os
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator
from itertools import compress
from typing import Any

NOTES = ("_pytest_diamond_inheritance_warning_shown",)
"""What pytest notes on a class of its own at the first item, base or derived class first as the files come."""
OWN = "_rtc_inspector_inside"
FRAMEWORK = ("pytest", "_pytest", "pluggy", OWN)
STANDARD = os.path.dirname(os.__file__) + os.sep
"""Where the standard library lies, which tests and pytest call: `re.search = lambda *a: True` hides failures too."""
INSTALLED = ("site-packages", "dist-packages")
PYTESTS = frozenset(["pdb.set_trace", "sys.unraisablehook", "threading.excepthook", "warnings._showwarnmsg_impl"])
"""What pytest replaces by itself while it runs."""
CODE_OF, VALUE_OF = operator.attrgetter("__code__"), operator.attrgetter("value")
DIFFERS, IS_NOT = operator.ne, operator.is_not
HEAP = 1 << 9
"""Among the flags of a class: it was made by a `class` statement, or as one."""
PROXIED, NUMBERED = 16, 24
"""Where, in its object, a proxy keeps the address of its dictionary, and a dictionary its number."""
GRACE = 0.2
"""Seconds that threads have to end, once the tests have."""


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

    def number(self) -> Any:
        """Return what holds the number of the owner's dictionary, see `_numbered`.

        A class shows its dictionary through a proxy.
        """
        names = vars(self.owner)
        address = id(names) if type(names) is dict else _at(id(names) + PROXIED).value
        return _at(address + NUMBERED)

    def changes(self) -> list[str]:
        """Names whose value is another object now. Identity alone counts: `==` could be the candidate's own."""
        now = vars(self.owner)
        if [*map(id, now.values())] == self._ids:
            return []
        changed = [key for key, value in self._held.items() if now.get(key) is not value and self._matters(value)]
        added = [key for key in now if key not in self._held and self._shadows(key)]
        return [self._name() + "." + key for key in changed + added]

    def recoded(self) -> list[str]:
        """Functions that have other code now."""
        pairs = zip(self._functions, self._codes)
        other = [function for function, code in pairs if CODE_OF(function) is not code]
        return [self._name() + "." + function.__name__ + ".__code__" for function in other]

    def _name(self) -> str:
        return str(getattr(self.owner, "__name__", self.owner))

    def _matters(self, value: Any) -> bool:
        """Counters and caches may change; what can be called may not."""
        return self._every or callable(value) or isinstance(value, (classmethod, staticmethod, property))

    def _shadows(self, key: str) -> bool:
        """Return whether a new name hides an inherited or a built-in one; pytest's own notes are known."""
        if key in NOTES:
            return False
        if isinstance(self.owner, type):
            return any(key in vars(base) for base in self.owner.__mro__[1:])
        return hasattr(builtins, key) and not key.startswith("__")


def _functions(values: Iterable[Any]) -> Iterator[types.FunctionType]:
    """Python functions among the values, behind what wraps them in a class."""
    for value in values:
        if isinstance(value, (classmethod, staticmethod)):
            value = value.__func__
        elif isinstance(value, property):
            value = value.fget
        if isinstance(value, types.FunctionType):
            yield value


def _at(address: int) -> Any:
    import ctypes

    return ctypes.c_uint64.from_address(address)


def _numbered() -> bool:
    """Return whether Python keeps a number on each dictionary that changes with it, and it is where it is looked for.

    Looking at the values themselves costs a forked process a copy of the page that each lies on.
    """
    if sys.implementation.name != "cpython" or sys.maxsize < 1 << 32 or vars(sys).get("abiflags"):
        return False
    with contextlib.suppress(ImportError):
        kind, module = type("Tried", (), {}), types.ModuleType("tried")
        proxy = vars(kind)
        if _at(id(proxy) + PROXIED).value != id(gc.get_referents(proxy)[0]):
            return False
        for owner in (_Owner(kind), _Owner(module)):
            number = owner.number()
            for change in (setattr, setattr, delattr):
                before = number.value
                change(owner.owner, "tried", *([object()] if change is setattr else []))
                if number.value == before:
                    return False
        return True
    return False


def snapshot() -> Callable[[bool], list[str]]:
    """Remember the framework and the standard library as they are; the function returned names what has changed.

    It looks at the code of functions where it is told to: setting one is heard of, see `audit.py`.
    """
    modules = [(name, module) for name, module in [*sys.modules.items()] if _is_watched(name, module)]
    owners = [_Owner(module) for _, module in modules]
    owners += [_Owner(kind) for kind in _classes([module for _, module in modules])]
    names = [name for name, _ in modules if not name.startswith(OWN)]
    shown = [module for name, module in modules if not name.startswith(OWN)]
    finders, threads = list(sys.meta_path), _threads()
    numbers = [owner.number() for owner in owners] if _numbered() else []
    before = [number.value for number in numbers]

    def changes(recoded: bool) -> list[str]:
        suspects = owners
        if numbers and not recoded:
            suspects = [*compress(owners, map(DIFFERS, map(VALUE_OF, numbers), before))]
        found = {name for owner in suspects for name in owner.changes()}
        if recoded:
            found.update(name for owner in owners for name in owner.recoded())
        found.update("sys.modules." + name for name in compress(names, map(IS_NOT, map(sys.modules.get, names), shown)))
        new = [finder for finder in sys.meta_path if not any(finder is old for old in finders)]
        found.update("meta_path." + type(finder).__name__ for finder in new)
        if sys.gettrace() is not None or sys.getprofile() is not None:
            found.add("sys.settrace")
        if _outlive(threads):
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


def _classes(modules: list[Any]) -> list[type]:
    """Classes that these modules define and that can be changed, each once."""
    found: dict[int, type] = {}
    for module in modules:
        for value in list(vars(module).values()):
            if isinstance(value, type) and value.__flags__ & HEAP and value.__module__ == module.__name__:
                found.setdefault(id(value), value)
    return [*found.values()]


def _threads() -> int:
    return len(os.listdir("/proc/self/task"))


def _outlive(threads: int) -> bool:
    """Return whether more of them run than did, after a moment in which those that are about to end may do so."""
    give_up = time.monotonic() + GRACE
    while (more := _threads() - threads) > 0:
        if time.monotonic() > give_up:
            return more > _idle()
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
        """Watch the foreign modules that `module` names, and the `testing` of each.

        What a test calls as `numpy.testing.assert_allclose` is looked up when it is called.
        """
        named = [value for value in vars(module).values() if isinstance(value, types.ModuleType)]
        named += [inner for value in named for inner in [vars(value).get("testing")] if isinstance(inner, type(value))]
        for library in named:
            own = (getattr(library, "__file__", None) or "").startswith(self._root)
            if not own and id(library) not in self._owners and not _is_watched(library.__name__, library):
                self._owners[id(library)] = _Owner(library)

    def changes(self) -> list[str]:
        """Names of what they no longer hold."""
        return [name for owner in self._owners.values() for name in (*owner.changes(), *owner.recoded())]
