"""Beside the sample: the modes to choose from, the note, who labels, and what was said before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QAction, QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent, QTextLayout
from PySide6.QtWidgets import QAbstractButton, QApplication, QCompleter, QGridLayout, QSizePolicy, QWidget

from rtc_inspector.core.taxonomy import ErrorMode
from rtc_inspector.ui.labels.label_actions import LabelActions, keys_of
from rtc_inspector.ui.style.controls import column, discard, embolden, field, label, on_ground, row, switch
from rtc_inspector.ui.style.fonts import bold
from rtc_inspector.ui.style.text_size import grown
from rtc_inspector.ui.style.theme import SPACE, current_theme

MOST_LINES = 8
"""Lines of a definition that are looked at as whole."""
CAP = 18
"""Side of a drawn key."""


class ModeButton(QAbstractButton):
    """One error mode: its key, drawn, its name and explanation; down while it is the sample's label."""

    def __init__(self, mode: ErrorMode) -> None:
        super().__init__()
        self.mode = mode
        self.setCheckable(True)
        self.setText(mode.name)
        told = f"{mode.about}\n{mode.guide}".strip()
        self.setToolTip(told)
        self._key, self._most = "", 0
        self.set_key("")
        self.setAccessibleDescription(told)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)  # it is drawn anew when the pointer comes or goes

    def set_key(self, key: str) -> None:
        """Show the key that chooses it; empty when there is none."""
        self._key = key
        self.setAccessibleName(f"{self.mode.name}, key {key}" if key else self.mode.name)
        self.update()

    def nextCheckState(self) -> None:  # noqa: N802
        """Leave the button as it is: a click asks; only what is stored puts the button down."""

    def add_asked(self) -> bool:
        """Return whether a click means this mode beside others."""
        held = Qt.KeyboardModifier
        return bool(QApplication.keyboardModifiers() & (held.AltModifier | held.ControlModifier | held.ShiftModifier))

    def lines(self, width: int, most: int) -> list[tuple[str, str]]:
        """Return what stands below the name, in a button that wide: lines with their colours, at most so many."""
        texts = [(self.mode.about, "muted"), (self.mode.guide and f"→ {self.mode.guide}", "text")]
        room = width - SPACE * 3 - self._cap()
        whole = [(line, role) for text, role in texts for line in _wrapped(text, self.font(), room)]
        if len(whole) <= most:
            return whole
        last = self.fontMetrics().elidedText(f"{whole[most - 1][0].rstrip()} …", Qt.TextElideMode.ElideRight, room)
        return [*whole[: most - 1], (last, whole[most - 1][1])] if most else []

    def high(self, width: int, most: int) -> int:
        """Return how high it is with at most so many lines below the name."""
        return (1 + len(self.lines(width, most))) * self.fontMetrics().lineSpacing() + SPACE

    def set_most(self, width: int, most: int) -> None:
        """Show at most so many lines below the name; none: what there is room for beside it."""
        self._most = most
        self.setFixedHeight(self.high(width, most))
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(220, self.fontMetrics().lineSpacing() + SPACE)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Return the least size: the explanation gives way."""
        return QSize(160, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        theme, painter = current_theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        focused, hot = self.hasFocus(), self.underMouse() and self.isEnabled()
        painter.setPen(QPen(QColor(theme.focus if focused else theme.border), 2 if focused else 1))
        ground = theme.selection if self.isChecked() else theme.raised if hot else theme.surface
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)
        self._draw_key(painter)
        self._draw_text(painter)

    def _first(self) -> QRectF:
        """Return the rectangle of the first line."""
        return QRectF(SPACE, SPACE / 2, self.width() - 2 * SPACE, self.fontMetrics().lineSpacing())

    def _draw_key(self, painter: QPainter) -> None:
        theme, chosen, first = current_theme(), self.isChecked(), self._first()
        high = grown(self, CAP)
        cap = QRectF(SPACE, first.center().y() - high / 2, self._cap(), high)
        painter.setPen(QPen(QColor(theme.accent if chosen else theme.border), 1))
        painter.setBrush(QColor(theme.accent if chosen else theme.gutter))
        painter.drawRoundedRect(cap, 4, 4)
        painter.setPen(QColor(theme.accent_text if chosen else theme.text))
        painter.setFont(bold(self.font()))
        painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, "✓" if chosen else self._key)

    def _cap(self) -> int:
        """Return the width of the drawn key: longer words than a letter or digit need more."""
        words = QFontMetrics(bold(self.font())).horizontalAdvance(self._key) if len(self._key) > 1 else 0
        return max(grown(self, CAP), words + SPACE)

    def _draw_text(self, painter: QPainter) -> None:
        theme, first = current_theme(), self._first()
        first.setLeft(SPACE * 2 + self._cap())
        middle = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.setPen(QColor(theme.text if self.isEnabled() else theme.muted))
        painter.drawText(first, middle, self.text())
        painter.setFont(self.font())
        if self._most:
            for line, role in self.lines(self.width(), self._most):
                first.translate(0, self.fontMetrics().lineSpacing())
                painter.setPen(QColor(theme.text if role == "text" else theme.muted))
                painter.drawText(first, middle, line)
            return
        name = QFontMetrics(bold(self.font())).horizontalAdvance(self.text()) + SPACE
        painter.setPen(QColor(theme.muted))
        said = self.mode.guide or self.mode.about
        about = self.fontMetrics().elidedText(said, Qt.TextElideMode.ElideRight, int(first.width() - name))
        painter.drawText(first.adjusted(name, 0, 0, 0), middle, about)


def _wrapped(text: str, font: QFont, room: int) -> list[str]:
    """Return a text in lines that are at most so wide."""
    layout, lines = QTextLayout(text, font), []
    layout.beginLayout()
    while text and (line := layout.createLine()).isValid():
        line.setLineWidth(max(room, 1))
        lines.append(text[line.textStart() : line.textStart() + line.textLength()])
    layout.endLayout()
    return lines


class KeysHelp(QWidget):
    """All keys of labelling; hidden until somebody asks for them."""

    def __init__(self, actions: LabelActions) -> None:
        """Two columns: key and what it does."""
        super().__init__()
        self._actions = actions
        self._lines = [(label(), label(role="muted", wrap=True)) for _ in range(5 + len(actions.steps))]
        grid = QGridLayout(self)
        grid.setContentsMargins(SPACE, SPACE // 2, SPACE, SPACE // 2)
        grid.setHorizontalSpacing(SPACE * 2)
        grid.setVerticalSpacing(2)
        for place, (key, what) in enumerate(self._lines):
            embolden(key)
            grid.addWidget(key, place, 0)
            grid.addWidget(what, place, 1)
        grid.setColumnStretch(1, 1)
        self.refresh()
        self.hide()

    def refresh(self) -> None:
        """Show the keys as they are now."""
        accepts = " ".join(keys_of(action) for action in self._actions.accepts)
        told = [
            (_span(self._actions), "Label with the error mode on that button, and go on"),
            (_span_of(self._actions.adds), "Add that error mode to others, or take it away, and stay"),
            (keys_of(self._actions.clean), "Nothing wrong: where passes are in turn"),
            (accepts, "Decide as the first, second, … annotator says"),
            *((keys_of(action), action.text()) for action in self._actions.steps.values()),
            ("?", "Show or hide these keys; F1 shows all"),
        ]
        for (key, what), (keys, words) in zip(self._lines, told, strict=True):
            key.setText(keys or "–")
            what.setText(words)
        self.setAccessibleName("Keys: " + "; ".join(f"{key} {what}" for key, what in told))

    def toggle(self) -> None:
        """Show it, or hide it."""
        self.setVisible(self.isHidden())


def _span(actions: LabelActions) -> str:
    """`1 – 9`, or the keys one by one where they are no digits in a row."""
    return _span_of([action for action in actions.modes if action.isVisible() and action.shortcuts()])


def _span_of(actions: Sequence[QAction]) -> str:
    keys = [keys_of(action) for action in actions if action.shortcuts()]
    if keys == [f"Alt+{digit}" for digit in range(1, len(keys) + 1)] and len(keys) > 1:
        return f"Alt+1 – {len(keys)}"
    in_a_row = keys == [str(digit) for digit in range(1, len(keys) + 1)]
    return f"1 – {len(keys)}" if in_a_row and len(keys) > 1 else " ".join(keys)


class LabelSide(QWidget):
    """The modes, the note, the annotator and the switches beside a sample; what a click does is up to the panel."""

    def __init__(self, actions: LabelActions, choose: Callable[[int], None], add: Callable[[int], None]) -> None:
        """`choose(slot)` when a mode's button is clicked, `add(slot)` with Alt, Ctrl or Shift held down."""
        super().__init__()
        on_ground(self, "surface")
        self._actions, self._choose, self._add = actions, choose, add
        self.buttons: list[ModeButton] = []
        self.annotator = field("Annotator's name, stored with each label", "Annotator")
        self.note = field("Note, stored with the label")
        self.advance = switch("Go on", "Show the next sample after each label", True)
        self.blind = switch("Blind", "Hide verdict, run, author and the others' labels")
        self.large = switch("Large", "Give the labels the whole window")
        self.others = switch("Others", "Show what others said before you have labelled a sample")
        self.unconfirmed = label(role="muted", wrap=True)
        self.unconfirmed.hide()
        self.history = label(role="muted", wrap=True, selectable=True)
        self.history.setAccessibleName("Labels of this sample")
        self.keys = KeysHelp(actions)
        self._modes = column(spacing=3)
        switches = row(self.advance, self.others, self.large, self.blind, None)
        fields = (self.note, self.annotator, self.unconfirmed)
        margins = SPACE, SPACE // 2, SPACE, SPACE
        self._below = (*fields, self.advance)
        column(self._modes, *fields, switches, self.history, self.keys, None, margins=margins, spacing=3, owner=self)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Show definitions whole where there is room for that."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Show as many lines of each definition as there is room for without scrolling."""
        view, width = self.parentWidget(), self.width() - 2 * SPACE
        below = sum(part.sizeHint().height() + 3 for part in self._below if not part.isHidden())
        room = (view.height() if view is not None else self.height()) - below - 2 * SPACE - 3 * len(self.buttons)
        fits = (most for most in range(MOST_LINES, 0, -1) if sum(b.high(width, most) for b in self.buttons) <= room)
        most = next(fits, 0)
        for button in self.buttons:
            button.set_most(width, most)

    def offer(self, slots: Mapping[int, ErrorMode]) -> None:
        """Offer these modes, by slot."""
        for old in self.buttons:
            discard(old)
        self.buttons = [ModeButton(mode) for mode in slots.values()]
        self._slots = list(slots)
        for slot, button in zip(slots, self.buttons, strict=True):
            button.clicked.connect(
                lambda _=False, slot=slot, on=button: (self._add if on.add_asked() else self._choose)(slot)
            )
            self._modes.addWidget(button)
        self.refresh_keys()
        self._fit()

    def ask_to_confirm(self, typed: str, kept: str) -> None:
        """Say that a name was typed that does not count yet; nothing where it is the one that holds."""
        stay = f"Esc: stay {kept}" if kept else "Esc: leave it"
        self.unconfirmed.setText(f"Enter: label as {typed or 'nobody'} · {stay}")
        self.unconfirmed.setVisible(typed != kept)

    def suggest(self, annotators: Sequence[str]) -> None:
        """Complete names that have labelled before, so that nobody becomes two people by a slip of the hand."""
        completer = QCompleter(list(annotators), self.annotator)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.annotator.setCompleter(completer)

    def refresh_keys(self) -> None:
        """Show the keys as they are now."""
        for slot, button in zip(self._slots, self.buttons, strict=True):
            action = self._actions.of(slot)
            button.set_key(keys_of(action) if action is not None else "")
        key = keys_of(self._actions.steps["note"])
        self.note.setPlaceholderText(f"Note ({key})" if key else "Note")
        self.keys.refresh()

    def choose(self, modes: Collection[str]) -> None:
        """Put the buttons of these modes down, the others up."""
        for each in self.buttons:
            each.setChecked(each.mode.id in modes)

    def tell(self, lines: Sequence[str]) -> None:
        """Show what was said of this sample, newest first."""
        self.history.setText("\n".join(lines))
        self.history.setVisible(bool(lines))
