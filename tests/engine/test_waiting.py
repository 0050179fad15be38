"""Waiting hears a stop: for a queue, for a thread, and where nothing ever comes."""

from __future__ import annotations

import threading
import time
from queue import Queue

import pytest

from rtc_inspector.core.errors import Cancelled
from rtc_inspector.core.waiting import next_of, no_poll, patiently


def stop() -> None:
    raise Cancelled


def test_what_comes_is_given_and_what_fails_is_raised() -> None:
    queue: Queue[int] = Queue()
    threading.Timer(0.15, queue.put, (7,)).start()
    assert next_of(queue, no_poll) == 7
    assert patiently(lambda: 8, no_poll, no_poll) == 8
    with pytest.raises(ZeroDivisionError):
        patiently(lambda: 1 // 0, no_poll, no_poll)


def test_a_stop_ends_any_waiting_at_once() -> None:
    release = threading.Event()
    start = time.monotonic()
    with pytest.raises(Cancelled):
        next_of(Queue[int](), stop)
    with pytest.raises(Cancelled):
        patiently(lambda: release.wait(10), stop, release.set)
    assert time.monotonic() - start < 5
    release.set()


def test_work_that_is_done_at_once_is_not_given_to_somebody_who_stopped() -> None:
    with pytest.raises(Cancelled):
        patiently(lambda: None, stop, no_poll)


def test_work_that_can_be_ended_is_waited_for_so_that_no_thread_is_left() -> None:
    release = threading.Event()
    before = threading.active_count()
    with pytest.raises(Cancelled):
        patiently(release.wait, stop, release.set)
    time.sleep(0.1)  # the thread's own last steps
    assert threading.active_count() == before
