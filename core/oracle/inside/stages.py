"""Run the tests in several goes, each of which is collected only when those before it have passed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .reporter import Reporter


class Between(pytest.Item):
    """Stands for the tests to come, so that what was set up for the whole session outlives a go."""

    def runtest(self) -> None:
        """Never run."""

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Nowhere in the project."""
        return "between", None, "between"


class Stages:
    """A plugin that runs what was selected, then collects and runs the rest in the same process."""

    def __init__(self, reporter: Reporter, later: list[list[str]], seen: list[str] | None) -> None:
        """`later`: tests of each further go. `seen`: files that are collected to begin with; None for all."""
        self._reporter = reporter
        self._later = list(later)
        self._seen = None if seen is None else set(seen)
        self._folders: dict[Any, Any] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector: Any) -> Iterator[None]:
        """A folder met again has the fixtures of its conftest: pytest 9.1 and later give them to the node met first."""
        yield
        known = self._folders.setdefault((type(collector), getattr(collector, "path", None)), collector)
        if known is not collector:
            _share_fixtures(collector.session._fixturemanager, known, collector)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        """In place of pytest's own loop."""
        between = Between.from_parent(session, name="between")
        _run(session, between if self._later else None)
        while self._later and not self._reporter.failed:
            self._collect(session, self._later.pop(0))
            _run(session, between if self._later else None)
        return True

    def _collect(self, session: Any, tests: list[str]) -> None:
        """Select `tests`; no file is collected twice, for its fixtures would then hide one another."""
        self._reporter.expect(tests)
        new = [] if self._seen is None else [file for file in files_of(tests) if file not in self._seen]
        if self._seen is None or not new:
            self._reporter.select(session.items)
            return
        self._seen.update(new)
        session.config.args = new
        session.config.hook.pytest_collection(session=session)


def _share_fixtures(manager: Any, known: Any, new: Any) -> None:
    """Nothing to do for versions that find fixtures by the names of nodes."""
    for by_node in getattr(manager, "_arg2node2fixturedefs", {}).values():
        if known in by_node:
            by_node.setdefault(new, by_node[known])
    autouse = getattr(manager, "_node_autousenames", {})
    if known in autouse:
        autouse.setdefault(new, autouse[known])


def files_of(tests: list[str]) -> list[str]:
    """Each file once, below the working folder: pytest ends a path at a bracket."""
    return list(dict.fromkeys(test.split("::", 1)[0] for test in tests))


def _run(session: Any, then: Any) -> None:
    """As pytest does it; `then` follows the last item."""
    items = [*session.items]
    for item, following in zip(items, [*items[1:], then]):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
