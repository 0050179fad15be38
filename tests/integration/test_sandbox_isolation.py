"""One suite for every sandbox: what a program may see, change and reach. Programs try otherwise."""

from __future__ import annotations

import json
import socket
import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sandbox_driver import (
    LIMITS,
    launch,
    needs,
    said,
)

from rtc_inspector.core.oracle.sandbox.protocol import Claim, Sandbox

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
project, scratch = sys.argv[1:]
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
    lambda: os.truncate(file, 0),
    lambda: os.open(file, os.O_RDONLY | os.O_TRUNC),
    lambda: os.open(file, os.O_ACCMODE | os.O_TRUNC),
    lambda: os.fchmod(os.open(file, os.O_RDONLY), 0o777),
    lambda: os.chmod(os.open(file, os.O_RDONLY), 0o777),
    lambda: os.chmod("module.py", 0o777, dir_fd=os.open(project, os.O_RDONLY)),
    lambda: os.chmod(link, 0o777),
    lambda: os.utime(os.open(file, os.O_RDONLY), (1, 1)),
    lambda: os.setxattr(file, "user.mine", b"x"),
    lambda: os.chown(file, os.getuid(), os.getgid()),
    lambda: os.link(file, os.path.join(scratch, "linked")),
]
link = os.path.join(scratch, "link")
os.symlink(file, link)
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
    assert said(sandbox, launch(code, readonly=[project], arguments=[str(project), sandbox.scratch])) == "[]"
    after = (project / "module.py").stat()
    assert (before.st_mtime_ns, before.st_mode) == (after.st_mtime_ns, after.st_mode)
    assert sorted(path.name for path in project.iterdir()) == ["module.py"]


def test_a_writable_folder_takes_new_files_and_keeps_what_it_holds(sandbox: Sandbox, project: Path) -> None:
    needs(sandbox, Claim.WRITABLE_FOLDERS)
    (project / "sub").mkdir()
    (project / "sub" / "deep.py").write_text("DEEP = 1\n")
    code = """
import os, sys
root = sys.argv[1]
tries = [
    lambda: open("module.py", "w"),
    lambda: os.unlink("module.py"),
    lambda: os.rename("module.py", "other.py"),
    lambda: os.replace("new.txt", "module.py"),
    lambda: open("sub/more.txt", "w"),
    lambda: os.rename("sub", "gone"),
    lambda: os.rename(root, root + "-gone"),
    lambda: open(os.path.dirname(root) + "/beside.txt", "w"),
]
open("new.txt", "w").write("new")
done = []
for number, attempt in enumerate(tries):
    try:
        attempt()
        done.append(number)
    except OSError:
        pass
try:
    with open("large", "wb") as file:
        for _ in range(64):
            file.write(bytes(1 << 20))
    done.append("unbounded")
except OSError:
    pass
print(done, sorted(os.listdir(".")), open("module.py").read().strip(), open("sub/deep.py").read().strip())
"""
    what = launch(code, readonly=[project], arguments=[str(project)], cwd=str(project))
    found = said(sandbox, replace(what, writable=(project,)))
    assert found == "[] ['large', 'module.py', 'new.txt', 'sub'] ANSWER = 42 DEEP = 1"
    assert sorted(path.name for path in project.iterdir()) == ["module.py", "sub"]


def test_only_the_scratch_space_is_writable(sandbox: Sandbox, project: Path) -> None:
    needs(sandbox, Claim.READ_ONLY)
    code = """
import itertools, os, sys
found = set()
for folder, folders, files in itertools.chain(os.walk("/"), os.walk(sys.argv[1])):
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
    found = json.loads(said(sandbox, launch(code, readonly=[project], arguments=[sandbox.scratch])).replace("'", '"'))
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
for path in sys.argv[2:]:
    try:
        print(open(path).read())
    except OSError:
        pass
folders = ("/root", "/home", "/var", "/etc", "/srv", "/mnt", "/opt", "/run", "/boot", "/media", "/tmp")
for folder in (sys.argv[1], *folders):
    for above, _, names in os.walk(folder):
        print(*(os.path.join(above, name) for name in names), sep="\\n")
"""
    try:
        for path in planted:
            path.write_text(f"{secret}\n")
            path.chmod(0o644)
        others = [str(path) for path in (*planted, "/etc/shadow", "/proc/1/root/etc/shadow", "/etc/machine-id")]
        output = said(sandbox, launch(code, readonly=[project], arguments=[str(project), *others]))
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
    code = """
import os, shutil, subprocess, sys, tempfile, threading
folder = tempfile.mkdtemp(dir=sys.argv[1])
os.makedirs(folder + "/a/b")
with open(folder + "/a/run", "w") as file:
    file.write("#!/bin/sh\\necho run")
os.chmod(folder + "/a/run", 0o755)
os.chdir(folder)
os.utime("a/run", (5, 5))
os.fchmod(os.open("a/b", os.O_RDONLY), 0o711)
os.symlink("a/run", "link")
os.utime("link", (7, 7), follow_symlinks=False)
shutil.copytree("a", "copy")
os.rename("copy/run", "run")
sleeper = subprocess.Popen(["/bin/sleep", "100"])
sleeper.kill()
threads = [threading.Thread(target=threading.Event().wait, args=(0.01,)) for _ in range(3)]
[thread.start() for thread in threads]
about = os.stat("run")
print(subprocess.check_output([folder + "/run"], text=True).strip(), oct(about.st_mode), int(about.st_mtime),
    oct(os.stat("copy/b").st_mode), int(os.lstat("link").st_mtime), sleeper.wait(), os.listdir("copy"))
try:
    os.chmod("not there", 0o700)
except FileNotFoundError:
    print("not there")
shutil.rmtree(folder)
"""
    assert said(sandbox, launch(code, arguments=[sandbox.scratch])).splitlines() == [
        "run 0o100755 5 0o40711 7 -9 ['b']",
        "not there",
    ]


# ------------------------------------------------------------------ network, environment, identity


@pytest.fixture
def listeners() -> Iterator[tuple[int, str]]:
    """A port and an abstract socket of the host's that answer."""
    name = f"rtc-{uuid.uuid4().hex}"
    with socket.create_server(("127.0.0.1", 0)) as port, socket.socket(socket.AF_UNIX) as local:
        local.bind(f"\0{name}")
        local.listen()
        yield port.getsockname()[1], name


@pytest.fixture
def named(tmp_path: Path) -> Iterator[str]:
    """Paths of the host's that answer, to streams and to datagrams: a session bus starts programs for whoever asks."""
    name = str(tmp_path / "bus")
    with socket.socket(socket.AF_UNIX) as stream, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagram:
        stream.bind(name)
        stream.listen()
        datagram.bind(f"{name}-datagram")
        yield name


def test_no_network(sandbox: Sandbox, listeners: tuple[int, str], named: str) -> None:
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
def message(kind):
    pair = socket.socketpair(socket.AF_UNIX, kind)
    pair[0].sendmsg([b"x"], [], 0, sys.argv[3] + "-datagram")
attempts = {
    "named": lambda: stream(sys.argv[3], socket.AF_UNIX),
    "named, by a pair": lambda: message(socket.SOCK_DGRAM),
    "named, by a pair of streams": lambda: message(socket.SOCK_STREAM),
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
    assert said(sandbox, launch(code, arguments=[str(port), name, named])) == ""


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
    if sandbox.name == "landlock":  # an ordinary user cannot empty it; without new privileges it gives nothing
        seen["rights"].pop("CapBnd")
    assert {int(value, 16) for value in seen["rights"].values()} == {0}


def test_no_user_namespace_can_be_made(sandbox: Sandbox) -> None:
    needs(sandbox, Claim.NO_NAMESPACES)
    clone_new_user = 0x10000000
    code = f"import ctypes; print(ctypes.CDLL(None).unshare({clone_new_user}))"
    assert said(sandbox, launch(code)) == "-1"


def test_processes_outside_are_out_of_reach(sandbox: Sandbox) -> None:
    needs(sandbox, Claim.OTHERS_OUT_OF_REACH)
    code = """
import ctypes, fcntl, json, os, resource, signal, socket, sys
other = int(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.argtypes = [ctypes.c_long] * 7
def by_owner():
    ours, its = socket.socketpair()
    for order, value in ((8, other), (10, signal.SIGKILL)):
        fcntl.fcntl(ours, order, value)
    fcntl.fcntl(ours, fcntl.F_SETFL, os.O_ASYNC)
    its.send(b"x")
def called(*arguments):
    if libc.syscall(*arguments, *[0] * (7 - len(arguments))) < 0:
        raise OSError(ctypes.get_errno(), "refused")
ring, answer = 425, ctypes.create_string_buffer(256)
attempts = {
    "kill": lambda: os.kill(other, signal.SIGKILL), "group": lambda: os.killpg(other, signal.SIGKILL),
    "asked whether it is there": lambda: os.kill(other, 0),
    "handle": lambda: signal.pidfd_send_signal(os.pidfd_open(other), signal.SIGKILL),
    "thread": lambda: called({"x86_64": 234, "aarch64": 131}[os.uname().machine], other, other, 9),
    "limit": lambda: resource.prlimit(other, resource.RLIMIT_CPU, (0, 0)),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, other, 10),
    "owner": by_owner,
    "trace": lambda: called({"x86_64": 101, "aarch64": 117}[os.uname().machine], 0x4206, other, 0, 0),
    "ring": lambda: called(ring, 8, ctypes.addressof(answer)),
    "memory": lambda: open("/proc/%d/mem" % other, "rb"), "environment": lambda: open("/proc/%d/environ" % other),
    "descriptors": lambda: open("/proc/%d/fd/0" % other, "rb"), "link": lambda: os.readlink("/proc/%d/cwd" % other),
}
done = []
for name, attempt in attempts.items():
    try:
        attempt()
        done.append(name)
    except OSError:
        pass
own = os.getpid()
child = os.fork()
if child == 0:
    for target in (own, -os.getpgid(own), -1):
        try:
            os.kill(target, signal.SIGKILL)
        except OSError:
            pass
    os._exit(0)
os.waitpid(child, 0)
print(json.dumps(done))
"""
    with subprocess.Popen(["sleep", "100"], start_new_session=True) as other:
        try:
            done = set(json.loads(said(sandbox, launch(code, arguments=[str(other.pid)]))))
            # Where there are namespaces, a ring reaches what is in them and no more.
            assert done <= ({"ring"} if Claim.OWN_PROCESSES in sandbox.claims else set())
            assert other.poll() is None
        finally:
            other.kill()


def test_only_processes_inside_are_seen(sandbox: Sandbox) -> None:
    needs(sandbox, Claim.OWN_PROCESSES)
    code = "import os; print(os.getpid(), [name for name in os.listdir('/proc') if name.isdigit()])"
    assert said(sandbox, launch(code)) == "1 ['1']"


def test_the_account_has_a_name(sandbox: Sandbox) -> None:
    needs(sandbox, Claim.NAMED_ACCOUNT)
    code = "import os, pwd; print(pwd.getpwuid(os.getuid()).pw_name != '')"
    assert said(sandbox, launch(code)) == "True"
