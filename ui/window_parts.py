"""The window's widgets and where they stand.

The list of regions has the window's whole height at the left, since it is what people walk through; the tabs below
the code share their width with the round trip.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QSplitter, QStackedWidget, QTabWidget, QVBoxLayout, QWidget

from ui.code.view import CodeView
from ui.gateway import Gateway
from ui.panels import DiffPanel, MetricsPanel, PromptPanel, RoundTripPanel, RunPanel, TestsPanel
from ui.project_tree import ProjectTree
from ui.region_table import RegionTable
from ui.shell.notices import NoticeBar
from ui.shell.remembered import Remembered
from ui.shell.section import Section
from ui.shell.status_line import StatusLine
from ui.shell.top_bar import TopBar
from ui.shell.welcome import Welcome
from ui.theme import Theme

LEFT, ROUND_TRIP = 0.26, 0.31
"""Shares of the window's width; the code has the rest."""
WIDEST_LEFT, WIDEST_ROUND_TRIP = 530, 640
CODE, TABS = 0.57, 0.43
TREE, REGIONS = 0.35, 0.65
"""Shares of the height."""


class WindowParts(QWidget):
    """Builds and arranges; joins nothing."""

    def __init__(self, theme: Theme, gateway: Gateway, menu: QMenu, runs: QMenu, welcome: Welcome) -> None:
        """Make every part in `theme`."""
        super().__init__()
        self.bar = TopBar(theme, menu, runs)
        self.notices = NoticeBar(theme)
        self.tree, self.regions = ProjectTree(theme), RegionTable(theme)
        self.code = CodeView(theme, gateway)
        self.welcome = welcome
        self.roundtrip = RoundTripPanel(theme)
        self.diff, self.tests = DiffPanel(theme), TestsPanel(theme)
        self.prompt, self.metrics, self.run = PromptPanel(theme), MetricsPanel(theme), RunPanel(theme)
        self.status = StatusLine()
        self.tabs = QTabWidget()
        self._pages = QStackedWidget()
        self._splitters: dict[str, QSplitter] = {}
        self._fill_tabs()
        self._lay_out()

    def _fill_tabs(self) -> None:
        self.tabs.setDocumentMode(True)
        self.tabs.setAccessibleName("Details of the sample and the run")
        named = (
            ("Diff", self.diff),
            ("Tests", self.tests),
            ("Prompt", self.prompt),
            ("Metrics", self.metrics),
            ("Run", self.run),
        )
        for title, panel in named:
            self.tabs.addTab(panel, title)

    def _lay_out(self) -> None:
        vertical, horizontal = Qt.Orientation.Vertical, Qt.Orientation.Horizontal
        regions = Section("REGIONS", self.regions, self.regions.count)
        left = self._split("left", vertical, Section("PROJECT", self.tree), regions)
        upper = self._split("upper", horizontal, self.code, Section("ROUND TRIP", self.roundtrip))
        right = self._split("right", vertical, upper, self.tabs)
        whole = self._split("whole", horizontal, left, right)
        self._pages.addWidget(self.welcome)
        self._pages.addWidget(whole)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part in (self.bar, self.notices):
            column.addWidget(part)
        column.addWidget(self._pages, 1)
        column.addWidget(self.status)

    def _split(self, name: str, direction: Qt.Orientation, *parts: QWidget) -> QSplitter:
        splitter = QSplitter(direction)
        splitter.setHandleWidth(1)
        splitter.setChildrenCollapsible(False)
        for part in parts:
            splitter.addWidget(part)
        self._splitters[name] = splitter
        return splitter

    def set_theme(self, theme: Theme) -> None:
        """Redraw everything in another theme."""
        panels = (self.roundtrip, self.diff, self.tests, self.prompt, self.metrics, self.run)
        for part in (self.bar, self.notices, self.tree, self.regions, self.code, *panels):
            part.set_theme(theme)

    def default_sizes(self, width: int, height: int) -> None:
        """Give every place its share; a wide screen's extra width goes to the code."""
        left, round_trip = min(int(width * LEFT), WIDEST_LEFT), min(int(width * ROUND_TRIP), WIDEST_ROUND_TRIP)
        self._splitters["whole"].setSizes([left, width - left])
        self._splitters["upper"].setSizes([width - left - round_trip, round_trip])
        self._splitters["right"].setSizes([int(height * CODE), int(height * TABS)])
        self._splitters["left"].setSizes([int(height * TREE), int(height * REGIONS)])
        for name, stretch in (("whole", (0, 1)), ("upper", (1, 0)), ("right", (1, 0)), ("left", (0, 1))):
            for index, share in enumerate(stretch):
                self._splitters[name].setStretchFactor(index, share)

    def keep_sizes(self, remembered: Remembered) -> None:
        """Remember the splitters."""
        for name, splitter in self._splitters.items():
            remembered.keep_state(name, splitter.saveState())

    def restore_sizes(self, remembered: Remembered) -> None:
        """Bring remembered splitters back."""
        for name, splitter in self._splitters.items():
            state = remembered.state(name)
            if state is not None:
                splitter.restoreState(state)

    def show_views(self, wanted: bool) -> None:
        """Show the views, or the welcome page."""
        self._pages.setCurrentIndex(1 if wanted else 0)
