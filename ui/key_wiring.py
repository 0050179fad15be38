"""Which keys a window has, and where they are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ui.compare.standings import KEYS as STANDING_KEYS
from ui.compare.traces import STEPS as REGION_STEPS
from ui.diff.comparison import STEPS as CHANGE_STEPS
from ui.keymap import KeyMap
from ui.window_actions import WindowActions
from ui.window_parts import WindowParts

if TYPE_CHECKING:
    from ui.main_window import MainWindow


def wire_keys(window: MainWindow, actions: WindowActions) -> KeyMap:
    """Let the user choose the keys of everything in this window, and say in tips which they are."""
    parts, keymap = window.parts, KeyMap(window.remembered, window)
    for group, made in actions.groups().items():
        keymap.add(group, made)
    keymap.add("Code", parts.code.keys, "Code")
    keymap.declare("Diff", CHANGE_STEPS, "Diff", "Compare")
    keymap.declare("Compare", (*REGION_STEPS, *STANDING_KEYS), "Compare")
    keymap.add("Labels desk", parts.labels.key_actions.all(), "Labels")
    keymap.changed.connect(parts.labels.refresh_keys)
    keymap.changed.connect(lambda: _name_search(keymap, parts))
    parts.labels.refresh_keys()
    _name_search(keymap, parts)
    _name_buttons(keymap, parts)
    return keymap


def _name_buttons(keymap: KeyMap, parts: WindowParts) -> None:
    header, bar, probing, diff = parts.code.header, parts.bar, parts.code.probe_bar, parts.diff.view
    for button, names in {
        bar.run: ("run",),
        bar.pause: ("pause",),
        bar.stop: ("stop",),
        bar.settings: ("settings",),
        probing.check: ("check",),
        probing.probe: ("probe",),
        header.candidates: ("candidates",),
        header.dropped: ("dropped",),
        header.failure: ("next-failure", "code-next-failure"),
        header.previous: ("previous-region", "code-previous-region"),
        header.next: ("next-region", "code-next-region"),
        parts.queue.agreement: ("agreement",),
        parts.queue.modes: ("error-modes",),
        diff.previous: ("previous-change",),
        diff.next: ("next-change",),
    }.items():
        keymap.name_on(button, *names)


def _name_search(keymap: KeyMap, parts: WindowParts) -> None:
    keys = keymap.binding("go-to").shown.partition(", ")[0]
    parts.bar.search.setPlaceholderText(f"Go to…  {keys}".rstrip())
