"""Runs one program and ends everything it started, for the sandboxes `landlock` and `none`; a script of its own.

    python guardian.py PLAN

PLAN is JSON: `life`, a descriptor: when its other end closes, be it that the owner asks or that it died, all is ended;
`memory` that can be written, `address_space` and `file_size`, bytes for each process and file; `environment`;
`program`, with its arguments; `confined`, what of the machine it may use, null for all of it. Orphans come to this
process instead of the system's first one, so that a child which left its session is found too.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from rtc_inspector.core.oracle.sandbox.confinement import Confinement

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


class Plan(TypedDict):
    """A program to run, and its limits."""

    life: int
    memory: int
    address_space: int
    file_size: int
    environment: dict[str, str]
    program: list[str]
    confined: Confinement | None


assert sys.platform == "linux"

if TYPE_CHECKING:
    from rtc_inspector.core.oracle.sandbox.confinement import Answers  # that module has it below the same line


def main(plan: Plan) -> int:
    """Start the program, wait for it or for the end of `life`, end the rest; 128 + n for signal n."""
    os.set_inheritable(plan["life"], False)
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    ours, its = socket.socketpair()
    child = os.fork()
    if child == 0:
        _become(plan, its)
    handle = os.pidfd_open(child)
    its.close()
    answers = _answers(plan["confined"], ours, child)
    ours.close()
    # Hold none of the program's pipes open: their ends must be seen when the program closes them.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    ends = {plan["life"], handle}
    asked = [answer.fileno() for answer in answers]
    while not ends.intersection(select.select([*ends, *asked], [], [])[0]):
        answers[0].answer()
    signal.pidfd_send_signal(handle, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    _end_all()
    return 128 - code if code < 0 else code


def _answers(confined: Confinement | None, ours: socket.socket, child: int) -> list[Answers]:
    """Take from the child the descriptor on which it asks; none of a child that may do all, or has ended."""
    if confined is None:
        return []
    received = socket.recv_fds(ours, 1, 1)[1]
    return [_confinement().Answers(received[0], child, confined, _descendants)] if received else []


def _confinement() -> ModuleType:
    """Import what only one of the sandboxes needs; this script knows no folder of ours."""
    sys.path.append(str(Path(__file__).parents[4]))
    return importlib.import_module("rtc_inspector.core.oracle.sandbox.confinement")


def _become(plan: Plan, its: socket.socket) -> None:
    program = plan["program"]
    try:
        os.setsid()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        for kind, value in (
            (resource.RLIMIT_DATA, plan["memory"]),
            (resource.RLIMIT_AS, plan["address_space"]),
            (resource.RLIMIT_FSIZE, plan["file_size"]),
            (resource.RLIMIT_CORE, 0),
        ):
            resource.setrlimit(kind, (value, value))
        if plan["confined"] is not None:
            socket.send_fds(its, [b" "], [_confinement().confine(plan["confined"])])
        os.execve(program[0], program, plan["environment"])
    except OSError as error:
        os.write(2, f"{program[0]}: {error}\n".encode())
    os._exit(127)


def _end_all() -> None:
    """Stop every descendant, then kill them; again until there is none, for one may have forked meanwhile."""
    while True:
        found = _descendants()
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, number)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not found:
            return
        time.sleep(0.001)


def _descendants() -> list[int]:
    """Return all processes below this one that are still alive or not reaped."""
    found = [os.getpid()]
    if Path("/proc/thread-self/children").exists():  # the list that each thread has, where the kernel keeps such
        for process in found:  # grows while it is gone through
            with contextlib.suppress(OSError):
                for task in Path(f"/proc/{process}/task").iterdir():
                    with contextlib.suppress(OSError):
                        found += map(int, Path(task, "children").read_text().split())
        return found[1:]
    parents = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                # The name in brackets may hold anything, brackets included.
                fields = Path(entry.path, "stat").read_text(errors="replace").rpartition(")")[2].split()
                parents[int(entry.name)] = int(fields[1])
    for above in found:  # grows while it is gone through
        found += [process for process, parent in parents.items() if parent == above]
    return found[1:]


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
