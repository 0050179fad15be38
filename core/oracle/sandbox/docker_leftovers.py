"""Containers of ours whose maker was killed."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from docker import APIClient
from docker.errors import APIError

from core.oracle.sandbox.docker_container import LABEL


def owner_mark() -> str:
    """Says which process made a container: machine start, pid namespace, pid and its start."""
    return "/".join((_boot(), _namespace(), str(os.getpid()), _start_time(os.getpid()) or ""))


def remove_leftovers(client: APIClient) -> int:
    """Remove our containers whose maker is gone, and say how many; those of makers we cannot see are left alone."""
    removed = 0
    for container in client.containers(all=True, filters={"label": LABEL}):
        if _abandoned(container.get("Labels", {}).get(LABEL, "")):
            with suppress(APIError):
                client.remove_container(container["Id"], force=True, v=True)
                removed += 1
    return removed


def _abandoned(mark: str) -> bool:
    """Whether the maker lived here and does no more."""
    boot, _, rest = mark.partition("/")
    namespace, _, process = rest.partition("/")
    pid, _, started = process.partition("/")
    here = boot == _boot() and namespace == _namespace() and pid.isdigit()
    return here and _start_time(int(pid)) != started


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _namespace() -> str:
    return Path("/proc/self/ns/pid").readlink().name


def _start_time(pid: int) -> str | None:
    """In clock ticks since the machine started; None for no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    except OSError:
        return None
