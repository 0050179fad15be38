"""Which keys a window has, and where they are told."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rtc_inspector.ui.compare.keys import REFERENCE
from rtc_inspector.ui.compare.keys import STEPS as REGION_STEPS
from rtc_inspector.ui.diff.view import STEPS as CHANGE_STEPS
from rtc_inspector.ui.diff.view import DiffFrame
from rtc_inspector.ui.keys.keymap import KeyMap
from rtc_inspector.ui.panels import DiffPanel
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.window.comparing import Comparing
from rtc_inspector.ui.window.window_actions import WindowActions
from rtc_inspector.ui.window.window_parts import WindowParts

if TYPE_CHECKING:
    from rtc_inspector.ui.compare.page import ComparePage
    from rtc_inspector.ui.compare.traces import Traces


def wire_keys(parts: WindowParts, actions: WindowActions, comparing: Comparing, remembered: Remembered) -> KeyMap:
    """Let the user choose the keys of everything in a window, and say in tips which they are."""
    keymap = KeyMap(remembered, parts)
    for group, made in actions.groups().items():
        keymap.add(group, made)
    keymap.add("Code", parts.code.keys, "Code")
    # Not added as actions: each view of a diff has its own, and most are made later.
    keymap.declare("Diff", CHANGE_STEPS, "Diff", "Compare")
    keymap.declare("Compare", (*REGION_STEPS, REFERENCE), "Compare")
    keymap.add("Labels desk", parts.labels.key_actions.all(), "Labels")
    keymap.changed.connect(partial(_tell_keys, keymap, parts))
    _tell_keys(keymap, parts)
    _name_buttons(keymap, parts)
    comparing.page_made.connect(partial(_name_page, keymap))
    return keymap


def _name_buttons(keymap: KeyMap, parts: WindowParts) -> None:
    header, bar, probing = parts.code.header, parts.bar, parts.code.probe_bar
    for button, names in {
        bar.menu_button: ("menu",),
        bar.runs_button: ("runs",),
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
    }.items():
        keymap.name_on(button, *names)
    _name_changes(keymap, parts.diff)


def _name_changes(keymap: KeyMap, panel: DiffPanel) -> None:
    """Name the keys of steps from change to change; the view of edits is made when the first one is shown."""

    def name(frame: DiffFrame) -> None:
        keymap.name_on(frame.previous, "previous-change")
        keymap.name_on(frame.next, "next-change")

    name(panel.view)
    panel.edit_made.connect(name)


def _name_page(keymap: KeyMap, page: ComparePage) -> None:
    """Name the keys on the page of comparisons, which is made when first asked for, as what is on it."""
    keymap.name_on(page.reference_button, "make-reference")
    page.traces_made.connect(partial(_name_traces, keymap))


def _name_traces(keymap: KeyMap, traces: Traces) -> None:
    keymap.name_on(traces.previous, "compare-previous-region")
    keymap.name_on(traces.next, "compare-next-region")
    for side in traces.sides:
        _name_changes(keymap, side.diff)


def _tell_keys(keymap: KeyMap, parts: WindowParts) -> None:
    """Put the keys into words that are no button's tip."""
    parts.labels.refresh_keys(keymap.binding("keys").first)
    parts.bar.search.setPlaceholderText(f"Go to…  {keymap.binding('go-to').first}".rstrip())
