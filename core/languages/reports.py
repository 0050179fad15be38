"""What the tests' own tools report of covered lines: lcov, and Go's profile."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.types import CoverageMap

_GO_LINE = re.compile(r"(?P<path>.+):(?P<first>\d+)\.\d+,(?P<last>\d+)\.\d+ \d+ (?P<count>\d+)")
Counts = Mapping[str, Mapping[int, int]]  # path in the project -> line -> how often it ran


def read_report(text: str, files: Collection[str], roots: Sequence[str] = ()) -> Counts:
    """Read an lcov report or a Go profile: how often each line of the project's `files` ran.

    `roots` are what paths in the report may begin with besides: folders, or the name of a Go module. A line of a Go
    profile that belongs to several blocks has the count of the one that ran most. Raises ProjectError for a text that
    is neither, and for a report that names none of the files.
    """
    found: dict[str, dict[int, int]] = {}
    lines = _go_counts(text) if text.startswith("mode: ") else _lcov_counts(text)
    unknown = ""
    for path, first, last, count in lines:
        own = _in_project(path, files, roots)
        if own is None:
            unknown = unknown or path
            continue
        counts = found.setdefault(own, {})
        for line in range(first, last + 1):
            counts[line] = max(counts.get(line, 0), count)
    if found:
        return found
    if unknown:
        raise ProjectError(
            f"The coverage report names no file of this project; its first is {unknown}.",
            "Name the report of this project's own tests (--coverage-report), or leave it out.",
        )
    raise ProjectError(
        "The coverage report holds no line that ran or could run: it is neither lcov nor a Go profile.",
        "Have the tests write lcov (`SF:`, `DA:`) or a profile of `go test -coverprofile`, or leave the report out.",
    )


def coverage_of(reports: Mapping[str, Counts]) -> CoverageMap:
    """Return the map of what was reported of each test: of a file of tests, a package, or the whole command."""
    lines: dict[str, dict[int, set[int]]] = {}
    for index, counts in enumerate(reports.values()):
        for path, by_line in counts.items():
            for line, count in by_line.items():
                ran = lines.setdefault(path, {}).setdefault(line, set())
                ran.update([index] if count else [])
    frozen = {path: {line: frozenset(ran) for line, ran in by_line.items()} for path, by_line in lines.items()}
    return CoverageMap(tuple(reports), frozen, {})


def _lcov_counts(text: str) -> Iterator[tuple[str, int, int, int]]:
    path = ""
    for line in text.splitlines():
        kind, _, value = line.strip().partition(":")
        if kind == "SF":
            path = value
        elif kind == "DA" and path:
            number, _, count = value.partition(",")
            count = count.partition(",")[0]
            if number.isdigit() and count.isdigit():
                yield path, int(number), int(number), int(count)


def _go_counts(text: str) -> Iterator[tuple[str, int, int, int]]:
    for line in text.splitlines():
        if found := _GO_LINE.fullmatch(line.strip()):
            yield found["path"], int(found["first"]), int(found["last"]), int(found["count"])


def _in_project(path: str, files: Collection[str], roots: Sequence[str]) -> str | None:
    """Return the path as the project has it; None where the file is not the project's."""
    plain = path.replace("\\", "/").removeprefix("./")
    places = [plain, *(plain.removeprefix(root.rstrip("/")).lstrip("/") for root in roots if plain.startswith(root))]
    return next((each for each in places if each in files), None)
