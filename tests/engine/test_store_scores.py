"""RTC and lift against figures worked out by hand, and one answer whoever asks."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from factories import files_of, fill_store, model_info, settle_item, suite

from rtc_inspector.app.console import score_json
from rtc_inspector.core.generation import Extraction, Role, Sample
from rtc_inspector.core.metrics.statistics import interval
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.scores import thinned
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.types import NEAR_LIMIT, Estimate, Item, Outcome, Span, Verdict

PASS, FAIL, OURS = Outcome.PASS, Outcome.FAIL, Outcome.INFRASTRUCTURE


class Run:
    """A run of two forward samples an item, filled by outcomes alone."""

    def __init__(self, store: Store, root: Path) -> None:
        project = store.add_project(root, "thing", None, dirty=False)
        info = model_info()
        self.settings = RunSettings(regions=9, forward_samples=2, backward_samples=1)
        self.id = store.start_run(project, self.settings, info, info, "none", "", "0", "", suite())
        self._store = store

    def item(self, path: str, key: str, admitted: bool = True) -> int:
        item = Item(key, "region", path, Span(0, 4), 1, 1, "text", admitted=admitted)
        return self._store.add_item(self.id, item)

    def sample(self, item: int, role: Role, index: int, parent: int | None, author: str = "model") -> int:
        recited = 0.25 * (index + 1) if role is Role.FORWARD else None
        made = Sample(role, index, "p", 0, 0.1, "t", Extraction("t"), 1, 1, 0.1, "stop", recitation=recited)
        sample = self._store.add_sample(item, parent, replace(made, author=author, counted=author == "model"))
        settle_item(self._store, item, self.settings)
        return sample

    def judged(self, item: int, outcomes: Sequence[Outcome | None], baseline: Outcome | None) -> list[int]:
        """One forward and one backward sample an outcome, then the baseline; None leaves it unjudged."""
        made = []
        for index, outcome in enumerate(outcomes):
            forward = self.sample(item, Role.FORWARD, index, None)
            made.append(self.sample(item, Role.BACKWARD, 0, forward))
            self.judge(made[-1], outcome)
        made.append(self.sample(item, Role.BASELINE, 0, None))
        self.judge(made[-1], baseline)
        return made

    def flag(self, sample: int, *flags: str) -> None:
        self._store.add_verdict(sample, Verdict(Outcome.PASS, 0.1, flags=flags))

    def judge(self, sample: int, outcome: Outcome | None) -> None:
        if outcome is not None:
            self._store.add_verdict(sample, Verdict(outcome, 0.1))
            settle_item(self._store, self._store.reader.item_of(sample), self.settings)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "runs.db", interval) as opened:
        yield opened


@pytest.fixture
def run(store: Store, tmp_path: Path) -> Run:
    return Run(store, tmp_path)


def test_scores_are_those_of_the_paper(store: Store, run: Run) -> None:
    """Three regions: RTC 1, 1/2, 0 and baselines 1, 0, 0, so RTC 1/2, lift (0 + 1/2 + 0) / 3 (Sec. 3)."""
    run.judged(run.item("a.py", "1"), [PASS, PASS], PASS)
    run.judged(run.item("a.py", "2"), [PASS, FAIL], FAIL)
    run.judged(run.item("b.py", "3"), [Outcome.TIMEOUT, Outcome.CRASH], Outcome.SYNTAX_ERROR)
    run.item("b.py", "4", admitted=False)
    row = store.reader.run(run.id)
    assert (row.headline.value, row.secondary.value) == (0.5, pytest.approx(1 / 6))
    assert (row.items_admitted, row.items_dropped, row.items_complete, row.samples) == (3, 1, 3, 15)
    items = store.reader.items(run.id)
    assert [item.headline for item in items] == [1.0, 0.5, 0.0, None]
    assert [item.secondary for item in items] == [0.0, 0.5, 0.0, None]
    assert [item.measures.get("baseline") for item in items] == [1.0, 0.0, 0.0, None]
    assert [item.tally for item in items] == ["2/2", "1/2", "0/2", ""]
    assert [item.recitation for item in items] == [0.5, 0.5, 0.5, None]
    files = files_of(store.reader, run.id)
    assert [
        (file.path, file.items, file.done, file.measures.get("rtc"), file.measures.get("lift")) for file in files
    ] == [
        ("a.py", 2, 2, 0.75, 0.25),
        ("b.py", 1, 1, 0.0, 0.0),
    ]


def test_what_was_not_judged_counts_neither_way(store: Store, run: Run) -> None:
    first, second, third = (run.item("a.py", key) for key in "123")
    run.judged(first, [PASS, OURS], FAIL)
    run.judged(second, [OURS, OURS], OURS)
    run.judged(third, [PASS, None], None)
    items = store.reader.items(run.id)
    assert [(item.headline, item.secondary) for item in items] == [(1.0, 1.0), (None, None), (1.0, None)]
    rtc, lift = store.reader.score(run.id)
    assert (rtc.value, lift.value) == (1.0, 1.0)


def test_nothing_judged_is_no_score(store: Store, run: Run) -> None:
    run.item("a.py", "1")
    assert store.reader.score(run.id) == (Estimate(None, None, None), Estimate(None, None, None))
    assert store.reader.running(run.id) == []
    assert store.reader.run(run.id).headline == Estimate(None, None, None)


def test_states_follow_what_is_there(store: Store, run: Run) -> None:
    def state() -> str:
        return store.reader.item(item).state

    item = run.item("a.py", "1")
    assert state() == "waiting"
    first = run.sample(item, Role.FORWARD, 0, None)
    assert state() == "running"
    second = run.sample(item, Role.FORWARD, 1, None)
    code = [run.sample(item, Role.BACKWARD, 0, parent) for parent in (first, second)]
    code.append(run.sample(item, Role.BASELINE, 0, None))
    for sample, outcome in zip(code, (PASS, OURS, FAIL), strict=True):
        assert state() == "running"
        run.judge(sample, outcome)
    assert state() == "running"
    run.judge(code[1], FAIL)
    assert state() == "done"


def test_what_a_person_wrote_is_shown_but_not_scored(store: Store, run: Run) -> None:
    item = run.item("a.py", "1")
    run.judged(item, [FAIL, FAIL], FAIL)
    before = store.reader.item(item)
    written = run.sample(item, Role.FORWARD, 0, None, author="human")
    made = run.sample(item, Role.BACKWARD, 0, written)
    run.judge(made, PASS)
    store.add_scores(made, {"bleu": 1.0})
    assert store.reader.item(item) == before
    assert store.reader.score(run.id)[0].value == 0.0
    assert store.reader.score(run.id, "bleu")[0].value is None
    trace = [row.id for row in store.reader.samples(item)]
    assert trace[4:6] == [written, made]


def test_a_metric_is_scored_like_the_tests(store: Store, run: Run) -> None:
    for key, values in (("1", (1.0, 0.5, 0.25)), ("2", (0.0, 0.0, 0.5))):
        samples = run.judged(run.item("a.py", key), [FAIL, FAIL], FAIL)
        for sample, value in zip(samples, values, strict=True):
            store.add_scores(sample, {"chrf": value})
    rtc, lift = store.reader.score(run.id, "chrf")
    assert (rtc.value, lift.value) == (0.375, 0.0)
    assert store.reader.metrics(run.id) == ["chrf"]


def test_bounds_are_those_of_the_interval_passed_in(store: Store, run: Run, tmp_path: Path) -> None:
    outcomes = [[PASS, PASS], [PASS, FAIL], [FAIL, FAIL], [FAIL, PASS]]
    for number, pair in enumerate(outcomes):
        run.judged(run.item("a.py", str(number)), pair, FAIL)
    rtc, lift = store.reader.score(run.id)
    assert (rtc.value, rtc.low, rtc.high) == interval([1.0, 0.5, 0.0, 0.5])
    assert (lift.value, lift.low, lift.high) == interval([1.0, 0.5, 0.0, 0.5], against=[0.0] * 4)
    with Reader.open(tmp_path / "runs.db") as plain:
        assert plain.score(run.id)[0] == Estimate(0.5, None, None, 4)


def test_a_running_chart_ends_at_the_score_and_keeps_its_points(store: Store, run: Run) -> None:
    items = [run.item("a.py", str(number)) for number in range(6)]
    for number in (3, 0, 5):
        run.judged(items[number], [PASS, FAIL] if number else [PASS, PASS], FAIL)
    early = store.reader.running(run.id)
    assert [point.item_id for point in early] == [items[3], items[0], items[5]]
    assert [point.scores["rtc"].value for point in early] == [0.5, 0.75, pytest.approx(2 / 3)]
    assert [point.items for point in early] == [1, 2, 3]
    run.judged(items[1], [FAIL, FAIL], None)
    later = store.reader.running(run.id)
    assert later[:2] == early[:2]
    assert (later[-1].scores["rtc"], later[-1].scores["lift"]) == store.reader.score(run.id)
    assert all(point.scores["rtc"].low <= point.scores["rtc"].value <= point.scores["rtc"].high for point in later)


@pytest.mark.parametrize(("total", "most"), [(0, 5), (1, 5), (5, 5), (6, 5), (11, 5), (1000, 200), (10_000, 200)])
def test_thinned_counts_are_few_even_and_end_at_the_last(total: int, most: int) -> None:
    ends = thinned(total, most)
    assert len(ends) <= most
    assert ends[-1:] == [total] * bool(total)
    steps = {after - before for before, after in zip([0, *ends[:-1]], ends[:-1], strict=False)}
    assert len(steps) <= 1


def test_views_say_what_the_reader_says(store: Store, tmp_path: Path) -> None:
    """Datasette reads the views, the window the reader."""
    runs = [fill_store(store, tmp_path / str(seed), items=30, seed=seed) for seed in (1, 2)]
    db = sqlite3.connect(tmp_path / "runs.db")
    for run_id in runs:
        row = store.reader.run(run_id)
        wanted = (row.items_admitted, row.items_dropped, row.items_complete, row.samples)
        found = db.execute("SELECT * FROM run_scores WHERE run_id = ?", (run_id,)).fetchone()
        assert found[1:5] == wanted
        assert found[5:] == (pytest.approx(row.headline.value), pytest.approx(row.secondary.value))
        files = db.execute("SELECT * FROM file_scores WHERE run_id = ? ORDER BY path", (run_id,)).fetchall()
        assert [tuple(file[1:]) for file in files] == [
            (file.path, file.items, file.done, file.measures.get("rtc"), file.measures.get("lift"))
            for file in files_of(store.reader, run_id)
        ]
        items = db.execute("SELECT item_id, state, rtc, lift FROM item_scores WHERE run_id = ?", (run_id,))
        assert items.fetchall() == [
            (item.id, item.state, item.headline, item.secondary) for item in store.reader.items(run_id)
        ]
    db.close()


def test_scores_kept_with_a_finished_run_give_way_to_later_verdicts(store: Store, run: Run, tmp_path: Path) -> None:
    run.judged(run.item("a.py", "1"), [FAIL, FAIL], FAIL)
    store.finish_run(run.id, "finished", [])
    with Reader.open(tmp_path / "runs.db", interval) as fresh:
        assert fresh.runs()[0].headline == store.reader.score(run.id)[0]
        run.judged(run.item("a.py", "2"), [PASS, PASS], FAIL)
        assert fresh.runs()[0].headline.value == 0.5
    with Reader.open(tmp_path / "runs.db", interval) as fresh:
        assert fresh.runs()[0].headline == store.reader.score(run.id)[0]
        assert fresh.runs()[0].items_admitted == 2


def test_what_a_person_tried_is_shown_and_never_scored(store: Store, run: Run) -> None:
    run.judged(run.item("a.py", "1"), [PASS, FAIL], FAIL)
    before = store.reader.run(run.id)
    item = Item("2", "region", "a.py", Span(0, 4), 1, 1, "text", facets={"size": "1 line"}, extra=True)
    tried = store.add_item(run.id, item)
    run.judged(tried, [PASS, PASS], FAIL)
    after = store.reader.run(run.id)
    assert replace(after, changes=before.changes) == before
    row = store.reader.item(tried)
    assert (row.extra, row.headline, row.secondary, row.state) == (True, 1.0, 1.0, "done")
    assert [(file.items, file.measures.get("rtc")) for file in files_of(store.reader, run.id)] == [(1, 0.5)]
    assert store.reader.score(run.id) == (before.headline, before.secondary)
    assert len(store.reader.running(run.id)) == 1
    assert store.reader.facets(run.id) == []
    rows = store._db.query("SELECT items_admitted, rtc FROM run_scores WHERE run_id = ?", (run.id,))
    assert list(rows) == [{"items_admitted": 1, "rtc": 0.5}]


def test_what_was_tried_becomes_the_runs_own_when_it_is_sampled(store: Store, run: Run) -> None:
    tried = store.add_item(run.id, Item("1", "region", "a.py", Span(0, 4), 1, 1, "text", ("t",), extra=True))
    run.judged(tried, [PASS, PASS], FAIL)
    sampled = Item("1", "region", "a.py", Span(0, 4), 1, 1, "text", ("t", "u"))
    assert store.add_item(run.id, sampled) == tried
    assert store.reader.run(run.id).headline.value == 1.0
    assert store.add_item(run.id, replace(sampled, extra=True)) == tried
    assert (store.reader.item(tried).extra, store.reader.item(tried).tests) == (False, ("t", "u"))


def test_a_metric_stands_beside_the_verdict_of_each_reconstruction(tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        run = fill_store(store, tmp_path / "shop", items=20, seed=4)
        rows = store.reader.scored(run, "edit_sim")
        traces = [sample for item in store.reader.items(run) for sample in store.reader.samples(item.id)]
        expected = [
            (s.id, s.item_id, s.scores["edit_sim"], s.verdict.outcome == "pass")
            for s in sorted(traces, key=lambda s: (s.item_id, s.id))
            if s.role == "backward" and s.verdict and s.verdict.outcome != "infrastructure"
        ]
        assert [(row.sample_id, row.item_id, row.value, row.passed) for row in rows] == expected
        assert store.reader.scored(run, "absent") == []


def test_below_twenty_items_a_figure_says_that_they_are_few() -> None:
    assert [Estimate(0.5, 0.4, 0.6, n).few for n in (0, 1, 19, 20)] == [False, True, True, False]
    assert score_json(Estimate(0.5, 0.4, 0.6, 19)) == {"value": 0.5, "low": 0.4, "high": 0.6, "n": 19, "few": True}


def test_flags_are_those_of_the_last_verdicts(run: Run, store: Store) -> None:
    first, second, third = (run.item("a.py", key) for key in "123")
    made = [run.judged(item, [PASS, PASS], FAIL) for item in (first, second, third)]
    run.flag(made[0][0], "frames", "gc")
    run.flag(made[0][1], "gc")
    run.flag(made[1][0], "subprocess")
    run.flag(made[1][0])
    assert store.reader.flags(run.id) == {first: ("frames", "gc")}


def test_a_run_counts_the_verdicts_that_were_near_their_limit(run: Run, store: Store) -> None:
    first, second = run.item("a.py", "1"), run.item("b.py", "2")
    made = run.judged(first, [PASS, FAIL], PASS)
    run.judged(second, [PASS], FAIL)
    assert store.reader.run(run.id).remarks == []
    run.flag(made[0], NEAR_LIMIT, "frames")
    run.flag(made[1], NEAR_LIMIT)
    run.flag(made[1], "frames")
    row = store.reader.run(run.id)
    assert row.near_limit == 1
    assert row.remarks == ["near its time limit: 1 verdict, which another machine may judge otherwise"]
