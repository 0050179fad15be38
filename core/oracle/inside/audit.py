"""What a candidate does that is odd, or reads tests: heard of by an audit hook, which nobody can take away again."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from _thread import get_ident
from os.path import abspath, basename
from typing import Any, Callable, Iterator

from .channel import Send

READS = "reads "
"""How events begin that are held against a candidate; the others become flags."""
DATA = READS + "data of tests"
ODD = {
    **dict.fromkeys(("gc.get_objects", "gc.get_referrers", "gc.get_referents"), "gc"),
    **dict.fromkeys(("sys._getframe", "sys._current_frames", "sys._current_exceptions"), "frames"),
    **dict.fromkeys(("sys.settrace", "sys.setprofile", "sys.addaudithook"), "tracing"),
    **dict.fromkeys(("os.fork", "os.forkpty"), "fork"),
    **dict.fromkeys(("os.kill", "os.killpg", "signal.pthread_kill"), "signals"),
    **dict.fromkeys(("subprocess.Popen", "os.posix_spawn", "os.system", "os.exec"), "subprocess"),
    **dict.fromkeys(("ctypes.dlopen", "ctypes.dlsym", "ctypes.cdata", "ctypes.call_function"), "ctypes"),
}
"""Audit event -> flag."""
QUOTING = ("traceback.py", "warnings.py", "rewrite.py")
SETTING = "object.__setattr__"
"""What is heard where the code of a function is set, or the bases of a class."""
OPENING = ("open", "os.symlink", "os.link")
TEST_FOLDERS = frozenset(["test", "tests", "testing"])
NAMES_TESTS = re.compile(r"(?<![\w-])tests?/|(?<![\w-])tests\b|\btest_\w*\.py|_test\.py|\bconftest\b|\btest[\w]*\*")
"""In the arguments of a program: what it would read tests by."""
TEST_FILE = re.compile(r"(test\w*|\w+_tests?|conftest)(\.[\w-]+)?\.pyc?")
MOST_FRAMES = 100


def text_of(path: object) -> str:
    """A path as plain text, whatever the methods of its class say; empty for what is none."""
    if isinstance(path, bytes):
        return bytes.decode(path, "utf-8", "surrogateescape")
    return str.__str__(path) if isinstance(path, str) else ""


class Places:
    """Whose code a file holds.

    Attributes:
        changed: paths of the candidate's files, which are no tests.
    """

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
        """Return what reading a file of the project is to be called.

        It is empty unless the file holds tests or lies in a folder of tests.
        """
        full = self._abspath(path) if path else ""
        if not full.startswith(self.root) or full in self.changed:
            return ""
        *folders, name = full[len(self.root) :].split(os.sep)
        if TEST_FILE.fullmatch(name):
            return READS + name
        return DATA if not TEST_FOLDERS.isdisjoint(folders) else ""


def install(send: Send, places: Places, request: dict[str, Any]) -> Callable[[], bool]:
    """Report each new pair of event and file that is behind it; the host knows those of the unmodified project.

    The files that `request` changes are no tests. The function returned says whether functions may have other code.
    """
    heard, patching = frozenset([*ODD, *OPENING]), frozenset([SETTING, *(e for e in ODD if ODD[e] == "ctypes")])
    frame_of, thread = sys._getframe, get_ident
    places.changed = frozenset(places.root + change["path"] for change in request.get("changes", ()))
    seen: set[tuple[str, str]] = set()
    busy: set[int] = set()
    patched = False

    def behind(frame: Any, event: str) -> str:
        """The project's file that is behind what a library does; empty where that is the library's own affair.

        Tracebacks and warnings quote lines of tests, and so does `inspect.stack`: `logging.exception` is honest where
        the exception comes from a callback of a test. Modules do all sorts of things while they are imported.
        """
        for _ in range(MOST_FRAMES):
            code = frame.f_code
            if places.own(code.co_filename):
                return str(code.co_filename)
            file, name = basename(code.co_filename), code.co_name
            if event.startswith(READS) and (file in QUOTING or name in ("getframeinfo", "get_code")):
                break
            if not event.startswith(READS) and file.startswith("<frozen importlib"):
                break
            frame = frame.f_back
            if frame is None:
                break
        return ""

    def named(event: str, arguments: tuple[Any, ...]) -> Iterator[str]:
        if event in OPENING:
            yield places.of_tests(text_of(arguments[0]))
            return
        if ODD[event] == "subprocess" and NAMES_TESTS.search(repr(arguments[:2])):
            yield READS + "tests by a program"
        yield ODD[event]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal patched
        patched = patched or event in patching
        if event not in heard or thread() in busy:
            return
        busy.add(thread())
        try:
            for told in filter(None, named(event, arguments)):
                caller = frame_of(1)
                # A library that looks at frames for its own sake, as `collections.namedtuple` does, is ordinary.
                if told != "frames" or places.own(caller.f_code.co_filename):
                    report(told, behind(caller, told))
        except ValueError:  # no such frame: the interpreter is about to end
            return
        finally:
            busy.discard(thread())

    def report(told: str, file: str) -> None:
        if file and (told, file) not in seen and not places.of_tests(file):
            seen.add((told, file))
            send("audit", told, file)

    sys.addaudithook(hook)
    return lambda: patched
