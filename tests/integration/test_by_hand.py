"""A person's own words and a person's own selection, on a real run of a real model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from projects import write_shop

from rtc_inspector.core.errors import ProjectError, UserError
from rtc_inspector.core.run import by_hand, pipeline
from rtc_inspector.core.run.estimate import estimate, try_pace
from rtc_inspector.core.run.events import Control, Event, ItemReady, Progress, TextStreamed
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.settings import ModelSettings, OracleSettings, RunSettings
from rtc_inspector.core.store.rows import TRIAL, SampleRow
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.types import Item, Span

SETTINGS = RunSettings(
    regions=1,
    forward_samples=1,
    forward_max_tokens=8,
    backward_max_tokens=8,
    seed=3,
    generation=ModelSettings(context_size=1024),
)
WHOLE = ("shop.py", "    best = None\n    for name")
TEST = ("tests/test_shop.py", "assert total([1")


@dataclass
class Finished:
    """A run of one region, and what was said while something was tried on it."""

    root: Path
    store: Store
    id: int
    settings: RunSettings
    said: list[Event] = field(default_factory=list)

    def describe(self, text: str, author: str = "Ann") -> list[SampleRow]:
        item = next(item for item in self.store.reader.items(self.id) if item.admitted and not item.extra)
        by_hand.describe(self.id, item.id, text, author, self.store, self.said.append, Control())
        return self.store.reader.samples(item.id)

    def probe(self, path: str, words: str) -> Item:
        return by_hand.probe(self.id, path, self.span(path, words), self.store, self.said.append, Control())

    def span(self, path: str, words: str) -> Span:
        start = (self.root / path).read_text().index(words)
        return Span(start, start + len(words))


@pytest.fixture(scope="module")
def finished(small_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finished]:
    folder = tmp_path_factory.mktemp("by-hand")
    with pytest.MonkeyPatch.context() as patch, open_store(folder / "runs.sqlite") as store:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        root = write_shop(folder / "shop")
        settings = replace(SETTINGS, model=str(small_model))
        end = pipeline.start(settings, root, store, lambda event: None, Control())
        yield Finished(root, store, end.run_id, settings)


def test_own_words_are_written_again_judged_and_not_counted(finished: Finished) -> None:
    before = finished.store.reader.run(finished.id)
    samples = finished.describe(" Add the prices up. ")
    own = next(sample for sample in samples if sample.author == "Ann")
    assert (own.role, own.text, own.finish_reason, own.index) == ("forward", "Add the prices up.", "written", 1)
    (code,) = [sample for sample in samples if sample.parent_id == own.id]
    assert (code.role, code.author) == ("backward", "model")
    assert code.verdict is not None and code.scores
    assert "Add the prices up." in finished.store.reader.prompt(code.prompt_hash)
    streamed = [event for event in finished.said if isinstance(event, TextStreamed)]
    assert streamed and {event.parent for event in streamed} == {own.id}
    after = finished.store.reader.run(finished.id)
    assert replace(after, changes=before.changes) == before


def test_every_own_description_has_a_place_of_its_own(finished: Finished) -> None:
    indices = [sample.index for sample in finished.describe("Two.") if sample.role == "forward"]
    assert indices == list(range(len(indices)))
    assert len(indices) >= 2


def test_names_that_mean_something_and_empty_words_are_refused(finished: Finished) -> None:
    for name in ("Model", "commit", "comment"):
        with pytest.raises(UserError, match=f"under the name '{name}'"):
            finished.describe("Add up.", name)
    with pytest.raises(UserError, match="empty"):
        finished.describe(" \n")


def test_a_selection_is_tried_as_an_extra_of_the_run(finished: Finished) -> None:
    before = finished.store.reader.run(finished.id)
    finished.said.clear()
    item = finished.probe(*WHOLE)
    assert item.admitted, item.reason
    assert item.tests
    ready = next(event for event in finished.said if isinstance(event, ItemReady))
    row = finished.store.reader.item(ready.item_id)
    assert (row.extra, row.state, row.measures["judged"]) == (True, "done", 1)
    after = finished.store.reader.run(finished.id)
    assert replace(after, changes=before.changes) == before
    made = len(finished.store.reader.samples(ready.item_id))
    assert finished.probe(*WHOLE) == item
    assert len(finished.store.reader.samples(ready.item_id)) == made, "nothing is made twice"


def test_checking_asks_no_model(finished: Finished) -> None:
    path, words = WHOLE
    item = by_hand.check(finished.root, path, finished.span(path, words), OracleSettings(), ignore, Control())
    assert item.admitted and item.extra and item.tests


def test_tests_and_blank_lines_cannot_be_selected(finished: Finished) -> None:
    with pytest.raises(UserError, match="belongs to the tests"):
        finished.probe(*TEST)
    path, _ = WHOLE
    blank = (finished.root / path).read_text().index("\n\n") + 1
    with pytest.raises(UserError, match="No statement"):
        by_hand.check(finished.root, path, Span(blank, blank), OracleSettings(), ignore, Control())


def test_a_changed_project_takes_nothing_more(finished: Finished) -> None:
    file = finished.root / WHOLE[0]
    text = file.read_text()
    file.write_text(text + "\n# changed\n")
    try:
        with pytest.raises(ProjectError, match="have changed"):
            finished.describe("Add up.")
    finally:
        file.write_text(text)


def test_without_a_run_a_selection_gets_one_of_its_own(finished: Finished) -> None:
    path, words = WHOLE
    span = finished.span(path, words)
    item = by_hand.probe_alone(finished.settings, finished.root, path, span, finished.store, ignore, Control())
    run = finished.store.reader.runs()[-1]
    assert (run.name, run.status, run.items_admitted, run.headline.value) == (by_hand.NAME, "finished", 0, None)
    (row,) = finished.store.reader.items(run.id)
    assert (row.key, row.extra, row.state) == (item.key, True, "done")
    assert pipeline.resume(run.id, finished.store, ignore, Control()).status == "finished", "there is nothing to do"


def ignore(event: Event) -> None:
    """Nobody listens."""


def test_a_trial_tells_how_fast_a_run_would_go_and_keeps_nothing(finished: Finished) -> None:
    said: list[Event] = []
    stored = finished.store.reader.runs()
    found = try_pace(finished.settings, finished.root, said.append, Control())
    assert found is not None and (found.run_id, found.samples) == (TRIAL, 3) and found.seconds > 0
    cost = estimate(replace(finished.settings, regions=10), [found])
    assert cost.trial and cost.seconds is not None and cost.tokens is not None
    assert said and all(isinstance(event, Progress) for event in said)
    assert finished.store.reader.runs() == stored
