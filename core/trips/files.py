"""Files, and folders of notebooks, that stand for a project: each is written as one, which the window can open."""

from pathlib import Path

from rtc_inspector.core.settings import BenchmarkSettings, RunSettings
from rtc_inspector.core.source.benchmark import is_benchmark
from rtc_inspector.core.source.directives import holds_directives
from rtc_inspector.core.source.git import in_repository
from rtc_inspector.core.source.notebook import has_notebooks, is_episodes, is_notebook
from rtc_inspector.core.trips.benchmark import written_benchmark
from rtc_inspector.core.trips.directive import written_directives
from rtc_inspector.core.trips.notebook import written_notebook


def project_for(file: Path) -> Path | None:
    """Return the project generated from a file of directives, problems or cells; None for anything else.

    A folder that holds notebooks and no Python file stands for all of these, unless it has a history, whose edits can
    be sampled. Raises ProjectError for a bad one.
    """
    if has_notebooks(file) and not next(file.rglob("*.py"), None) and not in_repository(file):
        return written_notebook(str(file.resolve())).root
    if not file.is_file():
        return None
    settings = BenchmarkSettings(str(file.resolve()))
    if holds_directives(file):
        return written_directives(RunSettings(benchmark=settings))[1]
    if is_notebook(file) or is_episodes(file):
        return written_notebook(str(file.resolve())).root
    return written_benchmark(settings).root if is_benchmark(file) else None
