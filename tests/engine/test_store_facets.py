"""Scores split by what items are: language, size, kind of change."""

from __future__ import annotations

import sqlite3
from dataclasses import fields, replace
from pathlib import Path

import pytest
from factories import fill_store, settle

from rtc_inspector.core.generation import Extraction as Text
from rtc_inspector.core.generation import Role, Sample
from rtc_inspector.core.metrics.statistics import interval
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.types import Item, Outcome, Span, Verdict

ITEM = Item("k", "edit", "a.go", Span(0, 4), 1, 1, "new", old_text="old", origin={"commit": "abc", "message": "Fix é"})
SAMPLE = Sample(Role.BACKWARD, 0, "prompt", 1, 0.0, "raw", Text("new"), 1, 1, 0.1, "stop")


@pytest.fixture
def filled(tmp_path: Path) -> tuple[Path, int]:
    path = tmp_path / "runs.db"
    with Store.open(path, interval) as store:
        run = fill_store(store, tmp_path / "project", items=3, seed=1)
        for key, language, outcome in (("1", "Go", "pass"), ("2", "Go", "fail"), ("3", "C", "pass")):
            facets = {"language": language, "size": "1 line"}
            item = store.add_item(run, replace(ITEM, key=key, facets=facets))
            sample = store.add_sample(item, None, SAMPLE)
            store.add_verdict(sample, Verdict(Outcome(outcome), 0.1))
        settle(store, run)
    return path, run


def test_facets_and_origin_come_back(filled: tuple[Path, int]) -> None:
    with Store.open(filled[0]) as store:
        found = store.reader.drawn(filled[1])
        rows = {row.key: row for row in store.reader.items(filled[1])}
    item = replace(ITEM, key="1", facets={"language": "Go", "size": "1 line"})
    assert all(getattr(found["1"], field.name) == getattr(item, field.name) for field in fields(Item))
    assert rows["1"].origin == {"commit": "abc", "message": "Fix é"}


def test_scores_by_facet_have_intervals(filled: tuple[Path, int]) -> None:
    with Store.open(filled[0], interval) as store:
        rows = {(row.facet, row.value): row for row in store.reader.facets(filled[1])}
    assert {key: (row.items, row.scores["rtc"].value) for key, row in rows.items()} == {
        ("language", "C"): (1, 1.0),
        ("language", "Go"): (2, 0.5),
        ("size", "1 line"): (3, pytest.approx(2 / 3)),
    }
    go = rows["language", "Go"].scores["rtc"]
    assert go.low is not None and go.high is not None and go.low < 0.5 < go.high


def test_the_view_says_the_same(filled: tuple[Path, int]) -> None:
    db = sqlite3.connect(filled[0])
    rows = db.execute("SELECT value, items, rtc FROM facet_scores WHERE run_id = ? AND facet = 'language'", filled[1:])
    assert rows.fetchall() == [("C", 1, 1.0), ("Go", 2, 0.5)]
    db.close()
