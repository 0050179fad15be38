"""Figures for programs: as JSON, and as tables of comma-separated values."""

from __future__ import annotations

import csv as csv_format
import dataclasses
import io
from collections.abc import Mapping, Sequence
from typing import Any

from rtc_inspector.core.figures import Bars, Estimate, Figure, Grid, Histogram, Lines, Link, Scatter, Table
from rtc_inspector.core.figures.reading import bins


def to_json(figure: Figure) -> dict[str, Any]:
    """The line of `analyse --json`: `figure`, `kind`, `title`, `data`. What is not defined is left out.

    A histogram has its `bins` in `data` as well, a bar chart and the others what their classes hold.
    """
    data = _plain({field.name: getattr(figure, field.name) for field in dataclasses.fields(figure)})
    del data["name"], data["title"], data["short"]
    if isinstance(figure, Histogram):
        data["bins"] = [_plain(each) for each in bins(figure)]
    return {"figure": figure.name, "kind": figure.kind, "title": figure.title, "data": data}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items() if each is not None}
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


Plain = str | float | None
"""What a cell of an exported table holds."""


def as_rows(figure: Figure) -> list[list[Plain]]:
    """The figure as a table, its heading first: what is exported, and what a terminal shows in place of a drawing."""
    heads: list[Plain]
    if isinstance(figure, Lines):
        return _line_rows(figure)
    if isinstance(figure, Scatter):
        heads = ["name", *_bounded(figure.x.label), *_bounded(figure.y.label), "count", *_IDS]
        return [heads, *([p.name, *_three(p.x), *_three(p.y), p.count, *_ids(p.links)] for p in figure.points)]
    if isinstance(figure, Bars):
        heads = [figure.categories.label, "group", *_bounded(figure.y.label), *_IDS]
        return [heads, *([b.category, b.group, *_three(b.value), *_ids(b.links)] for b in figure.bars)]
    if isinstance(figure, Histogram):
        heads = [figure.x.label, "group", *_IDS]
        return [heads, *([v.value, v.group, *_ids((v.link,) if v.link else ())] for v in figure.values)]
    if isinstance(figure, Grid):
        heads = [figure.rows.label, figure.columns.label, *_bounded(figure.scale.label), "n", "text", *_IDS]
        cells = ([c.row, c.column, *_three(c.value), c.value.n, c.text, *_ids(c.links)] for c in figure.cells)
        return [heads, *cells]
    return _table_rows(figure) if isinstance(figure, Table) else [["text"], [figure.text]]


_IDS = ("run", "item", "sample")


def _bounded(label: str) -> list[Plain]:
    return [label, f"{label} low", f"{label} high"]


def _three(estimate: Estimate) -> list[Plain]:
    return [estimate.value, estimate.low, estimate.high]


def _ids(links: Sequence[Link]) -> list[Plain]:
    """The ids of what is behind a mark, where that is one thing: several cannot stand in one row."""
    only = links[0] if len(links) == 1 else Link()
    return [only.run, only.item, only.sample]


def _line_rows(figure: Lines) -> list[list[Plain]]:
    """One row for each x, one group of columns for each line."""
    by_x: dict[float, dict[str, Estimate]] = {}
    for series in figure.series:
        for point in series.points:
            if point.x.value is not None:
                by_x.setdefault(point.x.value, {})[series.name] = point.y
    heads: list[Plain] = [figure.x.label]
    for series in figure.series:
        heads += _bounded(series.name)
    rows = [heads]
    for x in sorted(by_x):
        values = (value for each in figure.series for value in _three(by_x[x].get(each.name, Estimate())))
        rows.append([x, *values])
    return rows


def _table_rows(figure: Table) -> list[list[Plain]]:
    """A column that holds an estimate has its bounds beside it."""
    wide = [any(isinstance(row.cells[at], Estimate) for row in figure.rows) for at in range(len(figure.columns))]
    rows: list[list[Plain]] = [[]]
    for column, bounded in zip(figure.columns, wide, strict=True):
        rows[0] += _bounded(column.label) if bounded else [column.label]
    for row in figure.rows:
        made: list[Plain] = []
        for cell, bounded in zip(row.cells, wide, strict=True):
            if isinstance(cell, Estimate):
                made += _three(cell)
            else:
                made += [cell, None, None] if bounded else [cell]
        rows.append(made)
    return rows


def csv(figure: Figure) -> str:
    """`as_rows` as comma-separated values; an empty field for what is not defined, fractions to six places."""
    stream = io.StringIO(newline="")
    writer = csv_format.writer(stream, lineterminator="\n")
    for row in as_rows(figure):
        writer.writerow("" if cell is None else f"{cell:.6f}" if isinstance(cell, float) else cell for cell in row)
    return stream.getvalue()
