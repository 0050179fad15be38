"""The commands that read a database: `runs`, `report` and `export`."""

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any

from rich.table import Column, Table

from rtc_inspector.app import options as shared
from rtc_inspector.app.console import answers_json, score_json
from rtc_inspector.app.output import print_json, terminal, written
from rtc_inspector.core.analyses.costs import spent, words
from rtc_inspector.core.comparison.comparison import bounded
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import ROUND_TRIP, task
from rtc_inspector.core.run.results import open_reader
from rtc_inspector.core.store.export import lm_eval_results, write_csv, write_inspect, write_jsonl, write_parquet
from rtc_inspector.core.store.files import writing
from rtc_inspector.core.store.rows import NOTHING, RunRow, Spent


def add_commands(commands: Any) -> None:
    """Add `runs`, `report` and `export`."""
    runs = commands.add_parser("runs", help="the runs in a database")
    shared.add(runs, "db", "json")
    runs.set_defaults(command=runs_command)
    report = commands.add_parser("report", help="one self-contained HTML page about a run")
    shared.add(report, "db", "run")
    report.add_argument("--out", type=Path, required=True, metavar="FILE", help="where the page is written")
    report.set_defaults(command=report_command)
    export = commands.add_parser("export", help="every code sample of a run with its description and verdict")
    shared.add(export, "db", "run")
    export.add_argument(
        "--format",
        choices=("jsonl", "csv", "parquet", "inspect", "lm-eval"),
        required=True,
        help="of the rows; inspect: a log of Inspect's; lm-eval: the run's figures as lm-evaluation-harness has them",
    )
    export.add_argument(
        "--out", type=Path, metavar="FILE", help="where it is written (default: standard output, where it is text)"
    )
    export.set_defaults(command=export_command)


def runs_command(options: argparse.Namespace) -> int:
    """List the runs, oldest first."""
    with open_reader(shared.database(options)) as reader:
        rows = [(row, spent(reader, row)) for row in reader.runs()]
    if options.json:
        for row, cost in rows:
            print_json(_run_values(row, cost))
        return 0
    # Facts stand below one another in a cell: side by side they would not fit 80 columns.
    table = Table("run", Column("of", overflow="fold"), Column("status", no_wrap=True), Column("figures", no_wrap=True))
    for row, cost in rows:
        about = f"{row.project_name}\n{row.task}\n{row.model_name}"
        day, _, time = row.started_at[:16].partition("T")
        status = f"{row.status}\n{row.items_complete}/{row.items_expected}\n{day}\n{time}"
        table.add_row(str(row.id), about, status, "\n".join(filter(None, (_figures(row), words(cost)))))
    terminal().print(table)
    return 0


def _run_values(row: RunRow, cost: list[Spent]) -> dict[str, Any]:
    values = dataclasses.asdict(row)
    for name in ("config_json", "model_json", "suite_json"):
        values[name.removesuffix("_json")] = json.loads(values.pop(name))
    del values["scores"]
    scores = {name: score_json(score) for name, score in row.scores.items()}
    round_trip = {name: scores[name] for name in ROUND_TRIP if name in scores}
    values["spent"] = [
        {**dataclasses.asdict(each), "answer_tokens": each.answer_tokens, "tokens_per_second": each.speed}
        for each in cost
    ]
    values["answers"] = answers_json(row.answers)
    return values | {"measures": scores, "remarks": row.remarks} | round_trip


def _figures(row: RunRow) -> str:
    """Return a line each: the headline, what can lie on both sides of 0, lift's baseline, and what was cut, if any.

    That items are few is said once of lines below one another: with 80 columns there is no room to repeat it.
    """
    kind = task(row.task)
    shown = sorted(
        (m for m in kind.averaged if m.name in (kind.headline, *kind.beside) or m.lowest < 0),
        key=lambda m: m.name != kind.headline,
    )
    named = [(measure.title, row.scores.get(measure.name, NOTHING)) for measure in shown]
    if kind.difference is not None and kind.difference.less is not None and row.secondary.value is not None:
        less = kind.measure(kind.difference.less[1])
        named.append((f"over {less.title}", row.scores.get(less.name, NOTHING)))
    lines, few = [], False
    for title, score in named:
        n = "" if score.low is None else f", n {score.n}"
        lines.append(f"{title} {bounded(score, '')}{n}{', few' if score.few and not few else ''}")
        few = score.few
    cut = [(kind.measure(name).title, row.scores[name].value) for name in ("cut", "limited") if name in row.scores]
    return "\n".join([*lines, *(f"{title} {share:.2f}" for title, share in cut if share), *row.remarks])


def report_command(options: argparse.Namespace) -> int:
    """Write the HTML page."""
    from rtc_inspector.ui.report.page import write_report  # Qt and the analyses, which nothing else here needs

    with open_reader(shared.database(options)) as reader:
        write_report(reader, options.run, options.out)
    print(f"Written: {options.out}")
    return 0


def export_command(options: argparse.Namespace) -> int:
    """Write one line for each code sample, or the run in another tool's form."""
    with open_reader(shared.database(options)) as reader:
        reader.run(options.run)  # a number that is none must cost nobody the file of an earlier export
        if options.format in ("parquet", "inspect"):
            if options.out is None:
                raise UserError(f"What is written as {options.format} is no text.", "Name a file with --out FILE.")
            write = write_parquet if options.format == "parquet" else write_inspect
            with writing(options.out):
                write(reader, options.run, options.out)
            return 0
        with written(options.out) as stream:
            if options.format == "lm-eval":
                stream.write(json.dumps(lm_eval_results(reader, options.run), indent=2, ensure_ascii=False) + "\n")
            else:
                (write_csv if options.format == "csv" else write_jsonl)(reader, options.run, stream)
    return 0
