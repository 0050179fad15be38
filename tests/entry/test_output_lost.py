"""A run whose output finds no place, whose terminal closes, or whose server refuses it: told, recorded, resumable."""

from __future__ import annotations

import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from chat_server import ChatServer, chat_server, completion
from projects import Inspector

from rtc_inspector.core.store.reader import Reader


@dataclass
class Case:
    """A run over a few edits, which need no tests, on a server that a test holds up as it likes."""

    folder: Path
    server: ChatServer
    go: threading.Event

    @property
    def database(self) -> Path:
        return self.folder / "runs.sqlite"

    def command(self, *more: str) -> list[str]:
        edits = str(self.folder / "edits.jsonl")
        how = ["--endpoint", self.server.address, "--concurrency", "1", "--attempts", "1"]
        return [sys.executable, "-m", "rtc_inspector", "run", "--edits", edits, "--db", str(self.database), *how, *more]

    def status(self) -> str:
        """As it stands in the file, whoever has a claim on the run."""
        with closing(sqlite3.connect(self.database)) as db:
            return str(db.execute("SELECT status FROM runs").fetchone()[0])


@pytest.fixture
def case(tmp_path: Path) -> Iterator[Case]:
    lines = [f'{{"old": "alpha = compute(beta, {n})", "new": "alpha = compute(gamma, {n})"}}\n' for n in range(4)]
    (tmp_path / "edits.jsonl").write_text("".join(lines))
    go = threading.Event()
    go.set()

    def script(number: int, body: dict[str, object]) -> tuple[int, bytes, dict[str, str]]:
        if number > 2:
            go.wait(20)
        return 200, completion("x"), {}

    with chat_server(script) as server:
        yield Case(tmp_path, server, go)
        go.set()


def run(case: Case, own_folders: dict[str, str], redirect: str, *more: str) -> subprocess.CompletedProcess[str]:
    words = f"{shlex.join(case.command(*more))} {redirect}"
    return subprocess.run(["sh", "-c", words], env=own_folders, capture_output=True, text=True, timeout=60)


def test_a_full_disk_under_the_output_ends_the_run_in_order(case: Case, own_folders: dict[str, str]) -> None:
    done = run(case, own_folders, "> /dev/full", "--json")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "Standard output cannot be written: No space left on device." in done.stderr
    assert f"Go on with: rtc-inspector run --resume 1 --db {case.database}" in done.stderr
    assert case.status() == "interrupted"
    assert run(case, own_folders, "> /dev/null", "--json", "--resume", "1").returncode == 0
    assert case.status() == "finished"


def test_a_table_that_finds_no_place_costs_no_result(case: Case, own_folders: dict[str, str]) -> None:
    done = run(case, own_folders, "> /dev/full")
    assert done.returncode == 2 and "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
    assert "Standard output cannot be written" in done.stderr and "results are stored" in done.stderr
    assert case.status() == "finished"


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_do_no_harm(case: Case, own_folders: dict[str, str], closed: str) -> None:
    done = run(case, own_folders, closed)
    assert done.returncode == 0, done.stderr
    assert case.status() == "finished"
    with Reader.open(case.database) as reader:
        assert reader.run(1).items_admitted == 4


def test_a_closed_output_does_not_break_the_sandbox(project: Path, own_folders: dict[str, str]) -> None:
    """Its number would be given to a pipe of the sandbox, which then finds it closed."""
    command = [sys.executable, "-m", "rtc_inspector", "sample", str(project), "--regions", "2"]
    done = subprocess.run(["sh", "-c", f"{shlex.join(command)} >&-"], env=own_folders, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_terminal_that_closes_stops_the_run_in_order(
    case: Case, own_folders: dict[str, str], number: signal.Signals
) -> None:
    case.go.clear()
    pipe = subprocess.PIPE
    # Tests that are started by nohup would hand on that the signal is ignored.
    heed = partial(signal.signal, number, signal.SIG_DFL)
    process = subprocess.Popen(
        case.command("--json"), env=own_folders, stdout=pipe, stderr=pipe, text=True, preexec_fn=heed
    )
    assert process.stdout is not None
    while '"sample"' not in process.stdout.readline():
        pass
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Go on with: rtc-inspector run --resume 1" in errors
    assert case.status() == "interrupted"


def test_nohup_is_heeded(case: Case, own_folders: dict[str, str]) -> None:
    case.go.clear()
    command = ["sh", "-c", f"trap '' HUP; exec {shlex.join(case.command('--json'))}"]
    process = subprocess.Popen(command, env=own_folders, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    while '"sample"' not in process.stdout.readline():
        pass
    os.kill(process.pid, signal.SIGHUP)
    case.go.set()
    process.communicate(timeout=60)
    assert process.returncode == 0 and case.status() == "finished"


def test_a_key_that_is_refused_ends_the_run_at_once(tmp_path: Path, own_folders: dict[str, str]) -> None:
    lines = [f'{{"old": "alpha = compute(beta, {n})", "new": "alpha = compute(gamma, {n})"}}\n' for n in range(40)]
    (tmp_path / "edits.jsonl").write_text("".join(lines))
    with chat_server(lambda n, body: (401, b'{"error": {"message": "no such key"}}', {})) as server:
        case = Case(tmp_path, server, threading.Event())
        done = run(case, own_folders, "")
        assert len(server.asked) <= 2, "the one that was refused, and what was on its way"
    assert done.returncode == 2
    assert "status 401" in done.stderr and "no such key" in done.stderr and "--resume 1" in done.stderr


def test_memory_that_starts_no_test_is_refused(inside: Inspector, project: Path) -> None:
    done = inside("sample", project, "--memory", "1")
    assert done.returncode == 2 and "--memory" in done.stderr and "64" in done.stderr
