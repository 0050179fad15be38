"""The trace of one item side by side: each row leads from words or code to what was made from it, and on from there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QWidget

from rtc_inspector.core.store.rows import ItemRow, SampleRow
from rtc_inspector.ui.panels.pieces import Badge, Card, CodePeek, EmptyState
from rtc_inspector.ui.presenters import Node, compared_words, describes, judged_by_tests, sign_words, trace
from rtc_inspector.ui.style.controls import breakable, column, label
from rtc_inspector.ui.style.outcomes import verdict_badge
from rtc_inspector.ui.style.theme import SPACE

WIDTH = 250
"""Pixels of a tile."""
LINES = 12
"""Of code in a tile."""


class Tile(Card):
    """One sample: its name and verdict, and its text as far as there is room."""

    def __init__(self, node: Node, item: ItemRow) -> None:
        super().__init__()
        self.node, sample = node, node.sample
        self.setFixedWidth(WIDTH)
        badge, code, text = Badge(), CodePeek(LINES), label(wrap=True)
        if judged_by_tests(item.task, sample):
            badge.show_text(*verdict_badge(sample.verdict, len(item.tests), going=item.state == "running"))
        words = describes(sample) or bool(sample.error)
        text.setText(breakable(sample.error or sample.text or "(empty)"))
        text.setVisible(words)
        code.setVisible(not words)
        code.show_code(sample.text, item.path)
        remark = label(node.remark, "warn", wrap=True)
        remark.setVisible(bool(node.remark))
        name = label(node.name, "heading", wrap=True)
        name.setToolTip(sign_words(item.task, sample.role))
        parts = name, badge, remark, text, code
        margins = SPACE, SPACE, SPACE, SPACE
        column(*parts, margins=margins, spacing=SPACE // 2, owner=self).addStretch(1)
        self.setAccessibleName(", ".join(filter(None, (node.name, badge.text, *node.against, node.remark))))


class WidePanel(QWidget):
    """Tiles in rows, made only while somebody looks; `tiles` has them by the ids of their samples.

    `sample_selected(id)` when the user picks one.
    """

    sample_selected = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Trace side by side")
        self._item: ItemRow | None = None
        self._samples: Sequence[SampleRow] = ()
        self._shown: tuple[object, ...] = ()
        self._selected: int | None = None
        self.tiles: dict[int, Tile] = {}
        self._places: dict[int, tuple[int, int]] = {}
        self._empty = EmptyState("No trace", "What a run made of an item appears here, from left to right.")
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
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
        rows = QWidget()
        rows.setProperty("role", "surface")
        grid = QGridLayout(rows)
        grid.setContentsMargins(SPACE + 4, SPACE, SPACE + 4, SPACE)
        grid.setSpacing(SPACE)
        nodes = trace(self._item, self._samples)
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
                link.setToolTip(compared_words(node.sample))
                link.setAlignment(Qt.AlignmentFlag.AlignCenter)
                grid.addWidget(link, row, 2 * depth - 1)
        grid.setRowStretch(grid.rowCount(), 1)
        grid.setColumnStretch(grid.columnCount(), 1)
        self._scroll.setWidget(rows)
        self.select(self._selected)

    def _choose(self, sample_id: int) -> None:
        self.select(sample_id)
        self.sample_selected.emit(sample_id)


def _places(nodes: Sequence[Node]) -> dict[int, tuple[int, int]]:
    """Return each sample's row and depth: a parent's first child goes on in its row, the others begin new ones."""
    children: dict[int | None, list[Node]] = {}
    known = {node.sample.id for node in nodes}
    for node in nodes:
        parent = node.sample.parent_id
        children.setdefault(parent if parent in known else None, []).append(node)
    places: dict[int, tuple[int, int]] = {}
    row = 0
    # A stack, not recursion: a chain may be longer than Python lets functions call themselves.
    waiting = [(node, True) for node in sorted(children.get(None, ()), key=_index, reverse=True)]
    while waiting:
        node, fresh = waiting.pop()
        row += fresh and bool(places)
        places[node.sample.id] = row, node.depth
        below = sorted(children.get(node.sample.id, ()), key=_index)
        waiting += [(each, at > 0) for at, each in reversed(list(enumerate(below)))]
    return places


def _index(node: Node) -> int:
    return node.sample.index
