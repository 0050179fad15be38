"""The store with its scores bounded: what the command line, the window and Datasette's peers open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rtc_inspector.core.store.reader import Reader

if TYPE_CHECKING:
    from rtc_inspector.core.store.writer import Store


def open_store(path: Path) -> Store:
    """Return the one writer; make the file when there is none. Raises StoreError."""
    from rtc_inspector.core.store.writer import Store  # a window that only looks needs no writer

    return Store.open(path, interval)


def open_reader(path: Path) -> Reader:
    """Read only, beside any writer. Raises StoreError."""
    return Reader.open(path, interval)


def interval(
    values: Sequence[float],
    lowest: float = 0.0,
    *,
    against: Sequence[float] | None = None,
    continuous: bool = False,
) -> tuple[float, float, float]:
    """Return `core.metrics.statistics.interval`, which loads numpy: not before a score is to be bounded anew."""
    from rtc_inspector.core.metrics import statistics

    return statistics.interval(values, lowest, against=against, continuous=continuous)
