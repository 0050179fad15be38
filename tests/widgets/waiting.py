"""Waiting for what the event loop brings."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtWidgets import QApplication


def wait_until(condition: Callable[[], object], seconds: float = 25.0, what: str = "") -> None:
    """Run the event loop until `condition()` holds; fail after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain {what}"
        QApplication.processEvents()
        time.sleep(0.005)
