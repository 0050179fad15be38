"""Everything the window can be told to do, as actions with keys; the menu and the list of keys are made from them."""

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QAbstractScrollArea, QMenu, QWidget

from rtc_inspector.ui.labels.controls import keys_of
from rtc_inspector.ui.style.appearance import CHOICES

KeyGroup = tuple[str, Sequence[tuple[str, str]]]  # a heading, and below it what keys do, each with its keys

Entry = tuple[str, str, str]  # name, words, keys (several separated by a space)
Offered = QAction | tuple[str, Callable[[], object]]  # an action of the window, or words and what they do

GROUPS: Mapping[str, Sequence[Entry]] = {
    "Project": (
        ("open-project", "Open &folder…", "Ctrl+O"),
        ("open-file", "Open &benchmark or notebook…", "Ctrl+Alt+O"),
        ("open-database", "Open &database…", "Ctrl+Shift+O"),
        ("reload", "&Read files again", "F5"),
    ),
    "Run": (
        ("run", "New &run", "Ctrl+R"),
        ("pause", "&Pause, or go on", "Ctrl+Shift+P"),
        ("stop", "&Stop", "Ctrl+."),
        ("resume", "Res&ume this run", "Ctrl+Shift+U"),
        ("settings", "Run se&ttings…", "Ctrl+,"),
        ("runs", "&All runs…", "Ctrl+E"),
        ("queue", "&Queue of runs…", "Ctrl+Shift+E"),
        ("compare", "Co&mpare runs…", "Ctrl+M"),
        ("audit", "Metric &audit…", "Ctrl+Shift+Y"),
        ("report", "&Write a report…", "Ctrl+Shift+R"),
        ("check", "Ask the tests about the se&lection", "F6"),
        ("probe", "Round trip on the s&election", "F7"),
        ("describe", "&Describe it myself…", "Ctrl+D"),
        ("ask", "&Write an item in words…", "Ctrl+Shift+D"),
        ("follow", "&Follow the run", "Ctrl+L"),
    ),
    "Go": (
        ("go-to", "&Go to file, region, edit or command…", "Ctrl+K Ctrl+P"),
        ("next-region", "&Next region or edit", "F8"),
        ("previous-region", "&Previous region or edit", "Shift+F8"),
        ("next-failure", "Next &failure", "F9"),
        ("previous-failure", "Previous fai&lure", "Shift+F9"),
        ("find", "Find in f&ile…", "Ctrl+F"),
        ("search", "&Search in project…", "Ctrl+Shift+F"),
        ("focus-project", "Pro&ject files", "Ctrl+1"),
        ("focus-regions", "&Regions or edits", "Ctrl+2"),
        ("focus-code", "&Code", "Ctrl+3"),
        ("focus-roundtrip", "Sa&mples", "Ctrl+4"),
        ("focus-tabs", "&Diff, tests, prompt", "Ctrl+5"),
        ("labels", "La&bels", "Ctrl+6"),
        ("history", "&History", "Ctrl+7"),
        ("next-tab", "Ne&xt tab below", "Ctrl+T"),
        ("menu", "&Menu", "F10"),
    ),
    "Labels": (
        ("adjudicate", "&Decide where annotators differ", "Ctrl+Shift+A"),
        ("agreement", "&Agreement of annotators…", "Ctrl+Shift+G"),
        ("error-modes", "&Error modes…", "Ctrl+Shift+M"),
    ),
    "View": (
        ("larger", "&Larger code", "Ctrl++ Ctrl+="),
        ("smaller", "&Smaller code", "Ctrl+-"),
        ("candidates", "Show &candidates", "Alt+C"),
        ("dropped", "Show &dropped regions", "Alt+D"),
        ("pane-lists", "&Lists at the left", "Ctrl+B"),
        ("pane-trip", "Sa&mples beside the code", "Ctrl+Shift+B"),
        ("pane-tabs", "&Tabs below the code", "Ctrl+J"),
        ("big-figures", "&Figures for a room", "F11"),
        ("reset-layout", "&Reset layout", "Ctrl+0"),
    ),
    "Help": (
        ("preferences", "Se&ttings…", "Ctrl+Alt+S"),
        ("help", "&Help: method and keys", "F1 ?"),
        ("tour", "T&our", ""),
        ("guide", "What this run sho&ws", ""),
        ("recorded", "Recorded run of the &demo", ""),
        ("quit", "&Quit", "Ctrl+Q"),
    ),
}
PANES = ("lists", "trip", "tabs")
WHILE_BLIND = frozenset({"labels", "adjudicate", "error-modes", "help", "larger", "smaller", "pause", "stop", "quit"})
"""What the window still does while an annotator is blind."""
CHECKABLE = frozenset({"follow", *(f"pane-{name}" for name in PANES)})


class WindowActions:
    """The actions by name, all of them live in the window."""

    def __init__(self, window: QWidget) -> None:
        self._window = window
        self._groups = {title: [self._make(*entry) for entry in entries] for title, entries in GROUPS.items()}
        self._by_name = {action.objectName(): action for action in self.all()}

    def __getitem__(self, name: str) -> QAction:
        return self._by_name[name]

    def key_groups(self) -> list[KeyGroup]:
        return [
            (title, [(action.text().replace("&", "").rstrip("…"), keys_of(action, ", ")) for action in actions])
            for title, actions in self._groups.items()
        ]

    def all(self) -> list[QAction]:
        return [action for actions in self._groups.values() for action in actions]

    def connect(self, handlers: Mapping[str, Callable[[], object]]) -> None:
        for name, handler in handlers.items():
            self._by_name[name].triggered.connect(lambda _=False, call=handler: call())

    def hold_back(self, blind: bool) -> None:
        """Put out of reach what could show a blind annotator the run, its model or a verdict; or give it back."""
        for name, action in self._by_name.items():
            if name not in WHILE_BLIND:
                action.setEnabled(not blind)

    def fill(self, menu: QMenu, extra: Mapping[str, QMenu]) -> None:
        for title, actions in self._groups.items():
            if title == "Help":
                menu.addSeparator()
                menu.addActions(actions)
                continue
            part = menu.addMenu(title)
            part.addActions([action for action in actions if action.objectName() != "menu"])
            if title in extra:
                part.addSeparator()
                part.addMenu(extra[title])

    def _make(self, name: str, words: str, keys: str) -> QAction:
        action = QAction(words, self._window)
        action.setObjectName(name)
        action.setShortcuts([QKeySequence(key) for key in keys.split()])
        action.setCheckable(name in CHECKABLE)
        # An action that stands in no menu that was opened yet has its key all the same.
        self._window.addAction(action)
        return action


def offer_menu(view: QWidget, entries: Callable[[], Sequence[Offered]]) -> None:
    """Show what `entries` gives as a menu where the right button or the menu key asks for one; nothing where empty."""
    ground = view.viewport() if isinstance(view, QAbstractScrollArea) else view

    def show(place: QPoint) -> None:
        menu = QMenu(view)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for each in entries():
            if isinstance(each, QAction):
                menu.addAction(each)
            else:
                # The default value keeps this turn's act.
                menu.addAction(each[0]).triggered.connect(lambda _=False, act=each[1]: act())
        if menu.actions():
            menu.popup(ground.mapToGlobal(place))

    view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
    view.customContextMenuRequested.connect(show)


def theme_menu(window: QWidget, now: Callable[[], str], choose: Callable[[str], object]) -> QMenu:
    """Return a menu of system, light and dark, one of which is on."""
    menu, group = QMenu("Theme", window), QActionGroup(window)
    for choice in CHOICES:
        action = menu.addAction(choice.capitalize())
        action.setCheckable(True)
        action.triggered.connect(lambda _=False, choice=choice: choose(choice))
        action.setData(choice)
        group.addAction(action)

    def check() -> None:
        for action in menu.actions():
            action.setChecked(action.data() == now())

    menu.aboutToShow.connect(check)
    return menu
