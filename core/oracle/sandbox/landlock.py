"""The Landlock sandbox: no engine, no namespaces, no rights; a process that gave up all but what its tests need."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rtc_inspector.core import platform
from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.sandbox.host_system import host_system, visible
from rtc_inspector.core.oracle.sandbox.inside_user import User
from rtc_inspector.core.oracle.sandbox.protocol import Claim, Launch
from rtc_inspector.core.oracle.sandbox.unconfined import Guarded

if TYPE_CHECKING:
    from rtc_inspector.core.oracle.sandbox.confinement import Confinement

_KEPT = frozenset(
    {
        Claim.NO_NETWORK,
        Claim.READ_ONLY,
        Claim.PRIVATE_FILES,
        Claim.CLEAN_ENVIRONMENT,
        Claim.BOUNDED_PROCESSES,
        Claim.BOUNDED_MEMORY_EACH,
        Claim.NO_NAMESPACES,
        Claim.OTHERS_OUT_OF_REACH,
        Claim.ENDS_WHOLE,
    }
)


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
        self._kernel = kernel
        self._system = [str(path) for path in host_system().mounts]
        # Root stays root by number, without one of its rights: to change the number takes a right as well.
        self.claims = _KEPT | (frozenset() if platform.is_root() else {Claim.UNPRIVILEGED})

    @property
    def detail(self) -> str:
        """Return what is bounded and what is not, for a person to read."""
        return (
            f"Landlock {self._abi} of {self._kernel}; memory is bounded for each process and space for each file, not "
            "for all together, and tests can use no sockets, no shared memory and no fixed /tmp"
        )

    def _confined(self, launch: Launch) -> Confinement:
        """Return what of the machine is shown. Raises SandboxError."""
        shown = visible(launch.readonly, map(Path, self._system))
        if platform.is_root():
            _check_readable(shown)
        readable = [*self._system, *map(str, shown)]
        return {
            "abi": self._abi,
            "scratch": self.scratch,
            "readable": readable,
            "processes": launch.limits.processes,
        }


def _check_readable(shown: tuple[Path, ...]) -> None:
    """Refuse what root could read by its rights alone, which the program has not. Raises SandboxError."""
    for path in shown:
        if not User(*platform.user()).may_read(path):
            raise SandboxError(
                f"{path} is closed to root without its rights, which is how tests run here.",
                f"Open it for reading, e.g. `chmod -R go+rX {path}`, or run as its owner.",
            )
