"""Files that stand for a project: each is written as one, which the window can open."""

from __future__ import annotations

from pathlib import Path

from core.settings import BenchmarkSettings, RunSettings
from core.source.benchmark import is_benchmark
from core.source.directives import holds_directives
from core.source.notebook import is_episodes, is_notebook
from core.trips.benchmark import written_benchmark
from core.trips.directive import written_directives
from core.trips.notebook import written_notebook


def project_for(file: Path) -> Path | None:
    """The project that is generated from a file of directives, problems or cells; None for any other file.

    Raises ProjectError for a bad one.
    """
    if not file.is_file():
        return None
    settings = BenchmarkSettings(str(file.resolve()))
    if holds_directives(file):
        return written_directives(RunSettings(benchmark=settings)).root
    if is_notebook(file) or is_episodes(file):
        return written_notebook(str(file.resolve())).root
    return written_benchmark(settings).root if is_benchmark(file) else None
