"""What is drawn and judged without a run, so that nothing is stored."""

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.oracle.command.commands import find_command, settings_for
from rtc_inspector.core.platform import usable_cores
from rtc_inspector.core.regions.coverage import cover
from rtc_inspector.core.settings import OracleSettings, RegionSettings, RunSettings, with_workers
from rtc_inspector.core.syntax import NEWLINE
from rtc_inspector.core.trips.judged import begin_oracle, learned, open_named, open_oracle_of
from rtc_inspector.core.trips.protocol import opener
from rtc_inspector.core.types import (
    Candidate,
    Codebase,
    Item,
    LearnsLater,
    Notify,
    Region,
    Report,
    SourceFile,
    Span,
    Verdict,
    counted_tests,
)
from rtc_inspector.core.waiting import patiently


def sample_items(project: Path, settings: RunSettings, notify: Notify, report: Report) -> Iterator[Item]:
    """Draw and admit items as a run with these settings would. Raises UserError; ProjectError when none is admitted."""
    settings = replace(settings, oracle=with_workers(settings.oracle, usable_cores()))
    with ExitStack() as stack:
        opened = opener(settings.task)(stack, project, settings, notify, report)
        admitted = 0
        for item in opened.trip.items(settings.regions, opened.settings.seed, {}, report):
            admitted += item.admitted
            yield item
        for text in opened.trip.shortfall(admitted, settings.regions):
            notify(text)


def try_tests(project: Path, settings: OracleSettings, report: Report) -> str:
    """Run a project's own test command on the untouched project, and say what it gave. Raises UserError."""
    said: list[str] = []
    command = find_command(project, settings)
    if command is None:
        return "The tests of a Python project are run when a run begins."
    from rtc_inspector.core.oracle.command.oracle import CommandOracle  # with the grammars

    with ExitStack() as stack:
        codebase = open_named(project, lambda _: None, command)
        fresh = replace(settings, cache=False)
        opened = open_oracle_of(stack, codebase, fresh, said.append, report, command)
        judged = learned(codebase, opened, said.append, report)
        suite, oracle = judged.suite, judged.oracle
        count = oracle.trusted if isinstance(oracle, CommandOracle) else 0
    lines = sum(bool(tests) for by_line in suite.coverage.lines.values() for tests in by_line.values())
    passed = f"{counted_tests(count)} passed" if count else "The command ended well"
    covered = f"{lines:,} lines run" if suite.coverage.traced else "which lines run is not known"
    left = f", {len(suite.excluded)} set aside" if suite.excluded else ""
    told = [text for text in said if text not in said[:1]]  # what is first names the command, which is known
    return " ".join([f"{passed} in {suite.seconds:.1f} s{left}; {covered}.", *told])


def judge_span(
    project: Path,
    path: str,
    span: Span,
    replacement: str,
    oracle_settings: OracleSettings,
    notify: Notify,
    report: Report,
) -> Verdict:
    """Judge `path` with `span` replaced, by the tests that cover the span. Raises UserError, before any test runs."""
    oracle_settings = settings_for(project, path, oracle_settings)
    command = find_command(project, oracle_settings)
    with ExitStack() as stack:
        begun = begin_oracle(stack, project, oracle_settings, command)
        codebase = open_named(project, notify, command)
        source = _source(codebase, path)
        region = _region(source, span)
        oracle = open_oracle_of(stack, codebase, oracle_settings, notify, report, command, begun)
        candidate = Candidate(source, span, replacement)
        if isinstance(oracle, LearnsLater) and (cold := oracle.judge_cold(candidate, report)) is not None:
            return cold
        judged = learned(codebase, oracle, notify, report)
        covered = cover([region], judged.suite.coverage, RegionSettings(coverage="any"), source)
        tests = covered[0].tests if covered else ()
        how = oracle.judge_now if isinstance(oracle, LearnsLater) else oracle.judge
        judge = partial(how, candidate, tests, every_test=True)
        return patiently(judge, partial(report, "judging", 0, 1), stack.close)


def _source(codebase: Codebase, path: str) -> SourceFile:
    """Return the project's file at `path`, given relative to its root or to the working folder. Raises UserError."""
    given = Path(path)
    with suppress(KeyError):
        return codebase.file(given.as_posix())
    inside = given.resolve().relative_to(codebase.root) if given.resolve().is_relative_to(codebase.root) else given
    with suppress(KeyError):
        return codebase.file(inside.as_posix())
    reasons = {skipped.path: skipped.reason for skipped in codebase.skipped}
    if inside.as_posix() in reasons:
        raise UserError(f"{path} was left out: {reasons[inside.as_posix()]}.", "Mend the file, or name another one.")
    raise UserError(
        f"The project has no file {path} whose code its tests judge.",
        "Give --path relative to the project's folder, as `sample` prints it.",
    )


def _region(source: SourceFile, span: Span) -> Region:
    """Return the span as it stands, whether or not it holds whole statements. Raises UserError when out of the file."""
    if not 0 <= span.start <= span.end <= len(source.text):
        raise UserError(
            f"Characters {span.start} to {span.end} do not lie in {source.path}, which has {len(source.text)}.",
            "Give --start and --end as character offsets, 0 <= start <= end <= length.",
        )
    text = source.text[span.start : span.end]
    first = 1 + len(NEWLINE.findall(source.text[: span.start]))
    return Region(source.path, span, first, first + len(NEWLINE.findall(text)), text)
