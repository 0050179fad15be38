"""What the tests said about one reconstruction."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QSplitter, QWidget

from rtc_inspector.core.metrics.output_match import parted
from rtc_inspector.core.store.rows import TestRow, VerdictRow
from rtc_inspector.ui.panels.badge import Badge
from rtc_inspector.ui.panels.empty import EmptyState
from rtc_inspector.ui.panels.text_box import TextBox
from rtc_inspector.ui.style.controls import BAR, ElidedLabel, button, column, copy_menu, field, row, split, switch
from rtc_inspector.ui.style.outcomes import outcome_role, sign, verdict_detail, verdict_role, verdict_text
from rtc_inspector.ui.style.tables import Cell, CellModel, EndShown, Head, sorted_table, widths

MESSAGE, BEFORE, GAVE = 3, 4, 5
"""Columns."""
_PASSING = {"passed", "skipped"}
_ABSENT = "This test left no message."
_NATIVE = re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)')
_SHORT = re.compile(r"^(?P<path>[^\s:]+\.pyi?):(?P<line>\d+):", re.MULTILINE)
"""How tracebacks name a line: Python's own, and those of pytest."""
_CUT_SHORT = "No test results", "The candidate did not get as far as the end of a test."
_NO_TESTS = "No tests were run", "The text alone was judged, against the code it should be."


class TestsPanel(QWidget):
    """A verdict, its tests, and one test's message with the captured output.

    `line_requested(line)`: the user wants to see a line of the file, as the candidate has it.
    """

    __test__ = False
    line_requested = Signal(int)

    def __init__(self) -> None:
        """Empty until `set_verdict`."""
        super().__init__()
        self.setAccessibleName("Tests")
        self._verdict: VerdictRow | None = None
        self._tests: Sequence[TestRow] = ()
        self._path, self._span, self._covering = "", range(0), 0
        self._gave: Mapping[str, str] = {}
        self._before: Mapping[str, str] = {}
        self._parted: frozenset[str] | None = None
        self._empty = EmptyState("No tests yet", "Pick a reconstruction that has been judged.")
        self.badge, self.detail = Badge(), ElidedLabel()
        self.failing = switch("Failing only", "Show only tests that did not pass")
        self.parting = switch("Parted only", "Show only tests that gave something else before")
        self.search = field("Filter tests by name or message", "Filter tests")
        self._make_parts()
        self._lay_out()
        self.set_verdict(None, [])

    def _make_parts(self) -> None:
        self.search.setClearButtonEnabled(True)
        self.search.setMaximumWidth(220)
        self.search.textChanged.connect(lambda: self._fill())
        self.failing.toggled.connect(lambda: self._fill())
        self.parting.toggled.connect(lambda: self._fill())
        heads = ("Outcome", "Test", "Seconds", "Message", "Gave before", "Gives")
        self.model = CellModel([Head(name) for name in heads])
        self.table, self._sorted = sorted_table("Tests of this verdict", self.model)
        self.table.setItemDelegateForColumn(1, EndShown(self.table))
        widths(self.table, 110, 0, 80, 0, 0, 0)
        self.table.selectionModel().currentRowChanged.connect(self._show_current)
        self.message, self.output = TextBox("Message"), TextBox("Captured output")
        self.jump = button("", "Show this line of the reconstruction", self._jump)
        self.copy = copy_menu("Copy test results", [("Failing tests", self._failing), ("This message", self._message)])

    def _lay_out(self) -> None:
        texts = QSplitter(Qt.Orientation.Vertical)
        texts.addWidget(self.message)
        texts.addWidget(self.output)
        self._nothing = EmptyState(*_CUT_SHORT)
        tables = QWidget()
        tables.setProperty("role", "surface")
        column(self._nothing, self.table, owner=tables)
        self._body = split(Qt.Orientation.Horizontal, tables, texts, sizes=(600, 400))
        self._head = QWidget()
        parts = (self.badge, self.detail, self.jump, self.search, self.parting, self.failing, self.copy)
        row(*parts, margins=BAR, owner=self._head, grows=self.detail)
        column(self._head, self._empty, self._body, owner=self)

    def set_verdict(
        self,
        verdict: VerdictRow | None,
        tests: Sequence[TestRow],
        *,
        path: str = "",
        span: range | None = None,
        covering: int = 0,
        before: Sequence[TestRow] | None = None,
    ) -> None:
        """Show a verdict with its tests.

        `path` and `span`: the file and the lines the candidate stands on, so that tracebacks can lead there.
        `covering`: how many tests cover them, of which judging runs no more than it needs. `before`: the tests of the
        code that this code is held against: what they gave stands beside it, and those that parted come first.
        """
        same = verdict is not None and self._verdict is not None and verdict.id == self._verdict.id
        self._verdict, self._tests = verdict, tests
        self._path, self._span, self._covering = path, span or range(0), covering
        self._gave, self._before = _outputs(tests), _outputs(before or ())
        self._parted = frozenset(parted(self._gave, self._before)) if before is not None else None
        for place in (GAVE, BEFORE):
            self.table.setColumnHidden(place, before is None)
        self.table.setColumnHidden(MESSAGE, before is not None)
        self.parting.setVisible(before is not None)
        self._empty.stand_in(self._head, self._body, empty=verdict is None)
        if verdict is None:
            return
        self._show_verdict(verdict)
        self.output.show_text(verdict.output, absent="Nothing was printed.")
        self._nothing.say(*(_CUT_SHORT if verdict.oracle.startswith("tests") else _NO_TESTS))
        self._nothing.stand_in(self.table, empty=not tests)
        self._fill()
        # Of the same verdict the test that somebody reads stays chosen.
        if not same:
            self._select_first_failure()

    def _show_verdict(self, verdict: VerdictRow) -> None:
        said = verdict_detail(verdict, self._covering)
        badge = verdict_text(verdict, self._covering)
        self.badge.show_text(badge, verdict_role(verdict), said)
        apart = f"{len(self._parted or ())} of {len(self._tests)} gave something else before · " if self._before else ""
        self.detail.setText(f"{apart}{said} · {verdict.seconds:.2f} s · {verdict.oracle}")

    def _shown(self) -> list[tuple[int, TestRow]]:
        """Return the tests that pass the filters, with their place in the verdict."""
        wanted = self.search.text().casefold()
        found = [
            (place, test)
            for place, test in enumerate(self._tests)
            if not (self.failing.isChecked() and test.outcome in _PASSING)
            and not (self.parting.isChecked() and self._parted is not None and test.node_id not in self._parted)
            and wanted in f"{test.node_id} {test.message}".casefold()
        ]
        return sorted(found, key=lambda each: each[1].node_id not in (self._parted or ()))

    def _fill(self) -> None:
        self.model.fill([(self._cells(test), place) for place, test in self._shown()])
        self._show_current(self.table.currentIndex())

    def _cells(self, test: TestRow) -> list[Cell]:
        seconds = f"{test.seconds:.3f}" if test.seconds < 10 else f"{test.seconds:.1f}"
        return [
            Cell(sign(test.outcome).text.lower(), colour=outcome_role(test.outcome)),
            Cell(test.node_id, tip=test.node_id),
            Cell(seconds, order=test.seconds, end=True),
            Cell(_gist(test.message), colour="muted"),
            Cell(
                self._before.get(test.node_id, "–"), tip=self._before.get(test.node_id, ""), colour=self._colour(test)
            ),
            Cell(self._gave[test.node_id], tip=self._gave[test.node_id], colour=self._colour(test)),
        ]

    def _colour(self, test: TestRow) -> str:
        return "bad" if test.node_id in (self._parted or ()) else "muted"

    def _select_first_failure(self) -> None:
        """Select the first test that failed or, beside other code, the first that parted from it."""
        order = [
            test.outcome in _PASSING if self._parted is None else test.node_id not in self._parted
            for _, test in self._shown()
        ]
        if order:
            source = self.model.index(order.index(False) if False in order else 0, 0)
            self.table.setCurrentIndex(self._sorted.mapFromSource(source))

    def _current(self) -> TestRow | None:
        index = self._sorted.mapToSource(self.table.currentIndex())
        return self._tests[self.model.key(index.row())] if index.isValid() else None

    def _show_current(self, current: QModelIndex, previous: QModelIndex | None = None) -> None:
        test = self._current()
        self.message.show_text(test.message if test else "", test.node_id if test else "", _ABSENT if test else "")
        line = self._line(test)
        self.jump.setVisible(line is not None)
        self.jump.setText(f"→ line {line}")

    def _line(self, test: TestRow | None) -> int | None:
        """Return the innermost line of the candidate that the test's traceback passes through."""
        # The traceback ends inside of what the candidate called; its own innermost line is what to look at.
        lines = lines_through(test.message, self._path) if test else []
        return next((line for line in reversed(lines) if line in self._span), None)

    def _jump(self) -> None:
        line = self._line(self._current())
        if line is not None:
            self.line_requested.emit(line)

    def _failing(self) -> str:
        """Return all failing tests with their messages."""
        failing = [test for test in self._tests if test.outcome not in _PASSING]
        return "\n\n".join(f"{test.outcome.upper()} {test.node_id}\n{test.message}" for test in failing)

    def _message(self) -> str:
        test = self._current()
        return test.message if test else ""


def lines_through(message: str, path: str) -> list[int]:
    """Return the line numbers in `path` (relative to the project), in the order the traceback names them, each once."""
    found = sorted(
        (match.start(), int(match["line"]))
        for pattern in (_NATIVE, _SHORT)
        for match in pattern.finditer(message)
        if _is(match["path"], path)
    )
    return list(dict.fromkeys(line for _, line in found))


def _is(named: str, path: str) -> bool:
    """Return whether a traceback's path is the project's `path`; in messages of older versions it is absolute."""
    return bool(path) and (named == path or (named.startswith("/") and named.endswith(f"/{path}")))


def _outputs(tests: Sequence[TestRow]) -> dict[str, str]:
    return {test.node_id: test.signature or ("pass" if test.outcome == "passed" else test.outcome) for test in tests}


def _gist(message: str) -> str:
    """Return the line that names the error: the first such, or the last in a Python traceback; else the last line."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    errors = [line for line in lines if line.partition(":")[0].rpartition(".")[2].endswith(("Error", "Exception"))]
    return errors[0] if errors and not message.startswith("Traceback") else (errors or lines or [""])[-1]
