"""Real widgets without a screen: one application, and any message of Qt fails the test that caused it."""

from __future__ import annotations

import os
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={Path(__file__).with_name('screen.json')}"
os.environ.setdefault("QT_ENABLE_HIGHDPI_SCALING", "0")

import gc
from collections.abc import Iterator

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QMessageLogContext, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication
from themes import light

from rtc_inspector.ui.style.theme import LIGHT, current_theme

KNOWN = frozenset(
    f"This plugin does not support {what}" for what in ("propagateSizeHints()", "raise()", "grabbing the keyboard")
)
"""What the offscreen platform itself says, whatever the widget."""


@pytest.fixture(scope="session")
def qapp() -> Iterator[QApplication]:
    """The one application, in the light theme."""
    app = QApplication(["rtc-inspector"])
    app.setOrganizationName("rtc-inspector-tests")
    app.setQuitOnLastWindowClosed(False)
    light(app)
    yield app


@pytest.fixture(scope="module", autouse=True)
def no_window_left(qapp: QApplication) -> Iterator[None]:
    """Destroy what the tests of a file left: a change of the theme reaches every widget there is."""
    yield
    for each in qapp.topLevelWidgets():
        if shiboken6.isValid(each) and each.parent() is None:
            each.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture(autouse=True)
def no_qt_messages() -> Iterator[None]:
    """Fail on warnings that Qt prints instead of raising."""
    messages: list[str] = []

    def note(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
        if kind != QtMsgType.QtDebugMsg and text not in KNOWN:
            messages.append(f"{kind.name}: {text}")

    qInstallMessageHandler(note)
    yield
    if current_theme() is not LIGHT and isinstance(app := QCoreApplication.instance(), QApplication):
        light(app)
    app = QCoreApplication.instance()
    if app is not None:
        gc.collect(1)  # what this test made and left
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        app.processEvents()
    qInstallMessageHandler(None)
    assert not messages, messages
