"""How fast a project is opened and its candidates enumerated, and how far other readings of the weight would differ.

usage: python benchmarks/regions.py PROJECT
Prints one `name=value` a line; seconds are processor time. Coverage is left out: every candidate counts as covered.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.languages import LANGUAGES
from rtc_inspector.core.regions.candidates import draw, enumerate_candidates, parse_blocks, weigh
from rtc_inspector.core.settings import RegionSettings
from rtc_inspector.core.source.codebase import open_codebase
from rtc_inspector.core.types import Codebase, Region


def main(root: Path) -> None:
    started = time.process_time()
    codebase = open_codebase(root, languages=LANGUAGES)
    figures: dict[str, object] = {"open_seconds": round(time.process_time() - started, 2)}
    code = [file for file in codebase.files if not file.is_test]
    figures |= {"files": len(codebase.files), "code_files": len(code), "skipped": len(codebase.skipped)}
    figures["code_lines"] = sum(file.text.count("\n") for file in code)
    started = time.process_time()
    regions, unmapped = enumerate_all(codebase, RegionSettings())
    seconds = time.process_time() - started
    figures |= {"enumerate_seconds": round(seconds, 2), "candidates": len(regions), "unmapped": unmapped}
    figures["lines_per_second"] = round(float(str(figures["code_lines"])) / seconds)
    started = time.process_time()
    weighed = weigh(regions)
    figures["weigh_seconds"] = round(time.process_time() - started, 3)
    started = time.process_time()
    list(islice(draw(weighed, 0, allow_overlap=False), 100))
    figures["draw_100_seconds"] = round(time.process_time() - started, 3)
    figures |= choices(codebase, weighed)
    for name, value in figures.items():
        print(f"{name}={value}")


def enumerate_all(codebase: Codebase, settings: RegionSettings) -> tuple[list[Region], int]:
    """All candidates of a project, and how many files could not be mapped."""
    regions: list[Region] = []
    unmapped = 0
    for file in codebase.files:
        try:
            regions += enumerate_candidates(file, settings)
        except ProjectError:
            unmapped += 1
    return regions, unmapped


def choices(codebase: Codebase, weighed: Sequence[Region]) -> dict[str, object]:
    """What the settings and the readings of the paper's sentence change."""
    weights = np.array([region.weight for region in weighed])
    lengths = np.array([len(region.span) for region in weighed], dtype=float)
    containing, overlapping = neighbours(weighed)
    difference = abs(
        weights.sum() - len({(each.path, at) for each in weighed for at in range(each.span.start, each.span.end)})
    )
    sample = list(islice(draw(weighed, 0, allow_overlap=True), 100))
    overlaps = sum(
        any(other is not r and other.path == r.path and other.span.overlaps(r.span) for other in sample) for r in sample
    )
    with_docstrings = weigh(enumerate_all(codebase, RegionSettings(allow_docstring_start=True))[0])
    starts = {
        (file.path, block.statements[0].start)
        for file in codebase.files
        if not file.is_test
        for block in parse_blocks(file)
        if block.docstring
    }
    drawn = list(islice(draw(with_docstrings, 0, allow_overlap=True), 100))
    return {
        "weight_sum_error": f"{difference:.2g}",
        "variation_length_by_containers": round(variation(weights, lengths / containing), 3),
        "variation_length_by_overlapping": round(variation(weights, lengths / overlapping), 3),
        "variation_length_only": round(variation(weights, lengths), 3),
        "overlapping_of_100": overlaps,
        "docstring_starts_of_100": sum((region.path, region.span.start) in starts for region in drawn),
    }


def neighbours(regions: Sequence[Region]) -> tuple[np.ndarray, np.ndarray]:
    """For each region how many hold it whole, and how many share a character with it; itself included."""
    containing = np.empty(len(regions))
    overlapping = np.empty(len(regions))
    paths = np.array([region.path for region in regions])
    starts = np.array([region.span.start for region in regions])
    ends = np.array([region.span.end for region in regions])
    for path in set(paths.tolist()):
        (here,) = np.nonzero(paths == path)
        first, last = starts[here], ends[here]
        for place in here:
            containing[place] = np.count_nonzero((first <= starts[place]) & (last >= ends[place]))
            overlapping[place] = np.count_nonzero((first < ends[place]) & (last > starts[place]))
    return containing, overlapping


def variation(first: np.ndarray, second: np.ndarray) -> float:
    """Total variation distance of two distributions given by their weights."""
    return float(np.abs(first / first.sum() - second / second.sum()).sum() / 2)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/regions.py PROJECT")
    main(Path(sys.argv[1]))
