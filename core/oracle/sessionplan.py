"""How the process inside is started for one project: its files, paths, variables and pytest arguments."""

from __future__ import annotations

import base64
import stat
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rtc_inspector.core.oracle.bench.project import needs_no_pytest
from rtc_inspector.core.oracle.interpreter import Interpreter
from rtc_inspector.core.oracle.pytest_options import PytestOptions, configured_above
from rtc_inspector.core.oracle.sandbox.protocol import Launch, Limits
from rtc_inspector.core.oracle.sandbox.writable_folders import copied
from rtc_inspector.core.settings import OracleSettings

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
        """The same launch with another first message."""
        return replace(self, config={**self.config, **changes})

    def with_writable(self, folders: Iterable[Path]) -> SessionPlan:
        """With folders of the project in which tests may make files and change data, which is sent along."""
        opened = tuple(folders)
        copies = [_copy(path) for folder in opened for path in copied(folder)]
        return replace(self, launch=replace(self.launch, writable=opened)).with_config(copies=copies)

    def placed(self, scratch: str) -> SessionPlan:
        """For a sandbox whose writable folder is `scratch`."""
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
    """For the project at `root` (absolute, links resolved)."""
    lent = _lent_coverage(interpreter)
    readonly = (root, INSIDE, *interpreter.readonly, *([lent] if lent else []))
    limits = Limits(settings.memory_mib, settings.processes, settings.scratch_mib)
    argv = (str(interpreter.executable), "-s", "-B", "-u", str(INSIDE / "main.py"))
    launch = Launch(argv, str(root), readonly, _ENVIRONMENT, limits)
    config = {
        "root": str(root),
        "paths": list(_paths(root, interpreter)),
        "pytest_args": list(_arguments(root, options)),
        "memory_mib": limits.memory_mib,
        "address_space_mib": limits.address_space_mib,
        "scratch_mib": settings.scratch_mib,
        "coverage_folder": str(lent) if lent else None,
        "pytest_needed": not needs_no_pytest(root),
    }
    return SessionPlan(launch, config)


def _arguments(root: Path, options: PytestOptions) -> Iterator[str]:
    """Ours, then what is kept of the project's own."""
    yield from ("-q", "--tb=native", "--rootdir", str(root), "-o", "addopts=")
    yield "--continue-on-collection-errors"
    for name in _BLOCKED:
        yield from ("-p", f"no:{name}")
    if options.file is not None:
        yield from ("-c", str(options.file))
    elif configured_above(root):
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


def _lent_coverage(interpreter: Interpreter) -> Path | None:
    """The folder of our coverage package, when its C tracer fits and the target has none."""
    if interpreter.version >= (3, 12) or any((folder / "coverage").is_dir() for folder in interpreter.site_folders):
        return None
    import coverage

    suffix = sysconfig.get_config_var("EXT_SUFFIX") or ""
    folder = Path(coverage.__file__).parent
    fits = f".{interpreter.tag}-" in suffix and (folder / f"tracer{suffix}").exists()
    return folder if fits else None
