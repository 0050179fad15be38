"""One self-contained HTML page about compared runs: verdicts, scatter, files, disagreements side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rtc_inspector.core.analyses.compared import scatter
from rtc_inspector.core.comparison import words
from rtc_inspector.core.comparison.values import Comparison, Pair
from rtc_inspector.core.kinds import task
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.ui.report.page import small_enough, template, write_page
from rtc_inspector.ui.report.svg import drawn
from rtc_inspector.ui.report.traces import Trip, edit_rows, trips


@dataclass(frozen=True)
class ShownPair:
    """One item with its traces in both runs. `edit`: rows of what people changed."""

    pair: Pair
    first: list[Trip]
    second: list[Trip]
    edit: list[dict[str, Any]]


def write_comparison(reader: Reader, comparisons: Sequence[Comparison], out: Path) -> None:
    """Write the page. Raises StoreError, and UserError when `out` cannot be written."""
    write_page(small_enough(partial(_render, reader, comparisons)), out)


def _render(reader: Reader, comparisons: Sequence[Comparison], shown: int) -> str:
    return template("comparison.html.jinja").render(
        comparisons=[
            {
                "all": each,
                "scatter": drawn(scatter(each)),
                "pairs": [_shown(reader, pair) for pair in each.disagreements[:shown]],
                "disagreements": len(each.disagreements),
            }
            for each in comparisons
        ],
        words=words,
        noun=task(comparisons[0].first.task).noun,
        project=comparisons[0].first.project_name,
    )


def _shown(reader: Reader, pair: Pair) -> ShownPair:
    # The item is the same in both runs, and so is what people changed.
    edit = edit_rows(pair.first)
    return ShownPair(pair, trips(reader, pair.first), trips(reader, pair.second), edit)
