"""A stored editing run over a real history: real edits, verdicts and scores; what the model said is made up."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from factories import model_info, settle, suite
from histories import Builder

from rtc_inspector.core.generation import Extraction, Role, Sample
from rtc_inspector.core.kinds import configured
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import EditSettings, RunSettings
from rtc_inspector.core.store.rows import ItemRow, RunRow
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.trips.editing import EditingTrip
from rtc_inspector.core.trips.protocol import Opened, opener
from rtc_inspector.core.types import Item

LINES = [f"value_{n} = compute({n}, 'name {n}')" for n in range(30)]


@dataclass(frozen=True)
class StoredEdits:
    """A repository and the run on it."""

    root: Path
    database: Path
    run_id: int

    def run(self) -> RunRow:
        with open_reader(self.database) as reader:
            return reader.run(self.run_id)

    def items(self) -> list[ItemRow]:
        with open_reader(self.database) as reader:
            return reader.items(self.run_id)


def history(root: Path, commits: int = 8) -> Builder:
    """A repository in which every commit changes one line of one of two files; none of them is Python's."""
    builder = Builder(root)
    files = {"src/lib.c": list(LINES), "web/app.js": list(LINES)}
    builder.commit({path: "\n".join(lines) + "\n" for path, lines in files.items()}, "Begin")
    for n in range(commits):
        path = ("src/lib.c", "web/app.js")[n % 2]
        files[path][n + 4] = f"value_{n + 4} = improved({n}, 'name {n}')"
        builder.commit({path: "\n".join(files[path]) + "\n"}, f"Improve value {n + 4}\n\nIt was too slow.")
    return builder


def store_edits(root: Path, database: Path, edits: int = 6, file: Path | None = None) -> StoredEdits:
    """Sample edits of the history at `root`, or of a file, and store a finished run of them."""
    source = EditSettings(file=str(file) if file else None)
    settings = configured(RunSettings(regions=edits, forward_samples=2, edit=source), "editing")
    with ExitStack() as stack, open_store(database) as store:
        opened = opener("editing")(stack, root, settings, _unheard, _unheard)
        project = store.add_project(root.resolve(), root.name, opened.revision, dirty=False)
        info = model_info()
        run_id = store.start_run(
            project, opened.settings, info, info, sandbox=opened.oracle, image_digest="", app_version="0.1.0",
            fingerprint=opened.fingerprint, suite=suite(0),
        )  # fmt: skip
        for number, item in enumerate(opened.trip.items(edits, 0, {}, _unheard)):
            _fill(store, opened, run_id, item, number)
        settle(store, run_id)
        store.finish_run(run_id, "finished", [])
    return StoredEdits(root.resolve(), database, run_id)


def _fill(store: Store, opened: Opened, run_id: int, item: Item, number: int) -> None:
    item_id = store.add_item(run_id, item)
    old = item.old_text or ""
    answers = (item.text, old, item.text.replace("improved", "better").replace("(", "( ", 1), old + "\nmore = 1")
    for index in range(2):
        words = f"Call the improved function ({index}), which takes the same arguments as the one before it."
        parent = store.add_sample(item_id, None, _sample(Role.FORWARD, index, words))
        store.add_scores(parent, trip(opened).description_scores(item, words))
        _judged(store, opened, item_id, parent, item, _sample(Role.BACKWARD, 0, answers[(number + index) % 4]))
    _judged(store, opened, item_id, None, item, _sample(Role.BASELINE, 0, old))


def _judged(store: Store, opened: Opened, item_id: int, parent: int | None, item: Item, sample: Sample) -> None:
    text = sample.extraction.text
    sample_id = store.add_sample(item_id, parent, sample)
    row = next(row for row in store.reader.samples(item_id) if row.id == sample_id)
    verdict = opened.trip.judge(item, row)
    assert verdict is not None
    store.add_verdict(sample_id, verdict)
    store.add_scores(sample_id, trip(opened).code_scores(item, text))


def trip(opened: Opened) -> EditingTrip:
    """The opened trip as what it is."""
    assert isinstance(opened.trip, EditingTrip)
    return opened.trip


def _sample(role: Role, index: int, text: str) -> Sample:
    return Sample(
        role=role,
        index=index,
        prompt_text=f"Prompt of {role}",
        seed=1,
        temperature=1.0 if role is Role.FORWARD else 0.0,
        raw_text=text,
        extraction=Extraction(text, ()),
        prompt_tokens=300,
        completion_tokens=30,
        seconds=0.5,
        finish_reason="stop",
        recitation=0.0 if role is Role.FORWARD else None,
    )


def _unheard(*_: object) -> None:
    """Nobody listens."""
