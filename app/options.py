"""Options that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rtc_inspector.app.paths import default_database
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import TASKS, configured
from rtc_inspector.core.settings import OracleSettings, RunSettings
from rtc_inspector.core.settings.setting import MOST, SIGNS, Described, check, described, value_of, with_values
from rtc_inspector.core.source.benchmark import is_benchmark
from rtc_inspector.core.source.directives import holds_directives
from rtc_inspector.core.source.notebook import is_episodes, is_notebook

SETTINGS = described(RunSettings)
"""Every setting that can be given on the command line, by path; `core/settings/` describes them."""


def paths_of(*parts: str) -> list[str]:
    """Return the paths of these settings or whole parts."""
    return [path for path in SETTINGS if path in parts or path.partition(".")[0] in parts]


def sampling_paths() -> list[str]:
    """Return the settings that say which items are drawn and how they are judged, not how a model is asked."""
    asked = [path for path in SETTINGS if "." not in path]
    return [*paths_of("regions", "seed"), *(path for path in SETTINGS if path not in (*asked, *paths_of("generation")))]


def positive(text: str) -> int:
    """Read a whole number of at least 1, for argparse."""
    number = int(text) if text.isdecimal() and len(text) <= len(str(MOST)) else 0
    if not 1 <= number <= MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1 (and at most {MOST:,})")
    return number


def add_project(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the folder to look at."""
    parser.add_argument("project", type=Path, metavar="PROJECT", help="folder of the project")


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option for JSON, for scripts."""
    parser.add_argument("--json", action="store_true", help="one JSON object a line on standard output")


def add_database(parser: argparse.ArgumentParser) -> None:
    """Add the option that says where results are."""
    parser.add_argument(
        "--db", type=Path, metavar="FILE", help="SQLite database of results (default: one in your data folder)"
    )


def database(options: argparse.Namespace) -> Path:
    """Return the database that was named, else the user's own. Raises UserError."""
    return options.db or default_database()


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which stored run, and where it is."""
    add_database(parser)
    parser.add_argument("--run", type=int, required=True, metavar="ID", help="number of the run, as `runs` prints it")


def add_settings(
    parser: argparse.ArgumentParser, paths: Iterable[str], base: RunSettings | None = None, note: str = ""
) -> None:
    """Add an option for each of these settings, in groups by the part they belong to.

    `base` has the defaults of this command; `note` is said instead of what a setting is for. What is not given stays
    None, so that a method's own default holds.
    """
    base = base or RunSettings()
    groups: dict[str, Any] = {"": parser}
    for path in paths:
        each = SETTINGS[path]
        if each.title not in groups:
            groups[each.title] = parser.add_argument_group(_group_title(each))
        add_setting(groups[each.title], each, note or _help(each, base))
    parser.set_defaults(base=base)


def add_setting(parser: Any, each: Described, said: str = "") -> None:
    """Add the option of one setting, which stays None where it is not given."""
    said = said or f"{each.about.help} (default: {_plain(each.default)})"
    parser.add_argument(each.option, dest=each.path, **_taken(each), help=said)


def _group_title(each: Described) -> str:
    """`chains (--task chain)` where only some methods have such settings."""
    part = each.path.partition(".")[0]
    kinds = [kind.name for kind in TASKS.values() if any(kind.has(path) for path in paths_of(part))]
    return each.title if len(kinds) == len(TASKS) else f"{each.title} (--task {', '.join(kinds)})"


def _taken(each: Described) -> dict[str, Any]:
    """Return what argparse is told of the setting's value."""
    about = each.about
    if each.kind is bool:
        # The option of a switch says the other of its two values; not given it stays None, as all others do.
        return {"action": "store_const", "const": not each.default}
    if about.choices:
        return {"choices": tuple(about.choices)}

    def read(text: str) -> Any:
        try:
            return each.read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    sign = about.sign or SIGNS.get(about.form) or ("N" if each.kind is int else "X")
    return {"type": read, "metavar": sign} | ({"action": "append"} if each.many else {})


def _help(each: Described, base: RunSettings) -> str:
    """Return a setting's help and its default, with a method's own default where they differ."""
    # argparse takes a single % for a place to fill in.
    words = each.about.help.replace("%", "%%")
    if each.kind is bool:
        return words
    if each.many:
        return f"{words}; repeatable (default: {each.about.unset})"
    by_kind: dict[str, list[str]] = {}
    for kind in TASKS.values():
        if kind.has(each.path):
            value = value_of(configured(base, kind.name), each.path)
            by_kind.setdefault(each.about.unset if value is None else _plain(value), []).append(kind.name)
    first, *others = by_kind.items()
    defaults = [first[0], *(f"{text} for {', '.join(names)}" for text, names in others)]
    return f"{words} (default: {'; '.join(defaults)})"


def _plain(value: object) -> str:
    """`600` also for 600.0."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def given_settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that were given, by path; one that says nothing without a switch turns that on."""
    values = {path: value for path, value in vars(options).items() if path in SETTINGS and value is not None}
    for path in tuple(values):
        needed = SETTINGS[path].about.needs
        if needed and SETTINGS[needed].kind is bool:
            values.setdefault(needed, True)
    return {path: tuple(value) if SETTINGS[path].many else value for path, value in values.items()}


def unused_options(options: argparse.Namespace, task: str) -> list[str]:
    """Return the options that were given and say nothing to this kind of run."""
    return sorted(SETTINGS[path].option for path in given_settings(options) if not TASKS[task].has(path))


def oracle_settings(options: argparse.Namespace) -> OracleSettings:
    """Return the settings for how the project's tests are run."""
    return with_values(RunSettings(), given_settings(options)).oracle


def add_task(parser: argparse.ArgumentParser) -> None:
    """Add the option for the kind of round trip."""
    parser.add_argument("--task", choices=tuple(TASKS), help="kind of round trip (default: by what is named)")


def sampling_settings(options: argparse.Namespace) -> RunSettings:
    """Return the settings that the options give, with the defaults of the task. Raises UserError.

    A project that is a file of problems or cells is what these come from.
    """
    given, project = given_settings(options), options.project
    kind = TASKS[options.task] if options.task else None
    wanted = kind is not None and kind.draws_from in ("benchmark", "cells")
    own = kind is not None and kind.draws_functions and project is not None and project.is_dir()
    if project is not None and ((wanted and not own) or _file_drawn(project)):
        given.setdefault("benchmark.file", str(project.resolve()))
    settings = with_values(configured(options.base, _task_name(options)), given)
    check(settings)
    return settings


def _file_drawn(project: Path) -> str:
    """Return what a file in the place of a project says of the items that are drawn; empty for a folder."""
    if project.is_dir():
        return ""
    if is_notebook(project) or is_episodes(project):
        return "cells"
    return "benchmark" if is_benchmark(project) or holds_directives(project) else ""


def _task_name(options: argparse.Namespace) -> str:
    """Return the task's name: without one that of the file that is named, else synthesis. Raises UserError."""
    drawn = _file_drawn(options.project) if options.project is not None else ""
    given = given_settings(options)
    if "directive.words" in given:
        wanted = next(kind.name for kind in TASKS.values() if kind.takes_words)
        if options.task not in (None, wanted):
            raise UserError(f"--directive is for the task {wanted}.", f"Leave --task out, or say --task {wanted}.")
        return wanted
    words = options.project is not None and holds_directives(options.project)
    named = (
        ("--edits", "edit.file" in given, "edit"),
        ("--benchmark", "benchmark.file" in given, "benchmark"),
        ("A file of directives" if words else "A benchmark file", drawn == "benchmark", drawn),
        ("A notebook", drawn == "cells", drawn),
    )
    for option, there, part in named:
        kinds = [kind for kind in TASKS.values() if kind.draws_from == part]
        takes = [kind.name for kind in kinds if kind.takes_words or not (words and drawn == part)]
        if there and options.task and options.task not in takes:
            raise UserError(f"{option} is for the task {takes[0]}.", f"Leave --task out, or say --task {takes[0]}.")
        if there:
            return options.task or takes[0]
    name: str = options.task or RunSettings().task
    return name
