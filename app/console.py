"""What the terminal shows of a run: progress, notices and a closing table; or its events as JSON lines, for scripts."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from rtc_inspector.app.output import terminal
from rtc_inspector.core.generation import Sample
from rtc_inspector.core.kinds import ROUND_TRIP, few, task
from rtc_inspector.core.run.events import (
    Event,
    ItemReady,
    Notice,
    RunFinished,
    RunStarted,
    SampleReady,
    ScoresReady,
    VerdictReady,
)
from rtc_inspector.core.run.events import Progress as Step
from rtc_inspector.core.store.rows import NOTHING, Answers, RunRow
from rtc_inspector.core.types import Estimate, Item, Verdict

if TYPE_CHECKING:
    from rtc_inspector.core.store.reader import Reader


class Display:
    """Follows a run. With `as_lines`, JSON goes to standard output and all else to standard error."""

    def __init__(self, as_lines: bool) -> None:
        self._as_lines = as_lines
        self._errors = Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rest]}", markup=False),
            console=self._errors,
            disable=as_lines or not self._errors.is_terminal,
        )
        self._task = self._bar.add_task("starting", total=None, rest="")
        self._stage = ""
        self._judged: dict[str, int] = {}

    def __enter__(self) -> Display:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def report(self, stage: str, done: int, total: int) -> None:
        self.follow(Step(stage, done, total))

    def notify(self, text: str) -> None:
        self._errors.print(f"note: {text}", style="yellow")

    def follow(self, event: Event) -> None:
        if isinstance(event, Step):
            self._step(event)
        elif isinstance(event, Notice):
            self.notify(event.text)
        elif isinstance(event, VerdictReady):
            self._judged[event.verdict.outcome] = self._judged.get(event.verdict.outcome, 0) + 1
        elif isinstance(event, RunFinished) and event.seconds and not self._as_lines:
            spent = ", ".join(f"{name} {duration(seconds)}" for name, seconds in event.seconds.items())
            self.notify(f"Where the time went: {spent}.")
        line = as_json(event) if self._as_lines else None
        if line is not None:
            print(line, flush=True)

    def _step(self, step: Step) -> None:
        rest = ", ".join(f"{count} {outcome}" for outcome, count in self._judged.items())
        if step.detail:
            rest += f"  {step.detail}"
        if step.tokens_per_second:
            rest += f"  {step.tokens_per_second:.0f} tok/s"
        if step.eta is not None:
            rest += f"  about {duration(step.eta)} left"
        self._bar.update(self._task, description=step.stage, completed=step.done, total=step.total or None, rest=rest)
        # In a log file a bar would be a thousand lines.
        if not self._errors.is_terminal and not self._as_lines and step.stage != self._stage:
            self._errors.print(f"{step.stage} ...")
        self._stage = step.stage


def duration(seconds: float) -> str:
    """Return a number of seconds as a person says them: 40 s, 4 min, 2 h 10 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def print_result(reader: Reader, run_id: int, database: str) -> None:
    """Print the closing table: scores of the run and of its files."""
    # Only here, since this module is loaded before a project's tests are started, and this with numpy.
    from rtc_inspector.app.figures import figure_table
    from rtc_inspector.core.analyses.costs import money_words, spent
    from rtc_inspector.core.analyses.scores import by_facet, files

    run = reader.run(run_id)
    console = terminal()
    table, stored = _scores_table(run), reader.metrics(run.id)
    for metric, words in task(run.task).metrics.items():
        if metric in stored:
            score = reader.score(run.id, metric)[0]
            table.add_row(words, *_cells(score), str(score.n))
    for each in spent(reader, run):
        thought = f" ({each.thought_tokens:,} of them thoughts)" if each.thought_tokens else ""
        written = f"{each.thought_tokens + each.answer_tokens:,} written{thought}"
        money = "" if each.money is None else f", {money_words(each.money)}"
        table.add_row(f"tokens of {each.model}", f"{each.prompt_tokens:,} read", written + money, "")
    console.print(table)
    items = [item for item in reader.items(run_id) if not item.extra]
    for figure in (*files(items, run), *by_facet(reader, run, items)):
        console.print(figure_table(figure))
    console.print(f"Run {run.id} ({run.status}) is stored in {database}", soft_wrap=True)


def _scores_table(run: RunRow) -> Table:
    kind = task(run.task)
    table = Table(title=f"{run.project_name}: {kind.title}, {run.model_name}", title_justify="left")
    for column in ("figure", "value", "95 % interval", f"{kind.noun}s"):
        table.add_column(column, justify="left" if column == "figure" else "right")
    for measure in sorted(kind.averaged, key=lambda each: each.name != kind.headline):
        score = run.scores.get(measure.name, NOTHING)
        if score.n or measure.name == kind.headline:
            table.add_row(measure.title, *_cells(score, signed=measure.lowest < 0), str(score.n))
    table.add_row(f"{kind.noun}s completed", str(run.items_complete), f"{run.items_dropped} dropped", "")
    table.add_row("samples", str(run.samples), f"{run.sandbox}", "")
    if run.answers.made:
        table.add_row("answers", str(run.answers.made), run.answers.words or "all could be read", "")
    remarks = (f"{each[:1].upper()}{each[1:]}{'' if each.endswith('?') else '.'}" for each in run.remarks)
    table.caption = " ".join(filter(None, [few(run.headline.n, kind.noun), *remarks])) or None
    return table


def _cells(score: Estimate, signed: bool = False) -> tuple[str, str]:
    from rtc_inspector.core.comparison.comparison import bounded

    value, _, interval = bounded(score, "+" if signed else "").partition(" (")
    return value, interval.removesuffix(")")


# --------------------------------------------------------------------------- events as JSON lines

_NAMES = {
    RunStarted: "run-started",
    ItemReady: "item",
    SampleReady: "sample",
    VerdictReady: "verdict",
    ScoresReady: "score",
    RunFinished: "run-finished",
}


def as_json(event: Event) -> str | None:
    """Return one line for the events of the contract, None for the others (progress, streamed text, notices)."""
    if type(event) not in _NAMES:
        return None
    values: dict[str, Any] = {"event": _NAMES[type(event)]}
    for field in dataclasses.fields(event):
        value = getattr(event, field.name)
        if field.name in ("change", "again", "counted"):
            continue
        if isinstance(event, ItemReady) and field.name == "item":
            values |= region_values(event.item)
        elif field.name in ("sample", "verdict"):
            shown = Sample if field.name == "sample" else Verdict
            own = dataclasses.asdict(value)
            values |= {each.name: own[each.name] for each in dataclasses.fields(shown)}
        else:
            values[field.name] = _plain(value)
    if isinstance(event, SampleReady):
        extraction = values.pop("extraction")
        values |= {"text": extraction["text"], "extraction_steps": extraction["steps"]}
    if isinstance(event, RunFinished):
        values |= measures_json(event.measures) | {"answers": answers_json(event.answers)}
    return json.dumps(values, ensure_ascii=False)


def measures_json(scores: Mapping[str, Estimate]) -> dict[str, Any]:
    """Return a run's figures by name; of the round trips the headless contract has some by names of their own."""
    values: dict[str, Any] = {"measures": {name: score_json(score) for name, score in scores.items()}}
    if all(name in scores for name in ROUND_TRIP):
        rtc, lift = (scores[name] for name in ROUND_TRIP)
        values |= {"rtc_pass": rtc.value, "lift": lift.value, "ci_low": rtc.low, "ci_high": rtc.high}
    return values


def answers_json(answers: Answers) -> dict[str, Any]:
    """Return how the models' answers could be read: how many, and as shares."""
    return dataclasses.asdict(answers) | {"shares": answers.shares}


def score_json(score: Estimate) -> dict[str, Any]:
    """Return a figure with its interval, the number of items it rests on, and whether those are few."""
    return dataclasses.asdict(score) | {"few": score.few}


def region_values(item: Item) -> dict[str, Any]:
    """Return what `sample --json` prints of a region; offsets count characters."""
    place = {"key": item.key, "kind": item.kind, "path": item.path, "start": item.span.start, "end": item.span.end}
    names = ("start_line", "end_line", "text", "tests", "admitted", "reason", "old_text", "facets", "origin")
    return place | {name: _plain(getattr(item, name)) for name in names}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value
