"""The one writer: every method commits before it returns.

A killed process loses at most the call it was in; only a crash of the whole computer may lose the last commits, and
never the file (WAL, `synchronous = NORMAL`). What the engine makes is written through: the same call adds it to the
item's live tree, as it would be read back.
"""

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from sqlite_utils import Database

from rtc_inspector.core import kinds
from rtc_inspector.core.errors import StoreError
from rtc_inspector.core.generation import ModelInfo, Sample
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.store import coding
from rtc_inspector.core.store.files import BUSY_SECONDS, Claim, canonical, explained, open_writable, require_in_place
from rtc_inspector.core.store.reader import Reader, unknown_run
from rtc_inspector.core.store.rows import Interval, Row, Tree
from rtc_inspector.core.store.scores import figures_text
from rtc_inspector.core.taxonomy import Taxonomy
from rtc_inspector.core.types import Form, Item, LabelKind, Suite, Verdict, plain


class Store:
    """A database open for writing. Calls from several threads take turns; each run has one worker at a time."""

    # called a few times a second, with the seconds waited so far, while another program keeps the database locked; what
    # it raises ends the waiting. None: StoreError is raised after some seconds
    on_locked: Callable[[float], None] | None = None
    change: int = 0  # the number of the last change of a run, as `runs.changes` counts them

    def __init__(self, db: Database, path: Path, interval: Interval | None = None) -> None:
        self._db = db
        self.path = path
        self._interval = interval
        self._reader: Reader | None = None
        self._claims: dict[int, Claim] = {}
        self._turn = threading.RLock()

    @classmethod
    def open(cls, path: Path, interval: Interval | None = None) -> Self:
        """Open or create the file; `interval` bounds the scores `reader` gives.

        Raises StoreError: locked, of another version, foreign, damaged, no database, disk full, no such folder.
        """
        path = canonical(path)
        # sqlite-utils would run whatever plugins are installed in this Python on every database that is opened.
        return cls(Database(open_writable(path), execute_plugins=False), path, interval)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def reader(self) -> Reader:
        """Return a read-only connection to the same file, opened at first use."""
        with self._turn:
            if self._reader is None:
                with explained(self.path):
                    require_in_place(self._db.conn)
                self._reader = Reader.open(self.path, self._interval)
            return self._reader

    def close(self) -> None:
        for claim in self._claims.values():
            claim.release()
        self._claims.clear()
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        self._db.close()

    def add_project(self, root: Path, name: str, revision: str | None, dirty: bool) -> int:
        """Return the id of the project in this state, stored once for each root, revision and dirty flag."""
        row = {"root": coding.clean(str(root)), "name": name, "revision": revision, "dirty": int(dirty)}
        with self._transaction():
            found = self._db.execute(
                "SELECT id FROM projects WHERE root = ? AND revision IS ? AND dirty = ?",
                (row["root"], row["revision"], row["dirty"]),
            ).fetchone()
            return int(found[0]) if found else self._insert("projects", row | {"added_at": coding.now()})

    def start_run(
        self,
        project_id: int,
        settings: RunSettings,
        model: ModelInfo,
        backward_model: ModelInfo,
        sandbox: str,
        image_digest: str,
        app_version: str,
        fingerprint: str,
        suite: Suite,
    ) -> int:
        row = {
            "project_id": project_id,
            "task": str(settings.task),
            "status": "running",
            "model_name": model.name,
            "backward_model_name": backward_model.name,
            "models": coding.models_text(model, backward_model),
            "config": json.dumps(settings.to_json()),
            "regions_wanted": settings.regions,
            **plain(settings, "seed", "forward_samples", "backward_samples"),
            "sandbox": sandbox,
            "image_digest": image_digest,
            "app_version": app_version,
            "fingerprint": fingerprint,
            "suite": coding.suite_text(suite),
            "started_at": coding.now(),
        }
        with self._transaction():
            run_id = self._insert("runs", row)
        self._claim(run_id)
        return run_id

    def check_free(self, run_id: int) -> None:
        """Raise StoreError when the run is unknown, or claimed by somebody else."""
        self._require_run(run_id)
        if run_id not in self._claims:
            with explained(self.path):
                Claim(self.path, run_id).release()

    def take_up(self, run_id: int) -> None:
        """Claim a stored run to go on with it. Raises StoreError when unknown, or claimed by somebody else."""
        self._require_run(run_id)
        self._claim(run_id)
        self._update_run(run_id, {"status": "running", "ended_at": None, "problems": "[]"})

    def finish_run(self, run_id: int, status: str, problems: Sequence[str]) -> None:
        ended = {"status": status, "ended_at": coding.now(), "problems": json.dumps(list(problems))}
        self._update_run(run_id, ended | {"standing": figures_text(self.reader.figures(run_id))})
        if claim := self._claims.pop(run_id, None):
            claim.release()

    def note_models(self, run_id: int, model: ModelInfo, backward_model: ModelInfo) -> None:
        self._update_run(run_id, {"models": coding.models_text(model, backward_model)})

    def note_available(self, run_id: int, available: int) -> None:
        self._update_run(run_id, {"available": available})

    def note_suite(self, run_id: int, suite: Suite) -> None:
        self._update_run(run_id, {"suite": coding.suite_text(suite)})

    def rename_run(self, run_id: int, name: str) -> None:
        self._update_run(run_id, {"name": name})

    def note_run(self, run_id: int, notes: str) -> None:
        self._update_run(run_id, {"notes": notes})

    def move_run(self, run_id: int, root: Path, settings: RunSettings) -> None:
        self._update_run(run_id, {"config": json.dumps(settings.to_json())})
        with self._transaction():
            project = "SELECT project_id FROM runs WHERE id = ?"
            self._db.execute(f"UPDATE projects SET root = ? WHERE id = ({project})", (coding.clean(str(root)), run_id))

    def hide_run(self, run_id: int) -> None:
        """Take a run out of the list; `restore_run` brings it back whole. Raises StoreError when unknown."""
        self._update_run(run_id, {"hidden_at": coding.now()})

    def restore_run(self, run_id: int) -> None:
        self._update_run(run_id, {"hidden_at": None})

    def delete_run(self, run_id: int) -> None:
        """Remove a run for good, with all that hangs on it and the prompts nobody else uses.

        Raises StoreError when unknown, or while somebody works on it.
        """
        self._require_run(run_id)
        claim = self._claims.pop(run_id, None) or Claim(self.path, run_id)
        ask: Callable[..., Any] = self._db.execute
        try:
            with self._transaction():
                used = (
                    "SELECT DISTINCT s.prompt_hash FROM samples s JOIN items i ON i.id = s.item_id WHERE i.run_id = ?"
                )
                hashes = [(row[0],) for row in ask(used, (run_id,))]
                project = ask("SELECT project_id FROM runs WHERE id = ?", (run_id,)).fetchone()
                ask("DELETE FROM runs WHERE id = ?", (run_id,))
                orphan = "NOT EXISTS (SELECT 1 FROM samples WHERE prompt_hash = ?1)"
                self._db.conn.executemany(f"DELETE FROM prompts WHERE hash = ?1 AND {orphan}", hashes)
                orphan = "NOT EXISTS (SELECT 1 FROM runs WHERE project_id = ?1)"
                ask(f"DELETE FROM projects WHERE id = ?1 AND {orphan}", project)
        finally:
            claim.release()

    def add_item(self, run_id: int, item: Item) -> int:
        """Store an item; the same id when the run has one with its key already.

        One that a person tried becomes the run's own when the run samples it, never the other way.
        """
        names = ("kind", "path", "start_line", "end_line", "text", "old_text", "reason", "form", "directive")
        row = {
            "run_id": run_id,
            **plain(item, *names),
            "key": coding.clean(item.key),
            "span_start": item.span.start,
            "span_end": item.span.end,
            "tests": json.dumps(item.tests),
            "admitted": int(item.admitted),
            "facets": json.dumps(dict(item.facets), ensure_ascii=False),
            "origin": json.dumps(dict(item.origin), ensure_ascii=False),
            "extra": int(item.extra),
            "added_at": coding.now(),
        }
        with self._transaction():
            found = self._db.execute(
                "SELECT id, extra FROM items WHERE run_id = ? AND key = ?", (run_id, row["key"])
            ).fetchone()
            if found:
                # A person tried this region by hand, and now the run has drawn it.
                if found[1]:
                    self._count_change("id = ?", run_id)
                    del row["added_at"]
                    self._db.table("items").update(found[0], row)
                return int(found[0])
            self._count_change("id = ?", run_id)
            return self._insert("items", row)

    def add_sample(self, item_id: int, parent_id: int | None, sample: Sample, tree: Tree | None = None) -> int:
        """Store a sample with its prompt. A model's sample that failed gives its place to the one made again.

        Raises Bug when a sample that came out whole stands there already.
        """
        prompt = coding.clean(sample.prompt_text)
        with self._transaction():
            # What hangs below a person's words never counts, whoever wrote it.
            parent = self._db.execute("SELECT counted FROM samples WHERE id = ?", (parent_id,)).fetchone()
            counted = sample.counted and (parent_id is None or bool(parent and parent[0]))
            row = {
                "item_id": item_id,
                "parent_id": parent_id,
                "role": sample.role,
                "form": self._form(item_id, sample.role),
                "sample_index": sample.index,
                **plain(sample, *coding.SAMPLE),
                "counted": int(counted),
                "truncated": int(sample.truncated),
                "prompt_hash": coding.prompt_hash(sample.prompt_text),
                "extraction_steps": json.dumps(sample.extraction_steps),
                "made_at": coding.now(),
            }
            if sample.author == "model":
                self._db.execute(_FAILED_AT_PLACE, (item_id, row["role"], parent_id or 0, sample.index))
            self._db.execute("INSERT OR IGNORE INTO prompts (hash, text) VALUES (?, ?)", (row["prompt_hash"], prompt))
            self._count_change(_RUN_OF_ITEM, item_id)
            row = {name: coding.clean(value) for name, value in row.items()}
            sample_id = self._insert("samples", row)
        if tree is not None:
            tree.add(coding.read_sample(row | {"id": sample_id}, prompt=prompt))
        return sample_id

    def add_verdict(self, sample_id: int, verdict: Verdict, tree: Tree | None = None) -> int:
        """Store a judgement with its test results; the last one of a sample holds."""
        ran = [test for test in verdict.tests if test.outcome not in ("skipped", "missing")]
        row: Row = {
            "sample_id": sample_id,
            "outcome": str(verdict.outcome),
            **plain(verdict, "oracle", "detail", "output"),
            "seconds": 0.0 if verdict.reused else verdict.seconds,
            "reused": int(verdict.reused),
            "tests_run": len(ran),
            "tests_failed": sum(test.outcome != "passed" for test in ran),
            "judged_at": coding.now(),
            "flags": json.dumps(verdict.flags),
        }
        row = {name: coding.clean(value) for name, value in row.items()}
        with self._transaction():
            verdict_id = self._insert("verdicts", row)
            names = ("node_id", "outcome", "seconds", "message", "signature")
            tests = ((verdict_id, *(coding.clean(getattr(test, name)) for name in names)) for test in verdict.tests)
            told = f"INSERT INTO test_results (verdict_id, {', '.join(names)}) VALUES (?, ?, ?, ?, ?, ?)"
            self._db.conn.executemany(told, tests)
            self._count_change(_RUN_OF_SAMPLE, sample_id)
        if tree is not None:
            tree.judge(sample_id, coding.read_verdict(row | {"id": verdict_id}, verdict.tests))
        return verdict_id

    def add_scores(
        self, sample_id: int, scores: Mapping[str, float], reference_id: int | None = None, tree: Tree | None = None
    ) -> None:
        """Store or replace numbers for a sample against the item's own text, or against another sample."""
        scores = {metric: float(value) for metric, value in scores.items()}
        with self._transaction():
            rows = ((sample_id, reference_id, metric, value) for metric, value in scores.items())
            self._db.conn.executemany(_SET_SCORE, rows)
            self._count_change(_RUN_OF_SAMPLE, sample_id)
        if tree is not None:
            tree.score(sample_id, scores, reference_id)

    def add_many_scores(self, run_id: int, rows: Mapping[int, Mapping[str, float]]) -> None:
        """Store or replace the scores of many samples of a run against their items' own texts, in one commit."""
        with self._transaction():
            scores = ((sample, None, name, float(value)) for sample in rows for name, value in rows[sample].items())
            self._db.conn.executemany(_SET_SCORE, scores)
            self._count_change("id = ?", run_id)

    def drop_scores(self, run_id: int, prefix: str, keep: Collection[str]) -> None:
        """Remove scores of a run whose name begins with `prefix`, but for those in `keep`."""
        with self._transaction():
            marks = ", ".join("?" * len(keep))
            self._db.execute(
                "DELETE FROM scores WHERE substr(metric, 1, ?) = ? AND sample_id IN (SELECT s.id FROM samples s"
                f" JOIN items i ON i.id = s.item_id WHERE i.run_id = ?) AND metric NOT IN ({marks})",
                (len(prefix), prefix, run_id, *keep),
            )

    def set_measures(self, item_id: int, measures: Mapping[str, float], done: bool) -> bool:
        """Store an item's figures by name in place of those it had, and whether nothing more is to come of it.

        Return whether that was a change.
        """
        with self._transaction():
            rows = self._db.execute("SELECT name, value FROM measures WHERE item_id = ?", (item_id,)).fetchall()
            (was_done,) = self._db.execute("SELECT done FROM items WHERE id = ?", (item_id,)).fetchone()
            # A resumed run settles every stored item again. Were that a change, each window would read all of them
            # anew.
            if dict(rows) == measures and bool(was_done) == done:
                return False
            self._db.execute("DELETE FROM measures WHERE item_id = ?", (item_id,))
            self._db.conn.executemany(
                "INSERT INTO measures (item_id, name, value) VALUES (?, ?, ?)",
                [(item_id, name, float(value)) for name, value in measures.items()],
            )
            self._db.execute("UPDATE items SET done = ? WHERE id = ?", (int(done), item_id))
            self._count_change(_RUN_OF_ITEM, item_id)
            return True

    def add_label(
        self,
        sample_id: int,
        mode: str,
        annotator: str,
        note: str,
        *,
        kind: LabelKind = LabelKind.LABEL,
        taxonomy: Taxonomy | None = None,
        run_id: int | None = None,
    ) -> int:
        """Add to the history of a sample's labels; without mode and note it takes the one that holds back.

        `mode` holds the ids of one or several error modes with spaces between them. Of an annotator's labels the last
        one holds, of all adjudications of a sample the last one. `taxonomy`: what the mode was chosen from. `run_id`:
        the run that the annotator was shown; raises StoreError where the sample is of another one.
        """
        row = {"sample_id": sample_id, "annotator": annotator, "note": note, "kind": kind.value}
        row["mode"] = " ".join(dict.fromkeys(mode.split()))
        text = coding.clean(taxonomy.to_toml()) if taxonomy else ""
        with self._transaction():
            if run_id is not None:
                sql = "SELECT i.run_id FROM samples s JOIN items i ON i.id = s.item_id WHERE s.id = ?"
                if self._db.execute(sql, [sample_id]).fetchone() != (run_id,):
                    problem = f"A label was not stored: its sample is not one of run {run_id}, which was on show."
                    raise StoreError(problem, "Open that run again and label the sample there.")
            if taxonomy:
                row["taxonomy_hash"] = coding.prompt_hash(text)
                kept = {"hash": row["taxonomy_hash"], "version": taxonomy.version, "text": text}
                self._db.table("taxonomies").insert(kept | {"added_at": coding.now()}, ignore=True)
            return self._insert("labels", row | {"made_at": coding.now()})

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Store what is written inside whole or not at all, and explain errors."""
        with self._turn, explained(self.path):
            require_in_place(self._db.conn)
            self._begin()
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                self._db.rollback()
                raise

    def _begin(self) -> None:
        """Take the write lock, however long another program holds it where somebody wants to wait."""
        since = time.monotonic()
        try:
            while True:
                try:
                    # At the beginning, for which SQLite waits: a transaction that reads first and writes later fails
                    # at once where another process wrote in between.
                    self._db.execute("BEGIN IMMEDIATE")
                    return
                except sqlite3.OperationalError as error:
                    if self.on_locked is None or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                        raise
                    self._db.execute(f"PRAGMA busy_timeout = {_LOCKED_STEP_MS}")
                    self.on_locked(time.monotonic() - since)
        finally:
            self._db.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000:.0f}")

    def _insert(self, table: str, row: Row) -> int:
        # Written out: `Table.insert` works out its statement and the columns anew for each row, which takes longer than
        # to store it.
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        values = [coding.clean(value) for value in row.values()]
        return int(self._db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values).lastrowid or 0)

    def _update_run(self, run_id: int, values: Row) -> None:
        self._require_run(run_id)
        with self._transaction():
            self._db.table("runs").update(run_id, {key: coding.clean(value) for key, value in values.items()})

    def _count_change(self, where: str, value: int) -> None:
        """Count a change of a run, so that a reader knows whose scores to ask for again."""
        asked = self._db.execute(f"UPDATE runs SET changes = changes + 1 WHERE {where} RETURNING changes", (value,))
        self.change = int(asked.fetchall()[0][0])

    def _form(self, item_id: int, role: str) -> Form:
        sql = "SELECT r.task FROM items i JOIN runs r ON r.id = i.run_id WHERE i.id = ?"
        kind = kinds.kind_of(self._db.execute(sql, (item_id,)).fetchone()[0])
        return kind.roles[role].form if kind is not None and role in kind.roles else Form.CODE

    def _claim(self, run_id: int) -> None:
        with explained(self.path):
            if run_id not in self._claims:
                self._claims[run_id] = Claim(self.path, run_id)

    def _require_run(self, run_id: int) -> None:
        with explained(self.path):
            ids = [row[0] for row in self._db.execute("SELECT id FROM runs ORDER BY id")]
        if run_id not in ids:
            raise unknown_run(run_id, ids, self.path)


_LOCKED_STEP_MS = 250
"""How long SQLite waits at a time once a database is known to be locked: a stop is to be heard meanwhile."""

_FAILED_AT_PLACE = """
    DELETE FROM samples WHERE item_id = ? AND role = ? AND coalesce(parent_id, 0) = ? AND sample_index = ?
    AND author = 'model' AND error <> ''
"""

_SET_SCORE = "INSERT OR REPLACE INTO scores (sample_id, reference_id, metric, value) VALUES (?, ?, ?, ?)"
_RUN_OF_ITEM = "id = (SELECT run_id FROM items WHERE id = ?)"
_RUN_OF_SAMPLE = "id = (SELECT i.run_id FROM samples s JOIN items i ON i.id = s.item_id WHERE s.id = ?)"
