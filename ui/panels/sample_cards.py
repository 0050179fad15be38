"""Cards of the round-trip panel: a stored sample, a text still being written, a description by hand."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QPlainTextEdit

from rtc_inspector.core.store.rows import ItemRow, SampleRow
from rtc_inspector.ui.panels.pieces import Badge, Card, CodePeek, first_difference
from rtc_inspector.ui.presenters import Node, as_known, compared_words, describes, judged_by_tests, recites, sign_words
from rtc_inspector.ui.style.controls import ElidedLabel, Flow, Margins, PushButton, bind, breakable, column, label, row
from rtc_inspector.ui.style.fonts import write_fixed
from rtc_inspector.ui.style.outcomes import verdict_badge
from rtc_inspector.ui.style.theme import SPACE

CARET = "▍"
WORDS = 5
"""Lines that the field of a person's description is high."""
INDENT = 20
"""Pixels by which a sample stands right of the one it was made from."""
FIGURES = "How alike it is to the original (sim: edit similarity, 1 is the same), tokens written, seconds it took"
DEEPEST = 4
"""Levels up to which cards are indented; in a longer chain the names say the round."""

_FLAGGED = "Odd, but no proof of anything: it changes neither the verdict nor a score."
_SHORTENED = "The file did not fit the context window: whole statements of it were left out of the prompt."
_ENDS = {
    "length": "cut at length limit",
    "loop": "went round in a loop",
    "context": "context full",
    "failed": "engine failed",
}


class SampleCard(Card):
    """One stored sample. Words show their text, code its verdict and first lines; both their scores against others."""

    def __init__(self, node: Node, item: ItemRow) -> None:
        super().__init__(inset_of(node.inset))
        self.node, self._item = node, item
        self._name = label(role="heading")
        self._main, self._author, self._end, self._short = (Badge() for _ in range(4))
        self._cost = ElidedLabel("caption")
        self._cost.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._text = label(wrap=True)
        self._against = label(role="caption", wrap=True)
        self._code = CodePeek(3)
        self._flags = Badge()
        self._badges = (self._main, self._flags, self._author, self._end, self._short)
        head = row(spacing=SPACE // 2 + 2)
        head.addLayout(Flow((self._name, *self._badges), SPACE // 2 + 2), 1)
        head.addWidget(self._cost, 0, Qt.AlignmentFlag.AlignTop)
        column(
            head, self._text, self._against, self._code, margins=inside(self.inset), spacing=SPACE // 2 + 2, owner=self
        )
        self.show_node(node, item)

    @property
    def sample(self) -> SampleRow:
        return self.node.sample

    @property
    def describes(self) -> bool:
        return describes(self.sample)

    def fits(self, node: Node) -> bool:
        return inset_of(node.inset) == self.inset

    def shows(self, node: Node, item: ItemRow) -> bool:
        """Return whether it shows the sample as it stands now."""
        same = (node, item.id, item.state) == (self.node, self._item.id, self._item.state)
        return same and bool(self._name.text())

    def show_node(self, node: Node, item: ItemRow) -> None:
        """Show a sample as it stands now; what is shown of it already is left alone."""
        if self.shows(node, item):
            return
        self.node, self._item, sample = node, item, node.sample
        self._name.setText(node.name)
        self._name.setToolTip(sign_words(item.task, sample.role))
        self._against.setText("\n".join(part for part in (" · ".join(node.against), node.remark) if part))
        self._against.setToolTip(compared_words(sample))
        self._against.setVisible(bool(node.against or node.remark))
        self._cost.setText(_figures(sample))
        self._cost.setToolTip(FIGURES)
        self._text.setVisible(self.describes or bool(sample.error))
        self._text.setText(breakable(sample.error or sample.text or "(empty)"))
        # Code that came back as it was needs no lines; the card says so in words.
        exact = sample.text.rstrip() == item.text.rstrip()
        self._code.setVisible(not (self.describes or exact) and bool(sample.text))
        if self._code.isVisibleTo(self):
            start = first_difference(item.text, sample.text)
            self._code.show_code(sample.text, item.path, max(0, start) if start > 1 else 0)
        self._show_badges()
        self.setAccessibleName(self.spoken())

    def spoken(self) -> str:
        spoken = self.node.name.rpartition(" (")[0] or self.node.name  # without the paper's sign
        parts = [spoken, *(badge.text for badge in self._badges if badge.text), *self.node.against]
        parts += [self.node.remark] if self.node.remark else []
        return f"{', '.join(parts)}: {self.sample.text}" if self.describes else ", ".join(parts)

    def _show_badges(self) -> None:
        sample = self.sample
        human = sample.author if sample.author != "model" else ""
        self._author.show_text(f"✎ by {human}" if human else "", "accent", "Written by a person")
        self._end.show_text(*_ending(sample))
        self._short.show_text("⚠ file shortened" if sample.truncated else "", "warn", _SHORTENED)
        flags = sample.verdict.flags if sample.verdict else ()
        self._flags.show_text(f"⚑ {', '.join(flags)}" if flags else "", "muted", _FLAGGED)
        if self.describes:
            self._main.show_text(*_recitation(sample))
            return
        if sample.error or not judged_by_tests(self._item.task, sample):
            self._main.show_text("")
        else:
            going = self._item.state == "running"
            text, role, tip = verdict_badge(sample.verdict, len(self._item.tests), going=going)
            self._main.show_text(text, role, as_known(self._item, tip))


class WritingCard(Card):
    """A text still being written, with a caret. `text`: the label that shows both."""

    def __init__(self, name: str, tip: str, depth: int, *, code: bool) -> None:
        super().__init__(inset_of(depth))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self._state = Badge("… writing", "accent")
        self.text = label(wrap=True)
        self._so_far, self._lit = "", True
        if code:
            write_fixed(self.text, 8.5)
        title = label(name, "heading")
        title.setToolTip(tip)
        head = row(title, self._state, None, spacing=SPACE // 2 + 2)
        column(head, self.text, margins=inside(self.inset), spacing=SPACE // 2 + 2, owner=self)
        self.setAccessibleName(f"{name} is being written")

    def show_text(self, text: str) -> None:
        self._so_far = breakable(text)
        self.text.setText(self._so_far + CARET)

    def blink(self, lit: bool) -> None:
        """Show the caret or not; the space it takes stays."""
        self.text.setText(self._so_far + (CARET if lit else " "))


class DescribeCard(QFrame):
    """A person's own description of a region, to be written again by the model; hidden until `start`.

    `written(text)` asks for the backward pass; `left` when it was put away."""

    written = Signal(str)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        hint = "Say what the code does: it is written again from your words and the code around it."
        self.text = QPlainTextEdit(placeholderText=hint, tabChangesFocus=True)
        self.text.setAccessibleName("Your description")
        self.text.setProperty("role", "field")
        self.text.setFixedHeight(self.text.fontMetrics().lineSpacing() * WORDS + 2 * SPACE)
        self.text.textChanged.connect(self._offer)
        self.go, self.cancel = PushButton("Write the code from it"), PushButton("Cancel")
        self.go.setProperty("role", "primary")
        self.go.setToolTip("Run the backward pass on these words and test what comes of it (Ctrl+Return)")
        self.cancel.setToolTip("Put this away (Escape)")
        self.go.clicked.connect(self._ask)
        self.cancel.clicked.connect(self.leave)
        for key in ("Ctrl+Return", "Ctrl+Enter"):
            bind(self, key, self._ask, "Write the code from it")
        bind(self, "Escape", self.leave, "Cancel")
        foot = row(None, self.cancel, self.go, spacing=SPACE)
        head = row(label("In your words", "heading"), None, label("Not counted in the scores", "caption"))
        made = column(head, self.text, margins=(0, 0, 0, SPACE), spacing=SPACE // 2 + 2, owner=self)
        made.addLayout(foot)
        self.hide()

    def start(self, text: str) -> None:
        """Show it with a text to begin from, selected whole; words that were not sent yet stay."""
        # The key was pressed again: what is being written stays.
        if self.isHidden() or not self.text.toPlainText().strip():
            self.text.setPlainText(text)
            self.text.selectAll()
        self._offer()
        self.show()
        self.text.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def leave(self) -> None:
        self.hide()
        self.text.clear()
        self.left.emit()

    def _offer(self) -> None:
        self.go.setEnabled(bool(self.text.toPlainText().strip()))

    def _ask(self) -> None:
        words = self.text.toPlainText().strip()
        if words:
            self.written.emit(words)


def inset_of(depth: int) -> int:
    """Return the inset in pixels of a sample with so many above it."""
    return INDENT * min(depth, DEEPEST)


def inside(inset: int) -> Margins:
    """Return the room around a card's contents."""
    return inset + SPACE + 4, SPACE, SPACE + 4, SPACE


def _recitation(sample: SampleRow) -> tuple[str, str, str]:
    if not recites(sample):
        return "", "", ""
    tip = "This share of the code stands verbatim in the description: a pass may be mere copying."
    return f"⚠ recites {sample.recitation:.2f}", "warn", tip


def _ending(sample: SampleRow) -> tuple[str, str, str]:
    """Return a badge, as words, role and tip, on how the answer came to an early end; empty where it did not."""
    if sample.error:
        return "⚙ no sample", "warn", sample.error
    end = _ENDS.get(sample.finish_reason, "")
    return (f"⚠ {end}", "warn", "The model did not end its answer by itself.") if end else ("", "", "")


def _figures(sample: SampleRow) -> str:
    """Return the likeness to the original where it is known, the tokens and the seconds."""
    if sample.finish_reason == "written":
        return ""
    likeness = sample.scores.get("edit_sim")
    exact = sample.scores.get("exact_match") == 1.0
    parts = ["as the original"] if exact else [] if likeness is None else [f"sim {likeness:.2f}"]
    return " · ".join([*parts, f"{sample.completion_tokens} tok", f"{sample.seconds:.1f} s"])
