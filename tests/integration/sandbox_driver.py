"""Runs short Python programs inside a sandbox, with a deadline on everything."""

from __future__ import annotations

import gc
import os
import select
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.sandbox.guarded import LandlockSandbox
from rtc_inspector.core.oracle.sandbox.protocol import Claim, Launch, Limits, Process, Sandbox

PYTHON = str(Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}"))
ENGINE_SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "docker-engine.sh"
LIMITS = Limits(memory_mib=256, processes=24, scratch_mib=16)
DEADLINE = 30.0


@dataclass(frozen=True)
class Finished:
    status: int | None
    output: str
    errors: str


def launch(
    code: str,
    readonly: Sequence[Path] = (),
    environment: Mapping[str, str] | None = None,
    limits: Limits = LIMITS,
    arguments: Sequence[str] = (),
    cwd: str = "/",
) -> Launch:
    """A launch of our own interpreter, without site packages, on `code`."""
    return Launch(
        argv=(PYTHON, "-I", "-S", "-c", code, *arguments),
        cwd=cwd,
        readonly=(Path(sys.base_prefix), *readonly),
        environment={"PATH": "/usr/bin:/bin"} if environment is None else environment,
        limits=limits,
    )


@contextmanager
def started(sandbox: Sandbox, what: Launch) -> Iterator[Process]:
    process = sandbox.start(what)
    try:
        yield process
    finally:
        process.close()


def run(sandbox: Sandbox, what: Launch) -> Finished:
    """Run to the end."""
    with started(sandbox, what) as process:
        output = read_all(process)
        status = process.wait(DEADLINE)
        return Finished(status, output, process.stderr_tail())


def said(sandbox: Sandbox, what: Launch) -> str:
    """What the program printed; it must have ended well."""
    done = run(sandbox, what)
    assert done.status == 0, (done.status, done.output, done.errors)
    return done.output.strip()


def read_all(process: Process, deadline: float = DEADLINE) -> str:
    """Standard output until its end."""
    data, end = b"", time.monotonic() + deadline
    while True:
        left = end - time.monotonic()
        assert left > 0, f"no end of output; so far {data[-500:]!r}, errors {process.stderr_tail()!r}"
        if select.select([process.stdout], [], [], left)[0]:
            chunk = os.read(process.stdout.fileno(), 1 << 16)
            if not chunk:
                return data.decode(errors="replace")
            data += chunk


def read_line(process: Process, deadline: float = DEADLINE) -> bytes:
    """One line of standard output; empty at its end."""
    data, end = b"", time.monotonic() + deadline
    while not data.endswith(b"\n"):
        ready = select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))[0]
        assert ready, f"no line; so far {data!r}, errors {process.stderr_tail()!r}"
        chunk = os.read(process.stdout.fileno(), 1)
        if not chunk:
            break
        data += chunk
    return data


def processes_with(word: str) -> set[int]:
    """Host processes that have `word` in their command line."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if word.encode() in (entry / "cmdline").read_bytes():
                    found.add(int(entry.name))
            except OSError:
                continue
    return found


def gone_within(word: str, seconds: float) -> bool:
    """Whether no process with `word` is left before `seconds` passed."""
    end = time.monotonic() + seconds
    while processes_with(word):
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def needs(sandbox: Sandbox, claim: Claim) -> None:
    """Skip a test of what this sandbox does not claim."""
    if claim not in sandbox.claims:
        pytest.skip(f"{sandbox.name} does not claim {claim}")


def needs_landlock() -> None:
    """Skip where the kernel has none."""
    try:
        LandlockSandbox()
    except SandboxError as error:
        pytest.skip(error.problem)


class Engine:
    """A second engine, so that the one of the other tests lives on."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.environment = {**os.environ, "RTC_DOCKER_DIR": str(folder)}
        self.patch = patch

    def control(self, word: str) -> str:
        done = subprocess.run([ENGINE_SCRIPT, word], env=self.environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    @property
    def pid(self) -> int:
        return int(Path(self.environment["RTC_DOCKER_DIR"], "docker.pid").read_text())

    def __enter__(self) -> Engine:
        self.patch.setenv("DOCKER_HOST", self.control("start").removeprefix("DOCKER_HOST="))
        assert self.control("status") == f"DOCKER_HOST={os.environ['DOCKER_HOST']}"
        return self

    def __exit__(self, *_: object) -> None:
        self.control("stop")
        assert not Path(self.environment["RTC_DOCKER_DIR"]).exists()
        # docker-py leaves the socket of a refused connection to the collector, which would blame a later test.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()
