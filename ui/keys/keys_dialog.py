"""Shows every key, and lets the user choose others."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFont, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QDialog, QHeaderView, QLineEdit, QTreeWidget, QTreeWidgetItem, QWidget

from rtc_inspector.core.errors import UserError
from rtc_inspector.ui.keys.keymap import Binding, KeyMap
from rtc_inspector.ui.shell.fields import error_words, say
from rtc_inspector.ui.style.controls import PAGE, FilterField, bind, column, has_words, label, push, row
from rtc_inspector.ui.style.text_size import open_at
from rtc_inspector.ui.style.theme import SPACE

IDLE = "Choose a line and press Enter to give it another key"
MODIFIERS = frozenset(
    {Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_AltGr, Qt.Key.Key_Meta, Qt.Key.Key_CapsLock}
)


class KeyField(QLineEdit):
    """`pressed(key)` in Qt's portable words, e.g. `Ctrl+R`; `left` on Escape or when the focus goes elsewhere."""

    pressed = Signal(str)
    left = Signal()

    def __init__(self) -> None:
        """Asks for nothing yet."""
        self.asking = False
        super().__init__()
        self.setReadOnly(True)
        self.setAccessibleName("The new key")
        self.done()

    def ask(self, words: str) -> None:
        """Take the next key for this."""
        self.asking = True
        self.setEnabled(True)
        self.setText(f"Press the key for “{words}”, or Esc to leave it as it is")
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def done(self) -> None:
        """Ask no more."""
        self.asking = False
        self.setEnabled(False)
        self.setText(IDLE)

    def event(self, event: QEvent) -> bool:
        """Take keys before shortcuts and the order of focus do."""
        if self.asking and isinstance(event, QKeyEvent):
            # Accepted, the key comes here as a key press instead of acting as the shortcut that it may be.
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress:
                self._take(event)
                return True
        return super().event(event)

    def _take(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif event.key() not in MODIFIERS:
            self.pressed.emit(_sequence(event).toString(QKeySequence.SequenceFormat.PortableText))

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusOutEvent(event)
        if self.asking:
            self.left.emit()


def _sequence(event: QKeyEvent) -> QKeySequence:
    """Return the key as a shortcut: Shift is in the sign already where it makes another one, such as `?`."""
    combination = event.keyCombination()
    modifiers = combination.keyboardModifiers() & ~Qt.KeyboardModifier.KeypadModifier
    text = event.text()
    if text and text.isprintable() and not text.isalpha() and not text.isspace():
        modifiers &= ~Qt.KeyboardModifier.ShiftModifier
    return QKeySequence(modifiers.value | combination.key().value)


FIXED = (
    ("Choose in lists and among samples", "Arrows"),
    ("Open and close folders", "Left, Right"),
    ("Next control, the one before", "Tab, Shift+Tab"),
    ("Press what has the focus", "Enter, Space"),
    ("Leave a field or a dialog", "Esc"),
    ("The keys of labelling, while labelling", "?"),
)
"""Keys that belong to every such control and stay as they are."""
NAME = Qt.ItemDataRole.UserRole
HINT = "Enter: choose another key · Insert: add one · Delete: take all away · Backspace: the default again"


class KeysDialog(QDialog):
    """All keys on one page, by group; a refused key says why."""

    def __init__(self, keymap: KeyMap, parent: QWidget | None = None) -> None:
        """List what `keymap` holds, then the keys that are fixed."""
        super().__init__(parent)
        self.setWindowTitle("Keys")
        self._keymap = keymap
        self._adding = False
        self._groups: list[tuple[QTreeWidgetItem, list[QTreeWidgetItem]]] = []
        self.words = FilterField("Filter by what a key does, or by the key", "Filter keys")
        self.list, self.field, self.said = QTreeWidget(), KeyField(), label(HINT, wrap=True)
        self._make_list()
        self._make_buttons()
        self._lay_out()
        self._fill()
        keymap.changed.connect(self._fill)
        self.list.setFocus()

    def _make_list(self) -> None:
        self.words.textChanged.connect(self._filter)
        self.list.setAccessibleName("Keys")
        self.list.setHeaderLabels(["What it does", "Keys", "Default, where it differs"])
        self.list.setRootIsDecorated(False)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list.currentItemChanged.connect(lambda: self._offer())
        self.list.itemDoubleClicked.connect(lambda: self._begin())
        for key, run, name in (
            ("Return Enter", self._begin, "Choose another key"),
            ("Insert", lambda: self._begin(adding=True), "Add a key"),
            ("Delete", self._clear, "Take all keys away"),
            ("Backspace", self._reset, "The default again"),
        ):
            bind(self.list, key, run, name)
        self.field.pressed.connect(self._take)
        self.field.left.connect(self._leave)

    def _make_buttons(self) -> None:
        self.change = push("Change…", "", self._begin)
        self.add = push("Add…", "", lambda: self._begin(adding=True))
        self.clear = push("No key", "", self._clear)
        self.reset = push("Default", "", self._reset)
        self.reset_all = push("All defaults", "", self._reset_all)
        self.close_button = push("Close", "", self.reject)

    def _lay_out(self) -> None:
        self.said.setMinimumHeight(self.said.fontMetrics().lineSpacing() * 2)
        changes = (self.change, self.add, self.clear, self.reset)
        foot = row(*changes, None, self.reset_all, self.close_button)
        parts = (self.words, self.list, self.field, self.said, foot)
        column(*parts, margins=PAGE, spacing=SPACE, owner=self, grows=self.list)
        open_at(self, 760, 620)

    # ---- the list

    def _fill(self) -> None:
        """List everything anew, with the same line chosen."""
        chosen = self._chosen()
        self._groups.clear()
        self.list.clear()
        for title, bindings in groupby(self._keymap.bindings(), key=lambda each: each.group):
            self._add_group(title, [self._line(each) for each in bindings])
        self._add_group("Fixed", [QTreeWidgetItem([words, keys, ""]) for words, keys in FIXED])
        self.list.expandAll()
        self.list.resizeColumnToContents(1)
        self._filter(self.words.text())
        self._choose(chosen)
        self._offer()

    def _add_group(self, title: str, lines: list[QTreeWidgetItem]) -> None:
        head = QTreeWidgetItem([title])
        font = QFont(self.list.font())
        font.setBold(True)
        head.setFont(0, font)
        # A heading is not selected: arrow keys pass over it.
        head.setFlags(Qt.ItemFlag.ItemIsEnabled)
        head.addChildren(lines)
        self._groups.append((head, lines))
        self.list.addTopLevelItem(head)
        self.list.setFirstColumnSpanned(self.list.indexOfTopLevelItem(head), self.list.rootIndex(), True)

    def _line(self, binding: Binding) -> QTreeWidgetItem:
        own = self._keymap.is_own(binding.name)
        default = ", ".join(binding.defaults) or "none"
        line = QTreeWidgetItem([binding.words, binding.shown, default if own else ""])
        line.setData(0, NAME, binding.name)
        if own:
            font = QFont(self.list.font())
            font.setBold(True)
            line.setFont(1, font)
        return line

    def _lines(self) -> list[QTreeWidgetItem]:
        return [line for _, lines in self._groups for line in lines]

    def _filter(self, words: str) -> None:
        for head, lines in self._groups:
            for line in lines:
                line.setHidden(not has_words(f"{head.text(0)} {line.text(0)} {line.text(1)}", words))
            head.setHidden(all(line.isHidden() for line in lines))
        current = self.list.currentItem()
        if current is None or current.isHidden():
            self._choose(None)

    def _choose(self, name: str | None) -> None:
        seen = [line for line in self._lines() if not line.isHidden()]
        # Fixed keys have no name.
        same = [line for line in seen if line.data(0, NAME) == name and name is not None]
        for line in (same or seen)[:1]:
            self.list.setCurrentItem(line)

    def _chosen(self) -> str | None:
        line = self.list.currentItem()
        name = line.data(0, NAME) if line is not None else None
        return name if isinstance(name, str) else None

    def _offer(self) -> None:
        name = self._chosen()
        for each in (self.change, self.add, self.clear):
            each.setEnabled(name is not None)
        self.reset.setEnabled(name is not None and self._keymap.is_own(name))
        self._say("")

    # ---- other keys

    def _begin(self, adding: bool = False) -> None:
        name = self._chosen()
        if name is not None:
            self._adding = adding
            self.field.ask(self._keymap.binding(name).words)

    def _take(self, key: str) -> None:
        def rebind(name: str) -> None:
            before = self._keymap.binding(name).keys if self._adding else ()
            self._keymap.rebind(name, [*before, key])

        self._change(rebind)

    def _clear(self) -> None:
        self._change(lambda name: self._keymap.rebind(name, []))

    def _reset(self) -> None:
        self._change(self._keymap.reset)

    def _reset_all(self) -> None:
        self._keymap.reset_all()
        self._leave()

    def _change(self, act: Callable[[str], None]) -> None:
        """Do it to the chosen line, or say why not."""
        name, problem = self._chosen(), ""
        if name is None:
            return
        try:
            act(name)
        except UserError as error:
            problem = error_words(error)
        self._leave()
        if problem:
            self._say(problem)

    def _leave(self) -> None:
        self.field.done()
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _say(self, problem: str) -> None:
        say(self.said, problem or HINT, bad=bool(problem))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Stop only the asking for a key, and keep the dialog open, when Escape is pressed meanwhile."""
        if event.key() == Qt.Key.Key_Escape and self.field.asking:
            self._leave()
            return
        super().keyPressEvent(event)
