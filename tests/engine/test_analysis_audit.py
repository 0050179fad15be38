"""The metric audit on stored runs: scored once, in the paper's order, every mark leading to its samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from factories import fill_store, model_info

from rtc_inspector.core.analyses.analyse import analyse
from rtc_inspector.core.analyses.audit import LISTED, Judged, System, between
from rtc_inspector.core.figures import Bars, Figure, Grid, Histogram, Lines, Scatter, Sentence, Table
from rtc_inspector.core.figures.reading import marks
from rtc_inspector.core.generation import SentenceVector, TokenVectors
from rtc_inspector.core.metrics.codebleu import NAMES
from rtc_inspector.core.metrics.metric import PERTURBATIONS, metric, stored_name
from rtc_inspector.core.metrics.similarity import code_scores, function_of, plain_code
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.run.scoring import score_runs
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.types import Estimate, Outcome, Verdict


class LetterVectors:
    """One vector a word, by its letters."""

    info = replace(model_info("letters"), name="letters: small")

    def __init__(self) -> None:
        self.asked = 0

    def sentences(self, texts: Sequence[str]) -> Sequence[SentenceVector]:
        raise NotImplementedError

    def tokens(self, texts: Sequence[str]) -> Sequence[TokenVectors]:
        self.asked += len(texts)
        made = []
        for text in texts:
            words = tuple(text.split())
            rows = [[word.count(letter) for letter in "etaoinsr_("] for word in words]
            made.append(TokenVectors(words, np.array(rows, dtype=np.float32).reshape(len(words), 10)))
        return made

    def close(self) -> None:
        """Nothing to end."""


def stages() -> tuple[list[tuple[str, int, int]], Any]:
    said: list[tuple[str, int, int]] = []
    return said, lambda *each: said.append(each)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs on the same regions, scored, two of them with vectors."""
    folder = tmp_path_factory.mktemp("audited")
    with open_store(folder / "runs.db") as store:
        for seed, model in ((3, "Small"), (4, "Middle"), (5, "Large")):
            fill_store(store, folder / "shop", 30, seed, model=model)
        score_runs(store, [1, 2], lambda *_: None, LetterVectors())
        score_runs(store, [3], lambda *_: None)
    return folder / "runs.db"


def audited(database: Path, runs: Sequence[int], **chosen: str) -> Mapping[str, Figure]:
    return _audited(database, tuple(runs), tuple(chosen.items()))


@lru_cache(maxsize=16)  # no test writes to a database that it has asked
def _audited(database: Path, runs: tuple[int, ...], choices: tuple[tuple[str, str], ...]) -> Mapping[str, Figure]:
    chosen = dict(choices)
    with open_reader(database) as reader:
        return {figure.name: figure for figure in analyse(reader, runs, "audit", chosen)}


def test_the_figures_come_in_the_paper_s_order_and_lead_to_samples(database: Path) -> None:
    found = audited(database, [1, 2])
    assert list(found) == [
        "summary", "notes", "shape", "spreads", "distribution", "ties", "agreement", "separation", "separation-near",
        "separated", "auc", "validity", "effort", "verdicts", "scatter", "high-and-fail", "low-and-pass", "systems",
        "means",
    ]  # fmt: skip
    for name, figure in found.items():
        shown = [mark for mark in marks(figure) if name not in ("summary", "notes", "systems")]
        assert all(mark.links and all(link.run in (1, 2) for link in mark.links) for mark in shown), name
        assert name in ("systems", "notes") or all(link.sample for mark in shown for link in mark.links), name


def test_the_sentence_is_what_the_tables_say(database: Path) -> None:
    found = audited(database, [1, 2, 3])
    summary, auc, verdicts = found["summary"], found["auc"], found["verdicts"]
    assert isinstance(summary, Sentence) and isinstance(auc, Bars) and isinstance(verdicts, Histogram)
    areas = {bar.category: bar.value for bar in auc.bars}
    whole = [name for name in areas if name != "CB flow" and ":" not in name]
    best = max(whole, key=lambda name: (areas[name].value or 0, name == "EDIT-SIM"))
    area = areas[best]
    assert area.value is not None and area.low is not None and area.high is not None
    assert f"{best} tells pass from fail with AUC {area.value:.2f} ({area.low:.2f} to {area.high:.2f})" in summary.text
    assert f"On these {len(verdicts.values):,} samples" in summary.text
    failing = [each.value for each in verdicts.values if each.group == "failed"]
    assert f"{sum(value > 0.9 for value in failing):,} failing sample" in summary.text


def test_every_score_is_computed_once(tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.db") as store:
        fill_store(store, tmp_path / "shop", 12, 3)
        candidates = store.reader.candidates(1)
        before = {row.sample_id: dict(row.scores) for row in candidates}
        said, report = stages()
        embedder = LetterVectors()
        assert score_runs(store, [1], report, embedder) == len(candidates)
        assert said[-1] == ("matching token vectors", len(candidates), len(candidates))
        assert ("scoring", 0, len(candidates)) in said
        asked = embedder.asked
        assert score_runs(store, [1], report, embedder) == 0 and embedder.asked == asked
        for row in store.reader.candidates(1):
            kept = {name: row.scores[name] for name in before[row.sample_id]}
            assert kept == before[row.sample_id], "what the run stored is not made again"
            assert row.scores["codebleu"] > 0 and "token_f1:letters- small" in row.scores
            assert row.scores["codebleu_syntax"] <= 1


def test_what_a_run_did_not_store_is_computed_from_the_texts(tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.db") as store:
        fill_store(store, tmp_path / "shop", 6, 3)
        store._db.execute("DELETE FROM scores")
        score_runs(store, [1], lambda *_: None)
        ids = [row.sample_id for row in store.reader.candidates(1)]
        for row in store.reader.candidates(1, ids):
            expected = code_scores(row.text, row.reference)
            assert {name: row.scores[name] for name in expected} == pytest.approx(expected)


def test_more_references_make_crystalbleu_anew(tmp_path: Path) -> None:
    """It depends on what all references share, so its stored name says which; the old values go."""
    with open_store(tmp_path / "runs.db") as store:
        run_id = fill_store(store, tmp_path / "shop", 6, 3)
        score_runs(store, [run_id], lambda *_: None)
        (name,) = [name for name in store.reader.metrics(run_id) if name.startswith("crystalbleu")]
        item = store.reader.items(run_id)[0]
        store.add_item(run_id, replace(item, key="another", text="while queue:\n    queue.pop().visit(queue)\n" * 3))
        assert score_runs(store, [run_id], lambda *_: None) == len(store.reader.candidates(run_id))
        (other,) = [name for name in store.reader.metrics(run_id) if name.startswith("crystalbleu")]
        assert other != name and metric(other).title == metric("crystalbleu").title


def test_vectors_are_named_after_their_model(database: Path) -> None:
    found = audited(database, [1, 2, 3])
    shape, notes = found["shape"], found["notes"]
    assert isinstance(shape, Table) and isinstance(notes, Sentence)
    rows = {str(row.cells[0]): row for row in shape.rows}
    assert {"letters- small: F1", "letters- small: F3", "letters- small: F1 of all tokens"} <= set(rows)
    assert len(rows) == len(NAMES) + 5
    assert "letters- small: precision, letters- small: recall" in notes.text, "run 3 has no vectors"
    assert rows["letters- small: F1 of all tokens"].cells[1] == "-1 to 1"


def test_one_run_alone_says_what_needs_two(database: Path) -> None:
    found = audited(database, [1])
    assert "separation" not in found and "separated" not in found
    ties, notes = found["ties"], found["notes"]
    assert isinstance(ties, Bars) and not ties.bars and "two runs" in ties.note
    assert isinstance(notes, Sentence) and "One run only" in notes.text


def test_the_power_is_that_of_the_test_that_is_chosen(database: Path) -> None:
    found = {test: audited(database, [1, 2, 3], test=test) for test in ("paired", "welch", "flips")}
    for figures in found.values():
        lines, near, table = figures["separation"], figures["separation-near"], figures["separated"]
        assert isinstance(lines, Lines) and isinstance(near, Lines) and isinstance(table, Table)
        assert lines.guides[0].at == pytest.approx(0.05 / 6) and near.y.high == 0.008
        assert {len(series.points) for series in lines.series if ":" not in series.name} == {6}
        assert all(row.cells[4] == 6 and int(str(row.cells[1])) <= 3 for row in table.rows)
    assert found["paired"]["separation"] != found["welch"]["separation"] != found["flips"]["separation"]


def test_baselines_can_be_left_out(database: Path) -> None:
    whole, without = (audited(database, [1], samples=each)["verdicts"] for each in ("all", "described"))
    assert isinstance(whole, Histogram) and isinstance(without, Histogram)
    assert len(without.values) < len(whole.values)


def test_the_corners_hold_what_misleads_most(database: Path) -> None:
    found = audited(database, [1, 2], metric="bleu")
    high, low, scatter = found["high-and-fail"], found["low-and-pass"], found["scatter"]
    assert isinstance(high, Table) and isinstance(low, Table) and isinstance(scatter, Scatter)
    values = [row.cells[0] for row in high.rows]
    assert values == sorted(values, reverse=True) and len(values) == LISTED  # type: ignore[type-var]
    assert sum(point.count for point in scatter.points) == len(found["verdicts"].values)  # type: ignore[union-attr]
    with open_reader(database) as reader:
        passed = {row.sample_id: row.passed for run in (1, 2) for row in reader.candidates(run)}
    assert not any(passed[row.links[0].sample or 0] for row in high.rows)
    assert all(passed[row.links[0].sample or 0] for row in low.rows)


@pytest.mark.parametrize(("outcome", "word"), [(Outcome.PASS, "pass"), (Outcome.FAIL, "fail")])
def test_one_outcome_alone_is_said_in_a_sentence(tmp_path: Path, outcome: Outcome, word: str) -> None:
    with open_store(tmp_path / "runs.db") as store:
        fill_store(store, tmp_path / "shop", 6, 3)
        for row in store.reader.candidates(1):
            store.add_verdict(row.sample_id, Verdict(outcome, 0.1))
        score_runs(store, [1], lambda *_: None)
    found = audited(tmp_path / "runs.db", [1])
    summary, auc = found["summary"], found["auc"]
    assert isinstance(summary, Sentence) and f"all {word}" in summary.text
    assert isinstance(auc, Bars) and not auc.bars and auc.note
    assert [name for name in found if name in ("validity", "agreement", "effort")] == [
        "agreement",
        "validity",
        "effort",
    ]


def test_constant_metrics_have_grey_cells_and_a_sentence(tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.db") as store:
        fill_store(store, tmp_path / "shop", 6, 3)
        score_runs(store, [1], lambda *_: None)
        store._db.execute("UPDATE scores SET value = 0.5 WHERE metric = 'chrf'")
    found = audited(tmp_path / "runs.db", [1])
    agreement, notes, validity = found["agreement"], found["notes"], found["validity"]
    assert isinstance(agreement, Grid) and isinstance(notes, Sentence) and isinstance(validity, Table)
    assert not [cell for cell in agreement.cells if "chrF" in (cell.row, cell.column)]
    assert "chrF" in agreement.rows.names and "chrF is 0.50 for all: no correlation." in notes.text
    row = next(row for row in validity.rows if row.cells[0] == "chrF")
    assert row.cells[1:4] == (None, None, "–")


def test_runs_that_are_not_scored_say_so(tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.db") as store:
        fill_store(store, tmp_path / "shop", 6, 3)
    found = audited(tmp_path / "runs.db", [1])
    summary = found["summary"]
    assert list(found) == ["summary"] and isinstance(summary, Sentence) and "not scored yet" in summary.text


def test_a_stop_keeps_what_is_done(tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def report(stage: str, done: int, total: int) -> None:
        if done >= 50:
            raise Stop

    with open_store(tmp_path / "runs.db") as store:
        fill_store(store, tmp_path / "shop", 24, 3)
        with pytest.raises(Stop):
            score_runs(store, [1], report)
        rows = store.reader.candidates(1)
        assert sum("codebleu" in row.scores for row in rows) == 50 < len(rows)
        assert score_runs(store, [1], lambda *_: None) == len(rows) - 50


def test_whole_functions_are_compared_where_an_item_has_a_signature(store_with_function: Store) -> None:
    (row,) = store_with_function.reader.candidates(1)
    reference, candidate = "def f(a):\n    return a + 1", "def f(a):\n    # adds\n    return 1 + a"
    for name, value in code_scores(candidate, reference).items():
        assert row.scores[stored_name(name, function=True)] == pytest.approx(value)


@pytest.fixture
def store_with_function(tmp_path: Path) -> Any:
    with open_store(tmp_path / "runs.db") as store:
        fill_store(store, tmp_path / "shop", 3, 3)
        kept = store.reader.candidates(1)[0]
        store._db.execute("DELETE FROM samples WHERE form = 'code' AND id <> ?", (kept.sample_id,))
        store._db.execute(
            "UPDATE items SET text = 'return a + 1', origin = ? WHERE id = ?",
            ('{"signature": "def f(a):\\n    "}', kept.item_id),
        )
        store._db.execute("UPDATE samples SET text = ?", ('"""Adds."""\n    # adds\n    return 1 + a',))
        score_runs(store, [1], lambda *_: None)
        yield store


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('def f():\n    """Doc."""\n    return 1', "def f():\n    return 1"),
        ("def f():\n    'Doc.'; return 1", "def f():\n    return 1"),
        ("class A:\n    '''Two\n    lines.'''\n\n    x = 1", "class A:\n\n    x = 1"),
        ('x = 1\n        def g():\n            """Doc."""\n            return 2', None),
        ('def f(:\n    """Doc."""', 'def f(:\n    """Doc."""'),
        ('x = """no docstring"""', 'x = """no docstring"""'),
        ("Sure:\n```python\nx = 1\n```\nDone.", "x = 1\n"),
        ('def f():\n    """ä"""; return "ö"', 'def f():\n    return "ö"'),
    ],
)
def test_plain_code_has_no_fences_and_docstrings(text: str, plain: str | None) -> None:
    assert plain_code(text) == (plain if plain is not None else text.replace('            """Doc."""\n', ""))


def test_the_last_function_of_a_name_is_the_one() -> None:
    program = "def f():\n    return 1\n\n@cache\ndef f():\n    return 2\n\nx = f()\n"
    assert function_of(program, "f") == "@cache\ndef f():\n    return 2"
    assert function_of(program, "g") is function_of("def f(:", "f") is None


def test_perturbations_change_the_metrics_as_the_paper_expects(tmp_path: Path) -> None:
    """One side alone with other names lowers; both with generic ones, or one name for both functions, raises."""
    with open_store(tmp_path / "runs.db") as store:
        fill_store(store, tmp_path / "shop", 4, 3)
        rows = store.reader.candidates(1)
        store._db.execute(
            "UPDATE items SET text = ?, origin = ?",
            ("def total(prices):\n    result = sum(prices)\n    return result", '{"function": "total"}'),
        )
        store._db.execute("UPDATE samples SET text = ?", ("def total(values):\n    all = sum(values)\n    return all",))
        store._db.execute("UPDATE samples SET text = 'def total(:' WHERE id = ?", (rows[0].sample_id,))
        store._db.execute("DELETE FROM scores")
        score_runs(store, [1], lambda *_: None, LetterVectors(), perturb=True)
        count = store._db.execute("SELECT count(*) FROM scores").fetchone()
        assert score_runs(store, [1], lambda *_: None, LetterVectors(), perturb=True) == 0
        assert store._db.execute("SELECT count(*) FROM scores").fetchone() == count
        assert not [name for name in store.reader.metrics(1) if "@" in name], "nobody else is shown these"
        assert not [name for s in store.reader.samples(rows[0].item_id) for name in s.scores if "@" in name]
    table = audited(tmp_path / "runs.db", [1])["perturbations"]
    assert isinstance(table, Table)
    cells = {(str(row.cells[0]), str(row.cells[1])): row.cells for row in table.rows}
    change = {key[1]: value[3].value for key, value in cells.items() if key[0] == "chrF"}  # type: ignore[union-attr]
    candidate, reference, both, same, different = (change[said] for said in PERTURBATIONS.values())
    assert candidate < 0 or reference < 0
    assert both > 0 and different < 0 <= same  # type: ignore[operator]
    assert cells["chrF", PERTURBATIONS["vars-both"]][2] > 0.9  # type: ignore[operator]
    assert {key[0] for key in cells} > {"EDIT-SIM", "CodeBLEU", "CrystalBLEU", "letters- small: F1"}
    assert cells["chrF", PERTURBATIONS["vars-candidate"]][7] == 1, "one candidate does not parse"


def test_systems_that_cannot_be_told_apart_are_not_ranked_against(database: Path) -> None:
    """Four systems of the same problems, by how many of them pass, and by one metric that follows that share."""
    with open_reader(database) as reader:
        run, rows = reader.run(1), reader.candidates(1)
    place = {key: at for at, key in enumerate(sorted({row.key for row in rows}))}

    def ranked(*shares: float) -> Sentence | Table:
        systems = []
        for share in shares:
            marked = [
                replace(
                    row,
                    passed=place[row.key] < share * len(place),
                    scores={"edit_sim": share - 1 / (9 + n), "chrf": (n + 1) * int(9 + 10 * share) % 23 / 23},
                )
                for n, row in enumerate(rows)
            ]
            systems.append(System(run, f"{share:.0%}", tuple(marked)))
        (found,) = [each for each in between(Judged(systems, 0)) if each.name == "ranking"]
        assert isinstance(found, Sentence | Table)
        return found

    alike = ranked(0.5, 0.5, 0.5, 0.5)
    assert isinstance(alike, Sentence) and "None of the 6 pairs of systems is told apart by what passes" in alike.text
    apart = ranked(0.2, 0.5, 0.7, 0.9)
    assert isinstance(apart, Table) and "what passes tells 5 of 6 pairs apart" in apart.note
    cells = {row.cells[0]: row.cells[1:] for row in apart.rows}
    assert cells["chrF"] == (None, 0), "it has an order, but tells none apart"
    r, told = cells["EDIT-SIM"]
    assert isinstance(r, Estimate) and r.value is not None and r.value > 0.99 and told == 6
