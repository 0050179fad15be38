"""The panels at the right and the bottom of the window. Views only: they show rows and emit intents."""

from __future__ import annotations

from ui.panels.diff import DiffPanel
from ui.panels.metrics import MetricsPanel
from ui.panels.preparing import Preparing
from ui.panels.prompt import PromptPanel
from ui.panels.roundtrip import RoundTripPanel
from ui.panels.run import RunPanel
from ui.panels.tests import TestsPanel
from ui.panels.wide import WidePanel

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
