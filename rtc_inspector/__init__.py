"""RTC Inspector as a library: how well does a code model understand a project?

    from rtc_inspector import analyse, judge, open_project, open_store, run

These names stay; modules below may change between versions (docs/library.md). The folders `app`, `core`, `resources`
and `ui` lie at the top of the repository; links here make them `rtc_inspector.app` and so on, and the wheel holds them
here, so that nothing of ours is at the top of site-packages.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtc_inspector.core import __version__ as __version__

if TYPE_CHECKING:  # each of these takes longer to load than most programs need
    from rtc_inspector.core.figures import Figure
    from rtc_inspector.core.run.events import Control
    from rtc_inspector.core.run.opening import Emit
    from rtc_inspector.core.settings import EndpointSettings
    from rtc_inspector.core.store.reader import Reader
    from rtc_inspector.core.store.rows import RunRow
    from rtc_inspector.core.types import Codebase, Verdict

__all__ = ["analyse", "judge", "open_project", "open_store", "run"]


def open_project(path: str | Path) -> Codebase:
    """Return the project in a folder: its files, those left out and why, its revision. Raises UserError."""
    from rtc_inspector.core.trips.judged import open_named

    return open_named(Path(path), _log)


def run(
    source: str | Path,
    database: str | Path,
    *,
    model: str | Path | EndpointSettings = "",
    task: str | None = None,
    on_event: Emit | None = None,
    control: Control | None = None,
    **settings: Any,
) -> RunRow:
    """Evaluate a model on a project, or on a file of problems, and return the run as it is stored.

    `settings` are the options of `rtc-inspector run` with underscores, e.g. `regions=5, sandbox="landlock"`; they go
    before those of the project's own file. `model` is a GGUF file (empty: the bundled one) or a server. Every event of
    the run is given to `on_event`; another thread may pause or stop it by `control`. Raises UserError, and ValueError
    for what is no setting.
    """
    from rtc_inspector.app.running import models_in, run_settings
    from rtc_inspector.core.kinds import project_of
    from rtc_inspector.core.run.events import Control
    from rtc_inspector.core.run.many import start
    from rtc_inspector.core.run.results import open_store
    from rtc_inspector.core.settings import EndpointSettings

    named = {"model": "bundled" if isinstance(model, EndpointSettings) else str(model)} if model else {}
    options = _options(Path(source), task, settings | named)
    wanted = run_settings(options, models_in(options)[0])
    if isinstance(model, EndpointSettings):
        wanted = replace(wanted, endpoint=model)
    with open_store(Path(database)) as store:
        emit = on_event or (lambda event: None)
        project = project_of(wanted, options.project) or options.project
        finished = start(wanted, project, store, emit, control or Control())
        return store.reader.run(finished.runs[-1].run_id)


def judge(project: str | Path, path: str, start: int, end: int, replacement: str, **settings: Any) -> Verdict:
    """Return what the covering tests say of a file with the characters from `start` to `end` replaced.

    `settings` are those of `rtc-inspector judge`, with underscores. Raises UserError.
    """
    from rtc_inspector.app.options import oracle_settings
    from rtc_inspector.core.run.unstored import judge_span
    from rtc_inspector.core.types import Span

    asked = oracle_settings(_options(Path(project), None, settings))
    return judge_span(Path(project), path, Span(start, end), replacement, asked, _log, lambda *step: None)


def analyse(database: str | Path, *runs: int, kind: str | None = None, **chosen: str) -> list[Figure]:
    """Return the figures of stored runs as data: all that apply, or those of one `kind`. Raises UserError."""
    from rtc_inspector.core.analyses.analyse import analyse as figures

    with open_store(database) as reader:
        return figures(reader, runs, kind, chosen)


def open_store(database: str | Path) -> Reader:
    """Open a database of results for reading; a context manager. Raises StoreError."""
    from rtc_inspector.core.run.results import open_reader

    return open_reader(Path(database))


def _log(text: str) -> None:
    from logging import getLogger

    getLogger(__name__).info(text)


def _options(source: Path, task: str | None, values: Mapping[str, Any]) -> Namespace:
    """Return the options that `run` would have on the command line, those of the project's own file among them."""
    from rtc_inspector.app.cli import build_parser
    from rtc_inspector.app.options import heed_project_file
    from rtc_inspector.core.settings.project_file import settings_of

    options = build_parser("run").parse_args(["run", "--", str(source)])
    settings, others = settings_of(values, Path.cwd())
    vars(options).update(settings, task=task, **{name.replace("-", "_"): value for name, value in others.items()})
    heed_project_file(options)
    return options
