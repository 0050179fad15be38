"""What can be done while labelling, each with a key."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from rtc_inspector.core.taxonomy import KEYS, NO_KEY, ErrorMode, Taxonomy
from rtc_inspector.ui.style.controls import bind

ACCEPT = "JKLM"
"""Keys that accept the first, second, … annotator's label."""

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


CLEAN = 0
"""Slot of the mode that says that nothing is wrong."""


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
        """Return every one of them, modes first."""
        return [*self.modes, self.clean, *self.adds, *self.accepts, *self.steps.values()]

    def of(self, slot: int) -> QAction | None:
        """Return the action that chooses the mode in a slot; None where it has none."""
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
