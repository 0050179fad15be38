"""The migration that tells adjudications from labels, and keeps the error modes that labels were chosen from."""

from __future__ import annotations

LABEL_KINDS = (
    """CREATE TABLE taxonomies (
        hash TEXT PRIMARY KEY,
        version INTEGER NOT NULL,
        text TEXT NOT NULL,
        added_at TEXT NOT NULL
    ) STRICT""",
    "ALTER TABLE labels ADD COLUMN kind TEXT NOT NULL DEFAULT 'label'",
    "ALTER TABLE labels ADD COLUMN taxonomy_hash TEXT REFERENCES taxonomies(hash)",
    "DROP VIEW current_labels",
    """CREATE VIEW current_labels AS
    SELECT l.* FROM labels l
    WHERE l.kind = 'label' AND l.mode <> '' AND l.id = (
        SELECT max(n.id) FROM labels n
        WHERE n.sample_id = l.sample_id AND n.annotator = l.annotator AND n.kind = 'label'
    )""",
    """CREATE VIEW adjudications AS
    SELECT l.* FROM labels l
    WHERE l.kind = 'adjudication' AND l.mode <> '' AND l.id = (
        SELECT max(n.id) FROM labels n WHERE n.sample_id = l.sample_id AND n.kind = 'adjudication'
    )""",
)
