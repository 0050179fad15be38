"""What one bubblewrap sandbox holds on the host, from its start until its last process is gone."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from threading import Lock

from core.oracle.sandbox.control_group import ControlGroup
from core.oracle.sandbox.user_namespace import MappedNamespace


class Hold:
    """A control group and a namespace where there are such, and a handle on PID 1 inside; thread-safe."""

    def __init__(self, group: ControlGroup | None) -> None:
        """Own `group`."""
        self._group = group
        self._namespace: MappedNamespace | None = None
        self._inside: int | None = None
        self._lock = Lock()

    @property
    def command(self) -> tuple[str, ...]:
        """In front of bwrap: join the group, then enter the namespace."""
        parts = (part for part in (self._group, self._namespace) if part is not None)
        return tuple(word for part in parts for word in part.command)

    def enter(self, namespace: MappedNamespace) -> None:
        """Own `namespace` too."""
        self._namespace = namespace

    def take(self, process: int) -> None:
        """Take PID 1 inside in hand, by its number outside; one that ended already needs no hand."""
        with self._lock, suppress(ProcessLookupError):
            self._inside = os.pidfd_open(process)
            if self._namespace is not None:
                self._namespace.watch(process, self._group.folders if self._group else ())

    def end(self) -> None:
        """Kill PID 1 inside: the kernel ends all others of its namespace before it lets it go."""
        with self._lock, suppress(ProcessLookupError):
            if self._inside is not None:
                signal.pidfd_send_signal(self._inside, signal.SIGKILL)

    def free(self) -> None:
        """Let everything go; idempotent."""
        with self._lock:
            inside, self._inside = self._inside, None
        if inside is not None:
            os.close(inside)
        if self._namespace is not None:
            self._namespace.close()
        if self._group is not None:
            self._group.remove()
