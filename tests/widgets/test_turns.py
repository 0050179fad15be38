"""Work of the window's thread in pieces: one a turn, in order, all of it at once where somebody cannot wait."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QApplication
from waiting import wait_until

from rtc_inspector.ui.background.gateway import Turns


def test_pieces_come_in_order_and_what_one_asks_for_comes_last(qapp: QApplication) -> None:
    done: list[str] = []
    turns = Turns()
    turns.begin(
        lambda: (done.append("first"), turns.add(partial(done.append, "asked"))), partial(done.append, "second")
    )
    assert done == ["first"]
    wait_until(lambda: len(done) == 3)
    assert done == ["first", "second", "asked"]


def test_what_is_added_from_outside_is_done_now_after_all_the_others(qapp: QApplication) -> None:
    done: list[str] = []
    turns = Turns()
    turns.begin(*(partial(done.append, each) for each in "abc"))
    turns.add(partial(done.append, "d"))
    assert done == ["a", "b", "c", "d"]
