"""The tabs below the code about one item: a sample's prompt and answer, all scores, and what the tests said."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QSplitter, QWidget

from rtc_inspector.core.kinds import FIRST_KIND, Kind
from rtc_inspector.core.metrics.metric import METRICS, Metric, metric
from rtc_inspector.core.metrics.output_match import matches
from rtc_inspector.core.store.rows import ItemRow, SampleRow, VerdictRow
from rtc_inspector.core.types import Form, TestResult
from rtc_inspector.ui.panels.pieces import Badge, EmptyState, TextBox
from rtc_inspector.ui.presenters import judged_by_tests, sample_name, sign_words
from rtc_inspector.ui.style.controls import (
    BAR,
    ElidedLabel,
    button,
    column,
    copy_menu,
    embolden,
    field,
    label,
    row,
    split,
    switch,
)
from rtc_inspector.ui.style.outcomes import outcome_role, sign, verdict_detail, verdict_role, verdict_text
from rtc_inspector.ui.style.tables import BarDelegate, Cell, CellModel, EndShown, Head, sorted_table, widths


class PromptPanel(QWidget):
    """Prompt, raw answer and extracted text beside each other."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Prompt and answer")
        self._sample: SampleRow | None = None
        self._prompt = ""
        self._empty = EmptyState("No sample selected", "Pick a description or a reconstruction to see its prompt.")
        self.prompt, self.raw = TextBox("Exact prompt"), TextBox("Raw answer")
        self.thoughts, self.extracted = TextBox("Thoughts, sent apart"), TextBox("Extracted text")
        self.name, self.figures = label(), ElidedLabel("muted")
        self.human, self.short = Badge(), Badge()
        self.copy = copy_menu("Copy this sample", [("All of it", self.everything), ("Prompt hash", self._hash)])
        parts = self.prompt, self.thoughts, self.raw, self.extracted
        self._body = split(Qt.Orientation.Horizontal, *parts, sizes=(460, 300, 300, 300))
        embolden(self.name)
        self._head = QWidget()
        row(self.name, self.figures, self.human, self.short, None, self.copy, margins=BAR, owner=self._head)
        column(self._head, self._empty, self._body, owner=self)
        self.set_sample(None, "", "")

    def set_sample(self, sample: SampleRow | None, prompt: str, task: str = "") -> None:
        """Show a sample of that method with its exact prompt."""
        self._sample, self._prompt = sample, prompt
        self._empty.stand_in(self._head, self._body, empty=sample is None)
        if sample is None:
            return
        self.name.setText(sample_name(task, sample))
        self.name.setToolTip(sign_words(task, sample.role))
        self.figures.setText(_drawn_by(sample))
        self._show_badges(sample)
        self.prompt.show_text(prompt, f"{sample.prompt_tokens:,} tokens", "Written by a person: no prompt.")
        self.raw.show_text(sample.raw_text, f"{sample.completion_tokens:,} tokens", "The answer was empty.")
        self.thoughts.setVisible(bool(sample.thoughts))
        self.thoughts.show_text(sample.thoughts, f"{len(sample.thoughts):,} characters", "")
        steps = " → ".join(sample.extraction_steps) or "as it is"
        self.extracted.show_text(sample.text, steps, "Nothing could be taken from the answer.")

    def everything(self) -> str:
        """Return the figures, prompt, answer and extracted text, for the clipboard."""
        sample = self._sample
        if sample is None:
            return ""
        parts = [("prompt", self._prompt), ("raw answer", sample.raw_text), ("extracted text", sample.text)]
        if sample.thoughts:
            parts.insert(1, ("thoughts", sample.thoughts))
        return "\n\n".join([_drawn_by(sample), *(f"--- {name}\n{text}" for name, text in parts)])

    def _show_badges(self, sample: SampleRow) -> None:
        person = sample.author != "model"
        self.human.show_text(f"✎ by {sample.author}" if person else "", "accent", "Written by a person")
        tip = "The file did not fit the context window: whole statements of it were left out."
        self.short.show_text("⚠ file shortened" if sample.truncated else "", "warn", tip)

    def _hash(self) -> str:
        return self._sample.prompt_hash if self._sample else ""


def _drawn_by(sample: SampleRow) -> str:
    parts = [
        f"seed {sample.seed}",
        f"temperature {sample.temperature:g}",
        f"{sample.seconds:.2f} s",
        f"ended by {sample.finish_reason}",
        f"prompt {sample.prompt_hash[:12]}",
    ]
    return " · ".join(parts + ([f"error: {sample.error}"] if sample.error else []))


FIRST = 2
"""Columns before the metrics."""


class MetricsPanel(QWidget):
    """One row a reconstruction. `sample_selected(id)` when the user picks a row."""

    sample_selected = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Metrics")
        self._item: ItemRow | None = None
        self._empty = EmptyState("", "")
        self._columns: list[Metric] = list(METRICS.values())
        self._metrics: list[Metric] = []
        self.set_kind(FIRST_KIND)
        self.model = CellModel([Head("Sample"), Head("Verdict"), *map(_head, self._columns)])
        self.table, self._sorted = sorted_table("Scores of each reconstruction", self.model, row=30)
        self._lay_out()
        self.set_samples(None, [])

    def _lay_out(self) -> None:
        self._bars = BarDelegate(self.table)  # kept, as in the project's tree
        self.table.setItemDelegate(self._bars)
        widths(self.table, 300, 150, 100, 100, 120, 120, 120)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.selectionModel().currentRowChanged.connect(self._picked)
        self._legend = label(role="caption", wrap=True)
        copy = copy_menu("Copy the scores", [("As a table", self.as_text)])
        self._head = QWidget()
        row(self._legend, copy, margins=BAR, owner=self._head, grows=self._legend)
        column(self._head, self._empty, self.table, owner=self)

    def set_samples(self, item: ItemRow | None, samples: Sequence[SampleRow]) -> None:
        """Show the scores of an item's code samples; the current row stays."""
        self._item = item
        codes = [sample for sample in samples if _compared(sample)]
        usual = {each.name for each in self._columns if each.usual}
        self._choose_columns({name for sample in codes for name in _scores(sample)} or usual)
        names = _names(item.task if item else "", samples)
        self.model.fill([(self._cells(sample, names[sample.id]), sample.id) for sample in codes])
        self._empty.stand_in(self.table, self._head, empty=not codes)

    def _choose_columns(self, stored: AbstractSet[str]) -> None:
        """Show the metrics that are stored, and explain them."""
        for name in sorted(stored - {each.name for each in self._columns}):
            self._columns.append(metric(name))
            self.model.add_column(_head(self._columns[-1]))
        self._metrics = [each for each in self._columns if each.name in stored]
        self._legend.setText("   ".join(f"{each.short}: {each.meaning}." for each in self._metrics))
        for place, each in enumerate(self._columns, start=FIRST):
            self.table.setColumnHidden(place, each not in self._metrics)

    def set_kind(self, kind: Kind) -> None:
        """Call what is picked by its name."""
        self._empty.say("No scores yet", f"Pick one of the {kind.nouns} whose reconstructions have been written.")

    def as_text(self) -> str:
        shown = [0, 1, *(place for place, each in enumerate(self._columns, start=FIRST) if each in self._metrics)]
        heads = [self.model.headerData(place, Qt.Orientation.Horizontal) for place in shown]
        rows = range(self.model.rowCount())
        cells = [[self.model.index(at, place).data() for place in shown] for at in rows]
        return "\n".join("\t".join(line) for line in [heads, *cells])

    def _cells(self, sample: SampleRow, name: str) -> list[Cell]:
        item = self._item
        going = item is None or item.state == "running"
        judged = item is None or judged_by_tests(item.task, sample)
        said = verdict_text(sample.verdict, len(item.tests) if item else 0, going=going) if judged else "–"
        verdict = Cell(said, colour=verdict_role(sample.verdict))
        scores = _scores(sample)
        tip = sign_words(item.task, sample.role) if item else ""
        return [Cell(name, tip=tip), verdict, *(self._score(each, scores.get(each.name)) for each in self._columns)]

    def _score(self, metric: Metric, value: float | None) -> Cell:
        if value is None:
            return Cell("–", order=-1.0, tip="not scored yet")
        if metric.yes_or_no:
            said, colour = ("✓ yes", "good") if value >= 1 else ("✗ no", "muted")
            return Cell(said, order=value, colour=colour)
        return Cell(f"{value:.3f}", order=value, fraction=value)

    def _picked(self, current: QModelIndex, previous: QModelIndex) -> None:
        source = self._sorted.mapToSource(current)
        # Rows also become current when the table is filled; only somebody who is in it means the sample.
        if source.isValid() and self.table.hasFocus():
            self.sample_selected.emit(self.model.key(source.row()))


def _head(metric: Metric) -> Head:
    return Head(metric.short, metric.meaning.capitalize() + ".")


def _compared(sample: SampleRow) -> bool:
    """Return whether a sample has a row: code, and words that were held against something else than a person's."""
    return sample.form == Form.CODE or bool(sample.pairs)


def _scores(sample: SampleRow) -> dict[str, float]:
    """Return a sample's scores against the original and, under their own names, against other samples."""
    return {**sample.scores, **{name: value for name, _, value in sample.pairs}}


def _names(task: str, samples: Sequence[SampleRow]) -> dict[int, str]:
    """`Description 2 (y2) → Reconstruction (x̂)` for each code sample."""
    by_id = {sample.id: sample for sample in samples}
    names = {}
    for sample in samples:
        parent = by_id.get(sample.parent_id) if sample.parent_id is not None else None
        before = f"{sample_name(task, parent)} → " if parent else ""
        author = f" (by {parent.author})" if parent and parent.author != "model" else ""
        names[sample.id] = f"{before}{sample_name(task, sample)}{author}"
    return names


MESSAGE, BEFORE, GAVE = 3, 4, 5
"""Columns."""
_PASSING = {"passed", "skipped"}
_ABSENT = "This test left no message."
_NATIVE = re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)')
_SHORT = re.compile(r"^(?P<path>[^\s:]+\.pyi?):(?P<line>\d+):", re.MULTILINE)
"""How tracebacks name a line: Python's own, and those of pytest."""
_CUT_SHORT = "No test results", "The code did not get as far as the end of a test."
_NO_TESTS = "No tests were run", "The text alone was judged, against the code it should be."


class TestsPanel(QWidget):
    """A verdict, its tests, and one test's message with the captured output.

    `line_requested(line)`: the user wants to see a line of the file, as the candidate has it.
    """

    __test__ = False
    line_requested = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Tests")
        self._verdict: VerdictRow | None = None
        self._tests: Sequence[TestResult] = ()
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
        tests: Sequence[TestResult],
        *,
        path: str = "",
        span: range | None = None,
        covering: int = 0,
        before: Sequence[TestResult] | None = None,
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
        found = matches(self._gave, self._before) if before is not None else {}
        parted = frozenset(test for test, same in found.items() if not same)
        self._parted = parted if before is not None else None
        for place in (GAVE, BEFORE):
            self.table.setColumnHidden(place, before is None)
        self.table.setColumnHidden(MESSAGE, before is not None)
        self.parting.setVisible(before is not None)
        self._empty.stand_in(self._head, self._body, empty=verdict is None)
        if verdict is None:
            return
        self._show_verdict(verdict)
        self.output.show_text(verdict.output, absent="Nothing was printed.")
        self._nothing.say(*(_CUT_SHORT if verdict.oracle.startswith(("tests", "command")) else _NO_TESTS))
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

    def _shown(self) -> list[tuple[int, TestResult]]:
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

    def _cells(self, test: TestResult) -> list[Cell]:
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

    def _colour(self, test: TestResult) -> str:
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

    def _current(self) -> TestResult | None:
        index = self._sorted.mapToSource(self.table.currentIndex())
        return self._tests[self.model.key(index.row())] if index.isValid() else None

    def _show_current(self, current: QModelIndex, previous: QModelIndex | None = None) -> None:
        test = self._current()
        self.message.show_text(test.message if test else "", test.node_id if test else "", _ABSENT if test else "")
        line = self._line(test)
        self.jump.setVisible(line is not None)
        self.jump.setText(f"→ line {line}")

    def _line(self, test: TestResult | None) -> int | None:
        """Return the innermost line of the candidate that the test's traceback passes through."""
        # The traceback ends inside of what the candidate called; its own innermost line is what to look at.
        lines = lines_through(test.message, self._path) if test else []
        return next((line for line in reversed(lines) if line in self._span), None)

    def _jump(self) -> None:
        line = self._line(self._current())
        if line is not None:
            self.line_requested.emit(line)

    def _failing(self) -> str:
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


def _outputs(tests: Sequence[TestResult]) -> dict[str, str]:
    return {test.node_id: test.signature or ("pass" if test.outcome == "passed" else test.outcome) for test in tests}


def _gist(message: str) -> str:
    """Return the line that names the error: the first such, or the last in a Python traceback; else the last line."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    errors = [line for line in lines if line.partition(":")[0].rpartition(".")[2].endswith(("Error", "Exception"))]
    return errors[0] if errors and not message.startswith("Traceback") else (errors or lines or [""])[-1]
