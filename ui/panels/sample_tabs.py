"""The tabs below the code about one item: diff, trace, a sample's prompt and answer, scores, what the tests said."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from operator import attrgetter

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QSplitter, QWidget

from rtc_inspector.core.kinds import FIRST_KIND, Kind
from rtc_inspector.core.metrics.metric import METRICS, Metric, metric
from rtc_inspector.core.metrics.output_match import matches
from rtc_inspector.core.store.rows import ItemRow, SampleRow, VerdictRow
from rtc_inspector.core.types import Form, TestResult
from rtc_inspector.ui import presenters
from rtc_inspector.ui.diff.lines import PAIR, Sides, side_by_side
from rtc_inspector.ui.diff.rows import MOST_CHARACTERS, ShownEdit, shown_edit
from rtc_inspector.ui.diff.view import EDIT_TITLES, DiffView
from rtc_inspector.ui.panels.pieces import Badge, Card, CodePeek, EmptyState, TextBox
from rtc_inspector.ui.style.controls import (
    BAR,
    ElidedLabel,
    FilterField,
    breakable,
    button,
    called,
    column,
    copy_menu,
    embolden,
    label,
    row,
    scrolled,
    split,
    switch,
)
from rtc_inspector.ui.style.tables import Cell, CellModel, EndShown, Head, sorted_table, widths
from rtc_inspector.ui.style.theme import SPACE


class PromptPanel(QWidget):
    """Prompt, raw answer and extracted text beside each other."""

    def __init__(self) -> None:
        super().__init__(accessibleName="Prompt and answer")
        self._sample: SampleRow | None = None
        self._prompt = ""
        self._empty = EmptyState("No sample selected", "Pick a description or a reconstruction to see its prompt.")
        self.prompt, self.raw = TextBox("Exact prompt"), TextBox("Raw answer")
        self.thoughts, self.extracted = TextBox("Thoughts, sent apart"), TextBox("Extracted text")
        self.name, self.figures = label(), ElidedLabel("muted")
        self.human, self.short = Badge(), Badge()
        self.copy = copy_menu(
            "Copy this sample",
            [("All of it", self.everything), ("Prompt hash", lambda: self._sample.prompt_hash if self._sample else "")],
        )
        parts = self.prompt, self.thoughts, self.raw, self.extracted
        self._body = split(Qt.Orientation.Horizontal, *parts, sizes=(460, 300, 300, 300))
        embolden(self.name)
        self._head = QWidget()
        row(self.name, self.figures, self.human, self.short, None, self.copy, margins=BAR, owner=self._head)
        column(self._head, self._empty, self._body, owner=self)
        self.set_sample(None, "", "")

    def set_sample(self, sample: SampleRow | None, prompt: str, task: str = "") -> None:
        self._sample, self._prompt = sample, prompt
        self._empty.stand_in(self._head, self._body, empty=sample is None)
        if sample is None:
            return
        self.name.setText(presenters.sample_name(task, sample))
        self.name.setToolTip(presenters.sign_words(task, sample.role))
        self.figures.setText(_drawn_by(sample))
        person = sample.author != "model"
        self.human.show_text(f"✎ by {sample.author}" if person else "", "accent", "Written by a person")
        tip = "The file did not fit the context window: whole statements of it were left out."
        self.short.show_text("⚠ file shortened" if sample.truncated else "", "warn", tip)
        self.prompt.show_text(prompt, f"{sample.prompt_tokens:,} tokens", "Written by a person: no prompt.")
        self.raw.show_text(sample.raw_text, f"{sample.completion_tokens:,} tokens", "The answer was empty.")
        self.thoughts.setVisible(bool(sample.thoughts))
        self.thoughts.show_text(sample.thoughts, f"{len(sample.thoughts):,} characters", "")
        steps = " → ".join(sample.extraction_steps) or "as it is"
        self.extracted.show_text(sample.text, steps, "Nothing could be taken from the answer.")

    def everything(self) -> str:
        sample = self._sample
        if sample is None:
            return ""
        parts = [("prompt", self._prompt), ("raw answer", sample.raw_text), ("extracted text", sample.text)]
        if sample.thoughts:
            parts.insert(1, ("thoughts", sample.thoughts))
        return "\n\n".join([_drawn_by(sample), *(f"--- {name}\n{text}" for name, text in parts)])


def _drawn_by(sample: SampleRow) -> str:
    parts = [
        f"seed {sample.seed}",
        f"temperature {sample.temperature:g}",
        f"{sample.seconds:.2f} s",
        f"ended by {sample.finish_reason}",
        f"prompt {sample.prompt_hash[:12]}",
    ]
    return " · ".join(parts + ([f"error: {sample.error}"] if sample.error else []))


class MetricsPanel(QWidget):
    """One row a reconstruction. `sample_selected(id)` when the user picks a row."""

    sample_selected = Signal(int)

    def __init__(self) -> None:
        super().__init__(accessibleName="Metrics")
        self._item: ItemRow | None = None
        self._empty = EmptyState("", "")
        self._metrics: list[Metric] = []
        self.set_kind(FIRST_KIND)
        self.model = CellModel([])
        self.table, self._sorted = sorted_table("Scores of each reconstruction", self.model, row=30)
        self.table.selectionModel().currentRowChanged.connect(self._picked)
        self._legend = label(role="caption", wrap=True)
        copy = copy_menu("Copy the scores", [("As a table", self.model.as_text)])
        self._head = QWidget()
        row(self._legend, copy, margins=BAR, owner=self._head, grows=self._legend)
        column(self._head, self._empty, self.table, owner=self)
        self.set_samples(None, [])

    def set_samples(self, item: ItemRow | None, samples: Sequence[SampleRow]) -> None:
        self._item = item
        # Words have a row, too, where they were held against something else than a person's.
        codes = [sample for sample in samples if sample.form == Form.CODE or sample.pairs]
        usual = {each.name for each in METRICS.values() if each.usual}
        stored = {name for sample in codes for name in _scores(sample)} or usual
        self._choose_columns([*filter(stored.__contains__, METRICS), *sorted(stored - METRICS.keys())])
        names = _names(item.task if item else "", samples)
        self.model.fill([(self._cells(sample, names[sample.id]), sample.id) for sample in codes])
        self._empty.stand_in(self.table, self._head, empty=not codes)

    def _choose_columns(self, names: Sequence[str]) -> None:
        if [each.name for each in self._metrics] != names:
            self._metrics = [metric(name) for name in names]
            heads = (Head(each.short, f"{each.meaning.capitalize()}.") for each in self._metrics)
            self.model.change_columns([Head("Sample"), Head("Verdict"), *heads])
            widths(self.table, 0, 134, *(96 if each.short.startswith("Exact") else 88 for each in self._metrics))
            self._legend.setText("   ".join(f"{each.short}: {each.meaning}." for each in self._metrics))

    def set_kind(self, kind: Kind) -> None:
        self._empty.say("No scores yet", f"Pick one of the {kind.nouns} whose reconstructions have been written.")

    def _cells(self, sample: SampleRow, name: str) -> list[Cell]:
        item = self._item
        going = item is None or item.state == "running"
        judged = item is None or presenters.judged_by_tests(item.task, sample)
        words = presenters.verdict_text(sample.verdict, len(item.tests) if item else 0, going=going) if judged else "–"
        verdict = Cell(words, colour=presenters.verdict_role(sample.verdict))
        scores = _scores(sample)
        tip = presenters.sign_words(item.task, sample.role) if item else ""
        return [Cell(name, tip=tip), verdict, *(self._score(each, scores.get(each.name)) for each in self._metrics)]

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


def _scores(sample: SampleRow) -> dict[str, float]:
    return {**sample.scores, **{name: value for name, _, value in sample.pairs}}


def _names(task: str, samples: Sequence[SampleRow]) -> dict[int, str]:
    by_id = {sample.id: sample for sample in samples}
    names = {}
    for sample in samples:
        parent = by_id.get(sample.parent_id) if sample.parent_id is not None else None
        before = f"{presenters.sample_name(task, parent)} → " if parent else ""
        author = f" (by {parent.author})" if parent and parent.author != "model" else ""
        names[sample.id] = f"{before}{presenters.sample_name(task, sample)}{author}"
    return names


MESSAGE, BEFORE, GAVE = 3, 4, 5  # columns
_PASSING = {"passed", "skipped"}
_ABSENT = "This test left no message."
_NATIVE = re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)')
_SHORT = re.compile(r"^(?P<path>[^\s:]+\.pyi?):(?P<line>\d+):", re.MULTILINE)
"""How tracebacks name a line: Python's own, and those of pytest."""
_CUT_SHORT = "No test results", "The code did not get as far as the end of a test."
_NO_TESTS = "No tests were run", "The text alone was judged, against the code it should be."


class TestsPanel(QWidget):
    """A verdict, its tests, and one test's message with the captured output."""

    __test__ = False
    line_requested = Signal(int)  # of the file, as the candidate has it, which the user wants to see

    def __init__(self) -> None:
        super().__init__(accessibleName="Tests")
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
        self.search = FilterField("Filter tests", "Filter tests by name or message")
        self.search.setMaximumWidth(220)
        for changed in (self.search.textChanged, self.failing.toggled, self.parting.toggled):
            changed.connect(lambda: self._fill())
        heads = ("Outcome", "Test", "Seconds", "Message", "Gave before", "Gives")
        self.model = CellModel([Head(name) for name in heads])
        self.table, self._sorted = sorted_table("Tests of this verdict", self.model)
        self.table.setItemDelegateForColumn(1, EndShown(self.table))
        widths(self.table, 110, 0, 80, 0, 0, 0)
        self.table.selectionModel().currentRowChanged.connect(self._show_current)
        self.message, self.output = TextBox("Message"), TextBox("Captured output")
        tip = "Show this line of the reconstruction"
        self.jump = button("", tip, lambda: self.line_requested.emit(self._line(self._current())))
        choices = ("Failing tests", self._failing), ("This message", lambda: self.message.edit.toPlainText())
        self.copy = copy_menu("Copy test results", choices)
        texts = QSplitter(Qt.Orientation.Vertical)
        texts.addWidget(self.message)
        texts.addWidget(self.output)
        self._nothing = EmptyState(*_CUT_SHORT)
        tables = called(QWidget(), role="surface")
        column(self._nothing, self.table, owner=tables)
        self._body = split(Qt.Orientation.Horizontal, tables, texts, sizes=(600, 400))
        self._head = QWidget()
        parts = (self.badge, self.detail, self.jump, self.search, self.parting, self.failing, self.copy)
        row(*parts, margins=BAR, owner=self._head, grows=self.detail)
        column(self._head, self._empty, self._body, owner=self)
        self.set_verdict(None, [])

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
        detail = presenters.verdict_detail(verdict, self._covering)
        badge = presenters.verdict_text(verdict, self._covering)
        self.badge.show_text(badge, presenters.verdict_role(verdict), detail)
        apart = f"{len(self._parted or ())} of {len(self._tests)} gave something else before · " if self._before else ""
        self.detail.setText(f"{apart}{detail} · {verdict.seconds:.2f} s · {verdict.oracle}")
        self.output.show_text(verdict.output, absent="Nothing was printed.")
        self._nothing.say(*(_CUT_SHORT if verdict.oracle.startswith(("tests", "command")) else _NO_TESTS))
        self._nothing.stand_in(self.table, empty=not tests)
        self._fill()
        # Of the same verdict the test that somebody reads stays chosen.
        if not same:
            order = [
                test.outcome in _PASSING if self._parted is None else test.node_id not in self._parted
                for _, test in self._shown()
            ]
            if order:
                source = self.model.index(order.index(False) if False in order else 0, 0)
                self.table.setCurrentIndex(self._sorted.mapFromSource(source))

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
        self._show_current()

    def _cells(self, test: TestResult) -> list[Cell]:
        # The line that names the error: the first such, or the last in a Python traceback; else the last line.
        lines = [line.strip() for line in test.message.splitlines() if line.strip()]
        errors = [line for line in lines if line.partition(":")[0].rpartition(".")[2].endswith(("Error", "Exception"))]
        gist = errors[0] if errors and not test.message.startswith("Traceback") else (errors or lines or [""])[-1]
        before, colour = self._before.get(test.node_id, ""), "bad" if test.node_id in (self._parted or ()) else "muted"
        seconds = f"{test.seconds:.3f}" if test.seconds < 10 else f"{test.seconds:.1f}"
        return [
            Cell(presenters.sign(test.outcome).text.lower(), colour=presenters.sign(test.outcome).role),
            Cell(test.node_id, tip=test.node_id),
            Cell(seconds, order=test.seconds, end=True),
            Cell(gist, colour="muted"),
            Cell(before or "–", tip=before, colour=colour),
            Cell(self._gave[test.node_id], tip=self._gave[test.node_id], colour=colour),
        ]

    def _current(self) -> TestResult | None:
        index = self._sorted.mapToSource(self.table.currentIndex())
        return self._tests[self.model.key(index.row())] if index.isValid() else None

    def _show_current(self) -> None:
        test = self._current()
        self.message.show_text(test.message if test else "", test.node_id if test else "", _ABSENT if test else "")
        line = self._line(test)
        self.jump.setVisible(line is not None)
        self.jump.setText(f"→ line {line}")

    def _line(self, test: TestResult | None) -> int | None:
        # The traceback ends inside of what the candidate called; its own innermost line is what to look at.
        lines = lines_through(test.message, self._path) if test else []
        return next((line for line in reversed(lines) if line in self._span), None)

    def _failing(self) -> str:
        failing = [test for test in self._tests if test.outcome not in _PASSING]
        return "\n\n".join(f"{test.outcome.upper()} {test.node_id}\n{test.message}" for test in failing)


def lines_through(message: str, path: str) -> list[int]:
    """Return the line numbers in `path` (relative to the project), in the order the traceback names them, each once."""
    found = sorted(
        (match.start(), int(match["line"]))
        for pattern in (_NATIVE, _SHORT)
        for match in pattern.finditer(message)
        # In messages of older versions the path is absolute.
        if path and (match["path"] == path or (match["path"].startswith("/") and match["path"].endswith(f"/{path}")))
    )
    return list(dict.fromkeys(line for _, line in found))


def _outputs(tests: Sequence[TestResult]) -> dict[str, str]:
    return {test.node_id: test.signature or ("pass" if test.outcome == "passed" else test.outcome) for test in tests}


class DiffPanel(QWidget):
    """The comparison of one pair, or of one edit, or what to do while there is none."""

    def __init__(self, unified: bool = False) -> None:
        super().__init__(accessibleName="Difference")
        self.view = DiffView()
        self.view.unified.setChecked(unified)
        self._unified = unified
        self._empty = EmptyState("", "")
        self._column = column(self._empty, self.view, owner=self)
        self.clear()

    def clear(self) -> None:
        self._say_nothing(None)
        self.view.show_pair("", "", "", "")

    def _say_nothing(self, item: ItemRow | None) -> None:
        if item is None:
            self._empty.say("Original and reconstruction", "They stand here side by side, once a sample is chosen.")
        elif item.state in ("waiting", "running"):
            self._empty.say("No code yet", "The model's code stands here beside the original as soon as it is written.")
        else:
            self._empty.say("No code was written from this", "Choose a sample that has some.")
        self._turn_to(self._empty)

    def show_code(
        self,
        item: ItemRow | None,
        code: SampleRow | None,
        samples: Mapping[int, SampleRow],
        *,
        described: bool,
    ) -> None:
        """Compare what was made of an item with the original, or with the other of its samples that it is held against.

        An edit is shown before anything was made of it. `described`: with the words that the code was made from.
        """
        before = presenters.scored_against(code, samples) if code is not None else None
        title = presenters.diff_title(item.task, code, before) if item is not None and code is not None else ""
        parent = samples.get(code.parent_id) if code is not None and code.parent_id is not None else None
        words = parent.text if described and parent is not None and presenters.describes(parent) else ""
        if item is not None and presenters.presenter(item).past:
            self.set_edit(shown_edit(item, code.text if code else None, title or "the edit", words))
        elif item is None or code is None:
            self.clear()
            self._say_nothing(item)
        else:
            original = item.text if before is None else before.text
            sides = presenters.presenter(item).sides_of(item, code, before)
            path = item.key if presenters.describes(code) else item.path  # words are not coloured as code
            first_line = max(1, item.start_line)
            self.set_pair(original, code.text, title, path, first_line=first_line, description=words, sides=sides)

    def set_pair(
        self,
        original: str,
        candidate: str,
        title: str,
        path: str,
        *,
        first_line: int = 1,
        description: str = "",
        sides: Sides = PAIR,
    ) -> None:
        """Compare two texts of one place in a file.

        `first_line`: the file's line on which the original starts. `description` can be shown between the two.
        `sides`: what each text is.
        """
        if max(len(original), len(candidate)) < MOST_CHARACTERS:
            original, candidate = side_by_side(original, candidate)
        self.view.name_sides(sides)
        self._turn_to(self.view if original or candidate else self._empty)
        self.view.show_pair(original, candidate, title, path, first_line, description)

    @cached_property
    def edit(self) -> DiffView:
        """Return the view of edits, made with the first one: most runs have none."""
        view = DiffView(EDIT_TITLES)
        view.unified.setChecked(self._unified)
        self._column.addWidget(view, 1)
        return view

    def set_edit(self, edit: ShownEdit) -> None:
        self.edit.show_edit(edit)
        self._turn_to(self.edit)

    def go_to_line(self, line: int) -> None:
        (self.edit if self.view.isHidden() else self.view).go_to_line(line)

    def _turn_to(self, page: QWidget) -> None:
        # A cached property stands in __dict__ once it was made; to ask for it would make it.
        for each in (self._empty, self.view, *([self.edit] if "edit" in self.__dict__ else [])):
            each.setVisible(each is page)


WIDTH = 250  # pixels of a tile
LINES = 12  # of code in a tile


class Tile(Card):
    """One sample: its name and verdict, and its text as far as there is room."""

    def __init__(self, node: presenters.Node, item: ItemRow) -> None:
        super().__init__()
        self.node, sample = node, node.sample
        self.setFixedWidth(WIDTH)
        badge, code, text = Badge(), CodePeek(LINES), label(wrap=True)
        if presenters.judged_by_tests(item.task, sample):
            badge.show_text(*presenters.verdict_badge(sample.verdict, len(item.tests), going=item.state == "running"))
        words = presenters.describes(sample) or bool(sample.error)
        text.setText(breakable(sample.error or sample.text or "(empty)"))
        text.setVisible(words)
        code.setVisible(not words)
        code.show_code(sample.text, item.path)
        remark = label(node.remark, "warn", wrap=True)
        remark.setVisible(bool(node.remark))
        name = label(node.name, "heading", wrap=True)
        name.setToolTip(presenters.sign_words(item.task, sample.role))
        parts = name, badge, remark, text, code
        margins = SPACE, SPACE, SPACE, SPACE
        column(*parts, margins=margins, spacing=SPACE // 2, owner=self).addStretch(1)
        self.setAccessibleName(", ".join(filter(None, (node.name, badge.text, *node.against, node.remark))))


class WidePanel(QWidget):
    """Tiles in rows, made only while somebody looks; `tiles` has them by the ids of their samples."""

    sample_selected = Signal(int)  # id of the one that the user picked

    def __init__(self) -> None:
        super().__init__(accessibleName="Trace side by side")
        self._item: ItemRow | None = None
        self._samples: Sequence[SampleRow] = ()
        self._shown: tuple[object, ...] = ()
        self._selected: int | None = None
        self.tiles: dict[int, Tile] = {}
        self._places: dict[int, tuple[int, int]] = {}
        self._empty = EmptyState("No trace", "What a run made of an item appears here, from left to right.")
        self._scroll = scrolled(QWidget())
        column(self._empty, self._scroll, owner=self)
        self.set_trace(None, ())

    def set_trace(self, item: ItemRow | None, samples: Sequence[SampleRow]) -> None:
        self._item, self._samples = item, samples
        self._empty.stand_in(self._scroll, empty=not samples)
        if self.isVisible():
            self._fill()

    def select(self, sample_id: int | None) -> None:
        self._selected = sample_id
        for number, tile in self.tiles.items():
            tile.mark(number == sample_id)
        chosen = self.tiles.get(sample_id) if sample_id is not None else None
        if chosen is not None:
            # In the next turn of the loop: tiles that were made just now have not found their places.
            QTimer.singleShot(0, chosen, partial(self._scroll.ensureWidgetVisible, chosen, SPACE, 0))

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._fill()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        steps = {Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0)}
        step = steps.get(Qt.Key(event.key()))
        here = self._places.get(self._selected) if self._selected is not None else None
        if step is None or here is None:
            super().keyPressEvent(event)
            return
        wanted = here[0] + step[0], here[1] + step[1]
        target = next((number for number, place in self._places.items() if place == wanted), None)
        if target is not None:
            self.tiles[target].setFocus(Qt.FocusReason.TabFocusReason)
            self._choose(target)

    def _fill(self) -> None:
        # Tiles are costly: nothing is made anew for what is on show already.
        if self._item is None or (self._item.id, self._item.state, *self._samples) == self._shown:
            return
        self._shown = (self._item.id, self._item.state, *self._samples)
        rows = called(QWidget(), role="surface")
        grid = QGridLayout(rows)
        grid.setContentsMargins(SPACE + 4, SPACE, SPACE + 4, SPACE)
        grid.setSpacing(SPACE)
        nodes = presenters.trace(self._item, self._samples)
        self._places, self.tiles = _places(nodes), {}
        for node in nodes:
            row, depth = self._places[node.sample.id]
            tile = Tile(node, self._item)
            tile.chosen.connect(partial(self._choose, node.sample.id))
            self.tiles[node.sample.id] = tile
            grid.addWidget(tile, row, 2 * depth)
            if depth:
                link = label("\n".join(("→", *(each.replace(" to ", "\nto ", 1) for each in node.against))), "caption")
                link.setObjectName("link")
                link.setToolTip(presenters.compared_words(node.sample))
                link.setAlignment(Qt.AlignmentFlag.AlignCenter)
                grid.addWidget(link, row, 2 * depth - 1)
        grid.setRowStretch(grid.rowCount(), 1)
        grid.setColumnStretch(grid.columnCount(), 1)
        self._scroll.setWidget(rows)
        self.select(self._selected)

    def _choose(self, sample_id: int) -> None:
        self.select(sample_id)
        self.sample_selected.emit(sample_id)


def _places(nodes: Sequence[presenters.Node]) -> dict[int, tuple[int, int]]:
    """Return each sample's row and depth: a parent's first child goes on in its row, the others begin new ones."""
    children: dict[int | None, list[presenters.Node]] = {}
    ids = {node.sample.id for node in nodes}
    for node in nodes:
        parent = node.sample.parent_id
        children.setdefault(parent if parent in ids else None, []).append(node)
    places: dict[int, tuple[int, int]] = {}
    row, order = 0, attrgetter("sample.index")
    # A stack, not recursion: a chain may be longer than Python lets functions call themselves.
    waiting = [(node, True) for node in sorted(children.get(None, ()), key=order, reverse=True)]
    while waiting:
        node, fresh = waiting.pop()
        row += fresh and bool(places)
        places[node.sample.id] = row, node.depth
        below = sorted(children.get(node.sample.id, ()), key=order)
        waiting += [(each, at > 0) for at, each in reversed(list(enumerate(below)))]
    return places
