"""The bubblewrap sandbox: Linux namespaces without an engine, for root and for an ordinary user."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import BinaryIO, cast

from rtc_inspector.core import platform
from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.sandbox.host_system import (
    SCRATCH,
    SHARED_MEMORY,
    HostSystem,
    User,
    account_files,
    entries,
    host_system,
    inside_user,
    readable,
    shared_memory_mib,
    visible,
)
from rtc_inspector.core.oracle.sandbox.protocol import ISOLATION, Claim, Launch, Limits, LocalProcess, Process
from rtc_inspector.core.packages import BUBBLEWRAP, system_install

_PREFIX = "rtc-inspector-"
_numbers = itertools.count()

# The wrapper and its shell count too.
_OURS = 2


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """One group for one sandbox; put in front of a command, `command` runs that inside the group.

    `folders`: below /sys/fs/cgroup; none where the service manager removes it when it is empty.
    """

    command: tuple[str, ...]
    folders: tuple[Path, ...] = ()

    def remove(self) -> None:
        """Remove the folders; the kernel may need a moment after the last process ended."""
        for folder in self.folders:
            for _ in range(50):
                with suppress(OSError):
                    if folder.exists():
                        folder.rmdir()
                    break
                time.sleep(0.01)


# ------------------------------------------------------------------ by the files of the control group file system


def group_of_folders(parents: Sequence[Path], limits: Limits) -> ControlGroup:
    """Make a folder in each of `parents`, with the limits written. Raises OSError.

    `parents`: one that has both controllers (version 2), or one for each (version 1).
    """
    name = f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
    folders = tuple(parent / name for parent in parents)
    joins = "".join(f"echo $$ > '{folder}/cgroup.procs' && " for folder in folders)
    group = ControlGroup(("/bin/sh", "-c", f'{joins}exec "$@"', "sh"), folders)
    try:
        for folder in folders:
            folder.mkdir()
        _write_limits(folders, limits)
    except OSError:
        group.remove()
        raise
    return group


def sweep(parent: Path) -> None:
    """Remove empty groups of ours whose maker is gone."""
    for folder in parent.glob(f"{_PREFIX}*-*"):
        if not platform.is_alive(folder.name.removeprefix(_PREFIX).partition("-")[0]):
            with suppress(OSError):
                folder.rmdir()


def _write_limits(folders: tuple[Path, ...], limits: Limits) -> None:
    """Write both versions' files; those of the other version are not there. Raises OSError when none bounds both."""
    memory, processes = str(limits.memory_mib << 20), str(limits.processes + _OURS)
    files: Mapping[str, str] = {
        "memory.max": memory,
        "memory.swap.max": "0",
        "memory.limit_in_bytes": memory,
        "memory.memsw.limit_in_bytes": memory,
        "pids.max": processes,
    }
    written = set()
    for folder in folders:
        for name, value in files.items():
            if (folder / name).exists():
                (folder / name).write_text(value)
                written.add(name)
    if "pids.max" not in written or not written & {"memory.max", "memory.limit_in_bytes"}:
        raise OSError("the control group has no controller for memory or processes")


def _own_groups(controller: str) -> Iterator[Path]:
    """Yield folders of the group we are in, as mounted here: of version 2 for an empty `controller`."""
    paths = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        paths.update(dict.fromkeys(names.split(","), path))
    kind = "cgroup" if controller else "cgroup2"
    for line in platform.mounts().splitlines():
        before, _, after = line.partition(" - ")
        root, point = before.split()[3:5]
        options = after.split()[-1].split(",")
        if after.split()[0] == kind and (not controller or controller in options) and controller in paths:
            yield Path(point) / os.path.relpath(paths[controller], root)


def _parents() -> Iterator[tuple[Path, ...]]:
    """Yield the folders where groups may be made, best first: below our own group, then beside it.

    In the first version of control groups, memory and processes have a folder each.
    """
    for own in _own_groups(""):
        for parent in (own, own.parent):
            control = parent / "cgroup.subtree_control"
            if control.exists() and {"memory", "pids"} <= set(control.read_text().split()):
                yield (parent.resolve(),)
    memory, pids = next(_own_groups("memory"), None), next(_own_groups("pids"), None)
    if memory and pids:
        yield (memory.resolve(), pids.resolve())


# ------------------------------------------------------------------ by the user's own service manager


def _scope(variables: Sequence[str], limits: Limits) -> ControlGroup:
    """Return a command that asks systemd for a scope and runs in it, with the environment emptied again.

    That is the one way an ordinary user gets a group of their own after logging in remotely.
    """
    run = ["systemd-run", "--user", "--scope", "--quiet", "--collect"]
    for setting in (f"MemoryMax={limits.memory_mib}M", "MemorySwapMax=0", f"TasksMax={limits.processes + _OURS}"):
        run += ["-p", setting]
    return ControlGroup(("env", "-i", f"PATH={os.defpath}", *variables, *run, "--", "env", "-i"))


GroupMaker = Callable[[Limits], ControlGroup]  # a way to make groups, which raises OSError where none can be made


def group_maker() -> GroupMaker | None:
    """Return the first way that works here, tried out; None when this user cannot bound processes together."""
    trial = Limits(memory_mib=256, processes=16, scratch_mib=16)
    makers: list[GroupMaker] = []
    for parents in _parents():
        makers.append(partial(group_of_folders, parents))
        for parent in parents:
            sweep(parent)
    names = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
    variables = [f"{name}={os.environ[name]}" for name in names if name in os.environ]
    if not platform.is_root() and variables and shutil.which("systemd-run"):
        makers.append(partial(_scope, variables))
    for maker in makers:
        with suppress(OSError, subprocess.SubprocessError), ExitStack() as stack:
            group = maker(trial)
            stack.callback(group.remove)
            subprocess.run([*group.command, "true"], env={}, capture_output=True, timeout=10, check=True)
            return maker
    return None


# Forbids further namespaces inside, then watches: told which process is PID 1 inside, it ends that one when the pipe
# closes, and removes its control groups. bubblewrap's own parent-death signal cannot end it, for bubblewrap has given
# up the right to signal another user.
_HOLDER = """
echo; read mapped
echo 0 > /proc/sys/user/max_user_namespaces && echo
read inside groups && { read end; kill -9 "$inside"; sleep 0.2; rmdir $groups; }
"""

TOOLS = ("unshare", "nsenter", "setpriv")


class MappedNamespace:
    """A namespace where root is root, for mounting, and one more user is an ordinary user of the host.

    bubblewrap alone maps one user only: run by root, its program would still own what root owns, device nodes and
    kernel settings among it.
    """

    def __init__(self, user: User, inside: User) -> None:
        """Make it, with `inside` as `user`; only root can. Raises SandboxError."""
        if lacking := [tool for tool in TOOLS if shutil.which(tool) is None]:
            raise SandboxError(
                f"{lacking[0]} is missing, which bubblewrap needs when root runs it.", "Install util-linux."
            )
        self._holder = subprocess.Popen(
            ["unshare", "--user", "--keep-caps", "/bin/sh", "-c", _HOLDER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={},
            bufsize=0,
        )
        try:
            _map(self._holder, user, inside)
        except SandboxError:
            self.close()
            raise
        self.command = ("nsenter", f"--user=/proc/{self._holder.pid}/ns/user", "--")
        """In front of a command, it runs that command in the namespace."""

    def watch(self, inside: int, groups: Iterable[Path]) -> None:
        """End the process `inside` when we die, and remove the folders `groups`."""
        with suppress(BrokenPipeError):
            words = " ".join(map(str, (inside, *groups)))
            cast(BinaryIO, self._holder.stdin).write(f"{words}\n".encode())

    def close(self) -> None:
        self._holder.kill()
        with self._holder:
            pass


def _map(holder: subprocess.Popen[bytes], user: User, inside: User) -> None:
    """Write both maps, then forbid further namespaces. Raises SandboxError."""
    try:
        _answer(holder)
        for kind, host, own in (("uid", user.uid, inside.uid), ("gid", user.gid, inside.gid)):
            Path(f"/proc/{holder.pid}/{kind}_map").write_text(f"0 0 1\n{own} {host} 1\n")
        cast(BinaryIO, holder.stdin).write(b"\n")
        _answer(holder)
    except OSError as error:
        raise SandboxError(
            f"No user namespace can be made: {error}.", "Use Docker, or run as an ordinary user."
        ) from error


def _answer(holder: subprocess.Popen[bytes]) -> None:
    if not cast(BinaryIO, holder.stdout).readline():
        words = cast(BinaryIO, holder.stderr).read().decode(errors="replace").strip()
        raise OSError(words or "unshare ended without a word")


# The same whoever runs us, so that a run does not depend on it.
INSIDE = User(1000, 1000)

_NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")
_NO_RIGHTS = ("--cap-drop", "ALL")
_OWN_USER = ["--unshare-user", "--disable-userns", "--uid", str(INSIDE.uid), "--gid", str(INSIDE.gid), *_NO_RIGHTS]
"""For a caller who is not root: bubblewrap maps them to `INSIDE` and forbids further namespaces."""
_CHANGE_USER = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
_MAPPED_USER = [*_NO_RIGHTS, *(word for right in _CHANGE_USER for word in ("--cap-add", right))]
"""For root, run in a namespace made before: keep the rights to become `INSIDE` in it."""
_BECOME_INSIDE = [
    "setpriv",
    f"--reuid={INSIDE.uid}",
    f"--regid={INSIDE.gid}",
    "--clear-groups",
    "--inh-caps=-all",
    "--bounding-set=-all",
    "--no-new-privs",
    # The kernel forgets a parent-death signal when the user changes.
    "--pdeathsig=SIGKILL",
    "--",
]
"""The first command inside for root: give up root, and every right for good."""


def arguments(
    launch: Launch, system: HostSystem, shown: Sequence[Path], accounts: Mapping[int, str], identity: Iterable[str]
) -> list[str]:
    """Return everything between `bwrap` and the program.

    `shown`: the paths to show, parents first. `accounts`: open descriptors, and the path where the content of each
    shall stand. `identity`: who the program is.
    """
    words = [*identity, *_NAMESPACES, "--as-pid-1", "--die-with-parent", "--new-session", "--hostname", "sandbox"]
    size = launch.limits.scratch_mib
    words += ["--proc", "/proc", "--dev", "/dev", *_tmpfs(SHARED_MEMORY, shared_memory_mib(size) << 20, "1777")]
    words += _tmpfs(SCRATCH, size << 20, "1777")
    words += _folders([*system.mounts, *map(Path, accounts.values())])
    words += [word for path in system.mounts for word in ("--ro-bind", str(path), str(path))]
    words += [word for name, target in system.links for word in ("--symlink", target, name)]
    for descriptor, name in accounts.items():
        words += ["--perms", "0444", "--file", str(descriptor), name]
    words += _readonly(shown)
    words += _writable(launch)
    words += ["--clearenv"]
    words += [word for name, value in launch.environment.items() for word in ("--setenv", name, value)]
    # The root and /dev are temporary file systems too, without a bound on their size.
    return [*words, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", launch.cwd]


def _tmpfs(path: str, size: int, mode: str) -> tuple[str, ...]:
    return ("--perms", mode, "--size", str(size), "--tmpfs", path)


def _readonly(shown: Sequence[Path]) -> Iterator[str]:
    """Show paths.

    One that lies deep in the scratch space gets its outermost folder there mounted by itself: a folder that is no mount
    could be renamed by the program, and another put in its place.
    """
    roots = (Path(SCRATCH), Path(SHARED_MEMORY))
    within = ((root, path) for root in roots for path in shown if path.is_relative_to(root))
    locked = sorted({root / path.relative_to(root).parts[0] for root, path in within} - set(shown))
    for folder in locked:
        yield from _tmpfs(str(folder), 1 << 20, "0755")
    yield from _folders(shown)
    for path in shown:
        yield from ("--ro-bind", str(path), str(path))
    for folder in locked:
        yield from ("--remount-ro", str(folder))


def _writable(launch: Launch) -> Iterator[str]:
    """Put own file systems over shown folders, with what those hold mounted one by one: a mount stays in place."""
    for folder in sorted(launch.writable):
        yield from _tmpfs(str(folder), launch.limits.scratch_mib << 20, "1777")
        for path in entries(folder):
            yield from ("--ro-bind", str(path), str(path))


def _folders(paths: Iterable[Path]) -> Iterator[str]:
    """Make the folders above `paths`, open to all: bubblewrap would make them for their owner only."""
    named = {Path("/")}
    for path in paths:
        for folder in reversed(path.parents):
            if folder not in named:
                named.add(folder)
                yield from ("--perms", "0755", "--dir", str(folder))


class Hold:
    """A control group and a namespace where there are such, and a handle on PID 1 inside; thread-safe."""

    def __init__(self, group: ControlGroup | None) -> None:
        self._group = group
        self.namespace: MappedNamespace | None = None
        self._inside: int | None = None
        self._lock = Lock()

    @property
    def command(self) -> tuple[str, ...]:
        """In front of bwrap: join the group, then enter the namespace."""
        parts = (part for part in (self._group, self.namespace) if part is not None)
        return tuple(word for part in parts for word in part.command)

    def take(self, process: int) -> None:
        """Take PID 1 inside in hand, by its number outside; one that ended already needs no hand."""
        with self._lock, suppress(ProcessLookupError):
            self._inside = platform.handle(process)
            if self.namespace is not None:
                self.namespace.watch(process, self._group.folders if self._group else ())

    def end(self) -> None:
        """Kill PID 1 inside: the kernel ends all others of its namespace before it lets it go."""
        with self._lock, suppress(ProcessLookupError):
            if self._inside is not None:
                platform.kill_by(self._inside)

    def free(self) -> None:
        with self._lock:
            inside, self._inside = self._inside, None
        if inside is not None:
            os.close(inside)
        if self.namespace is not None:
            self.namespace.close()
        if self._group is not None:
            self._group.remove()


class BubblewrapSandbox:
    """Implements `Sandbox` with `bwrap`."""

    name = "bubblewrap"
    image_digest = ""
    scratch = SCRATCH
    others: tuple[str, ...] = ()

    def __init__(self) -> None:
        found = shutil.which("bwrap")
        if found is None:
            raise SandboxError(
                "bubblewrap is not installed.", f"Install it with `{system_install(BUBBLEWRAP)}`, or use Docker."
            )
        self._program = found
        self._system: HostSystem = host_system()
        self._groups: GroupMaker | None = group_maker()
        self._prlimit = shutil.which("prlimit")
        self.claims = ISOLATION
        if self._groups is not None or self._prlimit is not None:
            self.claims |= {Claim.BOUNDED_MEMORY_EACH, Claim.BOUNDED_PROCESSES}
        if self._groups is not None:
            self.claims |= {Claim.BOUNDED_MEMORY}

    @property
    def detail(self) -> str:
        if Claim.BOUNDED_MEMORY in self.claims:
            return "memory and processes are bounded by a control group"
        if Claim.BOUNDED_MEMORY_EACH in self.claims:
            return "memory is bounded for each process, not for all together: no control group can be made here"
        return "memory and processes are not bounded: no control group can be made here, and prlimit is missing"

    def start(self, launch: Launch) -> Process:
        try:
            hold = Hold(self._groups(launch.limits) if self._groups is not None else None)
        except OSError as error:
            remedy = "Try again, or use Docker."
            raise SandboxError(f"No control group can be made any more: {error}.", remedy) from error
        with ExitStack() as on_error, ExitStack() as stack:
            on_error.callback(hold.free)
            shown = visible(launch.readonly, self._system.covers)
            identity, become = _OWN_USER, list[str]()
            if platform.is_root():
                user = inside_user(Path(launch.cwd))
                shown = readable(shown, user)
                hold.namespace = MappedNamespace(user, INSIDE)
                identity, become = _MAPPED_USER, _BECOME_INSIDE
            accounts = account_files(INSIDE.uid, INSIDE.gid, launch.environment.get("HOME", SCRATCH))
            files = {stack.enter_context(platform.memory_file(text)).fileno(): name for name, text in accounts.items()}
            words = arguments(launch, self._system, shown, files, identity)
            program = [*become, *self._limits(launch.limits), *launch.argv]
            process = self._spawn(hold, [*words, "--", *program], files)
            on_error.pop_all()
            return process

    def _spawn(self, hold: Hold, words: Iterable[str], descriptors: Iterable[int]) -> Process:
        """Start bwrap and learn from it which process is PID 1 inside. Raises SandboxError."""
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb") as answer:
            with os.fdopen(writing, "wb"):
                command = [*hold.command, self._program, "--info-fd", str(writing), *words]
                process = LocalProcess(command, (writing, *descriptors), end=hold.end, after=hold.free)
            try:
                hold.take(int(json.load(answer)["child-pid"]))
            except (ValueError, KeyError) as error:  # bwrap gave up
                process.close()
                last = process.stderr_tail().strip().splitlines()[-1:] or ["bwrap ended without a word"]
                raise SandboxError(f"bubblewrap cannot start a sandbox: {last[0]}.", userns_remedy()) from error
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


def userns_remedy() -> str:
    """Say why ordinary users get no namespaces on this machine, as far as its settings tell."""
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
