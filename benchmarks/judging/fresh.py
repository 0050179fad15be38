"""The way without an oracle: `python -m pytest` in a new process on a copy that holds the candidate."""

from __future__ import annotations

import contextlib
import io
import os
import select
import shutil
import sys
import tarfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rtc_inspector.core.oracle.interpreter import find_interpreter
from rtc_inspector.core.oracle.sandbox.protocol import Launch, Sandbox
from rtc_inspector.core.oracle.sessionplan import make_plan, read_options
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.types import Candidate

_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "venv", "env", "__pycache__", ".tox", ".pytest_cache", ".hypothesis"
)
# Compiled code of the unmodified project, as a developer's folder has it; `{0}` is where it is put.
_COMPILE = """
import io, os, sys, tarfile
sys.stdout = sys.stderr; out = os.fdopen(os.dup(1), "wb"); os.dup2(2, 1)
sys.pycache_prefix = "{0}"; sys.dont_write_bytecode = False; sys.path.insert(0, "")
import pytest
pytest.main(sys.argv[1:])
tarfile.open(fileobj=out, mode="w|").add("{0}", ".") if os.path.isdir("{0}") else None
"""


def copy_project(project: Path, folder: Path) -> Path:
    """The project without its history, environments and caches; times of files are kept."""
    return Path(shutil.copytree(project, folder / project.name, ignore=_LEFT_OUT))


@dataclass(frozen=True)
class Fresh:
    """How one process ended. `passed`: exit status 0."""

    passed: bool
    seconds: float
    timed_out: bool
    said: str


class FreshRuns:
    """Plain pytest runs inside a sandbox, for the candidate is code that may do anything."""

    def __init__(self, root: Path, sandbox: Sandbox, settings: OracleSettings, set_aside: Sequence[str]) -> None:
        """`root` is a copy of ours; `set_aside`: tests that fail on the unmodified project."""
        interpreter, options = find_interpreter(root, settings.python, print), read_options(root)
        plan = make_plan(root, interpreter, options, settings).placed(sandbox.scratch)
        source = root / "src" if (root / "src").is_dir() else root
        environment = {**plan.launch.environment, "HOME": sandbox.scratch, "PYTHONPATH": str(source)}
        self._root, self._sandbox = root, sandbox
        self._launch: Launch = replace(plan.launch, environment=environment)
        self._python = str(interpreter.executable)
        self._own = ["-q", "-p", "no:cacheprovider", "-o", "addopts=", *options.kept]
        self._aside = [word for test in set_aside for word in ("--deselect", test)]
        self.limit = 120.0

    def compile_into(self, folder: Path) -> None:
        """Fill `folder` with compiled code of the project and its tests, which later runs read."""
        folder.mkdir()
        inside = f"{self._sandbox.scratch}/compiled"
        launch = replace(self._launch, argv=(self._python, "-c", _COMPILE.format(inside), *self._own))
        data = output_of(self._sandbox, launch, 600.0)[1]
        with tarfile.open(fileobj=io.BytesIO(data), mode="r|") as tar:
            tar.extractall(folder, filter="data")
        environment = {**self._launch.environment, "PYTHONPYCACHEPREFIX": str(folder)}
        self._launch = replace(self._launch, readonly=(*self._launch.readonly, folder), environment=environment)

    def whole(self, candidate: Candidate | None) -> Fresh:
        """The whole suite."""
        return self._run(candidate, [*self._own, *self._aside])

    def covering(self, candidate: Candidate, tests: Sequence[str]) -> Fresh:
        """The covering tests up to the first failure."""
        return self._run(candidate, [*self._own, "-x", *tests])

    def _run(self, candidate: Candidate | None, words: Sequence[str]) -> Fresh:
        if candidate is None:
            return self._timed(words)
        path = self._root / candidate.file.path
        original, times = path.read_bytes(), path.stat()
        try:
            path.write_bytes(candidate.new_text.encode(candidate.file.encoding))
            return self._timed(words)
        finally:
            path.write_bytes(original)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def _timed(self, words: Sequence[str]) -> Fresh:
        started = time.perf_counter()
        launch = replace(self._launch, argv=(self._python, "-m", "pytest", *words))
        status, said = output_of(self._sandbox, launch, self.limit)
        seconds = time.perf_counter() - started
        return Fresh(status == 0, seconds, status is None, said.decode(errors="replace")[-2000:])


def output_of(sandbox: Sandbox, launch: Launch, limit: float) -> tuple[int | None, bytes]:
    """Exit status, None when time was up, and standard output."""
    process, data, end = sandbox.start(launch), bytearray(), time.monotonic() + limit
    try:
        while select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))[0]:
            piece = os.read(process.stdout.fileno(), 1 << 16)
            if not piece:
                return process.wait(10.0), bytes(data)
            data += piece
        return None, bytes(data)
    finally:
        process.close()


def note(text: str) -> None:
    """For people, apart from the figures."""
    print(text, file=sys.stderr, flush=True)


def processor_seconds() -> float:
    """Of this process and all below it, those included that have ended and were waited for."""
    parents, used = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            parents[int(folder.name)], used[int(folder.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    found = [os.getpid()]
    for pid in found:
        found.extend(child for child, parent in parents.items() if parent == pid)
    return sum(used.get(pid, 0) for pid in found) / os.sysconf("SC_CLK_TCK")
