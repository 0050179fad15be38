"""No sandbox: a plain process with limits, for those who ask for it and trust the code."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path

from core.errors import SandboxError
from core.oracle.sandbox import guardian
from core.oracle.sandbox.guardian import Plan
from core.oracle.sandbox.local_process import LocalProcess
from core.oracle.sandbox.process import Process
from core.oracle.sandbox.protocol import Claim, Launch

_PREFIX = "rtc-inspector-none-"


class Unconfined:
    """Implements `Sandbox` without one: the program can do whatever the user can.

    The scratch space is one folder of this object, so that it holds one process at a time: several workers need
    an object each.
    """

    name = "none"
    image_digest = ""
    others: tuple[str, ...] = ()
    claims = frozenset({Claim.BOUNDED_MEMORY_EACH, Claim.ENDS_WHOLE})

    def __init__(self) -> None:
        """Name the scratch folder; it is made when a process starts, and removed when that is closed."""
        _sweep()
        self.scratch = str(Path(tempfile.gettempdir(), f"{_PREFIX}{os.getpid()}-{os.urandom(6).hex()}"))

    @property
    def detail(self) -> str:
        """What there is to fear, for a person."""
        return "the code under test can read and write whatever you can, and reach the network"

    def start(self, launch: Launch) -> Process:
        """Start the program under a guardian. Raises SandboxError."""
        try:
            Path(self.scratch).mkdir(mode=0o700)
        except OSError as error:
            raise SandboxError(
                f"The temporary folder {self.scratch} cannot be made: {error.strerror}.",
                "Close the process that uses it, or free some space.",
            ) from error
        life, writing = os.pipe()
        end = io.FileIO(writing, "wb")  # whose `close` may be called again, by any thread
        plan = Plan(
            life=life,
            memory=launch.limits.memory_mib << 20,
            address_space=launch.limits.address_space_mib << 20,
            file_size=launch.limits.scratch_mib << 20,
            environment=dict(launch.environment),
            program=list(launch.argv),
        )
        try:
            return LocalProcess(
                [sys.executable, "-I", "-S", guardian.__file__, json.dumps(plan)],
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
        shutil.rmtree(self.scratch, ignore_errors=True)


def _sweep() -> None:
    """Remove scratch folders whose maker was killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        maker = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if not Path("/proc", maker).exists():
            shutil.rmtree(folder, ignore_errors=True)
