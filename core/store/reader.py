"""Every question a view may ask, over a read-only connection."""

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from statistics import median
from typing import Any, Self

from rtc_inspector.core.errors import Bug, StoreError
from rtc_inspector.core.kinds import kind_of, task
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.store import coding
from rtc_inspector.core.store.files import canonical, explained, is_claimed, open_readable
from rtc_inspector.core.store.rows import (
    NOTHING,
    Answers,
    CandidateRow,
    ChangeRow,
    FacetRow,
    Interval,
    ItemRow,
    LabelRow,
    OutcomeRow,
    PaceRow,
    ReconstructionRow,
    Row,
    RunFigures,
    RunningPoint,
    RunRow,
    SampleRow,
    ScoredRow,
    Spent,
    Tree,
    in_trace_order,
)
from rtc_inspector.core.store.scores import Bounds, read_figures
from rtc_inspector.core.taxonomy import Taxonomy, parse_taxonomy
from rtc_inspector.core.types import Estimate, TestResult

MOST_LINKED = 50  # items named of those that change alike


def _change_parameters(
    runs: Sequence[int], axes: tuple[str, str], facet: str, measures: Sequence[str], noise: str
) -> dict[str, str]:
    without = [] if "variant" in axes else [noise]
    lists = {"runs": list(runs), "measures": list(measures), "without": without}
    return {"facet": facet, "noise": noise} | {name: json.dumps(each) for name, each in lists.items()}


class Reader:
    """A read-only connection; calls from several threads take turns. It works while other processes write.

    Every method raises StoreError when the file cannot be read.
    """

    def __init__(self, db: sqlite3.Connection, path: Path, interval: Interval | None = None) -> None:
        self._db = db
        self.path = path
        self._lock = threading.RLock()
        self._bounds = Bounds(interval)
        self._known_figures: dict[int, RunFigures] = {}

    @classmethod
    def open(cls, path: Path, interval: Interval | None = None) -> Self:
        """Open a file that exists; `interval` bounds the scores, without it they are means only.

        Raises StoreError: absent, of another version, foreign, damaged, no database.
        """
        path = canonical(path)
        return cls(open_readable(path), path, interval)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def change_count(self) -> int:
        """Return a number that changes with every commit by anybody, this process included."""
        # It counts commits by other connections only. This one never writes, so it misses none.
        return int(self._rows("PRAGMA data_version")[0]["data_version"])

    def runs(self, hidden: bool = False, at_hand: RunRow | None = None) -> list[RunRow]:
        """Return all runs by id, oldest first; with `hidden`, those taken out of the list instead.

        `at_hand`: a run whose figures are known to whoever asks, as of some change of it: they are not made again.
        """
        with self._snapshot():
            rows = self._rows(f"{RUNS} WHERE r.hidden_at IS {'NOT NULL' if hidden else 'NULL'} ORDER BY r.id")
            found = [self._run_row(row, at_hand) for row in rows]
        listed = {row.id for row in found}
        self._known_figures = {each: figures for each, figures in self._known_figures.items() if each in listed}
        return found

    def run(self, run_id: int) -> RunRow:
        """Return one run, hidden or not. Raises StoreError naming the known ids when there is none."""
        with self._snapshot():
            return self._run_row(self._run(run_id))

    def figures(self, run_id: int) -> RunFigures:
        with self._snapshot():
            return self._figures(self._run(run_id))

    def scores_of(self, task_name: str, items: Iterable[Mapping[str, float]]) -> dict[str, Estimate]:
        return self._bounds.scores(task(task_name), items)

    def settings(self, run_id: int) -> RunSettings:
        return RunSettings.from_json(json.loads(self._run(run_id)["config"]))

    def fingerprint(self, run_id: int) -> str:
        return str(self._run(run_id)["fingerprint"])

    def run_project_root(self, run_id: int) -> Path:
        return Path(self._run(run_id)["project_root"])

    def items(self, run_id: int) -> list[ItemRow]:
        """Return all items of a run in the order they were drawn, dropped ones included."""
        with self._snapshot():
            measures = self._values(ITEM_MEASURES, run_id)
            rows = self._rows(f"{ITEMS} WHERE i.run_id = ?", run_id)
        found = (coding.read_item(row, measures.get(row["id"], {})) for row in rows)
        return sorted(found, key=attrgetter("id"))  # SQLite would copy every text to sort them

    def item(self, item_id: int) -> ItemRow:
        with self._snapshot():
            row = self._one("item", f"{ITEMS} WHERE i.id = ?", item_id)
            measures = self._values("SELECT item_id, name, value FROM measures WHERE item_id = ?", item_id)
        return coding.read_item(row, measures.get(item_id, {}))

    def samples(self, item_id: int) -> list[SampleRow]:
        """Return the samples of an item in trace order, as `Tree` has them."""
        with self._snapshot():
            scores: dict[int, list[tuple[str, int | None, float]]] = {}
            for row in self._rows(SCORES, item_id):
                scores.setdefault(row["sample_id"], []).append((row["metric"], row["reference_id"], row["value"]))
            rows, roles = self._rows(SAMPLES, item_id), self._roles(item_id)
        return list(in_trace_order([coding.read_sample(row, scores.get(row["id"], ())) for row in rows], roles))

    def tree(self, item_id: int) -> Tree:
        """Return the samples of an item with their tests at hand: what the engine goes on with."""
        return Tree(self.samples(item_id), self.tests, self._roles(item_id))

    def _roles(self, item_id: int) -> Sequence[str]:
        asked = self._rows("SELECT r.task FROM items i JOIN runs r ON r.id = i.run_id WHERE i.id = ?", item_id)
        kind = kind_of(asked[0]["task"]) if asked else None
        return tuple(kind.roles) if kind is not None else ()

    def drawn(self, run_id: int) -> dict[str, ItemRow]:
        """Return the items that a run drew itself, by key, in their order; without their measures."""
        with self._lock, explained(self.path):
            sql = f"{ITEMS} WHERE i.run_id = ? AND NOT i.extra ORDER BY i.id"
            return {row["key"]: coding.read_item(row, {}) for row in self._each(sql, (run_id,))}

    def measures(self, run_id: int) -> dict[int, dict[str, float]]:
        return self._values(ITEM_MEASURES, run_id)

    def tests(self, verdict_id: int) -> list[TestResult]:
        sql = "SELECT * FROM test_results WHERE verdict_id = ? ORDER BY id"
        return [coding.frozen(TestResult, row) for row in self._rows(sql, verdict_id)]

    def prompt(self, prompt_hash: str) -> str:
        row = self._one("prompt", "SELECT text FROM prompts WHERE hash = ?", prompt_hash)
        return str(row["text"])

    def labels(self, sample_id: int) -> list[LabelRow]:
        sql = f"{LABELS} FROM labels l {TAXONOMY} WHERE l.sample_id = ? ORDER BY l.id"
        return [coding.frozen(LabelRow, row) for row in self._rows(sql, sample_id)]

    def current_labels(self, run_id: int) -> list[LabelRow]:
        """Return the label that holds, for every sample and annotator of a run."""
        return self._labels("current_labels", run_id)

    def adjudications(self, run_id: int) -> list[LabelRow]:
        """Return the decision that holds, for every sample of a run on which one was made."""
        return self._labels("adjudications", run_id)

    def _labels(self, view: str, run_id: int) -> list[LabelRow]:
        return [coding.frozen(LabelRow, row) for row in self._rows(LABELS_OF_RUN.format(view), run_id)]

    def taxonomies(self) -> list[Taxonomy]:
        """Return the error modes that labels of this database were chosen from, oldest first."""
        rows = self._rows("SELECT text FROM taxonomies ORDER BY rowid")
        return [parse_taxonomy(row["text"], str(self.path)) for row in rows]

    def reconstructions(self, run_id: int) -> list[ReconstructionRow]:
        """Return every whole reconstruction of a run, in the order its items were drawn."""
        return [ReconstructionRow(*row.values()) for row in self._rows(RECONSTRUCTIONS, run_id)]

    def item_of(self, sample_id: int) -> int:
        return int(self._one("sample", "SELECT item_id FROM samples WHERE id = ?", sample_id)["item_id"])

    def flags(self, run_id: int) -> dict[int, tuple[str, ...]]:
        """Return the flags of the verdicts on each item's code, by the item's id; items without flags are left out."""
        found: dict[int, set[str]] = {}
        for row in self._rows(FLAGS, run_id):
            found.setdefault(row["item_id"], set()).update(json.loads(row["flags"]))
        return {item: tuple(sorted(flags)) for item, flags in found.items()}

    def facets(self, run_id: int) -> list[FacetRow]:
        """Return the run's figures by language, size and whatever else items are sorted by; by facet, then value."""
        with self._snapshot():
            kind = task(self._run(run_id)["task"])
            measures = self._values(ITEM_MEASURES, run_id)
            rows = self._rows(FACET_ITEMS, run_id)
        groups = groupby(rows, key=lambda row: (str(row["facet"]), str(row["value"])))
        found = []
        for (facet, value), part in groups:
            items = [measures.get(row["item_id"], {}) for row in part]
            found.append(FacetRow(facet, value, len(items), self._bounds.scores(kind, items)))
        return found

    def score(self, run_id: int, metric: str = "pass", *, continuous: bool = False) -> tuple[Estimate, Estimate]:
        """Return a run's mean of a stored metric, or of its verdicts (`pass`), and how much it is above the baseline's.

        `continuous` says that the metric is no outcome: how the difference is bounded.
        """
        if metric == "pass":
            scores = self.figures(run_id).scores
            return scores.get("rtc", NOTHING), scores.get("lift", NOTHING)
        with self._snapshot():
            self._run(run_id)
            rows = [row for row in self._rows(METRIC_VALUES, run_id, metric) if row["made"] is not None]
        differences = [row["difference"] for row in rows if row["difference"] is not None]
        mean = self._bounds.score([row["made"] for row in rows])
        return mean, self._bounds.score(differences, -1.0, continuous=continuous)

    def running(self, run_id: int, most: int = 200) -> list[RunningPoint]:
        """Return the run's figures as items were judged: at most `most` evenly spaced points, the last always in.

        The figures are the headline and those that can lie on both sides of 0.
        """
        with self._snapshot():
            kind = task(self._run(run_id)["task"])
            measures = self._values(ITEM_MEASURES, run_id)
            states = self._rows(ITEM_STATES, run_id)
        ids = [row["item_id"] for row in states if row["admitted"]]
        items = [(each, measures[each]) for each in ids if kind.headline in measures.get(each, {})]
        shown = [each for each in kind.averaged if each.name == kind.headline or each.lowest < 0]
        return self._bounds.running(shown, items, most)

    def scored(self, run_id: int, metric: str) -> list[ScoredRow]:
        """Return a metric's value beside the verdict, for every judged reconstruction of a run that counts."""
        rows = self._rows(SCORED_CODE, run_id, metric)
        return [ScoredRow(row["sample_id"], row["item_id"], row["value"], bool(row["passed"])) for row in rows]

    def candidates(self, run_id: int, of: Sequence[int] | None = None) -> list[CandidateRow]:
        """Return every judged piece of code of a run, baselines included, with its scores.

        Of the samples `of` these ids, and of them alone, with its text and its item's own: all of a run are too many.
        """
        with self._snapshot():
            scores = self._values(SCORES_OF_RUN, run_id)
            kind = kind_of(self._run(run_id)["task"])
            roles = [role for role, named in kind.roles.items() if named.answers] if kind is not None else []
            sql = CANDIDATES.format(*(WITH_TEXTS if of is not None else ("", "")))
            rows = self._rows(sql, run=run_id, roles=json.dumps(roles), of=json.dumps(of))
        return [
            CandidateRow(
                **row | {"passed": bool(row["passed"]), "origin": coding.mapping(row["origin"])},
                scores=scores.get(row["sample_id"], {}),
            )
            for row in rows
        ]

    def changes(
        self, runs: Sequence[int], form: str, axes: tuple[str, str], *, facet: str, measures: Sequence[str], noise: str
    ) -> list[ChangeRow]:
        """Return how measures on variants of items differ from those on the items, by cells of two `CHANGE_AXES`.

        `noise` is the variant that changes nothing; it is shown among the others, never averaged with them. Grouped by
        the database: what comes back does not grow with the samples, only with how many different changes there are.
        """
        change, noisy = (CHANGE_FORMS[form].format(before="o.value", after=f"{name}.value") for name in ("v", "n"))
        # Changes are averaged within an item first: it counts once a cell.
        sql = f"""
            SELECT row, "column", change, noise, count(*) AS count, group_concat(run || ':' || item) AS items FROM (
                SELECT i.id AS item, i.run_id AS run, {CHANGE_AXES[axes[0]]} AS row, {CHANGE_AXES[axes[1]]} AS "column",
                    round(avg({change}), 9) AS change, round(avg({noisy}), 9) AS noise
                {_PAIRED} GROUP BY i.id, 3, 4 HAVING change IS NOT NULL
            ) GROUP BY row, "column", change, noise
        """
        found = []
        for row in self._rows(sql, **_change_parameters(runs, axes, facet, measures, noise)):
            named = [each.partition(":") for each in row["items"].split(",", MOST_LINKED)[:MOST_LINKED]]
            items, cell = tuple((int(run), int(item)) for run, _, item in named), (str(row["row"]), str(row["column"]))
            found.append(ChangeRow(*cell, row["change"], row["noise"], row["count"], items))
        return found

    def outcomes(
        self, runs: Sequence[int], axes: tuple[str, str], *, facet: str, measures: Sequence[str], noise: str
    ) -> list[OutcomeRow]:
        """Return how many passed or failed before and after, by cells of two `CHANGE_AXES`."""
        row, column = (CHANGE_AXES[axis] for axis in axes)
        sql = f"""
            SELECT {row} AS row, {column} AS "column", o.value AS before, v.value AS after, count(*) AS count
            {_PAIRED} AND o.value IN (0, 1) AND v.value IN (0, 1) GROUP BY 1, 2, 3, 4
        """
        rows = self._rows(sql, **_change_parameters(runs, axes, facet, measures, noise))
        return [OutcomeRow(str(r["row"]), str(r["column"]), r["before"], r["after"], r["count"]) for r in rows]

    def totals(self, run_id: int) -> dict[str, float]:
        return {row["name"]: row["value"] for row in self._rows(TOTALS, run_id)}

    def reasons(self, run_id: int) -> list[tuple[str, str, int]]:
        """Return what was not made of admitted items (`no swap` in their origin): its name, why, and of how many."""
        return [(row["name"], row["reason"], row["count"]) for row in self._rows(REASONS, run_id)]

    def paces(self) -> list[PaceRow]:
        """Return how fast the newest runs went, the newest first; those too short to say are left out."""
        with self._snapshot():
            runs = self._rows(PACE_RUNS)
            found = (pace_of(r, self._rows(PACE_ITEMS, r["id"])[0], self._rows(PACE_SAMPLES, r["id"])) for r in runs)
            return [row for row in found if row is not None]

    def spent(self, run_id: int) -> list[Spent]:
        """Return what each of a run's models took; nothing where none was asked."""
        return [Spent(**row) for row in self._rows(SPENT, run_id)]

    def metrics(self, run_id: int) -> list[str]:
        return [row["metric"] for row in self._rows(METRICS, run_id)]

    def _figures(self, run: Row) -> RunFigures:
        """Return the figures remembered or kept with the run, or make them anew where something was stored since."""
        found = self._known_figures.get(run["id"])
        if found is None and run["standing"]:
            found = read_figures(run["standing"])
        # Figures may have been kept by a process that opened the database without intervals.
        if found is None or found.changes != run["changes"] or (self._bounds.any and not found.bounded):
            measures = self._values(ITEM_MEASURES, run["id"])
            states = self._rows(ITEM_STATES, run["id"])
            near_limit, *answers = self._rows(COUNTED, run["id"])[0].values()
            admitted = [row for row in states if row["admitted"]]
            found = RunFigures(
                run["changes"],
                items_admitted=len(admitted),
                items_dropped=len(states) - len(admitted),
                items_complete=sum(row["state"] == "done" for row in states),
                samples=sum(row["samples"] for row in states),
                scores=self._bounds.scores(task(run["task"]), [measures.get(row["item_id"], {}) for row in admitted]),
                near_limit=near_limit,
                answers=Answers(*answers),
            )
        self._known_figures[run["id"]] = found
        return found

    def _run(self, run_id: int) -> Row:
        rows = self._rows(f"{RUNS} WHERE r.id = ?", run_id)
        if not rows:
            ids = [row["id"] for row in self._rows("SELECT id FROM runs ORDER BY id")]
            raise unknown_run(run_id, ids, self.path)
        return rows[0]

    def _run_row(self, row: Row, at_hand: RunRow | None = None) -> RunRow:
        status = row["status"]
        # Its process was killed: nobody was left to write another status.
        if status == "running" and not is_claimed(self.path, row["id"]):
            status = "interrupted"
        figures = at_hand if at_hand is not None and at_hand.id == row["id"] else self._figures(row)
        return coding.read_run(row, status, figures)

    def _one(self, kind: str, sql: str, key: int | str) -> Row:
        rows = self._rows(sql, key)
        if not rows:
            raise Bug(f"There is no {kind} {key} in {self.path}.")
        return rows[0]

    def _values(self, sql: str, key: int) -> dict[Any, dict[str, float]]:
        """Return an answer's last column by its first two: what they are of (an item, a file, a sample), and name."""
        found: dict[Any, dict[str, float]] = {}
        with self._lock, explained(self.path):
            for of, name, value in self._db.execute(sql, (key,)):
                found.setdefault(of, {})[name] = value
        return found

    def _rows(self, sql: str, *values: int | str, **named: int | str) -> list[Row]:
        with self._lock, explained(self.path):
            return list(self._each(sql, named or values))

    def _each(self, sql: str, parameters: Sequence[int | str] | Mapping[str, int | str]) -> Iterator[Row]:
        """Yield rows one by one, for whoever holds the lock."""
        cursor = self._db.execute(sql, parameters)
        names = [column[0] for column in cursor.description]
        for row in cursor:
            yield dict(zip(names, row, strict=True))

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """Let all queries inside see one moment of the file."""
        with self._lock, explained(self.path):
            # Inside another question, whose moment this one shares.
            if self._db.in_transaction:
                yield
                return
            with self._db:
                self._db.execute("BEGIN")
                yield


def unknown_run(run_id: int, ids: Sequence[int], path: Path) -> StoreError:
    """Return the error that there is no such run; it names the latest of those there are."""
    if not ids:
        return StoreError(f"There is no run {run_id} in {path}: it holds none.", "Start a run first.")
    more = "the latest are " if len(ids) > 20 else ""
    latest = f"Name one that is there: {more}{', '.join(map(str, ids[-20:]))}."
    return StoreError(f"There is no run {run_id} in {path}.", latest)


# ---- what is asked

_LAST_VERDICT = "verdicts v ON v.id = (SELECT max(l.id) FROM verdicts l WHERE l.sample_id = s.id)"
"""Of all judgements of a sample `s` the last one holds."""

RUNS = """
    SELECT r.*, p.name AS project_name, p.root AS project_root, p.revision, p.dirty
    FROM runs r JOIN projects p ON p.id = r.project_id
"""

ITEMS = """
    SELECT i.*, s.state, c.recitation, c.samples, c.made, r.task
    FROM item_states s JOIN items i ON i.id = s.item_id JOIN item_counts c ON c.item_id = i.id
    JOIN runs r ON r.id = i.run_id
"""

SAMPLES = f"""
    SELECT s.*, v.id AS v_id, v.outcome AS v_outcome, v.seconds AS v_seconds, v.detail AS v_detail,
        v.output AS v_output, v.oracle AS v_oracle, v.tests_run AS v_tests_run, v.tests_failed AS v_tests_failed,
        v.flags AS v_flags, v.reused AS v_reused
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
    SELECT s.model, count(*) AS samples, sum(s.prompt_tokens) AS prompt_tokens,
        sum(s.completion_tokens) AS completion_tokens, sum(s.thought_tokens) AS thought_tokens,
        sum(s.seconds) AS seconds
    FROM items i JOIN samples s ON s.item_id = i.id AND s.model <> ''
    WHERE i.run_id = ? GROUP BY s.model
    HAVING sum(s.prompt_tokens) + sum(s.completion_tokens) > 0
"""

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

COUNTED = """
    SELECT coalesce(sum(c.near_limit), 0), coalesce(sum(c.answers), 0), coalesce(sum(c.empty), 0),
        coalesce(sum(c.thinking), 0), coalesce(sum(c.cut), 0), coalesce(sum(c.code), 0),
        coalesce(sum(c.without_code), 0), coalesce(sum(c.unparsable), 0)
    FROM items i JOIN item_counts c ON c.item_id = i.id
    WHERE i.run_id = ? AND i.admitted AND NOT i.extra
"""
"""Verdicts near their limit, then the fields of `Answers`."""

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
    SELECT s.id AS sample_id, s.item_id, i.key, s.role, i.origin, v.outcome = 'pass' AS passed{{}}
    FROM items i
    JOIN samples s ON s.item_id = i.id AND s.counted AND s.form = 'code'
        AND s.role IN (SELECT value FROM json_each(:roles)) AND s.author <> 'reference'{{}}
    JOIN {_LAST_VERDICT}
    WHERE i.run_id = :run AND i.admitted AND NOT i.extra AND i.form = 'code' AND i.text <> ''
        AND v.outcome <> 'infrastructure'
    ORDER BY i.id, s.id
"""
"""Every judged piece of code that somebody wrote in the place of its item's own text."""
WITH_TEXTS = ", s.text, i.text AS reference", " AND s.id IN (SELECT value FROM json_each(:of))"

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


TOTALS = """
    SELECT m.name, sum(m.value) AS value FROM items i JOIN measures m ON m.item_id = i.id
    WHERE i.run_id = ? AND i.admitted AND NOT i.extra GROUP BY m.name
"""
REASONS = """
    SELECT f.key AS name, f.value AS reason, count(*) AS count FROM items i JOIN json_each(i.origin) f
    WHERE i.run_id = ? AND i.admitted AND NOT i.extra AND f.key LIKE 'no %' GROUP BY 1, 2 ORDER BY 1, 3 DESC
"""


# ---- how fast stored runs went, from the times at which their items and samples were stored

PARTS, REGIONS_OF_PART = 4, 3
PAUSE = 5.0
"""A region that took this many times the median was not worked on all the time: the run was paused, or resumed."""

PACE_RUNS = "SELECT id, config, started_at FROM runs WHERE hidden_at IS NULL ORDER BY id DESC LIMIT 20"
PACE_ITEMS = """
    SELECT sum(admitted) AS admitted, max(added_at) AS last FROM items WHERE run_id = ? AND NOT extra
"""
PACE_SAMPLES = """
    SELECT item_id, max(made_at) AS made_at, count(*) AS samples, sum(tokens) AS tokens, sum(written) AS written FROM (
        SELECT s.item_id, s.made_at, s.prompt_tokens + s.completion_tokens AS tokens,
            s.completion_tokens AS written
        FROM items i JOIN samples s ON s.item_id = i.id AND s.author = 'model' AND s.error = ''
        WHERE i.run_id = ? AND NOT i.extra
    ) GROUP BY item_id ORDER BY made_at LIMIT 500
"""
"""One row a region: when its last sample came, and what was made until then."""


def pace_of(run: Row, items: Row, regions: Sequence[Row]) -> PaceRow | None:
    """Return how fast one run went, or None where too little came of it to say."""
    if not items["admitted"] or not regions:
        return None
    drawn, began = _time(items["last"]), _time(run["started_at"])
    times = [drawn, *(_time(row["made_at"]) for row in regions)]
    spans = [(later - earlier, row) for earlier, later, row in zip(times, times[1:], regions, strict=False)]
    kept = [(seconds, row) for seconds, row in spans if 0 < seconds <= PAUSE * median(s for s, _ in spans)]
    if not kept:
        return None
    samples = sum(row["samples"] for _, row in kept)
    return PaceRow(
        run_id=run["id"],
        settings=RunSettings.from_json(json.loads(run["config"])),
        samples=samples,
        seconds=sum(seconds for seconds, _ in kept),
        tokens=sum(row["tokens"] for _, row in kept),
        parts=tuple(_parts(kept)),
        drawing=max(drawn - began, 0.0) / items["admitted"],
        written=sum(row["written"] for _, row in kept),
    )


def _parts(kept: Sequence[tuple[float, Row]]) -> list[float]:
    """Return the seconds a sample took in each part of a run.

    Regions that are sampled together end together, so a part has several.
    """
    count = max(min(PARTS, len(kept) // REGIONS_OF_PART), 1)
    numbered = groupby(enumerate(kept), key=lambda pair: pair[0] * count // len(kept))
    parts = [[each for _, each in group] for _, group in numbered]
    return [sum(seconds for seconds, _ in part) / sum(row["samples"] for _, row in part) for part in parts]


def _time(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
