"""Trouble around a run that is nobody's fault here: other programs' locks, servers that ask for patience."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from chat_server import Answer, chat_server, completion

from rtc_inspector.core.errors import Cancelled
from rtc_inspector.core.run.events import Control, Event, Notice
from rtc_inspector.core.run.pipeline import start
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.settings import EditSettings, EndpointSettings, RunSettings
from rtc_inspector.core.store import files

EDIT = {"old": "def area(side):\n    return side\n", "new": "def area(side):\n    return side * 2\n"}


@pytest.fixture
def settings(tmp_path: Path) -> RunSettings:
    """A run on one edit, judged by exact match."""
    edits = tmp_path / "edits.jsonl"
    edits.write_text(json.dumps(EDIT) + "\n")
    return RunSettings(task="editing", regions=1, forward_samples=1, edit=EditSettings(file=str(edits)))


def right(number: int, body: dict[str, object]) -> Answer:
    return 200, completion(f"```\n{EDIT['new']}```", model="m"), {}


@pytest.mark.parametrize("stopped", [False, True])
def test_a_locked_database_is_waited_for_until_it_is_free(
    stopped: bool, settings: RunSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "BUSY_SECONDS", 0.05)
    database, control = tmp_path / "runs.sqlite", Control()
    events: list[Event] = []
    with (
        open_store(database) as store,
        sqlite3.connect(database, isolation_level=None, check_same_thread=False) as other,
    ):

        def script(number: int, body: dict[str, object]) -> Answer:
            if number == 1:
                other.execute("BEGIN IMMEDIATE")
            return right(number, body)

        def emit(event: Event) -> None:
            events.append(event)
            if isinstance(event, Notice) and "locked by another program" in event.text:
                control.stop() if stopped else other.execute("ROLLBACK")

        with chat_server(script) as server:
            asked = replace(settings, endpoint=EndpointSettings(server.address, attempts=2, timeout=5.0))
            if stopped:
                with pytest.raises(Cancelled):
                    start(asked, tmp_path, store, emit, control)
                other.execute("ROLLBACK")
            else:
                finished = start(asked, tmp_path, store, emit, control)
                assert (finished.status, finished.measures["rtc"].value, finished.samples) == ("finished", 1.0, 3)
    assert sum(isinstance(event, Notice) and "locked by another" in event.text for event in events) == 1
    other.close()
    with open_store(database) as store:
        assert store.reader.run(1).status == ("interrupted" if stopped else "finished")
