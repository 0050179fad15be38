"""The gateway: results on the main thread, late answers dropped, everything joined at close."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget
from waiting import wait_until

from rtc_inspector.ui.background.gateway import Gateway, IdleWork


@pytest.fixture
def gateway(qapp: QApplication) -> Iterator[Gateway]:
    made = Gateway()
    yield made
    assert made.close()


def test_work_runs_elsewhere_and_its_result_arrives_here(gateway: Gateway) -> None:
    seen: list[tuple[int, int]] = []
    gateway.submit("k", threading.get_ident, lambda worker: seen.append((worker, threading.get_ident())))
    wait_until(lambda: seen)
    assert seen[0][0] != seen[0][1] == threading.get_ident()


def test_a_late_answer_to_an_older_request_is_dropped(gateway: Gateway) -> None:
    release = threading.Event()
    seen: list[str] = []
    gateway.submit("k", lambda: str(release.wait(5)), seen.append)
    gateway.submit("k", lambda: "new", seen.append)
    wait_until(lambda: seen)
    release.set()
    done: list[None] = []
    gateway.submit("other", lambda: time.sleep(0.05), done.append)
    wait_until(lambda: done)
    assert seen == ["new"]


def test_different_keys_do_not_disturb_one_another(gateway: Gateway) -> None:
    seen: list[str] = []
    for key in ("a", "b", "c"):
        gateway.submit(key, lambda key=key: key, seen.append)
    wait_until(lambda: len(seen) == 3)
    assert sorted(seen) == ["a", "b", "c"]


def test_errors_go_to_their_own_handler_or_to_the_notices(gateway: Gateway) -> None:
    own: list[Exception] = []
    notices: list[Exception] = []
    gateway.failed.connect(notices.append)
    gateway.submit("a", lambda: 1 / 0, lambda value: None, own.append)
    gateway.submit("b", lambda: 1 / 0, lambda value: None)
    wait_until(lambda: own and notices)
    assert isinstance(own[0], ZeroDivisionError) and isinstance(notices[0], ZeroDivisionError)


def test_close_stops_and_joins_what_it_owns(qapp: QApplication) -> None:
    class Ticker(threading.Thread):
        def __init__(self) -> None:
            super().__init__()
            self.end = threading.Event()

        def run(self) -> None:
            self.end.wait()

        def stop(self) -> None:
            self.end.set()

    gateway, ticker = Gateway(), Ticker()
    ticker.start()
    gateway.own(ticker)
    gateway.submit("k", lambda: time.sleep(0.05), lambda value: pytest.fail("delivered after close"))
    assert gateway.close()
    assert not ticker.is_alive()
    assert not [each for each in threading.enumerate() if each.name.startswith("gateway")]
    qapp.processEvents()


def test_close_does_not_wait_for_ever(qapp: QApplication) -> None:
    class Stubborn(threading.Thread):
        def run(self) -> None:
            time.sleep(0.6)

        def stop(self) -> None:
            pass

    gateway, stubborn = Gateway(), Stubborn()
    stubborn.start()
    gateway.own(stubborn)
    began = time.monotonic()
    assert not gateway.close(timeout=0.1)
    assert time.monotonic() - began < 0.4
    stubborn.join()
    assert gateway.close()


def test_a_receiver_ends_on_the_main_thread(gateway: Gateway) -> None:
    ended: list[int] = []

    class Receiver(QObject):
        def take(self, value: int) -> None:
            pass

        def __del__(self) -> None:
            ended.append(threading.get_ident())

    for _ in range(50):
        gateway.submit("many", lambda: 1, Receiver().take)
    wait_until(lambda: len(ended) == 50 and not gateway._waiting)
    assert set(ended) == {threading.get_ident()}


def test_work_of_idle_time_ends_with_its_last_piece_though_that_fails(qapp: QApplication) -> None:
    def fail() -> None:
        raise ValueError("no such file")

    window = QWidget()
    window.show()
    idle = IdleWork(window, [fail])
    idle.begin()
    idle._touched = 0.0
    with pytest.raises(ValueError, match="no such file"):
        idle._step()
    assert idle.done and not idle._timer.isActive(), "it would fail for ever, and say so each time"
    window.close()
