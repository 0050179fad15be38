"""The audit, third part: how well each metric tells what passes, beyond counting edits, and where it misleads."""

from __future__ import annotations

import numpy as np

from rtc_inspector.core.analyses.audit.judged import (
    BINS,
    EFFORT,
    LISTED,
    Judged,
    area_of,
    axis_of,
    estimated,
    p_text,
    short,
)
from rtc_inspector.core.figures import (
    Axis,
    Bar,
    Bars,
    Categories,
    Choice,
    Column,
    Estimate,
    Guide,
    Histogram,
    Observation,
    Point,
    Row,
    Scatter,
    Table,
    columns,
)
from rtc_inspector.core.figures.reading import in_words
from rtc_inspector.core.kinds import counted
from rtc_inspector.core.metrics.paired import holm
from rtc_inspector.core.metrics.registry import metric
from rtc_inspector.core.metrics.validity import (
    auc_difference_p,
    clustered_auc,
    correlation,
    numbered,
    rank_correlation,
    tau,
    within,
)

HIGH = 0.9
"""A failing sample above it misleads."""


def best_metric(judged: Judged) -> str:
    """The metric with the largest AUC among those that every sample has."""
    whole = [name for name in judged.aucs if judged.known(name).all()]
    return max(whole, key=lambda name: (judged.aucs[name].value, name == EFFORT), default="")


def areas(judged: Judged) -> Bars:
    """Return bars of how well each metric tells what passes, by its AUC."""
    names = sorted(judged.aucs, key=lambda name: -judged.aucs[name].value)
    return Bars(
        name="auc",
        title="Telling pass from fail (AUC)",
        short="AUC",
        note="The chance that a passing sample has the larger value than a failing one, with 95 % intervals that count "
        "problems. 0.5 tells nothing."
        if names
        else "All samples pass, or all fail, or no metric varies: there is no AUC.",
        categories=Categories("metric", tuple(map(short, names))),
        y=Axis("AUC", 0, 1, "up"),
        bars=tuple(
            Bar(
                short(name),
                area_of(judged.aucs[name]),
                links=judged.ordered(judged.misleading(name, high=True)),
            )
            for name in names
        ),
        guides=(Guide("y", 0.5, "chance"),),
    )


def validity(judged: Judged) -> Table:
    """Correlation with passing and with editing effort (Sec. 6.2)."""
    passing = judged.passed.astype(np.float64)
    rows = []
    for name, values in judged.columns.items():
        known = judged.known(name, EFFORT)
        here, clusters = values[known], numbered(judged.clusters[known].tolist())
        with_pass = correlation(here, passing[known], clusters)
        inside = within(here, judged.passed[known], clusters)
        effort = judged.columns[EFFORT][known]
        same = name == EFFORT
        tau_b, rho = (None, None) if same else (tau(here, effort), rank_correlation(here, effort, clusters))
        area = judged.aucs.get(name)
        rows.append(
            Row(
                (
                    short(name),
                    area_of(area) if area else None,
                    estimated(with_pass),
                    p_text(with_pass.p if with_pass else None),
                    estimated(inside),
                    estimated(tau_b),
                    estimated(rho),
                    int(known.sum()),
                ),
                links=judged.ordered(judged.misleading(name, high=True)),
            )
        )
    return Table(
        name="validity",
        title="Passing, and editing effort",
        short="Validity",
        note="r: point-biserial, and inside problems with each problem's mean taken off. Its p takes samples to be "
        "independent, as the paper does; the 95 % intervals count problems. tau-b and rho: with EDIT-SIM. "
        "A row leads to failing samples with high values.",
        columns=columns(
            "Metric | AUC: number up | r with passing: signed up | p of r | r inside problems: signed up | "
            "tau-b with EDIT-SIM: signed | rho with EDIT-SIM: signed | Samples: count"
        ),
        rows=tuple(rows),
    )


def effort_differences(judged: Judged) -> list[tuple[str, float, float, float]]:
    """Metric, AUC less that of EDIT-SIM on the same samples, p, and p by Holm over all metrics."""
    found = []
    for name in judged.columns:
        if name == EFFORT or name not in judged.aucs or EFFORT not in judged.aucs:
            continue
        # On the same samples, or the difference would be that of the samples.
        known = judged.known(name, EFFORT)
        clusters = numbered(judged.clusters[known].tolist())
        one, other = (
            clustered_auc(judged.columns[each][known], judged.passed[known], clusters) for each in (name, EFFORT)
        )
        if one is not None and other is not None:
            found.append((name, one.value - other.value, auc_difference_p(one, other)))
    adjusted = holm([p for *_, p in found])
    return [(*each, p) for each, p in zip(found, adjusted, strict=True)]


def against_effort(judged: Judged) -> Table:
    """Return whether anything is better than counting edits."""
    found = effort_differences(judged)
    return Table(
        name="effort",
        title="Better than EDIT-SIM?",
        short="Better?",
        note="AUC less that of EDIT-SIM on the same samples; p counts problems."
        if found
        else "Without an AUC there is nothing to compare.",
        columns=columns("Metric | AUC less EDIT-SIM's: signed up | p | p by Holm | p by Bonferroni"),
        rows=tuple(
            Row(
                (short(name), apart, p_text(p), p_text(adjusted), p_text(min(1.0, p * len(found)))),
                links=judged.ordered(judged.misleading(name, high=True)),
            )
            for name, apart, p, adjusted in found
        ),
    )


def verdicts(judged: Judged, name: str, choice: Choice) -> Histogram:
    """One metric of passing and of failing samples, back to back."""
    area, about = judged.aucs.get(name), metric(name)
    said = f"AUC {in_words(area_of(area))} · " if area else ""
    passing = int(judged.passed.sum())
    return Histogram(
        name="verdicts",
        title=f"{about.short} of passing and failing samples",
        short="Pass and fail",
        note=f"{said}{passing:,} passed, {len(judged.rows) - passing:,} did not",
        choices=(choice,),
        x=axis_of(about),
        noun="samples",
        values=tuple(
            Observation(value, "passed" if passed else "failed", link)
            for value, passed, link in zip(judged.columns[name].tolist(), judged.passed, judged.links, strict=True)
            if value == value
        ),
        groups={"passed": "good", "failed": "bad"},
        most_bins=BINS,
    )


def scatter(judged: Judged, name: str, choice: Choice) -> Scatter:
    """One metric against passing: a point for the samples of one problem and outcome, at their mean value."""
    about = metric(name)
    rates: dict[int, list[bool]] = {}
    for cluster, passed in zip(judged.clusters.tolist(), judged.passed.tolist(), strict=True):
        rates.setdefault(cluster, []).append(passed)
    groups: dict[tuple[int, bool], list[int]] = {}
    for at in np.flatnonzero(judged.known(name)).tolist():
        groups.setdefault((int(judged.clusters[at]), bool(judged.passed[at])), []).append(at)
    values = judged.columns[name]
    points = []
    for (cluster, passed), places in groups.items():
        share = sum(rates[cluster]) / len(rates[cluster])
        points.append(
            Point(
                Estimate(float(values[places].mean())),
                Estimate(share),
                tone="good" if passed else "bad",
                count=len(places),
                links=tuple(judged.links[at] for at in places[:LISTED]),
            )
        )
    return Scatter(
        name="scatter",
        title=f"{about.short} against passing",
        short="Scatter",
        note="A point stands for the passing (green) or failing (red) samples of one problem: their mean value, and "
        "how much of the problem's code passes. Red on the right and green on the left mislead.",
        choices=(choice,),
        x=axis_of(about),
        y=Axis("share of the problem's samples that pass", 0, 1, "up"),
        points=tuple(points),
        guides=(Guide("x", HIGH, f"{HIGH}"),),
        noun="samples",
    )


def misleading(judged: Judged, name: str, choice: Choice, *, high: bool) -> Table:
    """The corner to read: failing samples that look right, or passing ones that look wrong."""
    places = judged.misleading(name, high=high)
    what = "Failing, with a high" if high else "Passing, with a low"
    total = counted(len(places), f"{'failing' if high else 'passing'} sample")
    return Table(
        name="high-and-fail" if high else "low-and-pass",
        title=f"{what} {short(name)}",
        short="High, fails" if high else "Low, passes",
        note=f"The {min(LISTED, len(places))} that mislead most, of {total}." if len(places) else "There is none.",
        choices=(choice,),
        columns=(
            Column(short(name), "number"),
            *(() if name == EFFORT else (Column(short(EFFORT), "number"),)),
            Column("Problem"),
            Column("Run"),
            Column("Role"),
        ),
        rows=tuple(
            Row(
                (
                    float(judged.columns[name][at]),
                    *(() if name == EFFORT else (float(judged.columns[EFFORT][at]),)),
                    judged.rows[at].key,
                    judged.systems[judged.system[at]].name,
                    judged.rows[at].role,
                ),
                links=(judged.links[at],),
            )
            for at in places[:LISTED].tolist()
        ),
    )
