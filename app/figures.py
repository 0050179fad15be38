"""Figures in the terminal: tables and bars of characters, small plots for lines and points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import ascii_uppercase

from rich.table import Table as RichTable
from rich.text import Text

from rtc_inspector.app.output import terminal
from rtc_inspector.core.figures import Bars, Estimate, Figure, Grid, Histogram, Lines, Scatter, Sentence, Table, Tone
from rtc_inspector.core.figures.reading import (
    bins,
    groups_of,
    heat,
    in_words,
    marks,
    number,
    row_words,
    spans,
    tick_words,
    ticks,
)

SHOWN = 20
"""Rows printed of a long table; the rest is counted, and whole with --json."""
PLOT = 14
"""Lines of a plot."""
BAR = 40
"""Characters of the longest bar."""
SIGNS = "●○▲△■□◆◇"
"""Of lines and groups, one after the other."""
STYLES: dict[Tone, str] = {"": "", "good": "green", "bad": "red", "warn": "yellow", "muted": "dim"}
PALETTE = ("blue", "yellow", "cyan", "magenta", "bright_red", "white")


def print_figures(figures: Sequence[Figure]) -> None:
    """Print them one below the other."""
    console = terminal()
    for figure in figures:
        for part in _drawn(figure, console.width):
            console.print(part)
        if figure.note and marks(figure):
            console.print(figure.note, style="dim")
        console.print()


def figure_table(figure: Table) -> RichTable:
    """Return a table as rich draws it; of a long one the first rows, and how many there are more."""
    table = RichTable(title=figure.title, title_justify="left")
    for column in figure.columns:
        table.add_column(column.label, justify="left" if column.form == "text" else "right")
    for row in figure.rows[:SHOWN]:
        table.add_row(*row_words(figure, row), style=STYLES[row.tone])
    if len(figure.rows) > SHOWN:
        table.caption = f"and {len(figure.rows) - SHOWN:,} more: see --json"
    return table


def _drawn(figure: Figure, width: int) -> Iterator[RichTable | Text]:
    if isinstance(figure, Table):
        if figure.rows or not figure.note:
            yield figure_table(figure)
        else:
            yield Text(figure.title, style="bold")
            yield Text(figure.note, style="dim")
        return
    yield Text(figure.title, style="bold")
    if isinstance(figure, Sentence):
        yield Text(figure.text, style=STYLES[figure.tone])
    elif not marks(figure):
        yield Text(figure.note or "Nothing to show yet.", style="dim")
    elif isinstance(figure, Grid):
        yield _grid(figure)
    elif isinstance(figure, Bars):
        yield from _bars(figure)
    elif isinstance(figure, Histogram):
        yield from _histogram(figure)
    else:
        yield from _plot(figure, min(width, 100))


def _bars(figure: Bars) -> Iterator[Text]:
    """Yield one line for each bar, its value behind it."""
    known = [bar.value.value for bar in figure.bars if bar.value.value is not None]
    # Where all values are 0 there is nothing to be the longest.
    most = max([abs(each) for each in known if each] or [1.0])
    groups = groups_of(figure)
    heads = [" ".join(filter(None, (bar.category, bar.group))) for bar in figure.bars]
    for head, bar in zip(heads, figure.bars, strict=True):
        style = STYLES[bar.tone] or PALETTE[groups.index(bar.group) % len(PALETTE)]
        yield _bar(
            head, max(map(len, heads)), (bar.value.value or 0.0) / most, style, in_words(bar.value, figure.y.form)
        )


def _histogram(figure: Histogram) -> Iterator[Text]:
    """Yield one line for each bin."""
    found, groups = bins(figure), groups_of(figure)
    most = max(each.share for each in found)
    for group in groups:
        if group:
            yield Text(group)
        for each in (each for each in found if each.group == group):
            words = tick_words(round(each.low, 2), figure.x.form)
            if each.low != each.high:
                words += f" to {tick_words(round(each.high, 2), figure.x.form)}"
            style = STYLES[figure.groups.get(group, "")] or PALETTE[0]
            yield _bar(words, 12, each.share / most, style, f"{each.count:,} ({number(each.share, 'share')})")


def _bar(head: str, room: int, share: float, style: str, words: str) -> Text:
    return Text.assemble(
        f"{head:>{room}} ", ("█" * max(1 if share else 0, round(abs(share) * BAR)), style), f" {words}"
    )


def _grid(figure: Grid) -> RichTable:
    """Return a table of values in their colours; a dot for what is not defined."""
    cells = {(cell.row, cell.column): cell for cell in figure.cells}
    table = RichTable(title=figure.scale.label, title_justify="left")
    table.add_column(f"{figure.rows.label} \\ {figure.columns.label}")
    for name in figure.columns.names:
        table.add_column(name, justify="right")
    for row in figure.rows.names[:SHOWN]:
        made: list[Text] = []
        for column in figure.columns.names:
            cell = cells.get((row, column))
            value = cell.value.value if cell is not None else None
            words = "·" if cell is None else cell.text or ("·" if value is None else number(value, figure.scale.form))
            style = "dim" if cell is None or value is None else _heat_style(figure, value)
            made.append(Text(words, style=(STYLES[cell.tone] or style) if cell is not None else style))
        table.add_row(row, *made)
    if len(figure.rows.names) > SHOWN:
        table.caption = f"and {len(figure.rows.names) - SHOWN:,} more: see --json"
    return table


def _heat_style(figure: Grid, value: float) -> str:
    at = heat(figure, value)
    if not figure.scale.better:
        return "blue" if at > 0.33 else "yellow" if at < -0.33 else ""
    return "green" if at > 0.33 else "red" if at < -0.33 else "yellow"


def _plot(figure: Lines | Scatter, width: int) -> Iterator[Text]:
    """Draw signs in a field of characters, with what each sign stands for and its last value."""
    (x0, x1), (y0, y1) = spans(figure)
    columns = width - 10 - len(figure.x.label)
    field = [[(" ", "")] * columns for _ in range(PLOT)]

    def place(x: float, y: float, sign: str, style: str) -> None:
        across = round((x - x0) / ((x1 - x0) or 1.0) * (columns - 1))
        up = round((min(max(y, y0), y1) - y0) / ((y1 - y0) or 1.0) * (PLOT - 1))
        if 0 <= across < columns:
            field[PLOT - 1 - up][across] = (sign, style)

    named = _letters(figure) if isinstance(figure, Scatter) else {}
    if isinstance(figure, Scatter):
        for at, point in enumerate(figure.points):
            if point.x.value is not None and point.y.value is not None:
                sign = named.get(point.name) or (str(point.count) if 1 < point.count < 10 else SIGNS[0])
                place(point.x.value, point.y.value, sign, STYLES[point.tone] or PALETTE[at % len(PALETTE)])
    else:
        for at, series in enumerate(figure.series):
            for point in series.points:
                if point.x.value is not None and point.y.value is not None:
                    place(point.x.value, point.y.value, SIGNS[at % len(SIGNS)], _style(series.tone, at))
    yield Text(figure.y.label, style="dim")
    levels = {PLOT - 1 - round((value - y0) / ((y1 - y0) or 1.0) * (PLOT - 1)): value for value in ticks(y0, y1, 5)}
    for row, signs in enumerate(field):
        head = tick_words(levels[row], figure.y.form) if row in levels else ""
        yield Text.assemble(f"{head:>7} ", ("│", "dim"), *signs)
    below = [" "] * (columns + 8)
    for value in ticks(x0, x1, 5, figure.x.form):
        words = tick_words(value, figure.x.form)
        at = max(0, min(round((value - x0) / ((x1 - x0) or 1.0) * (columns - 1)), columns - len(words)))
        below[at : at + len(words)] = words
    yield Text(" " * 8 + "└" + "─" * columns, style="dim")
    yield Text(" " * 9 + "".join(below).rstrip() + f"  {figure.x.label}", style="dim")
    if isinstance(figure, Lines):
        for at, series in enumerate(figure.series):
            last = next((p for p in reversed(series.points) if p.y.value is not None), None)
            said = in_words(last.y if last else Estimate(), series.form or figure.y.form)
            yield Text.assemble((SIGNS[at % len(SIGNS)], _style(series.tone, at)), f" {series.name} {said}")
    else:
        placed = [point for point in figure.points if None not in (point.x.value, point.y.value)]
        for point, mark in list(zip(placed, marks(figure), strict=True))[:SHOWN] if named else []:
            yield Text(f"{named.get(point.name, ' ')} {mark.text}")


def _letters(figure: Scatter) -> dict[str, str]:
    """Return a sign for each named point: its initial, or letters in their order where two begin alike."""
    names = [point.name for point in figure.points if point.name]
    initials = {name: name[0] for name in names}
    if len(set(initials.values())) == len(names) or len(names) > len(ascii_uppercase):
        return initials
    return dict(zip(names, ascii_uppercase, strict=False))


def _style(tone: Tone, place: int) -> str:
    return STYLES[tone] or PALETTE[place % len(PALETTE)]
