"""The statements of the first migrations: tables, indices, views. Released text never changes; add a migration."""

from __future__ import annotations

TABLES = (
    """CREATE TABLE projects (
        id INTEGER PRIMARY KEY,
        root TEXT NOT NULL,
        name TEXT NOT NULL,
        revision TEXT,
        dirty INTEGER NOT NULL,
        added_at TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        project_id INTEGER NOT NULL REFERENCES projects(id),
        task TEXT NOT NULL,
        status TEXT NOT NULL,
        name TEXT NOT NULL DEFAULT '',
        notes TEXT NOT NULL DEFAULT '',
        model_name TEXT NOT NULL,
        backward_model_name TEXT NOT NULL,
        models TEXT NOT NULL,
        config TEXT NOT NULL,
        seed INTEGER NOT NULL,
        regions_wanted INTEGER NOT NULL,
        forward_samples INTEGER NOT NULL,
        backward_samples INTEGER NOT NULL,
        sandbox TEXT NOT NULL,
        image_digest TEXT NOT NULL,
        app_version TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        suite TEXT NOT NULL,
        problems TEXT NOT NULL DEFAULT '[]',
        started_at TEXT NOT NULL,
        ended_at TEXT,
        hidden_at TEXT,
        changes INTEGER NOT NULL DEFAULT 0,
        standing TEXT
    ) STRICT""",
    """CREATE TABLE items (
        id INTEGER PRIMARY KEY,
        run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
        key TEXT NOT NULL,
        kind TEXT NOT NULL,
        path TEXT NOT NULL,
        span_start INTEGER NOT NULL,
        span_end INTEGER NOT NULL,
        start_line INTEGER NOT NULL,
        end_line INTEGER NOT NULL,
        text TEXT NOT NULL,
        old_text TEXT,
        tests TEXT NOT NULL,
        admitted INTEGER NOT NULL,
        reason TEXT NOT NULL,
        added_at TEXT NOT NULL,
        UNIQUE (run_id, key)
    ) STRICT""",
    """CREATE TABLE prompts (
        hash TEXT PRIMARY KEY,
        text TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE samples (
        id INTEGER PRIMARY KEY,
        item_id INTEGER NOT NULL REFERENCES items(id) ON DELETE CASCADE,
        parent_id INTEGER REFERENCES samples(id) ON DELETE CASCADE,
        role TEXT NOT NULL,
        sample_index INTEGER NOT NULL,
        author TEXT NOT NULL,
        counted INTEGER NOT NULL,
        finish_reason TEXT NOT NULL,
        error TEXT NOT NULL,
        recitation REAL,
        truncated INTEGER NOT NULL,
        prompt_hash TEXT NOT NULL REFERENCES prompts(hash),
        seed INTEGER NOT NULL,
        temperature REAL NOT NULL,
        prompt_tokens INTEGER NOT NULL,
        completion_tokens INTEGER NOT NULL,
        seconds REAL NOT NULL,
        extraction_steps TEXT NOT NULL,
        text TEXT NOT NULL,
        raw_text TEXT NOT NULL,
        made_at TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE verdicts (
        id INTEGER PRIMARY KEY,
        sample_id INTEGER NOT NULL REFERENCES samples(id) ON DELETE CASCADE,
        outcome TEXT NOT NULL,
        seconds REAL NOT NULL,
        tests_run INTEGER NOT NULL,
        tests_failed INTEGER NOT NULL,
        oracle TEXT NOT NULL,
        judged_at TEXT NOT NULL,
        detail TEXT NOT NULL,
        output TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE test_results (
        id INTEGER PRIMARY KEY,
        verdict_id INTEGER NOT NULL REFERENCES verdicts(id) ON DELETE CASCADE,
        node_id TEXT NOT NULL,
        outcome TEXT NOT NULL,
        seconds REAL NOT NULL,
        message TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE scores (
        id INTEGER PRIMARY KEY,
        sample_id INTEGER NOT NULL REFERENCES samples(id) ON DELETE CASCADE,
        reference_id INTEGER REFERENCES samples(id) ON DELETE CASCADE,
        metric TEXT NOT NULL,
        value REAL NOT NULL
    ) STRICT""",
    """CREATE TABLE labels (
        id INTEGER PRIMARY KEY,
        sample_id INTEGER NOT NULL REFERENCES samples(id) ON DELETE CASCADE,
        annotator TEXT NOT NULL,
        mode TEXT NOT NULL,
        note TEXT NOT NULL,
        made_at TEXT NOT NULL
    ) STRICT""",
)
"""The nine tables of the design."""

INDICES = (
    "CREATE UNIQUE INDEX project_state ON projects(root, coalesce(revision, ''), dirty)",
    "CREATE INDEX runs_of_project ON runs(project_id)",
    # Not (run_id, path): with this one the items of a run come grouped by id, without a sort.
    "CREATE INDEX items_of_run ON items(run_id)",
    # Wide enough to answer every score from the index alone.
    "CREATE INDEX samples_of_item ON samples(item_id, counted, role, error, recitation)",
    "CREATE UNIQUE INDEX sample_place ON samples(item_id, role, coalesce(parent_id, 0), sample_index)"
    " WHERE author = 'model'",
    "CREATE INDEX samples_of_parent ON samples(parent_id)",
    "CREATE INDEX samples_of_prompt ON samples(prompt_hash)",
    "CREATE INDEX verdicts_of_sample ON verdicts(sample_id)",
    "CREATE INDEX results_of_verdict ON test_results(verdict_id)",
    "CREATE UNIQUE INDEX score_place ON scores(sample_id, metric, coalesce(reference_id, 0))",
    "CREATE INDEX scores_of_reference ON scores(reference_id) WHERE reference_id IS NOT NULL",
    "CREATE INDEX labels_of_sample ON labels(sample_id, annotator)",
)
"""What keeps every question of a view off full scans."""

FACETS = (
    "ALTER TABLE items ADD COLUMN facets TEXT NOT NULL DEFAULT '{}'",
    "ALTER TABLE items ADD COLUMN origin TEXT NOT NULL DEFAULT '{}'",
    """CREATE VIEW facet_scores AS
    SELECT s.run_id, f.key AS facet, f.value AS value, sum(s.admitted) AS items, sum(s.state = 'done') AS done,
        avg(s.rtc) AS rtc, avg(s.lift) AS lift
    FROM item_scores s
    JOIN items i ON i.id = s.item_id
    JOIN json_each(i.facets) f
    GROUP BY s.run_id, f.key, f.value""",
)
"""What scores are split by (language, size, kind of change) and where an item comes from."""


# GROUP BY names run_id although id decides alone: SQLite then pushes `run_id = ?` down to the index.
def _item_counts(admitted: str) -> str:
    """The view of what was made of an item; `admitted`: that column, and what stands behind it."""
    return f"""CREATE VIEW item_counts AS
    SELECT i.run_id, i.id AS item_id, i.path, {admitted},
        r.forward_samples AS forward_wanted, r.backward_samples AS backward_wanted,
        count(s.id) AS samples,
        count(CASE WHEN s.role = 'forward' AND s.error = '' THEN 1 END) AS forward,
        count(CASE WHEN s.role = 'backward' AND v.outcome <> 'infrastructure' THEN 1 END) AS judged,
        count(CASE WHEN s.role = 'backward' AND v.outcome = 'pass' THEN 1 END) AS passes,
        count(CASE WHEN s.role = 'baseline' AND v.outcome <> 'infrastructure' THEN 1 END) AS baseline_judged,
        count(CASE WHEN s.role = 'baseline' AND v.outcome = 'pass' THEN 1 END) AS baseline_passes,
        max(CASE WHEN s.role = 'forward' THEN s.recitation END) AS recitation,
        max(CASE WHEN v.outcome <> 'infrastructure' THEN v.id END) AS last_verdict_id
    FROM items i
    JOIN runs r ON r.id = i.run_id
    LEFT JOIN samples s ON s.item_id = i.id AND s.counted
    LEFT JOIN verdicts v ON v.id = (SELECT max(l.id) FROM verdicts l WHERE l.sample_id = s.id)
    GROUP BY i.run_id, i.id"""


def _item_scores(columns: str) -> str:
    """The view of an item's state, RTC and lift; `columns`: what it hands on of `item_counts`."""
    return f"""CREATE VIEW item_scores AS
    SELECT run_id, item_id, path, {columns}recitation, last_verdict_id,
        CASE
            WHEN NOT admitted THEN 'dropped'
            WHEN samples = 0 THEN 'waiting'
            WHEN forward >= forward_wanted AND judged >= forward_wanted * backward_wanted
                AND baseline_judged >= backward_wanted THEN 'done'
            ELSE 'running'
        END AS state,
        CASE WHEN admitted THEN 1.0 * passes / nullif(judged, 0) END AS rtc,
        CASE WHEN admitted THEN 1.0 * baseline_passes / nullif(baseline_judged, 0) END AS baseline,
        CASE WHEN admitted THEN
            1.0 * passes / nullif(judged, 0) - 1.0 * baseline_passes / nullif(baseline_judged, 0)
        END AS lift
    FROM item_counts"""


_SCORES_WITHOUT_EXTRA = (
    """CREATE VIEW file_scores AS
    SELECT run_id, path, sum(admitted) AS items, sum(state = 'done') AS done, avg(rtc) AS rtc, avg(lift) AS lift
    FROM item_scores WHERE NOT extra GROUP BY run_id, path""",
    """CREATE VIEW run_scores AS
    SELECT run_id, sum(admitted) AS items_admitted, sum(NOT admitted) AS items_dropped,
        sum(state = 'done') AS items_complete, sum(samples) AS samples, avg(rtc) AS rtc, avg(lift) AS lift
    FROM item_scores WHERE NOT extra GROUP BY run_id""",
    """CREATE VIEW facet_scores AS
    SELECT s.run_id, f.key AS facet, f.value AS value, sum(s.admitted) AS items, sum(s.state = 'done') AS done,
        avg(s.rtc) AS rtc, avg(s.lift) AS lift
    FROM item_scores s
    JOIN items i ON i.id = s.item_id
    JOIN json_each(i.facets) f
    WHERE NOT s.extra
    GROUP BY s.run_id, f.key, f.value""",
)
_NO_SCORES = tuple(
    f"DROP VIEW {name}" for name in ("facet_scores", "run_scores", "file_scores", "item_scores", "item_counts")
)

VIEWS = (
    """CREATE VIEW last_verdicts AS
    SELECT v.* FROM verdicts v
    WHERE v.id = (SELECT max(l.id) FROM verdicts l WHERE l.sample_id = v.sample_id)""",
    _item_counts("i.admitted"),
    _item_scores("admitted, samples, forward, judged, passes, baseline_judged, baseline_passes,\n        "),
    """CREATE VIEW file_scores AS
    SELECT run_id, path, sum(admitted) AS items, sum(state = 'done') AS done, avg(rtc) AS rtc, avg(lift) AS lift
    FROM item_scores GROUP BY run_id, path""",
    """CREATE VIEW run_scores AS
    SELECT run_id, sum(admitted) AS items_admitted, sum(NOT admitted) AS items_dropped,
        sum(state = 'done') AS items_complete, sum(samples) AS samples, avg(rtc) AS rtc, avg(lift) AS lift
    FROM item_scores GROUP BY run_id""",
    """CREATE VIEW current_labels AS
    SELECT l.* FROM labels l
    WHERE l.mode <> '' AND l.id = (
        SELECT max(n.id) FROM labels n WHERE n.sample_id = l.sample_id AND n.annotator = l.annotator
    )""",
)
"""RTC and lift by item, file and run, for the window, the command line and Datasette alike."""

EXTRA = (
    "ALTER TABLE items ADD COLUMN extra INTEGER NOT NULL DEFAULT 0",
    *_NO_SCORES,
    _item_counts("i.admitted, i.extra"),
    _item_scores("admitted, extra, samples, forward, judged, passes, baseline_judged,\n        baseline_passes, "),
    *_SCORES_WITHOUT_EXTRA,
)
"""Items that a person tried by hand stand beside the sampled ones and out of the scores."""

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
"""Adjudicated labels stand apart from annotators' own, and every label knows its taxonomy."""

TREES = (
    "ALTER TABLE items ADD COLUMN form TEXT NOT NULL DEFAULT 'code'",
    "ALTER TABLE items ADD COLUMN directive TEXT",
    "ALTER TABLE samples ADD COLUMN form TEXT NOT NULL DEFAULT 'code'",
    "ALTER TABLE samples ADD COLUMN step INTEGER NOT NULL DEFAULT 0",
    "UPDATE samples SET form = 'text' WHERE role = 'forward'",
    "ALTER TABLE verdicts ADD COLUMN flags TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE test_results ADD COLUMN signature TEXT NOT NULL DEFAULT ''",
)
"""Items and samples may be words or code, at any step of a chain; verdicts keep flags, tests their outputs."""

MEASURES = (
    """CREATE TABLE measures (
        item_id INTEGER NOT NULL REFERENCES items(id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        value REAL NOT NULL,
        PRIMARY KEY (item_id, name)
    ) STRICT, WITHOUT ROWID""",
    "ALTER TABLE items ADD COLUMN done INTEGER NOT NULL DEFAULT 0",
    "UPDATE items SET done = 1 WHERE id IN (SELECT item_id FROM item_scores WHERE state = 'done')",
    *(
        f"INSERT INTO measures SELECT item_id, '{name}', {name} FROM item_scores WHERE {name} IS NOT NULL {also}"
        for name, also in (
            ("rtc", ""),
            ("baseline", ""),
            ("lift", ""),
            ("judged", "AND admitted AND samples"),
            ("passes", "AND admitted AND samples"),
        )
    ),
    """INSERT INTO measures SELECT i.id, 'from_reference', avg(v.outcome = 'pass')
    FROM items i
    JOIN samples d ON d.item_id = i.id AND d.role = 'forward' AND d.author IN ('commit', 'comment')
    JOIN samples s ON s.parent_id = d.id
    JOIN verdicts v ON v.id = (SELECT max(l.id) FROM verdicts l WHERE l.sample_id = s.id)
    WHERE i.admitted AND v.outcome <> 'infrastructure' GROUP BY i.id""",
    """INSERT INTO measures SELECT i.id, 'description_bleu', avg(c.value)
    FROM items i
    JOIN samples d ON d.item_id = i.id AND d.role = 'forward' AND d.counted
    JOIN scores c ON c.sample_id = d.id AND c.reference_id IS NULL AND c.metric = 'description_bleu'
    WHERE i.admitted GROUP BY i.id""",
    *_NO_SCORES,
    """CREATE VIEW item_states AS
    SELECT i.run_id, i.id AS item_id, i.path, i.admitted, i.extra,
        CASE
            WHEN NOT i.admitted THEN 'dropped'
            WHEN count(s.id) = 0 THEN 'waiting'
            WHEN i.done THEN 'done'
            ELSE 'running'
        END AS state,
        count(s.id) AS samples,
        max(s.recitation) AS recitation,
        max(CASE WHEN v.outcome <> 'infrastructure' THEN v.id END) AS last_verdict_id
    FROM items i
    LEFT JOIN samples s ON s.item_id = i.id AND s.counted
    LEFT JOIN verdicts v ON v.id = (SELECT max(l.id) FROM verdicts l WHERE l.sample_id = s.id)
    GROUP BY i.run_id, i.id""",
    """CREATE VIEW run_measures AS
    SELECT i.run_id, m.name, count(*) AS items, avg(m.value) AS value
    FROM items i JOIN measures m ON m.item_id = i.id
    WHERE i.admitted AND NOT i.extra GROUP BY i.run_id, m.name""",
    """CREATE VIEW file_measures AS
    SELECT i.run_id, i.path, m.name, count(*) AS items, avg(m.value) AS value
    FROM items i JOIN measures m ON m.item_id = i.id
    WHERE i.admitted AND NOT i.extra GROUP BY i.run_id, i.path, m.name""",
    """CREATE VIEW facet_measures AS
    SELECT i.run_id, f.key AS facet, f.value AS facet_value, m.name, count(*) AS items, avg(m.value) AS value
    FROM items i JOIN json_each(i.facets) f JOIN measures m ON m.item_id = i.id
    WHERE i.admitted AND NOT i.extra GROUP BY i.run_id, f.key, f.value, m.name""",
    """CREATE VIEW item_scores AS
    SELECT s.*, r.value AS rtc, b.value AS baseline, l.value AS lift,
        CAST(p.value AS INTEGER) AS passes, CAST(j.value AS INTEGER) AS judged
    FROM item_states s
    LEFT JOIN measures r ON r.item_id = s.item_id AND r.name = 'rtc'
    LEFT JOIN measures b ON b.item_id = s.item_id AND b.name = 'baseline'
    LEFT JOIN measures l ON l.item_id = s.item_id AND l.name = 'lift'
    LEFT JOIN measures p ON p.item_id = s.item_id AND p.name = 'passes'
    LEFT JOIN measures j ON j.item_id = s.item_id AND j.name = 'judged'""",
    *_SCORES_WITHOUT_EXTRA,
)
"""Every figure of an item is a named measure, whatever the method, and the engine says when an item is done.

The views of RTC and lift stay for those who ask them.
"""

AVAILABLE = ("ALTER TABLE runs ADD COLUMN available INTEGER",)
"""How many items a run's source has to draw from; of older runs nobody knows."""

SHOWN = ("ALTER TABLE samples ADD COLUMN shown REAL", "UPDATE samples SET shown = 1 WHERE NOT truncated")
"""How much of the file a sample's prompt showed; of older samples that saw only part of it, how much is not known."""
