"""A codebase with its oracle and its trusted tests: enough to sample regions and to judge them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from core.oracle.factory import open_oracle
from core.settings import OracleSettings
from core.source.codebase import open_codebase
from core.trips.opening import Notify
from core.types import Codebase, Oracle, Report, Suite


@dataclass(frozen=True)
class Judged:
    """A codebase that its own tests judge."""

    codebase: Codebase
    oracle: Oracle
    suite: Suite


def open_judged(stack: ExitStack, project: Path, settings: OracleSettings, notify: Notify, report: Report) -> Judged:
    """Open the project and run its own tests. Raises ProjectError, TargetError, SandboxError."""
    return learn(stack, open_named(project, notify), settings, notify, report)


def open_named(project: Path, notify: Notify) -> Codebase:
    """The project's files; those left out are named. Nothing of it runs. Raises ProjectError."""
    codebase = open_codebase(project)
    _name("Left out", {skipped.path: skipped.reason for skipped in codebase.skipped}, notify)
    return codebase


def learn(stack: ExitStack, codebase: Codebase, settings: OracleSettings, notify: Notify, report: Report) -> Judged:
    """Run the codebase's own tests. Raises ProjectError, TargetError, SandboxError."""
    oracle = _opened(codebase, settings, notify, report)
    stack.callback(oracle.close)
    suite = oracle.suite(report)
    _name("Set aside", suite.excluded, notify, " A run's record names all: `suite` of `rtc-inspector runs --json`.")
    return Judged(codebase, oracle, suite)


def _opened(codebase: Codebase, settings: OracleSettings, notify: Notify, report: Report) -> Oracle:
    if not settings.cluster:
        return open_oracle(codebase, settings, notify, report)
    from core.cluster.remote import ClusterOracle  # Ray is an extra, loaded where a cluster is named

    return ClusterOracle(settings, notify, lambda: report("learning the tests on the cluster", 0, 1))


def _name(verb: str, reasons: Mapping[str, str], notify: Notify, where: str = "") -> None:
    """One notice each for the first few, and the count of the others; `where`: what says more of those."""
    shown = 5
    for name, reason in list(reasons.items())[:shown]:
        notify(f"{verb} {name}: {reason}.")
    if len(reasons) > shown:
        notify(f"{verb} {len(reasons) - shown} more.{where}")
