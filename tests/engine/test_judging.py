"""Judging beside the model: what a kill or a stop in the middle of it costs."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from paper_edits import EXAMPLES
from replaying import Replay

from rtc_inspector.core.errors import Cancelled, ProjectError
from rtc_inspector.core.kinds import configured
from rtc_inspector.core.run.events import Control
from rtc_inspector.core.run.growing import Growing, Work
from rtc_inspector.core.run.opening import Pace, Parts, Run, record
from rtc_inspector.core.settings import EditSettings, OracleSettings, RunSettings
from rtc_inspector.core.store.rows import SampleRow
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.trips.editing import CommitTests, EditingTrip
from rtc_inspector.core.trips.protocol import opener
from rtc_inspector.core.types import Item, Outcome, Span, Verdict

EXAMPLE = EXAMPLES[0]
CODES = {**EXAMPLE.predictions, EXAMPLE.comment: EXAMPLE.from_comment, "Edit.\n": EXAMPLE.old}


def open_run(stack: ExitStack, folder: Path, store: Store) -> Run:
    """A run of one edit, with a model that answers as the paper's did."""
    file = folder / "edits.jsonl"
    file.write_text(json.dumps({"old": EXAMPLE.old, "new": EXAMPLE.new, "path": EXAMPLE.path}))
    settings = configured(RunSettings(regions=1, edit=EditSettings(file=str(file))), "editing")
    opened = opener("editing")(stack, folder, settings, print, lambda *_: None)
    parts = Parts(opened, *[Replay(list(EXAMPLE.predictions), CODES)] * 2)
    return Run(record(store, parts), settings, parts, store, lambda event: None, Control())


def draw(run: Run) -> None:
    """Whatever is missing of the run's one item."""
    (item,) = run.parts.trip.items(1, 0, {}, lambda *_: None)
    item_id = run.store.add_item(run.id, item)
    Growing(run, Pace(8, 0)).grow([Work(item_id, item)])


def test_scores_lost_between_verdict_and_kill_are_made_again(tmp_path: Path) -> None:
    with ExitStack() as stack, Store.open(tmp_path / "runs.db") as store:
        run = open_run(stack, tmp_path, store)
        draw(run)
        whole = [(row.id, row.verdict, row.scores) for row in store.reader.samples(1)]
        store._db.execute("DELETE FROM scores WHERE sample_id = (SELECT max(sample_id) FROM scores)")
        assert [(row.id, row.verdict, row.scores) for row in store.reader.samples(1)] != whole
        draw(run)
        assert [(row.id, row.verdict, row.scores) for row in store.reader.samples(1)] == whole


class Slow(EditingTrip):
    """An editing trip whose judge is busy until it is told to end."""

    busy, end = threading.Event(), threading.Event()

    def judge(self, item: Item, sample: SampleRow) -> Verdict:
        self.busy.set()
        assert self.end.wait(30)
        return super().judge(item, sample)


def test_a_stop_does_not_wait_for_the_judge(tmp_path: Path) -> None:
    with ExitStack() as stack, Store.open(tmp_path / "runs.db") as store:
        run = open_run(stack, tmp_path, store)
        run.parts.trip.__class__ = Slow
        stopping = threading.Thread(target=lambda: Slow.busy.wait(30) and run.control.stop())
        stopping.start()
        with pytest.raises(Cancelled):
            draw(run)
        assert not Slow.end.is_set()
        Slow.end.set()
        stopping.join()


def test_closing_the_tests_of_commits_leaves_nothing_to_do_for_who_waits(tmp_path: Path) -> None:
    """Two judges, one of them waiting for its turn: it must not write out another commit where all was removed."""
    written: list[Path] = []
    busy, go_on = threading.Event(), threading.Event()

    def export(commit: str, folder: Path) -> Path:
        written.append(folder)
        busy.set()
        assert go_on.wait(30)
        raise ProjectError("The commit is gone.", "Fetch it.")

    item = Item("k", "edit", "a.py", Span(0, 1), 1, 1, "x", old_text="y", origin={"commit": "c"})
    tests = CommitTests(export, OracleSettings(), lambda text: None, lambda *_: None)
    with ThreadPoolExecutor(3) as pool:
        first, second = pool.submit(tests.judge, item, "z"), pool.submit(tests.judge, item, "z")
        assert busy.wait(30)
        closing = pool.submit(tests.close)
        while not tests._closed.is_set():
            time.sleep(0.01)
        go_on.set()
        closing.result(30)
        assert [each.result(30).outcome for each in (first, second)] == [Outcome.INFRASTRUCTURE] * 2
    assert len(written) == 1 and not written[0].parent.exists()
