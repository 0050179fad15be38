"""Which tests are run, in which order, and in which stages."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from .candidate import files_of
from .reporter import Canary, Reporter


class Stages:
    """A plugin that keeps the tests asked for, in the order asked for, and runs those of one stage after another.

    Files are imported for a stage only when those before it have passed. pytest finds the files of all stages at once,
    conftests included, for folders found twice would not share fixtures; but the nodes of files that are not needed
    yet are held back.
    """

    def __init__(self, reporter: Reporter, request: dict[str, Any], found: dict[str, list[Any]] | None = None) -> None:
        """`request`: stages (lists of tests), or tests (None: all); shuffle (a seed, negative: reversed, or None).

        `found`: all items by their names, where the session has collected them before.
        """
        self._reporter = reporter
        stages: list[Any] = request.get("stages") or [request.get("tests")]
        self._tests, self._later = stages[0], stages[1:]
        self._in_stages = bool(self._later)
        self._wanted = frozenset(files_of(self._tests)) if self._in_stages else frozenset()
        self._shuffle = request.get("shuffle")
        self._held: dict[str, list[Any]] = {}
        self._others = found or {}
        self._collected = found is not None
        self._begun = False

    @pytest.hookimpl(hookwrapper=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> Iterator[None]:
        """After every other plugin."""
        yield
        self._select(items)

    def start(self, session: Any) -> None:
        """Select from what the session has collected before."""
        if self._tests is not None:
            session.items = []  # those asked for are taken from what was found
        self._select(session.items)
        session.testscollected = len(session.items)

    def _select(self, items: list[Any]) -> None:
        """Reduce `items` in place to those of this stage; those left out may be selected later."""
        if self._tests is not None:
            for item in items:
                self._others.setdefault(item.nodeid, []).append(item)
            items[:] = [item for node_id in self._tests for item in self._others.pop(node_id, ())]
        if self._shuffle is not None and self._shuffle < 0:
            items.reverse()
        elif self._shuffle is not None:
            random.Random(self._shuffle).shuffle(items)
        self._reporter.expect(items)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: Any) -> bool | None:
        """Before pytest's own, which goes on the first time and not again."""
        if not self._in_stages:
            return None
        if self._begun:
            self._import(session)
            return True
        self._begun = True
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
    def pytest_runtestloop(self, session: Any) -> bool | None:
        """In place of pytest's own loop, where there are several stages."""
        if not self._in_stages:
            return None
        # Stands for the tests to come, so that what was set up for the whole session outlives a stage.
        between = Canary.from_parent(session, name="between")
        _run(session, between if self._later else None)
        while self._later and not self._reporter.failed:
            self._tests = self._later.pop(0)
            self._wanted |= frozenset(files_of(self._tests))
            if self._collected:
                session.items = []
                self._select(session.items)
            else:
                session.config.hook.pytest_collection(session=session)
            _run(session, between if self._later else None)
        return True

    def _import(self, session: Any) -> None:
        """Select the tests of this stage, from files that are imported now and from those before."""
        nodes = [node for file in [*self._held] if file in self._wanted for node in self._held.pop(file)]
        session.items = [item for node in nodes for item in session.genitems(node)]
        hook = session.config.hook
        hook.pytest_collection_modifyitems(session=session, config=session.config, items=session.items)
        hook.pytest_collection_finish(session=session)


def _run(session: Any, then: Any) -> None:
    """Run the items of the session as pytest does; `then` follows the last item."""
    items = [*session.items]
    for item, following in zip(items, [*items[1:], then]):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
