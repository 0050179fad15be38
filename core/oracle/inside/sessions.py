"""Sessions of pytest, as far as they can be made before the fork: bare, configured, or with the suite collected."""

from __future__ import annotations

import contextlib
import fnmatch
import importlib.machinery
import os
import sys
import unittest
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any

import pytest
from _pytest.assertion import rewrite
from _pytest.config import _prepareconfig

from .candidate import REFUSALS, files_of, serve, take_up, texts_of
from .child import Send, flush
from .codeswap import Functions, Outline, Refusal, locate, swap
from .messages import read_framework
from .probes import Collector
from .reporter import Reporter, Stages, Witness
from .sources import install
from .tampering import Places, hear_audit, hide, snapshot

PATTERN = "test*.py"  # what unittest looks for by itself


class LoadTests:
    """A plugin: modules and packages that define `load_tests` give the tests it adds."""

    if hasattr(pytest, "version_tuple"):  # pytest 7 and later

        def pytest_collect_file(self, file_path: Any, parent: Any) -> Any:
            """Take a package's own file, which pytest looks into only where it is named."""
            if file_path.name != "__init__.py" or parent.session.isinitpath(file_path):
                return None
            if _is_pytests(parent.config, str(file_path)) or b"load_tests" not in file_path.read_bytes():
                return None
            return PackageTests.from_parent(parent, path=file_path)

    def pytest_pycollect_makeitem(self, collector: Any, name: str, obj: Any) -> Any:
        if name == "load_tests" and isinstance(collector, pytest.Module) and callable(obj):
            return Added.from_parent(collector, name=name, function=obj)
        return None


class PackageTests(pytest.Module):
    """The file of a package, of which nothing but `load_tests` is collected."""

    def collect(self) -> Iterator[pytest.Collector]:
        function = getattr(self.obj, "load_tests", None)
        if callable(function):
            yield Added.from_parent(self, name="load_tests", function=function)


class Added(pytest.Collector):
    """What one `load_tests` adds to the tests that pytest finds by itself."""

    def __init__(self, *, function: Any, **others: Any) -> None:
        super().__init__(**others)
        self._function = function

    def collect(self) -> Iterator[pytest.Item]:
        """Yield an item a test case; those of the module's own classes are pytest's already."""
        module: Any = getattr(self.parent, "obj", None)
        own = {value for value in vars(module).values() if isinstance(value, type)}
        package = hasattr(module, "__path__")
        loader: Any = unittest.TestLoader()
        if package:  # a loader that is amid discovery, so that looking through the package does not ask it again
            folder = os.path.dirname(os.path.abspath(module.__file__))
            for _ in module.__name__.split("."):
                folder = os.path.dirname(folder)
            loader._top_level_dir = folder
            loader._loading_packages.add(module.__name__)
        for case in _cases(self._function(loader, unittest.TestSuite(), PATTERN if package else None)):
            file = str(getattr(sys.modules.get(type(case).__module__), "__file__", None) or "")
            if type(case) not in own and not (package and _is_pytests(self.config, file)):
                yield AddedCase.from_parent(self, name=case.id(), case=case)


class AddedCase(pytest.Item):
    """One test case, run as unittest would."""

    def __init__(self, *, case: Any, **others: Any) -> None:
        super().__init__(**others)
        self._case = case

    def runtest(self) -> None:
        result = unittest.TestResult()
        self._case.run(result)
        for _, text in [*result.errors, *result.failures]:
            raise AssertionError(text)
        for _, reason in result.skipped:
            pytest.skip(reason)

    def repr_failure(self, excinfo: Any, style: Any = None) -> str:
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        return self.path, None, self.name


def _is_pytests(config: Any, file: str) -> bool:
    return any(fnmatch.fnmatch(os.path.basename(file), pattern) for pattern in config.getini("python_files"))


def _cases(suite: Any) -> Iterator[Any]:
    if isinstance(suite, unittest.TestCase):
        yield suite
        return
    for inner in suite or ():
        yield from _cases(inner)


class Bare:
    """A session of pytest that a child begins from nothing but the modules that were imported in the zygote.

    Where more can be done before it is known what is to be judged, `Configured` or `Collected` does it in the zygote,
    once, and each child goes on with its copy.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        self._config = config
        self._finder = install()
        self._witness = Witness()
        self._prepare()
        self._changes = snapshot()
        self._places = Places(config["root"])

    def _prepare(self) -> None:
        """Go as far as can be gone in the zygote."""

    def run(self, send: Send, request: dict[str, Any]) -> None:
        if request.get("changes") and not take_up(send, request, self._config, self._finder):
            return
        reporter = Reporter(self._witness, self._config["root"])
        reporter.begin(send, request)
        plugins: list[Any] = [reporter, Stages(reporter, request)]
        if request.get("trace"):
            collector, imported = Collector(self._config["root"]), Imported(self._config["root"], send)
            collector.start()
            status = self._main(_files(request), [*plugins, collector, imported])
            collector.send(send)
            send("exit", status)
            return
        hide()
        patched = hear_audit(send, self._places, request)
        identity = bool(request.get("identity"))
        plugins.append(Closing(send, reporter, lambda: self._changes(patched()), judged=not identity))
        if identity:
            plugins.append(Imported(self._config["root"], send))
        send("exit", self._main(_files(request), plugins))

    def _main(self, files: list[str] | None, plugins: list[Any]) -> int:
        """Collect `files` (None: what the options say) and run; return the exit status."""
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
        if files is not None:
            self._pytest.args = files
        for plugin in plugins:
            self._pytest.pluginmanager.register(plugin)
        return int(self._pytest.hook.pytest_cmdline_main(config=self._pytest))


class Closing:
    """A plugin that gathers the evidence at the session's end; a judged session ends there."""

    def __init__(self, send: Send, reporter: Reporter, changes: Callable[[], list[str]], *, judged: bool) -> None:
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

    def __init__(self, root: str, send: Send | None = None) -> None:
        """`root`: of the project. What is imported by now does not count as imported by tests."""
        self._send = send
        self._root = root + os.sep
        self._known = set(sys.modules)
        self._prepared = set(self._known)
        self._early: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self) -> None:
        """Remember the modules: by now pytest is configured by its options, plugins and first conftests."""
        self._prepared = set(sys.modules)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: Any) -> None:
        """Look once for conftests and what they import.

        What plugins have imported in between they may have changed (pytest changes pdb): that must not be there before.
        """
        self._known |= set(sys.modules) - self._prepared
        files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        below = (file for file in files if isinstance(file, str) and file.startswith(self._root))
        self._early = sorted({os.path.relpath(file, self._root).replace(os.sep, "/") for file in below})

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Look now: what plugins import to say farewell serves no test."""
        if self._send is not None:
            self.report(self._send)

    def report(self, send: Send) -> None:
        modules, found = list(sys.modules.items()), []
        loaders = {name: type(getattr(module, "__loader__", None)).__name__ for name, module in modules}
        plugins = {name.split(".", 1)[0] for name, loader in loaders.items() if loader == "AssertionRewritingHook"}
        for name, module in modules:
            file = getattr(module, "__file__", None)
            foreign = isinstance(file, str) and not file.startswith(self._root) and "pytest" not in name
            new = name not in self._known and name.split(".", 1)[0] not in plugins
            if foreign and new and getattr(module, "__spec__", None) is not None:
                found.append(name)
        send("early", self._early)
        send("modules", found)


def _files(request: dict[str, Any]) -> list[str] | None:
    if request.get("tests") is None or request.get("whole"):
        return None
    return files_of(request["tests"])


# -------------------------------------------------------------------------- code in memory


def remember(config: dict[str, Any]) -> Callable[[dict[str, Any]], None]:
    """Compile the unmodified project once, in the zygote, for children to import where the text is the same.

    Return what rewrites the assertions of the test files that a request needs first, before it is forked.
    """
    paths = [os.path.join(config["root"], path) for path in config.get("sources", ())]
    compiled: dict[str, tuple[bytes, CodeType]] = {}
    for path in paths:
        with suppress(Exception):
            data = Path(path).read_bytes()
            compiled[path] = (data, compile(data, path, "exec", dont_inherit=True))
    loader: Any = importlib.machinery.SourceFileLoader
    usual = loader.source_to_code

    def source_to_code(self: Any, data: Any, path: Any, **options: Any) -> Any:
        kept = compiled.get(path) if isinstance(path, str) else None
        if kept is not None and type(data) is bytes and data == kept[0]:
            return kept[1]
        return usual(self, data, path, **options)

    loader.source_to_code = source_to_code
    return _rewriting(config["root"], config.get("rewritten", []))


def _rewriting(root: str, files: list[str]) -> Callable[[dict[str, Any]], None]:
    """Return what rewrites assertions once, which pytest does on import and which costs more than compiling."""
    usual: Any = getattr(rewrite, "_rewrite_test", None)
    rewritten: dict[str, Any] = {}
    no_options = SimpleNamespace(getini=lambda name: False)  # asked whether a hook is wanted

    def rewrite_test(fn: Any, config: Any) -> Any:
        kept = rewritten.get(str(fn))
        if kept is None or config.getini("enable_assertion_pass_hook"):
            return usual(fn, config)
        return kept

    def prepare(request: dict[str, Any]) -> None:
        first = request.get("stages", [request.get("tests")])[0]
        asked = None if first is None or request.get("whole") else frozenset(files_of(first))
        for path in files if usual is not None else []:
            full = os.path.join(root, path)
            if full not in rewritten and (asked is None or path in asked or path.endswith("conftest.py")):
                rewritten[full] = None
                with suppress(Exception):
                    rewritten[full] = usual(Path(full), no_options)

    if usual is not None:
        rewrite._rewrite_test = rewrite_test
    return prepare


class Collected(Configured):
    """A pytest session with its items collected; `found`: these, and the lines that ran where that was traced."""

    def _prepare(self) -> None:
        traced = bool(self._config.get("trace"))
        self.found: dict[str, Any] = {}
        self._collector, self._imported = Collector(self._config["root"]), Imported(self._config["root"])
        if traced:
            self._collector.start()
        super()._prepare()
        self._imported.pytest_cmdline_main()
        if traced:
            self._pytest.pluginmanager.register(self._imported)
        self._pytest._do_configure()
        self._session: Any = pytest.Session.from_config(self._pytest)
        self._pytest.hook.pytest_sessionstart(session=self._session)
        self._pytest.hook.pytest_collection(session=self._session)
        if self._witness.uncollected:
            raise ImportError("cannot be collected: " + ", ".join(self._witness.uncollected[:3]))
        if traced:
            self._collector.stop()
            self.found = {
                "tests": [item.nodeid for item in self._session.items],
                "import_lines": self._collector.import_lines(),
                "modules": list(sys.modules),
            }
        self._functions = Functions()
        self._outlines: dict[str, Outline] = {}
        self._reporter = Reporter(self._witness, self._config["root"])
        self._pytest.pluginmanager.register(self._reporter)
        self._items: dict[str, list[Any]] = {}
        for item in self._session.items:
            self._items.setdefault(item.nodeid, []).append(item)

    def refusal(self, request: dict[str, Any]) -> str:
        """Return why a fresh import must judge, before anything is forked; empty when it need not.

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
        if request.get("changes") and not self._place(send, request):
            return
        reporter, session = self._reporter, self._session
        reporter.begin(send, request)
        stages = Stages(reporter, request, self._items)
        stages.start(session)
        # The capture files are shared with earlier children: drop what a killed one left.
        capturing = getattr(self._pytest.pluginmanager.getplugin("capturemanager"), "_global_capturing", None)
        for name in ("out", "err"):
            with contextlib.suppress(Exception):
                stream: Any = getattr(capturing, name)
                stream.tmpfile.seek(0)
                stream.tmpfile.truncate()
        if request.get("trace"):
            self._pytest.pluginmanager.register(self._collector)
            self._collector.start()
            self._pytest.hook.pytest_runtestloop(session=session)
            self._imported.report(send)
            self._collector.send(send)
        else:
            hide()
            patched = hear_audit(send, self._places, request)
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


def _change(request: dict[str, Any]) -> dict[str, Any]:
    return {"import_lines": request["import_lines"], **request["changes"][0]}
