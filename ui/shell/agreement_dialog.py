"""How well annotators agree: overall, mode by mode, and pair by pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog, QHeaderView, QTableView, QWidget

from rtc_inspector.core.analyses.agreement import confusion_table
from rtc_inspector.core.store.labels import named
from rtc_inspector.ui.style.controls import PAGE, column, label, push, row, to_clipboard
from rtc_inspector.ui.style.tables import Cell, CellModel, Head, table
from rtc_inspector.ui.style.text_size import open_at
from rtc_inspector.ui.style.theme import SPACE

if TYPE_CHECKING:
    from rtc_inspector.core.analyses.agreement import Agreement, PairAgreement
    from rtc_inspector.core.metrics.agreement import Estimate

SCALE = (
    "Labels of several modes are the same when all of them are; the table of modes asks of each mode by itself whether "
    "it was given. 1 is perfect, 0 is what chance gives. Krippendorff asks for 0.80, and for 0.667 where tentative "
    "conclusions do. Intervals: 95 %, bootstrap over samples. Decisions of an adjudicator are left out."
)


class AgreementDialog(QDialog):
    """Shows that it is being worked out, then what came of it."""

    def __init__(self, scope: str, parent: QWidget | None = None) -> None:
        """`scope` says whose labels these are, e.g. `run 7`."""
        super().__init__(parent)
        self.setWindowTitle("Agreement")
        self._scope = scope
        self.head = label("Reading the labels…", "title", wrap=True, selectable=True)
        self.counts = label(role="muted", wrap=True, selectable=True)
        scale = label(SCALE, "muted", wrap=True, selectable=True)
        self.modes = _sheet("Agreement on each mode", ("Mode, given or not", "Labels", "Agreement", "95 %"))
        self.met = label(role="muted", wrap=True)
        self.confusion = _sheet("Which mode one annotator gave where the other gave which", ("",))
        self._pairs: Sequence[PairAgreement] = ()
        self._names: Mapping[str, str] = {}
        self.pairs = _sheet("Agreement of each pair", ("Pair", "Both labelled", "Same modes", "Cohen's kappa", "95 %"))
        self.copy = push("Copy", "", lambda: to_clipboard(self.as_text()))
        self.copy.setEnabled(False)
        close = push("Close", "", self.reject)
        parts = (self.head, self.counts, self.modes, self.pairs, self.met, self.confusion, scale)
        whole = column(*parts, row(None, self.copy, close), margins=PAGE, spacing=SPACE, owner=self)
        for sheet in (self.modes, self.pairs, self.confusion):
            whole.setStretchFactor(sheet, 1)
        whole.insertStretch(len(parts), 0)  # takes the room of tables that are hidden, and none beside them
        self.pairs.selectionModel().currentRowChanged.connect(lambda now, before: self._show_confusion(now.row()))
        open_at(self, 860, 720)

    def show_agreement(self, found: Agreement, names: Mapping[str, str]) -> None:
        """Show figures; `names` of the modes, by id."""
        self.head.setText(_headline(found))
        self.counts.setText(_counted(found, self._scope))
        modes = [(names.get(each.mode, each.mode), str(each.times), *_figures(each.estimate)) for each in found.modes]
        _fill(self.modes, modes)
        _fill(self.pairs, [_pair(each) for each in found.pairs])
        self.modes.setVisible(bool(found.coefficient))
        self.pairs.setVisible(len(found.pairs) > 1)
        self._pairs, self._names = found.pairs, names
        self._show_confusion(0)
        self.copy.setEnabled(True)

    def _show_confusion(self, place: int) -> None:
        """Show which modes met on a sample, for the pair in this row."""
        pair = self._pairs[place] if 0 <= place < len(self._pairs) else None
        modes, counts = confusion_table(pair) if pair else ((), ())
        for part in (self.met, self.confusion):
            part.setVisible(bool(modes))
        if pair is None:
            return
        first, second = _name(pair.first), _name(pair.second)
        more = " Choose another pair above." if len(self._pairs) > 1 else ""
        self.met.setText(f"Confusion table: rows are what {first} gave, columns what {second} gave.{more}")
        names = [named(mode, self._names) for mode in modes]
        _cells(self.confusion).change_columns([Head(f"{first} \\ {second}"), *map(Head, names)])
        self.confusion.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        rows = [(name, *(str(n or "·") for n in row)) for name, row in zip(names, counts, strict=True)]
        _fill(self.confusion, rows, diagonal=True)

    def as_text(self) -> str:
        """Return all of it as text, for the clipboard."""
        lines = [self.head.text(), self.counts.text()]
        for sheet in (self.modes, self.pairs, self.confusion):
            if sheet.isVisibleTo(self):
                cells = _cells(sheet)
                lines += ["", "\t".join(cells.heads), *("\t".join(c.text for c in row) for row, _ in cells.shown)]
        return "\n".join(lines)


def _headline(found: Agreement) -> str:
    if not found.coefficient:
        return "Agreement needs two annotators."
    value, bounds = _figures(found.overall)
    same = "" if found.same is None else f" · the same modes in {found.same:.0%}"
    return f"{found.coefficient}: {value}" + (f" ({bounds})" if found.overall.low is not None else "") + same


def _name(annotator: str) -> str:
    return annotator or "unnamed"


def _pair(pair: PairAgreement) -> tuple[str, ...]:
    same = "–" if pair.same is None else f"{pair.same:.0%}"
    return f"{_name(pair.first)} and {_name(pair.second)}", str(pair.estimate.samples), same, *_figures(pair.estimate)


def _counted(found: Agreement, scope: str) -> str:
    said = ", ".join(f"{_name(name)} ({count:,})" for name, count in found.annotators) or "nobody"
    return (
        f"In {scope}, labelled by {said}. {found.samples:,} samples by two or more, {found.disputed:,} of them with "
        "different modes."
    )


def _figures(estimate: Estimate) -> tuple[str, str]:
    """Return the value and the bounds; a value that is undefined says so."""
    if estimate.value is None:
        return "undefined", "–"
    bounds = "–" if estimate.low is None else f"{estimate.low:.2f} to {estimate.high:.2f}"
    return f"{estimate.value:.2f}", bounds


def _sheet(name: str, heads: Sequence[str]) -> QTableView:
    """Return a table with names at the left and figures at the right."""
    made, model = table(name), CellModel([Head(each) for each in heads])
    model.figures = 1
    made.setModel(model)
    made.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    made.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    return made


def _cells(sheet: QTableView) -> CellModel:
    model = sheet.model()
    assert isinstance(model, CellModel)
    return model


def _fill(sheet: QTableView, rows: Sequence[Sequence[str]], diagonal: bool = False) -> None:
    """`diagonal`: of a table in which rows and columns are the same modes, where both gave the same stands in bold."""
    _cells(sheet).fill(
        [
            ([Cell(text, end=at > 0, bold=diagonal and at == place + 1) for at, text in enumerate(texts)], place)
            for place, texts in enumerate(rows)
        ]
    )
