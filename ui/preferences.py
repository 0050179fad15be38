"""Settings and tour of one window: what the dialog changes takes hold here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt

from ui.fonts import CODE_POINTS, fixed_font
from ui.shell.keys_dialog import KeysDialog
from ui.shell.settings_dialog import LARGEST, SMALLEST, Now, SettingsDialog
from ui.shell.tour import Step, Tour

if TYPE_CHECKING:
    from ui.main_window import MainWindow


class Preferences(QObject):
    """Opens the dialog and the tour; keeps the size of the code."""

    def __init__(self, window: MainWindow) -> None:
        """Bring back the size of the code."""
        super().__init__(window)
        self._window = window
        self.tour: Tour | None = None
        self._scale = window.remembered.scale
        self._points = window.remembered.code_points or CODE_POINTS
        if window.remembered.code_points:
            self.size_code(self._points)

    def ask(self) -> None:
        """Show all settings."""
        window = self._window
        now = Now(window.control.settings.oracle.sandbox, round(self._points))
        dialog = SettingsDialog(window.remembered, now, window)
        dialog.theme_chosen.connect(self.choose_theme)
        dialog.scale_chosen.connect(self.choose_scale)
        dialog.code_sized.connect(self.size_code)
        dialog.sandbox_chosen.connect(self._choose_sandbox)
        dialog.annotator_named.connect(window.labelling.rename)
        dialog.models_changed.connect(window.models.search)
        dialog.keys_asked.connect(self.show_keys)
        dialog.tour_asked.connect(dialog.accept)
        dialog.tour_asked.connect(self.show_tour)
        dialog.exec()
        dialog.deleteLater()

    def choose_theme(self, choice: str) -> None:
        """One of `system`, `light`, `dark`, from now on."""
        self._window.remembered.theme = choice
        self._window.appearance.choose(choice)

    def choose_scale(self, scale: int) -> None:
        """Text of that size from now on; what surrounds it, and a window that opens, takes it up by itself."""
        self._window.appearance.grow(scale / self._scale)
        self._window.parts.code.editor.use_font(fixed_font(self._points))

    def scale_code(self, step: float) -> None:
        """Larger or smaller code."""
        self.size_code(self._points + step)

    def size_code(self, points: float) -> None:
        """Code of so many points, from now on."""
        self._points = min(max(points, float(SMALLEST)), float(LARGEST))
        self._window.remembered.code_points = self._points
        self._window.parts.code.editor.use_font(fixed_font(self._points))

    def show_keys(self) -> None:
        """Every key on one page."""
        dialog = KeysDialog(self._window.commands.keymap, self._window)
        dialog.exec()
        dialog.deleteLater()  # it would go on to list every change

    def greet(self) -> None:
        """Show the tour the first time that there is something to see."""
        if not self._window.remembered.toured and self._window.parts.shows_views:
            self.show_tour()

    def show_tour(self) -> None:
        """Show the tour; once it was shown it does not come by itself again."""
        window = self._window
        window.remembered.toured = True
        if self.tour is None:
            self.tour = Tour(window.appearance.theme, _steps(window), window)
            self.tour.ended.connect(self._end_tour)
            self.tour.begin()

    def _end_tour(self) -> None:
        if self.tour is not None:
            self.tour.deleteLater()
            self.tour = None
        self._window.parts.regions.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _choose_sandbox(self, value: str) -> None:
        settings = self._window.control.settings
        self._window.control.adopt(replace(settings, oracle=replace(settings.oracle, sandbox=value)))


def _steps(window: MainWindow) -> list[Step]:
    parts, keymap = window.parts, window.commands.keymap

    def by_key(name: str, sentence: str) -> str:
        """A sentence about the key that holds now; nothing where there is none."""
        key = keymap.binding(name).first
        return f" {sentence.format(key)}" if key else ""

    return [
        Step(
            parts.bar,
            "Choose and run",
            "A project, a task and a model on this machine; then Run. The button beside it says what a run will cost.",
        ),
        Step(
            parts.regions,
            "Regions",
            "Pieces of code that the project's tests can judge. Red ones the model could not write again from its own "
            "description." + by_key("next-failure", "{} goes to the next failure."),
        ),
        Step(
            parts.code,
            "Your code",
            "Every region in its place."
            + by_key("probe", "Select any lines and press {}: the round trip runs on them."),
        ),
        Step(
            parts.roundtrip,
            "Round trip",
            "What the model said of the region, what it wrote from that alone, and what the tests said."
            + by_key("go-to", "{} goes anywhere.")
            + by_key("keys", "{} shows every key."),
        ),
    ]
