"""How the process inside is started for one project: its files, paths, variables and pytest options."""

from __future__ import annotations

import base64
import stat
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from rtc_inspector.core.oracle.bench.project import needs_no_pytest
from rtc_inspector.core.oracle.interpreter import Interpreter
from rtc_inspector.core.oracle.sandbox.host_system import copied
from rtc_inspector.core.oracle.sandbox.protocol import Launch, Limits
from rtc_inspector.core.pytest_files import FILES, configuration, words
from rtc_inspector.core.settings import OracleSettings

_USUAL_NAMES = ("test_*.py", "*_test.py")

# Options of reporting, coverage, distribution and early stopping: they change how a run is shown, not what is true.
_WITH_VALUE_WORDS = """
-r -n --numprocesses --dist --maxprocesses --max-worker-restart --tx --maxfail --tb --capture --color
--durations --durations-min --junitxml --junit-xml --junit-prefix --junit-suite-name --html --css --json
--json-report-file --verbosity --log-file --log-file-level --log-cli-level --show-capture --code-highlight
--basetemp --cache-show --reruns --reruns-delay --random-order-bucket --random-order-seed --cov-report
--cov-config --cov-fail-under --cov-context --report-log --profile-svg --pastebin --rootdir -c
--config-file --alluredir --duration
"""
_WITH_VALUE = frozenset(_WITH_VALUE_WORDS.split())
_ALONE_WORDS = """
-v -vv -vvv -q -qq -s -x -l --verbose --quiet --exitfirst --strict --strict-markers --strict-config
--showlocals --no-showlocals --lf --last-failed --ff --failed-first --nf --new-first --sw --stepwise
--stepwise-skip --pdb --trace --no-header --no-summary --cache-clear --cov-append --no-cov --no-cov-on-fail
--cov-branch --cov-reset --self-contained-html --json-report --random-order --full-trace --setup-show
--setup-plan --fixtures --co --collect-only --loadscope --profile --xfail-tb --force-short-summary
"""
_ALONE = frozenset(_ALONE_WORDS.split())

_MAYBE_WITH_VALUE = frozenset(["--cov", "--debug"])
_KEPT_WITH_VALUE = frozenset(["-p", "-m", "-k", "-o", "-W", "--ignore", "--deselect", "--import-mode"])


@dataclass(frozen=True, slots=True)
class PytestOptions:
    """Options for pytest, as the project sets them."""

    file: Path | None  # the configuration file, or None
    kept: tuple[str, ...]  # options of the project that change which tests run or how
    dropped: tuple[str, ...]  # those left out, as they stood
    values: Mapping[str, Any]  # the configuration's keys and values as read


def read_options(root: Path) -> PytestOptions:
    """Read the first file in `root` that configures pytest; none is no error, an unreadable one counts as none."""
    found = configuration(root)
    if found is None:
        return PytestOptions(None, (), (), {})
    file, values = found
    return PytestOptions(file, *split_addopts(words(values.get("addopts"))), values)


def only_unittest_finds_tests(options: PytestOptions, test_files: Iterable[str]) -> bool:
    """Return whether no test file bears a name that pytest looks for by itself, and one does that unittest looks for.

    Where the project tells pytest which names to look for, the answer is no.
    """
    names = [name.rpartition("/")[2] for name in test_files]
    if "python_files" in options.values or any(fnmatch(name, usual) for name in names for usual in _USUAL_NAMES):
        return False
    return any(fnmatch(name, "test*.py") for name in names)


def split_addopts(words: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(kept, dropped): an option stays unless it is known to be about display, coverage, distribution or stopping."""
    kept: list[str] = []
    dropped: list[str] = []
    rest = deque(words)
    while rest:
        word = rest.popleft()
        name, equals, _ = word.partition("=")
        into = dropped if _is_dropped(name) else kept
        into.append(word)
        with_value = name in _WITH_VALUE or name in _KEPT_WITH_VALUE
        if not equals and rest and (with_value or (name in _MAYBE_WITH_VALUE and not rest[0].startswith("-"))):
            into.append(rest.popleft())
    return tuple(kept), tuple(dropped)


def _is_dropped(name: str) -> bool:
    if name in _WITH_VALUE or name in _ALONE or name in _MAYBE_WITH_VALUE:
        return True
    if name.startswith(("--cov-", "--benchmark-json", "--junit")):
        return True
    return name.startswith(("-r", "-n", "-v", "-q")) and not name.startswith("--") and len(name) < 8


INSIDE = Path(__file__).parent / "inside"
# They reorder or repeat tests behind our back, or draw on the terminal.
_BLOCKED = ("cacheprovider", "randomly", "random_order", "rerunfailures", "flaky", "sugar")
# A fixed environment: same clock zone, hash seed and locale on every machine.
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUTF8": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "COLUMNS": "120",
    # git gives up on a file that is there and cannot be read, as the machine's own settings under Landlock.
    "GIT_CONFIG_NOSYSTEM": "1",
}


@dataclass(frozen=True, slots=True)
class SessionPlan:
    """A launch, and the first message sent to what was launched."""

    launch: Launch
    config: dict[str, Any]

    def with_config(self, **changes: Any) -> SessionPlan:
        return replace(self, config={**self.config, **changes})

    def with_writable(self, folders: Iterable[Path]) -> SessionPlan:
        """Return it with folders of the project in which tests may make files and change data, which is sent along."""
        opened = tuple(folders)
        copies = [_copy(path) for folder in opened for path in copied(folder)]
        return replace(self, launch=replace(self.launch, writable=opened)).with_config(copies=copies)

    def placed(self, scratch: str) -> SessionPlan:
        # hypothesis warns where it cannot write into the project, which fails tests that make warnings errors.
        places = {
            "HOME": f"{scratch}/home",
            "TMPDIR": scratch,
            "HYPOTHESIS_STORAGE_DIRECTORY": f"{scratch}/.hypothesis",
        }
        environment = {**self.launch.environment, **places}
        wiped = [scratch, "/dev/shm"] if scratch == "/tmp" else [scratch]
        wiped += map(str, self.launch.writable)
        return replace(self, launch=replace(self.launch, environment=environment)).with_config(wipe=wiped)


def _copy(path: Path) -> tuple[str, int, str]:
    return str(path), stat.S_IMODE(path.stat().st_mode), base64.b64encode(path.read_bytes()).decode()


def make_plan(root: Path, interpreter: Interpreter, options: PytestOptions, settings: OracleSettings) -> SessionPlan:
    """Return the plan for the project at `root` (absolute, links resolved)."""
    readonly = (root, INSIDE, *interpreter.readonly)
    limits = Limits(settings.memory_mib, settings.processes, settings.scratch_mib)
    argv = (str(interpreter.executable), "-s", "-B", "-u", str(INSIDE / "main.py"), "zygote")
    launch = Launch(argv, str(root), readonly, _ENVIRONMENT, limits)
    config = {
        "root": str(root),
        "paths": list(_paths(root, interpreter)),
        "pytest_args": list(_arguments(root, options)),
        "memory_mib": limits.memory_mib,
        "address_space_mib": limits.address_space_mib,
        "scratch_mib": settings.scratch_mib,
        "pytest_needed": not needs_no_pytest(root),
    }
    return SessionPlan(launch, config)


def _arguments(root: Path, options: PytestOptions) -> Iterator[str]:
    yield from ("-q", "--tb=native", "--rootdir", str(root), "-o", "addopts=")
    yield "--continue-on-collection-errors"
    for name in _BLOCKED:
        yield from ("-p", f"no:{name}")
    if options.file is not None:
        yield from ("-c", str(options.file))
    elif any((folder / name).exists() for folder in root.parents for name in FILES):
        # Not every sandbox hides what lies above the project: pytest would look for its own file there and be refused.
        yield from ("-c", "/dev/null", "--confcutdir", str(root))
    yield from options.kept
    # Foreign modules are imported before pytest starts, plugins' parts among them; a project may make warnings errors.
    yield from ("-W", "ignore::pytest.PytestAssertRewriteWarning")


def _paths(root: Path, interpreter: Interpreter) -> Iterator[str]:
    """Yield the project's folder, as `python -m pytest` has it, and `src` where that is the layout."""
    yield str(root)
    source = root / "src"
    if source.is_dir() and not (source / "__init__.py").exists() and source not in interpreter.editable:
        yield str(source)
