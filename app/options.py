"""Options that several commands share, and where RTC Inspector keeps its own files."""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import platformdirs

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import TASKS, configured, task
from rtc_inspector.core.settings import OracleSettings, RunSettings
from rtc_inspector.core.settings.project_file import read_project_file
from rtc_inspector.core.settings.setting import MOST, SIGNS, Described, check, described, value_of, with_values
from rtc_inspector.core.source.benchmark import is_benchmark
from rtc_inspector.core.source.directives import holds_directives
from rtc_inspector.core.source.json_lines import table_in
from rtc_inspector.core.source.notebook import is_episodes, is_notebook

SETTINGS = described(RunSettings)
"""Every setting that can be given on the command line, by path; `core/settings/` describes them."""
USUAL = frozenset(
    ["task", "model", "endpoint", "regions", "seed", "oracle.python", "oracle.sandbox", "db", "resume", "json"]
)
"""The options that `--help` shows where there are many; `--help-all` shows all."""
MANY = 14
_INSTEAD = (("model", "models_in", "endpoint", "endpoint_model"), ("backward_model", "backward_endpoint"))
"""Options of which one on the command line goes before all of the project's file."""
_SHARED: Mapping[str, tuple[str, dict[str, Any]]] = {
    "project": ("project", {"type": Path, "metavar": "PROJECT", "help": "folder of the project"}),
    "task": ("--task", {"choices": tuple(TASKS), "help": "kind of round trip (default: by what is named)"}),
    "db": (
        "--db",
        {"type": Path, "metavar": "FILE", "help": "SQLite database of results (default: one in your data folder)"},
    ),
    "run": (
        "--run",
        {"type": int, "required": True, "metavar": "ID", "help": "number of the run, as `runs` prints it"},
    ),
    "json": ("--json", {"action": "store_true", "help": "one JSON object a line on standard output"}),
}


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


def add(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add these arguments that several commands share: `project`, `task`, `db`, `run`, `json`."""
    for name in names:
        word, about = _SHARED[name]
        parser.add_argument(word, **about)


def database(options: argparse.Namespace) -> Path:
    """Return the database that was named, else the user's own. Raises UserError."""
    return options.db or default_database()


def add_settings(
    parser: argparse.ArgumentParser, paths: Iterable[str], base: RunSettings | None = None, note: str = ""
) -> None:
    """Add an option for each of these settings, in groups by the part they belong to.

    `base` has the defaults of this command; `note` is said instead of what a setting is for. What is not given stays
    None, so that a method's own default holds.
    """
    base = base or RunSettings()
    groups: dict[str, Any] = {"": parser}
    of_kinds = {kind.name: configured(base, kind.name) for kind in TASKS.values()}
    for path in paths:
        each = SETTINGS[path]
        if each.title not in groups:
            groups[each.title] = parser.add_argument_group(_group_title(each))
        add_setting(groups[each.title], each, note or _help(each, _defaults(each, of_kinds)))
    parser.set_defaults(base=base, from_file={})
    if sum(bool(action.option_strings) for action in parser._actions) > MANY:
        parser.add_argument("--help-all", action=_HelpAll, nargs=0, help="show all options and exit")


def add_setting(parser: Any, each: Described, said: str = "") -> None:
    """Add the option of one setting, which stays None where it is not given."""
    parser.add_argument(each.option, dest=each.path, **_taken(each), help=said or _help(each, {each.default: []}))
    if each.kind is bool:  # so that the command line can say otherwise than a project's file
        parser.add_argument(
            each.opposite, dest=each.path, action="store_const", const=each.default, help=argparse.SUPPRESS
        )


class _HelpAll(argparse.Action):
    """`--help-all`."""

    def __call__(self, parser: argparse.ArgumentParser, *values: object) -> None:
        parser.set_defaults(all_shown=True)
        parser.print_help()
        parser.exit()


def _group_title(each: Described) -> str:
    """`chains (--task chain)` where only some methods have such settings."""
    part = each.path.partition(".")[0]
    kinds = [kind.name for kind in TASKS.values() if any(kind.has(path) for path in paths_of(part))]
    return each.title if len(kinds) == len(TASKS) else f"{each.title} (--task {', '.join(kinds)})"


def _taken(each: Described) -> dict[str, Any]:
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


def _defaults(each: Described, of_kinds: Mapping[str, RunSettings]) -> dict[Any, list[str]]:
    """Return the kinds that have a setting, by what it is in their settings."""
    found: dict[Any, list[str]] = {}
    for name, settings in of_kinds.items():
        if TASKS[name].has(each.path):
            found.setdefault(value_of(settings, each.path), []).append(name)
    return found


def _help(each: Described, defaults: Mapping[Any, list[str]]) -> str:
    words = each.about.help.replace("%", "%%")  # a single % is a place to fill in, for argparse
    if each.kind is bool:
        return words
    if each.many:
        return f"{words}; repeatable (default: {each.about.unset})"
    texts = [
        each.about.unset if value in (None, "") else f"{value:g}" if isinstance(value, float) else str(value)
        for value in defaults
    ]
    rest = (
        f"{text} for {', '.join(names)}" for text, names in zip(texts[1:], list(defaults.values())[1:], strict=True)
    )
    return f"{words} (default: {'; '.join([texts[0], *rest])})" if texts[0] else words


def given_settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that were given, by path; one that says nothing without a switch turns that on."""
    values = {path: value for path, value in vars(options).items() if path in SETTINGS and value is not None}
    for path in tuple(values):
        needed = SETTINGS[path].about.needs
        if needed and SETTINGS[needed].kind is bool:
            values.setdefault(needed, True)
    return {path: tuple(value) if SETTINGS[path].many else value for path, value in values.items()}


def unused_options(options: argparse.Namespace, task: str) -> list[str]:
    """Return the options that the command line gives and that say nothing to this kind of run."""
    said = given_settings(options).keys() - options.from_file.keys()
    return sorted(SETTINGS[path].option for path in said if not TASKS[task].has(path))


def oracle_settings(options: argparse.Namespace) -> OracleSettings:
    """Return the settings for how the project's tests are run."""
    return with_values(RunSettings(), given_settings(options)).oracle


def sampling_settings(options: argparse.Namespace) -> RunSettings:
    """Return the settings that the options give, with the defaults of the task. Raises UserError."""
    return settings_for(options.project, options.task, given_settings(options), options.base)


def default_database() -> Path:
    """Return the database used when none is named; its folder is made. Raises UserError when it cannot be."""
    folder = Path(platformdirs.user_data_dir("rtc-inspector", appauthor=False))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"The folder {folder} cannot be made: {error.strerror}.", "Name a database by --db.") from error
    return folder / "runs.sqlite"


def bundles_folder() -> Path:
    """Return the folder where bundles that were opened are unpacked; it need not exist."""
    return Path(platformdirs.user_data_dir("rtc-inspector", appauthor=False)) / "bundles"


def taxonomy_folder() -> Path:
    """Return the folder of a user's own error modes; it need not exist."""
    return Path(platformdirs.user_config_dir("rtc-inspector", appauthor=False))


def error_file() -> Path:
    """Return the file that keeps the trace of the last error nobody expected; its folder need not exist."""
    return Path(platformdirs.user_log_dir("rtc-inspector", appauthor=False)) / "last-error.txt"


def heed_project_file(options: argparse.Namespace) -> None:
    """Fill in what the project's own file sets and the command line does not. Raises UserError."""
    options.from_file = {}
    project = getattr(options, "project", None)
    if project is None or "base" not in options or getattr(options, "resume", None) is not None:
        return
    file = read_project_file(project)
    told = {name for names in _INSTEAD for name in names if any(getattr(options, each, None) for each in names)}
    for name, value in file.named.items():
        if name not in told and getattr(options, name, True) in (None, [], ""):
            setattr(options, name, Path(value) if name == "models_in" else value)
            options.from_file[name] = file.path


def settings_rows(options: argparse.Namespace, settings: RunSettings) -> Iterator[tuple[str, Any, str]]:
    """Yield each setting of such a run as its option, its value, and where that comes from."""
    given, usual = given_settings(options), configured(options.base, settings.task)
    files = {name: path.name for name, path in options.from_file.items()}
    drawn = "default" if settings.task == RunSettings().task else "what is named"
    yield "--task", settings.task, files.get("task", "command line") if options.task else drawn
    for place, model in (("--model", settings.forward), ("--backward-model", settings.backward)):
        names = _INSTEAD[place != "--model"]
        said = next((files.get(each, "command line") for each in names if getattr(options, each, None)), "default")
        yield place, model.label, said
    for path, each in SETTINGS.items():
        if each.option and TASKS[settings.task].has(path):
            value = value_of(settings, path)
            origin = "default" if value == value_of(usual, path) else "what is named"
            yield each.option, value, files.get(path, "command line") if path in given else origin


def settings_for(
    project: Path | None, named: str | None, given: Mapping[str, Any], base: RunSettings | None = None
) -> RunSettings:
    """Return the settings given by path, with the defaults of the task: the one `named`, else by what the project is.

    A project that is a file of problems or cells is what these come from. Raises UserError.
    """
    if project is not None and project.is_dir():
        project = table_in(project) or project
    kind = task(named) if named else None
    wanted = kind is not None and kind.source.file == "benchmark.file"
    own = kind is not None and kind.source.functions and project is not None and project.is_dir()
    values = dict(given)
    if project is not None and ((wanted and not own) or drawn_from(project)):
        values.setdefault("benchmark.file", str(project.resolve()))
    settings = with_values(configured(base or RunSettings(), _task_name(project, named, given)), values)
    check(settings)
    return settings


def drawn_from(project: Path) -> str:
    """Return what a file in the place of a project says of the items that are drawn; empty for a folder."""
    if project.is_dir():
        return ""
    if is_notebook(project) or is_episodes(project):
        return "cells"
    return "problems" if is_benchmark(project) or holds_directives(project) else ""


def _task_name(project: Path | None, named: str | None, given: Mapping[str, Any]) -> str:
    """Return the task's name: without one that of the file that is named, else synthesis. Raises UserError."""
    drawn = drawn_from(project) if project is not None else ""
    if "directive.words" in given:
        wanted = next(kind.name for kind in TASKS.values() if kind.source.words)
        if named not in (None, wanted):
            raise UserError(f"--directive is for the task {wanted}.", f"Leave --task out, or say --task {wanted}.")
        return wanted
    words = project is not None and holds_directives(project)
    sources = (
        ("--edits", "edit.file" in given, "history"),
        ("--benchmark", "benchmark.file" in given, "problems"),
        ("A file of directives" if words else "A benchmark file", drawn == "problems", drawn),
        ("A notebook", drawn == "cells", drawn),
    )
    for option, there, part in sources:
        kinds = [kind for kind in TASKS.values() if kind.source.name == part]
        takes = [kind.name for kind in kinds if kind.source.words or not (words and drawn == part)]
        if there and named and named not in takes:
            raise UserError(f"{option} is for the task {takes[0]}.", f"Leave --task out, or say --task {takes[0]}.")
        if there:
            return named or takes[0]
    return named or RunSettings().task
