"""The schema, as named steps that are only ever added to.

`PRAGMA user_version` counts the steps a file has had; the table `migrations` names them. A released step never
changes: a change of mind is a new step.
"""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

from core.store.schema import AVAILABLE, EXTRA, FACETS, INDICES, LABEL_KINDS, MEASURES, SHOWN, TABLES, TREES, VIEWS

APPLICATION_ID = 0x52544349
"""`RTCI`: marks a file as ours in `PRAGMA application_id`."""

Step = tuple[str, tuple[str, ...]]
"""A name, and the statements that bring a file forward."""

MIGRATIONS: tuple[Step, ...] = (
    ("m001_tables", TABLES),
    ("m002_indices", INDICES),
    ("m003_score_views", VIEWS),
    ("m004_facets", FACETS),
    ("m005_extra_items", EXTRA),
    ("m006_label_kinds", LABEL_KINDS),
    ("m007_trees", TREES),
    ("m008_measures", MEASURES),
    ("m009_shown", SHOWN),
    ("m010_available", AVAILABLE),
)


def version(db: sqlite3.Connection) -> int:
    """How many steps the file has had."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def migrate(db: sqlite3.Connection, steps: tuple[Step, ...] = MIGRATIONS) -> None:
    """Apply what is missing, all or nothing. Raises sqlite3.Error."""
    if version(db) >= len(steps):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        db.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL) STRICT")
        # Another process may have migrated while we waited for the lock, so the version is asked again.
        for name, statements in steps[version(db) :]:
            for statement in statements:
                db.execute(statement)
            db.execute("INSERT INTO migrations (name, applied_at) VALUES (?, ?)", (name, datetime.now(UTC).isoformat()))
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {len(steps)}")
        db.execute("COMMIT")
    except BaseException:
        db.rollback()
        raise
