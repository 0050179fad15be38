"""What identity chains are made on: the problems of a benchmark, or a project's own functions.

Both come as problems, each a whole small program with words for its function: what models are shown. From the first
description on the function is called `func` in it.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.models.fences import level, place
from rtc_inspector.core.oracle.bench.project import VERSION, node_ids, program_file, write_project
from rtc_inspector.core.regions.admission import admit
from rtc_inspector.core.regions.coverage import cover
from rtc_inspector.core.rewrites.names import MASK
from rtc_inspector.core.settings import RegionSettings, RunSettings
from rtc_inspector.core.source.benchmark import read_benchmark
from rtc_inspector.core.source.codebase import content_fingerprint
from rtc_inspector.core.source.functions import Documented, documented
from rtc_inspector.core.syntax import Lines, parsed
from rtc_inspector.core.trips.benchmark import benchmark_file, masked_problem, masked_source, problem_item, unusable
from rtc_inspector.core.trips.judged import Judged, open_judged, whole
from rtc_inspector.core.types import Candidate, Item, Notify, Problem, Region, Report, SourceFile, Span

INDENT = "    "
"""Of the body of a project's function as models see it."""


class Chained(ABC):
    """Programs that chains are made on, with the tests that judge them.

    Attributes:
        problems, masked: by key, with the function's own name and with `func` in its place.
        none: what to say where there is no program at all, and what to do.
    """

    none: tuple[str, str]

    def __init__(
        self, problems: Sequence[Problem], masked: Sequence[Problem], judged: Judged, fingerprint: str
    ) -> None:
        """`fingerprint`: of all that programs and tests are taken from."""
        self.problems: Mapping[str, Problem] = {problem.key: problem for problem in problems}
        self.masked: Mapping[str, Problem] = {problem.key: problem for problem in masked}
        self.judged = judged
        self.fingerprint = fingerprint

    @abstractmethod
    def item(self, problem: Problem) -> Item:
        """Return the problem as an item with its tests: admitted, or dropped with the reason."""

    @abstractmethod
    def candidate(self, item: Item, text: str, *, named: bool) -> Candidate:
        """Return a body as it is judged; `named`: written under the function's own name, not as `func`."""

    def masked_body(self, key: str, text: str) -> str:
        """Return a body that was written under the function's own name, with that masked."""
        problem = self.problems[key]
        return _renamed_body(problem, text, problem.entry, MASK)


class Problems(Chained):
    """Problems of a benchmark, whose function names are masked in the generated project."""

    none = "No problem of this benchmark can be used", "Name another file."

    def item(self, problem: Problem) -> Item:
        """Return the problem as an item, dropped where it has no words to begin with or its reference fails."""
        reason = unusable(node_ids(problem), self.judged) or ("" if problem.words else "it has no words to begin with")
        masked = self.masked[problem.key]  # as it stands in the file
        return problem_item(problem, masked, masked.body.start, self.judged.trusted, reason)

    def candidate(self, item: Item, text: str, *, named: bool) -> Candidate:
        """Return the body in the generated file, whose names are masked; a `named` one among its own names."""
        file = self.judged.files[item.path]
        if not named:
            return Candidate(file, self.masked[item.key].body, text)
        problem = self.problems[item.key]
        return whole(file, program_file(problem, problem.with_body(text)))


class Functions(Chained):
    """Functions and methods of a project that have a docstring, judged by the project's own tests in its own files.

    A model sees the imports of the file, the signature, and the body below it as if the function stood alone.
    """

    none = (
        "This project has no function to make a chain of: none with a docstring is noticed by the tests",
        "Give functions docstrings and tests that check what they do, or name a benchmark file.",
    )

    def __init__(self, functions: Sequence[Documented], judged: Judged) -> None:
        """Hold the functions; which of them can be used is asked one by one."""
        self._places = {each.key: each for each in functions}
        self._lines = {file.path: Lines(file.text) for file in judged.codebase.files}
        plain = [_problem(each, judged.files[each.path], mask=False) for each in functions]
        masked = [masked_problem(_problem(each, judged.files[each.path], mask=True)) for each in functions]
        super().__init__(plain, masked, judged, content_fingerprint(judged.codebase))

    def item(self, problem: Problem) -> Item:
        """Return the function as an item, admitted where deleting the body changes a test's result."""
        each = self._places[problem.key]
        file, lines = self.judged.files[each.path], self._lines[each.path]
        region = Region(
            path=each.path,
            span=each.body,
            start_line=lines.number(each.body.start),
            end_line=lines.number(each.body.end - 1),
            text=file.text[each.body.start : each.body.end],
        )
        covered = cover([region], self.judged.suite.coverage, RegionSettings(coverage="any"), file)
        found = admit(covered[0] if covered else region, file, self.judged.oracle)
        return replace(
            found, key=each.key, kind="function", origin={"function": each.name}, directive=each.words, facets={}
        )

    def candidate(self, item: Item, text: str, *, named: bool) -> Candidate:
        """Return the body in the project's own file, under the function's own name and at its own indentation."""
        each, file = self._places[item.key], self.judged.files[item.path]
        # The file's own tests call the function by its own name, and it may call itself.
        own = text if named else self._named(item.key, each, text)
        body, helpers = _body_and_helpers(own)  # helpers come to stand inside the function, above its body
        placed = place(helpers + level(body, INDENT), each.indent)
        return Candidate(file, each.body, placed.replace("\n", "\r\n") if "\r\n" in file.text else placed)

    def masked_body(self, key: str, text: str) -> str:
        """Mask the function's own name in a body, as for problems; a method's calls of itself are masked too."""
        each = self._places[key]
        return super().masked_body(key, _own_calls_renamed(text, each.owner, each.entry, MASK))

    def _named(self, key: str, each: Documented, text: str) -> str:
        """Return a body that was written for `func`, with the function's own name in it."""
        return _own_calls_renamed(_renamed_body(self.masked[key], text, MASK, each.entry), each.owner, MASK, each.entry)


def _renamed_body(problem: Problem, text: str, name: str, other: str) -> str:
    """Return another body of the problem's program, with the function that is called `name` there called `other`."""
    span = Span(problem.body.start, problem.body.start + len(text))
    source, at = masked_source(problem.with_body(text), span, name, other)
    return source[at.start : at.end]


def _body_and_helpers(text: str) -> tuple[str, str]:
    """Return the body, and apart from it the helpers that a program defines below its function.

    A file of others has no place for those.
    """
    body, _, helpers = text.partition("\n\n\n")
    return (body, f"{helpers.rstrip()}\n\n") if helpers[:1].strip() and parsed(helpers) else (text, "")


def _problem(each: Documented, file: SourceFile, *, mask: bool) -> Problem:
    """Return the function as a program of its own; `mask`: a method's calls of itself are masked."""
    text = file.text[each.body.start : each.body.end].replace("\r\n", "\n").replace("\r", "\n")
    body = place(level(text, each.indent), INDENT)
    body = _own_calls_renamed(body, each.owner, each.entry, MASK) if mask else body
    above = f"{each.imports}\n\n\n" if each.imports else ""
    program = f"{above}{each.header}\n{INDENT}"
    span = Span(len(program), len(program) + len(body))
    return Problem(
        key=each.key,
        line=each.line,
        entry=each.entry,
        names=(each.entry,),
        words=each.words,
        program=f"{program}{body}\n",
        body=span,
        asked=f"{program}{body}\n",
        asked_body=span,
    )


def _own_calls_renamed(text: str, owner: str, name: str, other: str) -> str:
    """Return a method's body in which its calls of itself, e.g. `self.name(...)`, have another name."""
    return re.sub(rf"(?<![\w.])({owner}\.){re.escape(name)}(?!\w)", rf"\g<1>{other}", text) if owner else text


def open_problems(
    stack: ExitStack, settings: RunSettings, notify: Notify, report: Report
) -> tuple[Chained, Problem | None]:
    """Return the problems of the file that the settings name, and the one that is the example. Raises UserError."""
    path = benchmark_file(settings.benchmark)
    benchmark = read_benchmark(path)
    left_out = _examples(settings, len(benchmark.problems))
    masked = [masked_problem(problem) for problem in benchmark.problems]
    name = f"{path.name.split('.')[0]} masked"
    root = write_project(masked[left_out:], name, source=settings.benchmark.file or "")
    judged = open_judged(stack, root, replace(settings.oracle, confirm_whole_suite=False), notify, report)
    fingerprint = f"{benchmark.fingerprint}-{VERSION}"
    problems = Problems(benchmark.problems[left_out:], masked[left_out:], judged, fingerprint)
    return problems, masked[0] if left_out else None


def open_functions(
    stack: ExitStack, project: Path, settings: RunSettings, notify: Notify, report: Report
) -> tuple[Chained, Problem | None]:
    """Return the functions of a project that some test runs, and the one that is the example. Raises UserError."""
    judged = open_judged(stack, project, replace(settings.oracle, confirm_whole_suite=False), notify, report)
    ran = judged.suite.coverage.lines
    files = [file for file in judged.codebase.files if file.path in ran and not file.is_test]
    functions = [(each, file) for file in files for each in documented(file)]
    if not functions:
        raise ProjectError(f"{Functions.none[0]}.", Functions.none[1])
    left_out = _examples(settings, len(functions))
    shot = masked_problem(_problem(*functions[0], mask=True)) if left_out else None
    return Functions([each for each, _ in functions[left_out:]], judged), shot


def _examples(settings: RunSettings, programs: int) -> int:
    """Return how many programs at the beginning serve as the worked example and are left out. Raises ProjectError."""
    if settings.chain.paper_shot and programs < 2:
        raise ProjectError(
            "There is one program only, and as the worked example it would be left out.", "Leave --paper-shot out."
        )
    return int(settings.chain.paper_shot)
