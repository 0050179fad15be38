"""How fast stored runs went, from the times at which their items and samples were stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from statistics import median
from typing import Any

from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.store.rows import PaceRow

Row = Mapping[str, Any]
PARTS, REGIONS_OF_PART = 4, 3
PAUSE = 5.0
"""A region that took this many times the median was not worked on all the time: the run was paused, or resumed."""

RUNS = "SELECT id, config, started_at FROM runs WHERE hidden_at IS NULL ORDER BY id DESC LIMIT ?"
ITEMS = """
    SELECT sum(admitted) AS admitted, max(added_at) AS last FROM items WHERE run_id = ? AND NOT extra
"""
SAMPLES = """
    SELECT item_id, max(made_at) AS made_at, count(*) AS samples, sum(tokens) AS tokens, sum(written) AS written FROM (
        SELECT s.item_id, s.made_at, s.prompt_tokens + s.completion_tokens AS tokens,
            s.completion_tokens AS written
        FROM items i JOIN samples s ON s.item_id = i.id AND s.author = 'model' AND s.error = ''
        WHERE i.run_id = ? AND NOT i.extra
    ) GROUP BY item_id ORDER BY made_at LIMIT 500
"""
"""One row a region: when its last sample came, and what was made until then."""


def pace(run: Row, items: Row, regions: Sequence[Row], settings: RunSettings) -> PaceRow | None:
    """Return how fast one run went, or None where too little came of it to say."""
    if not items["admitted"] or not regions:
        return None
    drawn, began = _time(items["last"]), _time(run["started_at"])
    times = [drawn, *(_time(row["made_at"]) for row in regions)]
    spans = [(later - earlier, row) for earlier, later, row in zip(times, times[1:], regions, strict=False)]
    kept = [(seconds, row) for seconds, row in spans if 0 < seconds <= PAUSE * median(s for s, _ in spans)]
    if not kept:
        return None
    samples = sum(row["samples"] for _, row in kept)
    return PaceRow(
        run_id=run["id"],
        settings=settings,
        samples=samples,
        seconds=sum(seconds for seconds, _ in kept),
        tokens=sum(row["tokens"] for _, row in kept),
        parts=tuple(_parts(kept)),
        drawing=max(drawn - began, 0.0) / items["admitted"],
        written=sum(row["written"] for _, row in kept),
    )


def _parts(kept: Sequence[tuple[float, Row]]) -> list[float]:
    """Return the seconds a sample took in each part of a run.

    Regions that are sampled together end together, so a part has several.
    """
    count = max(min(PARTS, len(kept) // REGIONS_OF_PART), 1)
    numbered = groupby(enumerate(kept), key=lambda pair: pair[0] * count // len(kept))
    parts = [[each for _, each in group] for _, group in numbered]
    return [sum(seconds for seconds, _ in part) / sum(row["samples"] for _, row in part) for part in parts]


def _time(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
