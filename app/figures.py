"""Figures in the terminal: tables and bars of characters, small plots for lines and points."""

from collections.abc import Iterator, Sequence
from string import ascii_uppercase

from rich.table import Table as RichTable
from rich.text import Text

from rtc_inspector.app.output import terminal
from rtc_inspector.core.figures import Figure, Grid, Histogram, Lines, Scatter, Sentence, Table, Tone
from rtc_inspector.core.figures.layout import Drawn, Ink, Layout, Spot, cells_of, laid_out
from rtc_inspector.core.figures.reading import in_words, marks, row_words

SHOWN = 20  # rows printed of a long table; the rest is counted, and whole with --json
PLOT = 14  # lines of a plot
BAR = 40  # characters of the longest bar
SIGNS = "●○▲△■□◆◇"  # of lines and groups, one after the other
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
    table = RichTable(title=figure.title, title_justify="left", caption=_more(len(figure.rows)))
    for column in figure.columns:
        table.add_column(column.label, justify="left" if column.form == "text" else "right")
    for row in figure.rows[:SHOWN]:
        table.add_row(*row_words(figure, row), style=STYLES[row.tone])
    return table


def _more(rows: int) -> str | None:
    return f"and {rows - SHOWN:,} more: see --json" if rows > SHOWN else None


def _drawn(figure: Figure, width: int) -> Iterator[RichTable | Text]:
    if isinstance(figure, Table) and (figure.rows or not figure.note):
        yield figure_table(figure)
        return
    yield Text(figure.title, style="bold")
    if isinstance(figure, Sentence):
        yield Text(figure.text, style=STYLES[figure.tone])
    elif isinstance(figure, Table) or not marks(figure):
        yield Text(figure.note or "Nothing to show yet.", style="dim")
    elif isinstance(figure, Grid):
        yield _grid(figure)
    elif isinstance(figure, (Lines, Scatter)):
        yield from _plot(figure, laid_out(figure), min(width, 100))
    else:
        yield from _bars(figure)


def _bars(figure: Drawn) -> Iterator[Text]:
    """Yield one line for each bar, its value behind it, under the name of its group in a histogram of several."""
    boxes, group = laid_out(figure).boxes, ""
    # Where all values are 0 there is nothing to be the longest.
    most = max([abs(box.above - box.below) for box in boxes]) or 1.0
    room = max(len(box.head) for box in boxes)
    for box in boxes:
        if isinstance(figure, Histogram) and box.mark.group != group:
            yield Text(group := box.mark.group)
        share = abs(box.above - box.below) / most
        bar = "█" * max(1 if share else 0, round(share * BAR))
        yield Text.assemble(f"{box.head:>{room}} ", (bar, _style(box.ink)), f" {box.words}")


def _grid(figure: Grid) -> RichTable:
    table = RichTable(title=figure.scale.label, title_justify="left", caption=_more(len(figure.rows.names)))
    table.add_column(f"{figure.rows.label} \\ {figure.columns.label}")
    for name in figure.columns.names:
        table.add_column(name, justify="right")
    for row, cells in list(cells_of(figure))[:SHOWN]:
        table.add_row(row, *(Text(c.words or "·", style=_style(c.ink) if c.ink else "dim") for c in cells))
    return table


def _style(ink: Ink) -> str:
    if ink.heat is None:
        return STYLES[ink.tone] or PALETTE[ink.place % len(PALETTE)]
    low, middle, high = ("yellow", "", "blue") if ink.ramp == "plain" else ("red", "yellow", "green")
    return high if ink.heat > 0.33 else low if ink.heat < -0.33 else middle


def _plot(figure: Lines | Scatter, layout: Layout, width: int) -> Iterator[Text]:
    """Draw signs in a field of characters, with what each sign stands for and its last value."""
    across, up = layout.x, layout.y
    columns = width - 10 - len(across.label)
    field = [[(" ", "")] * columns for _ in range(PLOT)]

    def place(x: float, y: float, sign: str, style: str) -> None:
        if across.low <= x <= across.high:
            field[PLOT - 1 - round(up.share(y) * (PLOT - 1))][round(across.share(x) * (columns - 1))] = sign, style

    letters = _letters(layout.spots)
    for at, spot in enumerate(layout.spots):
        sign = letters.get(spot.name) or (spot.count if len(spot.count) == 1 else SIGNS[0])
        place(spot.mark.x, spot.mark.y, sign, STYLES[spot.ink.tone] or PALETTE[at % len(PALETTE)])
    signs = [(SIGNS[at % len(SIGNS)], _style(curve.ink)) for at, curve in enumerate(layout.curves)]
    for curve, look in zip(layout.curves, signs, strict=True):
        for x, y in curve.points:
            place(x, y, *look)
    yield Text(up.label, style="dim")
    levels = {PLOT - 1 - round(up.share(value) * (PLOT - 1)): words for value, words in up.ticks}
    for row, drawn in enumerate(field):
        yield Text.assemble(f"{levels.get(row, ''):>7} ", ("│", "dim"), *drawn)
    below = [" "] * (columns + 8)
    for value, words in across.ticks:
        start = max(0, min(round(across.share(value) * (columns - 1)), columns - len(words)))
        below[start : start + len(words)] = words
    yield Text(" " * 8 + "└" + "─" * columns, style="dim")
    yield Text(" " * 9 + "".join(below).rstrip() + f"  {across.label}", style="dim")
    if isinstance(figure, Lines):
        for series, look in zip(figure.series, signs, strict=True):
            known = [point.y for point in series.points if point.y.value is not None]
            said = in_words(known[-1], series.form or figure.y.form) if known else "–"
            yield Text.assemble(look, f" {series.name} {said}")
    elif letters:
        for spot in layout.spots[:SHOWN]:
            yield Text(f"{letters.get(spot.name, ' ')} {spot.mark.text}")


def _letters(spots: Sequence[Spot]) -> dict[str, str]:
    """Return a sign for each named point: its initial, or letters in their order where two begin alike."""
    names = [spot.name for spot in spots if spot.name]
    initials = {name: name[0] for name in names}
    if len(set(initials.values())) == len(names) or len(names) > len(ascii_uppercase):
        return initials
    return dict(zip(names, ascii_uppercase, strict=False))
