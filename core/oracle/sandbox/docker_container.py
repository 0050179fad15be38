"""Containers: what one may do, everything that hardens it in one place; and those whose maker was killed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from docker import APIClient
from docker.errors import APIError
from docker.types import LogConfig, Mount, Ulimit

from rtc_inspector.core import platform
from rtc_inspector.core.oracle.sandbox.docker_engine import Engine
from rtc_inspector.core.oracle.sandbox.host_system import SCRATCH, shared_memory_mib
from rtc_inspector.core.oracle.sandbox.inside_user import User
from rtc_inspector.core.oracle.sandbox.protocol import Launch
from rtc_inspector.core.oracle.sandbox.writable_folders import entries

LABEL = "rtc-inspector"
"""Key of the label on every container of ours; its value says whose it is."""


def create_container(
    client: APIClient, engine: Engine, image: str, launch: Launch, shown: Sequence[Path], user: User
) -> str:
    """Make a container that is not started yet, and return its id. Raises what docker-py raises."""
    host_config = client.create_host_config(
        network_mode="none",
        read_only=True,
        mounts=[*_writable(launch), *(_bind(path) for path in _with_submounts(_around_writable(shown, launch)))],
        cap_drop=["ALL"],
        security_opt=list(_security()),
        auto_remove=engine.removes,
        init=False,
        # Else the host's own name servers would stand in resolv.conf.
        dns=["127.0.0.1"],
        dns_search=["."],
        # What candidates print is read over the pipes; the engine must not keep it on disk as well.
        log_config=LogConfig(type="none"),
        ulimits=list(_ulimits(engine)),
        **_bounds(engine, launch),
    )
    if engine.podman and engine.rootless:
        host_config["UsernsMode"] = "keep-id"
    container = client.create_container(
        image,
        list(launch.argv),
        hostname="sandbox",
        user=f"{user.uid}:{user.gid}",
        stdin_open=True,
        environment=dict(launch.environment),
        working_dir=launch.cwd,
        labels={LABEL: owner_mark()},
        entrypoint=[],
        # An image's own check would run beside the program. Podman would ask systemd to remove its timer.
        healthcheck=None if engine.podman else {"test": ["NONE"]},
        use_config_proxy=False,
        host_config=host_config,
    )
    return str(container["Id"])


def _bounds(engine: Engine, launch: Launch) -> dict[str, Any]:
    """Sizes and counts; swap is none, so that memory is bounded by what was asked."""
    limits = launch.limits
    tmpfs = {SCRATCH: f"rw,exec,nosuid,nodev,mode=1777,size={limits.scratch_mib}m"}
    if engine.podman:
        # Podman puts unbounded ones over these folders of a read-only container unless there are some already.
        tmpfs |= {"/run": "ro,size=64k", "/var/tmp": "ro,size=64k"}
    bounds: dict[str, Any] = {
        "tmpfs": tmpfs,
        "shm_size": shared_memory_mib(limits.scratch_mib) << 20,
    }
    if engine.bounds_memory:
        bounds |= {"mem_limit": f"{limits.memory_mib}m", "memswap_limit": f"{limits.memory_mib}m"}
    if engine.bounds_processes:
        bounds["pids_limit"] = limits.processes
    return bounds


def _ulimits(engine: Engine) -> Iterator[Ulimit]:
    """Limits of each process, never above our own: an engine run by a bounded user may not raise them."""
    yield Ulimit(name="core", soft=0, hard=0)
    files, processes = (4096 if bound < 0 else min(4096, bound) for bound in platform.bounds_of_processes())
    yield Ulimit(name="nofile", soft=min(1024, files), hard=files)
    if engine.podman:
        # Podman asks for a million processes unless told otherwise, which not every machine grants.
        yield Ulimit(name="nproc", soft=processes, hard=processes)


def _security() -> Iterator[str]:
    yield "no-new-privileges:true"
    # A label would have to be written on the user's own files; without one they could not be read.
    if Path("/sys/fs/selinux/enforce").exists():
        yield "label=disable"


def _bind(path: Path) -> Mount:
    """`path` alone, read-only: what is mounted below it would stay writable on older engines."""
    mount = Mount(target=str(path), source=str(path), type="bind", read_only=True)
    mount["BindOptions"] = {"NonRecursive": True}
    return mount


def _writable(launch: Launch) -> Iterator[Mount]:
    """Own file systems in the place of folders of the host."""
    for folder in launch.writable:
        size = launch.limits.scratch_mib << 20
        yield Mount(target=str(folder), source=None, type="tmpfs", tmpfs_size=size, tmpfs_mode=0o1777)


def _around_writable(shown: Sequence[Path], launch: Launch) -> list[Path]:
    """`shown`, with what a writable folder holds in its place: a mount each, for a mount stays where it is."""
    paths = [*shown, *(path for folder in launch.writable for path in entries(folder))]
    return [path for path in dict.fromkeys(paths) if path not in launch.writable]


def _with_submounts(shown: Sequence[Path]) -> Iterator[Path]:
    """`shown`, each followed by the file systems mounted below it, but for those of single users (FUSE)."""
    points = []
    for line in platform.mounts().splitlines():
        before, _, after = line.partition(" - ")
        if not after.startswith("fuse"):
            # The kernel writes blanks and the like as octal numbers.
            points.append(Path(before.split()[4].encode().decode("unicode_escape")))
    for path in shown:
        yield path
        yield from sorted({point for point in points if point != path and point.is_relative_to(path)})


# ------------------------------------------------------------------ whose a container is


def owner_mark() -> str:
    """Says which process made a container: machine start, pid namespace, pid and its start."""
    pid = str(os.getpid())
    return "/".join((*platform.host_mark(), pid, platform.start_of(pid)))


def remove_leftovers(client: APIClient) -> None:
    """Remove our containers whose maker was killed; those of makers we cannot see are left alone."""
    for container in client.containers(all=True, filters={"label": LABEL}):
        if _abandoned(container.get("Labels", {}).get(LABEL, "")):
            with suppress(APIError):
                client.remove_container(container["Id"], force=True, v=True)


def _abandoned(mark: str) -> bool:
    """Return whether the maker lived here and does no more."""
    *where, pid, started = mark.split("/") if mark.count("/") == 3 else ("", "")
    return where == platform.host_mark() and pid.isdigit() and platform.start_of(pid) != started
