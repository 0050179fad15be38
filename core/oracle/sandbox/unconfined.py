"""No sandbox: a plain process with limits, for those who ask for it and trust the code; and what Landlock shares."""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
from abc import ABC, abstractmethod
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rtc_inspector.core import platform
from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.inside.scratch import remove
from rtc_inspector.core.oracle.sandbox.local_process import LocalProcess
from rtc_inspector.core.oracle.sandbox.process import Process
from rtc_inspector.core.oracle.sandbox.protocol import Claim, Launch

if TYPE_CHECKING:  # programs of their own, for Linux alone
    from rtc_inspector.core.oracle.sandbox.confinement import Confinement
    from rtc_inspector.core.oracle.sandbox.guardian import Plan

GUARDIAN = Path(__file__).with_name("guardian.py")

_PREFIX = "rtc-inspector-"


class Guarded(ABC):
    """A sandbox of one process of this machine under a guardian, which ends all that the program leaves.

    The scratch space is one folder of this object, so that it holds one process at a time: several workers need
    an object each (`another`).
    """

    name: str
    image_digest = ""
    others: tuple[str, ...] = ()
    claims: frozenset[Claim]

    def __init__(self) -> None:
        """Name the scratch folder; it is made when a process starts, and removed when that is closed.

        Raises SandboxError where the system has no guardian.
        """
        if not platform.LINUX:
            raise SandboxError(f"The sandbox {self.name} is for Linux alone.", "Use Docker.")
        _sweep(self.name)
        # Resolved, for what is asked of a path inside is compared with it.
        folder = Path(tempfile.gettempdir()).resolve()
        self.scratch = str(folder / f"{_PREFIX}{self.name}-{os.getpid()}-{os.urandom(6).hex()}")

    @property
    @abstractmethod
    def detail(self) -> str:
        """Return what the sandbox is and what it does not bound, for a person to read."""

    @abstractmethod
    def _confined(self, launch: Launch) -> Confinement | None:
        """Return what the program may use, None for all. Raises SandboxError."""

    def another(self) -> Self:
        """Return one more like this, for one more process."""
        return type(self)()

    def start(self, launch: Launch) -> Process:
        """Start the program under a guardian. Raises SandboxError."""
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
        """Let the guardian go and remove what the program left."""
        end.close()
        _remove(Path(self.scratch))


class Unconfined(Guarded):
    """Implements `Sandbox` without one: the program can do whatever the user can."""

    name = "none"
    claims = frozenset({Claim.BOUNDED_MEMORY_EACH, Claim.ENDS_WHOLE})

    @property
    def detail(self) -> str:
        """Return what there is to fear, for a person to read."""
        return "the code under test can read and write whatever you can, and reach the network"

    def _confined(self, launch: Launch) -> None:
        return None


def _remove(folder: Path) -> None:
    """Remove a scratch folder, whatever the program locked in it."""
    with suppress(OSError):
        # In a folder that all share, another user may have put something of their own, or a link, under such a name.
        if not folder.is_symlink() and folder.lstat().st_uid == platform.user()[0]:
            remove(str(folder.parent), folder.name)


def _sweep(name: str) -> None:
    """Remove scratch folders whose maker was killed."""
    prefix = f"{_PREFIX}{name}-"
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*-*"):
        maker = folder.name.removeprefix(prefix).partition("-")[0]
        if not platform.is_alive(maker):
            _remove(folder)
