"""A fresh import: the child collects and runs the tests from nothing but pytest and foreign modules."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import pytest
from _pytest.config import _prepareconfig

from . import audit
from .candidate import changed_paths, take_up
from .channel import Send
from .child import flush
from .evidence import hide, snapshot
from .lines import choose_collector
from .loading import LoadTests
from .messages import read_framework
from .reporter import Reporter, Witness
from .sources import CandidateFinder, install
from .stages import Stages, files_of


class Configured:
    """pytest with its options read, its plugins loaded and the first conftests imported, and nothing collected yet.

    In the zygote it is made once, and a child begins with its copy.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        """Raises whatever pytest or the project raises."""
        self.config = config
        self.finder: CandidateFinder = install()
        self.witness = Witness()
        if tuple(int(part) for part in pytest.__version__.split(".")[:2]) >= (8, 2):  # as `pytest.main` does since then
            os.environ["PYTEST_VERSION"] = pytest.__version__
        arguments = [*config["pytest_args"], *config["targets"]]
        self.pytest: Any = _prepareconfig(arguments, [LoadTests(), self.witness])
        self.go_on()
        read_framework()
        self.changes = snapshot()
        self.places = audit.Places(config["root"])

    def go_on(self) -> None:
        """What else can be done before it is known what is to be judged."""

    def main(self, files: list[str] | None, plugins: list[Any]) -> int:
        """Collect `files` (None: what the options say) and run; the exit status, as `pytest.main` has it."""
        if files is not None:
            self.pytest.args = files
        for plugin in plugins:
            self.pytest.pluginmanager.register(plugin)
        return int(self.pytest.hook.pytest_cmdline_main(config=self.pytest))


class Closing:
    """A plugin that gathers the evidence at the session's end; a judged session ends there."""

    def __init__(self, send: Send, reporter: Reporter, changes: Callable[[], list[str]], *, judged: bool) -> None:
        """`changes`: what has changed in the framework."""
        self._send = send
        self._reporter = reporter
        self._changes = changes
        self._judged = judged
        self._leave = os._exit

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: Any, exitstatus: int) -> None:
        """Prove what needs proof, and spare a judged session pytest's slow farewell."""
        self._reporter.close(session, self._changes)
        if self._judged:
            self._send("exit", int(exitstatus))
            flush()
            self._leave(0)


class Imported:
    """A plugin that reports the project's files which are imported before any collection, and what tests import.

    The latter are neither the project's nor a plugin's, for pytest rewrites those on import.
    """

    def __init__(self, send: Send, root: str) -> None:
        """`root`: of the project. What is imported by now does not count as imported by tests."""
        self._send = send
        self._root = root + os.sep
        self._known = set(sys.modules)
        self._prepared = set(self._known)

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self) -> None:
        """By now pytest is configured by its options, plugins and first conftests."""
        self._prepared = set(sys.modules)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: Any) -> None:
        """Look once for conftests and what they import.

        What plugins have imported in between they may have changed (pytest changes pdb): that must not be there before.
        """
        self._known |= set(sys.modules) - self._prepared
        files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        below = (file for file in files if isinstance(file, str) and file.startswith(self._root))
        self._send("early", sorted({os.path.relpath(file, self._root).replace(os.sep, "/") for file in below}))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Look once: what plugins import to say farewell serves no test."""
        modules = list(sys.modules.items())
        plugins = {name.split(".", 1)[0] for name, module in modules if _rewritten(module)}
        found = [
            name
            for name, module in modules
            if name not in self._known and name.split(".", 1)[0] not in plugins and self._is_foreign(name, module)
        ]
        self._send("modules", found)

    def _is_foreign(self, name: str, module: Any) -> bool:
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or file.startswith(self._root):
            return False
        return "pytest" not in name and getattr(module, "__spec__", None) is not None


def _rewritten(module: Any) -> bool:
    return type(getattr(module, "__loader__", None)).__name__ == "AssertionRewritingHook"


def run(send: Send, request: dict[str, Any], config: dict[str, Any], ready: Configured | None) -> None:
    """Run the request in this child. `ready`: what the zygote has made before."""
    finder = ready.finder if ready is not None else install()
    if request.get("changes") and not take_up(send, request, config, finder):
        return
    if request.get("trace"):
        _trace(send, request, config)
        return
    witness = ready.witness if ready is not None else Witness()
    reporter = Reporter(witness, config["root"])
    reporter.begin(send, request)
    changes = ready.changes if ready is not None else snapshot()
    places = ready.places if ready is not None else audit.Places(config["root"])
    files = _files(request)
    hide()
    patched = audit.install(send, places, changed_paths(request))
    identity = bool(request.get("identity"))
    plugins: list[Any] = [reporter, Closing(send, reporter, lambda: changes(patched()), judged=not identity)]
    if identity:
        plugins.append(Imported(send, config["root"]))
    if request.get("stages"):
        plugins.append(Stages(reporter, request["stages"], collected=False))
    status = ready.main(files, plugins) if ready is not None else _main(config, files, [LoadTests(), witness, *plugins])
    send("exit", status)


def _trace(send: Send, request: dict[str, Any], config: dict[str, Any]) -> None:
    """Without an audit hook: one in Python would have threads that start at a time fail to install the tracer."""
    collector, witness = choose_collector(config), Witness()
    reporter = Reporter(witness, config["root"])
    reporter.begin(send, request)
    collector.start()
    status = _main(config, _files(request), [LoadTests(), witness, reporter, collector])
    for path, lines in collector.import_lines().items():
        send("import-lines", path, sorted(lines))
    for path, by_test in collector.lines().items():
        send("lines", path, [[test, sorted(lines)] for test, lines in by_test.items()])
    send("exit", status)


def _main(config: dict[str, Any], files: list[str] | None, plugins: list[Any]) -> int:
    return int(pytest.main([*config["pytest_args"], *(config["targets"] if files is None else files)], plugins=plugins))


def _files(request: dict[str, Any]) -> list[str] | None:
    """Of the tests asked for; None for all there are."""
    if request.get("tests") is None or request.get("whole"):
        return None
    return files_of(request["tests"])
