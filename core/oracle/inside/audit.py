"""Hear of interpreter introspection, by an audit hook that cannot be taken away again."""

from __future__ import annotations

import os
import sys
from _thread import get_ident
from os.path import abspath, basename
from typing import Any

import pytest

from .channel import Send

ALWAYS = (
    "gc.get_objects",
    "gc.get_referrers",
    "gc.get_referents",
    "sys._current_frames",
    "sys._current_exceptions",
    "sys.addaudithook",
    "sys.settrace",
    "sys.setprofile",
    "sys.monitoring.register_callback",
    "os.fork",
    "os.forkpty",
    "os.kill",
    "os.killpg",
    "os.exec",
    "signal.pthread_kill",
    "ctypes.dlopen",
    "ctypes.dlsym",
    "ctypes.cdata",
    "ctypes.call_function",
)
STARTING = ("subprocess.Popen", "os.posix_spawn", "os.system")
"""Of programs, which could read what this process is not seen to read."""
LINKING = ("os.symlink", "os.link")
LOADING = ("marshal.loads", "marshal.load", "code.__new__")
"""Code from elsewhere than a text, which may bear the name of any file."""
DEPTH = 8
FRAMES = ("cr_frame", "gi_frame", "ag_frame", "tb_frame")
REVEALING = ("inspect.py", "traceback.py", "asyncio/base_tasks.py")
"""Library files that hand out frames, or what is in them."""
IMPORTING = "<frozen importlib"
TEST_FOLDERS = frozenset(["test", "tests", "testing"])


def text_of(path: object) -> str:
    """A path as plain text, whatever the methods of its class say; empty for what is none."""
    if isinstance(path, bytes):
        return bytes.decode(path, "utf-8", "surrogateescape")
    return str.__str__(path) if isinstance(path, str) else ""


def is_test(path: str) -> bool:
    """Whether a file that is opened looks like a module of tests."""
    return path.endswith((".py", ".pyc")) and "test" in basename(path)


class Places:
    """Which files are the project's or a candidate's own, and which a library's."""

    def __init__(self, root: str) -> None:
        """`root`: of the project, with a separator at its end."""
        self._root = root
        fixed = [os.path.dirname(os.__file__), os.path.dirname(os.path.dirname(pytest.__file__))]
        others = [entry for entry in sys.path if os.path.isdir(entry) and not os.access(entry, os.W_OK)]
        self._pytest = fixed[1] + os.sep + "_pytest" + os.sep
        self._libraries = tuple(abspath(entry) + os.sep for entry in (*fixed, *others))
        self._abspath = abspath

    def own(self, filename: str) -> bool:
        """Whether code of that file counts as the project's: all but a library's does."""
        if filename.startswith("<"):
            return not filename.startswith("<frozen")
        return filename.startswith(self._root) or not filename.startswith(self._libraries)

    def framework(self, filename: str) -> bool:
        """Whether it is pytest's, whose classes show frames."""
        return filename.startswith(self._pytest)

    def of_tests(self, path: str) -> bool:
        """Whether a file of the project lies in a folder of tests, and is no code."""
        if not path or path.endswith((".py", ".pyc")):
            return False
        full = self._abspath(path)
        return full.startswith(self._root) and not TEST_FOLDERS.isdisjoint(full[len(self._root) :].split(os.sep)[:-1])

    def forged(self, source: object, filename: object) -> bool:
        """Whether a text is compiled under the name of a library's file that does not hold it."""
        if not isinstance(filename, str) or filename.startswith("<frozen"):
            return True
        if self.own(filename):
            return False
        try:
            with open(filename, "rb") as file:
                return file.read() != source
        except OSError:
            return True

    def imported(self, frame: Any) -> bool:
        """Whether compiled code is read by the interpreter's own loaders, from where no candidate can write."""
        named = frame.f_locals.get("bytecode_path") if frame.f_code.co_filename.startswith(IMPORTING) else None
        caller = frame.f_back
        loader = caller.f_locals.get("self") if caller is not None else None
        known = type(loader).__module__ == "_frozen_importlib_external"
        return known and isinstance(named, str) and named.startswith((self._root, *self._libraries))


def install(send: Send, root: str) -> None:
    """Report each new pair of event and calling file; the host compares them with those of the unmodified project."""
    always = frozenset(ALWAYS)
    heard = always | {"sys._getframe", "object.__setattr__", "object.__getattr__", "open", "compile"}
    heard |= {*STARTING, *LINKING, *LOADING}
    frame_of = sys._getframe
    seen: set[tuple[str, str]] = set()
    busy: set[int] = set()
    thread = get_ident
    places = Places(root)
    own = places.own

    def revealing(filename: str) -> bool:
        return own(filename) or filename.endswith(REVEALING)

    def hands_out(frame: Any) -> bool:
        """Whether a library function returns the frame to whom called it: `logging.currentframe` does."""
        caller = frame.f_back
        named = frame.f_code.co_name in ("currentframe", "<lambda>")
        return named and caller is not None and own(caller.f_code.co_filename)

    def reader(frame: Any) -> Any:
        """The frame that wanted the file, behind the standard library's own."""
        for _ in range(DEPTH):
            if frame.f_back is None or own(frame.f_code.co_filename):
                break
            frame = frame.f_back
        return frame

    def importing(frame: Any) -> bool:
        """Whether a module is behind it that is being imported."""
        while frame is not None and not own(frame.f_code.co_filename):
            if frame.f_code.co_filename.startswith(IMPORTING) or places.framework(frame.f_code.co_filename):
                return True
            frame = frame.f_back
        return False

    def file_read(path: str, frame: Any) -> tuple[str, str] | None:
        if path.endswith(".pyc") and importing(frame):
            return None
        filename = reader(frame).f_code.co_filename
        if is_test(path):
            return "open:" + basename(path), filename
        return ("open:data of tests", filename) if places.of_tests(path) and own(filename) else None

    def loaded(event: str, arguments: tuple[Any, ...], frame: Any) -> tuple[str, str] | None:
        """Code that is made, when it is not that of a module that is being imported."""
        if event == "compile":
            return (event, frame.f_code.co_filename) if places.forged(*arguments[:2]) else None
        if event != "code.__new__":
            return None if places.imported(frame) else (event, reader(frame).f_code.co_filename)
        filename = reader(frame).f_code.co_filename
        return (event, filename) if own(filename) else None

    def attribute(event: str, name: str, frame: Any) -> tuple[str, str] | None:
        filename = frame.f_code.co_filename
        told = own(filename) or (filename.endswith(REVEALING[-1:]) and name in FRAMES)
        if not told and ((name in FRAMES and places.framework(filename)) or name == "__closure__"):
            filename = reader(frame).f_code.co_filename
            told = own(filename)
        return (event + ":" + name, filename) if told else None

    def named(event: str, arguments: tuple[Any, ...], frame: Any) -> tuple[str, str] | None:
        """What is to be reported: the event and the file that is behind it."""
        filename = frame.f_code.co_filename
        if event == "open" or event in LINKING:
            return file_read(text_of(arguments[0]), frame)
        if event == "compile" or event in LOADING:
            return loaded(event, arguments, frame)
        if event in STARTING:
            return event, reader(frame).f_code.co_filename
        if event.startswith("object."):
            return attribute(event, str(arguments[1]), frame)
        return (event, filename) if event in always or revealing(filename) or hands_out(frame) else None

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in heard or thread() in busy:
            return
        if event == "object.__getattr__" and arguments[1] == "__code__":
            return
        busy.add(thread())
        try:
            told = named(event, arguments, frame_of(1))
            if told is not None and told not in seen:
                seen.add(told)
                send("audit", *told)
        except ValueError:
            return
        finally:
            busy.discard(thread())

    sys.addaudithook(hook)
