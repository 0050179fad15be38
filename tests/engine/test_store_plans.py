"""Every statement the store runs finds its rows by an index: none looks through all samples."""

from __future__ import annotations

import io
import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from factories import files_of, fill_store

from rtc_inspector.core.generation import Extraction, Role, Sample
from rtc_inspector.core.metrics.statistics import interval
from rtc_inspector.core.store.export import write_jsonl
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.writer import Store

LARGE = {"items", "samples", "prompts", "verdicts", "test_results", "scores", "labels"}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plans")
    with Store.open(folder / "runs.db", interval) as store:
        for seed in range(3):
            fill_store(store, folder / "project", items=20, seed=seed)
    return folder / "runs.db"


def aliases(sql: str) -> dict[str, str]:
    """What the short names of a statement and of the views stand for."""
    return {short: table for table, short in re.findall(r"(?:FROM|JOIN|UPDATE) (\w+)(?: AS)? (\w+)", sql)}


def full_scans(db: sqlite3.Connection, sql: str) -> Iterator[str]:
    views = "\n".join(row[0] for row in db.execute("SELECT sql FROM sqlite_master WHERE type = 'view'"))
    known = aliases(views) | aliases(sql)
    for *_, detail in db.execute(f"EXPLAIN QUERY PLAN {sql}"):
        if found := re.match(r"SCAN (\w+)", detail):
            table = known.get(found[1], found[1])
            if table in LARGE:
                yield f"{detail}: {sql}"


def traced(db: sqlite3.Connection, act: Callable[[], object]) -> list[str]:
    """What `act` asks, with the values in it."""
    statements: list[str] = []
    db.set_trace_callback(statements.append)
    act()
    db.set_trace_callback(None)
    kinds = ("SELECT", "INSERT", "UPDATE", "DELETE")
    return [sql for sql in statements if sql.lstrip().upper().startswith(kinds)]


def all_questions(reader: Reader) -> None:
    reader.runs()
    reader.run(2)
    items = reader.items(2)
    admitted = next(item for item in items if item.admitted)
    reader.item(admitted.id)
    trace = reader.samples(admitted.id)
    reader.tests(next(row.verdict.id for row in trace if row.verdict))
    reader.labels(trace[0].id)
    reader.current_labels(2)
    reader.adjudications(2)
    reader.taxonomies()
    files_of(reader, 2)
    reader.score(2)
    reader.score(2, "bleu")
    reader.running(2)
    reader.metrics(2)
    reader.scored(2, "bleu")
    reader.drawn(2)
    reader.tree(admitted.id)
    reader.measures(2)
    write_jsonl(reader, 2, io.StringIO())


def test_no_question_looks_through_all_samples(database: Path) -> None:
    with Reader.open(database, interval) as reader:
        reader._known_figures.clear()
        statements = traced(reader._db, lambda: all_questions(reader))
        assert len(set(statements)) > 12
        assert [scan for sql in statements for scan in full_scans(reader._db, sql)] == []


def test_a_view_asked_without_a_run_would_be_caught(database: Path) -> None:
    with Reader.open(database) as reader:
        assert list(full_scans(reader._db, "SELECT * FROM item_scores"))
        assert list(full_scans(reader._db, "SELECT * FROM samples s WHERE s.seed = 1"))


def test_no_write_looks_through_all_samples(database: Path) -> None:
    made = Sample(Role.FORWARD, 9, "p", 0, 0.8, "t", Extraction("t"), 1, 1, 0.1, "stop")

    def write_everything() -> None:
        run_id = fill_store(store, database.parent / "project", items=3, seed=9)
        (first, *_) = store.reader.items(run_id)
        sample = store.add_sample(first.id, None, made)
        store.add_sample(first.id, sample, replace(made, role=Role.BACKWARD))
        store.add_label(sample, "formulaic", "ann", "")
        store.hide_run(run_id)
        store.delete_run(run_id)

    with Store.open(database) as store:
        statements = traced(store._db.conn, write_everything)
        assert any(sql.lstrip().startswith("DELETE") for sql in statements)
        assert [scan for sql in statements for scan in full_scans(store._db.conn, sql)] == []


def test_the_list_of_finished_runs_asks_for_no_items_at_all(database: Path) -> None:
    with Reader.open(database, interval) as reader:
        statements = traced(reader._db, reader.runs)
        assert [run.headline.low is not None for run in reader.runs()] == [True] * 3
        assert len(statements) == 1
