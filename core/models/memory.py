"""How much memory is free, and how much models will need at least, before any is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rtc_inspector.core import platform
from rtc_inspector.core.models.gguf import GgufHeader
from rtc_inspector.core.settings import DEFAULT_CONTEXT, ModelSettings

COMPUTE = 256 << 20
"""Bytes that llama.cpp's working buffers and the worker itself take, about."""
MEMINFO = Path("/proc/meminfo")
GROUP = Path("/sys/fs/cgroup")
UNKNOWN = 4 << 30


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes: `free` can be taken without swapping, `swap` besides."""

    free: int
    swap: int = 0


def window_of(header: GgufHeader, settings: ModelSettings) -> int:
    """Tokens of the context window that a model is opened with."""
    return settings.context_size or min(header.context_length or DEFAULT_CONTEXT, DEFAULT_CONTEXT)


def memory_needed(header: GgufHeader, context_size: int) -> int:
    """Bytes that one sequence of `context_size` tokens needs: weights, key-value cache, working buffers."""
    return header.file_bytes + header.kv_bytes * context_size + COMPUTE


def needed_together(headers: Sequence[GgufHeader], settings: ModelSettings) -> int:
    """Bytes that these models need at least, all loaded at once."""
    return sum(memory_needed(header, window_of(header, settings)) for header in headers)


def estimate(headers: Sequence[GgufHeader], settings: ModelSettings, memory: Memory) -> str:
    """Return one sentence that says what these models need beside what is free."""
    names = " and ".join(header.label for header in headers)
    verb = "needs" if len(headers) == 1 else "need"
    needed = gib(needed_together(headers, settings))
    return f"{names} {verb} about {needed} of memory; {gib(memory.free)} are free."


def too_much(headers: Sequence[GgufHeader], settings: ModelSettings, memory: Memory) -> bool:
    """Return whether these models cannot fit, not even by swapping."""
    return needed_together(headers, settings) > memory.free + memory.swap


def tight(headers: Sequence[GgufHeader], settings: ModelSettings, memory: Memory) -> bool:
    """Return whether these models fit only by swapping, if at all."""
    return needed_together(headers, settings) > memory.free


def gib(count: int) -> str:
    """Bytes as people read them."""
    return f"{count / (1 << 30):.1f} GiB"


def memory_now() -> Memory:
    """Return the memory that this process could take now; the control group's limit counts too."""
    # A control group may not use the machine's swap; nothing says how much of it, so none is counted.
    swap = _meminfo("SwapFree:", 0) if _group() >= 1 << 62 else 0
    return Memory(available_memory(), swap)


def available_memory() -> int:
    """Bytes that can be taken without swapping; the control group's limit counts too."""
    return min(platform.available_memory() or _meminfo("MemAvailable:", UNKNOWN), _group())


def _meminfo(name: str, otherwise: int) -> int:
    found = _figure(MEMINFO, name)
    return otherwise if found is None else found << 10


def _figure(file: Path, name: str) -> int | None:
    """The number after `name` at the head of a line; None where there is none."""
    try:
        for line in file.read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    return None


def _group() -> int:
    """Return the bytes left under the limit of this process's control group; `1 << 62` where there is no limit.

    File pages that nobody uses just now count as taken there, and are given up when memory is asked for: reading a
    model file once would otherwise leave no room to load it.
    """
    try:
        limit = (GROUP / "memory.max").read_text().strip()
        used = int((GROUP / "memory.current").read_text()) - (_figure(GROUP / "memory.stat", "inactive_file") or 0)
        return max(0, int(limit) - used) if limit != "max" else 1 << 62
    except (OSError, ValueError):
        return 1 << 62
