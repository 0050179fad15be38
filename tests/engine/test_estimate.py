"""What a run costs, by what stored runs took: counted, measured, and silent where nothing was measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from factories import fill_store
from sqlite_utils import Database

from rtc_inspector.core.platform import usable_cores
from rtc_inspector.core.run.estimate import estimate
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import ModelSettings, RunSettings, share_cores
from rtc_inspector.core.store.rows import TRIAL, PaceRow

SETTINGS = RunSettings(model="/m.gguf", regions=10)


def pace(seconds: float, settings: RunSettings = SETTINGS) -> PaceRow:
    return PaceRow(1, settings, samples=70, seconds=70 * seconds, tokens=7_000, parts=(seconds,), drawing=2.0)


def test_without_a_run_of_these_models_nothing_but_counts_is_claimed() -> None:
    others = (
        replace(SETTINGS, model="/other.gguf"),
        replace(SETTINGS, task="editing"),
        replace(SETTINGS, backward_model="/n.gguf"),
        replace(SETTINGS, generation=ModelSettings(threads=1000)),
    )
    cost = estimate(SETTINGS, [pace(1.0, other) for other in others])
    assert cost.made == {"forward": 30, "backward": 30, "baseline": 10} and cost.samples == 70
    assert (cost.seconds, cost.low, cost.high, cost.tokens, cost.runs) == (None, None, None, None, 0)


def test_minutes_and_tokens_follow_the_newest_runs_alike() -> None:
    cost = estimate(SETTINGS, [pace(1.0), pace(2.0), pace(3.0), pace(99.0)])
    assert cost.seconds == pytest.approx(10 * 2.0 + 70 * 2.0)
    assert (cost.low, cost.high, cost.runs, cost.like) == (20 + 70, 20 + 210, 3, True)
    assert cost.tokens == 7_000


def test_a_stored_run_tells_the_threads_that_were_left_open() -> None:
    stored = share_cores(SETTINGS, usable_cores())
    assert stored.generation.threads is not None and SETTINGS.generation.threads is None
    assert estimate(SETTINGS, [pace(1.0, stored)]).runs == 1


def test_runs_that_sampled_otherwise_are_used_only_where_there_is_nothing_better() -> None:
    other = replace(SETTINGS, forward_samples=1)
    assert not estimate(SETTINGS, [pace(4.0, other)]).like
    assert estimate(SETTINGS, [pace(4.0, other), pace(1.0)]).seconds == pytest.approx(20 + 70)


def test_a_trial_counts_only_where_no_run_was_made() -> None:
    trial = replace(pace(9.0), run_id=TRIAL, samples=7)
    alone = estimate(SETTINGS, [trial])
    assert (alone.trial, alone.measured) == (True, 7)
    both = estimate(SETTINGS, [pace(1.0), trial])
    assert (both.trial, both.measured, both.seconds) == (False, 70, pytest.approx(20 + 70))
    otherwise = pace(1.0, replace(SETTINGS, forward_samples=1))
    assert estimate(SETTINGS, [otherwise, trial]).trial


def test_the_pace_of_a_stored_run_adds_up_to_its_time_and_leaves_pauses_out(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with open_store(path) as store:
        run_id = fill_store(store, tmp_path / "project", 12, 3)
    stamp = "2026-01-01T{:02}:{:02}:{:02}.000+00:00".format
    with Database(path).conn as db:
        db.execute("UPDATE runs SET started_at = ?", (stamp(10, 0, 0),))
        db.execute("UPDATE items SET added_at = ?", (stamp(10, 0, 12),))
        items = [row[0] for row in db.execute("SELECT id FROM items WHERE admitted ORDER BY id")]
        for place, item in enumerate(items):
            hour = 10 if place < 6 else 15  # paused for hours in between
            db.execute("UPDATE samples SET made_at = ? WHERE item_id = ?", (stamp(hour, place + 1, 12), item))
    with open_reader(path) as reader:
        (row,) = reader.paces()
        run = reader.run(run_id)
    assert row.settings.model == "/models/TinyCoder-1B-Q4_K_M.gguf"
    assert row.seconds == pytest.approx(60.0 * (len(items) - 1))
    assert row.samples == 7 * (len(items) - 1) == run.samples - 7
    assert row.drawing == pytest.approx(12.0 / len(items))
    assert len(row.parts) == (len(items) - 1) // 3 == 3 and all(part == pytest.approx(60 / 7) for part in row.parts)


def test_a_run_without_samples_says_nothing_of_speed(tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.sqlite") as store:
        fill_store(store, tmp_path / "project", 0, 3)
    with open_reader(tmp_path / "runs.sqlite") as reader:
        assert reader.paces() == []
