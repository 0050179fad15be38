"""What is written comes back as it was, through the public interface alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest
from factories import fill_store, model_info, suite

from rtc_inspector.core.errors import Bug, StoreError
from rtc_inspector.core.generation import Extraction, Role, Sample
from rtc_inspector.core.settings import RegionSettings, RunSettings
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.types import Item, Outcome, Span, TestResult, Verdict

SETTINGS = RunSettings(model="m.gguf", regions=2, seed=7, region=RegionSettings(coverage="any"))
ITEM = Item(
    key="a.py:4-9",
    kind="edit",
    path="a.py",
    span=Span(4, 9),
    start_line=2,
    end_line=3,
    text="x = 'ä\x00 😀'\r\n",
    tests=("tests/test_a.py::test_one[é]",),
    old_text="x = 1",
)


def sample(role: Role, index: int = 0, text: str = "code", **changes: object) -> Sample:
    made = Sample(
        role=role,
        index=index,
        prompt_text="What does it do?",
        seed=2**31 - 1,
        temperature=0.8,
        raw_text=f"```\n{text}\n```",
        extraction=Extraction(text, ("fence", "reindented")),
        prompt_tokens=12,
        completion_tokens=3,
        seconds=0.25,
        finish_reason="stop",
        recitation=0.5 if role is Role.FORWARD else None,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def verdict(outcome: Outcome) -> Verdict:
    return Verdict(outcome, 0.1, oracle="tests/none")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "runs.db") as opened:
        yield opened


@pytest.fixture
def run_id(store: Store, tmp_path: Path) -> int:
    project = store.add_project(tmp_path, "thing", None, dirty=True)
    info = model_info()
    return store.start_run(project, SETTINGS, info, info, "tests/none", "sha256:1", "0.1.0", "f" * 64, suite())


def test_a_filled_store_reads_back_and_spans_match_the_files(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db") as store:
        run_id = fill_store(store, tmp_path / "project", items=50, seed=1)
    with Reader.open(tmp_path / "a.db") as reader:
        run = reader.run(run_id)
        items = reader.items(run_id)
    assert run.items_admitted + run.items_dropped == 50 == len(items)
    assert run.samples == 7 * run.items_admitted
    for item in items:
        text = (tmp_path / "project" / item.path).read_text()
        assert text[item.start : item.end] == item.text
        assert text.splitlines()[item.start_line - 1].strip() == item.text.splitlines()[0]


def test_a_run_keeps_everything_needed_to_know_it_again(store: Store, run_id: int, tmp_path: Path) -> None:
    reader = store.reader
    row = reader.run(run_id)
    assert (row.status, row.revision, row.dirty, row.seed) == ("running", None, True, 7)
    assert (row.image_digest, row.fingerprint, row.ended_at) == ("sha256:1", "f" * 64, None)
    assert '"flaky' in row.suite_json
    assert reader.settings(run_id) == SETTINGS
    assert reader.fingerprint(run_id) == "f" * 64
    assert reader.run_project_root(run_id) == tmp_path
    store.rename_run(run_id, "small model")
    store.note_run(run_id, "first try")
    store.finish_run(run_id, "incomplete", ["One sample could not be judged."])
    row = reader.run(run_id)
    assert (row.name, row.notes, row.status) == ("small model", "first try", "incomplete")
    assert row.problems == ("One sample could not be judged.",)
    assert row.ended_at is not None and row.ended_at >= row.started_at


def test_an_item_comes_back_whole_and_is_stored_once(store: Store, run_id: int) -> None:
    item_id = store.add_item(run_id, ITEM)
    assert store.add_item(run_id, ITEM) == item_id
    dropped = replace(ITEM, key="b", admitted=False, reason="no test notices")
    store.add_item(run_id, dropped)
    found = store.reader.drawn(run_id).values()
    assert [[getattr(row, field.name) for field in fields(Item)] for row in found] == [
        [getattr(item, field.name) for field in fields(Item)] for item in (ITEM, dropped)
    ]
    assert [row.state for row in store.reader.items(run_id)] == ["waiting", "dropped"]
    assert store.reader.item(item_id).tests == ITEM.tests


def test_a_sample_comes_back_with_its_prompt_verdict_tests_and_scores(store: Store, run_id: int) -> None:
    item_id = store.add_item(run_id, ITEM)
    parent = store.add_sample(item_id, None, sample(Role.FORWARD, text="Sets x."))
    child = store.add_sample(item_id, parent, sample(Role.BACKWARD, truncated=True))
    tests = (
        TestResult("t::a", "passed", "", 0.5),
        TestResult("t::b", "failed", "assert 1 == 2", 0.25),
        TestResult("t::c", "skipped"),
    )
    verdict_id = store.add_verdict(child, Verdict(Outcome.FAIL, 1.5, tests, "1 of 2 failed", "out", "tests/x"))
    store.add_scores(child, {"bleu": 0.5, "chrf": 0.25})
    store.add_scores(child, {"bleu": 0.75})
    forward, backward = store.reader.samples(item_id)
    assert (forward.text, forward.recitation, forward.verdict) == ("Sets x.", 0.5, None)
    assert (backward.parent_id, backward.truncated, backward.seed) == (parent, True, 2**31 - 1)
    assert backward.extraction_steps == ("fence", "reindented")
    assert store.reader.prompt(backward.prompt_hash) == "What does it do?"
    assert backward.scores == {"bleu": 0.75, "chrf": 0.25}
    found = backward.verdict
    assert found is not None and (found.id, found.outcome, found.tests_run, found.tests_failed) == (
        verdict_id,
        "fail",
        2,
        1,
    )
    assert [(row.node_id, row.outcome, row.message) for row in store.reader.tests(verdict_id)] == [
        (test.node_id, test.outcome, test.message) for test in tests
    ]


def test_a_trace_is_in_the_order_of_the_round_trip(store: Store, run_id: int) -> None:
    item_id = store.add_item(run_id, ITEM)
    baseline = store.add_sample(item_id, None, sample(Role.BASELINE))
    second = store.add_sample(item_id, None, sample(Role.FORWARD, 1))
    first = store.add_sample(item_id, None, sample(Role.FORWARD, 0))
    of_second = store.add_sample(item_id, second, sample(Role.BACKWARD))
    last_of_first = store.add_sample(item_id, first, sample(Role.BACKWARD, 1))
    first_of_first = store.add_sample(item_id, first, sample(Role.BACKWARD, 0))
    order = [first, first_of_first, last_of_first, second, of_second, baseline]
    assert [row.id for row in store.reader.samples(item_id)] == order


def test_a_sample_made_again_takes_the_place_of_the_failed_one(store: Store, run_id: int) -> None:
    item_id = store.add_item(run_id, ITEM)
    parent = store.add_sample(item_id, None, sample(Role.FORWARD))
    failed = store.add_sample(item_id, parent, sample(Role.BACKWARD, error="the engine died twice"))
    store.add_verdict(failed, verdict(Outcome.INFRASTRUCTURE))
    again = store.add_sample(item_id, parent, sample(Role.BACKWARD, text="better"))
    rows = store.reader.samples(item_id)
    assert [row.id for row in rows] == [parent, again]
    assert rows[1].verdict is None and rows[1].error == ""
    with pytest.raises(Bug):
        store.add_sample(item_id, parent, sample(Role.BACKWARD, text="once more"))
    assert [row.text for row in store.reader.samples(item_id)] == ["code", "better"]


def test_the_last_verdict_holds(store: Store, run_id: int) -> None:
    item_id = store.add_item(run_id, ITEM)
    sample_id = store.add_sample(item_id, None, sample(Role.BASELINE))
    store.add_verdict(sample_id, verdict(Outcome.INFRASTRUCTURE))
    store.add_verdict(sample_id, verdict(Outcome.PASS))
    (row,) = store.reader.samples(item_id)
    assert row.verdict is not None and row.verdict.outcome == "pass"


def test_text_that_utf8_cannot_hold_stays_readable(store: Store, run_id: int) -> None:
    item_id = store.add_item(run_id, replace(ITEM, text="x = '\udc80'"))
    store.add_sample(item_id, None, sample(Role.FORWARD, text="\ud800", prompt_text="\udc80?"))
    (row,) = store.reader.samples(item_id)
    assert row.text == "\\ud800"
    assert store.reader.prompt(row.prompt_hash) == "\\udc80?"
    assert store.reader.item(item_id).text == "x = '\\udc80'"


@pytest.mark.parametrize(
    ("status", "admitted", "dropped", "available", "expected"),
    [
        ("running", 0, 0, None, 4),
        ("running", 1, 2, None, 4),
        ("interrupted", 1, 2, 5, 3),
        ("running", 6, 0, 6, 6),
        ("finished", 3, 2, 90, 3),
        ("failed", 0, 0, None, 4),
    ],
)
def test_a_run_is_expected_to_have_what_was_asked_for_until_it_ends(
    store: Store, run_id: int, status: str, admitted: int, dropped: int, available: int | None, expected: int
) -> None:
    """`1/1 regions` of a run that asked for four would say that it is nearly done."""
    run = replace(
        store.reader.run(run_id),
        regions_wanted=4, status=status, items_admitted=admitted, items_dropped=dropped, available=available,
    )  # fmt: skip
    assert run.items_expected == expected


def test_an_unknown_run_names_those_there_are(store: Store, run_id: int) -> None:
    for ask in (
        lambda: store.reader.run(99),
        lambda: store.reader.settings(99),
        lambda: store.reader.score(99),
        lambda: store.take_up(99),
        lambda: store.delete_run(99),
        lambda: store.rename_run(99, "x"),
    ):
        with pytest.raises(StoreError) as error:
            ask()
        assert "no run 99" in error.value.problem
        assert f"there: {run_id}." in error.value.remedy


def test_one_project_in_one_state_is_one_row(store: Store, tmp_path: Path) -> None:
    first = store.add_project(tmp_path, "thing", "abc", dirty=False)
    assert store.add_project(tmp_path, "thing", "abc", dirty=False) == first
    assert store.add_project(tmp_path, "thing", "abc", dirty=True) != first
    assert store.add_project(tmp_path, "thing", None, dirty=False) != first


def test_labels_keep_their_history_and_the_last_one_holds(store: Store, run_id: int) -> None:
    sample_id = store.add_sample(store.add_item(run_id, ITEM), None, sample(Role.BASELINE))
    store.add_label(sample_id, "misses-logic", "ann", "the outer condition")
    store.add_label(sample_id, "hallucinated", "ann", "")
    store.add_label(sample_id, "formulaic", "bob", "")
    store.add_label(sample_id, "", "bob", "")
    history = store.reader.labels(sample_id)
    assert [(row.annotator, row.mode) for row in history] == [
        ("ann", "misses-logic"),
        ("ann", "hallucinated"),
        ("bob", "formulaic"),
        ("bob", ""),
    ]
    assert history[0].note == "the outer condition"
    assert [(row.annotator, row.mode) for row in store.reader.current_labels(run_id)] == [("ann", "hallucinated")]


def test_a_number_too_large_is_told_in_a_sentence(store: Store, tmp_path: Path) -> None:
    project = store.add_project(tmp_path, "thing", None, dirty=False)
    info = model_info()
    with pytest.raises(StoreError, match="too large"):
        store.start_run(project, RunSettings(seed=2**64), info, info, "s", "", "0", "", suite())
    assert store.reader.runs() == []


def test_a_deleted_run_takes_everything_with_it_and_nothing_else(store: Store, tmp_path: Path) -> None:
    kept = fill_store(store, tmp_path / "p", items=8, seed=1)
    before = store.reader.run(kept)
    prompts = {row.prompt_hash for item in store.reader.items(kept) for row in store.reader.samples(item.id)}
    gone = fill_store(store, tmp_path / "q", items=12, seed=2)
    doomed = store.reader.samples(store.reader.items(gone)[0].id)
    store.add_label(doomed[0].id, "formulaic", "ann", "")
    store.delete_run(gone)
    reader = store.reader
    assert [row.id for row in reader.runs()] == [kept]
    assert reader.run(kept) == before
    assert all(reader.prompt(key) for key in prompts)
    own = {row.prompt_hash for row in doomed} - prompts
    for key in own:
        with pytest.raises(Bug):
            reader.prompt(key)
    assert reader.labels(doomed[0].id) == []
    assert reader.items(gone) == [] and reader.samples(doomed[0].item_id) == []


def test_a_hidden_run_comes_back_whole(store: Store, tmp_path: Path) -> None:
    run_id = fill_store(store, tmp_path / "p", items=4, seed=1)
    before = store.reader.run(run_id)
    store.hide_run(run_id)
    assert store.reader.runs() == []
    assert [row.id for row in store.reader.runs(hidden=True)] == [run_id]
    store.restore_run(run_id)
    assert store.reader.runs() == [before]


def test_a_claimed_run_is_not_deleted(store: Store, run_id: int, tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as other, pytest.raises(StoreError, match="being worked on"):
        other.delete_run(run_id)
    assert store.reader.run(run_id).status == "running"


def test_change_count_moves_with_every_commit_by_anybody(store: Store, run_id: int, tmp_path: Path) -> None:
    with Reader.open(tmp_path / "runs.db") as reader, Store.open(tmp_path / "runs.db") as other:
        counts = [reader.change_count()]
        assert reader.change_count() == counts[0]
        item_id = store.add_item(run_id, ITEM)
        counts.append(reader.change_count())
        other.add_label(store.add_sample(item_id, None, sample(Role.BASELINE)), "formulaic", "ann", "")
        counts.append(reader.change_count())
        assert len(set(counts)) == 3


def test_close_twice_is_fine(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "a.db")
    assert store.reader.runs() == []
    store.close()
    store.close()
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]
