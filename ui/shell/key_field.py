"""A field that takes the next key that is pressed, whatever it does elsewhere."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit

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
        """Take keys before shortcuts and the order of focus do (called by Qt)."""
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
        """Ask no more (called by Qt)."""
        super().focusOutEvent(event)
        if self.asking:
            self.left.emit()


def _sequence(event: QKeyEvent) -> QKeySequence:
    """The key as a shortcut: Shift is in the sign already where it makes another one, such as `?`."""
    combination = event.keyCombination()
    modifiers = combination.keyboardModifiers() & ~Qt.KeyboardModifier.KeypadModifier
    text = event.text()
    if text and text.isprintable() and not text.isalpha() and not text.isspace():
        modifiers &= ~Qt.KeyboardModifier.ShiftModifier
    return QKeySequence(modifiers.value | combination.key().value)
