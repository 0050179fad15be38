"""Cycles are searched in the window's thread alone."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from rtc_inspector.ui.window.collector import READ, YOUNG, Collector


class Looped(QObject):
    """Holds itself, and tells where it ends."""

    def __init__(self, ended: list[int]) -> None:
        super().__init__()
        self.itself, self.ended = self, ended

    def __del__(self) -> None:
        self.ended.append(threading.get_ident())


@pytest.fixture
def collector(qapp: QApplication) -> Iterator[Collector]:
    made = Collector()
    yield made
    gc.enable()
    gc.unfreeze()
    made.deleteLater()


def make_cycles(count: int) -> None:
    for _ in range(count):
        loop: list[object] = []
        loop.append(loop)


def test_a_busy_thread_leaves_cycles_to_the_window(collector: Collector) -> None:
    ended: list[int] = []
    gc.collect()
    Looped(ended)
    busy = threading.Thread(target=make_cycles, args=(2 * YOUNG,))
    busy.start()
    busy.join()
    assert ended == []
    collector.search()
    assert ended == [threading.get_ident()]


def test_what_was_read_is_laid_aside(collector: Collector) -> None:
    gc.collect()
    rows = [[number] for number in range(READ + 1)]
    collector.search()
    assert gc.get_freeze_count() >= len(rows)
    assert gc.get_count()[0] < YOUNG
