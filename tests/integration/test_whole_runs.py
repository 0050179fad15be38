"""Whole runs on a real model: their record, and what survives being killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from projects import write_shop

SMALL = ("--regions", "2", "--forward-samples", "1", "--seed", "3", "--context", "1024")
SHORT = ("--forward-max-tokens", "32", "--backward-max-tokens", "48")


@pytest.fixture(scope="module")
def environment(small_model: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Folders of our own; every attempt to reach a network address is written to attempts.txt."""
    base = tmp_path_factory.mktemp("whole-runs")
    (base / "hook").mkdir()
    (base / "hook" / "sitecustomize.py").write_text(
        "import os, sys\n"
        "def watch(event, arguments):\n"
        "    if event == 'socket.getaddrinfo' or (event == 'socket.connect' and isinstance(arguments[1], tuple)):\n"
        "        with open(os.environ['RTC_TEST_ATTEMPTS'], 'a') as stream:\n"
        "            stream.write(f'{event} {arguments[0] if event.endswith(\"info\") else arguments[1]}\\n')\n"
        "sys.addaudithook(watch)\n"
    )
    return {
        **os.environ,
        "XDG_DATA_HOME": str(base / "data"),
        "XDG_CACHE_HOME": str(base / "cache"),
        "PYTHONPATH": str(base / "hook"),
        "RTC_TEST_ATTEMPTS": str(base / "attempts.txt"),
        "RTC_TEST_PROJECT": str(write_shop(base / "shop")),
        "RTC_TEST_MODEL": str(small_model),
    }


def run_command(environment: dict[str, str], database: Path) -> list[str]:
    model = ("--model", environment["RTC_TEST_MODEL"])
    return command("run", environment["RTC_TEST_PROJECT"], *model, *SMALL, *SHORT, "--db", database, "--json")


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "rtc_inspector", *map(str, arguments)]


def traces(database: Path) -> set[tuple[object, ...]]:
    """What a run made, without what differs between any two runs (ids, times)."""
    with sqlite3.connect(database) as connection:
        rows = connection.execute(
            "SELECT i.key, s.role, p.sample_index, s.sample_index, s.seed, s.text, v.outcome FROM samples s"
            " JOIN items i ON i.id = s.item_id LEFT JOIN samples p ON p.id = s.parent_id"
            " LEFT JOIN last_verdicts v ON v.sample_id = s.id"
        ).fetchall()
    connection.close()
    return set(rows)


@pytest.fixture(scope="module")
def uninterrupted(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of a small run that nothing disturbed."""
    database = tmp_path_factory.mktemp("reference") / "runs.sqlite"
    arguments = run_command(environment, database)
    result = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    events = [json.loads(line) for line in result.stdout.splitlines()]
    (database.parent / "events.json").write_text(json.dumps(events))
    return database


def test_events_and_record_agree(uninterrupted: Path) -> None:
    events = json.loads((uninterrupted.parent / "events.json").read_text())
    assert events[0]["event"] == "run-started"
    last = events[-1]
    assert last["event"] == "run-finished"
    assert last["status"] == "finished"
    assert last["items"] == 2
    assert last["samples"] == 6
    assert 0 <= last["ci_low"] <= last["rtc_pass"] <= last["ci_high"] <= 1
    assert {event["event"] for event in events} == {
        "run-started", "item", "sample", "verdict", "score", "run-finished",
    }  # fmt: skip
    with sqlite3.connect(uninterrupted) as connection:
        roles = dict(connection.execute("SELECT role, count(*) FROM samples GROUP BY role"))
        assert roles == {"forward": 2, "backward": 2, "baseline": 2}
        judged = connection.execute("SELECT count(*) FROM verdicts WHERE outcome <> 'infrastructure'").fetchone()
        assert judged == (4,)
        prompts = connection.execute("SELECT count(*) FROM samples JOIN prompts ON hash = prompt_hash").fetchone()
        assert prompts == (6,)
        models = json.loads(connection.execute("SELECT models FROM runs").fetchone()[0])
        assert len(models["forward"]["sha256"]) == 64
        assert models["forward"]["quantization"]
    connection.close()


def test_nothing_leaves_the_machine(uninterrupted: Path, environment: dict[str, str]) -> None:
    attempts = Path(environment["RTC_TEST_ATTEMPTS"])
    assert not attempts.exists() or attempts.read_text() == ""


def started(environment: dict[str, str], database: Path) -> subprocess.Popen[str]:
    """A run that waits for its reader: a pipe of one page holds less than the events of two samples."""
    pipe = subprocess.PIPE
    arguments = run_command(environment, database)
    return subprocess.Popen(arguments, env=environment, stdout=pipe, stderr=pipe, text=True, pipesize=4096)


def events_of(process: subprocess.Popen[str]) -> Iterator[dict[str, object]]:
    assert process.stdout is not None
    for line in process.stdout:
        yield json.loads(line)


def wait_for_sample(process: subprocess.Popen[str], number: int) -> None:
    seen = 0
    for event in events_of(process):
        seen += event["event"] == "sample"
        if seen == number:
            return
    raise AssertionError("the run ended before it was to be disturbed")


def descendants(pid: int) -> list[tuple[int, str]]:
    """Process ids and command lines below `pid`."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, ValueError):
                continue
    below, found = {pid}, []
    for _ in range(6):
        below |= {child for child, parent in parents.items() if parent in below}
    for child in below - {pid}:
        try:
            found.append((child, Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode()))
        except OSError:
            continue
    return found


def finish(process: subprocess.Popen[str]) -> str:
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return output


def test_killed_run_resumes_to_the_same_results(
    uninterrupted: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    database = tmp_path / "runs.sqlite"
    process = started(environment, database)
    wait_for_sample(process, 3)
    below = descendants(process.pid)
    process.kill()
    process.communicate()
    before = traces(database)
    assert 3 <= len(before) < len(traces(uninterrupted))
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid, _ in below) and time.monotonic() < deadline:
        time.sleep(0.1)
    left = [line for pid, line in below if Path(f"/proc/{pid}").exists()]
    assert not left, "a killed run leaves no process behind"
    resumed = command("run", "--resume", 1, "--db", database, "--json")
    result = subprocess.run(resumed, env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert traces(database) == traces(uninterrupted)
    made = sum(json.loads(line)["event"] == "sample" for line in result.stdout.splitlines())
    assert made == len(traces(database)) - len(before), "what was stored is not made again"


def test_killed_parts_are_replaced(uninterrupted: Path, environment: dict[str, str], tmp_path: Path) -> None:
    database = tmp_path / "runs.sqlite"
    process = started({**environment, "DOCKER_HOST": "unix:///nowhere.sock"}, database)
    for part in ("rtc_inspector.core.models.worker", "bwrap"):
        wait_for_sample(process, 1)
        deadline, victims = time.monotonic() + 30, list[int]()
        while not victims and time.monotonic() < deadline:  # a judge is started when the first verdict is wanted
            victims = [pid for pid, line in descendants(process.pid) if part in line]
            time.sleep(0.01)
        assert victims, part
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
    finish(process)
    assert traces(database) == traces(uninterrupted)


def test_interrupted_run_says_how_to_go_on(environment: dict[str, str], tmp_path: Path) -> None:
    database = tmp_path / "runs.sqlite"
    process = started(environment, database)
    wait_for_sample(process, 1)
    asked = time.monotonic()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert time.monotonic() - asked < 40
    assert process.returncode == 130, errors
    assert json.loads(output.splitlines()[-1])["status"] == "interrupted"
    assert "--resume 1" in errors


def test_report_and_export_of_a_run(uninterrupted: Path, environment: dict[str, str], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    report = command("report", "--db", uninterrupted, "--run", 1, "--out", page)
    assert subprocess.run(report, env=environment, timeout=60).returncode == 0
    text = page.read_text()
    assert "Provenance" in text
    assert "http" not in text.replace("http-equiv", "")
    export = command("export", "--db", uninterrupted, "--run", 1, "--format", "jsonl")
    lines = subprocess.run(export, env=environment, capture_output=True, text=True, timeout=60).stdout.splitlines()
    assert len(lines) == 4
    assert all(json.loads(line)["outcome"] for line in lines)


BARE = (
    *("unshare", "-Ur", "sh", "-c"),
    "echo 0 > /proc/sys/user/max_user_namespaces && "
    'exec setpriv --bounding-set -all --inh-caps=-all --no-new-privs "$@"',
    "sh",
)
"""As in a default container: no capability, and no namespace can be made."""


def test_headless_demo_ends_with_its_table_without_any_privilege(environment: dict[str, str], tmp_path: Path) -> None:
    """Where privileges cannot be given up so, with those there are."""
    without = subprocess.run([*BARE, "true"], capture_output=True, text=True) if shutil.which("unshare") else None
    arguments = ("demo", "--headless", "--regions", 1, "--forward-samples", 1, "--context", 512)
    arguments += ("--forward-max-tokens", 8, "--backward-max-tokens", 8, "--db", tmp_path / "runs.sqlite")
    bare = without is not None and without.returncode == 0
    words = [*(BARE if bare else ()), *command(*arguments)]
    nobody = {**environment, "DOCKER_HOST": f"unix://{tmp_path}/nobody.sock"} if bare else environment
    result = subprocess.run(words, env=nobody, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert "RTC" in result.stdout and "lift" in result.stdout
    assert "pocketlab" in result.stdout
    if without is None or not bare:
        pytest.skip(f"privileges cannot be given up here: {without.stderr.strip() if without else 'no unshare'}")
    assert "tests/landlock" in result.stdout


def test_a_run_is_not_resumed_on_another_project(
    uninterrupted: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    other = command("run", write_shop(tmp_path / "other"), "--resume", 1, "--db", uninterrupted)
    result = subprocess.run(other, env=environment, capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    assert environment["RTC_TEST_PROJECT"] in result.stderr
