"""The paper's worked examples: given what its models wrote, our scores are its figures (Appendix C)."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import pytest
from paper_edits import EXAMPLES, Example
from replaying import Replay

from rtc_inspector.core.kinds import configured
from rtc_inspector.core.metrics.statistics import interval
from rtc_inspector.core.run.events import Control, Event, VerdictReady
from rtc_inspector.core.run.growing import Growing, Work
from rtc_inspector.core.run.opening import Pace, Parts, Run
from rtc_inspector.core.settings import EditSettings, RunSettings
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.trips.protocol import opener


def passed_through(example: Example, folder: Path) -> tuple[Store, list[Event], Replay]:
    """One edit through the real passes, judge and store, with the paper's answers in the model's place."""
    file = folder / "edits.jsonl"
    fields = {"old": example.old, "new": example.new, "comment": example.comment, "path": example.path}
    file.write_text(json.dumps(fields))
    settings = configured(RunSettings(regions=1, edit=EditSettings(file=str(file))), "editing")
    codes = {**example.predictions, example.comment: example.from_comment, "Edit.\n": example.old}
    model = Replay(list(example.predictions), codes)
    store = Store.open(folder / "runs.db", interval)
    events: list[Event] = []
    with ExitStack() as stack:
        opened = opener("editing")(stack, folder, settings, events.append, lambda *_: None)
        project = store.add_project(opened.root, "paper", None, False)
        model_info = model.info
        run_id = store.start_run(
            project, settings, model_info, model_info, opened.oracle, "", "0", opened.fingerprint, opened.suite
        )
        run = Run(run_id, settings, Parts(opened, model, model), store, events.append, Control())
        works = [Work(store.add_item(run_id, item), item) for item in run.parts.trip.items(1, 0, {}, lambda *_: None)]
        Growing(run, Pace(8, 0)).grow(works)
        store.finish_run(run_id, "finished", [])
    return store, events, model


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.path)
def test_figures_of_the_paper(example: Example, tmp_path: Path) -> None:
    store, _, _ = passed_through(example, tmp_path)
    with store:
        run = store.reader.run(1)
        unchanged = store.reader.score(1, "unchanged")[0].value
        described = [row.scores.get("description_bleu") for row in store.reader.samples(1) if row.role == "forward"]
    assert run.headline.value is not None and run.secondary.value is not None
    assert round(100 * run.headline.value, 3) == example.rtc
    assert round(100 * run.secondary.value, 3) == example.rtc, "the baseline copies, so it never matches"
    assert unchanged == pytest.approx(example.unchanged)
    assert run.scores["from_reference"].value == float(example.from_comment == example.new)
    found = [round(100 * value, 3) for value in described if value is not None]
    assert found == list(example.description_bleu)
    assert found == pytest.approx(example.printed_bleu or example.description_bleu, abs=0.02)
    mean = run.scores["description_bleu"].value
    assert mean == pytest.approx(sum(example.description_bleu) / 300, abs=1e-5)


def test_eleven_of_the_twelve_printed_figures_are_ours() -> None:
    ours = [figure for example in EXAMPLES for figure in example.description_bleu]
    printed = [figure for example in EXAMPLES for figure in example.printed_bleu or example.description_bleu]
    assert len(ours) == 12
    assert sum(one == other for one, other in zip(ours, printed, strict=True)) == 11


def test_copies_are_told_apart(tmp_path: Path) -> None:
    store, events, _ = passed_through(EXAMPLES[2], tmp_path)
    store.close()
    details = [event.verdict.detail for event in events if isinstance(event, VerdictReady)]
    assert sorted(details) == [
        "Differs from the new code from line 4 on.",
        "Equal to the new code.",
        "The old code came back unchanged.",
        "The old code came back unchanged.",
        "The old code came back unchanged.",
    ]


def test_what_the_comment_made_is_shown_and_not_counted(tmp_path: Path) -> None:
    store, _, model = passed_through(EXAMPLES[0], tmp_path)
    with store:
        rows = store.reader.samples(1)
        item = store.reader.items(1)[0]
    by_author = {row.id: row.author for row in rows}
    assert [(row.role, row.author, by_author.get(row.parent_id or 0)) for row in rows] == [
        ("forward", "model", None), ("backward", "model", "model"),
        ("forward", "model", None), ("backward", "model", "model"),
        ("forward", "model", None), ("backward", "model", "model"),
        ("forward", "comment", None), ("backward", "model", "comment"),
        ("baseline", "model", None),
    ]  # fmt: skip
    assert (item.tally, item.state, item.measures["baseline"]) == ("3/3", "done", 0.0)
    assert item.facets == {"language": "Go", "change": "call", "size": "1 line"}
    assert len({request.id for request in model.asked}) == len(model.asked) == 8


def test_temperatures_are_the_paper_s(tmp_path: Path) -> None:
    store, _, _ = passed_through(EXAMPLES[1], tmp_path)
    with store:
        heat = {(row.role, row.temperature) for row in store.reader.samples(1) if row.author == "model"}
    assert heat == {("forward", 1.0), ("backward", 0.0), ("baseline", 0.0)}
