"""In which order tests are run: those first that are likely to notice a change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rtc_inspector.core.oracle.baseline import Baseline, file_of

NEAR = 12
"""Lines between a region and code that counts as close to it."""
FIRST = 24
"""How many of the tests decide which file is collected first."""
Place = tuple[str, tuple[int, int]]
"""A file, and the first and last line of what is changed in it."""
_NEAR, _SAME_FILE, _ELSEWHERE = range(3)


def fastest_first(tests: Sequence[str], baseline: Baseline) -> tuple[str, ...]:
    """Each test once, by its baseline seconds."""
    seconds = baseline.seconds
    return tuple(sorted(dict.fromkeys(tests), key=lambda test: (seconds.get(test, 0.0), test)))


def promising_first(places: Iterable[Place], tests: Sequence[str], baseline: Baseline) -> tuple[str, ...]:
    """Each test once: those that run code in or near what is changed, then in its file, then others; fastest first.

    What runs at import is covered by every test; those that run the code around it are the likeliest to fail.
    """
    rank: dict[str, int] = {}
    for path, lines in places:
        for test, near in _ranks(path, lines, baseline).items():
            rank[test] = min(near, rank.get(test, near))
    return tuple(sorted(fastest_first(tests, baseline), key=lambda test: rank.get(test, _ELSEWHERE)))


def _ranks(path: str, lines: tuple[int, int], baseline: Baseline) -> dict[str, int]:
    """Test -> how close it comes to the lines, itself and not while modules are imported."""
    coverage, ranks = baseline.suite.coverage, dict[str, int]()
    first, last = lines
    for line, indexes in coverage.lines.get(path, {}).items():
        near = _NEAR if first - NEAR <= line <= last + NEAR else _SAME_FILE
        for index in indexes:
            test = coverage.tests[index]
            ranks[test] = min(near, ranks.get(test, near))
    return ranks


def first_stage(tests: Sequence[str]) -> tuple[str, ...]:
    """Return those of ordered tests that are worth a process which collects one file only.

    They are those of the first FIRST tests that lie in the file with the most of these.
    """
    leading = tests[:FIRST]
    files = Counter(map(file_of, leading))
    chosen = max(files, key=lambda file: files[file]) if files else ""
    return tuple(test for test in leading if file_of(test) == chosen)
