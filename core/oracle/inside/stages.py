"""Run the tests in several goes; files are imported for a go only when those before it have passed."""

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
    """A plugin that runs what was selected, then imports and runs the rest in the same process.

    pytest finds the files of all goes at once, conftests included, for folders found twice would not share fixtures;
    but the nodes of files that are not needed yet are held back.
    """

    def __init__(self, reporter: Reporter, stages: list[list[str]], *, collected: bool) -> None:
        """`stages`: tests of each go. `collected`: whether the session has all items already."""
        self._reporter = reporter
        self._later = stages[1:]
        self._wanted = frozenset(files_of(stages[0]))
        self._held: dict[str, list[Any]] = {}
        self._collected = collected
        self._found = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: Any) -> bool | None:
        """Before pytest's own, which goes on the first time and not again."""
        if self._found:
            self._import(session)
            return True
        self._found = True
        usual = session.genitems

        def genitems(node: Any) -> Iterator[Any]:
            file = node.nodeid.split("::", 1)[0]
            if isinstance(node, pytest.File) and file not in self._wanted:
                self._held.setdefault(file, []).append(node)
                return
            yield from usual(node)

        session.genitems = genitems
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        """In place of pytest's own loop."""
        between = Between.from_parent(session, name="between")
        _run(session, between if self._later else None)
        while self._later and not self._reporter.failed:
            tests = self._later.pop(0)
            self._reporter.expect(tests)
            self._wanted |= frozenset(files_of(tests))
            if self._collected:
                session.items = []
                self._reporter.select(session.items)
            else:
                session.config.hook.pytest_collection(session=session)
            _run(session, between if self._later else None)
        return True

    def _import(self, session: Any) -> None:
        """Select the tests of this go, from files that are imported now and from those before."""
        nodes = [node for file in [*self._held] if file in self._wanted for node in self._held.pop(file)]
        session.items = [item for node in nodes for item in session.genitems(node)]
        hook = session.config.hook
        hook.pytest_collection_modifyitems(session=session, config=session.config, items=session.items)
        hook.pytest_collection_finish(session=session)


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
