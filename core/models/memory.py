"""How much memory is free, and how much a model will need."""

from __future__ import annotations

from pathlib import Path

from core.models.gguf import GgufHeader

COMPUTE = 256 << 20
"""Bytes that llama.cpp's working buffers and the worker itself take, about."""
MEMINFO = Path("/proc/meminfo")
UNKNOWN = 4 << 30


def memory_needed(header: GgufHeader, context_size: int) -> int:
    """Bytes that one sequence of `context_size` tokens needs: weights, key-value cache, working buffers."""
    return header.file_bytes + header.kv_bytes * context_size + COMPUTE


def available_memory() -> int:
    """Bytes that can be taken without swapping; the control group's limit counts too."""
    return min(_machine(), _group())


def _machine() -> int:
    try:
        for line in MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    except (OSError, ValueError, IndexError):
        pass
    return UNKNOWN


def _group() -> int:
    """What is left under this process's control group; the machine's share when unlimited."""
    root = Path("/sys/fs/cgroup")
    try:
        limit = (root / "memory.max").read_text().strip()
        used = int((root / "memory.current").read_text())
        return max(0, int(limit) - used) if limit != "max" else 1 << 62
    except (OSError, ValueError):
        return 1 << 62
