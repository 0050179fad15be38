"""A fresh import: the child collects and runs the tests from nothing but pytest and foreign modules."""

from __future__ import annotations

import importlib.machinery
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any

import pytest
from _pytest.assertion import rewrite
from _pytest.config import _prepareconfig

from . import audit
from .candidate import files_of, take_up
from .channel import Send
from .child import flush
from .evidence import hide, snapshot
from .lines import choose_collector
from .load_tests import LoadTests
from .messages import read_framework
from .reporter import Reporter, Witness
from .sources import install
from .stages import Stages


class Bare:
    """A session of pytest that a child begins from nothing but the modules that were imported in the zygote.

    Where more can be done before it is known what is to be judged, `Configured` or `Collected` does it in the zygote,
    once, and each child goes on with its copy.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        """Raises whatever pytest or the project raises."""
        self._config = config
        self._finder = install()
        self._witness = Witness()
        self._prepare()
        self._changes = snapshot()
        self._places = audit.Places(config["root"])

    def _prepare(self) -> None:
        """Go as far as can be gone in the zygote."""

    def run(self, send: Send, request: dict[str, Any]) -> None:
        """Run the request in this child."""
        if request.get("changes") and not take_up(send, request, self._config, self._finder):
            return
        reporter = Reporter(self._witness, self._config["root"])
        reporter.begin(send, request)
        plugins: list[Any] = [reporter, Stages(reporter, request)]
        if request.get("trace"):
            self._trace(send, plugins, _files(request))
            return
        hide()
        patched = audit.install(send, self._places, request)
        identity = bool(request.get("identity"))
        plugins.append(Closing(send, reporter, lambda: self._changes(patched()), judged=not identity))
        if identity:
            plugins.append(Imported(send, self._config["root"]))
        send("exit", self._main(_files(request), plugins))

    def _trace(self, send: Send, plugins: list[Any], files: list[str] | None) -> None:
        """Without an audit hook: one in Python would have threads that start at a time fail to install the tracer."""
        collector = choose_collector(self._config)
        imported = Imported(send, self._config["root"])
        collector.start()
        status = self._main(files, [*plugins, collector, imported])
        for path, lines in collector.import_lines().items():
            send("import-lines", path, sorted(lines))
        for path, by_test in collector.lines().items():
            send("lines", path, [[test, sorted(lines)] for test, lines in by_test.items()])
        send("exit", status)

    def _main(self, files: list[str] | None, plugins: list[Any]) -> int:
        """Collect `files` (None: what the options say) and run; the exit status."""
        arguments = [*self._config["pytest_args"], *(files or ())]
        return int(pytest.main(arguments, plugins=[LoadTests(), self._witness, *plugins]))


class Configured(Bare):
    """pytest with its options read, its plugins loaded and the first conftests imported, and nothing collected yet."""

    def _prepare(self) -> None:
        if tuple(int(part) for part in pytest.__version__.split(".")[:2]) >= (8, 2):  # as `pytest.main` does since then
            os.environ["PYTEST_VERSION"] = pytest.__version__
        self._pytest: Any = _prepareconfig([*self._config["pytest_args"]], [LoadTests(), self._witness])
        read_framework()

    def _main(self, files: list[str] | None, plugins: list[Any]) -> int:
        """Collect `files` and run, as `pytest.main` goes on from here; return the exit status."""
        if files is not None:
            self._pytest.args = files
        for plugin in plugins:
            self._pytest.pluginmanager.register(plugin)
        return int(self._pytest.hook.pytest_cmdline_main(config=self._pytest))


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


def _files(request: dict[str, Any]) -> list[str] | None:
    """Return the files of the tests asked for; None for all there are."""
    if request.get("tests") is None or request.get("whole"):
        return None
    return files_of(request["tests"])


# -------------------------------------------------------------------------- code in memory


def remember(config: dict[str, Any]) -> None:
    """Compile the unmodified project once, in the zygote, for children to import from memory.

    A text that differs from what was compiled is compiled anew.
    """
    paths = [os.path.join(config["root"], path) for path in config.get("sources", ())]
    compiled: dict[str, tuple[bytes, CodeType]] = {}
    for path in paths:
        with suppress(Exception):
            data = Path(path).read_bytes()
            compiled[path] = (data, compile(data, path, "exec", dont_inherit=True))
    _compile_from(compiled)
    _rewrite_from([path for path in paths if "test" in os.path.basename(path)])


def _compile_from(compiled: dict[str, tuple[bytes, CodeType]]) -> None:
    loader: Any = importlib.machinery.SourceFileLoader
    usual = loader.source_to_code

    def source_to_code(self: Any, data: Any, path: Any, **options: Any) -> Any:
        known = compiled.get(path) if isinstance(path, str) else None
        if known is not None and type(data) is bytes and data == known[0]:
            return known[1]
        return usual(self, data, path, **options)

    loader.source_to_code = source_to_code


def _rewrite_from(paths: list[str]) -> None:
    """pytest rewrites the assertions of test files on import, which costs more than compiling them."""
    usual: Any = getattr(rewrite, "_rewrite_test", None)
    if usual is None:
        return
    rewritten, no_options = {}, SimpleNamespace(getini=lambda name: False)  # asked whether a hook is wanted
    for path in paths:
        with suppress(Exception):
            rewritten[path] = usual(Path(path), no_options)

    def rewrite_test(fn: Any, config: Any) -> Any:
        known = rewritten.get(str(fn))
        if known is None or config.getini("enable_assertion_pass_hook"):
            return usual(fn, config)
        return known

    rewrite._rewrite_test = rewrite_test
