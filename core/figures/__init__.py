"""Figures as data: what an analysis found, before anybody draws it.

An analysis returns figures; `core/figures/layout.py` lays a figure out, window, page and terminal paint it, and
`rtc-inspector analyse --json` prints it. A figure knows what its axes mean, which way is better, how certain each
value is, and what is behind each mark, so no drawer needs to know a method.

A value that is not defined is None or left out: never 0, never NaN (`Estimate` refuses NaN and infinity).
"""

from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, get_args

from rtc_inspector.core.types import NOTHING, Estimate

Form = Literal["number", "signed", "count"]
"""How a value is written: 0.21, +0.21, 12. Shares are numbers from 0 to 1, as in the papers."""
Better = Literal["", "up", "down"]
Tone = Literal["", "good", "bad", "warn", "muted"]
"""What a mark means; each drawer has its own colours. The empty tone takes the next colour of the palette."""


@dataclass(frozen=True, slots=True)
class Link:
    """The target of a mark, by ids: a run, an item, or a sample, by its `author` where its id is not known."""

    run: int | None = None
    item: int | None = None
    sample: int | None = None
    author: str | None = None


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of numbers, or the scale of a grid's colours; its range is that of the values where it says none."""

    label: str
    low: float | None = None
    high: float | None = None
    better: Better = ""
    form: Form = "number"


@dataclass(frozen=True, slots=True)
class Categories:
    """An axis of names, in the order they are drawn."""

    label: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Guide:
    """A straight line to compare with, e.g. a threshold at x = 0.75."""

    axis: Literal["x", "y"]
    at: float
    label: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice that the reader has for a figure, e.g. the metric; the analysis is asked again with the new choice."""

    name: str
    label: str
    options: Mapping[str, str]
    chosen: str


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a scatter or of a line; `name` stands beside it where there is room, its area grows with `count`."""

    x: Estimate
    y: Estimate
    name: str = ""
    tone: Tone = ""
    count: int = 1
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """One line. Its points are ordered by x; the band is drawn between their `y.low` and `y.high`.

    `form`: how its values are written, where not as the axis says.
    """

    name: str
    points: tuple[Point, ...]
    tone: Tone = ""
    form: Form | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar, or one part of a stacked bar. `group`: bars of one category stand side by side or on each other."""

    category: str
    value: Estimate
    group: str = ""
    tone: Tone = ""
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Observation:
    """One value that a histogram counts. `group` splits the histogram, e.g. passing from failing."""

    value: float
    group: str = ""
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a grid: grey without a value; `text` stands instead of it, `tone` for its colour, `faded` is pale."""

    row: str
    column: str
    value: Estimate = NOTHING
    text: str = ""
    tone: Tone = ""
    faded: bool = False
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table. `bar`: a value between 0 and 1 is drawn as a bar as well."""

    label: str
    form: Literal["text"] | Form = "text"
    better: Better = ""
    tip: str = ""
    bar: bool = False


def columns(text: str) -> tuple[Column, ...]:
    """Read columns in short, e.g. `Metric | Mean: number | AUC: number up`: label, form, better direction."""
    found = []
    for each in text.split(" | "):
        label, _, rest = each.partition(": ")
        form, _, better = rest.partition(" ")
        if form not in ("", "text", *get_args(Form)) or better not in get_args(Better):
            raise ValueError(f"{each!r} says no form or direction of a column")
        found.append(Column(label, form or "text", better))  # type: ignore[arg-type]  # checked above
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table, one value a column; `form` where its numbers are written otherwise than the column's."""

    cells: tuple[str | float | Estimate | None, ...]
    tone: Tone = ""
    links: tuple[Link, ...] = ()
    form: Form | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """The names of a figure: `name` for scripts (`running`), `title` for people, `short` for a switch."""

    name: str
    title: str
    short: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Titled:
    """The part that all figures have. `note`: a sentence below it: what it means, or why a value is missing."""

    head: Head = field(kw_only=False)
    note: str = ""
    choices: tuple[Choice, ...] = ()

    @property
    def name(self) -> str:
        return self.head.name

    @property
    def title(self) -> str:
        return self.head.title


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter(_Titled):
    """Points over two axes, with error bars where they have intervals; `diagonal`: the line x = y is drawn."""

    kind: ClassVar[str] = "scatter"
    x: Axis
    y: Axis
    points: tuple[Point, ...]
    guides: tuple[Guide, ...] = ()
    diagonal: bool = False
    noun: str = "points"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines(_Titled):
    """Lines over a common axis, with bands where their points have intervals."""

    kind: ClassVar[str] = "lines"
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    guides: tuple[Guide, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars(_Titled):
    """Bars by category. `stacked`: the groups of a category stand on each other instead of side by side."""

    kind: ClassVar[str] = "bars"
    categories: Categories
    y: Axis
    bars: tuple[Bar, ...]
    guides: tuple[Guide, ...] = ()
    stacked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram(_Titled):
    """The spread of values; `core.figures.reading.bins` makes the bars."""

    kind: ClassVar[str] = "histogram"
    x: Axis
    noun: str  # what is counted, several of them
    values: tuple[Observation, ...]
    # two groups are drawn back to back, the first one upwards, each in shares of its own size
    groups: Mapping[str, Tone] = field(default_factory=dict)
    guides: tuple[Guide, ...] = ()
    most_bins: int = 10  # bins of one width; up to MOST_VALUES distinct values of one group get a bar each instead


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid(_Titled):
    """A heat map, grey where a cell has no value; `centre`: the neutral value of a scale with two directions."""

    kind: ClassVar[str] = "grid"
    rows: Categories
    columns: Categories
    scale: Axis
    cells: tuple[Cell, ...]
    centre: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(_Titled):
    """Rows of values."""

    kind: ClassVar[str] = "table"
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence(_Titled):
    """A finding in words."""

    kind: ClassVar[str] = "sentence"
    text: str
    tone: Tone = ""
    links: tuple[Link, ...] = ()


Figure = Scatter | Lines | Bars | Histogram | Grid | Table | Sentence


def one_of(runs: Sized, run: int, figures: Iterable[Figure]) -> Iterator[Figure]:
    """Yield the figures of one run, which say which one where there are several."""
    name, title = (f"-{run}", f", run {run}") if len(runs) > 1 else ("", "")
    heads = ((each, Head(each.name + name, each.title + title, each.head.short)) for each in figures)
    return (replace(each, head=head) for each, head in heads)
