"""Old files are brought up to date; steps are only ever added."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from factories import fill_store
from sqlite_utils import Database

from core.store.migrations import MIGRATIONS, migrate, version
from core.store.reader import Reader
from core.store.writer import Store

DOCS = Path(__file__).parents[2] / "docs" / "database.md"


def schema(db: sqlite3.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall())


def oldest(path: Path) -> None:
    """A file as the first step alone left it, with a run in it."""
    db = sqlite3.connect(path, isolation_level=None)
    migrate(db, MIGRATIONS[:1])
    db.close()
    newest = path.with_name("new.db")
    with Store.open(newest) as store:
        fill_store(store, path.parent / "project", items=20, seed=1)
    db = Database(sqlite3.connect(path, isolation_level=None))
    db.execute("ATTACH ? AS new", [str(newest)])
    tables = ("projects", "runs", "items", "prompts", "samples", "verdicts", "test_results", "scores")
    for table in tables:
        columns = ", ".join(column.name for column in db.table(table).columns)
        db.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}")
    db.close()


def since(measures: Mapping[str, Any]) -> dict[str, Any]:
    """What stored runs of earlier versions have no figures of: how much of a file their prompts showed."""
    return {name: measures[name] for name in ("cut", "shown", "limited") if name in measures}


def test_the_oldest_schema_is_brought_up_to_date_with_its_data(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    oldest(path)
    with Store.open(tmp_path / "fresh.db") as fresh, Store.open(path) as migrated:
        assert schema(migrated._db.conn) == schema(fresh._db.conn)
        assert version(migrated._db.conn) == len(MIGRATIONS)
    with Reader.open(path) as reader, Reader.open(tmp_path / "new.db") as same:
        (run,), (fresh_run,) = reader.runs(), same.runs()
        assert replace(run, scores={}) == replace(fresh_run, scores={})
        assert {**run.scores, **since(fresh_run.scores)} == fresh_run.scores
        for item, fresh_item in zip(reader.items(1), same.items(1), strict=True):
            assert replace(item, measures={}) == replace(fresh_item, measures={})
            assert {**item.measures, **since(fresh_item.measures)} == fresh_item.measures
        assert reader.existing(1) == same.existing(1)


def test_reading_an_old_file_migrates_it_too(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    oldest(path)
    with Reader.open(path) as reader:
        assert len(reader.items(1)) == 20


def test_a_step_that_fails_changes_nothing(tmp_path: Path) -> None:
    broken = ("m099_broken", ("CREATE TABLE half (x)", "CREATE TABLE runs (x)"))
    path = tmp_path / "runs.db"
    Store.open(path).close()
    db = sqlite3.connect(path, isolation_level=None)
    before = schema(db)
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        migrate(db, (*MIGRATIONS, broken))
    assert (schema(db), version(db)) == (before, len(MIGRATIONS))
    db.close()


def test_applied_steps_are_recorded_by_name(tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        names = [row["name"] for row in store._db.table("migrations").rows]
    assert names[-2:] == ["m009_shown", "m010_available"]
    assert [int(name[1:4]) for name in names] == list(range(1, len(MIGRATIONS) + 1))


def test_released_steps_have_not_changed(tmp_path: Path) -> None:
    """Whoever changes a released step instead of adding one breaks files out there: this stops them."""
    digests = []
    db = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    for count in range(1, len(MIGRATIONS) + 1):
        migrate(db, MIGRATIONS[:count])
        text = "\n".join(f"{name}: {sql}" for name, sql in sorted(schema(db).items()))
        digests.append(hashlib.sha256(text.encode()).hexdigest()[:16])
    db.close()
    assert digests == RELEASED


def test_every_table_is_strict_and_every_column_documented(tmp_path: Path) -> None:
    Store.open(tmp_path / "runs.db").close()
    db = Database(sqlite3.connect(tmp_path / "runs.db"))
    text = DOCS.read_text(encoding="utf-8")
    for table in (*db.table_names(), *db.view_names()):
        assert f"### {table}\n" in text, table
        section = re.split(r"^##+ ", text.split(f"### {table}\n")[1], flags=re.MULTILINE)[0]
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        assert [name for name in columns if f"`{name}`" not in section] == [], table
    tables = db.execute("SELECT name, strict FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    assert all(strict for _, strict in tables.fetchall())
    db.close()


def test_the_questions_in_the_docs_can_be_asked(tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        fill_store(store, tmp_path / "project", items=60, seed=1)
        store.add_label(1, "formulaic", "ann", "")
    (block,) = re.findall(r"```sql\n(.*?)```", DOCS.read_text(encoding="utf-8"), flags=re.DOTALL)
    db = sqlite3.connect(tmp_path / "runs.db")
    for question in block.strip().split(";")[:-1]:
        assert db.execute(question).fetchall(), question
    db.close()


RELEASED = [
    "a6cfc5962aad681b", "0a07487c307ecb10", "5432b7b7e3333dfd", "aa983f77a14ff7d4", "c2b089b87d3a0b40",
    "6ac92acd1c5f1327", "895b4ee2b0f006c0", "56e9628c59f4ef87", "6aa50ec652972f04", "fad8beceffa72f23",
]  # fmt: skip
