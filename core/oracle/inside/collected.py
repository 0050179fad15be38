"""The collected suite, kept in the zygote with the original code; a child swaps code and runs what it needs."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import pytest

from . import audit
from .candidate import REFUSALS, serve, texts_of
from .channel import Send
from .codeswap import Functions, Outline, Refusal, locate, swap
from .evidence import hide
from .fresh import Configured
from .reporter import Reporter
from .stages import Stages


class Collected(Configured):
    """A pytest session with its items collected, and what is needed to swap code under it."""

    def _prepare(self) -> None:
        super()._prepare()
        self._pytest._do_configure()
        self._session: Any = pytest.Session.from_config(self._pytest)
        self._pytest.hook.pytest_sessionstart(session=self._session)
        self._pytest.hook.pytest_collection(session=self._session)
        if self._witness.uncollected:
            raise ImportError("cannot be collected: " + ", ".join(self._witness.uncollected[:3]))
        self._functions = Functions()
        self._outlines: dict[str, Outline] = {}
        self._reporter = Reporter(self._witness, self._config["root"])
        self._pytest.pluginmanager.register(self._reporter)
        self._items: dict[str, list[Any]] = {}
        for item in self._session.items:
            self._items.setdefault(item.nodeid, []).append(item)

    def refusal(self, request: dict[str, Any]) -> str:
        """In the zygote, before anything is forked: why a fresh import must judge; empty when it need not.

        The original is parsed once for all its candidates.
        """
        if not request.get("changes"):
            return ""
        try:
            locate(self._functions, self._outline(request), _change(request))
        except Refusal as error:
            return str(error)
        except REFUSALS:
            return "the original does not compile"
        return ""

    def _outline(self, request: dict[str, Any]) -> Outline:
        if len(request["changes"]) > 1:
            raise Refusal("several files are changed")
        (change,) = request["changes"]
        path = change["path"]
        if path not in self._outlines:
            real = os.path.realpath(os.path.join(self._config["root"], path))
            self._outlines[path] = Outline(real, change["original"])
        return self._outlines[path]

    def run(self, send: Send, request: dict[str, Any]) -> None:
        """Run the request in this child."""
        if request.get("changes") and not self._place(send, request):
            return
        reporter, session = self._reporter, self._session
        reporter.begin(send, request)
        stages = Stages(reporter, request, self._items)
        stages.start(session)
        self._forget_output()
        hide()
        patched = audit.install(send, self._places, request)
        if request.get("stages"):
            self._pytest.pluginmanager.register(stages)
        self._pytest.hook.pytest_runtestloop(session=session)
        reporter.close(session, lambda: self._changes(patched()))
        send("exit", 1 if session.testsfailed else 0)

    def _place(self, send: Send, request: dict[str, Any]) -> bool:
        """Swap the code; False, and a report, when a fresh import must judge or the text does not compile."""
        try:
            texts = texts_of(request, self._config)
            swap(self._functions, self._outline(request), _change(request))
        except Refusal as error:
            send("fallback", str(error))
            return False
        except REFUSALS:
            send("fallback", "the function alone does not compile")
            return False
        serve(send, request, texts, self._finder, {})
        return True

    def _forget_output(self) -> None:
        """The capture files are shared with earlier children: drop what a killed one left."""
        manager = self._pytest.pluginmanager.getplugin("capturemanager")
        capturing = getattr(manager, "_global_capturing", None)
        for name in ("out", "err"):
            with contextlib.suppress(Exception):
                stream: Any = getattr(capturing, name)
                stream.tmpfile.seek(0)
                stream.tmpfile.truncate()


def _change(request: dict[str, Any]) -> dict[str, Any]:
    """The one change, with the lines that run at import."""
    return {"import_lines": request["import_lines"], **request["changes"][0]}
