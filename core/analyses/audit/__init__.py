"""The metric audit: which similarity can stand in for tests (Naik 2024, Sec. 5 and 6), on any judged code.

The figures come in the paper's order: bounds and shape of each metric, ties, agreement between metrics, power to tell
systems apart, correlation with passing and with editing effort. Beside them stands what the paper leaves out: intervals
that count problems, correlation inside problems, AUC, and the samples that mislead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rtc_inspector.core.analyses.audit.judged import EFFORT, Judged, area_of, read, short
from rtc_inspector.core.analyses.audit.passing import (
    HIGH,
    against_effort,
    areas,
    best_metric,
    effort_differences,
    misleading,
    scatter,
    validity,
    verdicts,
)
from rtc_inspector.core.analyses.audit.shape import distribution, perturbations, shapes, spreads
from rtc_inspector.core.analyses.audit.systems import agreement, between, separation, tied
from rtc_inspector.core.figures import Choice, Figure, Sentence
from rtc_inspector.core.figures.reading import in_words
from rtc_inspector.core.kinds import counted
from rtc_inspector.core.metrics.statistics import LEVEL
from rtc_inspector.core.store.reader import Reader

SAMPLES = {"all": "all judged code", "described": "without baselines"}
_WAIT = "`rtc-inspector analyse RUN... --kind audit` scores them; in the window, press Score."


def figures(reader: Reader, run_ids: Sequence[int], chosen: Mapping[str, str]) -> Iterator[Figure]:
    """The figures of all judged code of the runs together.

    `chosen["metric"]` is drawn by itself, `chosen["test"]` holds systems apart, `chosen["samples"]` says which code.
    """
    samples = chosen.get("samples") if chosen.get("samples") in SAMPLES else "all"
    judged = read(reader, run_ids, baselines=samples == "all")
    yield summary(judged)
    if not judged.rows:
        return
    yield from _notes(judged)
    best = best_metric(judged)
    shown = chosen.get("metric", "")
    shown = shown if shown in judged.columns else best or EFFORT
    choice = Choice("metric", "Metric", {name: short(name) for name in judged.columns}, shown)
    which = Choice("samples", "Samples", SAMPLES, samples or "all")
    yield shapes(judged, which)
    yield spreads(judged)
    yield distribution(judged, shown, choice)
    yield tied(judged)
    yield agreement(judged)
    yield from separation(judged, chosen.get("test", ""))
    yield areas(judged)
    yield validity(judged)
    yield against_effort(judged)
    yield verdicts(judged, shown, choice)
    yield scatter(judged, shown, choice)
    yield misleading(judged, shown, choice, high=True)
    yield misleading(judged, shown, choice, high=False)
    if (table := perturbations(judged)) is not None:
        yield table
    yield from between(judged)


def summary(judged: Judged) -> Sentence:
    """The finding, from the data."""
    title = "Which metric can stand in for tests?"
    count, passing = len(judged.rows), int(judged.passed.sum())
    if not count:
        waiting = f"{counted(judged.unscored, 'judged sample')} of these runs {'is' if judged.unscored == 1 else 'are'}"
        text = f"{waiting} not scored yet. {_WAIT}" if judged.unscored else "These runs hold no judged code to compare."
        return Sentence(name="summary", title=title, text=text, tone="muted")
    best = best_metric(judged)
    if not best:
        why = "pass" if passing == count else "fail" if not passing else ""
        said = f"all {why}" if why else "have the same value of every metric"
        text = f"These {counted(count, 'sample')} {said}: no metric can be said to tell passing code from failing."
        return Sentence(name="summary", title=title, text=text, tone="warn")
    area = judged.aucs[best]
    fooled = judged.misleading(best, high=True)
    above = int((judged.columns[best][fooled] > HIGH).sum())
    text = (
        f"On these {counted(count, 'sample')} {short(best)} tells pass from fail with AUC "
        f"{in_words(area_of(area))}; {_better(judged)}; "
        f"{above:,} failing {'sample scores' if above == 1 else 'samples score'} above {HIGH}."
    )
    return Sentence(name="summary", title=title, text=text, links=judged.ordered(fooled))


def _better(judged: Judged) -> str:
    found = [name for name, apart, _, adjusted in effort_differences(judged) if apart > 0 and adjusted < 1 - LEVEL]
    if not found:
        return f"no metric is better than {short(EFFORT)} beyond chance"
    names = [short(name) for name in found]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{listed} {'is' if len(found) == 1 else 'are'} better than {short(EFFORT)} beyond chance"


def _notes(judged: Judged) -> Iterator[Sentence]:
    """Yield a note on what was left out, and on what cannot be told of these samples, if there is anything to note."""
    said = []
    if judged.unscored:
        said.append(f"{counted(judged.unscored, 'judged sample')} not scored yet: {_WAIT}")
    absent: dict[int, list[str]] = {}
    for name, values in judged.columns.items():
        known = values[judged.known(name)]
        if len(set(known)) == 1:
            said.append(f"{short(name)} is {known[0]:.2f} for all: no correlation.")
        if len(known) < len(values):
            absent.setdefault(len(values) - len(known), []).append(short(name))
    said += [f"Not defined for {counted(missing, 'sample')}: {', '.join(names)}." for missing, names in absent.items()]
    if len(judged.systems) < 2:
        said.append("One run only: ties and the power to tell systems apart need two.")
    said += [
        f"{each.name} leaves out {counted(each.run.items_dropped, 'item')}: nothing left out counts as 0."
        for each in judged.systems
        if each.run.items_dropped
    ]
    if said:
        yield Sentence(name="notes", title="To keep in mind", short="Notes", text="\n".join(said), tone="muted")
