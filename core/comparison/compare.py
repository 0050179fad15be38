"""Two stored runs of one task on one project, paired by item: who does better, by how much, and on which items."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rtc_inspector.core.comparison.comparison import Comparison, Difference, FilePair, Leftover, Pair, paired, ranked
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import task
from rtc_inspector.core.metrics.paired import TwoByTwo, holm, mean_difference
from rtc_inspector.core.metrics.statistics import interval
from rtc_inspector.core.settings.words import flat, words_of
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import NOTHING, ItemRow, RunRow
from rtc_inspector.core.store.scores import Bounds
from rtc_inspector.core.types import Estimate

_FILE = ("name", "quantization", "sha256", "served", "template_sha256")
_MODEL = (*_FILE, "context_size", "prompt_style", "backward_style", "calibration", "build", "conditions")
_ELSEWHERE = frozenset({"model", "backward_model", "series", "cluster", "task", "version", "prompts"})
"""Settings that the model's own record tells better, or that are checked before."""


def differing_settings(first: RunRow, second: RunRow) -> tuple[tuple[str, str, str], ...]:
    """Return what two runs were made with where they differ: name, value in the first, value in the second."""
    conditions = [dict(_conditions(run)) for run in (first, second)]
    names = list(dict.fromkeys([*conditions[0], *conditions[1]]))
    rows = ((name, conditions[0].get(name, "-"), conditions[1].get(name, "-")) for name in names)
    return tuple(row for row in rows if row[1] != row[2])


def _conditions(run: RunRow) -> Iterator[tuple[str, str]]:
    models = _object(run.model_json)
    for role in ("forward", "backward"):
        model = models.get(role) or {}
        yield from ((f"{role} model {name.replace('_', ' ')}", str(model.get(name) or "-")) for name in _MODEL)
    config = _object(run.config_json)
    if task(run.task).has("prompts"):
        words = flat(words_of(run.task, str(config.get("prompts") or "")))
        yield from ((f"words of {key.replace('.', ' ')}", text.strip()) for key, text in words)
    yield from _flat(config)
    yield "revision", f"{run.revision or '-'}{' (modified)' if run.dirty else ''}"
    yield "files", run.fingerprint[:12]
    yield "sandbox", run.sandbox
    yield "version", run.app_version


def _flat(values: dict[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if not before and name in _ELSEWHERE:
            continue
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name} ")
        else:
            yield f"{before}{name}".replace("_", " "), json.dumps(value)


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def compare_runs(reader: Reader, run_ids: Sequence[int]) -> list[Comparison]:
    """Compare each run but the first with the first.

    Raises UserError: fewer than two runs, one named twice, another task or project, no common item. StoreError: an
    unknown run.
    """
    if len(run_ids) < 2:
        remedy = "Name further runs, as `rtc-inspector runs` prints them."
        raise UserError("A comparison needs two runs or more.", remedy)
    for run_id in run_ids:
        if run_ids.count(run_id) > 1:
            raise UserError(f"Run {run_id} is named more than once.", "Name different runs: a run equals itself.")
    runs = [reader.run(run_id) for run_id in run_ids]
    for run in runs[1:]:
        _check_alike(runs[0], run)
    reference = _items(reader, runs[0])
    comparisons = [_compare(runs[0], reference, run, _items(reader, run), len(runs)) for run in runs[1:]]
    adjusted = holm([each.mcnemar.mcnemar_p for each in comparisons])
    return [replace(each, p_adjusted=p) for each, p in zip(comparisons, adjusted, strict=True)]


def _check_alike(first: RunRow, second: RunRow) -> None:
    if first.task != second.task:
        raise UserError(
            f"Run {first.id} is of the task {first.task}, run {second.id} of {second.task}.",
            "Compare runs of one task.",
        )
    # The same files in another folder, as a bundle brings them, are the same project.
    if first.project_root != second.project_root and first.fingerprint != second.fingerprint:
        raise UserError(
            f"Run {first.id} is on {_source(first)}, run {second.id} on {_source(second)}.",
            "Compare runs on one project.",
        )
    # The headline of one run must be measured as that of the other.
    kind = task(first.task)
    measured_by = [path.split(".") for path in kind.measured_by]
    used = [[_object(run.config_json).get(part, {}).get(name) for part, name in measured_by] for run in (first, second)]
    if used[0] != used[1]:
        title = kind.measure(kind.headline).title
        raise UserError(
            f"The {title} of run {first.id} is measured by {used[0][0]}, that of run {second.id} by {used[1][0]}"
            f"{', another file' if used[0][0] == used[1][0] else ''}.",
            f"Compare runs that measure {title} by the same model.",
        )


def _source(run: RunRow) -> str:
    benchmark = _object(run.config_json).get("benchmark") or {}
    return str(benchmark.get("file") or run.project_root)


def _items(reader: Reader, run: RunRow) -> dict[str, ItemRow]:
    """Return admitted items by key; what a person tried by hand is no part of the sample."""
    return {item.key: item for item in reader.items(run.id) if item.admitted and not item.extra}


def _compare(
    first: RunRow, reference: Mapping[str, ItemRow], second: RunRow, others: Mapping[str, ItemRow], runs: int
) -> Comparison:
    met = [(item, others[key]) for key, item in reference.items() if key in others]
    # A key is a place in a file: after an edit other code may stand there.
    same = [(a, b) for a, b in met if (a.text, a.old_text) == (b.text, b.old_text)]
    pairs = ranked(paired(a, b) for a, b in same if a.headline is not None and b.headline is not None)
    if not pairs:
        raise _nothing_common(first, second, len(met), len(same))
    leftover = Leftover(len(reference) - len(met), len(others) - len(met), len(met) - len(same), len(same) - len(pairs))
    kind, further = task(first.task), [p for p in pairs if p.secondary is not None]
    solves = kind.measure(kind.headline).solves
    test = TwoByTwo.of((solves(p.first.headline or 0.0), solves(p.second.headline or 0.0)) for p in pairs)
    return Comparison(
        first,
        second,
        pairs,
        leftover,
        headline=_difference([p.first for p in pairs], [p.second for p in pairs], kind.headline, runs),
        secondary=_difference([p.first for p in further], [p.second for p in further], kind.secondary, runs),
        mcnemar=test,
        p_adjusted=test.mcnemar_p,
        runs=runs,
        files=tuple(_files(pairs)),
        settings=differing_settings(first, second),
    )


def _difference(first: Sequence[ItemRow], second: Sequence[ItemRow], name: str, runs: int) -> Difference:
    """Return means of a measure over the same items, and the difference as one of all pairs of `runs`."""
    if not first:
        return Difference(0, NOTHING, NOTHING, NOTHING, None)
    measure = task(first[0].task).measure(name)
    before, after = ([item.measures[name] for item in side] for side in (first, second))
    judged = mean_difference(before, after, measure.lowest, runs=runs, continuous=measure.continuous)
    bounds = Bounds(interval)
    return Difference(
        len(first),
        bounds.measure(measure, [item.measures for item in first]),
        bounds.measure(measure, [item.measures for item in second]),
        Estimate(judged.value, judged.low, judged.high, len(first)),
        judged,
    )


def _files(pairs: Sequence[Pair]) -> Iterator[FilePair]:
    by_path: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_path.setdefault(pair.first.file, []).append(pair)
    for path, group in sorted(by_path.items(), key=lambda each: (each[1][0].first.path, each[0])):
        first = sum(pair.first.headline or 0.0 for pair in group) / len(group)
        second = sum(pair.second.headline or 0.0 for pair in group) / len(group)
        yield FilePair(path, len(group), first, second)


def _nothing_common(first: RunRow, second: RunRow, met: int, alike: int) -> UserError:
    noun = task(first.task).noun
    if alike:
        return UserError(
            f"Run {first.id} and run {second.id} have {alike} {noun}s in common, none of them judged in both.",
            "Resume the unfinished run, then compare again.",
        )
    if met:
        problem = f"Run {first.id} and run {second.id} have {met} {noun}s at the same places, all with another text."
        return UserError(problem, "The code changed in between: run both models on the code as it is now.")
    remedy = f"Start a run with --seed {first.seed} and the settings of run {first.id}: it draws the same {noun}s."
    return UserError(f"Run {first.id} and run {second.id} have no {noun} in common.", remedy)
