"""One suite for every sandbox: what it claims holds, against programs that try otherwise."""

from __future__ import annotations

import json
import os
import shutil
import socket
import statistics
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from sandbox_driver import (
    LIMITS,
    gone_within,
    launch,
    processes_with,
    read_all,
    read_line,
    run,
    said,
    started,
)

from core.errors import SandboxError
from core.oracle.sandbox.choose import choose_sandbox
from core.oracle.sandbox.claims import Claim
from core.oracle.sandbox.protocol import Sandbox

ECHO = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"


@pytest.fixture(scope="module", params=["bubblewrap", "docker", "none"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    if request.param == "docker":
        request.getfixturevalue("docker_engine")
    elif request.param == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    return choose_sandbox(request.param, None, lambda text: None)


def needs(sandbox: Sandbox, claim: Claim) -> None:
    """Skip a test of what this sandbox does not claim."""
    if claim not in sandbox.claims:
        pytest.skip(f"{sandbox.name} does not claim {claim}")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of one file. Its folder is closed to others, as temporary folders are."""
    folder = tmp_path / "project"
    folder.mkdir(mode=0o755)
    (folder / "module.py").write_text("ANSWER = 42\n")
    return folder


# ------------------------------------------------------------------ pipes


def test_a_line_comes_back_quickly(sandbox: Sandbox) -> None:
    with started(sandbox, launch(ECHO)) as process:
        times = []
        for number in range(60):
            begin = time.perf_counter()
            process.stdin.write(b"%d\n" % number)
            assert read_line(process) == b"%d\n" % number
            times.append(time.perf_counter() - begin)
    assert statistics.median(times[10:]) < 0.02


def test_megabytes_go_both_ways_unchanged(sandbox: Sandbox) -> None:
    data = b"".join(b"%08d" % number for number in range(3 * 131072 // 8 * 8)) + b"\n"
    received = bytearray()
    with started(sandbox, launch(ECHO)) as process:

        def send() -> None:
            view = memoryview(data)
            while view:
                view = view[process.stdin.write(view[: 1 << 16]) :]

        sender = threading.Thread(target=send)
        sender.start()
        while len(received) < len(data):
            chunk = os.read(process.stdout.fileno(), 1 << 16)
            assert chunk
            received += chunk
        sender.join(10)
    assert bytes(received) == data


def test_the_program_sees_the_end_of_its_input(sandbox: Sandbox) -> None:
    with started(sandbox, launch("import sys; print(len(sys.stdin.read()))")) as process:
        process.stdin.write(b"four")
        process.stdin.close()
        assert read_all(process) == "4\n"
        assert process.wait(20) == 0


def test_standard_error_is_kept_apart_and_does_not_block(sandbox: Sandbox) -> None:
    done = run(sandbox, launch("import sys; sys.stderr.write('x' * 3_000_000 + 'the end'); print('out')"))
    assert done.output == "out\n"
    assert done.errors.endswith("xxxthe end") and len(done.errors) <= 16384


def test_exit_status(sandbox: Sandbox) -> None:
    assert run(sandbox, launch("raise SystemExit(3)")).status == 3


def test_only_the_three_pipes_are_open(sandbox: Sandbox) -> None:
    code = "import os; print([f for f in range(3, 256) if os.path.exists(f'/proc/self/fd/{f}')])"
    # The listing of the folder itself is not one: each is looked up by name.
    assert said(sandbox, launch(code)) == "[]"


def test_a_program_that_is_not_there_is_said(sandbox: Sandbox) -> None:
    what = replace(launch(""), argv=("/no/such/python",))
    try:
        with started(sandbox, what) as process:
            status = process.wait(20)
            assert status is not None and status != 0
            assert "/no/such/python" in process.stderr_tail()
    except SandboxError as error:
        assert "/no/such/python" in error.problem


def test_a_missing_folder_is_said(sandbox: Sandbox, tmp_path: Path) -> None:
    if sandbox.name == "none":
        pytest.skip("none shows no folders")
    with pytest.raises(SandboxError, match="cannot be read"):
        sandbox.start(launch("", readonly=[tmp_path / "missing"]))


def test_a_process_outlives_the_thread_that_started_it(sandbox: Sandbox) -> None:
    made = []
    thread = threading.Thread(target=lambda: made.append(sandbox.start(launch(ECHO))))
    thread.start()
    thread.join(30)
    try:
        time.sleep(0.2)
        assert made[0].poll() is None
        made[0].stdin.write(b"still here\n")
        assert read_line(made[0]) == b"still here\n"
    finally:
        made[0].close()


# ------------------------------------------------------------------ files


def test_the_project_is_there(sandbox: Sandbox, project: Path) -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); import module, os; print(module.ANSWER, os.getcwd())"
    what = launch(code, readonly=[project], arguments=[str(project)], cwd=str(project))
    assert said(sandbox, what) == f"42 {project}"


def test_a_folder_closed_to_others_is_shown(sandbox: Sandbox, project: Path) -> None:
    project.chmod(0o700)
    code = "import sys; print(open(sys.argv[1]).read())"
    what = launch(code, readonly=[project], arguments=[str(project / "module.py")], cwd=str(project))
    assert said(sandbox, what) == "ANSWER = 42"


def test_the_project_cannot_be_changed(sandbox: Sandbox, project: Path) -> None:
    needs(sandbox, Claim.READ_ONLY)
    code = """
import os, sys
project = sys.argv[1]
file, above = os.path.join(project, "module.py"), os.path.dirname(project)
attempts = [
    lambda: open(file, "a"),
    lambda: os.unlink(file),
    lambda: os.chmod(file, 0o777),
    lambda: os.utime(file),
    lambda: os.rename(file, file + "2"),
    lambda: os.mkdir(os.path.join(project, "__pycache__")),
    lambda: os.rename(project, project + "2"),
    lambda: os.rename(above, above + "2"),
    lambda: os.rename(os.path.dirname(above), os.path.dirname(above) + "2"),
    lambda: os.rmdir(project),
]
done = []
for number, attempt in enumerate(attempts):
    try:
        attempt()
        done.append(number)
    except OSError:
        pass
print(done)
"""
    before = (project / "module.py").stat()
    assert said(sandbox, launch(code, readonly=[project], arguments=[str(project)])) == "[]"
    after = (project / "module.py").stat()
    assert (before.st_mtime_ns, before.st_mode) == (after.st_mtime_ns, after.st_mode)
    assert sorted(path.name for path in project.iterdir()) == ["module.py"]


def test_only_the_scratch_space_is_writable(sandbox: Sandbox, project: Path) -> None:
    needs(sandbox, Claim.READ_ONLY)
    code = """
import os, stat
found = set()
for folder, folders, files in os.walk("/"):
    folders[:] = [name for name in folders if not (folder == "/" and name in ("proc", "usr"))]
    try:
        descriptor = os.open(os.path.join(folder, "rtc-probe"), os.O_CREAT | os.O_WRONLY)
        os.close(descriptor)
        os.unlink(os.path.join(folder, "rtc-probe"))
        found.add(folder)
    except OSError:
        pass
for name in ("core_pattern", "hostname", "panic"):
    try:
        with open("/proc/sys/kernel/" + name, "r+") as setting:
            setting.write(setting.read())
        found.add(name)
    except OSError:
        pass
for name in ("null", "zero", "urandom"):
    try:
        os.chmod("/dev/" + name, 0o600)
        found.add("mode of " + name)
    except OSError:
        pass
print(sorted(found))
"""
    mode = Path("/dev/null").stat().st_mode
    found = json.loads(said(sandbox, launch(code, readonly=[project])).replace("'", '"'))
    assert Path("/dev/null").stat().st_mode == mode
    assert sandbox.scratch in found
    # Engines mount message queues too: a kernel object with its own small bound.
    assert set(found) <= {sandbox.scratch, "/dev/shm", "/dev/mqueue"}


def test_host_files_cannot_be_read(sandbox: Sandbox, project: Path) -> None:
    needs(sandbox, Claim.PRIVATE_FILES)
    secret = uuid.uuid4().hex
    planted = [
        project.parent / "secret",
        Path.home() / f".rtc-secret-{secret}",
        Path("/var/tmp", f"rtc-secret-{secret}"),
    ]
    code = """
import os, sys
for path in sys.argv[1:]:
    try:
        print(open(path).read())
    except OSError:
        pass
for folder in ("/root", "/home", "/var", "/etc", "/srv", "/mnt", "/opt", "/run", "/boot", "/media", "/tmp"):
    for above, _, names in os.walk(folder):
        print(*(os.path.join(above, name) for name in names), sep="\\n")
"""
    try:
        for path in planted:
            path.write_text(f"{secret}\n")
            path.chmod(0o644)
        others = [str(path) for path in (*planted, "/etc/shadow", "/proc/1/root/etc/shadow", "/etc/machine-id")]
        output = said(sandbox, launch(code, readonly=[project], arguments=others))
    finally:
        for path in planted:
            path.unlink(missing_ok=True)
    assert str(project / "module.py") in output
    assert secret not in output and "root:" not in output and "rtc-secret" not in output
    assert "/etc/shadow" not in output and "/etc/ssh" not in output and "machine-id" not in output


@pytest.mark.parametrize("folder", ["scratch", "/dev/shm"])
def test_scratch_space_is_bounded(sandbox: Sandbox, folder: str) -> None:
    needs(sandbox, Claim.BOUNDED_SCRATCH)
    code = """
import os, sys
folder, written = sys.argv[1], 0
assert os.listdir(folder) == [], os.listdir(folder)
try:
    for number in range(20):
        with open(os.path.join(folder, str(number)), "wb", buffering=0) as file:
            for _ in range(32):
                written += file.write(bytes(1 << 18))
except OSError as error:
    print(written >> 20, error.errno)
"""
    where = sandbox.scratch if folder == "scratch" else folder
    written, errno = map(int, said(sandbox, launch(code, arguments=[where])).split())
    assert errno == 28
    assert written <= LIMITS.scratch_mib


def test_the_scratch_space_can_be_used(sandbox: Sandbox) -> None:
    code = "import sys, tempfile; print(tempfile.mkdtemp(dir=sys.argv[1]).startswith(sys.argv[1]))"
    assert said(sandbox, launch(code, arguments=[sandbox.scratch])) == "True"


# ------------------------------------------------------------------ network, environment, identity


@pytest.fixture
def listeners() -> Iterator[tuple[int, str]]:
    """A port and an abstract socket of the host's that answer."""
    name = f"rtc-{uuid.uuid4().hex}"
    with socket.create_server(("127.0.0.1", 0)) as port, socket.socket(socket.AF_UNIX) as local:
        local.bind(f"\0{name}")
        local.listen()
        yield port.getsockname()[1], name


def test_no_network(sandbox: Sandbox, listeners: tuple[int, str]) -> None:
    needs(sandbox, Claim.NO_NETWORK)
    code = """
import socket, sys
socket.setdefaulttimeout(2)
def stream(address, family=socket.AF_INET):
    with socket.socket(family) as connection:
        connection.connect(address)
def datagram():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        connection.sendto(b"x", ("192.0.2.1", 53))
attempts = {
    "host": lambda: stream(("127.0.0.1", int(sys.argv[1]))),
    "abstract": lambda: stream("\\0" + sys.argv[2], socket.AF_UNIX),
    "address": lambda: stream(("192.0.2.1", 80)),
    "datagram": datagram,
    "name": lambda: socket.getaddrinfo("example.com", 80),
}
for name, attempt in attempts.items():
    try:
        attempt()
        print("reached", name)
    except OSError:
        pass
"""
    port, name = listeners
    assert said(sandbox, launch(code, arguments=[str(port), name])) == ""


def test_the_environment_is_the_one_given(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTC_TEST_SECRET", "of the host")
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    given = {"PATH": "/usr/bin", "LC_ALL": "C.UTF-8", "QUOTED": "a b\"'$x"}
    seen = json.loads(said(sandbox, launch(code, environment=given)))
    assert {name: seen.get(name) for name in given} == given
    # What the sandbox itself must say of the inside.
    assert set(seen) - set(given) <= {"HOME", "HOSTNAME", "PWD", "TERM", "container"}


def test_no_process_inside_shows_the_host_environment(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    needs(sandbox, Claim.CLEAN_ENVIRONMENT)
    secret = uuid.uuid4().hex
    monkeypatch.setenv("RTC_TEST_SECRET", secret)
    code = """
import glob
for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
    try:
        print(open(path, "rb").read())
    except OSError:
        pass
"""
    output = said(sandbox, launch(code))
    assert "PATH=/usr/bin" in output
    assert secret not in output and "RTC_TEST_SECRET" not in output


def test_neither_root_nor_capabilities(sandbox: Sandbox) -> None:
    needs(sandbox, Claim.UNPRIVILEGED)
    code = """
import json, os
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines())
gained = []
for name, attempt in {
    "setuid": lambda: os.setuid(0), "setgroups": lambda: os.setgroups([0]), "chroot": lambda: os.chroot("/tmp"),
    "mknod": lambda: os.mknod("/tmp/node", 0o20666, os.makedev(1, 1)), "nice": lambda: os.nice(-5),
}.items():
    try:
        attempt()
        gained.append(name)
    except OSError:
        pass
names = ("CapEff", "CapPrm", "CapBnd", "CapAmb", "CapInh", "NoNewPrivs")
print(json.dumps({"ids": [os.getuid(), os.geteuid(), os.getgid()], "groups": os.getgroups(), "gained": gained,
    "rights": {name: status[name].strip() for name in names}}))
"""
    seen = json.loads(said(sandbox, launch(code)))
    assert 0 not in seen["ids"] and 0 not in seen["groups"]
    assert seen["gained"] == []
    assert seen["rights"].pop("NoNewPrivs") == "1"
    assert {int(value, 16) for value in seen["rights"].values()} == {0}


def test_no_user_namespace_can_be_made(sandbox: Sandbox) -> None:
    needs(sandbox, Claim.NO_NAMESPACES)
    clone_new_user = 0x10000000
    code = f"import ctypes; print(ctypes.CDLL(None).unshare({clone_new_user}))"
    assert said(sandbox, launch(code)) == "-1"


def test_only_processes_inside_are_seen(sandbox: Sandbox) -> None:
    needs(sandbox, Claim.OWN_PROCESSES)
    code = "import os; print(os.getpid(), [name for name in os.listdir('/proc') if name.isdigit()])"
    assert said(sandbox, launch(code)) == "1 ['1']"


def test_the_account_has_a_name(sandbox: Sandbox) -> None:
    code = "import os, pwd; print(pwd.getpwuid(os.getuid()).pw_name != '')"
    assert said(sandbox, launch(code)) == "True"


# ------------------------------------------------------------------ limits


def test_a_fork_bomb_stops_at_the_limit(sandbox: Sandbox) -> None:
    needs(sandbox, Claim.BOUNDED_PROCESSES)
    code = """
import os, time
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
"""
    marker = uuid.uuid4().hex
    with started(sandbox, launch(code, arguments=[marker])) as process:
        made = int(read_line(process))
        assert 0 < made <= LIMITS.processes + 2
        process.kill()
        assert gone_within(marker, 1.0)


def test_a_process_that_eats_memory_is_stopped(sandbox: Sandbox) -> None:
    needs(sandbox, Claim.BOUNDED_MEMORY_EACH)
    code = """
kept = []
for number in range(64):
    kept.append(bytearray(b"x" * (16 << 20)))
    print(number + 1, flush=True)
"""
    done = run(sandbox, launch(code))
    eaten = 16 * int((done.output.split() or ["0"])[-1])
    assert 32 <= eaten <= LIMITS.memory_mib
    assert done.status == 137 or (done.status == 1 and "MemoryError" in done.errors)


def test_processes_together_cannot_eat_more(sandbox: Sandbox) -> None:
    needs(sandbox, Claim.BOUNDED_MEMORY)
    code = """
import os, time
children = []
for _ in range(6):
    child = os.fork()
    if child == 0:
        kept = bytearray(b"x" * (80 << 20))
        time.sleep(1.5)
        os._exit(0)
    children.append(child)
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
print(codes.count(0), codes.count(-9))
"""
    done = run(sandbox, launch(code))
    # The kernel may also choose the parent, and with it everything.
    if done.status != 137:
        lived, died = map(int, done.output.split())
        assert lived <= LIMITS.memory_mib // 80 and died >= 6 - LIMITS.memory_mib // 80


# ------------------------------------------------------------------ the end


DAEMONS = """
import os, sys, time
for kind in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        if kind:
            for descriptor in range(3):
                os.close(descriptor)
        if kind == 2:
            os.setsid() if os.getpid() == os.getpgid(0) else os.setpgid(0, 0)
        time.sleep(300)
        os._exit(0)
time.sleep(0.3)
print("ready", flush=True)
"""


def test_kill_ends_everything_within_a_second(sandbox: Sandbox) -> None:
    needs(sandbox, Claim.ENDS_WHOLE)
    marker = uuid.uuid4().hex
    with started(sandbox, launch(DAEMONS + "time.sleep(300)", arguments=[marker])) as process:
        assert read_line(process) == b"ready\n"
        assert len(processes_with(marker)) >= 4
        begin = time.monotonic()
        process.kill()
        assert gone_within(marker, 1.0)
        assert process.wait(2) == 137
        assert time.monotonic() - begin < 2.0
        assert read_all(process, 5) == ""
        process.kill()


def test_nothing_outlives_the_program(sandbox: Sandbox) -> None:
    needs(sandbox, Claim.ENDS_WHOLE)
    marker = uuid.uuid4().hex
    with started(sandbox, launch(DAEMONS, arguments=[marker])) as process:
        assert read_line(process) == b"ready\n"
        assert process.wait(5) == 0
        assert gone_within(marker, 1.0)


def traces(project: Path) -> dict[str, object]:
    """What this process has lying about on the machine."""
    links = []
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            links.append(str(entry.readlink()))
    return {
        "temporary": set(Path("/tmp").glob(f"rtc-inspector-*{os.getpid()}-*")),
        "groups": set(Path("/sys/fs/cgroup").glob(f"**/rtc-inspector-{os.getpid()}-*")),
        "mounts": Path("/proc/self/mountinfo").read_text().count(str(project)),
        "descriptors": len([link for link in links if "pipe" in link or "socket" in link]),
        "threads": sorted(thread.name for thread in threading.enumerate()),
    }


def test_nothing_is_left_behind(sandbox: Sandbox, project: Path) -> None:
    marker = uuid.uuid4().hex
    before = traces(project)
    for _ in range(2):
        process = sandbox.start(launch(DAEMONS + "time.sleep(300)", readonly=[project], arguments=[marker]))
        assert read_line(process) == b"ready\n"
        process.close()
        process.close()
        assert process.poll() == 137
    assert traces(project) == before
    assert not processes_with(marker)


def test_two_at_a_time(sandbox: Sandbox) -> None:
    other = choose_sandbox("none", None, lambda text: None) if sandbox.name == "none" else sandbox
    with started(sandbox, launch(ECHO)) as first, started(other, launch(ECHO)) as second:
        first.kill()
        second.stdin.write(b"unharmed\n")
        assert read_line(second) == b"unharmed\n"
