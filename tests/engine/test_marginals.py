"""Cosmetic variance in figures: forms of change by the authors' own numbers, cells by hand, words instead of signs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from factories import model_info, suite

from rtc_inspector.core.analyses.analyse import analyse
from rtc_inspector.core.figures import Figure, Grid, Sentence, Table
from rtc_inspector.core.generation import Role
from rtc_inspector.core.kinds import COSMETIC_CHANGES, task
from rtc_inspector.core.metrics.paired import no_change_p
from rtc_inspector.core.metrics.similarity import rouge_l, rouge_synonym, words
from rtc_inspector.core.models.function_prompts import MASK, extract_name, mask_prompt
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.settings import CosmeticSettings, RunSettings
from rtc_inspector.core.source.functions import functions
from rtc_inspector.core.trips.cosmetic import Widths
from rtc_inspector.core.types import Item, SourceFile, Span
from rtc_inspector.resources.synonyms import synonyms

FORMS = ("difference", "relative", "symmetric", "ratio")


def stored(database: Path, *runs: Mapping[str, Mapping[str, float]]) -> None:
    """Runs of functions by `NAME BUCKET`, each with its measures."""
    with open_store(database) as store:
        project = store.add_project(database.parent, "pocket", None, False)
        for number, measures in enumerate(runs):
            model, settings = model_info(f"model-{number}"), RunSettings(task="cosmetic")
            run_id = store.start_run(
                project, settings, model, model,
                sandbox="tests/none", image_digest="", app_version="0", fingerprint="f", suite=suite(),
            )  # fmt: skip
            for key, values in measures.items():
                facets, origin = {"complexity": key.split()[1]}, {"no swap": "no two statements"}
                item = Item(key, "function", "a.py", Span(0, 1), 1, 1, "x", facets=facets, origin=origin)
                store.set_measures(store.add_item(run_id, item), values, True)


def figures(database: Path, runs: int = 1, **chosen: str) -> dict[str, Figure]:
    with open_store(database) as store:
        return {each.name: each for each in analyse(store.reader, range(1, runs + 1), "marginals", chosen)}


def changes(database: Path, runs: int = 1, **chosen: str) -> dict[tuple[str, str], float | None]:
    grid = figures(database, runs, **chosen)["marginal"]
    assert isinstance(grid, Grid)
    return {(cell.row, cell.column): cell.value.value for cell in grid.cells}


@pytest.mark.parametrize(
    ("before", "after", "known"),
    [
        (2 / 3, 1 / 3, (-1 / 3, 1 / 2, 1 / 2, 1)),  # the paper's example
        (1 / 3, 2 / 3, (1 / 3, -1, -1 / 2, -1 / 2)),
        (0.3422913719943423, 0.3352192362093352, (-0.0070721, 0.0206612, 0.0206612, 0.0210970464)),  # authors' notes
        (0.3422913719943423, 0.15841584158415842, (-0.1838755, 0.5371908, 0.5371908, 1.1607142857)),
        (0.0, 0.5, (0.5, None, -1, -1)),
        (0.5, 0.0, (-0.5, 1, 1, None)),
        (0.0, 0.0, (0, None, None, None)),
    ],
)
def test_the_four_forms_of_change(tmp_path: Path, before: float, after: float, known: tuple[float | None, ...]) -> None:
    stored(tmp_path / "runs.sqlite", {"f 0-10": {"identifiers": before, "identifiers@rename": after}})
    for form, value in zip(FORMS, known, strict=True):
        found = changes(tmp_path / "runs.sqlite", form=form).get(("0-10", "rename"))
        assert found == (None if value is None else pytest.approx(value, abs=1e-6)), form


def test_what_is_no_axis_is_averaged_within_an_item_first_and_identity_never(tmp_path: Path) -> None:
    one = {"identifiers": 0.5, "identifiers@identity": 1.0, "identifiers@rename": 0.3, "identifiers@swap": 0.5}
    other = {"identifiers": 0.5, "identifiers@rename": 0.1, "rtc": 1.0, "rtc@rename": 0.0}
    stored(tmp_path / "runs.sqlite", {"a 0-10": one, "b 0-10": other, "c 20-30": other})
    by_task = changes(tmp_path / "runs.sqlite", rows="facet", columns="measure")
    assert by_task == {
        ("0-10", "hidden names"): pytest.approx((-0.1 - 0.4) / 2),
        ("0-10", "round trip"): -1,
        ("20-30", "hidden names"): pytest.approx(-0.4),
        ("20-30", "round trip"): -1,
    }
    by_change = changes(tmp_path / "runs.sqlite", rows="variant", columns="measure", task="identifiers")
    assert by_change["identity", "hidden names"] == 0.5
    assert changes(tmp_path / "runs.sqlite", rows="facet", columns="variant", task="all")[
        "0-10", "rename"
    ] == pytest.approx((-0.2 + (-0.4 - 1) / 2) / 2)


def test_models_stand_side_by_side(tmp_path: Path) -> None:
    for_one = {"a 0-10": {"identifiers": 0.5, "identifiers@rename": 0.3}}
    for_other = {"a 0-10": {"identifiers": 0.5, "identifiers@rename": 0.6}}
    stored(tmp_path / "runs.sqlite", for_one, for_other)
    found = changes(tmp_path / "runs.sqlite", 2)
    assert found == {
        ("model-0, run 1", "rename"): pytest.approx(-0.2),
        ("model-1, run 2", "rename"): pytest.approx(0.1),
    }


def test_cells_speak_in_words_and_are_pale_where_nothing_is_told(tmp_path: Path) -> None:
    fell = {
        f"f{n} 0-10": {"identifiers": 0.9, "identifiers@rename": 0.2, "identifiers@identity": 0.9} for n in range(12)
    }
    stored(tmp_path / "runs.sqlite", fell)
    for form in FORMS:
        grid = figures(tmp_path / "runs.sqlite", form=form)["marginal"]
        assert isinstance(grid, Grid)
        cells = {cell.column: cell for cell in grid.cells}
        assert "worse" in cells["rename"].text and not cells["rename"].faded and "(12)" in cells["rename"].text
        assert cells["identity"].text.startswith("as good") and cells["identity"].faded
        assert len(cells["rename"].links) == 12 and {link.run for link in cells["rename"].links} == {1}
    table = figures(tmp_path / "runs.sqlite")["tests"]
    assert isinstance(table, Table)
    findings = {row.cells[1]: row.cells[2] for row in table.rows}
    assert findings == {"identity": "no clear change", "rename": "0.70 worse"}
    same = next(cell for cell in grid.cells if cell.column == "identity").value
    assert same.low is not None and same.low < 0 < (same.high or 0), "twelve that agree do not prove certainty"


def test_round_trips_are_told_by_mcnemar_and_against_identity(tmp_path: Path) -> None:
    lost = {f"f{n} 0-10": {"rtc": 1.0, "rtc@rename": 0.0, "rtc@identity": 1.0} for n in range(8)}
    stored(tmp_path / "runs.sqlite", lost | {"g 0-10": {"rtc": 0.0, "rtc@rename": 1.0, "rtc@identity": 0.0}})
    table = figures(tmp_path / "runs.sqlite", task="rtc")["tests"]
    assert isinstance(table, Table)
    row = next(row.cells for row in table.rows if row.cells[1] == "rename")
    assert row[8] == "8 lost, 1 won" and row[9] == pytest.approx(2 * 10 / 512)
    assert row[7] == pytest.approx(2 * 10 / 512), "identity changed nothing: the same differences, by random signs"


def test_few_functions_prove_nothing_and_the_table_says_what_they_could_have_shown(tmp_path: Path) -> None:
    """Two functions that fall by 0.1 and 0.2 had p = 0.0005 by a bootstrap; of random signs half are as extreme."""
    changed = {f"identifiers@{change}": 0.7 for change in ("rename", "swap", "logging")}
    two = {"a 0-10": {"identifiers": 0.8} | changed, "b 0-10": {"identifiers": 0.9} | changed}
    stored(tmp_path / "two.sqlite", two)
    table = figures(tmp_path / "two.sqlite")["tests"]
    assert isinstance(table, Table)
    assert {(row.cells[2], row.cells[5], row.cells[6]) for row in table.rows} == {("too few to tell", None, 1.0)}
    assert "It takes 7 functions that all change the same way: no cell has so many" in table.note
    stored(tmp_path / "many.sqlite", {f"f{n} 0-10": {"identifiers": 0.9} | changed for n in range(12)})
    table = figures(tmp_path / "many.sqlite")["tests"]
    assert isinstance(table, Table) and "It takes" not in table.note
    for row in table.rows:
        assert row.cells[2] == "0.20 worse" and row.cells[6] == pytest.approx(3 * 2 / 2**12)
        assert isinstance(row.cells[5], float) and 0.05 < row.cells[5] < 0.2


@pytest.mark.parametrize("functions", [2, 3, 5, 8, 12, 20, 60])
def test_where_nothing_changes_hardly_any_of_twenty_cells_is_found_to(functions: int) -> None:
    """Differences of shares of ten names, asked twice: at most 0.055 over 20 cells is at most 0.0028 of single ones."""
    rng = np.random.default_rng(functions)
    hits = rng.binomial(10, rng.beta(2, 2, (4000, functions, 1)), (4000, functions, 2)) / 10
    found = [no_change_p(each) or 0.0 for each in (hits[..., 0] - hits[..., 1]).round(9).tolist()]
    single = float(np.mean([p < 0.05 / 20 for p in found]))
    assert 1 - (1 - single) ** 20 <= 0.09, "four standard errors of 4,000 draws beyond 0.05"


def test_rouge_l_tells_what_the_synonyms_tell_and_counts_in_no_average(tmp_path: Path) -> None:
    scores = {"identifiers": 0.5, "rouge_synonym": 0.6, "rouge_l": 0.6}
    after = {"identifiers@rename": 0.3, "rouge_synonym@rename": 0.5, "rouge_l@rename": 0.2}
    stored(tmp_path / "runs.sqlite", {"a 0-10": scores | after})
    found = figures(tmp_path / "runs.sqlite", task="all")["marginal"]
    assert isinstance(found, Grid) and "ROUGE-L) is left out" in found.note
    assert found.cells[0].value.value == pytest.approx((-0.2 - 0.1) / 2), "as the run's own figure `change`"
    assert changes(tmp_path / "runs.sqlite", rows="measure")["description (ROUGE-L)", "rename"] == pytest.approx(-0.4)
    symmetric = figures(tmp_path / "runs.sqlite", form="symmetric")["marginal"]
    assert isinstance(symmetric, Grid) and "Where both scores are 0 there is no such change" in symmetric.note


def test_rewrites_that_changed_the_meaning_and_refusals_are_counted(tmp_path: Path) -> None:
    tried = {"tried:rename": 1.0, "kept:rename": 0.0}
    stored(tmp_path / "runs.sqlite", {"a 0-10": tried, "b 0-10": tried | {"kept:rename": 1.0}})
    table = figures(tmp_path / "runs.sqlite")["meanings"]
    assert isinstance(table, Table)
    assert [row.cells[:3] for row in table.rows] == [("rename", 2, 1), ("swap", 0, 0)]
    assert table.rows[1].cells[4:] == (2, "no two statements")


def test_without_any_pair_it_says_so(tmp_path: Path) -> None:
    stored(tmp_path / "runs.sqlite", {"a 0-10": {"identifiers": 0.5}})
    found = figures(tmp_path / "runs.sqlite")
    assert isinstance(found["summary"], Sentence) and "no function has scores" in found["summary"].text
    assert isinstance(found["marginal"], Grid) and not found["marginal"].cells


def function(key: str, bucket: str, **origin: str) -> Item:
    return Item(key, "function", "a.py", Span(0, 1), 1, 1, "x", facets={"complexity": bucket}, origin=origin)


def test_the_widest_interval_is_narrowed_next() -> None:
    widths = Widths()
    unseen, small, large = function("a", "20-30"), function("b", "0-10"), function("c", "10-20")
    assert widths.widest([small, large]) == 0, "nothing is known: as drawn"
    for number, (sure, wild) in enumerate([(0.1, -1.0), (0.1, 1.0), (0.2, 0.0)]):
        for change in COSMETIC_CHANGES:
            widths.learn(function(f"s{number}", "0-10"), {change: [sure]})
            widths.learn(function(f"l{number}", "10-20"), {change: [wild]})
    assert widths.of("0-10", "rename") < widths.of("10-20", "rename") < widths.of("20-30", "rename")
    assert widths.widest([small, large]) == 1
    assert widths.widest([small, large, unseen]) == 2
    refused = {f"no {change}": "why" for change in COSMETIC_CHANGES}
    assert widths.widest([function("d", "20-30", **refused), small]) == 1, "it has no part in any cell"


def test_a_cell_that_nothing_comes_to_is_not_the_widest_for_ever() -> None:
    widths = Widths()
    for number in range(3):
        widths.learn(function(f"s{number}", "0-10"), {"rename": [0.1], "identity": [0.1]})
        widths.learn(function(f"l{number}", "10-20"), {"rename": [0.4 * number], "identity": [0.1]})
    assert widths.of("0-10", "document") == 0, "no docstring was written of any"
    assert widths.widest([function("a", "0-10"), function("b", "10-20")]) == 1


# --------------------------------------------------------------------------- what the figures are made of


def test_rouge_by_synonyms_counts_words_that_mean_the_same() -> None:
    assert words("maxPrice of HTTPServer_names, 3 times") == ["max", "price", "of", "http", "server", "names", "times"]
    assert {"sum", "total"} <= synonyms("total") and "totals" in synonyms("sums") and synonyms("qwerty") == {"qwerty"}
    assert rouge_synonym("the sum", "the total") == 1.0
    assert rouge_synonym("nothing", "the total") == 0.0
    assert rouge_synonym("", "42") is None and rouge_l("a", "") is None
    assert rouge_l("the cat sat", "the dog sat") == pytest.approx(2 / 3)
    assert rouge_l("", "words") == 0.0


def test_functions_are_found_with_their_brackets_and_branches() -> None:
    text = (
        "class Box:\n"
        "    @property\n"
        "    def size(self):\n"
        '        """Of (all)."""\n'
        "        return len([x for x in self.all if x and x > 1])  # (\n"
        "    def idle(self): return 3\n"
        "    def empty(self):\n"
        "        ...\n"
        "def outer(é):\n"
        "    @deco\n"
        "    def inner():\n"
        "        return 'ß'\n"
        "    return inner if é else {}\n"
    )
    found = functions(SourceFile("a.py", text, "utf-8", False))
    assert [(each.name, each.brackets, each.branches, each.bucket) for each in found] == [
        ("Box.size", 6, 3, "0-10"),
        ("outer", 6, 2, "0-10"),
    ]
    size, outer = found
    assert text[size.span.start : size.span.end].startswith("def size") and size.docstring is not None
    assert text[size.body.start : size.body.end] == "return len([x for x in self.all if x and x > 1])"
    assert text[outer.body.start : outer.body.end].startswith("@deco") and outer.span.end == len(text) - 1
    assert functions(SourceFile("b.py", "def broken(:\n", "utf-8", False)) == []


def test_a_hidden_name_is_asked_for_in_every_style() -> None:
    code = "def bill(total):\n    price = total * 2\n    return price"
    at = code.index("total *")
    gap = mask_prompt(code, at, 5, lambda _: True, "fill-in-the-middle").infill
    assert gap is not None and gap.before + "total" + gap.after == code
    chat = mask_prompt(code, at, 5, lambda _: True, "chat")
    assert f"price = {MASK} * 2" in chat.messages[-1].content and chat.prefill.endswith("    price =")
    written_on = mask_prompt(code, at, 5, lambda _: True, "code")
    (plain,) = written_on.messages
    assert plain.content.endswith("#     return price\n# The function:\ndef bill(total):\n    price =")
    assert MASK not in plain.content
    assert extract_name(" total * 2", written_on).text == "total" and extract_name("(3)", written_on).text == ""


def test_what_a_run_costs_counts_what_models_make() -> None:
    kind = task("cosmetic")
    whole = kind.samples(RunSettings(task="cosmetic"))
    assert whole == {Role.COMPLETE: 70, Role.FORWARD: 6, Role.BACKWARD: 6}
    names = RunSettings(task="cosmetic", cosmetic=CosmeticSettings(describe=False, positions=3, draws=2))
    assert sum(kind.samples(names).values()) == 12 * 3
