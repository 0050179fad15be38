"""What of the host's system an interpreter needs to run inside, and nothing more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rtc_inspector.core.errors import SandboxError

# Programs and libraries. /nix/store and /gnu/store hold them on NixOS and Guix.
_FOLDERS = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
)

# What the loader, the clock and a few modules of the standard library look up; no accounts, no names of machines.
_FILES = (
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/os-release",
    "/etc/protocols",
    "/etc/services",
    "/etc/timezone",
)

# A project that is one of these would take the place of something the sandbox itself needs there.
_TAKEN = frozenset(map(Path, ("/", "/dev", "/dev/shm", "/etc", "/proc", "/sys", "/tmp", "/var", "/var/tmp")))

SCRATCH = "/tmp"
SHARED_MEMORY = "/dev/shm"


@dataclass(frozen=True, slots=True)
class HostSystem:
    """The host's system folders as a sandbox shows them.

    Attributes:
        links: path -> target, for folders that are symbolic links (`/bin` -> `usr/bin`).
        mounts: folders and files shown read-only at the same path.
    """

    links: tuple[tuple[str, str], ...]
    mounts: tuple[Path, ...]

    @property
    def covers(self) -> tuple[Path, ...]:
        """Return all paths that a sandbox shows without being asked for them."""
        return (*self.mounts, *(Path(path) for path, _ in self.links))


def host_system() -> HostSystem:
    """Return the system folders and files of this machine."""
    folders = [Path(name) for name in _FOLDERS]
    links = tuple((str(path), str(path.readlink())) for path in folders if path.is_symlink())
    mounts = tuple(path for path in folders if path.is_dir() and not path.is_symlink())
    return HostSystem(links, mounts + tuple(path for path in map(Path, _FILES) if path.exists()))


def visible(readonly: Iterable[Path], system: Iterable[Path] = ()) -> tuple[Path, ...]:
    """The paths to mount, parents first: as named and as resolved, without those inside another one.

    `system`: what is mounted already. Raises SandboxError for a path that is missing or cannot be shown.
    """
    wanted: set[Path] = set()
    for path in readonly:
        wanted |= {path.absolute(), _resolved(path)}
    if refused := sorted(wanted & _TAKEN):
        raise SandboxError(
            f"A sandbox cannot show {refused[0]} as a whole.", "Move the project into a folder of its own."
        )
    shown: list[Path] = []
    for path in sorted(wanted):
        if not any(path.is_relative_to(parent) for parent in (*system, *shown)):
            shown.append(path)
    return tuple(shown)


def account_files(uid: int, gid: int, home: str) -> Mapping[str, str]:
    """The few files below /etc that a sandbox writes itself, path -> text.

    They say: one account called `sandbox`, loopback, and names looked up in files only.
    """
    return {
        "/etc/passwd": f"root:x:0:0:root:/:/usr/sbin/nologin\nsandbox:x:{uid}:{gid}:sandbox:{home}:/bin/sh\n",
        "/etc/group": f"root:x:0:\nsandbox:x:{gid}:\n",
        "/etc/hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }


def shared_memory_mib(scratch_mib: int) -> int:
    """Size of /dev/shm beside a scratch space: enough for semaphores and small arrays."""
    return max(16, scratch_mib // 4)


def _resolved(path: Path) -> Path:
    """Return where `path` leads. Raises SandboxError when it leads nowhere."""
    try:
        return path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise SandboxError(
            f"The sandbox was to show {path}, which cannot be read: {error.__class__.__name__}.",
            "Check that the folder still exists and that you may read it.",
        ) from error
