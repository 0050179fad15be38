"""A codebase with its oracle and its trusted tests: enough to sample regions and to judge them."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from rtc_inspector.core.errors import ProjectError, UserError
from rtc_inspector.core.languages import PYTHON
from rtc_inspector.core.oracle.begun import Begun, begin
from rtc_inspector.core.oracle.bench.project import is_generated, origin_of
from rtc_inspector.core.oracle.command.commands import Command, find_command
from rtc_inspector.core.oracle.factory import open_oracle
from rtc_inspector.core.regions.admission import admit
from rtc_inspector.core.regions.coverage import cover
from rtc_inspector.core.settings import OracleSettings, RegionSettings, RunSettings
from rtc_inspector.core.source.codebase import open_codebase
from rtc_inspector.core.trips.protocol import Opened, Trip
from rtc_inspector.core.types import (
    Candidate,
    Codebase,
    Item,
    LearnsLater,
    Notify,
    Oracle,
    Region,
    Report,
    SourceFile,
    Span,
    Suite,
    Verdict,
)

_TEST = re.compile(r"tests/test_(?:p_)?(?P<stem>[cp]_\d+)\.py(?:::test_(?P<number>\d+)\w*)?|problems/(?P<own>\w+)\.py")
"""A test of an item, the file of its tests or its own, as `core.oracle.bench.project` names them."""


@dataclass(frozen=True)
class Judged:
    """A codebase that its own tests judge."""

    codebase: Codebase
    oracle: Oracle
    suite: Suite

    @cached_property
    def files(self) -> Mapping[str, SourceFile]:
        return {file.path: file for file in self.codebase.files}

    @cached_property
    def trusted(self) -> frozenset[str]:
        return frozenset(test.node_id for test in self.suite.tests)

    def judge(self, item: Item, text: str) -> Verdict:
        return self.oracle.judge(Candidate(self.files[item.path], item.span, text), item.tests)

    def judge_file(self, item: Item, text: str) -> Verdict:
        return self.oracle.judge(whole(self.files[item.path], text), item.tests)

    def admitted(self, region: Region) -> Item:
        """Return a region as an item, covered when some line of it runs; it may be dropped all the same."""
        file = self.files[region.path]
        covered = cover([region], self.suite.coverage, RegionSettings(coverage="any"), file)
        return admit(covered[0] if covered else region, file, self.oracle)

    def opened(self, make_trip: Callable[[RunSettings], Trip], settings: RunSettings, fingerprint: str) -> Opened:
        return Opened(
            make_trip=make_trip,
            settings=settings,
            root=self.codebase.root,
            fingerprint=fingerprint,
            oracle=self.oracle.name,
            suite=self.suite,
            revision=self.codebase.revision,
            dirty=self.codebase.dirty,
            image_digest=self.oracle.image_digest,
            learner=self.oracle if isinstance(self.oracle, LearnsLater) else None,
        )


def whole(file: SourceFile, text: str) -> Candidate:
    """Return a candidate that gives a file another text."""
    return Candidate(file, Span(0, len(file.text)), text)


def open_judged(
    stack: ExitStack,
    project: Path,
    settings: OracleSettings,
    notify: Notify,
    report: Report,
    *,
    python_only: bool = True,
    meanwhile: Callable[[Codebase], None] = lambda codebase: None,
) -> Judged:
    """Open the project and run its own tests. Raises ProjectError, TargetError, SandboxError.

    `python_only`: what is done with it is made for Python alone; else its own test command may judge it. `meanwhile`
    begins what can be done while the tests run.
    """
    command = find_command(project, settings)
    if command is not None and python_only and not is_generated(project):
        raise ProjectError(
            f"This is made for Python alone, and {project.name} is tested by `{command.name}`.",
            "Sample regions (--task synthesis) or edits (--task editing) in other languages; --language Python takes "
            "the Python files of a project that holds several.",
        )
    command = None if python_only else command
    begun = begin_oracle(stack, project, settings, command)
    codebase = open_named(project, notify, command)
    oracle = open_oracle_of(stack, codebase, settings, notify, report, command, begun)
    meanwhile(codebase)  # only now: it would keep the interpreter from what starts processes
    return learned(codebase, oracle, notify, report)


def open_written(
    stack: ExitStack, root: Path, settings: OracleSettings, notify: Notify, report: Report, problem: str, remedy: str
) -> Judged:
    """Open a project that was written from a file of items. Raises UserError: `problem` and why, and `remedy`.

    The whole suite is never run to confirm a pass: the tests of other items say nothing about it.
    """
    keys = origin_of(root).keys

    def say(text: str) -> None:
        notify(_of_items(text, keys))

    try:
        return open_judged(stack, root, replace(settings, confirm_whole_suite=False), say, report)
    except ProjectError as error:
        raise ProjectError(f"{problem}: {_of_items(error.problem, keys)}", remedy) from error


def _of_items(problem: str, keys: Mapping[str, str]) -> str:
    """Return what the oracle says of a project as said of a file of items: nobody has seen the files written for it.

    `keys`: what people call an item, by its file.
    """
    named = {Path(path).stem: key for path, key in keys.items()}

    def as_item(found: re.Match[str]) -> str:
        item = named.get(found["stem"] or found["own"])
        if item is None:
            return found[0]
        if found["own"]:
            return item
        return f"test {int(found['number']) + 1} of {item}" if found["number"] else f"the tests of {item}"

    return _TEST.sub(as_item, problem.replace("the project's ", "their ").replace("The project's ", "Their "))


@contextmanager
def writing(what: str) -> Iterator[None]:
    """Raise ProjectError where such a project cannot be written inside: the disk is full or closed to us."""
    try:
        yield
    except OSError as error:
        raise ProjectError(
            f"{what} cannot be written to {error.filename}: {error.strerror}.",
            "Make room there, or set XDG_CACHE_HOME to a folder that can be written to.",
        ) from error


def open_named(project: Path, notify: Notify, command: Command | None = None) -> Codebase:
    """Open the project's files and name those left out. Nothing of it runs. Raises ProjectError.

    `command`: which tests it, where that is not Python's own oracle.
    """
    codebase = open_codebase(project, languages=command.languages if command is not None else (PYTHON,))
    _say("Left out", {skipped.path: skipped.reason for skipped in codebase.skipped}, notify)
    return codebase


def learned(codebase: Codebase, oracle: Oracle, notify: Notify, report: Report) -> Judged:
    """Run the codebase's own tests by an open oracle. Raises ProjectError, TargetError, SandboxError."""
    suite = oracle.begin(report) if isinstance(oracle, LearnsLater) else oracle.suite(report)
    if not is_generated(codebase.root):  # problems and cells are named themselves, when they are dropped
        _say("Set aside", suite.excluded, notify, " A run's record names all: `suite` of `rtc-inspector runs --json`.")
    return Judged(codebase, oracle, suite)


def begin_oracle(stack: ExitStack, project: Path, settings: OracleSettings, command: Command | None) -> Begun | None:
    """Begin what `open_oracle_of` goes on with, before the files are read; None where nothing can be begun."""
    begun = begin(project, settings) if command is None else None
    if begun is not None:
        stack.callback(begun.close)
    return begun


def open_oracle_of(
    stack: ExitStack,
    codebase: Codebase,
    settings: OracleSettings,
    notify: Notify,
    report: Report,
    command: Command | None,
    begun: Begun | None = None,
) -> Oracle:
    """Open what judges a codebase: its own test command, a cluster, or this machine. Raises as `learned`."""
    oracle: Oracle
    if command is not None:
        if settings.cluster:
            raise ProjectError(
                "A cluster judges Python projects alone.", f"Leave out --cluster to judge by `{command.name}`."
            )
        from rtc_inspector.core.oracle.command.oracle import open_command_oracle  # with the grammars

        oracle = open_command_oracle(codebase, command, settings, notify)
    elif not settings.cluster:
        oracle = open_oracle(codebase, settings, notify, report, begun)
    else:
        from rtc_inspector.core.cluster.remote import ClusterOracle  # Ray is an extra

        oracle = ClusterOracle(
            codebase.root, settings, notify, lambda: report("learning the tests on the cluster", 0, 1)
        )
    stack.callback(oracle.close)
    return oracle


def _say(verb: str, reasons: Mapping[str, str], notify: Notify, where: str = "") -> None:
    """Give one notice each for the first few, and the count of the others; `where`: what says more of those."""
    shown = 5
    for name, reason in list(reasons.items())[:shown]:
        notify(f"{verb} {name}: {reason}.")
    if len(reasons) > shown:
        notify(f"{verb} {len(reasons) - shown} more.{where}")


def selected_item(judged: Judged, path: str, span: Span) -> Item:
    """Return the statements around `span`, of whatever length, covered when some line of them runs; `extra` is set.

    Raises UserError when no statement of the project's own code is selected, ProjectError when they cannot be located.
    """
    source = judged.files.get(path)
    if source is None:
        raise UserError(
            f"The project has no file {path} that its tests judge.", "Read the files again, then select once more."
        )
    if source.is_test:
        raise UserError(f"{path} belongs to the tests, which are never sampled.", "Select lines of the code they test.")
    from rtc_inspector.core.regions.candidates import snap  # takes half a second to load

    region = snap(source, span)
    if region is None:
        raise UserError("No statement is selected.", "Select lines that hold code.")
    # Any line, not all as for sampled regions: a person may well choose a branch that no test takes whole.
    return replace(judged.admitted(region), extra=True)
