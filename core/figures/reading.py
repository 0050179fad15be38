"""What a figure says: its bars, its marks, its values in words and in rows. All drawers and exports say the same."""

import csv as csv_format
import dataclasses
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rtc_inspector.core import figures as fig
from rtc_inspector.core.types import Estimate


@dataclass(frozen=True, slots=True)
class Bin:
    """A group's observations from `low` to `high`, equal where one value has its own bar; `share`: of the group."""

    low: float
    high: float
    group: str
    count: int
    share: float
    links: tuple[fig.Link, ...]

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2


MOST_VALUES = 13
"""Distinct values up to which each gets a bar of its own: RTC of three descriptions has only 0, 1/3, 2/3 and 1."""


def bins(figure: fig.Histogram) -> list[Bin]:
    """Return the bars of a histogram, group by group, from the left; empty ones are left out.

    A few distinct values get a bar each, so long as there is one group; else the bins are of one width.
    """
    # A third comes to 0.333... in several ways, and each would get a bar of its own.
    values = [round(each.value, 6) for each in figure.values]
    if not values:
        return []
    groups = groups_of(figure)
    distinct = sorted(set(values))
    if len(groups) == 1 and len(distinct) <= MOST_VALUES:
        edges = [(value, value) for value in distinct]
    else:
        low = figure.x.low if figure.x.low is not None else distinct[0]
        high = figure.x.high if figure.x.high is not None else distinct[-1]
        step = (high - low) / figure.most_bins or 1.0  # all values equal: one bin that starts there
        edges = [(low + step * at, low + step * (at + 1)) for at in range(figure.most_bins)]
    found = []
    for group in groups:
        placed: list[list[fig.Observation]] = [[] for _ in edges]
        for value, each in zip(values, figure.values, strict=True):
            if each.group == group:
                # The last bin holds its upper end, and values outside of the axis go to its ends.
                low, width = edges[0][0], edges[0][1] - edges[0][0]
                at = math.floor((value - low) / width + 1e-9) if width else distinct.index(value)
                placed[min(len(edges) - 1, max(0, at))].append(each)
        total = sum(map(len, placed))
        for (low, high), part in zip(edges, placed, strict=True):
            if part:
                links = tuple(each.link for each in part if each.link is not None)
                found.append(Bin(low, high, group, len(part), len(part) / total, links))
    return found


def groups_of(figure: fig.Histogram | fig.Bars) -> list[str]:
    """Return the groups, in the order they are drawn."""
    if isinstance(figure, fig.Histogram):
        return list(figure.groups or dict.fromkeys(each.group for each in figure.values)) or [""]
    return list(dict.fromkeys(each.group for each in figure.bars)) or [""]


SYMBOLS = {
    "RTC": "round-trip correctness, the share of reconstructions that pass the tests",
    "lift": "RTC less what passes without a description",
    "pass@1": "the share of programs that pass at the first try",
    "SC": "self-consistency, the share of chains whose programs all behave alike, be they right or wrong",
    "SSC": "strong self-consistency, the share of chains whose first program passes and whose others behave like it",
    "TOM": "test output match, the share of tests under which two programs behave alike",
    "AUC": "the chance that what passes has the larger value; 0.5 tells nothing",
    "tau-b": "Kendall's correlation of ranks",
    "rho": "Spearman's correlation of ranks",
    "EDIT-SIM": "likeness by character edits",
}


def explained(text: str) -> str:
    """Return what the symbols in a text mean, a line each; empty where there is none."""
    return "\n".join(f"{sign}: {means}" for sign, means in SYMBOLS.items() if re.search(rf"(?<!\w){sign}(?!\w)", text))


def number(value: float | None, form: fig.Form | Literal["text"] = "number") -> str:
    """Write a value as people read it; an en dash where there is none."""
    if value is None:
        return "–"
    if form == "count" or (form == "text" and float(value).is_integer()):
        return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
    value = round(value, 2) + 0.0  # without a sign where it rounds to nought from below
    return f"{value:+.2f}" if form == "signed" else f"{value:.2f}"


def in_words(estimate: Estimate, form: fig.Form | Literal["text"] = "number") -> str:
    """Write `0.21 (0.12 to 0.33)`."""
    text = number(estimate.value, form)
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return text
    return f"{text} ({number(estimate.low, form)} to {number(estimate.high, form)})"


@dataclass(frozen=True, slots=True)
class Mark:
    """One thing of a figure that can be pointed at and opened; `text` says it to whoever points at it or cannot see it.

    `x`, `y`: where it is on the axes, or the place of its column and, counted downwards from 0, its row.
    """

    x: float
    y: float
    text: str
    links: tuple[fig.Link, ...]
    group: str = ""


def marks(figure: fig.Figure) -> list[Mark]:
    """Return what can be pointed at, in the order it is drawn; values that are not defined are left out."""
    return list(_marks(figure))


def _marks(figure: fig.Figure) -> Iterator[Mark]:
    if isinstance(figure, fig.Scatter):
        for point in figure.points:
            if point.x.value is not None and point.y.value is not None:
                yield Mark(point.x.value, point.y.value, _point_words(figure, point), point.links)
    elif isinstance(figure, fig.Lines):
        for series in figure.series:
            for point in series.points:
                if point.x.value is not None and point.y.value is not None:
                    shown = in_words(point.y, series.form or figure.y.form)
                    at = f"{figure.x.label} {number(point.x.value, figure.x.form)}"
                    text = f"{series.name} {shown}, {at}"
                    yield Mark(point.x.value, point.y.value, text, point.links, series.name)
    elif isinstance(figure, fig.Bars):
        yield from _bar_marks(figure)
    elif isinstance(figure, fig.Histogram):
        several = len(groups_of(figure)) > 1
        for each in bins(figure):
            height = each.share if several else float(each.count)
            # Two groups are drawn back to back.
            down = several and each.group != groups_of(figure)[0]
            yield Mark(each.middle, -height if down else height, bin_words(figure, each), each.links, each.group)
    elif isinstance(figure, fig.Grid):
        for cell in figure.cells:
            x, y = figure.columns.names.index(cell.column), figure.rows.names.index(cell.row)
            shown = cell.text or in_words(cell.value, figure.scale.form)
            if cell.text and cell.value.value is not None:
                shown = f"{cell.text}, {in_words(cell.value, figure.scale.form)}"
            counted = f", n = {cell.value.n:,}" if cell.value.n else ""
            yield Mark(x, -y, f"{cell.row}, {cell.column}: {shown}{counted}", cell.links, cell.row)
    elif isinstance(figure, fig.Table):
        for place, row in enumerate(figure.rows):
            yield Mark(0, -place, ", ".join(row_words(figure, row)), row.links)
    else:
        yield Mark(0, 0, figure.text, figure.links)


def _bar_marks(figure: fig.Bars) -> Iterator[Mark]:
    """Yield a mark at the end of each bar; of a part of a stacked bar, at its middle."""
    below: dict[str, float] = {}
    for bar in figure.bars:
        value = bar.value.value
        if value is None:
            continue
        words = f"{bar.category}{', ' if bar.group else ''}{bar.group}: {in_words(bar.value, figure.y.form)}"
        under = below.get(bar.category, 0.0) if figure.stacked else 0.0
        below[bar.category] = under + value
        y = under + value / 2 if figure.stacked else value
        yield Mark(figure.categories.names.index(bar.category), y, words, bar.links, bar.group)


def _point_words(figure: fig.Scatter, point: fig.Point) -> str:
    values = f"{figure.x.label} {in_words(point.x, figure.x.form)}, {figure.y.label} {in_words(point.y, figure.y.form)}"
    who = point.name or ("" if point.count == 1 else f"{point.count:,} {figure.noun}")
    return f"{who}: {values}" if who else values


def bin_words(figure: fig.Histogram, each: Bin) -> str:
    """Write `RTC 0.33: 4 of 12 regions (0.33)`."""
    span = number(each.low, figure.x.form)
    if each.low != each.high:
        span += f" to {number(each.high, figure.x.form)}"
    total = round(each.count / each.share)
    group = f"{each.group} " if each.group else ""
    return f"{figure.x.label} {span}: {each.count:,} of {total:,} {group}{figure.noun} ({number(each.share)})"


def row_words(figure: fig.Table, row: fig.Row) -> list[str]:
    """Return the cells of a row as people read them."""
    words = []
    for cell, column in zip(row.cells, figure.columns, strict=True):
        if isinstance(cell, str):
            words.append(cell)
        else:
            form = row.form if row.form is not None and column.form == "number" else column.form
            words.append(in_words(cell if isinstance(cell, Estimate) else Estimate(cell), form))
    return words


# ---- for programs: JSON and comma-separated values


def to_json(figure: fig.Figure) -> dict[str, Any]:
    """Return the line of `analyse --json`: `figure`, `kind`, `title`, `data`. What is not defined is left out.

    A histogram has its `bins` in `data` as well, a bar chart and the others what their classes hold.
    """
    data = _plain({field.name: getattr(figure, field.name) for field in dataclasses.fields(figure)})
    del data["head"]
    if isinstance(figure, fig.Histogram):
        data["bins"] = [_plain(each) for each in bins(figure)]
    return {"figure": figure.name, "kind": figure.kind, "title": figure.title, "data": data}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        counted = not isinstance(value, Estimate) or value.n
        names = [field.name for field in dataclasses.fields(value) if counted or field.name != "n"]
        value = {name: getattr(value, name) for name in names}
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items() if each is not None}
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


Plain = str | float | None  # what a cell of an exported table holds


def as_rows(figure: fig.Figure) -> list[list[Plain]]:
    """Return a table, its heading first: what is exported, and what a terminal shows in place of a drawing."""
    heads: list[Plain]
    if isinstance(figure, fig.Lines):
        return _line_rows(figure)
    if isinstance(figure, fig.Scatter):
        heads = ["name", *_bounded(figure.x.label), *_bounded(figure.y.label), "count", *_IDS]
        return [heads, *([p.name, *_three(p.x), *_three(p.y), p.count, *_ids(p.links)] for p in figure.points)]
    if isinstance(figure, fig.Bars):
        heads = [figure.categories.label, "group", *_bounded(figure.y.label), *_IDS]
        return [heads, *([b.category, b.group, *_three(b.value), *_ids(b.links)] for b in figure.bars)]
    if isinstance(figure, fig.Histogram):
        heads = [figure.x.label, "group", *_IDS]
        return [heads, *([v.value, v.group, *_ids((v.link,) if v.link else ())] for v in figure.values)]
    if isinstance(figure, fig.Grid):
        heads = [figure.rows.label, figure.columns.label, *_bounded(figure.scale.label), "n", "text", *_IDS]
        cells = ([c.row, c.column, *_three(c.value), c.value.n or None, c.text, *_ids(c.links)] for c in figure.cells)
        return [heads, *cells]
    return _table_rows(figure) if isinstance(figure, fig.Table) else [["text"], [figure.text]]


_IDS = ("run", "item", "sample")


def _bounded(label: str) -> list[Plain]:
    return [label, f"{label} low", f"{label} high"]


def _three(estimate: Estimate) -> list[Plain]:
    return [estimate.value, estimate.low, estimate.high]


def _ids(links: Sequence[fig.Link]) -> list[Plain]:
    """Return the ids of what is behind a mark, where that is one thing: several cannot stand in one row."""
    only = links[0] if len(links) == 1 else fig.Link()
    return [only.run, only.item, only.sample]


def _line_rows(figure: fig.Lines) -> list[list[Plain]]:
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


def _table_rows(figure: fig.Table) -> list[list[Plain]]:
    wide = [any(isinstance(row.cells[at], Estimate) for row in figure.rows) for at in range(len(figure.columns))]
    rows: list[list[Plain]] = [[]]
    for column, bounded in zip(figure.columns, wide, strict=True):
        rows[0] += _bounded(column.label) if bounded else [column.label]
    for row in figure.rows:
        cells: list[Plain] = []
        for cell, bounded in zip(row.cells, wide, strict=True):
            if isinstance(cell, Estimate):
                cells += _three(cell)
            else:
                cells += [cell, None, None] if bounded else [cell]
        rows.append(cells)
    return rows


def csv(figure: fig.Figure) -> str:
    """Write `as_rows` as comma-separated values; an empty field for what is not defined, fractions to six places."""
    stream = io.StringIO(newline="")
    writer = csv_format.writer(stream, lineterminator="\n")
    for row in as_rows(figure):
        writer.writerow("" if cell is None else f"{cell:.6f}" if isinstance(cell, float) else cell for cell in row)
    return stream.getvalue()
