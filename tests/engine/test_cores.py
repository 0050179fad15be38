"""Sharing cores between the model and its judges, and working ahead with several."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest

from rtc_inspector.core.settings import (
    MOST_JUDGES,
    ModelSettings,
    OracleSettings,
    RunSettings,
    share_cores,
    with_workers,
)
from rtc_inspector.core.trips.pool import in_order


@pytest.mark.parametrize(
    ("cores", "threads", "workers", "shared"),
    [
        (1, None, None, (1, 1)),
        (2, None, None, (1, 1)),
        (8, None, None, (7, 1)),
        (32, None, None, (28, 4)),
        (256, None, None, (248, MOST_JUDGES)),
        (8, 4, None, (4, 4)),
        (8, None, 3, (5, 3)),
        (2, 2, None, (2, 1)),
        (2, 6, 5, (6, 5)),
    ],
)
def test_cores_are_shared(cores: int, threads: int | None, workers: int | None, shared: tuple[int, int]) -> None:
    asked = RunSettings(oracle=OracleSettings(workers=workers), generation=ModelSettings(threads=threads))
    settings = share_cores(asked, cores)
    assert (settings.generation.threads, settings.oracle.workers) == shared
    assert share_cores(settings, 64) == settings, "a resumed run shares as it did"


def test_judges_alone_take_all_cores() -> None:
    assert with_workers(OracleSettings(), 4).workers == 4
    assert with_workers(OracleSettings(workers=2), 4).workers == 2


@pytest.mark.parametrize("workers", [1, 3])
def test_results_come_in_order(workers: int) -> None:
    together = threading.Barrier(workers)

    def square(number: int) -> int:
        together.wait(5)
        return number * number

    assert list(in_order(square, range(6), workers)) == [0, 1, 4, 9, 16, 25]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_stands_in_its_place_and_ends_it(workers: int) -> None:
    done: list[int] = []

    def work(number: int) -> int:
        if number == 2:
            raise ValueError(number)
        done.append(number)
        return number

    results = in_order(work, range(50), workers)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ValueError, match="2"):
        next(results)
    assert len(done) < 6


def test_nothing_begins_after_it_is_closed() -> None:
    begun: list[int] = []
    with closing(in_order(begun.append, range(1000), 3)) as results:
        next(results)
    assert len(begun) <= 4
