"""Bounds over all processes of a sandbox together, by control groups, where this user may make one."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rtc_inspector.core import platform
from rtc_inspector.core.oracle.sandbox.protocol import Limits

_PREFIX = "rtc-inspector-"
_numbers = itertools.count()

# The wrapper and its shell count too.
_OURS = 2


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """One group for one sandbox.

    Attributes:
        command: put in front of a command, it runs that command inside the group.
        folders: of the group, below /sys/fs/cgroup; none where the service manager removes it when it is empty.
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


@dataclass(frozen=True, slots=True)
class FileGroups:
    """Makes folders in `parents`: one that has both controllers (version 2), or one for each (version 1)."""

    parents: tuple[Path, ...]

    def make(self, limits: Limits) -> ControlGroup:
        """Make folders with the limits written. Raises OSError."""
        name = f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
        folders = tuple(parent / name for parent in self.parents)
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

    def sweep(self) -> None:
        """Remove empty groups of ours whose maker is gone."""
        for parent in self.parents:
            for folder in parent.glob(f"{_PREFIX}*-*"):
                maker = folder.name.removeprefix(_PREFIX).partition("-")[0]
                if not platform.is_alive(maker):
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


@dataclass(frozen=True, slots=True)
class Scopes:
    """Asks systemd for a scope: the one way an ordinary user gets a group of their own after logging in remotely."""

    environment: tuple[tuple[str, str], ...]

    def make(self, limits: Limits) -> ControlGroup:
        """Return a command that opens a scope and runs in it, with the environment emptied again."""
        variables = [f"{name}={value}" for name, value in self.environment]
        run = ["systemd-run", "--user", "--scope", "--quiet", "--collect"]
        for setting in (
            f"MemoryMax={limits.memory_mib}M",
            "MemorySwapMax=0",
            f"TasksMax={limits.processes + _OURS}",
        ):
            run += ["-p", setting]
        return ControlGroup(("env", "-i", f"PATH={os.defpath}", *variables, *run, "--", "env", "-i"))


GroupMaker = FileGroups | Scopes
"""A way to make groups: `make(limits)` gives a new one, or raises OSError."""


def group_maker() -> GroupMaker | None:
    """Return the first way that works here, tried out; None when this user cannot bound processes together."""
    trial = Limits(memory_mib=256, processes=16, scratch_mib=16)
    for maker in _makers():
        try:
            group = maker.make(trial)
        except OSError:
            continue
        try:
            if _runs(group):
                return maker
        finally:
            group.remove()
    return None


def _makers() -> Iterator[GroupMaker]:
    for parents in _parents():
        groups = FileGroups(parents)
        groups.sweep()
        yield groups
    names = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
    variables = tuple((name, os.environ[name]) for name in names if name in os.environ)
    if not platform.is_root() and variables and shutil.which("systemd-run"):
        yield Scopes(variables)


def _runs(group: ControlGroup) -> bool:
    try:
        done = subprocess.run([*group.command, "true"], env={}, capture_output=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
