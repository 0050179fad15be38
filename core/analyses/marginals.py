"""Cosmetic variance: how much a model's scores change, by any two of what was varied (Considine et al., App. B).

The cells are those of a tensor of transformation, complexity, model and task; what is no axis is averaged, within an
item first, so that an item counts once in a cell. All of it comes from changes that the database has grouped and
counted, so that drawing again costs the same after 100,000 samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product

from rtc_inspector.core import figures as fig
from rtc_inspector.core.kinds import COSMETIC_CHANGES, COSMETIC_PAIRS, IDENTITY, TOLD_ALREADY, counted
from rtc_inspector.core.kinds import task as kind_of
from rtc_inspector.core.metrics.paired import EXACT_FLIPS, detectable, fair_coin, fewest_to_show, holm, no_change_p
from rtc_inspector.core.metrics.statistics import LEVEL, interval
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import ChangeRow, OutcomeRow
from rtc_inspector.core.types import Estimate

FACET = "complexity"
PASSES = "rtc"
TASKS = {
    "identifiers": "hidden names",
    "rouge_synonym": "description (ROUGE-synonym)",
    "rouge_l": "description (ROUGE-L)",
    PASSES: "round trip",
}
AXES = {"variant": "Transformation", "facet": "Complexity", "run": "Model", "measure": "Task"}
FORMS = {
    "difference": "difference: variant − original",
    "relative": "relative to the original",
    "symmetric": "relative to the larger (the paper's completion tables)",
    "ratio": "relative to the variant (the paper's document tables)",
}
"""Forms of change; a score that falls is a positive number in all but the first."""
UNDEFINED = {
    "relative": "what scored 0 before has no such change, and is left out.",
    "symmetric": "where both scores are 0 there is no such change, and the function is left out.",
    "ratio": "where the variant scores 0 there is no such change, and the function is left out.",
}
AS_GOOD = "as good"
VARIANTS = COSMETIC_CHANGES + COSMETIC_PAIRS
ALL = "all"
ALPHA = 0.05
MOST_LINKED = 200


@dataclass
class Changes:
    """What is known of one cell: each change with how often it occurs, and its items.

    `variant`: made by what; `continuous`: whether changes are no differences of outcomes.
    """

    variant: str = ""
    continuous: bool = False
    values: Counter[float] = field(default_factory=Counter)
    beyond_noise: Counter[float] = field(default_factory=Counter)
    items: list[tuple[float, fig.Link]] = field(default_factory=list)

    def add(self, row: ChangeRow) -> None:
        self.values[row.change] += row.count
        if row.noise is not None:
            self.beyond_noise[round(row.change - row.noise, 9)] += row.count
        self.items += [(row.change, fig.Link(*place, author=self.variant)) for place in row.items]

    def estimate(self, form: str, level: float = LEVEL) -> Estimate:
        """Return the mean with its interval; the scale of a form that has none ends where its values do."""
        every = list(self.values.elements())
        if len(every) < 2 and form in ("relative", "ratio"):
            return Estimate(every[0], None, None, 1)  # on a scale without ends one item bounds nothing
        # A relative change has no bounds of its own: a score of 0.01 may grow a hundredfold.
        return Estimate(*interval(every, -1.0, level=level, continuous=self.continuous), len(every))

    @property
    def p(self) -> float | None:
        return _p(tuple(sorted(self.values.items())))

    @property
    def p_noise(self) -> float | None:
        """The p of no more change than where nothing was changed; None where that is what is looked at."""
        return None if self.variant == IDENTITY else _p(tuple(sorted(self.beyond_noise.items())))

    def could_show(self, form: str, cells: int) -> float | None:
        """Return the smallest change that so many functions probably show among so many cells; None where none can."""
        level, size = 1 - ALPHA / cells, self.values.total()
        if size < fewest_to_show(ALPHA / cells):
            return None
        value = self.estimate(form, level)
        return None if value.low is None or value.high is None else detectable(value.low, value.high, level, size)


@lru_cache(maxsize=4096)
def _p(counts: tuple[tuple[float, int], ...]) -> float | None:
    """Return `no_change_p` of values by how often each occurs; most cells stay as they are while a run goes on."""
    return no_change_p([value for value, often in counts for _ in range(often)])


def figures(reader: Reader, run_ids: Sequence[int], chosen: Mapping[str, str]) -> Iterator[fig.Figure]:
    """Yield the figures; `chosen`: `rows`, `columns` (of `AXES`), `task` (of `TASKS`, or all), `form` (of `FORMS`)."""
    view = View.of(reader, run_ids, chosen)
    found = reader.changes(
        run_ids, view.form, (view.rows, view.columns), facet=FACET, measures=view.measures, noise=IDENTITY
    )
    cells: dict[tuple[str, str], Changes] = {}
    for row in found:
        variant = {view.rows: row.row, view.columns: row.column}.get("variant", "")
        cells.setdefault((row.row, row.column), Changes(variant, view.continuous)).add(row)
    cells = {place: cells[place] for place in product(*view.heads(cells)) if place in cells}
    yield summary(reader, run_ids)
    yield grid(view, cells)
    outcomes = reader.outcomes(run_ids, (view.rows, view.columns), facet=FACET, measures=(PASSES,), noise=IDENTITY)
    yield tests(view, cells, outcomes if PASSES in view.measures else ())
    for run_id in run_ids:
        yield from fig.one_of(run_ids, run_id, [meanings(reader, run_id)])


@dataclass(frozen=True)
class View:
    """The choice of two axes, tasks and form that is shown."""

    rows: str
    columns: str
    task: str
    form: str
    known: tuple[str, ...]
    models: Mapping[str, str]  # what runs are called, by id
    method: str  # of the runs

    @classmethod
    def of(cls, reader: Reader, run_ids: Sequence[int], chosen: Mapping[str, str]) -> View:
        """Return the view that the reader chose; what is not known, or would show one axis twice, is replaced."""
        rows = chosen.get("rows", "")
        rows = rows if rows in AXES else "facet" if len(run_ids) == 1 else "run"
        columns = chosen.get("columns", "")
        columns = columns if columns in AXES and columns != rows else next(axis for axis in AXES if axis != rows)
        stored = {name for run_id in run_ids for name in reader.totals(run_id)}
        known = tuple(name for name in TASKS if name in stored)
        first = ALL if "measure" in (rows, columns) or not known else known[0]
        task, form = chosen.get("task", first), chosen.get("form", "")
        runs = [reader.run(run_id) for run_id in run_ids]
        models = {str(run.id): run.model_name if len(runs) == 1 else run.label for run in runs}
        form = form if form in FORMS else "difference"
        return cls(rows, columns, task if task in known else ALL, form, known, models, runs[0].task)

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that the cells are made of; what another one tells already is no part of an average."""
        if self.task != ALL:
            return (self.task,)
        averaged = tuple(name for name in self.known if name not in TOLD_ALREADY)
        return self.known if "measure" in (self.rows, self.columns) else averaged

    @property
    def continuous(self) -> bool:
        """Return whether a function's change is no difference of outcomes, but of likenesses, or a mean over tasks."""
        several = len(self.measures) > 1 and "measure" not in (self.rows, self.columns)
        return several or all(kind_of(self.method).measure(name).continuous for name in self.measures)

    def choices(self) -> tuple[fig.Choice, ...]:
        tasks = {ALL: "all, averaged"} | {name: TASKS[name] for name in self.known}
        return (
            fig.Choice("rows", "Rows", AXES, self.rows),
            fig.Choice(
                "columns", "Columns", {axis: name for axis, name in AXES.items() if axis != self.rows}, self.columns
            ),
            fig.Choice("task", "Task", tasks, self.task),
            fig.Choice("form", "Change", FORMS, self.form),
        )

    def ordered(self, axis: str, values: Iterable[str]) -> list[str]:
        wanted = set(values)
        if axis == "facet":
            return sorted(wanted, key=lambda bucket: (int(bucket.partition("-")[0] or 0), bucket))
        order = {"variant": VARIANTS, "measure": tuple(TASKS), "run": tuple(self.models)}[axis]
        return [value for value in order if value in wanted]

    def heads(self, cells: Iterable[tuple[str, str]]) -> tuple[list[str], list[str]]:
        """Return the rows and the columns that have some cell."""
        places = list(cells)
        rows, columns = (row for row, _ in places), (column for _, column in places)
        return self.ordered(self.rows, rows), self.ordered(self.columns, columns)

    def title(self, axis: str, value: str) -> str:
        return {"measure": TASKS, "run": self.models}.get(axis, {}).get(value, value or "unknown")

    def titles(self, row: str, column: str) -> tuple[str, str]:
        return self.title(self.rows, row), self.title(self.columns, column)

    def words(self, change: float) -> str:
        """Write `0.12 worse`: which sign is worse depends on the form."""
        return change_words(change if self.form == "difference" else -change)


def change_words(difference: float) -> str:
    """Write `0.12 worse` of a score less what it was before."""
    if round(abs(difference), 2) == 0:
        return AS_GOOD
    return f"{abs(difference):.2f} {'worse' if difference < 0 else 'better'}"


def grid(view: View, cells: Mapping[tuple[str, str], Changes]) -> fig.Grid:
    """Say for each cell how much worse or better, half the width of its interval, and the number of functions."""
    rows, columns = view.heads(cells)
    shown = []
    for place, changes in cells.items():
        value = changes.estimate(view.form)
        low, high = value.low, value.high
        width = f" ± {(high - low) / 2:.2f}" if low is not None and high is not None else ""
        text = f"{view.words(value.value or 0.0)}{width} ({value.n})"
        faded = low is None or high is None or low <= 0 <= high
        shown.append(fig.Cell(*view.titles(*place), value, text=text, faded=faded, links=_links(changes)))
    better: fig.Better = "up" if view.form == "difference" else "down"
    return fig.Grid(
        fig.Head("marginal", f"Change of {TASKS.get(view.task, 'scores')} under changes that mean nothing", "Change"),
        note="Pale where the 95 % interval holds no change; ± is half its width, in brackets the functions. "
        f"{IDENTITY} changes nothing: that is the noise of asking again. A cell opens its functions, the most changed "
        f"first.{_left_out(view)}"
        if shown
        else "No function has scores on itself and on a variant yet.",
        choices=view.choices(),
        rows=fig.Categories(AXES[view.rows], tuple(view.title(view.rows, row) for row in rows)),
        columns=fig.Categories(AXES[view.columns], tuple(view.title(view.columns, column) for column in columns)),
        scale=fig.Axis(f"change ({FORMS[view.form]})", better=better, form="signed"),
        cells=tuple(shown),
        centre=0.0,
    )


def _left_out(view: View) -> str:
    """Return what does not count in the form, or in the average, that is shown; empty where all counts."""
    sentences = [UNDEFINED[view.form]] if view.form in UNDEFINED else []
    if beside := [TASKS[name] for name in view.known if view.task == ALL and name not in view.measures]:
        sentences.append(f"{' and '.join(beside)} is left out of the average: another task tells the same.")
    return "".join(f" {each[:1].upper()}{each[1:]}" for each in sentences)


def _links(changes: Changes) -> tuple[fig.Link, ...]:
    ranked = sorted(changes.items, key=lambda each: (-abs(each[0]), each[1].item or 0))
    return tuple(dict.fromkeys(link for _, link in ranked[:MOST_LINKED]))


def tests(view: View, cells: Mapping[tuple[str, str], Changes], outcomes: Sequence[OutcomeRow]) -> fig.Table:
    """Return for each cell whether it changes at all; p is adjusted over the cells that are shown."""
    adjusted = _adjusted({key: changes.p for key, changes in cells.items()})
    beyond_noise = _adjusted({key: changes.p_noise for key, changes in cells.items()})
    fewest = fewest_to_show(ALPHA / max(1, len(adjusted)))
    passed = {key: Counter[tuple[bool, bool]]() for key in cells}
    for each in outcomes:
        if (each.row, each.column) in passed:
            passed[each.row, each.column][each.before == 1, each.after == 1] += each.count
    rows = []
    for key, changes in cells.items():
        value = changes.estimate(view.form)
        decided = key in adjusted and adjusted[key] < ALPHA
        undecided = "too few to tell" if (value.n or 0) < fewest else "no clear change"
        lost, won = passed[key][True, False], passed[key][False, True]
        finding = view.words(value.value or 0.0) if decided else undecided
        could = changes.could_show(view.form, len(adjusted)) if adjusted else None
        ps = adjusted.get(key), beyond_noise.get(key)
        trips = (f"{lost} lost, {won} won", fair_coin(lost, lost + won)) if passed[key] else (None, None)
        line = (*view.titles(*key), finding, value, value.n, could, *ps, *trips)
        rows.append(fig.Row(line, links=_links(changes)))
    return fig.Table(
        fig.Head("tests", "Which cells change more than chance", "Tests"),
        note=f"p of random signs, exact up to {EXACT_FLIPS} functions that change, by Student's t beyond; by Holm over "
        f"the cells shown, as is p against {IDENTITY}. Round trips that passed on one side only are told by McNemar's "
        f"exact test, unadjusted. {_power(cells, len(adjusted), fewest)}".strip(),
        columns=fig.columns(
            f"{AXES[view.rows]} | {AXES[view.columns]} | Finding | Change: signed | Functions: count | "
            f"Could show: number | p (Holm): number | p against {IDENTITY} (Holm): number | Round trips | "
            "p (McNemar): number"
        ),
        rows=tuple(rows),
    )


def _adjusted(ps: Mapping[tuple[str, str], float | None]) -> dict[tuple[str, str], float]:
    defined = {key: p for key, p in ps.items() if p is not None}
    return dict(zip(defined, holm(list(defined.values())), strict=True))


def _power(cells: Mapping[tuple[str, str], Changes], tested: int, fewest: int) -> str:
    if not tested:
        return ""
    sentence = f"Could show: the smallest change that so many functions show in 80 of 100 cases among {tested} cells."
    scarce = sum(changes.values.total() < fewest for changes in cells.values())
    if scarce:
        which = "no cell has" if scarce == len(cells) else f"{scarce} of {len(cells)} cells have fewer than"
        sentence += (
            f" It takes {fewest} functions that all change the same way: {which} so many, so nothing is found there."
        )
    return sentence


def meanings(reader: Reader, run_id: int) -> fig.Table:
    """Return a table of how often each transformation was judged, changed the meaning after all, or was refused."""
    totals = reader.totals(run_id)
    refused: dict[str, list[tuple[str, int]]] = {}
    for name, reason, count in reader.reasons(run_id):
        refused.setdefault(name.removeprefix("no "), []).append((reason, count))
    rows = []
    for change in VARIANTS:
        tried, kept = (int(totals.get(f"{name}:{change}", 0)) for name in ("tried", "kept"))
        why = refused.get(change, [])
        if tried or why:
            share = Estimate(*interval([1.0] * (tried - kept) + [0.0] * kept), tried) if tried else None
            rows.append(
                fig.Row((change, tried, tried - kept, share, sum(n for _, n in why), why[0][0] if why else None))
            )
    return fig.Table(
        fig.Head("meanings", "Rewrites that changed the meaning", "Meanings"),
        note="Judged by the project's own tests; those that fail are left out of every other figure.",
        columns=fig.columns(
            "Transformation | Judged: count | Changed the meaning: count | Share: number down | "
            "Refused: count | Most often because"
        ),
        rows=tuple(rows),
    )


def summary(reader: Reader, run_ids: Sequence[int]) -> fig.Sentence:
    """Return in words what the variants do to the scores on the whole."""
    sentences = []
    for run_id in run_ids:
        run = reader.run(run_id)
        change, noise = run.scores.get("change"), run.scores.get("noise")
        name = run.model_name
        if change is None or change.value is None:
            sentences.append(f"{name}: no function has scores on itself and on a variant yet.")
            continue
        low, high, size = change.low or 0.0, change.high or 0.0, change_words(change.value)
        sure = "" if low > 0 or high < 0 or size == AS_GOOD else ", which may be chance"
        sentences.append(f"{name} is {size} on variants, over tasks and {counted(change.n, 'function')}{sure}.")
        if noise is not None and noise.value is not None:
            sentences.append(f"Asked again about what was not changed it is {change_words(noise.value)}.")
    return fig.Sentence(fig.Head("summary", "Cosmetic variance"), text=" ".join(sentences))
