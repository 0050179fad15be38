"""Labels in files: JSONL, CSV, and Label Studio's JSON there and back."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from factories import fill_store

from core.errors import UserError
from core.store.label_studio import import_labels, write_label_studio
from core.store.labels import write_labels_csv, write_labels_jsonl
from core.store.writer import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A run with three labels on two samples, one of them taken back."""
    with Store.open(tmp_path / "runs.db") as opened:
        fill_store(opened, tmp_path / "shop", 4, 5)
        first, second, *_ = opened.reader.reconstructions(1)
        opened.add_label(first.sample_id, "ambiguous", "Ann", 'a "quoted",\nnote')
        opened.add_label(first.sample_id, "hallucinated", "Bob", "")
        opened.add_label(second.sample_id, "ambiguous", "Ann", "")
        opened.add_label(second.sample_id, "", "Ann", "")
        yield opened


def studio(store: Store) -> str:
    stream = io.StringIO()
    write_label_studio(store.reader, 1, stream)
    return stream.getvalue()


def test_a_line_a_label_that_holds(store: Store) -> None:
    stream = io.StringIO()
    assert write_labels_jsonl(store.reader, 1, stream) == 2
    rows = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(row["annotator"], row["mode"]) for row in rows] == [("Ann", "ambiguous"), ("Bob", "hallucinated")]
    assert rows[0]["note"] == 'a "quoted",\nnote'
    assert rows[0]["description"] and rows[0]["original"] and rows[0]["outcome"]


def test_the_table_says_the_same(store: Store) -> None:
    stream = io.StringIO(newline="")
    assert write_labels_csv(store.reader, 1, stream) == 2
    stream.seek(0)
    rows = list(csv.DictReader(stream))
    assert [row["note"] for row in rows] == ['a "quoted",\nnote', ""]


def test_no_labels_are_a_table_with_a_head_only(store: Store, tmp_path: Path) -> None:
    run_id = fill_store(store, tmp_path / "other", 2, 1)
    stream = io.StringIO(newline="")
    assert write_labels_csv(store.reader, run_id, stream) == 0
    assert stream.getvalue().startswith("label_id,")


def test_label_studio_gets_one_task_a_sample(store: Store) -> None:
    (task,) = json.loads(studio(store))
    assert set(task["data"]) == {"run_id", "sample_id", "path", "description", "original", "text"}
    assert [each["result"][0]["value"]["choices"] for each in task["annotations"]] == [["ambiguous"], ["hallucinated"]]
    assert task["annotations"][0]["result"][1]["value"] == {"text": ['a "quoted",\nnote']}


def test_what_went_out_comes_back_without_doubles(store: Store) -> None:
    text = studio(store)
    before = store.reader.current_labels(1)
    assert import_labels(store, 1, text) == 0
    tasks = json.loads(text)
    tasks[0]["annotations"][0]["result"][0]["value"]["choices"] = ["hallucinated"]
    tasks[0]["annotations"].append(
        {"completed_by": {"email": "cy@example.org"}, "result": tasks[0]["annotations"][1]["result"]}
    )
    tasks[0]["annotations"].append({"was_cancelled": True, "result": []})
    assert import_labels(store, 1, json.dumps(tasks)) == 2
    assert import_labels(store, 1, json.dumps(tasks)) == 0
    after = {each.annotator: each.mode for each in store.reader.current_labels(1)}
    assert after == {"Ann": "hallucinated", "Bob": "hallucinated", "cy@example.org": "hallucinated"}
    assert len(before) == 2


@pytest.mark.parametrize("text", ["", "{}x", '[{"data": {}, "annotations": [{"result": []}]}]', "[3]"])
def test_another_file_is_refused(store: Store, text: str) -> None:
    with pytest.raises(UserError, match="no labels of Label Studio"):
        import_labels(store, 1, text)


def test_labels_of_another_run_are_refused(store: Store, tmp_path: Path) -> None:
    other = fill_store(store, tmp_path / "other", 2, 1)
    with pytest.raises(UserError, match="not a reconstruction of run"):
        import_labels(store, other, studio(store))
