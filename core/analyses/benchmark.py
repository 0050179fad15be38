"""RTC beside pass@1: does it rank models alike, and which problems of one model part them (RTC paper, Sec. 5.1)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from rtc_inspector.core import figures as fig
from rtc_inspector.core.analyses.ranking import model_names
from rtc_inspector.core.kinds import counted
from rtc_inspector.core.metrics import validity
from rtc_inspector.core.metrics.paired import mean_difference
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import ItemRow, RunRow
from rtc_inspector.core.types import Estimate

SOLVED = "pass@1"
BENCHMARK = "benchmark"  # the facet that says which benchmark a problem is of
SHOWN = (SOLVED, "rtc")
TITLES = {"rtc": "RTC", "lift": "lift"}
HEADS = {"rtc": "RTC", "lift": "Lift"}
NAMES = {"pearson": "r", "spearman": "rho"}
SO_FEW = 8  # models up to which a reader is told how little as few as the paper's prove
PAPER = "As few prove little: the paper's r = 0.947, over five models, has an interval of 0.40 to 0.997."


@dataclass(frozen=True, slots=True)
class System:
    """A run as one model among others: its figures with their intervals, and each problem's.

    `model`: what two runs of one model have in common, whatever they are called beside each other.
    """

    name: str
    run: int
    scores: Mapping[str, Estimate]
    problems: Mapping[str, Mapping[str, float]]
    model: str = ""


def figures(reader: Reader, run_ids: Sequence[int], chosen: Mapping[str, str]) -> Iterator[fig.Figure]:
    """Yield figures of whether several runs are ranked alike, and of where solving and round trips part in each run."""
    every = [reader.run(run_id) for run_id in run_ids]
    runs = [run for run in every if all(name in run.scores and run.scores[name].value is not None for name in SHOWN)]
    if not runs:
        yield fig.Sentence(
            fig.Head("ranking", "RTC beside pass@1"),
            text="No problem of these runs has both a judged solution and a judged round trip yet.",
        )
        return
    items = {run.id: [i for i in reader.items(run.id) if SOLVED in i.measures and "rtc" in i.measures] for run in runs}
    systems = []
    for name, run in zip(model_names(runs), runs, strict=True):
        measures = {item.key: item.measures for item in items[run.id]}
        systems.append(System(name, run.id, run.scores, measures, f"{run.model_name} {run.backward_model_name}"))
    for measure in ("rtc", "lift"):
        yield ranking(systems, measure)
        yield agreement(systems, measure)
    if len(runs) > 1:
        for measure in ("rtc", "lift"):
            yield _by_benchmark(reader, runs, measure)
    for run in runs:
        own = items[run.id]
        yield from fig.one_of(runs, run.id, (_against_solved(own, run), _parting(own), _solved_only(own, run)))


def ranking(systems: Sequence[System], measure: str) -> fig.Scatter:
    """Draw a point for each model: pass@1 against RTC or lift, both with their intervals over problems."""
    title = TITLES[measure]
    return fig.Scatter(
        fig.Head(
            "ranking" if measure == "rtc" else f"ranking-{measure}", f"{HEADS[measure]} against pass@1", HEADS[measure]
        ),
        note="One point a run; bars are 95 % intervals over its problems.",
        x=fig.Axis(SOLVED, 0, 1, "up"),
        y=fig.Axis(title, 0 if measure == "rtc" else None, 1 if measure == "rtc" else None, "up"),
        points=tuple(
            fig.Point(each.scores[SOLVED], each.scores[measure], each.name, links=(fig.Link(each.run),))
            for each in systems
            if measure in each.scores
        ),
        noun="runs",
    )


def agreement(systems: Sequence[System], measure: str) -> fig.Sentence:
    """Tell Pearson's r and Spearman's rho over the models, and how little a few models prove."""
    name, title = f"agreement-{measure}", f"Does {TITLES[measure]} rank models as pass@1 does?"
    points = [(s.scores[SOLVED].value, s.scores[measure].value, s) for s in systems if measure in s.scores]
    pairs = [(x, y, system) for x, y, system in points if x is not None and y is not None]
    both = [system for *_, system in pairs]
    if len(pairs) < validity.FEWEST:
        text = f"{len(pairs)} {'model is' if len(pairs) == 1 else 'models are'} too few: nothing follows. "
        text += "Even the paper's r = 0.947, over five, has an interval of 0.40 to 0.997."
        return fig.Sentence(fig.Head(name, title), text=text, tone="muted")
    first, second = [x for x, _, _ in pairs], [y for _, y, _ in pairs]
    r, rho = validity.pearson(first, second), validity.spearman(first, second)
    if r is None or rho is None:
        return fig.Sentence(fig.Head(name, title), text="One of the two is the same for all models: no correlation.")
    if (apart := _told_apart(both)) is not None and not apart:
        text = f"None of the {math.comb(len(pairs), 2)} pairs of {_counted(both)} is told "
        text += "apart by pass@1 on the same problems: what cannot be told apart has no order to rank against."
        return fig.Sentence(fig.Head(name, title), text=text, tone="muted")
    parts = [f"Pearson r = {r:.2f}{_range(validity.fisher_interval(r, len(pairs)))}"]
    p = validity.spearman_p(first, second)
    parts.append(f"Spearman rho = {rho:.2f}" + (f" (two-sided p = {p:.3f} by all orders)" if p is not None else ""))
    problems = (((key, each) for key, each in system.problems.items() if measure in each) for system in both)
    drawn = validity.resampled([{key: (each[SOLVED], each[measure]) for key, each in own} for own in problems])
    over = " and ".join(f"{NAMES[name]} from {low:.2f} to {high:.2f}" for name, (low, high) in drawn.items())
    sentences = [f"Over {_counted(both)}: {'; '.join(parts)}."]
    sentences += [f"Had other problems been drawn for these models: {over}."] if over else []
    sentences += [PAPER] if len(pairs) <= SO_FEW else []
    return fig.Sentence(fig.Head(name, title), text=" ".join(sentences))


def _told_apart(systems: Sequence[System]) -> int | None:
    """Return how many pairs differ in pass@1 on the problems of both; None where problems are not known."""
    solved = [{key: each[SOLVED] for key, each in system.problems.items() if SOLVED in each} for system in systems]
    if not all(solved):
        return None
    found = 0
    for one, other in combinations(solved, 2):
        common = sorted(one.keys() & other.keys())
        sides = [one[key] for key in common], [other[key] for key in common]
        found += bool(common) and mean_difference(*sides, runs=len(systems)).decided
    return found


def _counted(systems: Sequence[System]) -> str:
    """Write `5 models`; of runs that are not of different models, or not on the same problems, what they are."""
    models = len({system.model or system.name for system in systems})
    alike = len({frozenset(system.problems) for system in systems}) == 1
    words = f"{len(systems)} models" if models == len(systems) else f"{len(systems)} runs of {counted(models, 'model')}"
    return words if alike else f"{words}, not all on the same problems"


def _range(bounds: tuple[float, float] | None) -> str:
    return f" (95 % interval {bounds[0]:.2f} to {bounds[1]:.3f})" if bounds is not None else ""


def _by_benchmark(reader: Reader, runs: Sequence[RunRow], measure: str) -> fig.Bars:
    """Draw models side by side on each benchmark (the paper's Fig. 2 and 5)."""
    rows = [(run, row) for run in runs for row in reader.facets(run.id) if row.facet == BENCHMARK]
    names = tuple(dict.fromkeys(row.value for _, row in rows))
    return fig.Bars(
        fig.Head(f"benchmarks-{measure}", f"{HEADS[measure]} by benchmark", f"{HEADS[measure]} by benchmark"),
        categories=fig.Categories("benchmark", names),
        y=fig.Axis(TITLES[measure], better="up"),
        bars=tuple(
            fig.Bar(row.value, row.scores[measure], run.label, links=(fig.Link(run.id),))
            for run, row in rows
            if measure in row.scores
        ),
    )


# --------------------------------------------------------------------------- inside one model


def _against_solved(items: Sequence[ItemRow], run: RunRow) -> fig.Histogram:
    values, solved = [item.measures["rtc"] for item in items], [item.measures[SOLVED] > 0 for item in items]
    area, r = validity.auc(values, solved), validity.pearson(values, solved)
    area_words = f"AUC {area:.2f}" if area is not None else "All are solved, or none is, so there is no AUC"
    area_words += f" · r {r:+.2f}" if r is not None else ""
    return fig.Histogram(
        fig.Head("solved", "RTC of solved and unsolved problems", "Solved"),
        note=f"{area_words} · {sum(solved)} solved, {len(solved) - sum(solved)} not. "
        "AUC: the chance that a solved problem has the larger RTC.",
        x=fig.Axis("RTC of a problem", 0, 1, "up"),
        noun="problems",
        values=tuple(
            fig.Observation(value, "solved" if did else "not solved", fig.Link(run.id, item.id))
            for value, did, item in zip(values, solved, items, strict=True)
        ),
        groups={"solved": "good", "not solved": "bad"},
    )


def _parting(items: Sequence[ItemRow]) -> fig.Table:
    rows = []
    for name, solved in (("solved", True), ("not solved", False)):
        row = [item.measures["rtc"] > 0 for item in items if (item.measures[SOLVED] > 0) is solved]
        rows.append(fig.Row((name, sum(row), len(row) - sum(row))))
    return fig.Table(
        fig.Head("parting", "Solving and round trips", "2 x 2"),
        note="A problem is round-tripped when at least one of its reconstructions passes.",
        columns=fig.columns("Problems | Round-tripped: count | Not round-tripped: count"),
        rows=tuple(rows),
    )


def _solved_only(items: Sequence[ItemRow], run: RunRow) -> fig.Table:
    """Return the problems that the model can write from a person's words, and not from its own: the list to read."""
    found = [item for item in items if item.measures[SOLVED] > 0 and item.measures["rtc"] == 0]
    rows = []
    for item in found:
        cells = (item.key, item.origin.get("function", ""), item.measures[SOLVED], item.measures.get("baseline"))
        rows.append(fig.Row((*cells, item.recitation), links=(fig.Link(run.id, item.id),)))
    return fig.Table(
        fig.Head("solved-only", "Solved, but not round-tripped", "To read"),
        note="The model writes these from a person's words, and not from its own." if found else "There is none.",
        columns=fig.columns(
            f"Problem | Function | {SOLVED}: number up | Baseline: number | Largest recitation: number"
        ),
        rows=tuple(rows),
    )
