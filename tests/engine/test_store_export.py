"""A run as JSONL and CSV: every code sample, with all that is needed to read it alone."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from factories import fill_store

from rtc_inspector.core.errors import StoreError
from rtc_inspector.core.store.export import export_rows, write_csv, write_jsonl
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.writer import Store


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    with Store.open(folder / "runs.db") as store:
        fill_store(store, folder / "project", items=12, seed=3)
    return folder / "runs.db"


def test_one_line_a_code_sample_with_its_provenance(database: Path) -> None:
    with Reader.open(database) as reader:
        rows = list(export_rows(reader, 1))
        traces = {item.id: reader.samples(item.id) for item in reader.items(1)}
    code = [row.id for trace in traces.values() for row in trace if row.role != "forward"]
    assert [row["sample_id"] for row in rows] == code
    first = rows[0]
    (described,) = [row for row in traces[first["item_id"]] if row.id == first["parent_id"]]
    assert first["description"] == described.text
    assert first["recitation"] == described.recitation
    assert first["forward_model_sha256"] == "ab" * 32
    assert first["score_chrf"] is not None and first["prompt"].startswith("Complete the code")
    assert {row["role"] for row in rows} == {"backward", "baseline"}
    assert all(row["description"] == "" for row in rows if row["role"] == "baseline")
    assert len({tuple(row) for row in rows}) == 1


def test_the_file_that_items_came_from_is_named(database: Path, tmp_path: Path) -> None:
    """The project of a benchmark is a folder that was made for the run."""
    with Reader.open(database) as reader:
        assert {row["source_file"] for row in export_rows(reader, 1)} == {""}
    copy = tmp_path / "runs.db"
    shutil.copy(database, copy)
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("UPDATE runs SET config = json_set(config, '$.benchmark.file', '/own.jsonl')")
    with Reader.open(copy) as reader:
        assert {row["source_file"] for row in export_rows(reader, 1)} == {"/own.jsonl"}


def test_jsonl_and_csv_carry_the_same(database: Path) -> None:
    lines, table = io.StringIO(), io.StringIO(newline="")
    with Reader.open(database) as reader:
        assert write_jsonl(reader, 1, lines) == write_csv(reader, 1, table)
    objects = [json.loads(line) for line in lines.getvalue().splitlines()]
    table.seek(0)
    records = list(csv.DictReader(table))
    assert len(objects) == len(records)
    for made, record in zip(objects, records, strict=True):
        assert record["text"] == made["text"] and record["reference"] == made["reference"]
        assert json.loads(record["covering_tests"]) == made["covering_tests"]
        assert float(record["score_bleu"]) == made["score_bleu"]


def test_what_was_odd_is_written_out(database: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(database, tmp_path))
    with closing(sqlite3.connect(copy)) as db, db:
        db.execute("UPDATE verdicts SET flags = ? WHERE id = (SELECT min(id) FROM verdicts)", ('["gc", "subprocess"]',))
    with Reader.open(copy) as reader:
        found = [row["flags"] for row in export_rows(reader, 1) if row["flags"]]
    assert found == [["gc", "subprocess"]]


@pytest.mark.parametrize("answer", ["x = 1\r", "\r", "x\r\ny\rz\n", 'a "b", c', "\u2028"])
def test_every_kind_of_line_end_survives_csv(database: Path, tmp_path: Path, answer: str) -> None:
    """An answer that was cut before its last line feed ends in a lone carriage return."""
    copy = Path(shutil.copy(database, tmp_path))
    with closing(sqlite3.connect(copy)) as db, db:
        db.execute("UPDATE samples SET raw_text = ?", (answer,))
    with Reader.open(copy) as reader, (tmp_path / "run.csv").open("w", newline="") as stream:
        count = write_csv(reader, 1, stream)
    with (tmp_path / "run.csv").open(newline="") as stream:
        assert [row["raw_text"] for row in csv.DictReader(stream)] == [answer] * count


def test_an_unknown_run_is_told(database: Path) -> None:
    with Reader.open(database) as reader, pytest.raises(StoreError, match="no run 5"):
        write_jsonl(reader, 5, io.StringIO())
