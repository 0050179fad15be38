"""Several models on the same items: who is better, who cannot be told apart, who describes and who writes well.

All runs are held against each other over the items that every one of them has judged. The intervals of all means hold
together in 95 of 100 cases, and so do those of all differences; a rank is as wide as the differences leave it open.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from rtc_inspector.core import figures as fig
from rtc_inspector.core.analyses import costs
from rtc_inspector.core.analyses.scores import better_of, form_of
from rtc_inspector.core.comparison.compare import differing_settings
from rtc_inspector.core.comparison.comparison import MOST_UNLIKE, TRUNCATION, UNLIKE
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import Kind, Measure, counted, few, task
from rtc_inspector.core.metrics.paired import joint_level
from rtc_inspector.core.metrics.statistics import LEVEL, interval
from rtc_inspector.core.settings import RunSettings, SeriesSettings
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import GROWING, Answers, RunRow
from rtc_inspector.core.types import Estimate

Values = Mapping[str, Mapping[str, float]]  # by an item's key: its measures


@dataclass(frozen=True, slots=True)
class Rank:
    """The place of a model among others."""

    name: str
    mean: Estimate  # with the interval that holds together with those of the others
    # `best`, `worst`: the ranks that the differences leave open, from 1
    best: int
    worst: int
    alike: tuple[int, ...]  # places in the ranking of those that it cannot be told apart from
    links: tuple[fig.Link, ...] = ()


def figures(reader: Reader, run_ids: Sequence[int], chosen: Mapping[str, str]) -> Iterator[fig.Figure]:
    """Yield the ranking of several runs, or of the series that one run belongs to.

    Raises UserError for a run that stands alone.
    """
    ids = ranked_with(reader, run_ids)
    if len(ids) < 2:
        raise UserError("A ranking needs two runs or more.", "Name further runs, as `rtc-inspector runs` prints them.")
    yield from ranking(reader, ids)


def ranked_with(reader: Reader, run_ids: Sequence[int]) -> list[int]:
    """Return the runs themselves where there are several, else those of the one run's series, if it has one."""
    if len(run_ids) > 1:
        return list(run_ids)
    series = series_of(reader.run(run_ids[0]))
    return [run.id for run in runs_of(reader, series.id)] if series is not None else []


def series_of(run: RunRow) -> SeriesSettings | None:
    """Return the series that a run belongs to."""
    return RunSettings.from_json(json.loads(run.config_json)).series


def runs_of(reader: Reader, series_id: str) -> list[RunRow]:
    """Return the stored runs of a series that were not deleted, oldest first."""
    found = [run for run in reader.runs() if f'"{series_id}"' in run.config_json]
    return [run for run in found if (series := series_of(run)) is not None and series.id == series_id]


def ranking(reader: Reader, run_ids: Sequence[int]) -> Iterator[fig.Figure]:
    """Yield the table and what it says in a sentence; of a crossed series a grid, who describes and who writes well."""
    runs = [reader.run(run_id) for run_id in run_ids]
    kind = task(runs[0].task)
    if any(run.task != kind.name for run in runs):
        raise UserError("These runs are of several tasks.", "Rank runs of one task.")
    if len({run.fingerprint for run in runs}) > 1:
        raise UserError("These runs are on several projects, or on several states of one.", "Rank runs on one project.")
    values = {run.id: _values(reader, run) for run in runs}
    series = [series_of(run) for run in runs]
    crossed = all(each is not None and each.cross and each == series[0] for each in series)
    open_runs = sum(run.status in GROWING for run in runs)
    growing = [f"{counted(open_runs, 'run')} still growing"] if open_runs else []
    if len({each.id for each in series if each}) == 1 and series[0] is not None and series[0].runs > len(runs):
        growing.append(f"{counted(series[0].runs - len(runs), 'run')} to come")
    unlike = [row for run in runs[1:] for row in differing_settings(runs[0], run) if row[0] in TRUNCATION]
    note = "Not comparable: top-k or top-p is not the same in all runs, so nobody is called better." if unlike else ""
    if growing:
        note = f"Provisional, {' and '.join(growing)}: nobody is called better until all are done."
    answers = {run.id: run.answers for run in runs}
    if not crossed:
        names = dict(zip(values, model_names(runs), strict=True))
        rows = {names[run_id]: (each, (fig.Link(run_id),)) for run_id, each in values.items()}
        yield from _ranked(kind, "ranking", "Ranking", rows, note, answers)
    else:
        yield from _crossed(kind, runs, values, note, answers)
    yield from costs.table(reader, runs)


def _values(reader: Reader, run: RunRow) -> dict[str, Mapping[str, float]]:
    return {item.key: item.measures for item in reader.items(run.id) if not item.extra and item.headline is not None}


def model_names(runs: Sequence[RunRow]) -> list[str]:
    """Return the name of each run, or else of its models, with its number where two would be called alike."""
    plain = [run.name or run.models for run in runs]
    return [f"{name} (run {run.id})" if plain.count(name) > 1 else name for name, run in zip(plain, runs, strict=True)]


def _ranked(
    kind: Kind,
    name: str,
    title: str,
    rows: Mapping[str, tuple[Values, tuple[fig.Link, ...]]],
    note: str,
    answers: Mapping[int, Answers],
) -> Iterator[fig.Figure]:
    measure = kind.measure(kind.headline)
    every = set.intersection(*(set(each) for each, _ in rows.values()))
    common = sorted(every)
    if not common:
        text = f"No {kind.noun} is judged by all of them yet."
        yield fig.Sentence(fig.Head(f"{name}-verdict", title, "Verdict"), text=text, tone="muted", note=note)
        return
    ranks = ranked(measure, rows, common, decide=not note)
    over = f"Over the {counted(len(common), kind.noun)} that all have judged"
    scarce = few(len(common), kind.noun)
    yield fig.Sentence(
        fig.Head(f"{name}-verdict", title, "Verdict"),
        text=note or f"{over}, {_verdict(ranks)}",
        tone="muted" if note or ranks[0].alike else "good",
    )
    lines = []
    for each in ranks:
        rank = str(each.best) if each.best == each.worst else f"{each.best}–{each.worst}"
        any_other = len(each.alike) == len(ranks) - 1 > 1
        alike = "any other" if any_other else ", ".join(ranks[at].name for at in each.alike)
        of = sum((answers[link.run] for link in each.links if link.run is not None), Answers())
        read = (of.words or "all could be read") if of.made else ""
        lines.append(fig.Row((rank, each.name, each.mean, alike, read), links=each.links))
    yield fig.Table(
        fig.Head(name, f"{title}: {measure.title}", name.capitalize()),
        note=f"{over}; intervals of all means hold together, and so do those of all differences. {scarce}".strip(),
        columns=(
            fig.Column("Rank", tip="The ranks that the differences leave open"),
            fig.Column("Model"),
            fig.Column(measure.title, form_of(measure), better_of(measure)),
            fig.Column("Cannot be told apart from"),
            fig.Column("Answers", tip="Shares that were empty, cut at their limit, without code, or do not parse"),
        ),
        rows=tuple(lines),
    )


def _verdict(ranks: Sequence[Rank]) -> str:
    first = ranks[0]
    if not first.alike:
        return f"{first.name} is better than {'every other' if len(ranks) > 2 else ranks[1].name}."
    if all(len(each.alike) == len(ranks) - 1 for each in ranks):
        return "none can be told apart from another." if len(ranks) > 2 else "the two cannot be told apart."
    others = " and ".join(ranks[at].name for at in first.alike)
    return f"{first.name} leads, but cannot be told apart from {others}."


def ranked(
    measure: Measure,
    rows: Mapping[str, tuple[Values, tuple[fig.Link, ...]]],
    common: Sequence[str],
    decide: bool = True,
) -> list[Rank]:
    """Return the ranks of two or more over the items `common`, the best first; without `decide` every order stays open.

    Whose files were shown otherwise in more than a few items are not told apart: the difference may be that.
    """
    sign = -1.0 if measure.higher_is_better is False else 1.0
    values = {name: [each[key][measure.name] for key in common] for name, (each, _) in rows.items()}
    order = sorted(values, key=lambda name: -sign * sum(values[name]))
    better: set[tuple[str, str]] = set()
    level = joint_level(len(order))
    for first, second in combinations(order, 2) if decide else ():
        one, two = rows[first][0], rows[second][0]
        unlike = sum(abs(one[key].get("shown", 1.0) - two[key].get("shown", 1.0)) > UNLIKE for key in common)
        if unlike <= MOST_UNLIKE * len(common):
            continuous, other = measure.continuous, values[second]
            _, low, high = interval(values[first], measure.lowest, against=other, level=level, continuous=continuous)
            if low > 0 or high < 0:
                better.add((first, second))
    ranks = []
    for name in order:
        above = sum((other, name) in better for other in order)
        below = sum((name, other) in better for other in order)
        alone = 1 - (1 - LEVEL) / len(order)
        bounds = interval(values[name], measure.lowest, level=alone, continuous=measure.continuous)
        alike = [
            at
            for at, other in enumerate(order)
            if other != name and (other, name) not in better and (name, other) not in better
        ]
        mean = Estimate(*bounds, len(common))
        ranks.append(Rank(name, mean, 1 + above, len(order) - below, tuple(alike), rows[name][1]))
    return ranks


def _crossed(
    kind: Kind, runs: Sequence[RunRow], values: Mapping[int, Values], note: str, answers: Mapping[int, Answers]
) -> Iterator[fig.Figure]:
    """Yield every describer with every writer, then who describes and who writes well.

    A side's value of an item is its mean over all partners that have it; items that a partner lacks are left out.
    """
    by_models = {(_identity(run, "forward"), _identity(run, "backward")): run for run in runs}
    alone = [run for (forward, backward), run in by_models.items() if forward == backward]
    models = dict(zip((_identity(run, "forward") for run in alone), model_names(alone), strict=True))
    pairs = {pair: run for pair, run in by_models.items() if set(pair) <= set(models)}
    measure, names, cells = kind.measure(kind.headline), tuple(models.values()), []
    for (forward, backward), run in pairs.items():
        score = run.scores.get(measure.name)
        if score is not None and score.value is not None:
            cells.append(fig.Cell(models[forward], models[backward], score, links=(fig.Link(run.id),)))
    yield fig.Grid(
        fig.Head("cross", f"{measure.title} of every describer with every writer", "Cross"),
        note=note or "A row describes, a column writes; intervals are each cell's own.",
        rows=fig.Categories("describes", names),
        columns=fig.Categories("writes", names),
        scale=fig.Axis(measure.title, measure.lowest, 1.0, better_of(measure), form_of(measure)),
        cells=tuple(cells),
    )
    for side, name, title in ((0, "describers", "Who describes well"), (1, "writers", "Who writes well")):
        rows: dict[str, tuple[Values, tuple[fig.Link, ...]]] = {}
        for identity, model in models.items():
            own = [run for pair, run in pairs.items() if pair[side] == identity]
            parts = [values[run.id] for run in own]
            keys = set.intersection(*(set(part) for part in parts)) if parts else set()
            means = {key: _mean([part[key] for part in parts]) for key in keys}
            rows[model] = (means, tuple(fig.Link(run.id) for run in own))
        yield from _ranked(kind, name, title, rows, note, answers)


def _mean(measures: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = set.intersection(*(set(each) for each in measures))
    return {name: sum(each[name] for each in measures) / len(measures) for name in names}


def _identity(run: RunRow, role: str) -> tuple[str, ...]:
    """Return what identifies a model: its hash, whichever file it came from, or else its name and path."""
    model = json.loads(run.model_json)[role]
    return (model["sha256"],) if model["sha256"] else (model["name"], model["path"])
