"""What `Reader` asks the database."""

_LAST_VERDICT = "verdicts v ON v.id = (SELECT max(l.id) FROM verdicts l WHERE l.sample_id = s.id)"
"""Of all judgements of a sample `s` the last one holds."""

RUNS = """
    SELECT r.*, p.name AS project_name, p.root AS project_root, p.revision, p.dirty
    FROM runs r JOIN projects p ON p.id = r.project_id
"""

ITEMS = """
    SELECT i.*, c.state, c.recitation, r.task
    FROM item_states c JOIN items i ON i.id = c.item_id JOIN runs r ON r.id = i.run_id
"""

SAMPLES = f"""
    SELECT s.*, v.id AS v_id, v.outcome AS v_outcome, v.seconds AS v_seconds, v.detail AS v_detail,
        v.output AS v_output, v.oracle AS v_oracle, v.tests_run AS v_tests_run, v.tests_failed AS v_tests_failed,
        v.flags AS v_flags
    FROM samples s
    LEFT JOIN {_LAST_VERDICT}
    WHERE s.item_id = ?
"""

SCORES = """
    SELECT c.sample_id, c.reference_id, c.metric, c.value
    FROM samples s JOIN scores c ON c.sample_id = s.id
    WHERE s.item_id = ? AND instr(c.metric, '@') = 0
    ORDER BY c.sample_id, c.id
"""
"""But for scores of texts that were changed for an audit."""

LABELS = "SELECT l.*, t.version AS taxonomy_version"
TAXONOMY = "LEFT JOIN taxonomies t ON t.hash = l.taxonomy_hash"
LABELS_OF_RUN = f"""
    {LABELS} FROM items i
    JOIN samples s ON s.item_id = i.id
    JOIN {{}} l ON l.sample_id = s.id
    {TAXONOMY}
    WHERE i.run_id = ? ORDER BY l.id
"""

SPENT = """
    SELECT s.role = 'forward' AS forward, count(*) AS samples, sum(s.prompt_tokens) AS prompt_tokens,
        sum(s.completion_tokens) AS completion_tokens, sum(s.thought_tokens) AS thought_tokens,
        sum(s.seconds) AS seconds
    FROM items i JOIN samples s ON s.item_id = i.id AND s.author = 'model'
    WHERE i.run_id = ? GROUP BY s.role = 'forward'
    HAVING sum(s.prompt_tokens) + sum(s.completion_tokens) > 0
"""
"""By whether they describe: the forward model's, and the backward model's."""

RECONSTRUCTIONS = f"""
    SELECT s.id AS sample_id, s.item_id, coalesce(v.outcome, '') AS outcome
    FROM items i
    JOIN samples s ON s.item_id = i.id AND s.form = 'code' AND s.role <> 'baseline' AND s.error = ''
    LEFT JOIN {_LAST_VERDICT}
    WHERE i.run_id = ? ORDER BY i.id, s.id
"""

FLAGS = f"""
    SELECT s.item_id, v.flags FROM items i
    JOIN samples s ON s.item_id = i.id
    JOIN {_LAST_VERDICT}
    WHERE i.run_id = ? AND v.flags <> '[]'
"""

FLAGGED = f"""
    SELECT count(*) AS verdicts FROM items i
    JOIN samples s ON s.item_id = i.id AND s.counted
    JOIN {_LAST_VERDICT}
    WHERE i.run_id = ?1 AND i.admitted AND NOT i.extra AND instr(v.flags, '"' || ?2 || '"')
"""

ANSWERS = """
    SELECT s.role, count(*) AS made,
        sum(instr(s.extraction_steps, '"empty"') > 0) AS empty,
        sum(instr(s.extraction_steps, '"empty"') > 0 AND instr(s.extraction_steps, '"thoughts-') > 0) AS thinking,
        sum(s.finish_reason IN ('length', 'context')) AS cut,
        sum(s.form = 'code') AS code,
        sum(instr(s.extraction_steps, '"no-code"') > 0) AS without_code,
        sum(instr(s.extraction_steps, '"unparsable"') > 0) AS unparsable
    FROM items i JOIN samples s ON s.item_id = i.id AND s.counted AND s.author = 'model' AND s.error = ''
    WHERE i.run_id = ? AND i.admitted AND NOT i.extra GROUP BY s.role ORDER BY min(s.id)
"""
"""How what models answered could be read, by role: its columns are the fields of `core.store.rows.Answers`."""

METRICS = """
    SELECT DISTINCT c.metric FROM items i
    JOIN samples s ON s.item_id = i.id
    JOIN scores c ON c.sample_id = s.id
    WHERE i.run_id = ? AND instr(c.metric, '@') = 0 ORDER BY c.metric
"""

ITEM_STATES = """
    SELECT item_id, admitted, state, samples FROM item_states
    WHERE run_id = ? AND NOT extra ORDER BY last_verdict_id
"""
"""One row an item, in the order the last verdicts came."""

ITEM_MEASURES = """
    SELECT m.item_id, m.name, m.value FROM items i JOIN measures m ON m.item_id = i.id WHERE i.run_id = ?
"""
"""One row a figure of an item of a run, the extra ones' too."""

FILE_STATES = """
    SELECT path, sum(admitted) AS items, sum(state = 'done') AS done FROM item_states
    WHERE run_id = ? AND NOT extra GROUP BY path ORDER BY path
"""

FILE_MEASURES = """
    SELECT i.path, m.name, avg(m.value) AS value
    FROM items i JOIN measures m ON m.item_id = i.id
    WHERE i.run_id = ? AND i.admitted AND NOT i.extra GROUP BY i.path, m.name
"""

FACET_ITEMS = """
    SELECT f.key AS facet, f.value AS value, i.id AS item_id
    FROM items i JOIN json_each(i.facets) f
    WHERE i.run_id = ? AND i.admitted AND NOT i.extra ORDER BY f.key, f.value, i.id
"""
"""One row for each facet of each admitted item of a run."""

METRIC_VALUES = """
    SELECT item_id, made, made - baseline AS difference FROM (
        SELECT i.id AS item_id,
            avg(CASE WHEN s.role <> 'baseline' THEN c.value END) AS made,
            avg(CASE WHEN s.role = 'baseline' THEN c.value END) AS baseline
        FROM items i
        JOIN samples s ON s.item_id = i.id AND s.counted AND s.form = 'code'
        JOIN scores c ON c.sample_id = s.id AND c.reference_id IS NULL AND c.metric = ?2
        WHERE i.run_id = ?1 AND i.admitted AND NOT i.extra
        GROUP BY i.id
    )
"""
"""Each item's mean of a stored metric over its code, and how much that is above the baseline's (RTC paper, Sec. 3)."""

SCORED_CODE = f"""
    SELECT s.id AS sample_id, s.item_id, c.value, v.outcome = 'pass' AS passed
    FROM items i
    JOIN samples s ON s.item_id = i.id AND s.counted AND s.form = 'code' AND s.role <> 'baseline'
    JOIN scores c ON c.sample_id = s.id AND c.metric = ?2 AND c.reference_id IS NULL
    JOIN {_LAST_VERDICT}
    WHERE i.run_id = ?1 AND i.admitted AND NOT i.extra AND v.outcome <> 'infrastructure'
    ORDER BY i.id, s.id
"""
"""A metric beside the verdict, one row a judged piece of code (metric audit: does the one tell the other?)."""


CANDIDATES = f"""
    SELECT s.id AS sample_id, s.item_id, i.key, s.role, s.text, i.text AS reference, i.origin,
        v.outcome = 'pass' AS passed
    FROM items i
    JOIN samples s ON s.item_id = i.id AND s.counted AND s.form = 'code'
        AND s.role NOT IN ('transform', 'complete') AND s.author NOT IN ('reference', 'rewrite')
    JOIN {_LAST_VERDICT}
    WHERE i.run_id = ? AND i.admitted AND NOT i.extra AND i.form = 'code' AND i.text <> ''
        AND v.outcome <> 'infrastructure'
    ORDER BY i.id, s.id
"""
"""Every judged piece of code that somebody wrote in the place of its item's own text."""

SCORES_OF_RUN = """
    SELECT c.sample_id, c.metric, c.value FROM items i
    JOIN samples s ON s.item_id = i.id AND s.form = 'code'
    JOIN scores c ON c.sample_id = s.id AND c.reference_id IS NULL
    WHERE i.run_id = ?
"""
"""Every score of code against the item's own text."""

CHANGE_FORMS = {
    "difference": "{after} - {before}",
    "relative": "({before} - {after}) / nullif({before}, 0)",
    "symmetric": "({before} - {after}) / nullif(max({before}, {after}), 0)",
    "ratio": "({before} - {after}) / nullif({after}, 0)",
}
"""Forms of the change of a measure; each but the first is undefined where it would divide by 0."""

CHANGE_AXES = {
    "variant": "substr(v.name, instr(v.name, '@') + 1)",
    "measure": "o.name",
    "run": "i.run_id",
    "facet": "coalesce(json_extract(i.facets, '$.' || :facet), '')",
}

_PAIRED = """
    FROM items i
    JOIN measures v ON v.item_id = i.id AND instr(v.name, '@') > 0
    JOIN measures o ON o.item_id = i.id AND o.name = substr(v.name, 1, instr(v.name, '@') - 1)
    LEFT JOIN measures n ON n.item_id = i.id AND n.name = o.name || '@' || :noise
    WHERE i.run_id IN (SELECT value FROM json_each(:runs)) AND i.admitted AND NOT i.extra
        AND o.name IN (SELECT value FROM json_each(:measures))
        AND v.name NOT IN (SELECT o.name || '@' || value FROM json_each(:without))
"""
"""`rtc@rename` of an item is its measure `rtc` on a variant of it called `rename`."""


def changes_sql(form: str, row: str, column: str) -> str:
    """Return SQL that groups items by cell and by how much they change.

    Changes are averaged within an item first: it counts once a cell.
    """
    change, noise = (CHANGE_FORMS[form].format(before="o.value", after=after) for after in ("v.value", "n.value"))
    return f"""
        SELECT row, "column", change, noise, count(*) AS count, group_concat(run || ':' || item) AS items FROM (
            SELECT i.id AS item, i.run_id AS run, {CHANGE_AXES[row]} AS row, {CHANGE_AXES[column]} AS "column",
                round(avg({change}), 9) AS change, round(avg({noise}), 9) AS noise
            {_PAIRED} GROUP BY i.id, 3, 4 HAVING change IS NOT NULL
        ) GROUP BY row, "column", change, noise
    """


def outcomes_sql(row: str, column: str) -> str:
    """Return SQL that counts pairs of a yes-or-no measure, by cell; each variant of an item makes a pair."""
    return f"""
        SELECT {CHANGE_AXES[row]} AS row, {CHANGE_AXES[column]} AS "column", o.value AS before, v.value AS after,
            count(*) AS count
        {_PAIRED} AND o.value IN (0, 1) AND v.value IN (0, 1) GROUP BY 1, 2, 3, 4
    """


TOTALS = """
    SELECT m.name, sum(m.value) AS value FROM items i JOIN measures m ON m.item_id = i.id
    WHERE i.run_id = ? AND i.admitted AND NOT i.extra GROUP BY m.name
"""
REASONS = """
    SELECT f.key AS name, f.value AS reason, count(*) AS count FROM items i JOIN json_each(i.origin) f
    WHERE i.run_id = ? AND i.admitted AND NOT i.extra AND f.key LIKE 'no %' GROUP BY 1, 2 ORDER BY 1, 3 DESC
"""
