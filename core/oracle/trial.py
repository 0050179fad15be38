"""What is to be run: a text under tests, those first that are likely to notice a change."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rtc_inspector.core.oracle.baseline import Baseline, file_of
from rtc_inspector.core.types import Candidate, Change

NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Trial:
    """One thing to run: a candidate (None: the project as it is) under tests."""

    candidate: Candidate | None
    tests: tuple[str, ...]
    every_test: bool = False
    whole: bool = False  # collect every file, not those of the tests alone
    rest: tuple[str, ...] = ()  # run in the same process after `tests` have passed, where that serves; else left out
    in_order: bool = False  # run the tests as they stand here, in a fresh process
    lean: bool = False  # judge by what one run of the suite showed, see `Worker`
    again: bool = False  # a second run of what was run before, whose results may differ
    slack: float = 1.0  # times its limits that it may take

    @property
    def changes(self) -> tuple[Change, ...]:
        return self.candidate.changes if self.candidate is not None else ()

    def request(self, stages: Sequence[Sequence[str]], total: float) -> dict[str, Any]:
        """Return the request as the zygote wants it: each stage is run when those before it have passed."""
        goes = [list(stage) for stage in stages if stage]
        asked: dict[str, Any] = {
            "tests": [test for go in goes for test in go],
            "whole": self.whole,
            "fail_fast": not self.every_test,
            "total": total,
        }
        if len(goes) > 1:
            asked["stages"] = goes
        if self.candidate is not None:
            asked["changes"] = [_request(change) for change in self.changes]
        return asked


def _request(change: Change) -> dict[str, Any]:
    first, last = lines_of(change)
    asked = {"path": change.file.path, "encoding": change.file.encoding, "original": change.file.text}
    return {**asked, "text": change.new_text, "first_line": first, "last_line": last}


def lines_of(change: Change) -> tuple[int, int]:
    """Return the first and last line (1-based) of the span in the original, as Python counts lines."""
    text, span = change.file.text, change.span
    last = len(NEWLINE.findall(text, 0, max(span.start, span.end - 1)))
    return len(NEWLINE.findall(text, 0, span.start)) + 1, last + 1


NEAR = 12  # lines between a region and code that counts as close to it
WORD = re.compile(r"\w+")
LIKELY = 0.3  # share of the tests that are worth asking before it is known what covers a candidate
AROUND = 0.001  # seconds that pytest takes around each test
FIRST = 24  # how many of the tests decide which file is collected first
DEFINITION = re.compile(r"([ \t]*)(?:class|(?:async )?def)\s+(\w+)")
_NAMED, _NEAR, _SAME_FILE, _ELSEWHERE = range(4)


def fastest_first(tests: Sequence[str], baseline: Baseline) -> tuple[str, ...]:
    """Return each test once, by its baseline seconds."""
    seconds = baseline.seconds
    return tuple(sorted(dict.fromkeys(tests), key=lambda test: (seconds.get(test, 0.0), test)))


def promising_first(changes: Iterable[Change], tests: Sequence[str], baseline: Baseline) -> tuple[str, ...]:
    """Return each test once: those that run code in or near what is changed, then in its file, then others.

    Fastest first.

    What runs at import is covered by every test; those that run the code around it are the likeliest to fail, and
    before them those of the file's that are named after it.
    """
    ranks, names = _ranks(changes, baseline), set[str]()
    for change in changes:
        first, last = lines_of(change)
        if not baseline.suite.coverage.import_lines.get(change.file.path, frozenset()).isdisjoint(
            range(first, last + 1)
        ):
            names.update(_plain(name) for name in enclosing(change)[:1])
    if names:
        ranks |= {test: _NAMED for test in ranks if any(name in _plain(test) for name in names)}
    return tuple(sorted(fastest_first(tests, baseline), key=lambda test: ranks.get(test, _ELSEWHERE)))


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def nearest_files_first(changes: Iterable[Change], tests: Sequence[str], baseline: Baseline) -> tuple[str, ...]:
    """Return the tests in their order, but files first that come near what is changed.

    What a file sets up is set up once.
    """
    files: dict[str, int] = {}
    for test, near in _ranks(changes, baseline).items():
        files[file_of(test)] = min(near, files.get(file_of(test), near))
    return tuple(sorted(tests, key=lambda test: files.get(file_of(test), _ELSEWHERE)))


def shares(tests: Sequence[str], count: int, baseline: Baseline) -> list[tuple[str, ...]]:
    """Cut ordered tests into stretches that each take about as long; none is empty."""
    seconds = [baseline.seconds.get(test, 0.0) + AROUND for test in tests]
    passed, whole = 0.0, sum(seconds)
    found: list[list[str]] = [[] for _ in range(count)]
    for test, took in zip(tests, seconds, strict=True):
        found[min(count - 1, int((passed + took / 2) / whole * count))].append(test)
        passed += took
    return [tuple(share) for share in found if share]


def _ranks(changes: Iterable[Change], baseline: Baseline) -> dict[str, int]:
    """Test -> how close it comes to what is changed, itself and not while modules are imported."""
    coverage, ranks = baseline.suite.coverage, dict[str, int]()
    for change in changes:
        first, last = lines_of(change)
        for line, indexes in coverage.lines.get(change.file.path, {}).items():
            near = _NEAR if first - NEAR <= line <= last + NEAR else _SAME_FILE
            for index in indexes:
                test = coverage.tests[index]
                ranks[test] = min(near, ranks.get(test, near))
    return ranks


def likely_tests(root: Path, candidate: Candidate, tests: Sequence[str]) -> tuple[str, ...]:
    """Return tests of the files that name what is changed, the most of it first, at most a share of all.

    For a candidate of which nobody knows yet what covers it.
    """
    stems = [Path(change.file.path).stem for change in candidate.changes]
    names = Counter(stems)
    for change in candidate.changes:  # what is around weighs three times a file's own name
        names.update(3 * [name for name in enclosing(change) if not name.startswith("__")])
    scores: dict[str, float] = {}
    for file in dict.fromkeys(map(file_of, tests)):
        with suppress(OSError):
            words = frozenset(WORD.findall((root / file).read_text(encoding="utf-8", errors="replace")))
            found = sum(weight for name, weight in names.items() if name in words)
            scores[file] = found + 4 * any(stem in Path(file).stem for stem in stems)
    most, chosen = max(FIRST, int(LIKELY * len(tests))), list[str]()
    for file in sorted((file for file in scores if scores[file]), key=lambda file: -scores[file]):
        chosen += [test for test in tests if file_of(test) == file]
        if len(chosen) >= most:
            break
    return tuple(chosen)


def enclosing(change: Change) -> list[str]:
    """Return the names of the functions and classes in and around what is changed, as indentation tells."""
    lines, (first, last) = NEWLINE.split(change.file.text), lines_of(change)
    depth = len(lines[first - 1]) - len(lines[first - 1].lstrip())
    found = [match[2] for line in lines[first - 1 : last] if (match := DEFINITION.match(line))]
    for line in reversed(lines[: first - 1]):
        if (match := DEFINITION.match(line)) and len(match[1]) < depth:
            depth = len(match[1])
            found.append(match[2])
    return found


def first_stage(tests: Sequence[str]) -> tuple[str, ...]:
    """Return those of ordered tests that are worth a process which collects one file only.

    They are those of the first FIRST tests that lie in the file with the most of these, the foremost counting most.
    """
    leading, files = tests[:FIRST], dict[str, float]()
    for place, test in enumerate(leading):
        files[file_of(test)] = files.get(file_of(test), 0.0) + 1 / (1 + place)
    chosen = max(files, key=lambda file: files[file]) if files else ""
    return tuple(test for test in leading if file_of(test) == chosen)
