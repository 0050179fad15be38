"""The schema of a database, version 1: every table, index and view, as docs/database.md explains them.

`PRAGMA user_version` is the version. A file of another version is refused (`core.store.files`), never changed: from the
first release on, whoever changes this text raises VERSION and adds the statements that bring older files forward.
"""

import sqlite3

APPLICATION_ID = 0x52544349  # `RTCI`: marks a file as ours in `PRAGMA application_id`

VERSION = 1

SCHEMA = """
CREATE TABLE projects (
    id INTEGER PRIMARY KEY,
    root TEXT NOT NULL,
    name TEXT NOT NULL,
    revision TEXT,
    dirty INTEGER NOT NULL,
    added_at TEXT NOT NULL
) STRICT;

CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES projects(id),
    task TEXT NOT NULL,
    status TEXT NOT NULL,
    name TEXT NOT NULL DEFAULT '',
    notes TEXT NOT NULL DEFAULT '',
    -- how it was made: the models' fingerprints and every setting, as JSON
    model_name TEXT NOT NULL,
    backward_model_name TEXT NOT NULL,
    models TEXT NOT NULL,
    config TEXT NOT NULL,
    seed INTEGER NOT NULL,
    regions_wanted INTEGER NOT NULL,
    forward_samples INTEGER NOT NULL,
    backward_samples INTEGER NOT NULL,
    available INTEGER, -- items the source has to draw from
    sandbox TEXT NOT NULL,
    image_digest TEXT NOT NULL,
    app_version TEXT NOT NULL,
    fingerprint TEXT NOT NULL, -- of the files that were drawn from
    suite TEXT NOT NULL,
    problems TEXT NOT NULL DEFAULT '[]',
    started_at TEXT NOT NULL,
    ended_at TEXT,
    hidden_at TEXT, -- when a person deleted it; it can be brought back
    changes INTEGER NOT NULL DEFAULT 0, -- counts what was written, so that a kept standing is known to be old
    standing TEXT -- the figures of a finished run as JSON, of that many changes
) STRICT;

CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    key TEXT NOT NULL, -- says which one it is to a run that is resumed
    kind TEXT NOT NULL,
    form TEXT NOT NULL DEFAULT 'code', -- code or text
    path TEXT NOT NULL,
    span_start INTEGER NOT NULL,
    span_end INTEGER NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    text TEXT NOT NULL,
    old_text TEXT,
    directive TEXT,
    tests TEXT NOT NULL,
    admitted INTEGER NOT NULL,
    reason TEXT NOT NULL,
    extra INTEGER NOT NULL DEFAULT 0, -- tried by hand: stands beside the sampled ones and out of the scores
    done INTEGER NOT NULL DEFAULT 0, -- its trip has no step left
    facets TEXT NOT NULL DEFAULT '{}', -- what scores are split by: language, size, kind of change
    origin TEXT NOT NULL DEFAULT '{}',
    added_at TEXT NOT NULL,
    UNIQUE (run_id, key)
) STRICT;

-- What lists and figures ask of the samples of an item, kept up to date by the triggers below.
CREATE TABLE item_counts (
    item_id INTEGER PRIMARY KEY REFERENCES items(id) ON DELETE CASCADE,
    samples INTEGER NOT NULL DEFAULT 0, -- that count in the run's scores
    made INTEGER NOT NULL DEFAULT 0, -- whole ones that models made
    recitation REAL, -- the largest of those that count
    last_verdict_id INTEGER, -- orders items as they were judged
    near_limit INTEGER NOT NULL DEFAULT 0, -- verdicts that another machine may give otherwise
    answers INTEGER NOT NULL DEFAULT 0, -- whole ones that models made and that count; of these:
    empty INTEGER NOT NULL DEFAULT 0,
    thinking INTEGER NOT NULL DEFAULT 0, -- empty beside thoughts
    cut INTEGER NOT NULL DEFAULT 0,
    code INTEGER NOT NULL DEFAULT 0,
    without_code INTEGER NOT NULL DEFAULT 0,
    unparsable INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE measures (
    item_id INTEGER NOT NULL REFERENCES items(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (item_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE prompts (
    hash TEXT PRIMARY KEY,
    text TEXT NOT NULL
) STRICT;

CREATE TABLE samples (
    id INTEGER PRIMARY KEY,
    item_id INTEGER NOT NULL REFERENCES items(id) ON DELETE CASCADE,
    parent_id INTEGER REFERENCES samples(id) ON DELETE CASCADE,
    role TEXT NOT NULL,
    form TEXT NOT NULL DEFAULT 'code',
    step INTEGER NOT NULL DEFAULT 0, -- of a chain
    sample_index INTEGER NOT NULL,
    author TEXT NOT NULL,
    model TEXT NOT NULL DEFAULT '', -- which of the run's models made it: forward or backward
    counted INTEGER NOT NULL,
    finish_reason TEXT NOT NULL,
    error TEXT NOT NULL,
    recitation REAL,
    truncated INTEGER NOT NULL,
    shown REAL, -- share of the file that the prompt showed
    prompt_hash TEXT NOT NULL REFERENCES prompts(hash),
    seed INTEGER NOT NULL,
    temperature REAL NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    thought_tokens INTEGER NOT NULL DEFAULT 0, -- of those
    seconds REAL NOT NULL,
    extraction_steps TEXT NOT NULL,
    text TEXT NOT NULL,
    raw_text TEXT NOT NULL, -- what came, byte for byte
    thoughts TEXT NOT NULL DEFAULT '', -- what a server sent apart from that as the model's thoughts
    made_at TEXT NOT NULL
) STRICT;

CREATE TABLE verdicts (
    id INTEGER PRIMARY KEY,
    sample_id INTEGER NOT NULL REFERENCES samples(id) ON DELETE CASCADE,
    outcome TEXT NOT NULL,
    flags TEXT NOT NULL DEFAULT '[]',
    seconds REAL NOT NULL, -- 0 where it was reused
    reused INTEGER NOT NULL DEFAULT 0, -- the verdict of the same code that was judged before
    tests_run INTEGER NOT NULL,
    tests_failed INTEGER NOT NULL,
    oracle TEXT NOT NULL,
    judged_at TEXT NOT NULL,
    detail TEXT NOT NULL,
    output TEXT NOT NULL
) STRICT;

CREATE TABLE test_results (
    id INTEGER PRIMARY KEY,
    verdict_id INTEGER NOT NULL REFERENCES verdicts(id) ON DELETE CASCADE,
    node_id TEXT NOT NULL,
    outcome TEXT NOT NULL,
    seconds REAL NOT NULL,
    message TEXT NOT NULL,
    signature TEXT NOT NULL DEFAULT '' -- what the test saw the program give
) STRICT;

CREATE TABLE scores (
    id INTEGER PRIMARY KEY,
    sample_id INTEGER NOT NULL REFERENCES samples(id) ON DELETE CASCADE,
    reference_id INTEGER REFERENCES samples(id) ON DELETE CASCADE, -- null: the item itself
    metric TEXT NOT NULL,
    value REAL NOT NULL
) STRICT;

CREATE TABLE taxonomies (
    hash TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    text TEXT NOT NULL,
    added_at TEXT NOT NULL
) STRICT;

CREATE TABLE labels (
    id INTEGER PRIMARY KEY,
    sample_id INTEGER NOT NULL REFERENCES samples(id) ON DELETE CASCADE,
    kind TEXT NOT NULL DEFAULT 'label', -- label or adjudication
    annotator TEXT NOT NULL,
    taxonomy_hash TEXT REFERENCES taxonomies(hash),
    mode TEXT NOT NULL, -- ids of error modes with a space between them; empty with an empty note: taken back
    note TEXT NOT NULL,
    made_at TEXT NOT NULL
) STRICT;

-- Whoever changes a figure by hand makes the kept standing old: else lists would say one thing and charts another.
CREATE TRIGGER measure_changed AFTER UPDATE ON measures BEGIN
    UPDATE runs SET changes = changes + 1 WHERE id = (SELECT run_id FROM items WHERE id = new.item_id);
END;

-- Counted as they come, so that nobody who looks on has to count all samples again and again.
CREATE TRIGGER item_added AFTER INSERT ON items BEGIN
    INSERT INTO item_counts (item_id) VALUES (new.id);
END;
CREATE TRIGGER sample_added AFTER INSERT ON samples BEGIN
    UPDATE item_counts SET
        samples = samples + new.counted,
        made = made + (new.author = 'model' AND new.error = ''),
        recitation = CASE WHEN new.counted AND new.recitation > coalesce(recitation, -1.0) THEN new.recitation
            ELSE recitation END
    WHERE item_id = new.item_id;
    UPDATE item_counts SET
        answers = answers + 1,
        empty = empty + (instr(new.extraction_steps, '"empty"') > 0),
        thinking = thinking
            + (instr(new.extraction_steps, '"empty"') > 0 AND instr(new.extraction_steps, '"thoughts-') > 0),
        cut = cut + (new.finish_reason IN ('length', 'context')),
        code = code + (new.form = 'code'),
        without_code = without_code + (instr(new.extraction_steps, '"no-code"') > 0),
        unparsable = unparsable + (instr(new.extraction_steps, '"unparsable"') > 0)
    WHERE item_id = new.item_id AND new.counted AND new.author = 'model' AND new.error = '';
END;
-- Only samples that failed are ever taken away, and those are no answers.
CREATE TRIGGER sample_removed AFTER DELETE ON samples BEGIN
    UPDATE item_counts SET
        samples = samples - old.counted,
        made = made - (old.author = 'model' AND old.error = ''),
        recitation = (SELECT max(s.recitation) FROM samples s WHERE s.item_id = old.item_id AND s.counted)
    WHERE item_id = old.item_id;
END;
CREATE TRIGGER verdict_added AFTER INSERT ON verdicts BEGIN
    UPDATE item_counts SET
        last_verdict_id = CASE WHEN new.outcome <> 'infrastructure' THEN new.id ELSE last_verdict_id END,
        near_limit = near_limit + (instr(new.flags, '"near its time limit"') > 0) - coalesce((
            SELECT instr(v.flags, '"near its time limit"') > 0 FROM verdicts v
            WHERE v.sample_id = new.sample_id AND v.id < new.id ORDER BY v.id DESC LIMIT 1), 0)
    WHERE item_id = (SELECT s.item_id FROM samples s WHERE s.id = new.sample_id AND s.counted);
END;

CREATE UNIQUE INDEX project_state ON projects(root, coalesce(revision, ''), dirty);
CREATE INDEX runs_of_project ON runs(project_id);
-- Not (run_id, path): with this one the items of a run come grouped by id, without a sort.
CREATE INDEX items_of_run ON items(run_id);
CREATE INDEX samples_of_item ON samples(item_id);
CREATE UNIQUE INDEX sample_place ON samples(item_id, role, coalesce(parent_id, 0), sample_index)
    WHERE author = 'model';
CREATE INDEX samples_of_parent ON samples(parent_id);
CREATE INDEX samples_of_prompt ON samples(prompt_hash);
CREATE INDEX verdicts_of_sample ON verdicts(sample_id);
CREATE INDEX results_of_verdict ON test_results(verdict_id);
CREATE UNIQUE INDEX score_place ON scores(sample_id, metric, coalesce(reference_id, 0));
CREATE INDEX scores_of_reference ON scores(reference_id) WHERE reference_id IS NOT NULL;
CREATE INDEX labels_of_sample ON labels(sample_id, annotator);

CREATE VIEW last_verdicts AS
SELECT v.* FROM verdicts v
WHERE v.id = (SELECT max(l.id) FROM verdicts l WHERE l.sample_id = v.sample_id);

CREATE VIEW current_labels AS
SELECT l.* FROM labels l
WHERE l.kind = 'label' AND (l.mode <> '' OR l.note <> '') AND l.id = (
    SELECT max(n.id) FROM labels n
    WHERE n.sample_id = l.sample_id AND n.annotator = l.annotator AND n.kind = 'label'
);

CREATE VIEW adjudications AS
SELECT l.* FROM labels l
WHERE l.kind = 'adjudication' AND (l.mode <> '' OR l.note <> '') AND l.id = (
    SELECT max(n.id) FROM labels n WHERE n.sample_id = l.sample_id AND n.kind = 'adjudication'
);

-- One row for each mode of a label or a decision that holds.
CREATE VIEW label_modes AS
SELECT l.id AS label_id, l.sample_id, l.kind, l.annotator, m.value AS mode
FROM (SELECT * FROM current_labels UNION ALL SELECT * FROM adjudications) l
JOIN json_each('["' || replace(l.mode, ' ', '","') || '"]') m
WHERE l.mode <> '';

CREATE VIEW item_states AS
SELECT i.run_id, i.id AS item_id, i.path, i.admitted, i.extra,
    CASE
        WHEN NOT i.admitted THEN 'dropped'
        WHEN c.samples = 0 THEN 'waiting'
        WHEN i.done THEN 'done'
        ELSE 'running'
    END AS state,
    c.samples, c.recitation, c.last_verdict_id
FROM items i JOIN item_counts c ON c.item_id = i.id;

CREATE VIEW run_measures AS
SELECT i.run_id, m.name, count(*) AS items, avg(m.value) AS value
FROM items i JOIN measures m ON m.item_id = i.id
WHERE i.admitted AND NOT i.extra GROUP BY i.run_id, m.name;

CREATE VIEW file_measures AS
SELECT i.run_id, i.path, m.name, count(*) AS items, avg(m.value) AS value
FROM items i JOIN measures m ON m.item_id = i.id
WHERE i.admitted AND NOT i.extra GROUP BY i.run_id, i.path, m.name;

CREATE VIEW facet_measures AS
SELECT i.run_id, f.key AS facet, f.value AS facet_value, m.name, count(*) AS items, avg(m.value) AS value
FROM items i JOIN json_each(i.facets) f JOIN measures m ON m.item_id = i.id
WHERE i.admitted AND NOT i.extra GROUP BY i.run_id, f.key, f.value, m.name;

-- RTC and lift by item, file, run and facet, for those who ask for them by these names.
CREATE VIEW item_scores AS
SELECT s.*, r.value AS rtc, b.value AS baseline, l.value AS lift,
    CAST(p.value AS INTEGER) AS passes, CAST(j.value AS INTEGER) AS judged
FROM item_states s
LEFT JOIN measures r ON r.item_id = s.item_id AND r.name = 'rtc'
LEFT JOIN measures b ON b.item_id = s.item_id AND b.name = 'baseline'
LEFT JOIN measures l ON l.item_id = s.item_id AND l.name = 'lift'
LEFT JOIN measures p ON p.item_id = s.item_id AND p.name = 'passes'
LEFT JOIN measures j ON j.item_id = s.item_id AND j.name = 'judged';

CREATE VIEW file_scores AS
SELECT run_id, path, sum(admitted) AS items, sum(state = 'done') AS done, avg(rtc) AS rtc, avg(lift) AS lift
FROM item_scores WHERE NOT extra GROUP BY run_id, path;

CREATE VIEW run_scores AS
SELECT run_id, sum(admitted) AS items_admitted, sum(NOT admitted) AS items_dropped,
    sum(state = 'done') AS items_complete, sum(samples) AS samples, avg(rtc) AS rtc, avg(lift) AS lift
FROM item_scores WHERE NOT extra GROUP BY run_id;

CREATE VIEW facet_scores AS
SELECT s.run_id, f.key AS facet, f.value AS value, sum(s.admitted) AS items, sum(s.state = 'done') AS done,
    avg(s.rtc) AS rtc, avg(s.lift) AS lift
FROM item_scores s
JOIN items i ON i.id = s.item_id
JOIN json_each(i.facets) f
WHERE NOT s.extra
GROUP BY s.run_id, f.key, f.value;
"""


def version(db: sqlite3.Connection) -> int:
    """Return the version of the schema in a file; 0 where there is none. Raises sqlite3.Error."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def create(db: sqlite3.Connection) -> None:
    """Make the schema in an empty file, all or nothing. Raises sqlite3.Error."""
    if version(db) == VERSION:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        if version(db) != VERSION:  # another process may have made it while this one waited for the lock
            statement = ""
            for line in SCHEMA.splitlines(keepends=True):
                statement += line
                if sqlite3.complete_statement(statement):
                    db.execute(statement)
                    statement = ""
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
    except BaseException:
        db.rollback()
        raise
