"""What only Landlock has: older kernels, an ordinary user, folders above the project, a caller that dies."""

from __future__ import annotations

import errno
import json
import os
import socket
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
import test_sandbox_isolation as isolation
from oracle_projects import Opened, shop
from sandbox_driver import LIMITS, gone_within, launch, needs_landlock, said

from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.sandbox import confinement
from rtc_inspector.core.oracle.sandbox.choose import choose_sandbox
from rtc_inspector.core.oracle.sandbox.guarded import LandlockSandbox
from rtc_inspector.core.oracle.sandbox.protocol import Claim

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def usable() -> None:
    needs_landlock()


@pytest.mark.parametrize("version", [1, 2, 3, 5])
def test_older_kernels_hold_the_same_claims(version: int, project: Path, tmp_path: Path) -> None:
    """What Landlock does not guard there, the filter of system calls does."""
    sandbox = LandlockSandbox(version)
    isolation.test_the_project_cannot_be_changed(sandbox, project)
    isolation.test_processes_outside_are_out_of_reach(LandlockSandbox(version))
    name = f"rtc-{uuid.uuid4().hex}"
    with socket.create_server(("127.0.0.1", 0)) as port, socket.socket(socket.AF_UNIX) as local:
        local.bind(f"\0{name}")
        local.listen()
        isolation.test_no_network(LandlockSandbox(version), (port.getsockname()[1], name), str(tmp_path / "bus"))


def test_a_processor_whose_numbers_are_unknown_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement.platform, "machine", lambda: "riscv64")
    with pytest.raises(SandboxError, match="knows no riscv64 processor"):
        choose_sandbox("landlock", None, lambda text: None)


def test_the_filter_is_made_for_the_other_processor_too(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = {}
    for machine in ("x86_64", "aarch64"):
        monkeypatch.setattr(confinement.platform, "machine", lambda machine=machine: machine)
        program = confinement._filter(1)
        lengths[machine] = len(program)
        for place, (code, true, false, value) in enumerate(program):
            reached = value if code == confinement._JUMP else max(true, false)
            jumps = code in (confinement._JUMP, confinement._EQUAL, confinement._AT_LEAST)
            assert not jumps or (max(true, false) < 256 and place + 1 + reached < len(program))
    assert lengths["aarch64"] < lengths["x86_64"] < 4096  # which has the older calls too


def test_what_lies_above_the_project_does_not_count(tmp_path: Path) -> None:
    """There it can be asked for, and not be read."""
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--no-such-option'\n")
    (tmp_path / "conftest.py").write_text("raise SystemExit\n")
    project = Opened(shop(tmp_path / "part"), sandbox="landlock")
    try:
        assert project.tests and not project.suite.excluded
    finally:
        project.oracle.close()


def test_two_processes_share_one_bound_of_their_own(tmp_path: Path) -> None:
    code = """
import threading, time
made = 0
try:
    for _ in range(100):
        threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
        made += 1
except RuntimeError:
    print(made, flush=True)
"""
    assert 0 < int(said(LandlockSandbox(), launch(code))) <= LIMITS.processes


def test_a_program_that_ended_its_fork_bomb_may_fork_at_once() -> None:
    """What was refused to the bomb a moment ago is not refused to it."""
    code = """
import os, signal
def forks():
    try:
        return os.fork()
    except BlockingIOError:
        return None
bombs = []
while (pid := forks()) is not None:
    if pid == 0:
        while True:
            forks() == 0 and signal.pause()
    bombs.append(pid)
for number in (signal.SIGSTOP, signal.SIGKILL):
    for pid in bombs:
        os.kill(pid, number)
for pid in bombs:
    os.waitpid(pid, 0)
if os.fork() == 0:
    print("forked", flush=True)
"""
    assert said(LandlockSandbox(), launch(code)).split() == ["forked"]


def test_orders_of_file_systems_are_not_carried_out() -> None:
    """Such as FICLONE, FS_IOC_GETFLAGS and FITRIM: files that can be read only could be changed by some of them."""
    code = """
import errno, fcntl
for order in (0x40049409, 0x80086601, 0xC0185879, 0x6686):
    try:
        fcntl.ioctl(0, order, bytearray(64))
    except OSError as error:
        print(errno.errorcode[error.errno], flush=True)
"""
    assert said(LandlockSandbox(), launch(code)).split() == [errno.errorcode[errno.ENOTSUP]] * 4


def test_everything_ends_with_the_caller(tmp_path: Path) -> None:
    script = (
        "import os, sys; sys.path[:0] = sys.argv[1:3]\n"
        "from sandbox_driver import launch, read_line\n"
        "from rtc_inspector.core.oracle.sandbox.guarded import LandlockSandbox\n"
        "code = 'import os; os.fork() or os.setsid(); print(1, flush=True); import time; time.sleep(300)'\n"
        "process = LandlockSandbox().start(launch(code, arguments=['rtc-landlock-mark']))\n"
        "assert read_line(process)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    folders = [str(ROOT), str(Path(__file__).parent)]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", script, *folders], env=environment) as caller:
        assert caller.wait(60) == -9
    assert gone_within("rtc-landlock-mark", 2.0)


AS_USER = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from rtc_inspector.core.oracle.sandbox.guarded import LandlockSandbox
from rtc_inspector.core.oracle.sandbox.protocol import Launch, Limits
sandbox = LandlockSandbox()
code = '''
import json, os
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines())
try:
    os.listdir("/tmp")
except PermissionError:
    print(json.dumps([os.getuid(), int(status["CapEff"], 16), status["NoNewPrivs"].strip(), sorted(os.environ)]))
'''
launch = Launch((sys.executable, "-I", "-S", "-c", code), "/", (), {"A": "b"}, Limits(256, 20, 16))
process = sandbox.start(launch)
line = process.stdout.readline()
process.close()
print(json.dumps([json.loads(line), sorted(sandbox.claims)]))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests ran as an ordinary user already")
def test_an_ordinary_user_is_none_with_rights() -> None:
    """Root runs everything else here; this runs the sandbox as nobody, with the system's own Python."""
    python = Path("/usr/bin/python3")
    version = subprocess.run([python, "-c", "import sys; print(sys.version_info >= (3, 11))"], capture_output=True)
    if version.stdout.strip() != b"True":
        pytest.skip("the system has no Python 3.11 that another user could run")
    words = [str(python), "-c", AS_USER, str(ROOT)]
    ran = subprocess.run(words, user=65534, group=65534, extra_groups=[], capture_output=True, text=True, timeout=60)
    if "ModuleNotFoundError" in ran.stderr:
        pytest.skip("another user cannot read this checkout")
    assert ran.returncode == 0, ran.stderr
    (uid, rights, no_new, names), claims = json.loads(ran.stdout)
    assert (uid, rights, no_new) == (65534, 0, "1")
    assert set(names) <= {"A", "LC_CTYPE"}  # the latter by Python itself
    assert Claim.UNPRIVILEGED in claims
