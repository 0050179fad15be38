"""Options that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.settings import OracleSettings, RegionSettings, RunSettings

SANDBOXES = ("auto", "docker", "bubblewrap", "none")


def positive(text: str) -> int:
    """A whole number of at least 1, for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def add_project(parser: argparse.ArgumentParser) -> None:
    """The folder to look at."""
    parser.add_argument("project", type=Path, metavar="PROJECT", help="folder of a Python project with tests")


def add_json(parser: argparse.ArgumentParser) -> None:
    """For scripts."""
    parser.add_argument("--json", action="store_true", help="one JSON object a line on standard output")


def add_database(parser: argparse.ArgumentParser, required: bool = False) -> None:
    """Where results are."""
    parser.add_argument("--db", type=Path, metavar="FILE", required=required, help="SQLite database of results")


def add_oracle(parser: argparse.ArgumentParser) -> None:
    """How the project's tests are run."""
    group = parser.add_argument_group("running the project's tests")
    group.add_argument("--sandbox", choices=SANDBOXES, default="auto", help="where target code runs (default: auto)")
    group.add_argument("--python", metavar="EXE", help="interpreter that has the project's dependencies and pytest")
    group.add_argument("--image", metavar="IMAGE", help="Docker image, or rootfs tar, that holds the interpreter")
    group.add_argument("--memory", type=positive, metavar="MIB", default=OracleSettings().memory_mib)
    group.add_argument("--no-cache", action="store_true", help="run the project's own tests again even if unchanged")


def oracle_settings(options: argparse.Namespace) -> OracleSettings:
    """The settings those options stand for."""
    return OracleSettings(
        sandbox=options.sandbox,
        python=options.python,
        image=options.image,
        memory_mib=options.memory,
        cache=not options.no_cache,
    )


def add_sampling(parser: argparse.ArgumentParser, regions: int = 100) -> None:
    """How regions are drawn."""
    defaults = RegionSettings()
    group = parser.add_argument_group("sampling regions")
    group.add_argument("--regions", type=positive, default=regions, metavar="N", help=f"(default: {regions})")
    group.add_argument("--seed", type=int, default=0, metavar="S", help="of every random choice (default: 0)")
    group.add_argument("--min-characters", type=positive, default=defaults.min_characters, metavar="N")
    group.add_argument("--max-characters", type=positive, default=defaults.max_characters, metavar="N")
    group.add_argument("--allow-overlap", action="store_true", help="regions may share characters")
    group.add_argument(
        "--coverage", choices=("all", "any"), default=defaults.coverage, help="lines that tests must run"
    )


def region_settings(options: argparse.Namespace) -> RegionSettings:
    """The settings those options stand for."""
    return RegionSettings(
        min_characters=options.min_characters,
        max_characters=options.max_characters,
        allow_overlap=options.allow_overlap,
        coverage=options.coverage,
    )


def sampling_settings(options: argparse.Namespace) -> RunSettings:
    """What says which items are drawn, and how they are judged."""
    return RunSettings(
        regions=options.regions,
        seed=options.seed,
        region=region_settings(options),
        oracle=oracle_settings(options),
    )
