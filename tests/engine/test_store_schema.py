"""One schema: made all or nothing, documented, and asked as the documentation says."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest
from factories import fill_store
from sqlite_utils import Database

from rtc_inspector.core.store import schema
from rtc_inspector.core.store.writer import Store

DOCS = Path(__file__).parents[2] / "docs" / "database.md"


def test_a_schema_that_cannot_be_made_whole_is_not_made_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = sqlite3.connect(tmp_path / "runs.db", isolation_level=None)
    monkeypatch.setattr(schema, "SCHEMA", schema.SCHEMA + "CREATE TABLE runs (x);\n")
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        schema.create(db)
    assert db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    assert schema.version(db) == 0
    db.close()


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
