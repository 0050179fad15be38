"""Settings and tour of one window: what the dialog changes takes hold here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from rtc_inspector.ui.keys.keymap import KeyMap
from rtc_inspector.ui.keys.keys_dialog import KeysDialog
from rtc_inspector.ui.shell.fields import show_modal
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.shell.settings_dialog import LARGEST, SMALLEST, SettingsDialog
from rtc_inspector.ui.shell.tour import Step, Tour
from rtc_inspector.ui.style.appearance import Appearance
from rtc_inspector.ui.style.fonts import CODE_POINTS, fixed_font


class Preferences(QObject):
    """Opens the dialog and the tour; keeps the size of the code.

    `code_sized(font)` when code is to be written in another size; `sandbox_chosen(name)`, `annotator_named(name)` and
    `models_changed` when that was changed in the dialog; `tour_ended`.
    """

    code_sized = Signal(object)
    sandbox_chosen = Signal(str)
    annotator_named = Signal(str)
    models_changed = Signal()
    tour_ended = Signal()

    def __init__(
        self,
        window: QWidget,
        appearance: Appearance,
        remembered: Remembered,
        keymap: KeyMap,
        sandbox: Callable[[], str],
        steps: Callable[[], Sequence[Step]],
    ) -> None:
        """Dialogs stand over `window`; `sandbox` says which one is chosen, `steps` make the tour."""
        super().__init__(window)
        self._window, self._appearance, self._remembered = window, appearance, remembered
        self._keymap, self._sandbox, self._steps = keymap, sandbox, steps
        self.tour: Tour | None = None
        # Qt scales all of a window that opens; text alone grows beyond that until the next start.
        self._scale = remembered.scale
        self._points = remembered.code_points or CODE_POINTS

    def commands(self) -> Mapping[str, Callable[[], object]]:
        """Return the handlers of the actions on preferences, keys and the tour, by the actions' names."""
        return {
            "larger": lambda: self.size_code(self._points + 1),
            "smaller": lambda: self.size_code(self._points - 1),
            "preferences": self.ask,
            "keys": self.show_keys,
            "tour": self.show_tour,
        }

    def ask(self) -> None:
        """Show all settings."""
        dialog = SettingsDialog(self._remembered, self._sandbox(), round(self._points), self._window)
        dialog.theme_chosen.connect(self.choose_theme)
        dialog.scale_chosen.connect(self.choose_scale)
        dialog.code_sized.connect(self.size_code)
        dialog.sandbox_chosen.connect(self.sandbox_chosen)
        dialog.annotator_named.connect(self.annotator_named)
        dialog.models_changed.connect(self.models_changed)
        dialog.keys_asked.connect(self.show_keys)
        dialog.tour_asked.connect(dialog.accept)
        dialog.tour_asked.connect(self.show_tour)
        show_modal(dialog)

    def choose_theme(self, choice: str) -> None:
        """Choose one of `system`, `light`, `dark`, from now on."""
        self._remembered.theme = choice
        self._appearance.choose(choice)

    def choose_scale(self, scale: int) -> None:
        """Show text in that size from now on; what surrounds it, and a window that opens, takes it up by itself."""
        self._appearance.grow(scale / self._scale)
        self._tell_size()

    def restore(self) -> None:
        """Bring back the size of the code."""
        if self._remembered.code_points:
            self.size_code(self._points)

    def size_code(self, points: float) -> None:
        """Show code in so many points from now on."""
        self._points = min(max(points, float(SMALLEST)), float(LARGEST))
        self._remembered.code_points = self._points
        self._tell_size()

    def _tell_size(self) -> None:
        self.code_sized.emit(fixed_font(self._points))

    def show_keys(self) -> None:
        """Show every key on one page."""
        show_modal(KeysDialog(self._keymap, self._window))

    def show_tour(self) -> None:
        """Show the tour; once it was shown it does not come by itself again."""
        self._remembered.toured = True
        self.show_steps(self._steps())

    def show_steps(self, steps: Sequence[Step]) -> None:
        """Show a tour, unless one is on."""
        # It covers the window: a second one would lie over the first.
        if self.tour is None:
            self.tour = Tour(steps, self._window)
            self.tour.ended.connect(self._end_tour)
            self.tour.begin()

    def _end_tour(self) -> None:
        if self.tour is not None:
            self.tour.deleteLater()
            self.tour = None
        self.tour_ended.emit()


def tour_steps(bar: QWidget, regions: QWidget, code: QWidget, roundtrip: QWidget, keymap: KeyMap) -> list[Step]:
    """Return the steps of the tour for a new user, with the keys that hold now."""

    def by_key(name: str, sentence: str) -> str:
        """Return a sentence about the key that holds now; nothing where there is none."""
        key = keymap.binding(name).first
        return f" {sentence.format(key)}" if key else ""

    return [
        Step(
            bar,
            "Choose and run",
            "A project, a task and a model on this machine; then Run. The button beside it says what a run will cost.",
        ),
        Step(
            regions,
            "Regions",
            "Pieces of code that the project's tests can judge. Red ones the model could not write again from its own "
            "description." + by_key("next-failure", "{} goes to the next failure."),
        ),
        Step(
            code,
            "Your code",
            "Every region in its place."
            + by_key("probe", "Select any lines and press {}: the round trip runs on them."),
        ),
        Step(
            roundtrip,
            "Round trip",
            "What the model said of the region, what it wrote from that and the code around it, and what the tests "
            "said." + by_key("go-to", "{} goes anywhere.") + by_key("keys", "{} shows every key."),
        ),
    ]
