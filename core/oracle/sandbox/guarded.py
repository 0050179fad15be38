"""Sandboxes of one process under a guardian: Landlock, and none, for those who trust the code."""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rtc_inspector.core import platform
from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.inside.scratch import remove
from rtc_inspector.core.oracle.sandbox.host_system import User, host_system, visible
from rtc_inspector.core.oracle.sandbox.protocol import Claim, Launch, LocalProcess, Process

if TYPE_CHECKING:  # programs of their own, for Linux alone
    from rtc_inspector.core.oracle.sandbox.confinement import Confinement
    from rtc_inspector.core.oracle.sandbox.guardian import Plan

GUARDIAN = Path(__file__).with_name("guardian.py")

_PREFIX = "rtc-inspector-"


class Guarded:
    """A sandbox of one process of this machine under a guardian, which ends all that the program leaves.

    The scratch space is one folder of this object, so that it holds one process at a time: several workers need
    an object each (`another`).
    """

    name: str
    image_digest = ""
    others: tuple[str, ...] = ()
    claims: frozenset[Claim]
    detail: str

    def __init__(self) -> None:
        """Name the scratch folder, which lives as long as a process. Raises SandboxError."""
        if not platform.LINUX:
            raise SandboxError(f"The sandbox {self.name} is for Linux alone.", "Use Docker.")
        prefix = f"{_PREFIX}{self.name}-"
        for left in Path(tempfile.gettempdir()).glob(f"{prefix}*-*"):
            if not platform.is_alive(left.name.removeprefix(prefix).partition("-")[0]):  # its maker was killed
                _remove(left)
        # Resolved, for what is asked of a path inside is compared with it.
        folder = Path(tempfile.gettempdir()).resolve()
        self.scratch = str(folder / f"{prefix}{os.getpid()}-{os.urandom(6).hex()}")

    def _confined(self, launch: Launch) -> Confinement | None:
        """Return what the program may use, None for all. Raises SandboxError."""
        return None

    def another(self) -> Self:
        return type(self)()

    def start(self, launch: Launch) -> Process:
        confined = self._confined(launch)
        try:
            Path(self.scratch).mkdir(mode=0o700)
        except OSError as error:
            raise SandboxError(
                f"The temporary folder {self.scratch} cannot be made: {error.strerror}.",
                "Close the process that uses it, free some space, or name another folder in TMPDIR.",
            ) from error
        life, writing = os.pipe()
        end = io.FileIO(writing, "wb")  # whose `close` may be called again, by any thread
        plan: Plan = {
            "life": life,
            "memory": launch.limits.memory_mib << 20,
            "address_space": launch.limits.address_space_mib << 20,
            "file_size": launch.limits.scratch_mib << 20,
            "environment": dict(launch.environment),
            "program": list(launch.argv),
            "confined": confined,
        }
        try:
            return LocalProcess(
                [sys.executable, "-I", "-S", str(GUARDIAN), json.dumps(plan)],
                (life,),
                cwd=launch.cwd,
                end=end.close,
                after=partial(self._free, end),
            )
        except SandboxError:
            self._free(end)
            raise
        finally:
            os.close(life)

    def _free(self, end: io.FileIO) -> None:
        end.close()
        _remove(Path(self.scratch))


class Unconfined(Guarded):
    """Implements `Sandbox` without one: the program can do whatever the user can."""

    name = "none"
    claims = frozenset({Claim.BOUNDED_MEMORY_EACH, Claim.ENDS_WHOLE})
    detail = "the code under test can read and write whatever you can, and reach the network"


def _remove(folder: Path) -> None:
    with suppress(OSError):
        # In a folder that all share, another user may have put something of their own, or a link, under such a name.
        if not folder.is_symlink() and folder.lstat().st_uid == platform.user()[0]:
            remove(str(folder.parent), folder.name)


_BOUNDS = {Claim.BOUNDED_PROCESSES, Claim.BOUNDED_MEMORY_EACH}
_KEPT = _BOUNDS | {Claim.NO_NETWORK, Claim.READ_ONLY, Claim.PRIVATE_FILES, Claim.CLEAN_ENVIRONMENT}
_KEPT |= {Claim.NO_NAMESPACES, Claim.OTHERS_OUT_OF_REACH, Claim.ENDS_WHOLE}


class LandlockSandbox(Guarded):
    """Implements `Sandbox` with Landlock, seccomp and resource limits."""

    name = "landlock"

    def __init__(self, newest: int | None = None) -> None:
        """Ask the kernel what it has; use no newer version of Landlock than `newest`. Raises SandboxError."""
        super().__init__()
        from rtc_inspector.core.oracle.sandbox import confinement

        machine, release = confinement.machine()
        if not confinement.processor_is_known():
            raise SandboxError(
                f"The sandbox landlock knows no {machine} processor.", "Use Docker, or install bubblewrap."
            )
        kernel = f"kernel {release}"
        try:
            self._abi = min(confinement.abi(), newest or sys.maxsize)
        except OSError as error:
            raise SandboxError(
                f"This machine's {kernel} has no Landlock, or it is switched off ({error.strerror}).",
                "Landlock is in kernels from 5.13 and must be among the `lsm=` of the boot line; else use Docker or "
                "bubblewrap.",
            ) from error
        self._system = [str(path) for path in host_system().mounts]
        # Root stays root by number, without one of its rights: to change the number takes a right as well.
        self.claims = frozenset(_KEPT if platform.is_root() else _KEPT | {Claim.UNPRIVILEGED})
        self.detail = (
            f"Landlock {self._abi} of {kernel}; memory is bounded for each process and space for each file, not for "
            "all together, and tests can use no sockets, no shared memory and no fixed /tmp"
        )

    def _confined(self, launch: Launch) -> Confinement:
        shown = visible(launch.readonly, map(Path, self._system))
        for path in shown if platform.is_root() else ():
            if not User(*platform.user()).may_read(path):  # but by rights of root's, which the program has not
                raise SandboxError(
                    f"{path} is closed to root without its rights, which is how tests run here.",
                    f"Open it for reading, e.g. `chmod -R go+rX {path}`, or run as its owner.",
                )
        readable = [*self._system, *map(str, shown)]
        return {"abi": self._abi, "scratch": self.scratch, "readable": readable, "processes": launch.limits.processes}
