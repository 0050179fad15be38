"""A stop ends what other programs do for us."""

from __future__ import annotations

import fcntl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rtc_inspector.core.errors import Cancelled
from rtc_inspector.core.oracle.environment import lock, run_to_end
from rtc_inspector.core.oracle.sandbox.docker_sandbox import each_step
from rtc_inspector.core.waiting import no_poll


def stopping(after: float) -> Callable[[], None]:
    end = time.monotonic() + after

    def poll() -> None:
        if time.monotonic() > end:
            raise Cancelled

    return poll


def test_a_program_is_ended_with_what_it_started(tmp_path: Path) -> None:
    started = time.monotonic()
    script = f"(sleep 2; touch {tmp_path}/late) & sleep 30"
    with pytest.raises(Cancelled):
        run_to_end(["sh", "-c", script], 60.0, stopping(0.1))
    assert time.monotonic() - started < 15
    time.sleep(max(0.0, started + 2.3 - time.monotonic()))
    assert not (tmp_path / "late").exists()


def test_a_program_says_what_it_wrote_and_how_it_failed() -> None:
    assert run_to_end(["sh", "-c", "echo done"], 10.0, no_poll) == "done\n"
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run_to_end(["sh", "-c", "echo wrong >&2; exit 3"], 10.0, no_poll)
    assert caught.value.returncode == 3 and caught.value.stderr == "wrong\n"
    with pytest.raises(subprocess.TimeoutExpired):
        run_to_end(["sleep", "30"], 0.1, no_poll)


def test_steps_are_given_up_while_the_next_is_awaited() -> None:
    closed, waiting = threading.Event(), threading.Event()

    def steps() -> Iterator[int]:
        try:
            yield 1
            waiting.wait(5.0)
            yield 2
        finally:
            closed.set()

    given = each_step(steps, stopping(0.1))
    assert next(given) == 1
    with pytest.raises(Cancelled):
        next(given)
    assert not closed.is_set()
    waiting.set()
    assert closed.wait(2.0)
    assert [*each_step(lambda: iter([1, 2]), no_poll)] == [1, 2]


def test_a_lock_that_another_holds_is_not_waited_for_after_a_stop(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as mine, (tmp_path / "lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(Cancelled):
            lock(mine, stopping(0.1))
