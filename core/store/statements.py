"""What `Reader` asks the database; scores are asked for in `core.store.scores`."""

RUNS = """
    SELECT r.*, p.name AS project_name, p.root AS project_root, p.revision, p.dirty
    FROM runs r JOIN projects p ON p.id = r.project_id
"""

ITEMS = """
    SELECT i.*, c.state, c.recitation, r.task
    FROM item_states c JOIN items i ON i.id = c.item_id JOIN runs r ON r.id = i.run_id
"""

SAMPLES = """
    SELECT s.*, v.id AS v_id, v.outcome AS v_outcome, v.seconds AS v_seconds, v.detail AS v_detail,
        v.output AS v_output, v.oracle AS v_oracle, v.tests_run AS v_tests_run, v.tests_failed AS v_tests_failed,
        v.flags AS v_flags
    FROM samples s
    LEFT JOIN verdicts v ON v.id = (SELECT max(l.id) FROM verdicts l WHERE l.sample_id = s.id)
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

RECONSTRUCTIONS = """
    SELECT s.id AS sample_id, s.item_id, coalesce(v.outcome, '') AS outcome
    FROM items i
    JOIN samples s ON s.item_id = i.id AND s.form = 'code' AND s.role <> 'baseline' AND s.error = ''
    LEFT JOIN verdicts v ON v.id = (SELECT max(l.id) FROM verdicts l WHERE l.sample_id = s.id)
    WHERE i.run_id = ? ORDER BY i.id, s.id
"""

FLAGS = """
    SELECT s.item_id, v.flags FROM items i
    JOIN samples s ON s.item_id = i.id
    JOIN verdicts v ON v.id = (SELECT max(l.id) FROM verdicts l WHERE l.sample_id = s.id)
    WHERE i.run_id = ? AND v.flags <> '[]'
"""

METRICS = """
    SELECT DISTINCT c.metric FROM items i
    JOIN samples s ON s.item_id = i.id
    JOIN scores c ON c.sample_id = s.id
    WHERE i.run_id = ? AND instr(c.metric, '@') = 0 ORDER BY c.metric
"""
