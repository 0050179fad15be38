"""The bubblewrap command line for one launch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rtc_inspector.core.oracle.sandbox.host_system import SCRATCH, SHARED_MEMORY, HostSystem, shared_memory_mib
from rtc_inspector.core.oracle.sandbox.inside_user import User
from rtc_inspector.core.oracle.sandbox.protocol import Launch
from rtc_inspector.core.oracle.sandbox.writable_folders import entries

# The same whoever runs us, so that a run does not depend on it.
INSIDE = User(1000, 1000)

_NAMESPACES = (
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-uts",
    "--unshare-cgroup-try",
)
_NO_RIGHTS = ("--cap-drop", "ALL")
_CHANGE_USER = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")


def own_user() -> list[str]:
    """Words for a caller who is not root: bubblewrap maps them to `INSIDE` and forbids further namespaces."""
    return ["--unshare-user", "--disable-userns", "--uid", str(INSIDE.uid), "--gid", str(INSIDE.gid), *_NO_RIGHTS]


def mapped_user() -> list[str]:
    """Words for root, run in a namespace made before: keep the rights to become `INSIDE` in it."""
    return [*_NO_RIGHTS, *(word for right in _CHANGE_USER for word in ("--cap-add", right))]


def become_inside() -> list[str]:
    """The first command inside for root: give up root, and every right for good."""
    return [
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


def arguments(
    launch: Launch,
    system: HostSystem,
    shown: Sequence[Path],
    accounts: Mapping[int, str],
    identity: Iterable[str],
) -> list[str]:
    """Everything between `bwrap` and the program.

    `shown`: the paths to show, parents first. `accounts`: open descriptors, and the path where the content of each
    shall stand. `identity`: `own_user` or `mapped_user`.
    """
    words = [*identity, *_NAMESPACES, "--as-pid-1", "--die-with-parent", "--new-session", "--hostname", "sandbox"]
    words += _special(launch.limits.scratch_mib)
    words += _folders([*system.mounts, *map(Path, accounts.values())])
    words += _system(system, accounts)
    words += _readonly(shown)
    words += _writable(launch)
    words += ["--clearenv"]
    words += [word for name, value in launch.environment.items() for word in ("--setenv", name, value)]
    # The root and /dev are temporary file systems too, without a bound on their size.
    return [*words, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", launch.cwd]


def _system(system: HostSystem, accounts: Mapping[int, str]) -> Iterator[str]:
    """System folders, and the files below /etc written for this sandbox."""
    for path in system.mounts:
        yield from ("--ro-bind", str(path), str(path))
    for name, target in system.links:
        yield from ("--symlink", target, name)
    for descriptor, name in accounts.items():
        yield from ("--perms", "0444", "--file", str(descriptor), name)


def _special(scratch_mib: int) -> Iterator[str]:
    """Own /proc, minimal /dev, sized scratch."""
    yield from ("--proc", "/proc", "--dev", "/dev")
    yield from _tmpfs(SHARED_MEMORY, shared_memory_mib(scratch_mib) << 20, "1777")
    yield from _tmpfs(SCRATCH, scratch_mib << 20, "1777")


def _tmpfs(path: str, size: int, mode: str) -> tuple[str, ...]:
    return ("--perms", mode, "--size", str(size), "--tmpfs", path)


def _readonly(shown: Sequence[Path]) -> Iterator[str]:
    """The paths to show.

    One that lies deep in the scratch space gets its outermost folder there mounted by itself: a folder that is no mount
    could be renamed by the program, and another put in its place.
    """
    locked = sorted({folder for path in shown if (folder := _folder_in_scratch(path)) and folder not in shown})
    for folder in locked:
        yield from _tmpfs(str(folder), 1 << 20, "0755")
    yield from _folders(shown)
    for path in shown:
        yield from ("--ro-bind", str(path), str(path))
    for folder in locked:
        yield from ("--remount-ro", str(folder))


def _writable(launch: Launch) -> Iterator[str]:
    """Own file systems over folders shown before, with what those hold mounted one by one: a mount stays in place."""
    for folder in sorted(launch.writable):
        yield from _tmpfs(str(folder), launch.limits.scratch_mib << 20, "1777")
        for path in entries(folder):
            yield from ("--ro-bind", str(path), str(path))


def _folders(paths: Iterable[Path]) -> Iterator[str]:
    """The folders above `paths`, open to all: bubblewrap would make them for their owner only."""
    made = {Path("/")}
    for path in paths:
        for folder in reversed(path.parents):
            if folder not in made:
                made.add(folder)
                yield from ("--perms", "0755", "--dir", str(folder))


def _folder_in_scratch(path: Path) -> Path | None:
    """The outermost folder of `path` inside a scratch space, if it lies in one."""
    for root in map(Path, (SCRATCH, SHARED_MEMORY)):
        if path.is_relative_to(root):
            return root / path.relative_to(root).parts[0]
    return None
