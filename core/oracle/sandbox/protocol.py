"""What every sandbox offers: long-lived processes inside, reached over their pipes; and what it promises of those."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from rtc_inspector.core.oracle.sandbox.process import Process

THREAD_MIB = 72
"""Address space a thread reserves under glibc: an arena of 64 MiB, and its stack."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on everything inside together, as far as the sandbox claims them."""

    memory_mib: int
    processes: int
    scratch_mib: int

    @property
    def address_space_mib(self) -> int:
        """Bound on each process's address space: every thread reserves what it never touches."""
        return self.memory_mib + self.processes * THREAD_MIB


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start inside.

    Attributes:
        argv: the first is the interpreter's path inside.
        cwd: the working folder inside.
        readonly: host files and folders visible read-only at the same path inside.
        environment: the whole environment inside; nothing of the host's is added.
        limits: bounds on memory, processes and scratch space.
        writable: folders inside readonly ones in which new files can be made; code that they hold cannot be changed.
    """

    argv: tuple[str, ...]
    cwd: str
    readonly: tuple[Path, ...]
    environment: Mapping[str, str]
    limits: Limits
    writable: tuple[Path, ...] = ()


class Claim(StrEnum):
    """A promise about everything that runs inside; the conformance tests hold a sandbox to exactly those it makes."""

    NO_NETWORK = "no-network"
    """No address can be reached and no name resolved; loopback is its own."""
    READ_ONLY = "read-only"
    """Nothing can be written but the scratch space."""
    PRIVATE_FILES = "private-files"
    """Host files outside of `Launch.readonly` and the system folders cannot be read."""
    CLEAN_ENVIRONMENT = "clean-environment"
    """No variable of the host's is seen, in no process inside."""
    BOUNDED_SCRATCH = "bounded-scratch"
    """The scratch space cannot outgrow its limit."""
    BOUNDED_PROCESSES = "bounded-processes"
    """A fork bomb stops at the limit."""
    BOUNDED_MEMORY = "bounded-memory"
    """All processes together stay within the limit."""
    BOUNDED_MEMORY_EACH = "bounded-memory-each"
    """The address space of any one process stays within the limit; that stops accidents, not a hostile program."""
    OWN_PROCESSES = "own-processes"
    """Only processes inside are seen in /proc, and the launched program is PID 1."""
    UNPRIVILEGED = "unprivileged"
    """Not root, no capabilities, and no program that would give any."""
    NO_NAMESPACES = "no-namespaces"
    """No user namespace can be made inside, where all capabilities would come back for what it holds."""
    OTHERS_OUT_OF_REACH = "others-out-of-reach"
    """No process outside can be signalled, traced or bounded, and the launched program not be ended by its children."""
    NAMED_ACCOUNT = "named-account"
    """The user has a name, a group and a home."""
    WRITABLE_FOLDERS = "writable-folders"
    """`Launch.writable` takes new files, which go with the process."""
    ENDS_WHOLE = "ends-whole"
    """`kill` ends every process, also those that left their session."""


ALL = frozenset(Claim)

ISOLATION = ALL - {Claim.BOUNDED_MEMORY, Claim.BOUNDED_MEMORY_EACH, Claim.BOUNDED_PROCESSES}
"""What namespaces give by themselves, before any bound on memory or processes."""


class Sandbox(Protocol):
    """A way to run untrusted code away from the host."""

    name: str
    """docker, bubblewrap, landlock or none."""

    image_digest: str
    """Of the container image; empty where there is none."""

    scratch: str
    """The writable temporary folder inside, e.g. /tmp."""

    claims: frozenset[Claim]
    """What this sandbox promises on this machine."""

    @property
    def detail(self) -> str:
        """Return what the sandbox is and what it does not bound, for a person to read."""

    @property
    def others(self) -> tuple[str, ...]:
        """Engines that could be used instead, for a person; none where there are no engines."""

    def start(self, launch: Launch) -> Process:
        """Start a process inside. Raises SandboxError."""


@dataclass(frozen=True, slots=True)
class SandboxStatus:
    """Whether a sandbox can be used here, and what to do when not."""

    name: str
    usable: bool
    detail: str
    remedy: str
