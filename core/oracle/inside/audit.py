"""Hear of interpreter introspection, by an audit hook that cannot be taken away again."""

from __future__ import annotations

import sys
from _thread import get_ident
from os.path import basename
from typing import Any

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
DEPTH = 8
FRAMES = ("cr_frame", "gi_frame", "ag_frame", "tb_frame")
REVEALING = ("inspect.py", "traceback.py", "asyncio/base_tasks.py")
"""Library files that hand out frames, or what is in them."""


def is_test(path: object) -> bool:
    """Whether a file that is opened looks like a module of tests."""
    return isinstance(path, str) and path.endswith(".py") and "test" in basename(path)


def install(send: Send, root: str) -> None:
    """Report each new pair of event and calling file; the host compares them with those of the unmodified project."""
    always = frozenset(ALWAYS)
    heard = always | {"sys._getframe", "object.__setattr__", "object.__getattr__", "open"}
    frame_of = sys._getframe
    seen: set[tuple[str, str]] = set()
    busy: set[int] = set()
    thread = get_ident

    def own(filename: str) -> bool:
        return filename.startswith((root, "<")) and not filename.startswith("<frozen")

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

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in heard or thread() in busy:
            return
        listed = event in always
        if event == "object.__getattr__" and arguments[1] == "__code__":
            return
        if event == "open" and not is_test(arguments[0]):
            return
        busy.add(thread())
        try:
            frame = frame_of(1)
            name = event
            if event == "open":
                name = "open:" + basename(arguments[0])
                frame = reader(frame)
            filename = frame.f_code.co_filename
            if event.startswith("object."):
                name = event + ":" + str(arguments[1])
                if not own(filename) and not (filename.endswith(REVEALING[-1:]) and arguments[1] in FRAMES):
                    return
            elif not listed and not revealing(filename) and not hands_out(frame):
                return
            if (name, filename) not in seen:
                seen.add((name, filename))
                send("audit", name, filename)
        except ValueError:
            return
        finally:
            busy.discard(thread())

    sys.addaudithook(hook)
