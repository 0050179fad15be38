"""The window's own run: events in batches, pause, stop, errors, and no thread left behind."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from chat_server import chat_server, completion
from PySide6.QtWidgets import QApplication
from waiting import wait_until

from rtc_inspector.core.analyses.analyse import analyse
from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.figures import Sentence
from rtc_inspector.core.generation import Role
from rtc_inspector.core.run.events import Control, Event, Notice, Progress, RunFinished, RunStarted, TextStreamed
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import EditSettings, EndpointSettings, NamedModel, RunSettings, SeriesSettings
from rtc_inspector.core.types import Estimate
from rtc_inspector.ui.background.coordinator import Coordinator, RunState, job
from rtc_inspector.ui.background.gateway import Gateway

Emit = Callable[[Event], None]
END = RunFinished(7, "finished", {"rtc": Estimate(0.5, 0.2, 0.8)}, 1, 7)
START = RunStarted(7, False, "synthesis", "p", "m", "s", 1)


@pytest.fixture
def gateway(qapp: QApplication) -> Iterator[Gateway]:
    made = Gateway()
    yield made
    assert made.close()
    assert not [each for each in threading.enumerate() if each.name == "coordinator"]


@pytest.fixture
def coordinator(gateway: Gateway) -> Coordinator:
    return Coordinator(gateway)


def batches(coordinator: Coordinator) -> list[list[Event]]:
    heard: list[list[Event]] = []
    coordinator.events.connect(heard.append)
    return heard


def test_tokens_arrive_joined_and_in_few_batches(coordinator: Coordinator) -> None:
    def job(emit: Emit, control: Control) -> RunFinished:
        emit(START)
        for word in range(400):
            emit(TextStreamed(1, Role.FORWARD, 0, f"{word} "))
            time.sleep(0.001)
        emit(END)
        return END

    heard, states, ends = batches(coordinator), [], []
    coordinator.state_changed.connect(states.append)
    coordinator.finished.connect(lambda: ends.append(True))
    began = time.monotonic()
    assert coordinator.begin(job)
    assert not coordinator.begin(job)
    wait_until(lambda: ends)
    took = time.monotonic() - began
    assert len(heard) <= took * 10 + 2
    text = "".join(event.text for batch in heard for event in batch if isinstance(event, TextStreamed))
    assert text == "".join(f"{word} " for word in range(400))
    assert max(sum(isinstance(event, TextStreamed) for event in batch) for batch in heard) == 1
    assert states == [RunState.RUNNING, RunState.IDLE]
    assert heard[-1][-1] == END and ends == [True]
    assert coordinator.run_id == 7


def test_streams_side_by_side_are_joined_each_in_itself(coordinator: Coordinator) -> None:
    def job(emit: Emit, control: Control) -> RunFinished:
        emit(START)
        for word in range(50):
            for index in range(4):
                emit(TextStreamed(1, Role.FORWARD, index, f"{word} "))
        emit(Notice("stored"))
        emit(TextStreamed(1, Role.FORWARD, 0, "again"))
        emit(END)
        return END

    heard, ends = batches(coordinator), []
    coordinator.finished.connect(lambda: ends.append(True))
    assert coordinator.begin(job)
    wait_until(lambda: ends)
    texts = [event for batch in heard for event in batch if isinstance(event, TextStreamed)]
    assert len(texts) <= 4 * len(heard) + 1 < 40
    said = "".join(f"{word} " for word in range(50))
    joined = ["".join(text.text for text in texts if text.index == index) for index in range(4)]
    assert joined == [f"{said}again", said, said, said]
    assert texts[-1].text == "again", "not joined with what came before something was stored"


def test_texts_of_different_samples_are_kept_apart(coordinator: Coordinator) -> None:
    def job(emit: Emit, control: Control) -> RunFinished:
        for index in (0, 0, 1, 0):
            emit(TextStreamed(1, Role.FORWARD, index, "x"))
        return END

    heard, ends = batches(coordinator), []
    coordinator.finished.connect(lambda: ends.append(True))
    coordinator.begin(job)
    wait_until(lambda: ends)
    assert [(event.index, event.text) for event in heard[0] if isinstance(event, TextStreamed)] == [
        (0, "xxx"),
        (1, "x"),
    ]


def test_pause_holds_the_run_at_its_next_checkpoint(coordinator: Coordinator) -> None:
    steps: list[int] = []

    def job(emit: Emit, control: Control) -> RunFinished:
        for step in range(100):
            control.checkpoint()
            steps.append(step)
            time.sleep(0.01)
        return END

    ends: list[bool] = []
    coordinator.finished.connect(lambda: ends.append(True))
    coordinator.begin(job)
    wait_until(lambda: steps)
    coordinator.toggle_pause()
    assert coordinator.state is RunState.PAUSED
    time.sleep(0.05)
    held = len(steps)
    time.sleep(0.1)
    assert len(steps) == held
    coordinator.toggle_pause()
    wait_until(lambda: ends)
    assert len(steps) == 100


@pytest.mark.parametrize("paused", [False, True])
def test_stop_ends_the_run_also_while_paused(coordinator: Coordinator, paused: bool) -> None:
    def job(emit: Emit, control: Control) -> RunFinished:
        while True:
            control.checkpoint()
            time.sleep(0.005)

    ends: list[bool] = []
    failures: list[Exception] = []
    coordinator.finished.connect(lambda: ends.append(True))
    coordinator.failed.connect(failures.append)
    coordinator.begin(job)
    if paused:
        coordinator.toggle_pause()
    coordinator.stop()
    assert coordinator.state is RunState.STOPPING
    wait_until(lambda: ends)
    assert ends == [True] and failures == []
    assert coordinator.state is RunState.IDLE


def test_closing_the_gateway_stops_the_run(qapp: QApplication) -> None:
    def job(emit: Emit, control: Control) -> RunFinished:
        while True:
            control.checkpoint()
            time.sleep(0.005)

    gateway = Gateway()
    coordinator = Coordinator(gateway)
    coordinator.begin(job)
    assert gateway.close(2.0)


def test_what_was_said_before_an_error_is_still_heard(coordinator: Coordinator) -> None:
    def job(emit: Emit, control: Control) -> RunFinished:
        emit(Notice("almost"))
        raise ValueError("broken")

    heard, failures = batches(coordinator), []
    coordinator.failed.connect(failures.append)
    coordinator.begin(job)
    wait_until(lambda: failures)
    assert heard == [[Notice("almost")]]
    assert str(failures[0]) == "broken"


def test_the_real_engine_refuses_a_folder_without_tests(coordinator: Coordinator, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "module.py").write_text("def f(x):\n    return x + 1\n")
    heard, failures = batches(coordinator), []
    coordinator.failed.connect(failures.append)
    coordinator.begin(job("many:start", RunSettings(regions=1), project, database=tmp_path / "runs.sqlite"))
    wait_until(lambda: failures, 60)
    assert isinstance(failures[0], ProjectError)
    assert any(isinstance(event, Progress) for batch in heard for event in batch)


def test_a_series_is_one_job_whose_ranking_grows(coordinator: Coordinator, tmp_path: Path) -> None:
    """Two servers on edits: every run is announced, and any of them shows how all of them stand."""
    edits = [{"old": f"a = {n}\n" * 8, "new": f"a = {n}\n" * 7 + f"a = {n + 1}\n"} for n in range(3)]
    (tmp_path / "edits.jsonl").write_text("".join(json.dumps(edit) + "\n" for edit in edits))
    heard, ends = batches(coordinator), list[bool]()
    coordinator.finished.connect(lambda: ends.append(True))
    with (
        chat_server(lambda n, body: (200, completion("x"), {})) as one,
        chat_server(lambda n, body: (200, completion("y"), {})) as two,
    ):
        models = tuple(NamedModel("", EndpointSettings(each.address, attempts=1)) for each in (one, two))
        settings = RunSettings(
            task="editing",
            regions=3,
            forward_samples=1,
            endpoint=models[0].endpoint,
            series=SeriesSettings(models),
            edit=EditSettings(file=str(tmp_path / "edits.jsonl")),
        )
        coordinator.begin(job("many:start", settings, tmp_path, database=tmp_path / "runs.sqlite"))
        wait_until(lambda: ends, 60)
    assert [event.run_id for batch in heard for event in batch if isinstance(event, RunStarted)] == [1, 2]
    with open_reader(tmp_path / "runs.sqlite") as reader:
        for run_id in (1, 2):
            titles = [figure.title for figure in analyse(reader, [run_id])]
            assert "Ranking: RTC" in titles
    with open_store(tmp_path / "runs.sqlite") as store:
        store.take_up(2)  # as while it grows
        (verdict,) = [each for each in analyse(store.reader, [1]) if each.name == "ranking-verdict"]
        assert isinstance(verdict, Sentence) and verdict.text.startswith("Provisional, 1 run still growing")
