"""A method that nobody has heard of: one trip and one entry in the registry, and all else works as for the others.

It asks for two descriptions of a line of text, the second made from the first, and compares them.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from chat_server import Answer, ChatServer, chat_server, completion

from core import kinds
from core.control import Control
from core.events import Event, RunFinished, SampleReady
from core.generation import Extraction, Fits, Message, ModelInfo, Prompt, Role
from core.kinds import Kind, Measure, RoleName
from core.results import open_reader, open_store
from core.run.pipeline import resume, start
from core.settings import EndpointSettings, RunSettings
from core.store.export import write_csv, write_jsonl
from core.store.reader import Reader
from core.store.rows import SampleRow
from core.trips.opening import Notify, Opened
from core.trips.protocol import Ask, PairScore, Report, Step, Tree
from core.types import CoverageMap, Item, Span, Suite, Verdict
from ui.report.page import write_report


class TwiceTrip:
    """Describe, describe the description, and see how many words they share."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    def items(self, wanted: int, seed: int, known: Mapping[str, Item], report: Report) -> Iterator[Item]:
        for number, line in enumerate(self._lines[:wanted], start=1):
            key = f"line {number}"
            yield known.get(key) or Item(key, "line", "", Span(0, 0), number, number, line, form="text")

    def shortfall(self, admitted: int, wanted: int) -> Sequence[str]:
        return ()

    def expected(self, item: Item) -> int:
        return 2

    def steps(self, item: Item, tree: Tree) -> Sequence[Step]:
        last = tree.samples[-1] if tree.samples else None
        if len(tree.whole(Role.FORWARD)) == 2:
            return ()

        def prompt(model: ModelInfo, fits: Fits) -> Prompt:
            return Prompt((Message("user", f"Say it otherwise: {last.text if last else item.text}"),))

        ask = Ask(prompt, 0.5, 20, "forward")
        return [Step(Role.FORWARD, 0, ask, last.id if last else None, round=1 if last else 0)]

    def read(self, item: Item, step: Step, raw: str, prompt: Prompt) -> Extraction:
        return Extraction(raw.strip())

    def recitation(self, item: Item, text: str) -> float | None:
        return None

    def judge(self, item: Item, sample: SampleRow) -> Verdict | None:
        return None

    def compare(self, item: Item, sample: SampleRow, tree: Tree) -> Sequence[PairScore]:
        before = tree.parent(sample)
        if before is None:
            return ()
        one, other = set(before.text.split()), set(sample.text.split())
        return [PairScore(sample.id, "shared_words", len(one & other) / len(one | other), before.id)]

    def measures(self, item: Item, tree: Tree) -> Mapping[str, float]:
        values = [value for sample in tree.samples for _, _, value in sample.pairs]
        return {"agreement": values[0]} if values else {}


def open_twice(stack: ExitStack, project: Path, settings: RunSettings, notify: Notify, report: Report) -> Opened:
    lines = (project / "lines.txt").read_text().splitlines()
    suite = Suite((), {}, CoverageMap((), {}, {}), 0.0, "")
    return Opened(lambda _: TwiceTrip(lines), settings, project, None, False, "f", "nobody", suite)


TWICE = Kind(
    name="twice",
    title="Twice",
    tip="Say it twice",
    noun="line",
    draws_from="region",
    needs_python=False,
    judged="nothing judged the result",
    baseline="",
    roles={Role.FORWARD: RoleName("wording", "w")},
    measures=(Measure("agreement", "agreement", "Share of words that both wordings have"),),
    headline="agreement",
    samples=lambda settings: {Role.FORWARD: 2},
    opens="twice_trip:open_twice",
    analyses=(),
    forward_temperature=0.5,
    backward_temperature=0.5,
    backward_max_tokens=20,
)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(kinds._KINDS, "twice", TWICE)
    monkeypatch.setitem(sys.modules, "twice_trip", SimpleNamespace(open_twice=open_twice))  # type: ignore[arg-type]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "lines.txt").write_text("add the prices\nsort the names\nclose the file\n")
    return tmp_path


def answer(number: int, body: dict[str, Any]) -> Answer:
    """Repeats what it is asked, with a word more the first time."""
    words = str(body["messages"][-1]["content"]).removeprefix("Say it otherwise: ")
    return 200, completion(words if "please" in words else f"{words} please", model="m"), {}


def run(project: Path, server: ChatServer, stop_after: int | None = None) -> RunFinished:
    settings = RunSettings(task="twice", regions=3, endpoint=EndpointSettings(server.address, concurrency=1))
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
        assert len(server.asked) == 6
    assert (finished.status, finished.items, finished.samples) == ("finished", 3, 6)
    agreement = finished.measures["agreement"]
    assert (agreement.value, agreement.n) == (1.0, 3) and agreement.low is not None


def test_resumed_it_makes_only_what_is_missing(project: Path) -> None:
    with chat_server(answer) as server:
        assert run(project, server, stop_after=4).status == "interrupted"
        made = len(server.asked)
        with open_store(project / "runs.sqlite") as store:
            assert resume(1, store, lambda event: None, Control()).status == "finished"
        assert made < 6 and len(server.asked) <= 7, "one may have been asked for and not stored"
    with open_reader(project / "runs.sqlite") as reader:
        assert [item.state for item in reader.items(1)] == ["done"] * 3
        assert [len(reader.samples(item.id)) for item in reader.items(1)] == [2, 2, 2]


def test_its_trees_and_pair_scores_are_read_and_exported(stored: Reader) -> None:
    (item, *_) = stored.items(1)
    first, second = stored.samples(item.id)
    assert (second.parent_id, second.step, second.pairs) == (first.id, 1, (("shared_words", first.id, 1.0),))
    assert (item.headline, item.secondary, item.tally) == (1.0, None, "")
    lines = io.StringIO()
    assert write_jsonl(stored, 1, lines) == 3
    row = json.loads(lines.getvalue().splitlines()[0])
    assert row["pair_scores"] == [{"metric": "shared_words", "sample": first.id, "value": 1.0}]
    assert row["measures"] == {"agreement": 1.0}
    assert write_csv(stored, 1, io.StringIO()) == 3


def test_the_page_about_it_names_its_figure(stored: Reader, tmp_path: Path) -> None:
    write_report(stored, 1, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "<b>1.00</b><span>agreement, 95 %" in page
    assert "RTC," not in page and "lift" not in page.split("<body", 1)[1]
