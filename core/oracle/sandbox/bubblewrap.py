"""The bubblewrap sandbox: Linux namespaces without an engine, for root and for an ordinary user."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Lock

from rtc_inspector.core import platform
from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.sandbox.bubblewrap_arguments import (
    INSIDE,
    arguments,
    become_inside,
    mapped_user,
    own_user,
)
from rtc_inspector.core.oracle.sandbox.control_group import ControlGroup, GroupMaker, group_maker
from rtc_inspector.core.oracle.sandbox.host_system import SCRATCH, HostSystem, account_files, host_system, visible
from rtc_inspector.core.oracle.sandbox.inside_user import inside_user, readable
from rtc_inspector.core.oracle.sandbox.local_process import LocalProcess
from rtc_inspector.core.oracle.sandbox.process import Process
from rtc_inspector.core.oracle.sandbox.protocol import ISOLATION, Claim, Launch, Limits
from rtc_inspector.core.oracle.sandbox.user_namespace import MappedNamespace


class Hold:
    """A control group and a namespace where there are such, and a handle on PID 1 inside; thread-safe."""

    def __init__(self, group: ControlGroup | None) -> None:
        """Own `group`."""
        self._group = group
        self._namespace: MappedNamespace | None = None
        self._inside: int | None = None
        self._lock = Lock()

    @property
    def command(self) -> tuple[str, ...]:
        """In front of bwrap: join the group, then enter the namespace."""
        parts = (part for part in (self._group, self._namespace) if part is not None)
        return tuple(word for part in parts for word in part.command)

    def enter(self, namespace: MappedNamespace) -> None:
        """Own `namespace` too."""
        self._namespace = namespace

    def take(self, process: int) -> None:
        """Take PID 1 inside in hand, by its number outside; one that ended already needs no hand."""
        with self._lock, suppress(ProcessLookupError):
            self._inside = platform.handle(process)
            if self._namespace is not None:
                self._namespace.watch(process, self._group.folders if self._group else ())

    def end(self) -> None:
        """Kill PID 1 inside: the kernel ends all others of its namespace before it lets it go."""
        with self._lock, suppress(ProcessLookupError):
            if self._inside is not None:
                platform.kill_by(self._inside)

    def free(self) -> None:
        """Let everything go; idempotent."""
        with self._lock:
            inside, self._inside = self._inside, None
        if inside is not None:
            os.close(inside)
        if self._namespace is not None:
            self._namespace.close()
        if self._group is not None:
            self._group.remove()


class BubblewrapSandbox:
    """Implements `Sandbox` with `bwrap`."""

    name = "bubblewrap"
    image_digest = ""
    scratch = SCRATCH
    others: tuple[str, ...] = ()

    def __init__(self) -> None:
        """Find bwrap and how to bound what runs inside. Raises SandboxError when bwrap is missing."""
        found = shutil.which("bwrap")
        if found is None:
            raise SandboxError(
                "bubblewrap is not installed.", "Install it, e.g. `apt install bubblewrap`, or use Docker."
            )
        self._program = found
        self._system: HostSystem = host_system()
        self._groups: GroupMaker | None = group_maker()
        self._prlimit = shutil.which("prlimit")
        self.claims = ISOLATION | frozenset(self._bounds())

    def _bounds(self) -> Iterator[Claim]:
        """Yield what can be claimed of memory and processes here."""
        if self._groups is not None:
            yield from (Claim.BOUNDED_MEMORY, Claim.BOUNDED_MEMORY_EACH, Claim.BOUNDED_PROCESSES)
        elif self._prlimit is not None:
            yield from (Claim.BOUNDED_MEMORY_EACH, Claim.BOUNDED_PROCESSES)

    @property
    def detail(self) -> str:
        """Return what is bounded here and what is not, for a person to read."""
        if Claim.BOUNDED_MEMORY in self.claims:
            return "memory and processes are bounded by a control group"
        if Claim.BOUNDED_MEMORY_EACH in self.claims:
            return "memory is bounded for each process, not for all together: no control group can be made here"
        return "memory and processes are not bounded: no control group can be made here, and prlimit is missing"

    def start(self, launch: Launch) -> Process:
        """Start the program as PID 1 of its own namespace. Raises SandboxError."""
        hold = Hold(self._group(launch.limits))
        try:
            return self._start(launch, hold)
        except BaseException:
            hold.free()
            raise

    def _group(self, limits: Limits) -> ControlGroup | None:
        if self._groups is None:
            return None
        try:
            return self._groups.make(limits)
        except OSError as error:
            raise SandboxError(
                f"No control group can be made any more: {error}.", "Try again, or use Docker."
            ) from error

    def _start(self, launch: Launch, hold: Hold) -> Process:
        """Put the command together, outermost first."""
        shown = visible(launch.readonly, self._system.covers)
        identity, become = own_user(), list[str]()
        if platform.is_root():
            user = inside_user(Path(launch.cwd))
            shown = readable(shown, user)
            hold.enter(MappedNamespace(user, INSIDE))
            identity, become = mapped_user(), become_inside()
        with ExitStack() as stack:
            accounts = account_files(INSIDE.uid, INSIDE.gid, launch.environment.get("HOME", SCRATCH))
            files = {stack.enter_context(platform.memory_file(text)).fileno(): name for name, text in accounts.items()}
            words = arguments(launch, self._system, shown, files, identity)
            program = [*become, *self._limits(launch.limits), *launch.argv]
            return self._spawn(hold, [*words, "--", *program], files)

    def _spawn(self, hold: Hold, words: Iterable[str], descriptors: Iterable[int]) -> Process:
        """Start bwrap and learn from it which process is PID 1 inside. Raises SandboxError."""
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb") as told:
            with os.fdopen(writing, "wb"):
                command = [*hold.command, self._program, "--info-fd", str(writing), *words]
                process = LocalProcess(command, (writing, *descriptors), end=hold.end, after=hold.free)
            try:
                hold.take(int(json.load(told)["child-pid"]))
            except (ValueError, KeyError) as error:  # bwrap gave up
                process.close()
                raise _refused(process.stderr_tail()) from error
        return process

    def _limits(self, limits: Limits) -> list[str]:
        """Limits for each process, set inside: only there are processes counted apart from the user's others."""
        if self._prlimit is None:
            return []
        words = ["--core=0"]
        if self._groups is None:
            words += [f"--data={limits.memory_mib << 20}", f"--as={limits.address_space_mib << 20}"]
            words.append(f"--nproc={limits.processes}")
        return [self._prlimit, *words, "--"]


def _refused(message: str) -> SandboxError:
    """Return the error to raise when bwrap made no namespace; `message`: what it printed."""
    last = message.strip().splitlines()[-1:] or ["bwrap ended without a word"]
    return SandboxError(f"bubblewrap cannot start a sandbox: {last[0]}.", userns_remedy())


def userns_remedy() -> str:
    """Why ordinary users get no namespaces on this machine, as far as its settings tell."""
    settings = {
        "kernel/unprivileged_userns_clone": "0",
        "user/max_user_namespaces": "0",
        "kernel/apparmor_restrict_unprivileged_userns": "1",
    }
    for name, forbidding in settings.items():
        path = Path("/proc/sys", name)
        if path.exists() and path.read_text().strip() == forbidding:
            allowing = {"0": "1", "1": "0"}[forbidding] if "max" not in name else "15000"
            key = name.replace("/", ".")
            return f"User namespaces are switched off here: allow them with `sysctl {key}={allowing}`, or use Docker."
    return "Use Docker, or let this user create user namespaces (inside a container, run it with more rights)."
