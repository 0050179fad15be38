"""A method that nobody has heard of: one trip and one entry in the registry, and all else works as for the others.

`toy_method.py` has it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from chat_server import ChatServer, chat_server
from toy_method import LINES, TWICE, answer

from rtc_inspector.core import kinds
from rtc_inspector.core.run.events import Control, Event, RunFinished, SampleReady
from rtc_inspector.core.run.pipeline import resume, start
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import EndpointSettings, RunSettings
from rtc_inspector.core.store.export import write_csv, write_jsonl
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.ui.presenters import provenance
from rtc_inspector.ui.report.page import write_report


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(kinds.TASKS, "twice", TWICE)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "lines.txt").write_text(LINES)
    return tmp_path


def run(project: Path, server: ChatServer, stop_after: int | None = None) -> RunFinished:
    settings = RunSettings(
        task="twice", regions=3, forward_samples=2, endpoint=EndpointSettings(server.address, concurrency=1)
    )
    control = Control()
    seen: list[Event] = []

    def emit(event: Event) -> None:
        seen.append(event)
        if stop_after is not None and sum(isinstance(each, SampleReady) for each in seen) == stop_after:
            control.stop()

    with open_store(project / "runs.sqlite") as store:
        return start(settings, project, store, emit, control)


@pytest.fixture
def stored(project: Path) -> Iterator[Reader]:
    with chat_server(answer) as server:
        run(project, server)
    with open_reader(project / "runs.sqlite") as reader:
        yield reader


def test_it_runs_and_has_its_figure(project: Path) -> None:
    with chat_server(answer) as server:
        finished = run(project, server)
        assert len(server.asked) == 9
    assert (finished.status, finished.items, finished.samples) == ("finished", 3, 9)
    agreement, polite = finished.measures["agreement"], finished.measures["polite"]
    assert polite.value == 1.0
    assert (agreement.value, agreement.n) == (1.0, 3) and agreement.low is not None


def test_resumed_it_makes_only_what_is_missing(project: Path) -> None:
    with chat_server(answer) as server:
        assert run(project, server, stop_after=4).status == "interrupted"
        made = len(server.asked)
        with open_store(project / "runs.sqlite") as store:
            assert resume(1, store, lambda event: None, Control()).status == "finished"
        assert made < 9 and len(server.asked) <= 10, "one may have been asked for and not stored"
    with open_reader(project / "runs.sqlite") as reader:
        assert [item.state for item in reader.items(1)] == ["done"] * 3
        assert [len(reader.samples(item.id)) for item in reader.items(1)] == [3, 3, 3]


def test_its_trees_and_pair_scores_are_read_and_exported(stored: Reader) -> None:
    (item, *_) = stored.items(1)
    first, second, echo = stored.samples(item.id)
    assert (echo.role, echo.form, echo.parent_id, echo.passes, echo.model) == (
        "echo",
        "code",
        second.id,
        True,
        "backward",
    )
    assert [test.node_id for test in stored.tree(item.id).tests(echo)] == ["polite"]
    assert [row.sample_id for row in stored.candidates(1)] == [], "an item of words has no code to compare with"
    assert (second.parent_id, second.step, second.pairs) == (first.id, 1, (("shared_words", first.id, 1.0),))
    assert (item.headline, item.secondary, item.tally) == (1.0, None, "")
    lines = io.StringIO()
    assert write_jsonl(stored, 1, lines) == 3
    row = json.loads(lines.getvalue().splitlines()[0])
    assert row["pair_scores"] == [{"metric": "shared_words", "sample": second.id, "value": 1.0}]
    assert row["description"] == second.text and row["outcome"] == "pass"
    assert row["measures"] == {"agreement": 1.0, "polite": 1.0}
    assert write_csv(stored, 1, io.StringIO()) == 3


def test_its_settings_are_shown_and_those_of_other_methods_are_not(stored: Reader) -> None:
    shown = {name for _, pairs in provenance(stored.run(1)) for name, _ in pairs}
    assert "forward samples" in shown
    assert not {"backward samples", "forward temperature", "steps", "min characters"} & shown


def test_what_it_cost_is_told_by_the_model_that_was_asked(stored: Reader) -> None:
    assert {row.model: row.samples for row in stored.spent(1)} == {"forward": 6, "backward": 3}


def test_the_page_about_it_names_its_figure(stored: Reader, tmp_path: Path) -> None:
    write_report(stored, 1, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "<b>1.00</b><span>agreement, 95 %" in page
    assert "RTC," not in page and "lift" not in page.split("<body", 1)[1]
