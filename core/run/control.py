"""Pause, resume and stop a run from another thread."""

from __future__ import annotations

import threading
from collections.abc import Callable

from rtc_inspector.core.errors import Cancelled


class Control:
    """Shared by whoever asks and whoever works; thread-safe.

    The worker calls `checkpoint` between steps; `on_stop` callbacks (a model's `cancel`) reach a step in flight.
    """

    def __init__(self) -> None:
        """Start running."""
        self._go = threading.Event()
        self._go.set()
        self._stopped = threading.Event()
        self._callbacks: list[Callable[[], None]] = []
        # A signal handler may call `stop` while this very thread holds the lock.
        self._lock = threading.RLock()

    @property
    def stopped(self) -> bool:
        """Return whether the worker is to end."""
        return self._stopped.is_set()

    def pause(self) -> None:
        """Hold the worker at its next checkpoint; the sample in flight is finished first."""
        self._go.clear()

    def resume(self) -> None:
        """Let it go on."""
        self._go.set()

    def stop(self) -> None:
        """End the run now; what is stored stays and can be resumed."""
        with self._lock:
            self._stopped.set()
            callbacks = tuple(self._callbacks)
        self._go.set()
        for callback in callbacks:
            callback()

    def on_stop(self, callback: Callable[[], None]) -> None:
        """Call `callback` when `stop` comes; at once if it came already."""
        with self._lock:
            self._callbacks.append(callback)
            stopped = self._stopped.is_set()
        if stopped:
            callback()

    def checkpoint(self) -> None:
        """Wait while paused. Raises Cancelled once stopped."""
        if not self._go.is_set():  # asking takes no lock that a `stop` in a signal handler would need
            self._go.wait()
        if self._stopped.is_set():
            raise Cancelled
