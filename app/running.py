"""The commands that run a model: `run` and `demo`."""

import argparse
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from types import FrameType
from typing import Any

from rtc_inspector.app import ci
from rtc_inspector.app import options as shared
from rtc_inspector.app.console import Display, duration, print_result
from rtc_inspector.app.figures import print_figures
from rtc_inspector.app.output import print_json, print_table
from rtc_inspector.app.windows import has_screen, show
from rtc_inspector.core import platform
from rtc_inspector.core.errors import Cancelled, UserError
from rtc_inspector.core.figures.reading import to_json
from rtc_inspector.core.kinds import IMPORTED, TASKS, configured, project_of, task
from rtc_inspector.core.models.discovery import fitting_models
from rtc_inspector.core.run.events import Control, Event, Notice, RunStarted
from rtc_inspector.core.run.many import SeriesFinished, resume, start
from rtc_inspector.core.run.opening import Emit
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import RunSettings, SamplesSettings
from rtc_inspector.core.settings.naming import ENDPOINT, with_models
from rtc_inspector.core.settings.setting import check, with_values
from rtc_inspector.core.store.files import network_caution
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.trips.protocol import check_source
from rtc_inspector.resources import DEMO_REGIONS, DEMOS
from rtc_inspector.resources import path as resource

SHOWN = 10  # problems named at the end of a run; the rest is counted
INTERRUPTED = 130  # exit status, also where nobody reads any more what a run prints


def add_commands(commands: Any) -> None:
    """Add `run` and `demo`."""
    run = commands.add_parser("run", help="evaluate a model on a project")
    run.add_argument("project", type=Path, nargs="?", metavar="PROJECT", help="folder of the project")
    run.add_argument(
        "--estimate", action="store_true", help="say what such a run costs, by those made before; nothing is run"
    )
    run.add_argument(
        "--show-settings", action="store_true", help="print each setting and where it comes from; nothing is run"
    )
    run.add_argument("--resume", type=int, metavar="RUN", help="go on with a stored run instead")
    ci.add_outputs(run)
    _add_options(run, RunSettings())
    run.set_defaults(command=run_command, parser=run, left=INTERRUPTED)
    samples = commands.add_parser("import-samples", help="others' programs for a benchmark, as a run")
    samples.add_argument(
        "file", type=Path, metavar="FILE", help="HumanEval's samples or results, EvalPlus's samples or folder"
    )
    samples.add_argument("--trust-verdicts", action="store_true", help="take `passed` from the file: no program is run")
    samples.add_argument("--name", default="", help="what the system is called (default: by the file)")
    shared.add_settings(samples, ["benchmark.file", *shared.paths_of("oracle")])
    shared.add(samples, "db", "json")
    samples.set_defaults(command=import_command, left=INTERRUPTED, shown=("benchmark.file", "trust_verdicts", "name"))
    demo = commands.add_parser("demo", help="the bundled project and model: see it work with no further set-up")
    demo.add_argument("--headless", action="store_true", help="in the terminal, without a window")
    demo.add_argument(
        "--project",
        dest="bundled",
        choices=tuple(DEMOS),
        default=next(iter(DEMOS)),
        help="which project: Python or JavaScript",
    )
    _add_options(demo, RunSettings(regions=DEMO_REGIONS))
    demo.set_defaults(command=demo_command, project=None, resume=None, left=INTERRUPTED)


def _add_options(parser: argparse.ArgumentParser, base: RunSettings) -> None:
    shared.add(parser, "task")
    parser.add_argument(
        "--model",
        metavar="GGUF",
        action="append",
        default=[],
        help="forward model (default: the bundled one); repeatable: several are run on the same items and ranked",
    )
    parser.add_argument(
        "--models-in", type=Path, metavar="FOLDER", help="every model in it that fits into memory, smallest first"
    )
    parser.add_argument("--cross", action="store_true", help="every model describes for every model to write")
    parser.add_argument("--backward-model", metavar="GGUF", help="a file, or `bundled` (default: the forward model)")
    group = parser.add_argument_group("models behind a server (llama-server, Ollama, LM Studio, vLLM)")
    said = "forward model, e.g. http://127.0.0.1:8080/v1; repeatable"
    group.add_argument("--endpoint", metavar="URL", action="append", default=[], help=said)
    said = "model (default: the only one it serves); once for each server, or several of one"
    group.add_argument("--endpoint-model", metavar="NAME", action="append", default=[], help=said)
    said = "environment variable with the server's key; once for each server"
    group.add_argument("--key-variable", metavar="VAR", action="append", default=[], help=said)
    group.add_argument("--backward-endpoint", metavar="URL", help="backward model (default: the forward model)")
    group.add_argument("--backward-endpoint-model", metavar="NAME", default="", help="the same for the backward model")
    group.add_argument("--backward-key-variable", metavar="VAR", default="", help="the same for the backward model")
    for each in ENDPOINT.values():
        shared.add_setting(group, each)
    shared.add_settings(parser, shared.SETTINGS, base)
    shared.add(parser, "db", "json")


def models_in(options: argparse.Namespace) -> tuple[list[Path], list[str]]:
    """Return the models of --models-in that fit, smallest first, and a sentence for each left out. Raises UserError."""
    if options.models_in is None:
        return [], []
    asked = with_values(RunSettings(), shared.given_settings(options)).generation
    fitting, left_out = fitting_models(options.models_in, asked)
    if not fitting and not options.model and not options.endpoint:
        why = left_out[0] if left_out else "It holds no GGUF file."
        raise UserError(f"No model in {options.models_in} can be run. {why}", "Name another folder, or --model FILE.")
    return fitting, left_out


def run_settings(options: argparse.Namespace, more: Sequence[Path] = ()) -> RunSettings:
    """Return the settings the options stand for; `more`: models besides those that they name."""
    return with_models(shared.sampling_settings(options), vars(options), more)


def _print_estimate(options: argparse.Namespace) -> int:
    """Say what the window's dialog says of the same settings."""
    from rtc_inspector.core.run.estimate import cost_words, estimate

    _project(options)
    settings = run_settings(options, models_in(options)[0])
    database, paces = shared.database(options), []
    if database.exists():
        with open_reader(database) as reader:
            paces = reader.paces()
    cost = estimate(settings, paces)
    if options.json:
        print_json(asdict(cost))
        return 0
    each = f"For each of {settings.series.runs} runs: " if settings.series is not None else ""
    print(each + cost_words(cost, task(settings.task), duration))
    return 0


def _print_settings(options: argparse.Namespace) -> int:
    rows = list(shared.settings_rows(options, run_settings(options, models_in(options)[0])))
    if options.json:
        for option, value, origin in rows:
            print_json({"option": option, "value": value, "from": origin})
        return 0
    texts = [(option, "-" if value in (None, "", ()) else str(value), origin) for option, value, origin in rows]
    print_table(("option", "value", "from"), texts)
    return 0


def run_command(options: argparse.Namespace) -> int:
    """Start or resume a run in the terminal, or say what one costs or takes."""
    if options.estimate or options.show_settings:
        if options.resume is not None:
            raise UserError(
                "A run that is resumed has its settings already.", "Leave --estimate, --show-settings or --resume out."
            )
        return _print_settings(options) if options.show_settings else _print_estimate(options)
    fitting, left_out = models_in(options) if options.resume is None else ([], [])
    settings = run_settings(options, fitting)
    if options.resume is None:
        ci.check_limits(options.fail_below, task(settings.task))
        _project(options)
    else:
        with open_reader(shared.database(options)) as reader:  # only reads: a wrong name makes no database
            root = reader.run_project_root(options.resume)
        if options.project is not None and options.project.resolve() != root.resolve():
            problem = f"Run {options.resume} was made on {root}, not on {options.project}."
            raise UserError(problem, "Leave PROJECT out to resume it, or leave --resume out to start a new run.")

    def work(store: Store, emit: Emit, control: Control) -> SeriesFinished:
        if options.resume is not None:
            if unheeded := unheeded_options(options):
                emit(Notice(f"A run that is resumed keeps its settings; not heeded: {', '.join(unheeded)}."))
            return resume(options.resume, store, emit, control, resumed_with(options))
        if unused := shared.unused_options(options, settings.task):
            emit(Notice(f"A run of the task {settings.task} has no use for {', '.join(unused)}."))
        for text in left_out:
            emit(Notice(text))
        return start(settings, _project(options), store, emit, control)

    return _headless(work, options)


def resumed_with(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that were given and may be others from now on, by path."""
    known = [path for path, each in {**shared.SETTINGS, **ENDPOINT}.items() if each.about.resumable]
    return {path: value for path, value in vars(options).items() if path in known and value is not None}


def unheeded_options(options: argparse.Namespace) -> list[str]:
    """Return the options that were given and say nothing to a run that has its settings."""
    heeded = {"project", "resume", "db", "json", "fail_below", "junit", "summary", "command", "parser", "left", "base"}
    heeded |= {"from_file", *resumed_with(options)}
    given = {name for name, value in vars(options).items() if value != options.parser.get_default(name)}
    known = {**shared.SETTINGS, **ENDPOINT}
    return sorted(known[n].option if n in known else f"--{n.replace('_', '-')}" for n in given - heeded)


def _project(options: argparse.Namespace) -> Path:
    """Return the folder that was named; a file of edits stands for its own folder. Raises UserError."""
    settings = shared.sampling_settings(options)
    project = project_of(settings, options.project)
    if project is None:
        check_source(settings)  # says what file it would be
        raise UserError("No project was named.", "Say `rtc-inspector run PROJECT`, or `--resume RUN --db FILE`.")
    return project


def import_command(options: argparse.Namespace) -> int:
    """Store the programs of a file and have them judged."""
    settings = with_values(configured(RunSettings(), IMPORTED.name), shared.given_settings(options))
    if settings.benchmark.file is None:
        raise UserError("No benchmark was named.", "Say --benchmark FILE: the problems that the samples are for.")
    imported = SamplesSettings(str(options.file.resolve()), options.name, options.trust_verdicts)
    settings = replace(settings, samples=imported)
    check(settings)
    return _headless(lambda store, emit, control: start(settings, options.file, store, emit, control), options)


def demo_command(options: argparse.Namespace) -> int:
    """Show the bundled project in the window; with `--headless`, or where there is no screen, in the terminal."""
    bundled = TASKS[options.task].demo if options.task else ()
    if bundled and vars(options)["benchmark.file"] is None:
        options.project = resource(*bundled)
    fitting, left_out = models_in(options)
    settings = run_settings(options, fitting)
    settings = replace(settings, region=replace(settings.region, short_first=True))
    project = resource(DEMOS[options.bundled])

    def work(store: Store, emit: Emit, control: Control) -> SeriesFinished:
        for text in left_out:
            emit(Notice(text))
        if TASKS[settings.task].source.selected:
            emit(Notice("The demonstration takes the shortest of the regions that it drew first."))
        return start(settings, project, store, emit, control)

    if not options.headless and not options.json and has_screen():
        from rtc_inspector.core.trips.files import project_for  # readers of files, which a run loads later else

        generated = project_for(Path(settings.benchmark.file)) if settings.benchmark.file else None
        return show(generated or project, shared.database(options), settings)
    return _headless(work, options)


def _headless(work: Callable[[Store, Emit, Control], SeriesFinished], options: argparse.Namespace) -> int:
    database = shared.database(options)
    control = Control()
    with _opened(database) as store:
        with Display(options.json) as display, stopping(control), _followed(display, database, control) as follow:
            if caution := network_caution(database):
                display.notify(caution)
            finished = work(store, follow, control)
        with _written_out():
            _print_end(store.reader, finished, options)
        missed = ci.finish(store.reader, [run.run_id for run in finished.runs], options) if "junit" in options else 0
        problems = [*finished.problems, *(text for run in finished.runs for text in run.problems)]
        for text in problems[:SHOWN]:
            display.notify(text)
        if len(problems) > SHOWN:
            display.notify(f"And {len(problems) - SHOWN} more such problems; `runs --json` names all.")
        whole = not finished.problems and all(run.status == "finished" for run in finished.runs)
        status = INTERRUPTED if finished.stopped else 0 if whole else 1
        if status and finished.runs:
            # Any run of a series takes up the whole of it.
            left = next((run for run in finished.runs if run.status != "finished"), finished.runs[-1])
            display.notify(_go_on(left.run_id, database))
    return status or missed


@contextmanager
def _opened(database: Path) -> Iterator[Store]:
    """Open a database; a new one is not left behind where an error comes before any run began."""
    new, unused = not database.exists(), False
    try:
        with open_store(database) as store:
            try:
                yield store
            except UserError:
                unused = new and not store.reader.runs()
                raise
    finally:
        # SQLite removes the log with the last who closes: while it is there, another run has begun on this file.
        if unused and not database.with_name(f"{database.name}-wal").exists():
            database.unlink()


def _print_end(reader: Reader, finished: SeriesFinished, options: argparse.Namespace) -> None:
    """Print the closing tables: of the one run, or the ranking of its series."""
    database = str(shared.database(options))
    if len(ranked := finished.ranked) > 1:
        from rtc_inspector.core.analyses.ranking import ranking  # numpy, as below

        figures = list(ranking(reader, ranked))
        if options.json:
            for figure in figures:
                print_json({"event": "figure", **to_json(figure)})
        else:
            print_figures(figures)
            print(f"Runs {', '.join(map(str, ranked))} are stored in {database}")
    elif not options.json and finished.runs:
        print_result(reader, finished.runs[-1].run_id, database)


def _go_on(run_id: int, database: Path) -> str:
    return f"Go on with: rtc-inspector run --resume {run_id} --db {shlex.quote(str(database))}"


@contextmanager
def _followed(display: Display, database: Path, control: Control) -> Iterator[Emit]:
    """Yield what shows a run; when something ends it before its time, say how to go on.

    Output that cannot be written stops the run in order, so that it is recorded as interrupted. Raises the error that
    ended it, OSError for output that found no place.
    """
    begun: list[int] = []
    unwritten: list[OSError] = []

    def follow(event: Event) -> None:
        if isinstance(event, RunStarted):
            begun.append(event.run_id)
        if unwritten:
            return
        try:
            display.follow(event)
        except OSError as error:
            unwritten.append(error)
            control.stop()

    try:
        with _written_out():
            try:
                yield follow
            except Cancelled:
                if not unwritten:
                    raise
            if unwritten:
                raise unwritten[0]
    except (UserError, BrokenPipeError):
        with suppress(OSError):
            for run_id in begun:
                display.notify(_go_on(run_id, database))
        raise


@contextmanager
def _written_out() -> Iterator[None]:
    """Raise UserError where standard output takes no more; BrokenPipeError, where nobody reads it, stays as it is."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UserError(
            f"Standard output cannot be written: {error.strerror or error}.",
            "Send it where there is room (`> FILE`); the results are stored all the same.",
        ) from error


@contextmanager
def stopping(control: Control) -> Iterator[None]:
    """Stop the run in an orderly way on Ctrl-C, SIGTERM and a closed terminal; a second Ctrl-C ends at once."""

    def stop(number: int, frame: FrameType | None) -> None:
        # The next Ctrl-C is for somebody who does not want to wait for the sample in flight.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        control.stop()

    numbers = [signal.SIGINT, signal.SIGTERM]
    hangup = platform.HANGUP
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:  # as `nohup` sets it
        numbers.append(hangup)
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
