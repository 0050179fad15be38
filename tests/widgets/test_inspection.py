"""Following a database: what is there, what another process adds, what cannot be read."""

from __future__ import annotations

import itertools
import random
import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from factories import fill_store, model_info, suite
from PySide6.QtWidgets import QApplication
from store_cases import filled
from waiting import wait_until

from rtc_inspector.core.errors import StoreError
from rtc_inspector.core.generation import Extraction, Role, Sample
from rtc_inspector.core.run.events import Event, ItemReady, MeasuresReady, SampleReady, ScoresReady, VerdictReady
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import ItemRow, SampleRow, Tree
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.types import NEAR_LIMIT, Item, Outcome, Span, TestResult, Verdict
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.reading.inspection import Inspection, Library, Overview, Trace, Wanted, by_file, look


@pytest.fixture
def inspection(qapp: QApplication) -> Iterator[Inspection]:
    gateway = Gateway()
    made = Inspection(gateway)
    yield made
    made.close()
    assert gateway.close()


def listen(inspection: Inspection) -> list[Overview]:
    heard: list[Overview] = []
    inspection.overview_changed.connect(heard.append)
    return heard


def a_sample(text: str) -> Sample:
    return Sample(Role.FORWARD, 0, "prompt", 1, 0.8, text, Extraction(text), 5, 5, 0.1, "stop", recitation=0.0)


def an_item(number: int) -> Item:
    span = Span(number * 10, number * 10 + 5)
    return Item(f"m.py:{number}", "region", "m.py", span, number + 1, number + 1, "x = 1", ("t::a",))


def test_a_run_is_shown_whole(inspection: Inspection, tmp_path: Path) -> None:
    case = filled(tmp_path, items=20)
    heard = listen(inspection)
    inspection.open(case.database)
    wait_until(lambda: heard)
    assert heard[0].run == case.run()
    assert [item.id for item in heard[0].items] == [item.id for item in case.items()]
    assert list(heard[0].files) == case.files()


def test_a_database_that_does_not_exist_yet_is_followed_until_it_does(inspection: Inspection, tmp_path: Path) -> None:
    heard = listen(inspection)
    errors: list[Exception] = []
    inspection._gateway.failed.connect(errors.append)
    inspection.open(tmp_path / "runs.sqlite")
    wait_until(lambda: heard)
    assert heard[0].runs == ()
    case = filled(tmp_path, items=10)
    wait_until(lambda: heard[-1].run is not None)
    assert heard[-1].run is not None and heard[-1].run.id == case.run_id
    assert errors == []


def test_what_another_writer_commits_is_seen(inspection: Inspection, tmp_path: Path) -> None:
    heard = listen(inspection)
    with open_store(tmp_path / "runs.sqlite") as store:
        project = store.add_project(tmp_path, "p", None, False)
        info = model_info()
        run_id = store.start_run(
            project,
            RunSettings(),
            info,
            info,
            sandbox="s",
            image_digest="",
            app_version="0",
            fingerprint="f",
            suite=suite(),
        )
        inspection.open(tmp_path / "runs.sqlite")
        wait_until(lambda: heard)
        for number in range(3):
            item_id = store.add_item(run_id, an_item(number))
            wait_until(lambda number=number: len(heard[-1].items) == number + 1, what=f"for item {number}")
        traces: list[Trace | None] = []
        inspection.trace_changed.connect(traces.append)
        inspection.choose_item(item_id)
        wait_until(lambda: traces and traces[-1] is not None)
        store.add_sample(item_id, None, a_sample("Add one."))
        wait_until(lambda: traces[-1] is not None and len(traces[-1].samples) == 1)
        store.finish_run(run_id, "finished", [])
        wait_until(lambda: heard[-1].run is not None and heard[-1].run.status == "finished")
    assert heard[-1].items[2].state == "unfinished"
    wait_until(lambda: traces[-1] is not None and traces[-1].item.state == "unfinished", what="for the trace to agree")
    inspection.work_on(heard[-1].items[2].id)
    wait_until(lambda: heard[-1].items[2].state == "running", what="for a region tried in a run that ended")
    inspection.work_on(None)
    wait_until(lambda: heard[-1].items[2].state == "unfinished")


def test_the_newest_run_of_the_project_is_shown_unless_one_is_named(inspection: Inspection, tmp_path: Path) -> None:
    heard = listen(inspection)
    one, two = tmp_path / "one", tmp_path / "two"
    with open_store(tmp_path / "runs.sqlite") as store:
        ids = []
        for seed, root in enumerate((one, two, one, two)):
            root.mkdir(exist_ok=True)
            ids.append(fill_store(store, root, 5, seed))
    inspection.open(tmp_path / "runs.sqlite", Wanted(root=str(one)))
    wait_until(lambda: heard)
    assert inspection.run is not None and inspection.run.id == ids[2]
    inspection.choose_run(Wanted(run_id=ids[1]))
    wait_until(lambda: inspection.run is not None and inspection.run.id == ids[1])
    inspection.choose_run(Wanted(root=str(tmp_path / "three")))
    wait_until(lambda: inspection.run is None)
    assert len(heard[-1].runs) == 4


def test_only_the_last_chosen_region_is_delivered(inspection: Inspection, tmp_path: Path) -> None:
    case = filled(tmp_path, items=30)
    heard = listen(inspection)
    inspection.open(case.database)
    wait_until(lambda: heard)
    chosen: list[ItemRow | None] = []
    traces: list[Trace | None] = []
    inspection.item_chosen.connect(chosen.append)
    inspection.trace_changed.connect(traces.append)
    items = [item for item in case.items() if item.admitted]
    for item in items[:10]:
        inspection.choose_item(item.id)
    wait_until(lambda: traces and traces[-1] is not None)
    assert [item.id for item in chosen if item] == [item.id for item in items[:10]]
    assert [trace.item.id for trace in traces if trace][-1] == items[9].id
    assert len(traces) < 10


def test_a_file_that_is_no_database_is_said_once(inspection: Inspection, tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    path.write_text("these are notes, not a database" * 10)
    errors: list[Exception] = []
    inspection._gateway.failed.connect(errors.append)
    inspection.open(path)
    wait_until(lambda: errors)
    inspection.refresh()
    inspection.refresh()
    wait_until(lambda: not inspection._looking)
    assert len(errors) == 1
    assert isinstance(errors[0], StoreError)


def test_opening_another_database_forgets_the_first(inspection: Inspection, tmp_path: Path) -> None:
    heard = listen(inspection)
    (tmp_path / "b").mkdir()
    first, second = filled(tmp_path, items=10), filled(tmp_path / "b", items=15)
    inspection.open(first.database)
    wait_until(lambda: heard)
    inspection.choose_item(first.items()[0].id)
    inspection.open(second.database)
    wait_until(lambda: len(heard[-1].items) == 15)
    assert inspection.item is None
    assert inspection.database == second.database


def test_files_of_the_window_are_those_of_the_store(tmp_path: Path) -> None:
    case = filled(tmp_path, items=90)
    assert list(by_file(case.items())) == [
        replace(row, measures=pytest.approx(dict(row.measures))) for row in case.files()
    ]


def test_a_region_of_a_run_that_is_no_longer_shown_is_chosen_no_more(inspection: Inspection, tmp_path: Path) -> None:
    case = filled(tmp_path, items=12)
    chosen: list[ItemRow | None] = []
    inspection.item_chosen.connect(chosen.append)
    inspection.open(case.database)
    wait_until(lambda: inspection.run is not None)
    inspection.choose_item(next(item.id for item in case.items() if item.admitted))
    wait_until(lambda: chosen and chosen[-1] is not None)
    filled(tmp_path, items=12, seed=8)
    wait_until(lambda: inspection.run is not None and inspection.run.id == 2)
    wait_until(lambda: chosen[-1] is None)


class Writer:
    """Stores random things of a run, as the engine does, and says what it stored."""

    def __init__(self, store: Store, run_id: int, say: Callable[[list[Event]], None]) -> None:
        self.store, self.run_id, self.say = store, run_id, say
        self.choose = random.Random(7)
        self.trees: dict[int, Tree] = {}
        self.numbers = itertools.count()

    def tell(self, event: Event) -> None:
        self.say([event])

    def step(self) -> None:
        wanted = self.choose.random()
        if not self.trees or wanted < 0.05:
            self.item()
            return
        item_id, tree = self.choose.choice(list(self.trees.items()))
        code = [row for row in tree.samples if row.form == "code" and not row.error]
        if wanted < 0.55 or not code:
            self.sample(item_id, tree)
        elif wanted < 0.75:
            self.verdict(item_id, tree, self.choose.choice(code))
        elif wanted < 0.85:
            self.score(item_id, tree, self.choose.choice(code))
        else:
            measures = {"rtc": self.choose.randrange(5) / 4, "judged": 4.0}
            done = self.choose.random() < 0.5
            if self.store.set_measures(item_id, measures, done):
                self.tell(MeasuresReady(self.run_id, item_id, measures, done, self.store.change))

    def item(self) -> None:
        number = next(self.numbers)
        item = replace(an_item(number), admitted=self.choose.random() < 0.8, extra=self.choose.random() < 0.1)
        item_id = self.store.add_item(self.run_id, item)
        self.tell(ItemReady(self.run_id, item_id, item, self.store.change))
        if item.admitted:
            self.trees[item_id] = Tree(roles=("forward", "backward", "baseline"))

    def sample(self, item_id: int, tree: Tree) -> None:
        described = [row.id for row in tree.samples if row.role == "forward" and not row.error]
        parent = self.choose.choice([None, *described])
        role = self.choose.choice(("forward", "baseline")) if parent is None else "backward"
        failed = [row for row in tree.samples if row.error and row.role == role and row.parent_id == parent]
        index = failed[0].index if failed else next(self.numbers)
        made = replace(
            a_sample("# Words\ud800 of it."),
            role=role,
            index=index,
            recitation=self.choose.choice((0.0, 0.25, 0.5)) if role == "forward" else None,
            error="it died" if self.choose.random() < 0.1 else "",
            author="anna" if role == "forward" and self.choose.random() < 0.1 else "model",
            finish_reason=self.choose.choice(("stop", "length")),
        )
        made = replace(made, counted=made.author == "model", error=made.error if made.author == "model" else "")
        made = replace(made, recitation=0.0) if made.error and role == "forward" else made  # it has no text
        before = len(tree.samples)
        sample_id = self.store.add_sample(item_id, parent, made, tree)
        again = len(tree.samples) == before
        ready = SampleReady(self.run_id, item_id, sample_id, parent, tree[sample_id], self.store.change, again)
        self.tell(ready)

    def verdict(self, item_id: int, tree: Tree, row: SampleRow) -> None:
        if row.passes is not None:
            return
        outcome = self.choose.choice((Outcome.PASS, Outcome.FAIL, Outcome.INFRASTRUCTURE))
        flags = (NEAR_LIMIT,) if outcome.judged and self.choose.random() < 0.3 else ()
        tests = (TestResult("t::a", "passed" if outcome is Outcome.PASS else "failed"),)
        verdict_id = self.store.add_verdict(row.id, Verdict(outcome, 0.5, tests, flags=flags), tree)
        known = tree[row.id].verdict
        assert known is not None
        event = VerdictReady(self.run_id, item_id, row.id, verdict_id, known, self.store.change, row.counted)
        self.tell(event)

    def score(self, item_id: int, tree: Tree, row: SampleRow) -> None:
        reference = self.choose.choice([None, *(other.id for other in tree.samples if other.id < row.id)])
        scores = {"bleu": self.choose.random()}
        self.store.add_scores(row.id, scores, reference, tree)
        self.tell(ScoresReady(self.run_id, item_id, row.id, scores, reference, self.store.change))


def test_after_a_thousand_events_the_window_shows_what_a_fresh_reading_shows(
    inspection: Inspection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it reads the run's items no more while it hears of them; what another program changes it reads."""
    database = tmp_path / "runs.sqlite"
    read: list[int] = []
    items = Reader.items

    def items_read(self: Reader, run_id: int) -> list[ItemRow]:
        read.extend([run_id] if threading.current_thread() is not threading.main_thread() else [])
        return items(self, run_id)

    monkeypatch.setattr(Reader, "items", items_read)
    traces: list[Trace | None] = []
    inspection.trace_changed.connect(traces.append)

    def as_stored() -> bool:
        """Whether all that is shown is what somebody would see who opens the database now."""
        inspection._look()
        with open_reader(database) as reader:
            wanted = look(Library(database), Wanted(), None)
            shown = inspection.overview
            if shown is None or wanted is None or shown.run is None or wanted.run is None:
                return False
            scores = {
                name: (score.n, pytest.approx(score.value), pytest.approx(score.low), pytest.approx(score.high))
                for name, score in wanted.run.scores.items()
            }
            found = {name: (each.n, each.value, each.low, each.high) for name, each in shown.run.scores.items()}
            same = replace(shown.run, scores={}) == replace(wanted.run, scores={}) and found == scores
            chosen = inspection.looked_at.item
            trace = reader.samples(chosen) if chosen is not None else []
            drawn = [] if not traces or traces[-1] is None else list(traces[-1].samples)
            return same and shown.items == wanted.items and shown.files == wanted.files and trace == drawn

    with open_store(database) as store:
        project = store.add_project(tmp_path, "shop", None, dirty=False)
        info = model_info()
        run_id = store.start_run(project, RunSettings(), info, info, "s", "", "0", "f", suite())
        writer = Writer(store, run_id, inspection.heed)
        writer.item()
        inspection.open(database)
        wait_until(lambda: inspection.run is not None)
        while not writer.trees:
            writer.item()
        wait_until(as_stored)
        inspection.choose_item(min(writer.trees))
        wait_until(as_stored)
        before = len(read)
        for number in range(1000):
            writer.step()
            if number % 50 == 0:
                QApplication.processEvents()
            if number % 250 == 249:
                wait_until(as_stored)
        assert len(read) == before, "all of it was heard"
        with sqlite3.connect(database) as other:
            other.execute("UPDATE measures SET value = 0.5 WHERE name = 'rtc'")
        other.close()
        writer.step()
        wait_until(as_stored)
        assert len(read) > before
