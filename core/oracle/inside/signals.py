"""Handlers of signals are not given the frame they interrupt: from it a candidate could walk to its caller's values."""

from __future__ import annotations

import functools
import importlib
from typing import Any, Callable


class Blind:
    """Calls a handler with no frame, as `signal` allows."""

    __slots__ = ("handler",)

    def __init__(self, handler: Callable[..., Any]) -> None:
        """What was asked to be called."""
        self.handler = handler

    def __call__(self, number: int, frame: object) -> Any:
        """From the interpreter."""
        return self.handler(number, None)


def _asked(handler: Any) -> Any:
    return handler.handler if isinstance(handler, Blind) else handler


def blindfold() -> None:
    """From now on, in this process and its forks; who asks for a handler gets the one that was set."""
    # The built-in module, in which `signal` looks its functions up.
    module: Any = importlib.import_module("_signal")
    put, get = module.signal, module.getsignal

    @functools.wraps(put)
    def signal(number: int, handler: Any) -> Any:
        return _asked(put(number, Blind(handler) if callable(handler) else handler))

    @functools.wraps(get)
    def getsignal(number: int) -> Any:
        return _asked(get(number))

    module.signal, module.getsignal = signal, getsignal
