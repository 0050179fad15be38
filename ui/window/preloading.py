"""What the window loads in the background before it is asked for: else its first use would hold the window up."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from ui.background.gateway import Gateway
from ui.diff.rows import compare
from ui.diff.spans import lexer_for


def preload(gateway: Gateway) -> None:
    """While the store is read: the tables of Python's lexer, and what lines are paired with."""
    gateway.submit("preload", _load_for_a_region, lambda nothing: None)


def preload_rest(gateway: Gateway, on_done: Callable[[], None]) -> None:
    """Once everything is on show: what writes labels, and what draws charts; what fails waits until it is asked for."""
    gateway.submit("preload rest", _load_rest, lambda nothing: on_done(), lambda error: on_done())


def _load_for_a_region() -> None:
    lexer_for("")
    compare("a", "b")


def _load_rest() -> None:
    for name in ("core.store.writer", "ui.figures.view", "ui.compare.page"):
        import_module(name)
