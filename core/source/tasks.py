"""Which task a source is for, and the settings that come of that and of what was given."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import TASKS, configured, task
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.settings.setting import check, with_values
from rtc_inspector.core.source.benchmark import is_benchmark
from rtc_inspector.core.source.directives import holds_directives
from rtc_inspector.core.source.json_lines import table_in
from rtc_inspector.core.source.notebook import is_episodes, is_notebook


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
