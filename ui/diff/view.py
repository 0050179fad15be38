"""The comparison of original and reconstruction."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from ui.diff.frame import DiffFrame
from ui.diff.lines import PAIR, Sides
from ui.diff.pane_lines import PairLines, patch
from ui.diff.rows import Kind, TextDiff, compare
from ui.style.controls import switch


class DiffView(DiffFrame):
    """Everything about one pair of texts."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty until `show_pair`."""
        self._pair = ("", "")
        self._shown: tuple[object, ...] = ()
        self._diff: TextDiff | None = None
        self.form = switch("Dim form", "Grey changes that leave the syntax tree as it was", True)
        copies = (
            ("", lambda: self._pair[0]),
            ("", lambda: self._pair[1]),
            ("Difference", lambda: patch(self._diff) if self._diff else ""),
        )
        super().__init__(PAIR, copies, (self.form,), parent=parent)
        self.form.toggled.connect(self._set_dim)
        self.name_sides(PAIR)
        self.clear()

    def name_sides(self, titles: Sides) -> None:
        """Say what each text is, in headings and in what can be copied."""
        self.columns.name_sides(titles)
        for action, title in zip(self.copy.menu().actions(), titles, strict=False):
            action.setText(title[:1].upper() + title[1:])

    def clear(self) -> None:
        """Nothing to compare."""
        self.show_pair("", "", "", "")

    def show_pair(
        self,
        original: str,
        candidate: str,
        title: str,
        path: str,
        first_line: int = 1,
        description: str = "",
    ) -> None:
        """Compare two texts; the same ones again stay as they are, with their scroll position.

        `first_line`: the file's line at which the original starts.
        """
        shown = original, candidate, title, path, first_line, description
        # A run that goes on shows the same pair a few times a second: the place that somebody reads must stay.
        if shown == self._shown:
            return
        self._shown = shown
        python = not path or path.endswith((".py", ".pyi"))
        self._pair, self._first_line = (original, candidate), first_line
        self._diff = diff = compare(original, candidate, python=python)
        summary = _summary(diff) if any(self._pair) else ""
        self._present(PairLines(diff, (first_line, first_line)), path, title, summary, diff.notes, description)

    def _starts(self) -> list[int]:
        """All changes, or those of substance while form is dimmed (if there are any)."""
        of_substance = self.columns.starts(skip_form=True) if self.form.isChecked() else []
        return of_substance or super()._starts()

    def _set_dim(self, on: bool) -> None:
        self.columns.set_dim(on)
        self._follow()


def _summary(diff: TextDiff) -> str:
    """How the two texts differ, in one line."""
    if diff.equal:
        return "Identical"
    counts = [(diff.count(kind), kind.value) for kind in (Kind.CHANGED, Kind.DELETED, Kind.INSERTED)]
    said = [f"{count:,} {word}" for count, word in counts if count]
    lines = ", ".join(said).replace(" ", " line " if said[:1] and said[0].startswith("1 ") else " lines ", 1)
    return f"Same syntax tree: {lines}" if diff.same_tree else lines
