"""Labels in files: JSONL, CSV, and Label Studio's JSON there and back."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from factories import fill_store

from rtc_inspector.core.errors import StoreError, UserError
from rtc_inspector.core.store.labels import (
    import_labels,
    labelling_interface,
    write_label_studio,
    write_labels_csv,
    write_labels_jsonl,
)
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.taxonomy import read_taxonomy
from rtc_inspector.core.types import LabelKind


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A run with three labels on two samples, one of them taken back."""
    with Store.open(tmp_path / "runs.db") as opened:
        fill_store(opened, tmp_path / "shop", 4, 5)
        first, second, *_ = opened.reader.reconstructions(1)
        opened.add_label(first.sample_id, "ambiguous", "Ann", 'a "quoted",\nnote', taxonomy=read_taxonomy())
        opened.add_label(first.sample_id, "hallucinated", "Bob", "")
        opened.add_label(second.sample_id, "ambiguous", "Ann", "")
        opened.add_label(second.sample_id, "", "Ann", "")
        yield opened


def studio(store: Store) -> str:
    stream = io.StringIO()
    write_label_studio(store.reader, [1], stream)
    return stream.getvalue()


def test_a_line_a_label_that_holds(store: Store) -> None:
    stream = io.StringIO()
    assert write_labels_jsonl(store.reader, [1], stream) == 2
    rows = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(row["annotator"], row["mode"]) for row in rows] == [("Ann", "ambiguous"), ("Bob", "hallucinated")]
    assert rows[0]["note"] == 'a "quoted",\nnote'
    assert [(row["mode_name"], row["taxonomy_version"]) for row in rows] == [("Ambiguous", 1), ("Plainly wrong", None)]
    assert rows[0]["description"] and rows[0]["original"] and rows[0]["outcome"]


def test_the_table_says_the_same(store: Store) -> None:
    stream = io.StringIO(newline="")
    assert write_labels_csv(store.reader, [1], stream) == 2
    stream.seek(0)
    rows = list(csv.DictReader(stream))
    assert [row["note"] for row in rows] == ['a "quoted",\nnote', ""]


def test_no_labels_are_a_table_with_a_head_only(store: Store, tmp_path: Path) -> None:
    run_id = fill_store(store, tmp_path / "other", 2, 1)
    stream = io.StringIO(newline="")
    assert write_labels_csv(store.reader, [run_id], stream) == 0
    assert stream.getvalue().startswith("label_id,")


def test_label_studio_gets_one_task_a_sample(store: Store) -> None:
    (task,) = json.loads(studio(store))
    assert set(task["data"]) == {"run_id", "sample_id", "path", "description", "old", "original", "text"}
    assert [each["result"][0]["value"]["choices"] for each in task["annotations"]] == [["ambiguous"], ["hallucinated"]]
    assert task["annotations"][0]["result"][1]["value"] == {"text": ['a "quoted",\nnote']}


def test_what_went_out_comes_back_without_doubles(store: Store) -> None:
    text = studio(store)
    before = store.reader.current_labels(1)
    assert import_labels(store, [1], text) == 0
    tasks = json.loads(text)
    tasks[0]["annotations"][0]["result"][0]["value"]["choices"] = ["hallucinated"]
    tasks[0]["annotations"].append(
        {"completed_by": {"email": "cy@example.org"}, "result": tasks[0]["annotations"][1]["result"]}
    )
    tasks[0]["annotations"].append({"was_cancelled": True, "result": []})
    assert import_labels(store, [1], json.dumps(tasks)) == 2
    assert import_labels(store, [1], json.dumps(tasks)) == 0
    after = {each.annotator: each.mode for each in store.reader.current_labels(1)}
    assert after == {"Ann": "hallucinated", "Bob": "hallucinated", "cy@example.org": "hallucinated"}
    assert len(before) == 2


@pytest.mark.parametrize("ending", ["jsonl", "csv", "json"])
def test_several_modes_and_notes_alone_go_out_and_come_back(store: Store, ending: str) -> None:
    first, second, *_ = store.reader.reconstructions(1)
    store.add_label(first.sample_id, "recites ambiguous recites", "Ann", "")
    store.add_label(second.sample_id, "", "Ann", "odd")
    before = store.reader.current_labels(1)
    assert [(row.modes, row.note) for row in before] == [
        (("hallucinated",), ""), (("recites", "ambiguous"), ""), ((), "odd"),
    ]  # fmt: skip
    write = {"jsonl": write_labels_jsonl, "csv": write_labels_csv, "json": write_label_studio}[ending]
    stream = io.StringIO(newline="")
    write(store.reader, [1], stream)
    assert import_labels(store, [1], stream.getvalue()) == 0
    for label in before:
        store.add_label(label.sample_id, "", label.annotator, "")
    assert import_labels(store, [1], stream.getvalue()) == 3
    after = {(row.sample_id, row.annotator): (row.modes, row.note) for row in store.reader.current_labels(1)}
    assert after == {(row.sample_id, row.annotator): (row.modes, row.note) for row in before}


def test_a_label_for_another_run_than_the_one_on_show_is_refused(store: Store, tmp_path: Path) -> None:
    other, before = fill_store(store, tmp_path / "other", 2, 1), store.reader.current_labels(1)
    sample_id = store.reader.reconstructions(1)[0].sample_id
    with pytest.raises(StoreError, match=f"not one of run {other}"):
        store.add_label(sample_id, "other", "Ann", "", run_id=other)
    assert store.reader.current_labels(1) == before
    store.add_label(sample_id, "other", "Ann", "", run_id=1)


BEYOND = '[{"data": {"sample_id": 1e999}, "annotations": [{"result": []}]}]'


@pytest.mark.parametrize(
    "text", ["", "{}x", '[{"data": {}, "annotations": [{"result": []}]}]', "[3]", "[" * 99_999, BEYOND]
)
def test_another_file_is_refused(store: Store, text: str) -> None:
    with pytest.raises(UserError, match="no labels of Label Studio"):
        import_labels(store, [1], text)


def test_labels_of_another_run_are_refused(store: Store, tmp_path: Path) -> None:
    other = fill_store(store, tmp_path / "other", 2, 1)
    with pytest.raises(UserError, match="not a reconstruction of run"):
        import_labels(store, [other], studio(store))


def decide(store: Store, mode: str, by: str, note: str = "") -> int:
    sample_id = store.reader.reconstructions(1)[0].sample_id
    store.add_label(sample_id, mode, by, note, kind=LabelKind.ADJUDICATION)
    return sample_id


def test_a_decision_stands_beside_the_labels_it_decides_between(store: Store) -> None:
    before = store.reader.current_labels(1)
    sample_id = decide(store, "other", "Ann")
    decide(store, "hallucinated", "Cyd", "see the guard")
    assert store.reader.current_labels(1) == before
    (held,) = store.reader.adjudications(1)
    assert (held.annotator, held.mode, held.note, held.kind) == ("Cyd", "hallucinated", "see the guard", "adjudication")
    assert [row.kind for row in store.reader.labels(sample_id)] == ["label", "label", "adjudication", "adjudication"]
    decide(store, "", "Ann")
    assert store.reader.adjudications(1) == []
    assert store.reader.current_labels(1) == before


@pytest.mark.parametrize("ending", ["jsonl", "csv", "json"])
def test_every_file_carries_decisions_and_comes_back_without_doubles(store: Store, ending: str) -> None:
    decide(store, "hallucinated", "Ann", "see the guard")
    write = {"jsonl": write_labels_jsonl, "csv": write_labels_csv, "json": write_label_studio}[ending]
    stream = io.StringIO(newline="")
    write(store.reader, [1], stream)
    before = store.reader.current_labels(1), store.reader.adjudications(1)
    assert import_labels(store, [1], stream.getvalue()) == 0
    for label in (*before[0], *before[1]):
        store.add_label(label.sample_id, "", label.annotator, "", kind=LabelKind(label.kind))
    assert store.reader.current_labels(1) == store.reader.adjudications(1) == []
    assert import_labels(store, [1], stream.getvalue()) == 3
    assert import_labels(store, [1], stream.getvalue()) == 0
    after = store.reader.current_labels(1), store.reader.adjudications(1)
    assert [[(row.annotator, row.mode, row.note) for row in rows] for rows in after] == [
        [(row.annotator, row.mode, row.note) for row in rows] for rows in before
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"label_id": 1, "sample_id": 1}',
        '{"label_id": 1, "mode": "other", "annotator": "Ann", "sample_id": 1e999}',
        '{"label_id"' + ": [" * 99_999,
        "label_id,sample_id\n1,2\n",
    ],
)
def test_a_table_without_modes_is_refused(store: Store, text: str) -> None:
    with pytest.raises(UserError, match="no label"):
        import_labels(store, [1], text)


def test_tasks_to_be_labelled_in_label_studio(store: Store) -> None:
    stream = io.StringIO()
    count = write_label_studio(store.reader, [1], stream, unlabelled=True)
    tasks = json.loads(stream.getvalue())
    assert count == len(tasks) == len(store.reader.reconstructions(1))
    assert {frozenset(task["data"]) for task in tasks} == {frozenset(tasks[0]["data"])}
    choices = ElementTree.fromstring(labelling_interface(read_taxonomy())).iter("Choice")
    assert [choice.get("value") for choice in choices] == [mode.id for mode in read_taxonomy().offered]
