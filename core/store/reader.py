"""Every question a view may ask, over a read-only connection."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Self

from rtc_inspector.core.errors import Bug
from rtc_inspector.core.kinds import task
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.store import decoding, encoding, paces, statements
from rtc_inspector.core.store.claims import is_claimed
from rtc_inspector.core.store.failures import explained
from rtc_inspector.core.store.files import canonical, open_readable
from rtc_inspector.core.store.rows import (
    NOTHING,
    Answers,
    CandidateRow,
    ChangeRow,
    ExistingItem,
    FacetRow,
    FileRow,
    Interval,
    ItemRow,
    LabelRow,
    OutcomeRow,
    PaceRow,
    ReconstructionRow,
    RunningPoint,
    RunRow,
    SampleRow,
    ScoredRow,
    SpentRow,
    TestRow,
)
from rtc_inspector.core.store.scores import Bounds, RunFigures, tally
from rtc_inspector.core.taxonomy import Taxonomy, parse_taxonomy
from rtc_inspector.core.types import NEAR_LIMIT, Item, Score

Row = dict[str, Any]
MOST_LINKED = 50
"""Items named of those that change alike."""


def _change_parameters(
    runs: Sequence[int], axes: tuple[str, str], facet: str, measures: Sequence[str], noise: str
) -> dict[str, str]:
    without = [] if "variant" in axes else [noise]
    lists = {"runs": list(runs), "measures": list(measures), "without": without}
    return {"facet": facet, "noise": noise} | {name: json.dumps(each) for name, each in lists.items()}


def _run_and_item(text: str) -> tuple[int, int]:
    run, _, item = text.partition(":")
    return int(run), int(item)


class Reader:
    """A read-only connection; calls from several threads take turns. It works while other processes write.

    Every method raises StoreError when the file cannot be read.
    """

    def __init__(self, db: sqlite3.Connection, path: Path, interval: Interval | None = None) -> None:
        """Use `Reader.open`."""
        self._db = db
        self._path = path
        self._turn = threading.RLock()
        self._bounds = Bounds(interval)
        self._known_figures: dict[int, RunFigures] = {}

    @classmethod
    def open(cls, path: Path, interval: Interval | None = None) -> Self:
        """Open a file that exists; `interval` bounds the scores, without it they are means only.

        Raises StoreError: absent, newer, foreign, damaged, cut off, no database.
        """
        path = canonical(path)
        return cls(open_readable(path), path, interval)

    def __enter__(self) -> Self:
        """Close at the end of the block."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close."""
        self.close()

    @property
    def path(self) -> Path:
        """Return the database file."""
        return self._path

    def close(self) -> None:
        """Close the connection; idempotent."""
        self._db.close()

    def change_count(self) -> int:
        """Return a number that changes with every commit by anybody, this process included."""
        # It counts commits by other connections only. This one never writes, so it misses none.
        return int(self._rows("PRAGMA data_version")[0]["data_version"])

    # ---- runs

    def runs(self, hidden: bool = False) -> list[RunRow]:
        """Return all runs by id, oldest first; with `hidden`, those taken out of the list instead."""
        with self._snapshot():
            rows = self._rows(
                f"{statements.RUNS} WHERE r.hidden_at IS {'NOT NULL' if hidden else 'NULL'} ORDER BY r.id"
            )
            return [self._run_row(row) for row in rows]

    def run(self, run_id: int) -> RunRow:
        """Return one run, hidden or not. Raises StoreError naming the known ids when there is none."""
        with self._snapshot():
            return self._run_row(self._run(run_id))

    def figures(self, run_id: int) -> RunFigures:
        """Return the counts and scores of a run. Raises StoreError when unknown."""
        with self._snapshot():
            return self._figures(self._run(run_id))

    def settings(self, run_id: int) -> RunSettings:
        """Return the settings the run was started with. Raises StoreError when unknown."""
        return RunSettings.from_json(json.loads(self._run(run_id)["config"]))

    def fingerprint(self, run_id: int) -> str:
        """Return the fingerprint of the project's files when the run began. Raises StoreError when unknown."""
        return str(self._run(run_id)["fingerprint"])

    def run_project_root(self, run_id: int) -> Path:
        """Return the folder the run's project was in. Raises StoreError when unknown."""
        return Path(self._run(run_id)["project_root"])

    # ---- items and samples

    def items(self, run_id: int) -> list[ItemRow]:
        """Return all items of a run in the order they were drawn, dropped ones included."""
        with self._snapshot():
            measures = self._values(statements.ITEM_MEASURES, run_id)
            rows = self._rows(f"{statements.ITEMS} WHERE c.run_id = ?", run_id)
        found = (decoding.item_row(row, measures.get(row["id"], {})) for row in rows)
        return sorted(found, key=attrgetter("id"))  # SQLite would copy every text to sort them

    def item(self, item_id: int) -> ItemRow:
        """Return one item. Raises Bug when there is none."""
        with self._snapshot():
            row = self._one("item", f"{statements.ITEMS} WHERE c.item_id = ?", item_id)
            measures = self._values("SELECT item_id, name, value FROM measures WHERE item_id = ?", item_id)
        return decoding.item_row(row, measures.get(item_id, {}))

    def samples(self, item_id: int) -> list[SampleRow]:
        """Return the trace of an item: each forward sample followed by its backward samples, baselines last."""
        with self._snapshot():
            scores: dict[int, list[Row]] = {}
            for row in self._rows(statements.SCORES, item_id):
                scores.setdefault(row["sample_id"], []).append(row)
            rows = self._rows(statements.SAMPLES, item_id)
        return decoding.in_trace_order([decoding.sample_row(row, scores.get(row["id"], ())) for row in rows])

    def existing(self, run_id: int) -> list[ExistingItem]:
        """Return everything a run has made so far, for resuming it."""
        with self._snapshot():
            return [ExistingItem(row.id, decoding.item(row), tuple(self.samples(row.id))) for row in self.items(run_id)]

    def drawn(self, run_id: int) -> dict[str, Item]:
        """Return the items that a run drew itself, by key, in their order."""
        return {row.key: decoding.item(row) for row in self.items(run_id) if not row.extra}

    def existing_item(self, item_id: int) -> ExistingItem:
        """Return one item with everything made of it. Raises Bug when there is none."""
        with self._snapshot():
            row = self.item(item_id)
            return ExistingItem(row.id, decoding.item(row), tuple(self.samples(row.id)))

    def tests(self, verdict_id: int) -> list[TestRow]:
        """Return the tests of a verdict in the order they ran."""
        sql = "SELECT * FROM test_results WHERE verdict_id = ? ORDER BY id"
        return list(map(decoding.test_row, self._rows(sql, verdict_id)))

    def prompt(self, prompt_hash: str) -> str:
        """Return the exact text a model was asked. Raises Bug when unknown."""
        row = self._one("prompt", "SELECT text FROM prompts WHERE hash = ?", prompt_hash)
        return str(row["text"])

    def labels(self, sample_id: int) -> list[LabelRow]:
        """Return the history of a sample's labels, oldest first."""
        sql = f"{statements.LABELS} FROM labels l {statements.TAXONOMY} WHERE l.sample_id = ? ORDER BY l.id"
        return list(map(decoding.label_row, self._rows(sql, sample_id)))

    def current_labels(self, run_id: int) -> list[LabelRow]:
        """Return the label that holds, for every sample and annotator of a run."""
        return list(map(decoding.label_row, self._rows(statements.LABELS_OF_RUN.format("current_labels"), run_id)))

    def adjudications(self, run_id: int) -> list[LabelRow]:
        """Return the decision that holds, for every sample of a run on which one was made."""
        return [decoding.label_row(row) for row in self._rows(statements.LABELS_OF_RUN.format("adjudications"), run_id)]

    def taxonomies(self) -> list[Taxonomy]:
        """Return the error modes that labels of this database were chosen from, oldest first."""
        rows = self._rows("SELECT text FROM taxonomies ORDER BY rowid")
        return [parse_taxonomy(row["text"], str(self._path)) for row in rows]

    def reconstructions(self, run_id: int) -> list[ReconstructionRow]:
        """Return every whole reconstruction of a run, in the order its items were drawn."""
        return [ReconstructionRow(*row.values()) for row in self._rows(statements.RECONSTRUCTIONS, run_id)]

    def item_of(self, sample_id: int) -> int:
        """Return the item a sample is of. Raises Bug when there is no such sample."""
        return int(self._one("sample", "SELECT item_id FROM samples WHERE id = ?", sample_id)["item_id"])

    # ---- scores

    def files(self, run_id: int) -> list[FileRow]:
        """Return for each file how many items it has and how many are done, with its mean measures; by path."""
        with self._snapshot():
            rows = self._rows(statements.FILE_STATES, run_id)
            measures = self._values(statements.FILE_MEASURES, run_id)
        return [FileRow(row["path"], row["items"], row["done"], measures.get(row["path"], {})) for row in rows]

    def flags(self, run_id: int) -> dict[int, tuple[str, ...]]:
        """Return the flags of the verdicts on each item's code, by the item's id; items without flags are left out."""
        found: dict[int, set[str]] = {}
        for row in self._rows(statements.FLAGS, run_id):
            found.setdefault(row["item_id"], set()).update(json.loads(row["flags"]))
        return {item: tuple(sorted(flags)) for item, flags in found.items()}

    def facets(self, run_id: int) -> list[FacetRow]:
        """Return the run's figures by language, size and whatever else items are sorted by; by facet, then value."""
        with self._snapshot():
            kind = task(self._run(run_id)["task"])
            measures = self._values(statements.ITEM_MEASURES, run_id)
            rows = self._rows(statements.FACET_ITEMS, run_id)
        groups = groupby(rows, key=lambda row: (str(row["facet"]), str(row["value"])))
        found = []
        for (facet, value), part in groups:
            items = [measures.get(row["item_id"], {}) for row in part]
            found.append(FacetRow(facet, value, len(items), self._bounds.scores(kind, items)))
        return found

    def score(self, run_id: int, metric: str = "pass", *, continuous: bool = False) -> tuple[Score, Score]:
        """Return a run's mean of a stored metric, or of its verdicts (`pass`), and how much it is above the baseline's.

        `continuous` says that the metric is no outcome: how the difference is bounded.
        """
        if metric == "pass":
            scores = self.figures(run_id).scores
            return scores.get("rtc", NOTHING), scores.get("lift", NOTHING)
        with self._snapshot():
            self._run(run_id)
            rows = [row for row in self._rows(statements.METRIC_VALUES, run_id, metric) if row["made"] is not None]
        differences = [row["difference"] for row in rows if row["difference"] is not None]
        made = self._bounds.score([row["made"] for row in rows])
        return made, self._bounds.score(differences, -1.0, continuous=continuous)

    def running(self, run_id: int, most: int = 200) -> list[RunningPoint]:
        """Return the run's figures as items were judged: at most `most` evenly spaced points, the last always in.

        The figures are the headline and those that can lie on both sides of 0.
        """
        with self._snapshot():
            kind = task(self._run(run_id)["task"])
            measures = self._values(statements.ITEM_MEASURES, run_id)
            states = self._rows(statements.ITEM_STATES, run_id)
        ids = [row["item_id"] for row in states if row["admitted"]]
        items = [(each, measures[each]) for each in ids if kind.headline in measures.get(each, {})]
        shown = [each for each in kind.averaged if each.name == kind.headline or each.lowest < 0]
        return self._bounds.running(shown, items, most)

    def scored(self, run_id: int, metric: str) -> list[ScoredRow]:
        """Return a metric's value beside the verdict, for every judged reconstruction of a run that counts."""
        rows = self._rows(statements.SCORED_CODE, run_id, metric)
        return [ScoredRow(row["sample_id"], row["item_id"], row["value"], bool(row["passed"])) for row in rows]

    def candidates(self, run_id: int) -> list[CandidateRow]:
        """Return every judged piece of code of a run, baselines included, with its item's own text and its scores."""
        with self._snapshot():
            scores = self._values(statements.SCORES_OF_RUN, run_id)
            rows = self._rows(statements.CANDIDATES, run_id)
        return [decoding.candidate_row(row, scores.get(row["sample_id"], {})) for row in rows]

    def changes(
        self, runs: Sequence[int], form: str, axes: tuple[str, str], *, facet: str, measures: Sequence[str], noise: str
    ) -> list[ChangeRow]:
        """Return how measures on variants of items differ from those on the items, by cells of two `CHANGE_AXES`.

        `noise` is the variant that changes nothing; it is shown among the others, never averaged with them. Grouped by
        the database: what comes back does not grow with the samples, only with how many different changes there are.
        """
        asked = _change_parameters(runs, axes, facet, measures, noise)
        return [
            ChangeRow(
                str(row["row"]),
                str(row["column"]),
                row["change"],
                row["noise"],
                row["count"],
                tuple(_run_and_item(each) for each in row["items"].split(",", MOST_LINKED)[:MOST_LINKED]),
            )
            for row in self._named(statements.changes_sql(form, *axes), asked)
        ]

    def outcomes(
        self, runs: Sequence[int], axes: tuple[str, str], *, facet: str, measures: Sequence[str], noise: str
    ) -> list[OutcomeRow]:
        """Return how many passed or failed before and after, by cells of two `CHANGE_AXES`."""
        asked = _change_parameters(runs, axes, facet, measures, noise)
        rows = self._named(statements.outcomes_sql(*axes), asked)
        return [OutcomeRow(str(r["row"]), str(r["column"]), r["before"], r["after"], r["count"]) for r in rows]

    def answers(self, run_id: int) -> dict[str, Answers]:
        """Return how what models answered could be read, by the role that was asked for."""
        return {row.pop("role"): Answers(**row) for row in self._rows(statements.ANSWERS, run_id)}

    def totals(self, run_id: int) -> dict[str, float]:
        """Return the sum of each measure over a run's admitted items."""
        return {row["name"]: row["value"] for row in self._rows(statements.TOTALS, run_id)}

    def reasons(self, run_id: int) -> list[tuple[str, str, int]]:
        """Return what was not made of admitted items (`no swap` in their origin): its name, why, and of how many."""
        return [(row["name"], row["reason"], row["count"]) for row in self._rows(statements.REASONS, run_id)]

    def paces(self, most: int = 20) -> list[PaceRow]:
        """Return how fast the `most` newest runs went, the newest first; those too short to say are left out."""
        with self._snapshot():
            found = [self._pace(row) for row in self._rows(paces.RUNS, most)]
        return [row for row in found if row is not None]

    def _pace(self, run: Row) -> PaceRow | None:
        items = self._rows(paces.ITEMS, run["id"])[0]
        settings = RunSettings.from_json(json.loads(run["config"]))
        return paces.pace(run, items, self._rows(paces.SAMPLES, run["id"]), settings)

    def spent(self, run_id: int) -> list[SpentRow]:
        """Return what a run's models took, apart for descriptions and for all else; nothing where none was asked."""
        return [SpentRow(**{**row, "forward": bool(row["forward"])}) for row in self._rows(statements.SPENT, run_id)]

    def metrics(self, run_id: int) -> list[str]:
        """Return the names of the metrics stored for a run, sorted."""
        return [row["metric"] for row in self._rows(statements.METRICS, run_id)]

    # ---- inside

    def _figures(self, run: Row) -> RunFigures:
        """Return the figures remembered or kept with the run, or make them anew where something was stored since."""
        known = self._known_figures.get(run["id"])
        if known is None and run["standing"]:
            known = RunFigures.from_json(run["standing"])
        # Figures may have been kept by a process that opened the database without intervals.
        if known is None or known.changes != run["changes"] or (self._bounds.any and not known.bounded):
            measures = self._values(statements.ITEM_MEASURES, run["id"])
            states = self._rows(statements.ITEM_STATES, run["id"])
            near = self._rows(statements.FLAGGED, run["id"], NEAR_LIMIT)[0]["verdicts"]
            answers = sum(self.answers(run["id"]).values(), Answers())
            known = tally(states, measures, task(run["task"]), run["changes"], self._bounds, near, answers)
        self._known_figures[run["id"]] = known
        return known

    def _run(self, run_id: int) -> Row:
        rows = self._rows(f"{statements.RUNS} WHERE r.id = ?", run_id)
        if not rows:
            known = [row["id"] for row in self._rows("SELECT id FROM runs ORDER BY id")]
            raise encoding.unknown_run(run_id, known, self._path)
        return rows[0]

    def _run_row(self, row: Row) -> RunRow:
        status = row["status"]
        # Its process was killed: nobody was left to write another status.
        if status == "running" and not is_claimed(self._path, row["id"]):
            status = "interrupted"
        return decoding.run_row(row, status, self._figures(row))

    def _one(self, kind: str, sql: str, key: int | str) -> Row:
        rows = self._rows(sql, key)
        if not rows:
            raise Bug(f"There is no {kind} {key} in {self._path}.")
        return rows[0]

    def _values(self, sql: str, key: int) -> dict[Any, dict[str, float]]:
        """Return an answer's last column by its first two: what they are of (an item, a file, a sample), and name."""
        found: dict[Any, dict[str, float]] = {}
        for of, name, value in (row.values() for row in self._rows(sql, key)):
            found.setdefault(of, {})[name] = value
        return found

    def _rows(self, sql: str, *parameters: int | str) -> list[Row]:
        return self._named(sql, parameters)

    def _named(self, sql: str, parameters: Sequence[int | str] | Mapping[str, str]) -> list[Row]:
        with self._turn, explained(self._path):
            cursor = self._db.execute(sql, parameters)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """Let all queries inside see one moment of the file."""
        with self._turn, explained(self._path):
            # Inside another question, whose moment this one shares.
            if self._db.in_transaction:
                yield
                return
            with self._db:
                self._db.execute("BEGIN")
                yield
