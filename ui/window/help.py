"""Help: the method on one page with a picture, and every key beside it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFrame,
    QHeaderView,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from rtc_inspector.ui.style.controls import PAGE, FilterField, column, has_words, label, on_ground, push, row, split
from rtc_inspector.ui.style.fonts import bold, grown, open_at
from rtc_inspector.ui.style.theme import SPACE, current_theme

KeyGroup = tuple[str, Sequence[tuple[str, str]]]
"""A heading, and below it what keys do, each with its keys."""

FIXED: KeyGroup = (
    "Everywhere",
    (
        ("Choose in lists and among samples", "Arrows"),
        ("Open and close folders", "Left, Right"),
        ("Next control, the one before", "Tab, Shift+Tab"),
        ("Press what has the focus", "Enter, Space"),
        ("Leave a field or a dialog", "Esc"),
        ("The keys of labelling, while labelling", "?"),
    ),
)

METHOD = (
    (
        "What is asked",
        "A model reads a piece of your code and describes it in words. The same model or another one gets your code "
        "without that piece, and those words, and writes it again. Your own tests judge the result. A model that has "
        "understood the code says what it takes to write it again.",
    ),
    (
        "Where it comes from",
        "A candidate is any statements in a row that your tests run. A region is a candidate that a run has drawn and "
        "whose deletion a test notices. What a run draws is an item: a region, or in other tasks an edit out of the "
        "history, a problem, a cell, a function.",
    ),
    (
        "What is made of it",
        "A sample is one answer of a model. Descriptions (y1, y2 …) are made of the item; a reconstruction (x̂) is code "
        "made from one of them. Of an edit that is a prediction, of a problem a program. Each is judged in a sandbox; "
        "your files are never changed.",
    ),
    (
        "What comes of it",
        "RTC is the share of reconstructions that pass, over all items. The baseline (ε) is written without any "
        "description, from the code around alone. Lift is RTC less the baseline: what the description was worth. The "
        "bounds beside a figure say what other draws from the same project could have given, in 95 of 100 cases; where "
        "those of the lift hold 0, it is not shown that descriptions help.",
    ),
    (
        "What to beware of",
        "A description that recites the code proves nothing, nor does a pass where the same lines stand once more in "
        "the file: both are marked. What the tests do not ask, no pass can tell.",
    ),
)
PICTURE = 640, 190
"""Pixels of the picture for text of the usual size."""


class MethodPicture(QWidget):
    """The way of a region: described, written again, judged; and below it the way without a description."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Code becomes a description, the description code again, and the tests judge that code.")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(grown(self, PICTURE[0]), grown(self, PICTURE[1]))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(1, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        theme, painter = current_theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        wide, high = self.width() / 4, self.height() / 2
        boxes = (
            (0, 0, "Region x", "code that\nyour tests judge", theme.accent),
            (1, 0, "Description y", "in words, by the\nforward model", theme.warn),
            (2, 0, "Reconstruction x̂", "code, by the\nbackward model", theme.accent),
            (3, 0, "Tests", "passed: RTC", theme.good),
            (1, 1, "No description ε", "the code around\nis all there is", theme.neutral),
            (2, 1, "Baseline", "code, by the\nbackward model", theme.accent),
            (3, 1, "Tests", "passed: baseline\nRTC less it: lift", theme.good),
        )
        for at, line, title, text, colour in boxes:
            room = QRectF(at * wide + 1, line * high + 1, wide - SPACE * 3, high - SPACE * 2)
            painter.setPen(QPen(QColor(colour), 1.5))
            painter.setBrush(QColor(theme.tint(colour)))
            painter.drawRoundedRect(room, 7, 7)
            painter.setPen(QColor(theme.text))
            painter.setFont(bold(self.font()))
            inside, centre = room.adjusted(2, SPACE, -2, -SPACE), Qt.AlignmentFlag.AlignHCenter
            painter.drawText(inside, centre | Qt.AlignmentFlag.AlignTop, title)
            painter.setFont(self.font())
            painter.setPen(QColor(theme.muted))
            painter.drawText(inside, centre | Qt.AlignmentFlag.AlignBottom, text)
        painter.setPen(QPen(QColor(theme.muted), 1.5))
        painter.setBrush(QColor(theme.muted))
        for at, line in ((0, 0), (1, 0), (2, 0), (1, 1), (2, 1)):
            end = QPointF((at + 1) * wide - 2, line * high + (high - SPACE * 2) / 2)
            painter.drawLine(end - QPointF(SPACE * 3 - 4, 0), end)
            painter.drawPolygon(QPolygonF([end, end - QPointF(6, 4), end - QPointF(6, -4)]))
        painter.end()


class HelpDialog(QDialog):
    """The method at the left, all keys at the right."""

    def __init__(self, groups: Sequence[KeyGroup], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Help")
        self.words, self.keys = FilterField("Filter by what a key does, or by the key", "Filter keys"), QTreeWidget()
        self.keys.setAccessibleName("Keys")
        self.keys.setHeaderLabels(["What it does", "Keys"])
        self.keys.setRootIsDecorated(False)
        self.keys.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.keys.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.keys.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.keys.header().setStretchLastSection(False)
        self.groups: list[tuple[QTreeWidgetItem, list[QTreeWidgetItem]]] = []
        for title, lines in (*groups, FIXED):
            self._add_group(title, lines)
        self.keys.expandAll()
        self.words.textChanged.connect(self._filter)
        right = QWidget()
        close = row(None, push("Close", "", self.reject))
        parts = (label("Keys", "title"), self.words, self.keys, close)
        column(*parts, margins=(SPACE * 2, 0, 0, 0), spacing=SPACE, owner=right, grows=self.keys)
        both = split(Qt.Orientation.Horizontal, self._method(), right, sizes=(660, 420))
        column(both, margins=PAGE, owner=self)
        open_at(self, 1120, 680)
        self.keys.setFocus()

    def _method(self) -> QWidget:
        page = QWidget()
        on_ground(page, "surface")
        texts: list[QLabel] = []
        for title, text in METHOD:
            texts += [label(title, "heading"), label(text, wrap=True, selectable=True)]
        parts = (label("How it works", "title"), MethodPicture(), *texts)
        column(*parts, margins=PAGE, spacing=SPACE, owner=page).addStretch(1)
        scroll = QScrollArea(widgetResizable=True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setAccessibleName("How it works")
        scroll.setWidget(page)
        return scroll

    def _add_group(self, title: str, lines: Sequence[tuple[str, str]]) -> None:
        head = QTreeWidgetItem(self.keys, [title])
        head.setFont(0, bold(self.keys.font()))
        head.setFlags(Qt.ItemFlag.ItemIsEnabled)  # arrow keys pass over a heading
        head.setFirstColumnSpanned(True)
        self.groups.append((head, [QTreeWidgetItem(head, [words, keys]) for words, keys in lines if keys]))

    def _filter(self, words: str) -> None:
        for head, lines in self.groups:
            for line in lines:
                line.setHidden(not has_words(f"{line.text(0)} {line.text(1)}", words))
            head.setHidden(all(line.isHidden() for line in lines))
