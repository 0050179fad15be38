"""The commands that need no model: `sample` and `judge`."""

import argparse
import dataclasses
from pathlib import Path
from typing import Any

from rich.table import Table

from rtc_inspector.app import options as shared
from rtc_inspector.app.console import Display, region_values
from rtc_inspector.app.output import print_json, terminal
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import task
from rtc_inspector.core.oracle.verdicts import headline
from rtc_inspector.core.types import Item, Outcome, Span


def add_commands(commands: Any) -> None:
    """Add `sample` and `judge`."""
    sample = commands.add_parser("sample", help="which regions or edits a run would take, and why others are dropped")
    shared.add(sample, "project", "task")
    shared.add_settings(sample, shared.sampling_paths())
    shared.add(sample, "json")
    sample.set_defaults(command=sample_command)
    judge = commands.add_parser("judge", help="what the covering tests say of one replaced span")
    shared.add(judge, "project")
    judge.add_argument("--path", required=True, metavar="FILE", help="file of the project")
    judge.add_argument("--start", required=True, type=int, metavar="N", help="first character offset")
    judge.add_argument("--end", required=True, type=int, metavar="M", help="character offset after the last")
    judge.add_argument("--replacement", required=True, type=Path, metavar="FILE", help="UTF-8 text to put there")
    shared.add_settings(judge, shared.paths_of("oracle"))
    shared.add(judge, "json")
    judge.set_defaults(command=judge_command)


def sample_command(options: argparse.Namespace) -> int:
    """Print the regions or edits a run with this seed would take."""
    from rtc_inspector.core.run.unstored import sample_items

    found: list[Item] = []
    settings = shared.sampling_settings(options)
    try:
        with Display(options.json) as display:
            for item in sample_items(options.project, settings, display.notify, display.report):
                found.append(item)
                if options.json:
                    print_json(region_values(item))
    finally:  # where nothing is admitted the table says why
        if found and not options.json:
            _print_items(found, task(settings.task).noun)
    return 0


def _print_items(found: list[Item], noun: str) -> None:
    facets = list(dict.fromkeys(name for item in found for name in item.facets))
    table = Table()
    for column in (noun, "characters", "tests", *facets, "admitted"):
        table.add_column(column, justify="right" if column in ("characters", "tests") else "left")
    for item in found:
        known = (item.facets.get(name, "") for name in facets)
        counts = str(len(item.text)), str(len(item.tests))
        table.add_row(item.lines, *counts, *known, "yes" if item.admitted else item.reason)
    console = terminal()
    console.print(table)
    console.print(f"{sum(item.admitted for item in found)} of {len(found)} drawn {noun}s admitted")


def judge_command(options: argparse.Namespace) -> int:
    """Print the verdict on one replaced span."""
    from rtc_inspector.core.run.unstored import judge_span

    with Display(options.json) as display:
        verdict = judge_span(
            options.project,
            options.path,
            Span(options.start, options.end),
            _read(options.replacement),
            shared.oracle_settings(options),
            display.notify,
            display.report,
        )
    if options.json:
        print_json(dataclasses.asdict(verdict))
    else:
        print(f"{verdict.outcome}: {verdict.detail}" if verdict.detail else verdict.outcome)
        if verdict.flags:
            print(f"  {', '.join(verdict.flags)}")
        for test in (test for test in verdict.tests if test.outcome != "missing"):
            print(f"  {test.outcome:8} {test.node_id}  {headline(test.message)}".rstrip())
    return 1 if verdict.outcome is Outcome.INFRASTRUCTURE else 0


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.", "Name a file with the replacement.") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text.", "Save the replacement text as UTF-8.") from error
