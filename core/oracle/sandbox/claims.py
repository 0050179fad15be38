"""What a sandbox promises, one word each: the conformance tests hold it to exactly these."""

from __future__ import annotations

from enum import StrEnum


class Claim(StrEnum):
    """One property of everything that runs inside."""

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
    ENDS_WHOLE = "ends-whole"
    """`kill` ends every process, also those that left their session."""


ALL = frozenset(Claim)

ISOLATION = ALL - {Claim.BOUNDED_MEMORY, Claim.BOUNDED_MEMORY_EACH, Claim.BOUNDED_PROCESSES}
"""What namespaces give by themselves, before any bound on memory or processes."""
