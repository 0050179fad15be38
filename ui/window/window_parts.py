"""The window's widgets and where they stand.

The list of regions has the window's whole height at the left, since it is what people walk through; the tabs below
the code share their width with the round trip.
"""

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QByteArray, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QSplitter, QTabWidget, QWidget

from rtc_inspector.core.kinds import Kind
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.code.view import CodeView
from rtc_inspector.ui.labels.controls import LabelQueueBar
from rtc_inspector.ui.labels.panel import LabelsPanel
from rtc_inspector.ui.panels.roundtrip import RoundTripPanel
from rtc_inspector.ui.panels.run import Preparing, RunPanel
from rtc_inspector.ui.panels.sample_tabs import DiffPanel, MetricsPanel, PromptPanel, TestsPanel, WidePanel
from rtc_inspector.ui.project.history import HistoryPanel
from rtc_inspector.ui.project.regions import RegionTable
from rtc_inspector.ui.project.tree import ProjectTree
from rtc_inspector.ui.shell.bars import NoticeBar, OfferBar, StatusLine, TopBar
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.shell.welcome import Welcome
from rtc_inspector.ui.style.controls import Section, called, column, split, stacked

LEFT, ROUND_TRIP = 0.26, 0.31  # shares of the window's width; the code has the rest
WIDEST_LEFT, WIDEST_ROUND_TRIP = 530, 640
NARROWEST_LEFT = 236  # pixels in which a file's name is still read
CODE, TABS = 0.57, 0.43
TREE, REGIONS = 0.35, 0.65  # shares of the height
NARROW, LOW = 1100, 700
"""Pixels of a window, while it becomes smaller, below which each pane gets its share again: none has room to spare."""
LABELLING, DESK, CONTEXT = 0.66, 510, 120
"""Share of the tabs while labelling; in a low window the pixels in which all definitions are whole, as far as those are
left that show some lines of code above."""
FOLDED = "folded"  # under this name the panes are remembered that are out of sight
STRETCH = {"whole": (0, 1), "upper": (1, 0), "right": (1, 0), "left": (0, 1)}
"""Which part of each splitter takes the room that a larger window gives."""


class WindowParts(QWidget):
    """Builds and arranges; joins nothing."""

    folds_changed = Signal()  # panes were folded or shown

    def __init__(self, gateway: Gateway, menu: QMenu, runs: QMenu, welcome: Welcome) -> None:
        super().__init__()
        self.bar = TopBar(menu, runs)
        self.notices, self.offers = NoticeBar(), OfferBar()
        self.tree, self.regions = ProjectTree(), RegionTable()
        self.code = CodeView(gateway)
        self.welcome = welcome
        self.roundtrip = RoundTripPanel()
        self.diff, self.tests = DiffPanel(), TestsPanel()
        self.wide = WidePanel()
        self.prompt, self.metrics, self.run = PromptPanel(), MetricsPanel(), RunPanel(self.notices.warn)
        self.history = HistoryPanel(gateway)
        self.preparing = Preparing()
        self.labels, self.queue = LabelsPanel(), LabelQueueBar()
        self.desk = QWidget()
        self.status = StatusLine()
        self.tabs = called(QTabWidget(documentMode=True), "Details of the sample and the run")
        self._splitters: dict[str, QSplitter] = {}
        self.folded: set[str] = set()  # the panes that are out of sight
        self._before_labels: list[int] | None = None
        self._alone = self._large = False
        column(self.queue, self.labels, owner=self.desk)
        self.tabs.addTab(self.diff, "Diff")
        self.tabs.addTab(self.tests, "Tests")
        self.tabs.addTab(self.wide, "Trace")
        self.tabs.addTab(self.prompt, "Prompt")
        self.tabs.addTab(self.metrics, "Metrics")
        self.tabs.addTab(self.desk, "Labels")
        self.tabs.addTab(self.run, "Run")
        self.tabs.addTab(self.history, "History")
        vertical, horizontal = Qt.Orientation.Vertical, Qt.Orientation.Horizontal
        self._items = regions = Section("REGIONS", self.regions, self.regions.count)
        left = self._split("left", vertical, Section("PROJECT", self.tree), regions)
        self._trip = trip = Section("ROUND TRIP", self.roundtrip)
        upper = self._split("upper", horizontal, self.code, trip)
        right = self._split("right", vertical, upper, self.tabs)
        left.setMinimumWidth(NARROWEST_LEFT)
        self._upper = upper
        self._panes: dict[str, QWidget] = {"lists": left, "trip": trip, "tabs": self.tabs}
        self._middle = stacked(right, self.preparing)
        self.preparing.left.connect(lambda: self.prepare(False))
        self.roundtrip.describing.connect(self._leave_labels)
        whole = self._split("whole", horizontal, left, self._middle)
        self._whole = whole
        self._under: QWidget = self.welcome
        self._over: list[QWidget] = []  # pages in the place of the views, e.g. a comparison; the last one is seen
        self._pages = stacked(self.welcome, whole)
        parts = self.bar, self.notices, self.offers, self._pages, self.status
        self._column = column(*parts, owner=self, grows=self._pages)
        self.tabs.currentChanged.connect(lambda _: self._show_panes())

    def prepare(self, shown: bool) -> None:
        """Show in place of the code what a run does before its model writes, or the code and all beside it again."""
        large = self._large and self.tabs.currentWidget() is self.desk
        self._middle.setCurrentIndex(int(shown and not (self._alone or large)))

    def _split(self, name: str, direction: Qt.Orientation, *parts: QWidget) -> QSplitter:
        self._splitters[name] = made = split(direction, *parts, stretch=STRETCH[name])
        return made

    def set_kind(self, kind: Kind) -> None:
        self._items.heading.setText(kind.nouns.upper())
        self._trip.heading.setText("ROUND TRIP" if kind.describable else "SAMPLES")
        self.tabs.setTabVisible(self.tabs.indexOf(self.history), kind.source.name == "history")
        for part in (self.tree.files, self.regions, self.metrics, self.roundtrip):
            part.set_kind(kind)

    def show_labels_alone(self, alone: bool) -> None:
        self._alone = alone
        self.tabs.setCurrentWidget(self.desk)
        for part in (self.bar, self.status, self.tabs.tabBar()):
            part.setVisible(not alone)
        self._show_panes()
        for bar in (self.notices, self.offers):
            bar.hold(alone)

    def show_labels_large(self, large: bool) -> None:
        self._large = large
        self._show_panes()

    def commands(self) -> Mapping[str, Callable[[], object]]:
        return {
            "focus-project": partial(self.go_to, self.tree),
            "focus-regions": partial(self.go_to, self.regions.table),
            "focus-code": partial(self.go_to, self.code.editor),
            "focus-roundtrip": partial(self.go_to, self.roundtrip),
            "focus-tabs": partial(self.go_to, self.tabs.tabBar()),
            "history": self._show_history,
            "next-tab": self._next_tab,
            **{f"pane-{name}": partial(self._turn, name) for name in self._panes},
        }

    def go_to(self, part: QWidget) -> None:
        self.leave_page()
        if self._middle.currentWidget() is self.preparing and self._middle.isAncestorOf(part):
            self.preparing.left.emit()
        self.unfold_around(part)
        if self._upper.isAncestorOf(part):
            self._leave_labels()
        part.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _show_history(self) -> None:
        if not self.tabs.isTabVisible(self.tabs.indexOf(self.history)):
            return
        self.tabs.setCurrentWidget(self.history)
        self.go_to(self.history.table)

    def _next_tab(self) -> None:
        shown = [at for at in range(self.tabs.count()) if self.tabs.isTabVisible(at)]
        self.tabs.setCurrentIndex(shown[(shown.index(self.tabs.currentIndex()) + 1) % len(shown)])

    def _turn(self, pane: str) -> None:
        self.folded ^= {pane}
        self._show_panes()

    def unfold_around(self, part: QWidget) -> None:
        for name, pane in self._panes.items():
            if pane is part or pane.isAncestorOf(part):
                self.folded.discard(name)
        self._show_panes()

    def _show_panes(self) -> None:
        """Leave out what is folded, or all but the labels while these have the room of everything beside them."""
        labels = self._alone or (self._large and self.tabs.currentWidget() is self.desk)
        self._upper.setVisible(not labels)
        if labels:
            self.prepare(False)
        for name, pane in self._panes.items():
            pane.setVisible(not (name == "lists" if labels else name in self.folded))
        self.folds_changed.emit()

    def make_room_for_labels(self) -> None:
        """Give the tabs the greater part of the height while labels are on show, where they have less."""
        splitter = self._splitters["right"]
        upper, lower = splitter.sizes()
        wanted = max(int((upper + lower) * LABELLING), min(DESK, upper + lower - CONTEXT))
        if lower < wanted and self._upper.isVisible():
            # Asked twice, it must remember the height before the first time.
            self._before_labels = self._before_labels or [upper, lower]
            splitter.setSizes([upper + lower - wanted, wanted])

    def _leave_labels(self) -> None:
        if self._before_labels is not None:
            self._splitters["right"].setSizes(self._before_labels)
            self._before_labels = None

    def arrange(self, size: QSize, remembered: Remembered | None = None) -> None:
        self.resize(size)
        # Not shown yet, the widgets have no sizes of which splitters could take shares.
        self._column.activate()
        self._splitters["whole"].setGeometry(self._pages.rect())
        for name, sizes in self._shares(size.width(), size.height()).items():
            self._splitters[name].setSizes(sizes)
            state = remembered.state(name) if remembered else None
            if state is not None:
                self._splitters[name].restoreState(state)
        kept = remembered.state(FOLDED) if remembered else None
        self.folded = set(self._panes).intersection(bytes(kept.data()).decode().split()) if kept is not None else set()
        self._show_panes()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Share the room anew: in a small window no pane keeps what it had in a large one, and the other way round."""
        super().resizeEvent(event)
        before, now = event.oldSize(), event.size()
        shares = self._shares(now.width(), now.height())
        # The first sizes of a window that is being opened are no resizing by a user.
        grown = self.isVisible() and before.width() < NARROW <= now.width()
        if grown or now.width() < min(before.width(), NARROW):
            for name in ("whole", "upper"):
                self._splitters[name].setSizes(shares[name])
        if now.height() < min(before.height(), LOW):
            self._splitters["right"].setSizes(shares["right"])

    def _shares(self, width: int, height: int) -> dict[str, list[int]]:
        left, round_trip = min(int(width * LEFT), WIDEST_LEFT), min(int(width * ROUND_TRIP), WIDEST_ROUND_TRIP)
        return {
            "whole": [left, width - left],
            "left": [int(height * TREE), int(height * REGIONS)],
            "right": [int(height * CODE), int(height * TABS)],
            "upper": [width - left - round_trip, round_trip],
        }

    def keep_sizes(self, remembered: Remembered) -> None:
        """Remember the splitters as they are without the room that labels take for themselves."""
        self._alone = self._large = False
        self._show_panes()
        self._leave_labels()
        for name, splitter in self._splitters.items():
            remembered.keep_state(name, splitter.saveState())
        remembered.keep_state(FOLDED, QByteArray(" ".join(sorted(self.folded)).encode()))

    @property
    def shows_views(self) -> bool:
        return self._pages.currentIndex() != 0

    def show_views(self, wanted: bool) -> None:
        page = self._whole if wanted else self.welcome
        # A comparison stays on show while a run goes on below it.
        if not self._over and page is not self._pages.currentWidget():
            self._pages.setCurrentWidget(page)
            (self.regions.table if wanted else self.welcome).setFocus()
        self._under = page

    def show_page(self, page: QWidget) -> None:
        if self._over[-1:] != [page]:
            self._over = [*(each for each in self._over if each is not page), page]
            if self._pages.indexOf(page) < 0:
                self._pages.addWidget(page)
            self._pages.setCurrentWidget(page)
            page.setFocus()

    def shows(self, page: QWidget | None) -> bool:
        """Return whether a page is on show, or below another one."""
        return page in self._over

    def leave_page(self, page: QWidget | None = None) -> None:
        """Leave a page for what it stood over, or all pages for the views."""
        before = self._over
        self._over = [each for each in before if page is not None and each is not page]
        if self._over != before:
            shown = self._over[-1] if self._over else self._under
            self._pages.setCurrentWidget(shown)
            (self.regions.table if shown is self._whole else shown).setFocus()
