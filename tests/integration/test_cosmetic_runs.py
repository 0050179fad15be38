"""Cosmetic variance, whole: a made-up model behind a real server, rewrites judged by real tests, figures by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, ChatServer, chat_server, completion

from rtc_inspector.app.console import as_json
from rtc_inspector.core.analyses.analyse import analyse
from rtc_inspector.core.figures import Grid, Sentence, Table
from rtc_inspector.core.run.events import Control, RunFinished, SampleReady
from rtc_inspector.core.run.pipeline import resume, start
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import CosmeticSettings, EndpointSettings, RunSettings
from rtc_inspector.core.store.rows import ItemRow, SampleRow

SHOP = '''"""A shop."""


def bill(total, count):
    """Return what so many pieces cost."""
    price = total * count
    return price - total


def label(names):
    first = names[0]
    other = 3
    return [first] * other


def idle(names):
    names = list(names)
    return None


def never(names):
    return names[0]
'''
TESTS = """
from shop import bill, idle, label


def test_bill():
    assert bill(3, 5) == 12


def test_label():
    assert label("ab") == ["a", "a", "a"]


def test_idle():
    idle("ab")
"""


def shop(base: Path) -> Path:
    folder = base / "shop"
    folder.mkdir()
    (folder / "shop.py").write_text(SHOP)
    (folder / "test_shop.py").write_text(TESTS)
    return folder


@pytest.fixture
def project(tmp_path: Path, known: Path) -> Path:
    return shop(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, known: Path) -> tuple[Path, RunFinished]:
    """A project, and its run with all that is asked by default."""
    folder = shop(tmp_path_factory.mktemp("whole"))
    with chat_server(answer) as server:
        return folder, run(folder, server)


def answer(number: int, body: dict[str, Any]) -> Answer:
    """Knows one name, one description and the bodies as a person wrote them, whatever is asked."""
    question = str(body["messages"][-1]["content"])
    if "<MASK>" in question:
        shown = re.findall(r"```python\n(.*?)\n```", question, re.DOTALL)[-1]
        said = f"```python\n{shown.replace('<MASK>', 'total')}\n```"
    elif "# TODO" not in question:
        said = "Return what the pieces cost."
    else:
        is_bill = "def bill" in question and "def label" not in question.split("# TODO", 1)[0]
        said = "price = total * count\nreturn price - total" if is_bill else "return [names[0]] * 3"
        said = f"```python\n{said}\n```"
    return 200, completion(said, model="m"), {}


def run(project: Path, server: ChatServer, stop_after: int | None = None, **asked: Any) -> RunFinished:
    control, seen = Control(), []

    def emit(event: object) -> None:
        if isinstance(event, SampleReady):
            seen.append(event)
            if len(seen) == stop_after:
                control.stop()

    settings = RunSettings(
        task="cosmetic",
        regions=5,
        endpoint=EndpointSettings(server.address, concurrency=1, attempts=1),
        cosmetic=CosmeticSettings(**asked),
    )
    with open_store(project.parent / "runs.sqlite") as store:
        return start(settings, project, store, emit, control)


def stored(project: Path, run_id: int = 1) -> dict[str, tuple[ItemRow, list[SampleRow]]]:
    with open_reader(project.parent / "runs.sqlite") as reader:
        items = [item for item in reader.items(run_id) if item.admitted]
        return {item.origin["function"]: (item, reader.samples(item.id)) for item in items}


def made(samples: list[SampleRow], role: str) -> list[tuple[int, str]]:
    return sorted((sample.index, sample.text) for sample in samples if sample.role == role)


def test_variants_are_judged_and_every_version_is_asked_the_same(whole: tuple[Path, RunFinished]) -> None:
    project, finished = whole
    assert (finished.status, finished.items, finished.problems) == ("finished", 2, ())
    told = json.loads(as_json(finished) or "")
    assert "rtc" in told["measures"] and "rtc_pass" not in told, "there is no baseline to lift it from"
    found = stored(project)
    bill, samples = found["bill"]
    assert bill.text.startswith("def bill(total, count):") and bill.facets == {"complexity": "0-10", "branches": "1"}
    variants = [sample for sample in samples if sample.role == "transform"]
    assert [sample.author for sample in variants] == ["identity", "rename", "logging", "permute"]
    assert all(sample.verdict and sample.verdict.outcome == "pass" for sample in variants), (
        "tests follow a permuted call"
    )
    assert bill.origin["no swap"] and bill.origin["no document"] == "it has a docstring"
    # total three times, price twice, and count twice: seven names are hidden, and the model knows three of them.
    names = [sample for sample in samples if sample.role == "complete"]
    assert len(names) == 7 * 5
    measures = bill.measures
    assert measures["identifiers"] == measures["identifiers@identity"] == pytest.approx(3 / 7)
    assert measures["identifiers@logging"] == measures["identifiers@permute"] == pytest.approx(3 / 7)
    assert measures["identifiers@rename"] == 0, "what was called total is called something else"
    assert (measures["rtc"], measures["rtc@logging"], measures["rtc@rename"]) == (1, 1, 0)
    assert measures["rouge_l"] == pytest.approx(2 * 4 / 11)
    assert measures["same_meaning"] == 1 and (measures["tried:rename"], measures["kept:rename"]) == (1, 1)
    assert measures["noise"] == 0
    changes = [0, 0, 0, -3 / 7, 0, -1, 0, 0, 0]  # three kinds of variants, three tasks
    assert measures["change"] == pytest.approx(sum(changes) / len(changes))

    label, samples = found["label"]
    assert [sample.author for sample in samples if sample.role == "transform"] == [
        "identity", "rename", "logging", "swap", "document",
    ]  # fmt: skip
    documented = next(sample for sample in samples if sample.author == "document")
    assert '"""Return what the pieces cost."""' in documented.text
    assert "rouge_l" not in label.measures, "nobody wrote what it does"
    swapped = next(sample.text for sample in samples if sample.author == "swap")
    assert swapped.index("other = 3") < swapped.index("first = names[0]")


def test_functions_that_no_test_notices_are_dropped(whole: tuple[Path, RunFinished]) -> None:
    project, _ = whole
    with chat_server(answer) as server:
        finished = run(project, server, identifiers=False, describe=False)
        assert server.asked == []
    with open_reader(project.parent / "runs.sqlite") as reader:
        items = reader.items(finished.run_id)
        dropped = {item.origin["function"]: item.reason for item in items if not item.admitted}
    assert dropped == {"idle": "deleting it changes no test result"}


def test_a_rewrite_that_changes_the_meaning_is_told_and_asked_nothing(project: Path) -> None:
    (project / "shop.py").write_text(SHOP.replace("    price = total", "    log.append(total)\n    price = total"))
    text = (project / "shop.py").read_text()
    (project / "shop.py").write_text(text.replace('"""A shop."""', '"""A shop."""\n\nimport inspect\n\nlog = []'))
    tests = (
        TESTS + "\n\ndef test_names():\n    import inspect, shop\n    assert 'total' in inspect.getsource(shop.bill)\n"
    )
    (project / "test_shop.py").write_text(tests.replace("'total'", "'to' + 'tal'"))
    with chat_server(answer) as server:
        run(project, server)
    bill, samples = stored(project)["bill"]
    renamed = next(sample for sample in samples if sample.author == "rename")
    assert renamed.verdict is not None and renamed.verdict.outcome == "fail"
    assert not [sample for sample in samples if sample.parent_id == renamed.id]
    assert bill.measures["kept:rename"] == 0 and "identifiers@rename" not in bill.measures
    with open_reader(project.parent / "runs.sqlite") as reader:
        table = next(figure for figure in analyse(reader, [1], "marginals") if figure.name == "meanings")
    assert isinstance(table, Table)
    assert ("rename", 2, 1) in [row.cells[:3] for row in table.rows]


def test_resumed_it_ends_as_if_it_had_never_stopped(whole: tuple[Path, RunFinished]) -> None:
    project, _ = whole
    with chat_server(answer) as server:
        begun = run(project, server, stop_after=9)
        assert begun.status == "interrupted"
        with open_store(project.parent / "runs.sqlite") as store:
            assert resume(begun.run_id, store, lambda event: None, Control()).status == "finished"
    first, resumed = stored(project, 1), stored(project, begun.run_id)
    for name, (item, samples) in first.items():
        other, others = resumed[name]
        assert other.measures == item.measures
        for role in ("transform", "complete", "forward", "backward"):
            assert made(others, role) == made(samples, role)


def test_two_transformations_together_are_variants_of_their_own(whole: tuple[Path, RunFinished]) -> None:
    project, _ = whole
    with chat_server(answer) as server:
        finished = run(project, server, describe=False, together=True, widest_first=True, positions=2)
    assert (finished.status, finished.problems) == ("finished", ())
    found = stored(project, finished.run_id)
    authors = {name: [row.author for row in samples if row.role == "transform"] for name, (_, samples) in found.items()}
    assert authors["bill"][4:] == ["rename + logging", "rename + permute", "logging + permute"]
    assert authors["label"][4:] == ["rename + logging", "rename + swap", "logging + swap"]
    item, samples = found["label"]
    both = next(row for row in samples if row.author == "rename + swap")
    alone = {row.author: row.text for row in samples if row.role == "transform"}
    assert both.verdict is not None and both.verdict.outcome == "pass"
    assert both.text.index("= 3") < both.text.index("[0]"), "swapped"
    assert both.text not in (alone["swap"], alone["rename"]), "renamed as well"
    assert {"identifiers@rename + swap", "kept:rename + swap"} <= set(item.measures)
    with open_reader(project.parent / "runs.sqlite") as reader:
        figures = analyse(reader, [finished.run_id], "marginals")
    grid = next(each for each in figures if each.name == "marginal")
    assert isinstance(grid, Grid) and grid.columns.names[5:7] == ("rename + logging", "rename + swap")


def test_the_marginal_says_worse_and_opens_what_is_behind_it(whole: tuple[Path, RunFinished]) -> None:
    project, _ = whole
    found = stored(project)
    with open_reader(project.parent / "runs.sqlite") as reader:
        figures = {figure.name: figure for figure in analyse(reader, [1], "marginals", {"task": "identifiers"})}
        both = {figure.name: figure for figure in analyse(reader, [1], "marginals", {"columns": "measure"})}
    grid = figures["marginal"]
    assert isinstance(grid, Grid) and grid.centre == 0
    assert grid.columns.names == ("identity", "rename", "logging", "swap", "permute", "document")
    cells = {cell.column: cell for cell in grid.cells}
    assert cells["identity"].text.startswith("as good") and cells["identity"].faded
    renamed = cells["rename"]
    assert renamed.value.n == 2 and "worse" in renamed.text
    assert renamed.links[0].item == found["bill"][0].id, "the most changed first"
    assert isinstance(figures["summary"], Sentence) and "worse" in figures["summary"].text
    table = both["tests"]
    assert isinstance(table, Table)
    trips = next(row.cells for row in table.rows if row.cells[1] == "round trip")
    assert any("lost" in str(cell) for cell in trips)
    json.dumps([str(figure) for figure in figures.values()])
