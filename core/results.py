"""The store with its scores bounded: what the command line, the window and Datasette's peers open."""

from __future__ import annotations

from pathlib import Path

from core.metrics.statistics import interval
from core.store.reader import Reader
from core.store.writer import Store


def open_store(path: Path) -> Store:
    """The one writer; makes the file when there is none. Raises StoreError."""
    return Store.open(path, interval)


def open_reader(path: Path) -> Reader:
    """Read only, beside any writer. Raises StoreError."""
    return Reader.open(path, interval)
