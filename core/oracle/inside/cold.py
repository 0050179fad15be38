"""A fresh import: the child collects and runs the tests from nothing but pytest and foreign modules."""

from __future__ import annotations

import os
from typing import Any

import pytest

from . import audit
from .channel import Send
from .child import describe, flush
from .evidence import broken_assertions, sing, snapshot
from .lines import Collector, choose_collector
from .reporter import Reporter
from .screening import screen
from .sources import serve


class Closing:
    """Gathers the evidence at the session's end."""

    def __init__(self, send: Send, reporter: Reporter, request: dict[str, Any]) -> None:
        """The request's `bits` say which canaries must fail; `identity`: nothing is changed, tests may fail."""
        self._send = send
        self._reporter = reporter
        self._request = request
        self._changes = snapshot()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: Any) -> None:
        """Only a session that would pass needs proof."""
        if reporter_needs_proof(self._reporter, self._request):
            prove(self._send, session, self._request["bits"], self._changes())
        else:
            self._send("end", False)


def reporter_needs_proof(reporter: Reporter, request: dict[str, Any]) -> bool:
    """A failed session proves itself; the unmodified project shows what is usual for it."""
    return bool(reporter.items) and (not reporter.failed or bool(request.get("identity")))


def prove(send: Send, session: Any, bits: list[int], changes: list[str]) -> None:
    """Send the canaries' outcomes and what changed in the framework; the last frame of a whole session."""
    send("evidence", sing(session, bits), changes + broken_assertions())
    send("end", True)


def run(send: Send, request: dict[str, Any], config: dict[str, Any]) -> None:
    """Run the request in this child; never returns."""
    leave = os._exit
    status = 1
    try:
        status = _run(send, request, config)
    except BaseException as error:
        send("aborted", describe(error))
    flush()
    leave(status)


def _run(send: Send, request: dict[str, Any], config: dict[str, Any]) -> int:
    if request.get("path") is not None and not _place_candidate(send, request, config):
        return 0
    collector = choose_collector(config) if request.get("trace") else None
    reporter = Reporter(send, request)
    plugins: list[Any] = [reporter, Closing(send, reporter, request)]
    if collector is not None:
        plugins.append(collector)
        collector.start()
    audit.install(send, config["root"] + os.sep)
    status = int(pytest.main([*config["pytest_args"], *_files(request, config)], plugins=plugins))
    if collector is not None:
        _send_lines(send, collector)
    send("exit", status)
    return 0


def _place_candidate(send: Send, request: dict[str, Any], config: dict[str, Any]) -> bool:
    """Compile and screen the candidate before anything of it runs; False when it does not compile."""
    path = os.path.join(config["root"], request["path"])
    text = request["text"].encode(request["encoding"])
    try:
        compile(text, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        send("syntax", describe(error), getattr(error, "lineno", None) or 0)
        return False
    send("screen", screen(request["original"], request["text"]))
    serve(path, text)
    return True


def _files(request: dict[str, Any], config: dict[str, Any]) -> list[str]:
    """Collect only the files of the tests asked for."""
    if request.get("tests") is None or request.get("whole"):
        return list(config["targets"])
    files = dict.fromkeys(node_id.split("::", 1)[0] for node_id in request["tests"])
    return [os.path.join(config["rootdir"], name) for name in files]


def _send_lines(send: Send, collector: Collector) -> None:
    for path, lines in collector.import_lines().items():
        send("import-lines", path, sorted(lines))
    for path, by_test in collector.lines().items():
        send("lines", path, [[test, sorted(lines)] for test, lines in by_test.items()])
