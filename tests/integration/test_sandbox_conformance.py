"""One suite for every sandbox: pipes, limits and the end. Programs try otherwise."""

from __future__ import annotations

import os
import statistics
import threading
import time
import uuid
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from sandbox_driver import (
    LIMITS,
    gone_within,
    launch,
    needs,
    processes_with,
    read_all,
    read_line,
    run,
    said,
    started,
)

from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.sandbox.guarded import Guarded
from rtc_inspector.core.oracle.sandbox.protocol import Claim, Sandbox

ECHO = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"


# ------------------------------------------------------------------ pipes


def test_a_line_comes_back_quickly(sandbox: Sandbox) -> None:
    with started(sandbox, launch(ECHO)) as process:
        times = []
        for number in range(60):
            begin = time.perf_counter()
            process.stdin.write(b"%d\n" % number)
            assert read_line(process) == b"%d\n" % number
            times.append(time.perf_counter() - begin)
    assert statistics.median(times[10:]) < 0.05


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
    links, own = [], f"rtc-inspector-{os.getpid()}-"
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            links.append(str(entry.readlink()))
    return {
        "temporary": set(Path("/tmp").glob(f"rtc-inspector-*{os.getpid()}-*")),
        # Not by `glob`, which fails where another process removes a group of its own meanwhile.
        "groups": {
            Path(folder, name)
            for folder, names, _ in os.walk("/sys/fs/cgroup")
            for name in names
            if name.startswith(own)
        },
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
    other = sandbox.another() if isinstance(sandbox, Guarded) else sandbox
    with started(sandbox, launch(ECHO)) as first, started(other, launch(ECHO)) as second:
        first.kill()
        second.stdin.write(b"unharmed\n")
        assert read_line(second) == b"unharmed\n"
