"""What labels are given with: the keys, the lines above the sample, and the modes and fields beside it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QPointF, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QColor,
    QFontMetrics,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTextLayout,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QCompleter,
    QGridLayout,
    QSizePolicy,
    QSpinBox,
    QWidget,
)

from rtc_inspector.core.store.rows import SampleRow
from rtc_inspector.core.taxonomy import KEYS, NO_KEY, ErrorMode, Taxonomy
from rtc_inspector.ui.labels.queue import TELLING, QueueKind
from rtc_inspector.ui.panels.pieces import Badge
from rtc_inspector.ui.presenters import describes, sample_name, sign_words, verdict_role, verdict_text
from rtc_inspector.ui.shell.fields import indent
from rtc_inspector.ui.style.controls import (
    BAR,
    ElidedLabel,
    Flow,
    MenuButton,
    bind,
    button,
    called,
    column,
    discard,
    embolden,
    field,
    label,
    on_ground,
    row,
    switch,
)
from rtc_inspector.ui.style.fonts import bold, grown
from rtc_inspector.ui.style.theme import SPACE, current_theme

ACCEPT = "JKLM"  # keys that accept the first, second, … annotator's label

STEPS = (
    ("clear", "0", "Take the label back"),
    ("note", "N", "Write a note: Enter keeps it, with a label or without; Esc leaves it"),
    ("skip", "S Right", "Skip: go on without a label"),
    ("back", "Left", "Go back to the sample before"),
    ("undo", "U", "Undo the last label, wherever it was"),
    ("others", "O", "Show what others said before you have labelled a sample, or hide it"),
    ("large", "F", "Large: the labels alone in the window, or with the code"),
    ("blind", "B", "Blind: hide verdict, run and the others' labels"),
)


CLEAN = 0  # slot of the mode that says that nothing is wrong


class LabelActions:
    """The actions of one panel, by name."""

    def __init__(
        self,
        panel: QWidget,
        choose: Callable[[int], None],
        add: Callable[[int], None],
        accept: Callable[[int], None],
        **steps: Callable[[], object],
    ) -> None:
        """Make them; one of `steps` for each of STEPS.

        `choose(slot)` takes a mode and goes on, `add(slot)` adds it to others or takes it away, `accept(place)` decides
        as an annotator says.
        """
        self.clean = bind(panel, "G", partial(choose, CLEAN), "")
        self.modes = [bind(panel, str(slot), partial(choose, slot), "") for slot in KEYS]
        self.adds = [
            bind(panel, f"Alt+{slot}", partial(add, slot), f"Add mode {slot} to others, or take it away")
            for slot in KEYS
        ]
        self.accepts = [
            bind(panel, key, partial(accept, place), f"Decide as annotator {place + 1} says")
            for place, key in enumerate(ACCEPT)
        ]
        self.steps = {name: bind(panel, keys, steps[name], words) for name, keys, words in STEPS}

    def all(self) -> list[QAction]:
        return [*self.modes, self.clean, *self.adds, *self.accepts, *self.steps.values()]

    def of(self, slot: int) -> QAction | None:
        return self.clean if slot == CLEAN else self.modes[slot - 1] if slot <= len(self.modes) else None

    def name_modes(self, taxonomy: Taxonomy, *, clean: bool) -> dict[int, ErrorMode]:
        """Call the slots after the modes in them, hide the others; gives the modes by slot.

        `clean`: whether something may have nothing wrong.
        """
        slots = placed(taxonomy)
        if not clean:
            slots.pop(CLEAN, None)
        for slot, action in [(CLEAN, self.clean), *enumerate(self.modes, start=1)]:
            action.setVisible(slot in slots)
            action.setText(slots[slot].name if slot in slots else "")
        return slots


def placed(taxonomy: Taxonomy) -> dict[int, ErrorMode]:
    """Return the modes by slot: a mode's digit, or the next number above the digits; CLEAN for one that is clean."""
    found = {mode.key: mode for mode in taxonomy.offered if mode.key != NO_KEY}
    clean = next((mode for mode in taxonomy.offered if mode.clean), None)
    without = [mode for mode in taxonomy.offered if mode.key == NO_KEY and mode is not clean]
    found |= dict(enumerate(without, start=KEYS.stop))
    return found if clean is None else found | {CLEAN: clean}


def name_keys(part: QWidget, *actions: QAction) -> None:
    """Say the keys of actions in the tooltip of their button, instead of those that it had."""
    tip, keys = part.toolTip().partition(" (")[0], ", ".join(filter(None, map(keys_of, actions)))
    part.setToolTip(f"{tip} ({keys})" if keys else tip)


def keys_of(action: QAction, between: str = " or ") -> str:
    """Return the keys of an action, as this platform writes them."""
    native = QKeySequence.SequenceFormat.NativeText
    return between.join(key.toString(native) for key in action.shortcuts())


FORMATS = (
    ("JSON lines…", "jsonl"),
    ("Table (CSV)…", "csv"),
    ("Label Studio (JSON)…", "json"),
    ("Label Studio, unlabelled samples too…", "tasks.json"),
    ("Label Studio's labelling interface…", "xml"),
)
"""Words and file endings."""
SCOPES = ("this run", "all runs")
MOST = 2**31 - 1


class LabelBar(QWidget):
    """Which sample it is, who labels (`how`), how far the queue is, and the steps as buttons that name their keys."""

    def __init__(self, actions: LabelActions, show_keys: Callable[[], object], *how: QWidget) -> None:
        super().__init__()
        self.name, self.badge = ElidedLabel(), Badge()
        embolden(self.name)
        self.about, self.progress = ElidedLabel("muted"), ElidedLabel("muted")
        tips = {"back": "Go to the sample before", "skip": "Go on without a label", "undo": "Undo the last label"}
        self.back, self.skip, self.undo = (button("", tip, actions.steps[name].trigger) for name, tip in tips.items())
        for part, name in zip((self.back, self.skip, self.undo), tips, strict=True):
            name_keys(part, actions.steps[name])
            part.setText(f"{name.capitalize()}  {keys_of(actions.steps[name]).partition(' or ')[0]}")
        self.help = button("Keys  ?", "Show or hide all keys (?)", show_keys)
        steps = (self.back, self.skip, self.undo, self.help)
        parts = (self.name, self.badge, self.about, *how, self.progress)
        row(*parts, *steps, margins=BAR, spacing=SPACE // 2 + 2, owner=self, grows=self.about)

    def show_sample(self, sample: SampleRow, task: str, about: str, *, blind: bool) -> None:
        self.name.setText(sample_name(task, sample))
        self.name.setToolTip(sign_words(task, sample.role) or self.name.text())
        self.about.setText(about)
        text = verdict_text(sample.verdict) if not describes(sample) and not blind else ""
        self.badge.show_text(text, verdict_role(sample.verdict))


class LabelQueueBar(QWidget):
    """Which samples are in turn, by what seed, how well annotators agree, and files."""

    changed = Signal()  # another queue is wanted
    export_asked = Signal(str)  # its ending
    import_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._before = ""
        self.kind, self.scope = _choice(list(QueueKind), "Which samples to label"), _choice(SCOPES, "Of which runs")
        self.seed = _number("Seed of the random order", "The same seed gives the same order", 84)
        self.most = _number("How many samples", "With the same seed and size every annotator gets the same ones", 72)
        self.most.setSpecialValueText("all")
        self.said = ElidedLabel("muted")
        for box in (self.kind, self.scope):
            box.currentIndexChanged.connect(self.changed)
        for number in (self.seed, self.most):
            number.valueChanged.connect(self.changed)
        self.agreement = button("Agreement", "How well annotators agree")
        self.modes = button("Modes", "Add, rename, describe, reorder or retire error modes")
        self.files = self._files()
        self.scope.setToolTip("All runs of the project: with Blind, nobody can tell which model wrote what")
        asked = _together(self.kind, label("of", "muted"), self.scope)
        numbers = _together(label("Seed", "muted"), self.seed, label("Size", "muted"), self.most)
        others = _together(self.agreement, self.modes, self.files)
        bar = Flow((asked, numbers, others, self.said), SPACE)  # in a narrow window it goes on in the next line
        bar.setContentsMargins(*BAR)
        self.setLayout(bar)

    def set_blind(self, blind: bool) -> None:
        """Put out of sight while blind what names runs and annotators, and the kinds of queue that tell the verdict.

        Where one of those is chosen, a random one is meanwhile. It is up to the caller to make another queue.
        """
        for part in (self.agreement, self.files):
            part.setVisible(not blind)
        chosen = self.kind.currentText()
        if blind:
            self._before, chosen = (chosen, QueueKind.RANDOM) if chosen in TELLING else ("", chosen)
        elif self._before and chosen == QueueKind.RANDOM:
            chosen = self._before
        # The caller makes the next queue: a signal here would make another one first.
        with QSignalBlocker(self.kind):
            self.kind.clear()
            self.kind.addItems([kind for kind in QueueKind if not (blind and kind in TELLING)])
            self.kind.setCurrentText(chosen)

    def _files(self) -> MenuButton:
        menu = MenuButton("Files", "Export labels, or import them")
        for words, ending in FORMATS:
            menu.offer(f"Export {words}", partial(self.export_asked.emit, ending))
        menu.menu().addSeparator()
        menu.offer("Import…", self.import_asked.emit)
        return menu


def _together(*parts: QWidget) -> QWidget:
    holder = QWidget()
    row(*parts, owner=holder)
    return holder


def _choice(entries: Sequence[str], name: str) -> QComboBox:
    box = called(QComboBox(), name)
    box.addItems(list(entries))
    box.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
    return box


def _number(name: str, tip: str, width: int) -> QSpinBox:
    box = called(QSpinBox(), name, tip=tip)
    box.setRange(0, MOST)
    # A seed of five digits would make five queues while it is typed.
    box.setKeyboardTracking(False)
    # The field inside has the focus, and screen readers name that.
    box.lineEdit().setAccessibleName(name)
    indent(box)
    box.setFixedWidth(width)
    return box


WIDEST_NAME = 108  # pixels of the annotator's name
MOST_LINES = 8  # lines of a definition that are looked at as whole
CAP = 18  # side of a drawn key


class ModeButton(QAbstractButton):
    """One error mode: its key, drawn, its name and explanation; down while it is the sample's label."""

    def __init__(self, mode: ErrorMode, key: str) -> None:
        super().__init__(text=mode.name, checkable=True)
        self.mode = mode
        meaning = f"{mode.about}\n{mode.guide}".strip()
        self.setToolTip(meaning)
        self._key, self._most = key, 1
        self.setAccessibleName(f"{mode.name}, key {key}" if key else mode.name)
        self.setAccessibleDescription(meaning)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)  # it is drawn anew when the pointer comes or goes

    def nextCheckState(self) -> None:  # noqa: N802
        """Leave the button as it is: a click asks; only what is stored puts the button down."""

    def adding(self) -> bool:
        held = Qt.KeyboardModifier
        return bool(QApplication.keyboardModifiers() & (held.AltModifier | held.ControlModifier | held.ShiftModifier))

    def laid_out(self, width: int, most: int) -> QTextLayout:
        guide = f"\N{LINE SEPARATOR}→ {self.mode.guide}" if self.mode.guide else ""
        text, room = f"{self.mode.name}  {self.mode.about}{guide}", width - SPACE * 3 - self._cap()
        layout = self._in_lines(text, room)
        if layout.lineCount() > most:
            start = layout.lineAt(most - 1).textStart()
            name = text[start : len(self.mode.name)]  # it is bold, and wider than its letters are otherwise
            wider = QFontMetrics(bold(self.font())).horizontalAdvance(name) - self.fontMetrics().horizontalAdvance(name)
            last = self.fontMetrics().elidedText(text[start:], Qt.TextElideMode.ElideRight, room - wider - SPACE)
            layout = self._in_lines(text[:start] + last, room)
        return layout

    def _in_lines(self, text: str, room: int) -> QTextLayout:
        layout, theme, formats = QTextLayout(text, self.font()), current_theme(), []
        name, definition = len(self.mode.name), len(self.mode.name) + 2 + len(self.mode.about)
        shade = theme.text if self.isEnabled() else theme.muted
        for start, end, colour in ((0, name, shade), (name, definition, theme.muted), (definition, len(text), shade)):
            part = QTextLayout.FormatRange()
            part.start, part.length = start, max(end - start, 0)
            part.format.setForeground(QColor(colour))
            if start == 0:
                part.format.setFont(bold(self.font()))
            formats.append(part)
        layout.setFormats(formats)
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(room, 1))
            line.setPosition(QPointF(0, (layout.lineCount() - 1) * self.fontMetrics().lineSpacing()))
        layout.endLayout()
        return layout

    def high(self, width: int, most: int) -> int:
        return self.laid_out(width, most).lineCount() * self.fontMetrics().lineSpacing() + SPACE // 2

    def set_most(self, width: int, most: int) -> None:
        self._most = most
        self.setFixedHeight(self.high(width, most))
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(220, self.fontMetrics().lineSpacing() + SPACE // 2)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(160, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        theme, painter = current_theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        focused, hot = self.hasFocus(), self.underMouse() and self.isEnabled()
        painter.setPen(QPen(QColor(theme.focus if focused else theme.border), 2 if focused else 1))
        ground = theme.selection if self.isChecked() else theme.raised if hot else theme.surface
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)
        self.laid_out(self.width(), self._most).draw(painter, QPointF(SPACE * 2 + self._cap(), SPACE / 4))
        chosen, high = self.isChecked(), grown(self, CAP)
        cap = QRectF(SPACE, (SPACE / 2 + self.fontMetrics().lineSpacing() - high) / 2, self._cap(), high)
        painter.setPen(QPen(QColor(theme.accent if chosen else theme.border), 1))
        painter.setBrush(QColor(theme.accent if chosen else theme.gutter))
        painter.drawRoundedRect(cap, 4, 4)
        painter.setPen(QColor(theme.accent_text if chosen else theme.text))
        painter.setFont(bold(self.font()))
        painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, "✓" if chosen else self._key)

    def _cap(self) -> int:
        words = QFontMetrics(bold(self.font())).horizontalAdvance(self._key) if len(self._key) > 1 else 0
        return max(grown(self, CAP), words + SPACE)


class KeysHelp(QWidget):
    """All keys of labelling; hidden until somebody asks for them."""

    def __init__(self, actions: LabelActions) -> None:
        super().__init__()
        self._lines = [
            ("1 – 9", "Label with the error mode on that button, and go on"),
            (f"Alt+1 – {len(actions.adds)}", "Add that error mode to others, or take it away, and stay"),
            (keys_of(actions.clean), "Nothing wrong: where passes are in turn"),
            (" ".join(map(keys_of, actions.accepts)), "Decide as the first, second, … annotator says"),
            *((keys_of(action), action.text()) for action in actions.steps.values()),
            ("?", "Show or hide these keys; F1 shows all"),
        ]
        grid = QGridLayout(self)
        grid.setContentsMargins(SPACE, SPACE // 2, SPACE, SPACE // 2)
        grid.setHorizontalSpacing(SPACE * 2)
        grid.setVerticalSpacing(2)
        self._keys = [label(keys) for keys, _ in self._lines]
        for place, (key, (_, what)) in enumerate(zip(self._keys, self._lines, strict=True)):
            embolden(key)
            grid.addWidget(key, place, 0)
            grid.addWidget(label(what, "muted", wrap=True), place, 1)
        grid.setColumnStretch(1, 1)
        self.hide()

    def name_digits(self, digits: int) -> None:
        self._keys[0].setText(f"1 – {digits}" if digits > 1 else "1")
        said = (f"{key.text()} {what}" for key, (_, what) in zip(self._keys, self._lines, strict=True))
        self.setAccessibleName("Keys: " + "; ".join(said))


class LabelSide(QWidget):
    """The modes, the note, the annotator and the switches beside a sample; what a click does is up to the panel."""

    def __init__(self, actions: LabelActions, choose: Callable[[int], None], add: Callable[[int], None]) -> None:
        """`choose(slot)` when a mode's button is clicked, `add(slot)` with Alt, Ctrl or Shift held down."""
        super().__init__()
        on_ground(self, "surface")
        self._actions, self._choose, self._add = actions, choose, add
        self.buttons: list[ModeButton] = []
        self.annotator = field("Annotator's name, stored with each label", "Annotator")
        self.note = field("Note, stored with the label", f"Note ({keys_of(actions.steps['note'])})")
        self.advance = switch("Go on", "Show the next sample after each label", True)
        self.blind = switch("Blind", "Hide verdict, run, author and the others' labels")
        self.large = switch("Large", "Give the labels the whole window")
        self.others = switch("Others", "Show what others said before you have labelled a sample")
        self.unconfirmed = label(role="muted", wrap=True)
        self.unconfirmed.setContentsMargins(SPACE, 0, SPACE, 0)
        self.unconfirmed.hide()
        self.history = called(label(role="muted", wrap=True, selectable=True), "Labels of this sample")
        self.keys = KeysHelp(actions)
        self._modes = column(spacing=3)
        self.annotator.setMaximumWidth(grown(self, WIDEST_NAME))
        # Apart, to stand below what scrolls: a note must not be out of sight.
        self.noting, parts = QWidget(), (self.note, self.advance, self.others)
        on_ground(self.noting, "surface")
        row(*parts, spacing=SPACE // 2, margins=BAR, owner=self.noting, grows=self.note)
        column(self._modes, self.history, self.keys, None, margins=BAR, spacing=3, owner=self)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        view, width = self.parentWidget(), self.width() - 2 * SPACE
        room = (view.height() if view is not None else self.height()) - SPACE - 3 * len(self.buttons)
        fits = (most for most in range(MOST_LINES, 1, -1) if sum(b.high(width, most) for b in self.buttons) <= room)
        most = next(fits, 1)
        for each in self.buttons:
            each.set_most(width, most)
        spare = room - sum(each.high(width, most) for each in self.buttons)
        for each in self.buttons:
            # Where not all have room for a line more, as many as have it are whole.
            more = each.high(width, MOST_LINES) - each.high(width, most)
            if more <= spare:
                each.set_most(width, MOST_LINES)
                spare -= more

    def offer(self, slots: Mapping[int, ErrorMode]) -> None:
        for old in self.buttons:
            discard(old)
        self.buttons = []
        for slot, mode in slots.items():
            action = self._actions.of(slot)
            each = ModeButton(mode, keys_of(action) if action is not None else "")
            self.buttons.append(each)
            each.clicked.connect(lambda _=False, slot=slot, on=each: (self._add if on.adding() else self._choose)(slot))
            self._modes.addWidget(each)
        self.keys.name_digits(sum(CLEAN < slot < KEYS.stop for slot in slots))
        self._fit()

    def ask_to_confirm(self, typed: str, kept: str) -> None:
        """Say that a name was typed that does not count yet; nothing where it is the one that holds."""
        stay = f"Esc: stay {kept}" if kept else "Esc: leave it"
        self.unconfirmed.setText(f"Enter: label as {typed or 'nobody'} · {stay}")
        self.unconfirmed.setVisible(typed != kept)

    def suggest(self, annotators: Sequence[str]) -> None:
        insensitive = Qt.CaseSensitivity.CaseInsensitive
        self.annotator.setCompleter(QCompleter(list(annotators), self.annotator, caseSensitivity=insensitive))

    def choose(self, modes: Collection[str]) -> None:
        for each in self.buttons:
            each.setChecked(each.mode.id in modes)

    def tell(self, lines: Sequence[str]) -> None:
        self.history.setText("\n".join(lines))
        self.history.setVisible(bool(lines))
