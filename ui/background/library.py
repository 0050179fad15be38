"""One open database, asked from background threads; each thread has its own connection."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from core.store.reader import Reader

T = TypeVar("T")


class Library:
    """Readers of one database file, by thread."""

    def __init__(self, path: Path) -> None:
        """Name the file; it is opened at the first question."""
        self.path = path
        self._readers: dict[int, Reader] = {}

    def ask(self, question: Callable[[Reader], T]) -> T:
        """Answer with this thread's connection. Raises StoreError."""
        from core.run.results import open_reader  # in the background: the window stands sooner

        thread = threading.get_ident()
        if thread not in self._readers:
            self._readers[thread] = open_reader(self.path)
        return question(self._readers[thread])

    def close_here(self) -> None:
        """Close this thread's connection."""
        reader = self._readers.pop(threading.get_ident(), None)
        if reader is not None:
            reader.close()
