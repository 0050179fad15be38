"""The panels at the right and the bottom of the window. Views only: they show rows and emit intents."""

from __future__ import annotations

from rtc_inspector.ui.panels.diff import DiffPanel
from rtc_inspector.ui.panels.metrics import MetricsPanel
from rtc_inspector.ui.panels.preparing import Preparing
from rtc_inspector.ui.panels.prompt import PromptPanel
from rtc_inspector.ui.panels.roundtrip import RoundTripPanel
from rtc_inspector.ui.panels.run import RunPanel
from rtc_inspector.ui.panels.tests import TestsPanel
from rtc_inspector.ui.panels.wide import WidePanel

__all__ = [
    "DiffPanel",
    "MetricsPanel",
    "Preparing",
    "PromptPanel",
    "RoundTripPanel",
    "RunPanel",
    "TestsPanel",
    "WidePanel",
]
