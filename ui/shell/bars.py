"""The bars around the views: what is asked for above, problems and offers below it, the run at the bottom."""

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QMenu,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from rtc_inspector.core.errors import InspectorError, StoreError
from rtc_inspector.core.kinds import TASKS, Measure, counted, noun, task
from rtc_inspector.core.run.events import Progress
from rtc_inspector.core.store.rows import GROWING, NOTHING, RunRow
from rtc_inspector.core.types import Estimate
from rtc_inspector.ui.background.coordinator import RunState
from rtc_inspector.ui.shell.fields import Choice, ChoiceBox, window_words
from rtc_inspector.ui.shell.search import SearchField
from rtc_inspector.ui.style.controls import (
    ElidedLabel,
    PushButton,
    breakable,
    button,
    called,
    column,
    discard,
    give_role,
    label,
    on_ground,
    row,
    to_clipboard,
)
from rtc_inspector.ui.style.fonts import grown, write_fixed
from rtc_inspector.ui.style.icons import icon
from rtc_inspector.ui.style.region_state import number
from rtc_inspector.ui.style.theme import SPACE

KEPT = 50  # notices kept; the oldest go first
VEIL = "Something needs your attention; it may tell what is hidden."
STORE_VEIL = "Something could not be stored, perhaps your last label."
LIFT = "Leave blind mode to read it."


@dataclass(frozen=True, slots=True)
class NoticeText:
    """One notice. `details` is for a report of a bug; empty otherwise. `veil` stands for it while blind.

    `topic` names what it is about, so that it can be withdrawn when that holds no longer. `everywhere`: not about the
    project that is open, so that it is shown over others as well.
    """

    problem: str
    remedy: str = ""
    details: str = ""
    bad: bool = False
    veil: str = VEIL
    topic: str = ""
    everywhere: bool = False

    def as_text(self) -> str:
        return "\n".join(part for part in (self.problem, self.remedy, self.details) if part)


def from_error(error: BaseException) -> NoticeText:
    """Return what to say about an exception: its own sentences, or that it is ours to mend."""
    if isinstance(error, StoreError):
        return NoticeText(error.problem, error.remedy, bad=True, veil=STORE_VEIL, everywhere=True)
    if isinstance(error, InspectorError):
        return NoticeText(error.problem, error.remedy, bad=True)
    details = "".join(traceback.format_exception(error))
    problem = f"Something went wrong that should not have: {type(error).__name__}: {error}"
    return NoticeText(problem, "Nothing stored is lost. Copy the details into a report.", details, bad=True)


def say_in_place(
    error: Exception, say: Callable[[str, str], object], heading: str, report: Callable[[Exception], object]
) -> None:
    """Have the part that asked `say` what the user can mend; of a bug it says that much, and a notice tells more."""
    if isinstance(error, InspectorError):
        say(window_words(error.problem), window_words(error.remedy))
    else:
        report(error)
        say(heading, "Something unexpected happened: see the notice above.")


class NoticeBar(QFrame):
    """Shows the newest notice of the project that is looked at; older ones are a click away.

    Notices of another project are kept until that one is looked at again.
    """

    def __init__(self) -> None:
        super().__init__()
        self._all: list[tuple[NoticeText, Path | None]] = []
        self._project: Path | None = None
        self._at = 0
        self._held = False
        self.problem, self.remedy, self.place = label(wrap=True), label(wrap=True), label(role="caption")
        self.details = called(QPlainTextEdit(readOnly=True), "Details of the problem")
        self._buttons = {
            "previous": button("", "Newer notice", lambda: self._turn(-1), icon="previous"),
            "next": button("", "Older notice", lambda: self._turn(1), icon="next"),
            "details": button("Details", "Show details", self._show_details),
            "copy": button("", "Copy notice", lambda: to_clipboard(self.notices[self._at].as_text()), icon="copy"),
            "close": button("", "Dismiss notice", self._dismiss, icon="close"),
        }
        self.setAccessibleName("Notice")
        for said in (self.problem, self.remedy):
            said.setMinimumWidth(1)  # whatever it says, the window stays as wide as it is
            said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        write_fixed(self.details, 8.5)
        self.details.setMaximumHeight(110)
        self.details.hide()
        words = column(self.problem, self.remedy, spacing=2)
        head = row(words, self.place, spacing=SPACE // 2, grows=words)
        for each in self._buttons.values():
            head.addWidget(each, 0, Qt.AlignmentFlag.AlignTop)
        self._buttons["details"].setCheckable(True)
        column(head, self.details, margins=(SPACE * 2, SPACE, SPACE, SPACE), spacing=SPACE, owner=self)
        self.hide()

    @property
    def notices(self) -> list[NoticeText]:
        return [notice for notice, place in self._all if place in (None, self._project)]

    def look_at(self, project: Path | None) -> None:
        if project != self._project:
            self._project, self._at = project, 0
            self._refresh()

    def say(self, notice: NoticeText, project: Path | None = None) -> None:
        """Show a notice about `project`, else about the one that is looked at; the same one is not doubled."""
        entry = notice, None if notice.everywhere else project or self._project
        # Comes to the front: a problem that happens again is news.
        self._all = [entry, *(each for each in self._all if each != entry)][:KEPT]
        self._at = 0
        if entry[1] not in (None, self._project):
            return
        # While an annotator is blind only problems show, and of these no word that could tell the run.
        if notice.bad or not self._held:
            self._show()

    def hold(self, held: bool) -> None:
        """Keep everything for later, what is shown too, or show it again; of a problem it is said that there is one."""
        self._held = held
        self._refresh()

    def _refresh(self) -> None:
        self._show()
        self.setVisible(bool(self.notices) and not self._held)

    def report(self, error: BaseException, topic: str = "", project: Path | None = None) -> None:
        self.say(replace(from_error(error), topic=topic), project)

    def warn(self, problem: str) -> None:
        self.say(NoticeText(problem, bad=True))

    def withdraw(self, topic: str) -> None:
        left = [each for each in self._all if each[0].topic != topic]
        if len(left) < len(self._all):
            self._all, self._at = left, 0
            if not self._held:
                self._show()

    def _turn(self, step: int) -> None:
        self._at = (self._at + step) % len(self.notices)
        self._show()

    def _dismiss(self) -> None:
        if self._held:
            self.hide()
            return
        gone = self.notices[self._at]
        self._all = [each for each in self._all if each[0] is not gone]
        self._at = 0
        self._show()

    def _show(self) -> None:
        notices = self.notices
        self.setVisible(bool(notices))
        if not notices:
            return
        notice, several = notices[self._at], len(notices) > 1 and not self._held
        if self._held:
            notice = NoticeText(notice.veil, LIFT, bad=True)
        give_role(self, "notice-bad" if notice.bad else "notice")
        self.problem.setText(breakable(window_words(notice.problem)))
        self.remedy.setText(breakable(window_words(notice.remedy)))
        self.remedy.setVisible(bool(notice.remedy))
        self.place.setText(f"{self._at + 1} of {len(notices)}")
        self.details.setPlainText(notice.details)
        for widget in (self.place, self._buttons["previous"], self._buttons["next"]):
            widget.setVisible(several)
        self._buttons["copy"].setVisible(not self._held)
        self._buttons["details"].setVisible(bool(notice.details))
        self._buttons["details"].setChecked(False)
        self._show_details()

    def _show_details(self) -> None:
        self.details.setVisible(self._buttons["details"].isChecked())


Answer = tuple[str, Callable[[], object] | None]  # words on a button, and what it does besides ending the offer


@dataclass(frozen=True, slots=True)
class Offer:
    """`key` names it; the first of `choices` is the one that most will want."""

    key: str
    text: str
    choices: Sequence[Answer]


class OfferBar(QFrame):
    """Shows one offer at a time; any choice ends it."""

    def __init__(self) -> None:
        super().__init__()
        self.offers: list[Offer] = []
        self._held = False
        self.setProperty("role", "offer")
        self.setAccessibleName("Offer")
        self.text = label(wrap=True)
        self.text.setMinimumWidth(1)  # whatever it says, the window stays as wide as it is
        self.buttons: list[QPushButton] = []
        self._row = row(self.text, margins=(SPACE * 2, SPACE, SPACE, SPACE), owner=self, grows=self.text)
        self.hide()

    def offer(self, offer: Offer) -> None:
        self.offers = [each for each in self.offers if each.key != offer.key] + [offer]
        self._show()

    def withdraw(self, key: str) -> None:
        self.offers = [each for each in self.offers if each.key != key]
        self._show()

    def hold(self, held: bool) -> None:
        self._held = held
        self._show()

    def _show(self) -> None:
        for each in self.buttons:
            discard(each)
        self.buttons = []
        self.setVisible(bool(self.offers) and not self._held)
        if self.offers:
            offer = self.offers[0]
            self.text.setText(breakable(offer.text))
        for place, (words, act) in enumerate(offer.choices if self.offers else ()):
            button = called(PushButton(words), f"{words}: {offer.text}", role="" if place else "primary")
            button.clicked.connect(partial(self._choose, offer.key, act))
            self._row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
            self.buttons.append(button)

    def _choose(self, key: str, act: Callable[[], object] | None, checked: bool = False) -> None:
        self.withdraw(key)
        if act is not None:
            act()


WAITING = {RunState.PAUSED: "paused", RunState.STOPPING: "stopping"}
"""What is said of a run that is at work no more, or not now."""
LONGEST_NAME = 40  # characters of a run's name; the tip has the whole


def run_summary(run: RunRow | None) -> str:
    """Return the run in one line."""
    if run is None:
        return "No run yet"
    parts = [
        f"run {run.id}",
        f"{run.items_complete}/{run.items_expected} {noun(run.task)}s" if run.regions_wanted else "tried by hand",
    ]
    parts += [_score(run, each) for each in _shown(run)]
    parts += run.remarks
    if run.headline.few:
        parts.append(f"few {noun(run.task)}s")
    if run.status in GROWING and run.headline.value is not None:
        parts.append("provisional")
    if run.items_dropped:
        parts.append(f"{run.items_dropped} dropped")
    if run.name and run.name not in parts:
        name = run.name if len(run.name) <= LONGEST_NAME else f"{run.name[: LONGEST_NAME - 1].rstrip()}…"
        parts.append(f"“{name}”")
    return " · ".join([*parts, run.models])


def run_details(run: RunRow) -> str:
    """Return what the line has no room for: on how many items each figure rests, and what it says."""
    kind = task(run.task)
    lines = [f"Run {run.id}{run.name and f' “{run.name}”'}: {kind.title}, {run.models}"]
    for each in _shown(run):
        n = run.scores.get(each.name, NOTHING).n
        lines.append(f"{_score(run, each)}, over {counted(n, kind.noun)}: {each.tip}.")
    return "\n".join([*lines, "In brackets: the bounds of 95 of 100 other draws from the same source."])


def _shown(run: RunRow) -> list[Measure]:
    kind = task(run.task)
    found = [each for each in (kind.measure(kind.headline), kind.difference) if each is not None]
    if kind.difference is not None and kind.difference.less is not None:
        found.append(kind.measure(kind.difference.less[1]))
    return [*found, *(kind.measure(name) for name in kind.beside)]


def _score(run: RunRow, measure: Measure) -> str:
    return f"{measure.title} {score(run.scores.get(measure.name, NOTHING), sign=measure.lowest < 0)}"


def score(value: Estimate, sign: bool = False) -> str:
    """Return a score with its interval."""
    low, high, to = number(value.low, sign), number(value.high, sign), " to " if sign else "–"
    bounds = "" if None in (value.value, value.low, value.high) else f" ({low}{to}{high})"
    return f"{number(value.value, sign)}{bounds}"


def duration(seconds: float) -> str:
    """Return a time in words that a person can read."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"


class StatusLine(QWidget):
    """Left the run that is shown; right this window's own run, and how many wait."""

    def __init__(self) -> None:
        super().__init__()
        on_ground(self, "status")
        self.summary, self.state, self.pace = ElidedLabel(), label(), label(role="muted")
        self.bar = called(QProgressBar(textVisible=False), "Progress")
        self.queue = called(QToolButton(), tip="Look at the queue of runs", role="in-line")
        self._state = RunState.IDLE
        self._progress: Progress | None = None
        self._run: RunRow | None = None
        self._own: int | None = None
        self._elsewhere = ""
        self.summary.setText(run_summary(None))
        self.summary.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.summary.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.summary.setAccessibleDescription("Run that is shown")
        self.pace.setAccessibleDescription("Progress of the run in this window")
        self.bar.setFixedSize(120, 4)
        self.bar.hide()
        self.state.hide()
        parts = (self.state, self.summary, self.pace, self.bar, self.queue)
        margins = SPACE + 4, SPACE // 2, SPACE + 4, SPACE // 2
        row(*parts, margins=margins, spacing=SPACE + 4, owner=self, grows=self.summary)

    def show_run(self, run: RunRow | None) -> None:
        self._run = run
        self.pace.setText(self._words())
        self.summary.setText(run_summary(run))
        self.summary.setToolTip(run_details(run) if run else "")
        self._show_status()

    def show_state(self, state: RunState, own: int | None = None, elsewhere: str = "") -> None:
        """Show whether this window's run goes, waits or ends.

        `own` is its id, once it has one; `elsewhere` names its database where that is not the one on show.
        """
        self._state, self._own, self._elsewhere = state, own, elsewhere
        if state is RunState.IDLE:
            self._progress = None
        self._refresh()
        self._show_status()

    def _show_status(self) -> None:
        """Show what the store says of the run; of one that this window holds or ends, show what is happening."""
        run = self._run
        status = run.status if run else ""
        # What is tried by hand in a run that has ended is at work all the same.
        if run is not None and self._is_own(run) and self._state is not RunState.IDLE:
            status = WAITING.get(self._state, "running")
        self.state.setText(status)
        self.state.setVisible(run is not None)
        good = {"finished": "good", "running": "muted"}
        give_role(self.state, good.get(status, "warn") if run else "muted")

    def _is_own(self, run: RunRow) -> bool:
        return run.id == self._own and not self._elsewhere

    def show_queue(self, waiting: int, held: bool) -> None:
        self.queue.setVisible(waiting > 0)
        self.queue.setText(f"{waiting} queued" + (", held" if held else ""))
        self.queue.setAccessibleName(f"Queue of runs: {self.queue.text()}")

    def show_progress(self, progress: Progress) -> None:
        self._progress = progress
        self._refresh()

    def _refresh(self) -> None:
        progress = self._progress
        self.bar.setVisible(self._state is not RunState.IDLE)
        if progress is None or progress.total <= 0:
            self.bar.setRange(0, 0)
        else:
            self.bar.setRange(0, progress.total)
            self.bar.setValue(progress.done)
        self.pace.setText(self._words())

    def _words(self) -> str:
        parts = [WAITING[self._state]] if self._state in WAITING else []
        # The line begins with the run on show: what is said of another one names it.
        shown = self._run is not None and self._is_own(self._run)
        named = self._own is not None and self._state is not RunState.IDLE and not shown
        if named:
            parts.insert(0, f"run {self._own}{self._elsewhere and f' in {self._elsewhere}'} at work")
        progress = self._progress
        if progress is None:
            return " · ".join([*parts, "starting"]) if self._state is RunState.RUNNING else " · ".join(parts)
        count = f" {progress.done}/{progress.total}" if progress.total > 1 else ""
        parts.append(f"{progress.stage}{count}")
        if progress.detail and not named:  # the run on show has more to say
            parts.append(progress.detail)
        if progress.tokens_per_second is not None:
            parts.append(f"{progress.tokens_per_second:.0f} tok/s")
        if progress.eta is not None and self._state is RunState.RUNNING:
            parts.append(f"ETA {duration(progress.eta)}")
        return " · ".join(parts)


FILE, FOLDER, SERVER, DOWNLOAD = MORE_MODELS = ("Choose file…", "Choose folder…", "Model server…", "Download…")
WHOLE, ROOMY, WIDE = 0, 1050, 1400
"""Pixels: a box that is never shortened; the least widths, for text of the usual size, with words on every button, and
with a stopped run's count on its own."""
SAME_MODEL = Choice("Same as forward", "", "The model that describes also writes")


class TopBar(QWidget):
    """Emits what the user wants; decides nothing."""

    run_asked = Signal()
    resume_asked = Signal()

    def __init__(self, menu: QMenu, runs: QMenu) -> None:
        """`menu` opens from the button at the left, `runs` from the one beside the search field."""
        super().__init__()
        on_ground(self, "bar")
        self.project = ChoiceBox("Project", "Open folder…")
        self.task = ChoiceBox("Task")
        self.forward = ChoiceBox("Forward model", *MORE_MODELS)
        self.backward = ChoiceBox("Backward model", *MORE_MODELS)
        at_once = QToolButton.ToolButtonPopupMode.InstantPopup
        self.menu_button, self.runs_button = QToolButton(popupMode=at_once), QToolButton(popupMode=at_once)
        self.run = called(button("Run", "Start a run", self._ask_run, flat=False), role="primary")
        self._fresh = QMenu(self)
        self._fresh.addAction("New run").triggered.connect(lambda: self.run_asked.emit())
        self._state, self._resumes = RunState.IDLE, ""
        self.pause = button("", "Pause", flat=False)
        self.stop = button("", "Stop; the run can be resumed", flat=False, icon="stop")
        self.settings = button("", "Run settings", flat=False, icon="settings")
        self.search = SearchField()
        self.project.box.setPlaceholderText("None open")
        self.offer_tasks({}, next(iter(TASKS)))
        self.run.setIcon(icon("run", "accent_text"))
        self.run.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        for opens, entries, name in ((self.menu_button, menu, "Menu"), (self.runs_button, runs, "Runs")):
            opens.setIcon(icon(name.lower()))
            opens.setMenu(entries)
            called(opens, name, tip=name)
        self.menu_button.setProperty("role", "bare")
        self.runs_button.setText("Runs")
        self.runs_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        line = row(margins=(SPACE, SPACE // 2 + 2, SPACE + 4, SPACE), owner=self)
        bottom = Qt.AlignmentFlag.AlignBottom
        line.addWidget(self.menu_button, 0, bottom)
        for box, stretch, widest in (
            (self.project, 13, 300),
            (self.task, 0, WHOLE),
            (self.forward, 23, 480),
            (self.backward, 17, 480),
        ):
            if widest == WHOLE:
                box.box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
                box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
            else:
                # Names of models may be longer than any window: the bar shares out what room there is.
                box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
                box.setMaximumWidth(widest)
            line.addWidget(box, stretch, bottom)
        line.addSpacing(SPACE // 2)
        for each in (self.run, self.pause, self.stop, self.settings, self.runs_button):
            line.addWidget(each, 0, bottom)
        line.addStretch(1)
        self.search.setMaximumWidth(420)
        line.addWidget(self.search, 5, bottom)
        self.show_state(RunState.IDLE)

    def offer_tasks(self, unfit: Mapping[str, str], chosen: str) -> None:
        choices = [
            Choice(kind.title, kind.name, unfit.get(kind.name, kind.tip), usable=kind.name not in unfit)
            for kind in TASKS.values()
        ]
        self.task.set_choices(choices, chosen)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Hide the task and the word on a button where there is little room: the names of models come first."""
        super().resizeEvent(event)
        style = Qt.ToolButtonStyle
        narrow = self.width() < grown(self, ROOMY)
        self.runs_button.setToolButtonStyle(style.ToolButtonIconOnly if narrow else style.ToolButtonTextBesideIcon)
        self.task.setVisible(not narrow)  # the run settings have it too
        self.show_state(self._state)

    def offer_resume(self, progress: str) -> None:
        """Have the button go on with the run on show, which was stopped after so much; empty where there is none."""
        self._resumes = progress
        self.show_state(self._state)

    def _ask_run(self) -> None:
        (self.resume_asked if self._resumes and self._state is RunState.IDLE else self.run_asked).emit()

    def show_state(self, state: RunState) -> None:
        self._state = state
        busy = state is not RunState.IDLE
        going = state in (RunState.RUNNING, RunState.PAUSED)
        resumes = bool(self._resumes) and not busy
        counted = f" ({self._resumes})" if self.width() >= grown(self, WIDE) else ""
        self.run.setText("Queue" if busy else f"Resume{counted}" if resumes else "Run")
        stopped = f"Go on with the run that was stopped, {self._resumes} done; the arrow or the key starts a new one"
        tip = stopped if resumes else "Start a run"
        _say(self.run, "Let a run wait for its turn" if busy else tip)
        self.run.setMenu(self._fresh if resumes else None)  # type: ignore[arg-type]
        popup = QToolButton.ToolButtonPopupMode
        self.run.setPopupMode(popup.MenuButtonPopup if resumes else popup.DelayedPopup)
        self.pause.setEnabled(going)
        self.stop.setEnabled(going)
        paused = state is RunState.PAUSED
        self.pause.setIcon(icon("run" if paused else "pause"))
        _say(self.pause, "Go on" if paused else "Pause after what is in flight")


def _say(control: QToolButton, words: str) -> None:
    _, mark, keys = control.toolTip().partition(" (")
    control.setToolTip(words + mark + keys)
    control.setAccessibleName(words)
