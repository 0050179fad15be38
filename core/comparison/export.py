"""A comparison as plain values: for JSON lines and CSV."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterable
from typing import Any, TextIO

from rtc_inspector.core.comparison.values import Comparison, Difference, Pair
from rtc_inspector.core.comparison.words import verdict
from rtc_inspector.core.kinds import task

Row = dict[str, Any]


def summary_row(comparison: Comparison) -> Row:
    """Everything but the single items."""
    kind = task(comparison.first.task)
    return {
        "reference": comparison.first.id,
        "run": comparison.second.id,
        "task": comparison.first.task,
        "verdict": verdict(comparison),
        "runs_compared": comparison.runs,
        "provisional": comparison.provisional,
        "items_left": comparison.left,
        kind.headline: _difference_row(comparison.headline),
        **({kind.secondary: _difference_row(comparison.secondary)} if kind.secondary else {}),
        "mcnemar": dataclasses.asdict(comparison.mcnemar) | {"p_adjusted": comparison.p_adjusted},
        "not_compared": dataclasses.asdict(comparison.leftover),
        "disagreements": len(comparison.disagreements),
        "settings": [dict(zip(("name", "reference", "run"), row, strict=True)) for row in comparison.settings],
        "files": [dataclasses.asdict(file) | {"difference": file.difference} for file in comparison.files],
    }


def pair_row(comparison: Comparison, pair: Pair) -> Row:
    """One common item; `first` is in the reference."""
    first, second = pair.first, pair.second
    kind = task(first.task)
    row = {
        "reference": comparison.first.id,
        "run": comparison.second.id,
        "key": first.key,
        "path": first.path,
        "start_line": first.start_line,
        "end_line": first.end_line,
        "reference_item": first.id,
        "run_item": second.id,
    }
    sides = (("reference", first), ("run", second))
    row |= {f"{side}_{name}": int(item.measures.get(name, 0)) for side, item in sides for name in kind.tally or ()}
    row |= {f"{side}_{kind.headline}": item.headline for side, item in sides} | {"difference": pair.difference}
    if kind.secondary:
        row |= {f"{side}_{kind.secondary}": item.secondary for side, item in sides}
        row[f"{kind.secondary}_difference"] = pair.secondary
    return row


def write_pairs_csv(comparisons: Iterable[Comparison], stream: TextIO) -> int:
    """A header and one record a common item of each comparison, at least one, in a stream opened with `newline=""`.

    Return the number of records. Raises OSError.
    """
    rows = [pair_row(each, pair) for each in comparisons for pair in each.pairs]
    writer = csv.DictWriter(stream, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return len(rows)


def _difference_row(difference: Difference) -> Row:
    judged = difference.judged
    least, most = (judged.further if judged else None) or (None, None)
    return {
        "items": difference.items,
        "few": difference.score.few,
        "reference": difference.first.value,
        "run": difference.second.value,
        "difference": difference.score.value,
        "ci_low": difference.score.low,
        "ci_high": difference.score.high,
        "p_adjusted": judged.p if judged else None,
        "decided": difference.decided,
        "detectable": judged.detectable if judged else None,
        "more_items_least": least,
        "more_items_most": most,
    }
