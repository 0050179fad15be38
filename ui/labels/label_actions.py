"""What can be done while labelling, each with a key that the user may choose."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from core.taxonomy import KEYS, NO_KEY, ErrorMode, Taxonomy
from ui.style.controls import bind

MOST_MODES = 24
"""Modes that can have a key: nine by default, the others when the user gives them one."""
ACCEPT = "JKLM"
"""Keys that accept the first, second, … annotator's label."""

STEPS = (
    ("clear", "0", "Take the label back"),
    ("note", "N", "Write a note: Enter keeps it, Esc leaves it"),
    ("skip", "S Right", "Skip: go on without a label"),
    ("back", "Left", "Go back to the sample before"),
    ("undo", "U", "Undo the last label, wherever it was"),
    ("others", "O", "Show what others said before you have labelled a sample, or hide it"),
    ("large", "F", "Large: the labels alone in the window, or with the code"),
    ("blind", "B", "Blind: hide verdict, run and the others' labels"),
)


class LabelActions:
    """The actions of one panel, by name."""

    def __init__(
        self,
        panel: QWidget,
        choose: Callable[[int], None],
        accept: Callable[[int], None],
        **steps: Callable[[], object],
    ) -> None:
        """`choose(slot)` takes a mode, `accept(place)` an annotator's label; one of `steps` for each of STEPS."""
        self.modes = [
            bind(panel, str(slot) if slot in KEYS else "", partial(choose, slot), "", f"mode-{slot}")
            for slot in range(1, MOST_MODES + 1)
        ]
        self.accepts = [
            bind(panel, key, partial(accept, place), f"Decide as annotator {place + 1} says", f"accept-{place + 1}")
            for place, key in enumerate(ACCEPT)
        ]
        self.steps = {name: bind(panel, keys, steps[name], words, f"label-{name}") for name, keys, words in STEPS}

    def all(self) -> list[QAction]:
        """Every one of them, modes first."""
        return [*self.modes, *self.accepts, *self.steps.values()]

    def name_modes(self, taxonomy: Taxonomy) -> dict[int, ErrorMode]:
        """Call the slots after the modes in them, hide the others; gives the modes by slot."""
        slots = placed(taxonomy)
        for slot, action in enumerate(self.modes, start=1):
            action.setVisible(slot in slots)
            action.setText(slots[slot].name if slot in slots else "")
        return slots


def placed(taxonomy: Taxonomy) -> dict[int, ErrorMode]:
    """The modes by slot: the digit a mode has, or the next number above the digits."""
    found = {mode.key: mode for mode in taxonomy.offered if mode.key != NO_KEY}
    without = [mode for mode in taxonomy.offered if mode.key == NO_KEY]
    return found | dict(enumerate(without, start=KEYS.stop))


def name_keys(part: QWidget, action: QAction) -> None:
    """Say the keys of an action in the tooltip of its button, instead of those that it had."""
    tip, keys = part.toolTip().partition(" (")[0], keys_of(action)
    part.setToolTip(f"{tip} ({keys})" if keys else tip)


def keys_of(action: QAction, between: str = " or ") -> str:
    """The keys of an action, as this platform writes them."""
    native = QKeySequence.SequenceFormat.NativeText
    return between.join(key.toString(native) for key in action.shortcuts())
