"""A fresh import: the child collects and runs the tests from nothing but pytest and foreign modules."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from . import audit
from .candidate import take_up
from .channel import Send
from .child import describe, flush
from .evidence import needs_proof, prove, snapshot
from .lines import Collector, choose_collector
from .loading import LoadTests
from .reporter import Reporter, Witness
from .sources import install


class Closing:
    """Gathers the evidence at the session's end."""

    def __init__(self, send: Send, reporter: Reporter, request: dict[str, Any]) -> None:
        """The request's `bits` say which canaries must fail; `identity`: nothing is changed, tests may fail."""
        self._send = send
        self._reporter = reporter
        self._request = request
        self._changes = snapshot()
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
    if request.get("path") is not None and not take_up(send, request, config, install()):
        return 0
    collector = choose_collector(config) if request.get("trace") else None
    witness = Witness()
    reporter = Reporter(send, request, witness, config["root"])
    plugins: list[Any] = [LoadTests(), witness, reporter, Closing(send, reporter, request)]
    known = set(sys.modules)
    if collector is not None:
        plugins.append(collector)
        collector.start()
    else:  # a hook in Python would have threads that start at a time fail to install the tracer
        audit.install(send, config["root"] + os.sep)
    status = int(pytest.main([*config["pytest_args"], *_files(request, config)], plugins=plugins))
    if collector is not None:
        _send_lines(send, collector)
        send("modules", _foreign(known, config["root"] + os.sep))
    send("exit", status)
    return 0


def _files(request: dict[str, Any], config: dict[str, Any]) -> list[str]:
    """Collect only the files of the tests asked for, below the working folder: pytest ends a path at a bracket."""
    if request.get("tests") is None or request.get("whole"):
        return list(config["targets"])
    return list(dict.fromkeys(node_id.split("::", 1)[0] for node_id in request["tests"]))


def _send_lines(send: Send, collector: Collector) -> None:
    for path, lines in collector.import_lines().items():
        send("import-lines", path, sorted(lines))
    for path, by_test in collector.lines().items():
        send("lines", path, [[test, sorted(lines)] for test, lines in by_test.items()])


def _foreign(known: set[str], root: str) -> list[str]:
    """Modules the tests imported that are neither the project's nor a plugin's (pytest rewrites those on import)."""
    found = []
    modules = list(sys.modules.items())
    plugins = {name.split(".", 1)[0] for name, module in modules if _rewritten(module)}
    for name, module in modules:
        file = getattr(module, "__file__", None)
        if name in known or name.split(".", 1)[0] in plugins or not isinstance(file, str) or file.startswith(root):
            continue
        if "pytest" not in name and getattr(module, "__spec__", None) is not None:
            found.append(name)
    return found


def _rewritten(module: Any) -> bool:
    return type(getattr(module, "__loader__", None)).__name__ == "AssertionRewritingHook"
