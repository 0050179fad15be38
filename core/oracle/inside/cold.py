"""A fresh import: the child collects and runs the tests from nothing but pytest and foreign modules."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from . import audit
from .candidate import changed_paths, take_up
from .channel import Send
from .child import describe, flush
from .configured import Configured
from .evidence import hide, needs_proof, prove, snapshot
from .imported import Imported
from .lines import Collector, choose_collector
from .loading import LoadTests
from .reporter import Reporter, Witness
from .sources import install
from .stages import Stages, files_of


class Closing:
    """Gathers the evidence at the session's end."""

    def __init__(
        self, send: Send, reporter: Reporter, request: dict[str, Any], changes: Callable[[], list[str]]
    ) -> None:
        """The request's `bits` say which canaries must fail; `identity`: nothing is changed, tests may fail.

        `changes` tells what has changed in the framework.
        """
        self._send = send
        self._reporter = reporter
        self._request = request
        self._changes = changes
        self._leave = os._exit

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: Any, exitstatus: int) -> None:
        """Prove what needs proof; a judged session ends here, without pytest's slow farewell."""
        if needs_proof(self._reporter.failed, self._reporter.items, self._request):
            prove(self._send, session, self._request["bits"], self._changes() + self._reporter.changes())
        else:
            self._send("end", False)
        if not self._request.get("identity"):
            self._send("exit", int(exitstatus))
            flush()
            self._leave(0)


def run(send: Send, request: dict[str, Any], config: dict[str, Any], configured: Configured | None) -> None:
    """Run the request in this child; never returns. `configured`: what the zygote has made ready."""
    leave = os._exit
    status = 1
    try:
        status = _run(send, request, config, configured)
    except BaseException as error:
        send("aborted", describe(error))
    flush()
    leave(status)


def _run(send: Send, request: dict[str, Any], config: dict[str, Any], ready: Configured | None) -> int:
    finder = ready.finder if ready is not None else install()
    if request.get("changes") and not take_up(send, request, config, finder):
        return 0
    if request.get("trace"):
        return _trace(send, request, config)
    witness = ready.witness if ready is not None else Witness()
    reporter = Reporter(send, request, witness, config["root"])
    changes = ready.changes if ready is not None else snapshot()
    plugins: list[Any] = [reporter, Closing(send, reporter, request, changes)]
    files = _files(request)
    if request.get("identity"):
        plugins.append(Imported(send, config["root"]))
    if request.get("stages"):
        plugins.append(Stages(reporter, request["stages"], collected=False))
    hide()
    audit.install(send, config["root"], changed_paths(request))
    status = ready.main(files, plugins) if ready is not None else _main(config, files, [LoadTests(), witness, *plugins])
    send("exit", status)
    return 0


def _trace(send: Send, request: dict[str, Any], config: dict[str, Any]) -> int:
    """Without an audit hook: one in Python would have threads that start at a time fail to install the tracer."""
    collector, witness = choose_collector(config), Witness()
    reporter = Reporter(send, request, witness, config["root"])
    changes = snapshot()
    # Ours is no change that a candidate may make too.
    closing = Closing(send, reporter, request, lambda: [name for name in changes() if name != "sys.settrace"])
    collector.start()
    status = _main(config, _files(request), [LoadTests(), witness, reporter, closing, collector])
    _send_lines(send, collector)
    send("exit", status)
    return 0


def _main(config: dict[str, Any], files: list[str] | None, plugins: list[Any]) -> int:
    return int(pytest.main([*config["pytest_args"], *(config["targets"] if files is None else files)], plugins=plugins))


def _files(request: dict[str, Any]) -> list[str] | None:
    """Of the tests asked for; None for all there are."""
    if request.get("tests") is None or request.get("whole"):
        return None
    return files_of(request["tests"])


def _send_lines(send: Send, collector: Collector) -> None:
    for path, lines in collector.import_lines().items():
        send("import-lines", path, sorted(lines))
    for path, by_test in collector.lines().items():
        send("lines", path, [[test, sorted(lines)] for test, lines in by_test.items()])
