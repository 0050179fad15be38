"""The audit, first part: each metric by itself, and after changes that keep the meaning."""

from __future__ import annotations

import numpy as np

from rtc_inspector.core.analyses.audit.judged import BINS, Judged, axis_of, estimated, short
from rtc_inspector.core.figures import (
    Axis,
    Categories,
    Cell,
    Choice,
    Estimate,
    Grid,
    Histogram,
    Observation,
    Row,
    Table,
    columns,
)
from rtc_inspector.core.metrics.registry import METRICS, PERTURBATIONS, metric
from rtc_inspector.core.metrics.statistics import interval
from rtc_inspector.core.metrics.validity import numbered, rank_correlation, shape, tau

TENTHS = 10


def shapes(judged: Judged, choice: Choice) -> Table:
    """Bounds, centre and moments (the paper's Tables 3 and 4)."""
    rows = []
    for name, values in judged.columns.items():
        known = judged.known(name)
        found, about = shape(values[known]), metric(name)
        places = np.flatnonzero(known)[np.argsort(values[known], kind="stable")]
        cells = (found.lowest, found.highest, found.mean, found.median, found.midhinge, found.sd)
        theory = f"{about.lowest:g} to {about.highest:g}"
        moments = (found.skewness, found.kurtosis, int(known.sum()))
        rows.append(Row((about.short, theory, *cells, *moments), links=judged.ordered(places[::-1])))
    return Table(
        name="shape",
        title="Bounds and distribution",
        short="Shape",
        note="Midhinge: (Q1 + Q3) / 2. Moments of the population; kurtosis in excess of the normal distribution's.",
        choices=(choice,),
        columns=columns(
            "Metric | Can be | Lowest: number | Highest: number | Mean: number | Median: number | Midhinge: number | "
            "SD: number | Skewness: signed | Kurtosis: signed | Samples: count"
        ),
        rows=tuple(rows),
    )


def spreads(judged: Judged) -> Grid:
    """Return all distributions in one grid (Fig. 1): how much of a metric's values lies where."""
    heads = tuple(f"{at / TENTHS:.1f}" for at in range(TENTHS))
    cells = []
    for name, values in judged.columns.items():
        places = np.flatnonzero(judged.known(name))
        inside = np.clip(np.floor(values[places] * TENTHS + 1e-9), 0, TENTHS - 1).astype(int)
        for at, head in enumerate(heads):
            here = places[inside == at]
            if len(here):
                value = Estimate(len(here) / len(places), n=len(here))
                cells.append(Cell(short(name), head, value, links=judged.ordered(here)))
    return Grid(
        name="spreads",
        title="Where the values of each metric lie",
        short="Distributions",
        note="Share of the samples from each value up to the next column's; values below 0 stand in the first.",
        rows=Categories("metric", tuple(map(short, judged.columns))),
        columns=Categories("value from", heads),
        scale=Axis("share of samples", 0, 1, form="share"),
        cells=tuple(cells),
    )


def distribution(judged: Judged, name: str, choice: Choice) -> Histogram:
    """One metric by itself (Fig. 1)."""
    about = metric(name)
    return Histogram(
        name="distribution",
        title=f"Distribution of {about.short}",
        short="One distribution",
        note=f"{about.title}: {about.meaning}",
        choices=(choice,),
        x=axis_of(about),
        noun="samples",
        values=tuple(
            Observation(value, link=link)
            for value, link in zip(judged.columns[name].tolist(), judged.links, strict=True)
            if value == value
        ),
        most_bins=BINS,
    )


def perturbations(judged: Judged) -> Table | None:
    """Return what changes that keep the meaning do to each metric (Table 6), or None where none was scored."""
    values: dict[tuple[str, str], dict[int, float]] = {}
    for at, row in enumerate(judged.rows):
        for name, value in row.scores.items():
            base, sign, how = name.split(":")[0].partition("@")
            if sign:
                model = f":{name.split(':')[1]}" if METRICS[base].needs == "model" else ""
                values.setdefault((base + model, how), {})[at] = value
    rows = []
    for name in judged.columns:
        for how, said in PERTURBATIONS.items():
            changed = values.get((name, how))
            if not changed:
                continue
            places = np.array(sorted(changed))
            before, after = judged.columns[name][places], np.array([changed[at] for at in sorted(changed)])
            clusters = judged.clusters[places].tolist()
            about, sides = metric(name), (after.tolist(), before.tolist())
            bounds = interval(sides[0], about.lowest, against=sides[1], clusters=clusters, continuous=about.continuous)
            most = places[np.argsort(-np.abs(after - before), kind="stable")]
            tau_b, rho = tau(before, after), rank_correlation(before, after, numbered(clusters))
            cells = (short(name), said, float(after.mean()), Estimate(*bounds, len(places)))
            left = len(judged.rows) - len(places)
            correlations = (estimated(tau_b), estimated(rho), len(places), left)
            rows.append(Row((*cells, *correlations), links=judged.ordered(most)))
    if not rows:
        return None
    return Table(
        name="perturbations",
        title="After changes that keep the meaning",
        short="Perturbed",
        note="The mean, how much that is above the unchanged one's on the same samples, and how alike both rank the "
        "samples. Left out: a side does not parse, or there is no function whose name could change.",
        columns=columns(
            "Metric | Change | Mean: number | Difference: signed | tau-b: signed | rho: signed | "
            "Samples: count | Left out: count"
        ),
        rows=tuple(rows),
    )
