"""Cells of notebooks, judged in the sandbox by what they show, leave and print."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from chat_server import Answer, chat_server, completion
from notebooks import notebook

from rtc_inspector.core.generation import Role
from rtc_inspector.core.oracle.bench import project
from rtc_inspector.core.run.events import Control, Event, ItemReady
from rtc_inspector.core.run.pipeline import start
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.settings import BenchmarkSettings, EndpointSettings, OracleSettings, RunSettings
from rtc_inspector.core.trips.notebook import open_notebook
from rtc_inspector.core.trips.protocol import Opened
from rtc_inspector.core.types import Candidate, Item, Outcome, Verdict
from rtc_inspector.resources import path as resource

ORACLE = OracleSettings(sandbox="bubblewrap", workers=1, cache=False)


class Judge:
    """A notebook opened for its task."""

    def __init__(self, stack: ExitStack, file: Path) -> None:
        settings = RunSettings(task="notebook", oracle=ORACLE, benchmark=BenchmarkSettings(str(file)))
        self.opened: Opened = open_notebook(stack, file.parent, settings, lambda text: None, lambda *_: None)
        items = self.opened.trip.items(100, 0, {}, lambda *_: None)
        self.items: dict[int, Item] = {int(item.key.rpartition(":")[2]): item for item in items}

    def __call__(self, number: int, code: str) -> Verdict:
        judged, item = self.opened.trip.judged, self.items[number]  # type: ignore[attr-defined]
        return judged.oracle.judge(Candidate(judged.files[item.path], item.span, code), item.tests, every_test=True)


@pytest.fixture(scope="module")
def tour() -> Iterator[Judge]:
    with ExitStack() as stack:
        yield Judge(stack, resource("benchmark", "tour.ipynb"))


def test_every_cell_of_the_bundled_notebook_can_be_judged(tour: Judge) -> None:
    assert len(tour.items) == 8 and all(item.admitted for item in tour.items.values())
    assert not tour.opened.suite.excluded


@pytest.mark.parametrize(
    ("number", "code", "outcome"),
    [
        (4, "total = 0\nfor each in rain:\n    total += each\ntotal", Outcome.PASS),
        (4, "total = sum(rain) + 1e-9\ntotal", Outcome.PASS),
        (4, "total = max(rain)\ntotal", Outcome.FAIL),
        (4, "total = sum(rain)", Outcome.FAIL),
        (6, "by_day = {}\nfor n in range(7): by_day[days[n]] = rain[n]\nby_day", Outcome.PASS),
        (6, "dict(zip(days, rain))", Outcome.FAIL),
        (11, "kind = lambda mm: 'dry' if not mm else 'soaked' if mm > 5 else 'wet'", Outcome.PASS),
        (11, "def kind(amount):\n    return 'dry'", Outcome.FAIL),
        (15, "for day in days: print(day, '#' * round(by_day[day]))", Outcome.PASS),
        (15, "print('nothing')", Outcome.FAIL),
        (15, "raise SystemExit(0)", Outcome.FAIL),
        (15, "print(", Outcome.FAIL),
    ],
)
def test_a_cell_passes_when_it_does_what_the_original_does(
    tour: Judge, number: int, code: str, outcome: Outcome
) -> None:
    verdict = tour(number, code)
    assert verdict.outcome is outcome or (code == "print(" and verdict.outcome is Outcome.SYNTAX_ERROR), verdict.detail


def test_cells_that_cannot_be_judged_are_dropped_with_the_reason(tmp_path: Path) -> None:
    file = notebook(
        tmp_path / "odd.ipynb",
        ("code", "x = 1\nx"),
        ("code", "unread = 5"),
        ("code", "%time x"),
        ("code", "import os\nos.urandom(8)"),
        ("code", "import socket\nsocket.create_connection(('192.0.2.1', 80), 1)"),
        ("code", "x + 1"),
    )
    with ExitStack() as stack:
        items = Judge(stack, file).items
    reasons = {number: item.reason for number, item in items.items()}
    assert reasons[1] == ""
    assert reasons[2] == "it shows and prints nothing, and no later cell reads what it binds"
    assert "never run here" in reasons[3]
    assert reasons[4].startswith("its original is not the same twice")
    assert reasons[5].startswith("it, or a cell before it, fails: ")
    assert reasons[5].endswith("Network is unreachable (there is no network in the sandbox)")
    assert "Network is unreachable" in reasons[6]  # the cell before it does not run


def test_a_cell_that_never_ends_is_dropped_with_those_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = Path(project.__file__).parent / "inside" / "rtc_cells.py"
    quick = tmp_path / "rtc_cells.py"
    quick.write_text(inside.read_text().replace("LIMIT = 30.0", "LIMIT = 1.0"))
    monkeypatch.setattr(project, "_CELLS", quick)
    file = notebook(
        tmp_path / "endless.ipynb",
        ("code", "a = 1\na"),
        ("code", "# wait\nwhile True:\n    a += 1"),
        *[("code", f"a + {number}") for number in range(12)],
    )
    with ExitStack() as stack:
        items = Judge(stack, file).items
    assert [number for number, item in items.items() if item.admitted] == [1]
    assert items[2].reason == "it, or a cell before it, fails: TimeoutError: not done after 1 s"
    assert items[14].reason == items[2].reason


def test_a_run_has_no_baseline_and_people_s_words_do_not_count(tmp_path: Path) -> None:
    def answer(count: int, body: dict[str, object]) -> Answer:
        question = str(body["messages"][-1]["content"])  # type: ignore[index]
        if "# TODO" not in question:
            return 200, completion("It adds up the rain.", model="m"), {}
        return 200, completion("```python\ntotal = sum(rain)\ntotal\n```", model="m"), {}

    events: list[Event] = []
    with chat_server(answer) as server, open_store(tmp_path / "runs.sqlite") as store:
        settings = RunSettings(
            task="notebook",
            regions=2,
            forward_samples=1,
            oracle=ORACLE,
            benchmark=BenchmarkSettings(str(resource("benchmark", "tour.ipynb"))),
            endpoint=EndpointSettings(server.address),
        )
        finished = start(settings, tmp_path, store, events.append, Control())
        rows = [row for item in store.reader.items(finished.run_id) for row in store.reader.samples(item.id)]
    assert finished.status == "finished", finished.problems
    items = {event.item.key: event.item for event in events if isinstance(event, ItemReady)}
    assert set(items) == {"tour.ipynb:15", "tour.ipynb:4"}
    assert finished.measures["rtc"].value == 0.5 and "lift" not in finished.measures
    assert not [row for row in rows if row.role == Role.BASELINE]
    assert {row.counted for row in rows if row.author == "markdown"} == {False}
