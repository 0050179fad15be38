"""Hear of interpreter introspection, by an audit hook that cannot be taken away again."""

from __future__ import annotations

import sys
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
REVEALING = ("inspect.py", "traceback.py")


def install(send: Send, root: str) -> None:
    """Report each new pair of event and calling file; the host compares them with those of the unmodified project."""
    always = frozenset(ALWAYS)
    heard = always | {"sys._getframe", "object.__setattr__", "object.__getattr__"}
    frame_of = sys._getframe
    seen: set[tuple[str, str]] = set()
    busy = False

    def revealing(filename: str) -> bool:
        return filename.startswith((root, "<")) or filename.endswith(REVEALING)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal busy
        if event not in heard or busy:
            return
        listed = event in always
        if event == "object.__getattr__" and arguments[1] == "__code__":
            return
        busy = True
        try:
            filename = frame_of(1).f_code.co_filename
            name = event
            if event.startswith("object."):
                name = event + ":" + str(arguments[1])
                if not filename.startswith((root, "<")):
                    return
            elif not listed and not revealing(filename):
                return
            if (name, filename) not in seen:
                seen.add((name, filename))
                send("audit", name, filename)
        except ValueError:
            return
        finally:
            busy = False

    sys.addaudithook(hook)
