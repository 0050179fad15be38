"""Series of runs: several models on the same items, crossed, failing, killed in the middle, and gone on with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from chat_server import Answer, ChatServer, chat_server, completion
from projects import write_shop

from rtc_inspector.core.analyses.ranking import ranking
from rtc_inspector.core.errors import ModelError, UserError
from rtc_inspector.core.figures import Grid, Sentence, Table
from rtc_inspector.core.models.discovery import fitting_models
from rtc_inspector.core.run.events import Control, Event, Notice, Progress, RunStarted
from rtc_inspector.core.run.many import SeriesFinished, planned, resume, start
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import (
    EditSettings,
    EndpointSettings,
    ModelSettings,
    NamedModel,
    OracleSettings,
    RunSettings,
    SeriesSettings,
)

EDITS = [
    {"old": f"def area_{n}(side):\n    return side\n", "new": f"def area_{n}(side):\n    return side * {n}\n"}
    for n in range(2, 14)
]


def right(number: int, body: dict[str, object]) -> Answer:
    """Describe an edit by its number, and apply it as described."""
    question = str(body["messages"][-1]["content"])  # type: ignore[index]
    at = next((n for n in range(2, 14) if f"side * {n}" in question), None)
    if at is not None:
        return 200, completion(f"Multiply by {at}.", model="m"), {}
    code = next((e["new"] for n, e in enumerate(EDITS, 2) if f"Multiply by {n}." in question), "pass")
    return 200, completion(f"```\n{code}```", model="m"), {}


def dull(number: int, body: dict[str, object]) -> Answer:
    return 200, completion("Change it.", model="m"), {}


@pytest.fixture
def servers() -> Iterator[tuple[ChatServer, ChatServer, ChatServer]]:
    """One that is always right, and two that never are."""
    with chat_server(right) as good, chat_server(dull) as bad, chat_server(dull) as worse:
        yield good, bad, worse


def settings(folder: Path, *models: ChatServer | str, cross: bool = False) -> RunSettings:
    edits = folder / "edits.jsonl"
    edits.write_text("".join(json.dumps(edit) + "\n" for edit in EDITS))
    named = [
        NamedModel(each) if isinstance(each, str) else NamedModel("", EndpointSettings(each.address, attempts=2))
        for each in models
    ]
    return RunSettings(
        task="editing",
        regions=12,
        forward_samples=1,
        backward_temperature=0.0,
        edit=EditSettings(file=str(edits)),
        model=named[0].file,
        endpoint=named[0].endpoint,
        series=SeriesSettings(tuple(named), cross),
    )


def run(database: Path, wanted: RunSettings, project: Path, events: list[Event] | None = None) -> SeriesFinished:
    with open_store(database) as store:
        return start(wanted, project, store, (events if events is not None else []).append, Control())


def test_all_models_have_the_same_items_and_are_ranked(
    tmp_path: Path, servers: tuple[ChatServer, ChatServer, ChatServer]
) -> None:
    good, bad, worse = servers
    finished = run(tmp_path / "runs.sqlite", settings(tmp_path, bad, good, worse), tmp_path)
    assert finished.ranked == [1, 2, 3] and not finished.stopped and not finished.problems
    with open_reader(tmp_path / "runs.sqlite") as reader:
        keys = [[item.key for item in reader.items(run_id)] for run_id in finished.ranked]
        assert keys[0] == keys[1] == keys[2] and len(keys[0]) == 12
        verdict, table, *_ = ranking(reader, finished.ranked)
        assert isinstance(verdict, Sentence) and isinstance(table, Table)
        assert verdict.text.endswith("m (run 2) is better than every other.")
        assert [row.cells[0] for row in table.rows] == ["1", "2–3", "2–3"]
        assert [row.cells[3] for row in table.rows] == ["", "m (run 3)", "m (run 1)"]


def test_crossed_no_description_is_made_twice(
    tmp_path: Path, servers: tuple[ChatServer, ChatServer, ChatServer]
) -> None:
    good, bad, _ = servers
    wanted = settings(tmp_path, good, bad, cross=True)
    assert [(each.endpoint, each.backward_endpoint) for each in planned(wanted)] == [
        (wanted.series.models[0].endpoint, None),  # type: ignore[union-attr]
        (wanted.series.models[1].endpoint, None),  # type: ignore[union-attr]
        (wanted.series.models[1].endpoint, wanted.series.models[0].endpoint),  # type: ignore[union-attr]
        (wanted.series.models[0].endpoint, wanted.series.models[1].endpoint),  # type: ignore[union-attr]
    ]
    finished = run(tmp_path / "runs.sqlite", wanted, tmp_path)
    assert finished.ranked == [1, 2, 3, 4]
    # 12 descriptions, 12 pieces of code from no description, and 12 for each of two describers
    assert [len(server.asked) for server in (good, bad)] == [48, 48]
    with open_reader(tmp_path / "runs.sqlite") as reader:
        texts = [
            [
                sample.text
                for item in reader.items(run_id)
                for sample in reader.samples(item.id)
                if sample.role == "forward"
            ]
            for run_id in finished.ranked
        ]
        assert texts[0] == texts[3] and texts[1] == texts[2]
        assert all(item.state == "done" for run_id in finished.ranked for item in reader.items(run_id))
        grid, *others = ranking(reader, finished.ranked)
        assert isinstance(grid, Grid)
        values = {(cell.row, cell.column): cell.value.value for cell in grid.cells}
        one, two = grid.rows.names
        assert values == {(one, one): 1.0, (two, two): 0.0, (two, one): 0.0, (one, two): 0.0}
        assert [each.title for each in others if isinstance(each, Sentence)] == [
            "Who describes well",
            "Who writes well",
        ]


def test_a_series_that_is_stopped_goes_on_where_it_was(
    tmp_path: Path, servers: tuple[ChatServer, ChatServer, ChatServer]
) -> None:
    good, bad, worse = servers
    wanted, control = settings(tmp_path, good, bad, worse), Control()

    def stop_in_second(event: Event) -> None:
        if isinstance(event, RunStarted) and event.run_id == 2:
            control.stop()

    with open_store(tmp_path / "runs.sqlite") as store:
        finished = start(wanted, tmp_path, store, stop_in_second, control)
        assert finished.stopped and [each.status for each in finished.runs] == ["finished", "interrupted"]
        asked = Counter(good=len(good.asked))
        again = resume(1, store, lambda event: None, Control())  # any run of the series stands for all of it
        problems = [text for each in again.runs for text in each.problems]
        assert [(each.run_id, each.status) for each in again.runs] == [(2, "finished"), (3, "finished")], problems
        assert again.ranked == [1, 2, 3] and len(good.asked) == asked["good"]
        assert resume(3, store, lambda event: None, Control()).runs == []


def test_a_model_that_cannot_be_run_costs_its_own_run_only(
    tmp_path: Path, servers: tuple[ChatServer, ChatServer, ChatServer]
) -> None:
    good, bad, worse = servers
    bad.stop()
    events: list[Event] = []
    finished = run(tmp_path / "runs.sqlite", settings(tmp_path, bad, good, worse), tmp_path, events)
    assert len(finished.runs) == 2 and finished.ranked == [1, 2]
    assert len(finished.problems) == 1 and "could not be run" in finished.problems[0]
    assert Notice(finished.problems[0]) in events


def test_a_file_that_is_no_model_is_said_before_anything_runs(
    tmp_path: Path, servers: tuple[ChatServer, ChatServer, ChatServer]
) -> None:
    (tmp_path / "bad.gguf").write_text("no model")
    with pytest.raises(ModelError, match=r"bad\.gguf cannot be used"):
        run(tmp_path / "runs.sqlite", settings(tmp_path, servers[0], str(tmp_path / "bad.gguf")), tmp_path)
    assert servers[0].asked == []


def test_the_suite_is_learned_once_for_all_models(tmp_path: Path) -> None:
    project, events = write_shop(tmp_path / "shop"), list[Event]()
    with chat_server(dull) as one, chat_server(dull) as two:
        wanted = replace(
            settings(tmp_path, one, two),
            task="synthesis",
            regions=2,
            oracle=OracleSettings(cache=False, identity_runs=2),
        )
        finished = run(tmp_path / "runs.sqlite", wanted, project, events)
    assert [each.status for each in finished.runs] == ["finished", "finished"]
    second = next(at for at, event in enumerate(events) if isinstance(event, RunStarted) and event.run_id == 2)
    stages = [{e.stage for e in part if isinstance(e, Progress)} for part in (events[:second], events[second:])]
    assert any("learning" in stage for stage in stages[0])
    assert not any("learning" in stage or "sandbox" in stage for stage in stages[1])
    with open_reader(tmp_path / "runs.sqlite") as reader:
        first, second = ([(row.key, row.text, row.tests) for row in reader.items(run)] for run in (1, 2))
        # The first is the one that was admitted first, so that a model is asked soon.
        assert sorted(first) == sorted(second) != []


def test_models_of_a_folder_come_smallest_first_and_others_are_named(tmp_path: Path, small_model: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "big.gguf").write_bytes(small_model.read_bytes() + b"\0" * 4096)
    (tmp_path / "a.gguf").write_bytes(small_model.read_bytes())
    (tmp_path / "bad.gguf").write_text("no model")
    fitting, left_out = fitting_models(tmp_path, ModelSettings())
    assert [path.name for path in fitting] == ["a.gguf", "big.gguf"]
    assert len(left_out) == 1 and "bad.gguf is left out" in left_out[0]
    none, all_out = fitting_models(tmp_path, ModelSettings(context_size=1 << 40))
    assert none == [] and sum("GiB are free" in each for each in all_out) == 2
    with pytest.raises(UserError, match="is no folder"):
        fitting_models(tmp_path / "absent", ModelSettings())


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "rtc_inspector", *map(str, arguments)]


def test_a_series_killed_in_the_middle_ends_as_if_it_had_not_been(
    tmp_path: Path, servers: tuple[ChatServer, ChatServer, ChatServer]
) -> None:
    """`kill -9` in the second run: what the command says to go on with completes all runs, with the same texts."""
    edits = Path(settings(tmp_path, *servers).edit.file)
    models = [word for server in servers[:2] for word in ("--endpoint", server.address)]
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "data"), "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def arguments(database: Path) -> list[str]:
        return command("run", "--edits", edits, *models, "--cross", "--regions", 6, "--db", database, "--json")

    whole, killed = tmp_path / "whole.sqlite", tmp_path / "killed.sqlite"
    done = subprocess.run(arguments(whole), env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    figures = [json.loads(line) for line in done.stdout.splitlines() if '"event": "figure"' in line]
    assert figures[0]["figure"] == "cross"
    process = subprocess.Popen(
        arguments(killed), env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, pipesize=4096
    )
    assert process.stdout is not None
    runs = 0
    for line in process.stdout:  # a pipe of one page holds no more than a few samples' events
        runs += json.loads(line)["event"] == "run-started"
        if runs == 2 and json.loads(line)["event"] == "sample":
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    again = subprocess.run(
        command("run", "--resume", 2, "--db", killed), env=environment, capture_output=True, text=True, timeout=300
    )
    assert again.returncode == 0, again.stderr
    assert "Runs 1, 2, 3, 4 are stored" in again.stdout
    assert sorted(made(killed)) == sorted(made(whole)) and len(made(whole)) > 4 * 6


def made(database: Path) -> list[tuple[object, ...]]:
    with open_reader(database) as reader:
        return [
            (run.id, item.key, row.role, row.index, row.seed, row.text, row.verdict and row.verdict.outcome)
            for run in reader.runs()
            for item in reader.items(run.id)
            for row in reader.samples(item.id)
        ]
