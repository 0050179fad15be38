"""All covered candidates of a project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import ProjectError
from core.regions.candidates import enumerate_candidates
from core.regions.coverage import cover
from core.regions.sampling import weigh
from core.settings import RegionSettings
from core.types import CoverageMap, Region, Report, SourceFile


@dataclass(frozen=True, slots=True)
class Found:
    """What a project has to sample from.

    Attributes:
        regions: covered and weighed.
        problems: a sentence for each file that could not be taken.
    """

    regions: tuple[Region, ...]
    problems: tuple[str, ...]


def find_regions(
    files: Sequence[SourceFile],
    coverage: CoverageMap,
    settings: RegionSettings,
    progress: Report,
) -> Found:
    """Candidates of every code file some line of which ran; files that no test reaches are not even parsed.

    `progress(stage, done, total)` is called before each file; raising from it cancels.
    """
    ran = coverage.lines.keys() | coverage.import_lines.keys()
    code = [file for file in files if file.path in ran and not file.is_test]
    regions: list[Region] = []
    problems: list[str] = []
    for done, file in enumerate(code):
        progress("finding regions", done, len(code))
        try:
            regions += cover(enumerate_candidates(file, settings), coverage, settings, file)
        except ProjectError as error:
            problems.append(error.problem)
    return Found(tuple(weigh(regions)), tuple(problems))
