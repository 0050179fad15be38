"""The schema, as named steps that are only ever added to.

`PRAGMA user_version` counts the steps a file has had; the table `migrations` names them. A released step never
changes: a change of mind is a new step.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime

from core.store.schema import AVAILABLE, EXTRA, FACETS, INDICES, LABEL_KINDS, MEASURES, SHOWN, TABLES, TREES, VIEWS

APPLICATION_ID = 0x52544349
"""`RTCI`: marks a file as ours in `PRAGMA application_id`."""

Step = Callable[[sqlite3.Connection], None]


def _m001_tables(db: sqlite3.Connection) -> None:
    """The nine tables of the design."""
    _run(db, TABLES)


def _m002_indices(db: sqlite3.Connection) -> None:
    """What keeps every question of a view off full scans."""
    _run(db, INDICES)


def _m003_score_views(db: sqlite3.Connection) -> None:
    """RTC and lift by item, file and run, for the window, the command line and Datasette alike."""
    _run(db, VIEWS)


def _m004_facets(db: sqlite3.Connection) -> None:
    """What scores are split by (language, size, kind of change) and where an item comes from."""
    _run(db, FACETS)


def _m005_extra_items(db: sqlite3.Connection) -> None:
    """Items that a person tried by hand stand beside the sampled ones and out of the scores."""
    _run(db, EXTRA)


def _m006_label_kinds(db: sqlite3.Connection) -> None:
    """Adjudicated labels stand apart from annotators' own, and every label knows its taxonomy."""
    _run(db, LABEL_KINDS)


def _m007_trees(db: sqlite3.Connection) -> None:
    """Items and samples may be words or code, at any step of a chain; verdicts keep flags, tests their outputs."""
    _run(db, TREES)


def _m008_measures(db: sqlite3.Connection) -> None:
    """Every figure of an item is a named measure, and the engine says when an item is done."""
    _run(db, MEASURES)


def _m009_shown(db: sqlite3.Connection) -> None:
    """Samples say how much of the file their prompt showed."""
    _run(db, SHOWN)


def _m010_available(db: sqlite3.Connection) -> None:
    """Runs say how many items there were to draw from."""
    _run(db, AVAILABLE)


MIGRATIONS: tuple[Step, ...] = (
    _m001_tables,
    _m002_indices,
    _m003_score_views,
    _m004_facets,
    _m005_extra_items,
    _m006_label_kinds,
    _m007_trees,
    _m008_measures,
    _m009_shown,
    _m010_available,
)


def version(db: sqlite3.Connection) -> int:
    """How many steps the file has had."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def migrate(db: sqlite3.Connection, steps: tuple[Step, ...] = MIGRATIONS) -> list[str]:
    """Apply what is missing, all or nothing; return the names of the steps applied. Raises sqlite3.Error."""
    if version(db) >= len(steps):
        return []
    db.execute("BEGIN IMMEDIATE")
    try:
        applied = _apply(db, steps)
        db.execute("COMMIT")
    except BaseException:
        db.rollback()
        raise
    return applied


def _apply(db: sqlite3.Connection, steps: tuple[Step, ...]) -> list[str]:
    """Inside a transaction: another process may have migrated while we waited, so look again."""
    _run(db, ("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL) STRICT",))
    applied = []
    for step in steps[version(db) :]:
        step(db)
        name = step.__name__.lstrip("_")
        db.execute("INSERT INTO migrations (name, applied_at) VALUES (?, ?)", (name, datetime.now(UTC).isoformat()))
        applied.append(name)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {len(steps)}")
    return applied


def _run(db: sqlite3.Connection, statements: tuple[str, ...]) -> None:
    for statement in statements:
        db.execute(statement)
