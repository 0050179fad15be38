"""What only bubblewrap has: an ordinary user, a caller that dies, machines without namespaces or control groups."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sandbox_driver import LIMITS, gone_within, launch, processes_with, read_line, run, said, started

from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.sandbox import bubblewrap
from rtc_inspector.core.oracle.sandbox.bubblewrap import BubblewrapSandbox
from rtc_inspector.core.oracle.sandbox.choose import choose_sandbox
from rtc_inspector.core.oracle.sandbox.protocol import Claim, Limits

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def usable() -> None:
    try:
        choose_sandbox("bubblewrap", None, lambda text: None)
    except SandboxError as error:
        pytest.skip(str(error))


def test_everything_ends_with_the_caller() -> None:
    script = (
        "import os, sys; sys.path[:0] = sys.argv[1:3]\n"
        "from sandbox_driver import launch, read_line\n"
        "from rtc_inspector.core.oracle.sandbox.bubblewrap import BubblewrapSandbox\n"
        "code = 'print(1, flush=True); import time; time.sleep(300)'\n"
        "process = BubblewrapSandbox().start(launch(code, arguments=['rtc-caller-mark']))\n"
        "assert read_line(process)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    folders = [str(ROOT), str(Path(__file__).parent)]
    with subprocess.Popen([sys.executable, "-c", script, *folders]) as caller:
        assert caller.wait(60) == -9
    assert gone_within("rtc-caller-mark", 1.0)
    if os.geteuid() == 0:
        end = time.monotonic() + 5
        while left := _groups(f"rtc-inspector-{caller.pid}-"):
            assert time.monotonic() < end, left
            time.sleep(0.05)


def _groups(beginning: str) -> list[str]:
    """Control groups with such names; others may go while they are listed."""
    folders = (names for _, names, _ in os.walk("/sys/fs/cgroup"))
    return [name for names in folders for name in names if name.startswith(beginning)]


def test_limits_for_each_process_where_no_group_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "group_maker", lambda: None)
    sandbox = BubblewrapSandbox()
    assert Claim.BOUNDED_MEMORY not in sandbox.claims
    assert {Claim.BOUNDED_MEMORY_EACH, Claim.BOUNDED_PROCESSES} <= sandbox.claims
    assert "not for all together" in sandbox.detail
    code = """
import os, time
try:
    bytearray(LIMIT << 20)
except MemoryError:
    print("bounded", flush=True)
made = 0
for _ in range(200):
    try:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        made += 1
    except OSError:
        break
print(made, flush=True)
""".replace("LIMIT", str(LIMITS.memory_mib))
    with started(sandbox, launch(code, arguments=["rtc-each-mark"])) as process:
        assert read_line(process) == b"bounded\n"
        assert 0 < int(read_line(process)) <= LIMITS.processes
    assert not processes_with("rtc-each-mark")


def test_groups_of_killed_makers_are_swept(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    abandoned, kept = (tmp_path / f"rtc-inspector-{pid}-0" for pid in (ended.pid, os.getpid()))
    abandoned.mkdir()
    kept.mkdir()
    bubblewrap.sweep(tmp_path)
    assert not abandoned.exists() and kept.exists()


def test_a_folder_that_bounds_nothing_makes_no_group(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no controller"):
        bubblewrap.group_of_folders([tmp_path], Limits(64, 8, 8))
    assert list(tmp_path.iterdir()) == []


def test_limits_are_written_for_both_versions_of_groups(tmp_path: Path) -> None:
    second, memory, processes = (tmp_path / name for name in ("second", "memory", "processes"))
    for folder, names in (
        (second, ["memory.max", "memory.swap.max", "pids.max"]),
        (memory, ["memory.limit_in_bytes"]),
        (processes, ["pids.max"]),
    ):
        folder.mkdir()
        for name in names:
            (folder / name).write_text("max")
    for folders in ((second,), (memory, processes)):
        bubblewrap._write_limits(folders, Limits(memory_mib=64, processes=8, scratch_mib=8))
    assert (second / "memory.max").read_text() == (memory / "memory.limit_in_bytes").read_text() == str(64 << 20)
    assert (second / "memory.swap.max").read_text() == "0"
    assert (second / "pids.max").read_text() == (processes / "pids.max").read_text() == "10"


def test_a_refused_namespace_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A bwrap that cannot make namespaces ends at once with a line on standard error."""
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(SandboxError, match="No permissions to create new namespace") as caught:
        choose_sandbox("bubblewrap", None, lambda text: None)
    assert "Docker" in caught.value.remedy


def test_a_missing_bwrap_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match="not installed"):
        choose_sandbox("bubblewrap", None, lambda text: None)


def test_a_project_in_place_of_the_scratch_space_is_refused() -> None:
    with pytest.raises(SandboxError, match="as a whole"):
        BubblewrapSandbox().start(launch("", readonly=[Path("/tmp")]))


def test_a_linked_project_is_there_under_both_names(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("here")
    (tmp_path / "link").symlink_to("real")
    code = "import sys; print(*(open(folder + '/file').read() for folder in sys.argv[1:]))"
    paths = [str(tmp_path / name) for name in ("real", "link")]
    assert said(BubblewrapSandbox(), launch(code, readonly=[tmp_path / "link"], arguments=paths)) == "here here"


AS_USER = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from rtc_inspector.core.oracle.sandbox.bubblewrap import BubblewrapSandbox
from rtc_inspector.core.oracle.sandbox.protocol import Launch, Limits
sandbox = BubblewrapSandbox()
code = '''
import json, os, socket
status = dict(line.split(":\\\\t", 1) for line in open("/proc/self/status").read().splitlines())
made = 0
for _ in range(100):
    try:
        if os.fork() == 0:
            os.read(0, 1)
            os._exit(0)
        made += 1
    except OSError:
        break
print(json.dumps([os.getpid(), os.getuid(), int(status["CapEff"], 16) + int(status["CapBnd"], 16), made,
    sorted(os.environ), os.listdir("/")]), flush=True)
os.read(0, 1)
'''
launch = Launch((sys.executable, "-I", "-S", "-c", code), "/", (), {"A": "b"}, Limits(256, 20, 16))
process = sandbox.start(launch)
line = process.stdout.readline()
process.close()
print(json.dumps([os.getuid(), json.loads(line), process.poll(), sorted(sandbox.claims)]))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests ran as an ordinary user already")
def test_an_ordinary_user_gets_the_same() -> None:
    """Root runs everything else here; this runs the sandbox as nobody, with the system's own Python."""
    python = Path("/usr/bin/python3")
    version = subprocess.run([python, "-c", "import sys; print(sys.version_info >= (3, 11))"], capture_output=True)
    if version.stdout.strip() != b"True":
        pytest.skip("the system has no Python 3.11 that another user could run")
    ran = subprocess.run(
        [python, "-c", AS_USER, ROOT],
        user=65534,
        group=65534,
        extra_groups=[],
        capture_output=True,
        text=True,
        timeout=60,
    )
    if "PermissionError" in ran.stderr or "ModuleNotFoundError" in ran.stderr:
        pytest.skip("another user cannot read this checkout")
    assert ran.returncode == 0, ran.stderr
    outside, (pid, uid, rights, made, names, top), status, claims = json.loads(ran.stdout)
    assert (outside, pid, uid, rights, status) == (65534, 1, 1000, 0, 137)
    assert 0 < made <= 20
    assert set(names) <= {"A", "PWD", "LC_CTYPE"}  # the last by Python itself
    assert "work" not in top and "srv" not in top
    assert Claim.BOUNDED_PROCESSES in claims


def test_a_launch_that_cannot_change_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    done = run(BubblewrapSandbox(), launch("", cwd=str(tmp_path / "there")))
    assert done.status == 1 and "there" in done.errors
