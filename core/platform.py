"""What differs between Linux, macOS and Windows: the one module that asks, and that imports what only some have.

Programs that run inside a sandbox (`core.oracle.inside`), and the guardian and its confinement, know Linux alone.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

LINUX = sys.platform == "linux"
KILL = 9  # the number of the signal that cannot be caught; Windows has no name for it
PRIVATE: int = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)
"""Opens a file that programs started from here do not have."""
HANGUP: signal.Signals | None = getattr(signal, "SIGHUP", None)  # what a closed terminal sends


SIDE_FILES = ("-wal", "-shm", "-journal")
"""What SQLite puts behind the name of a database for the files that belong to it."""


def in_use(path: Path) -> bool:
    """Return whether a file is, or belongs to, an SQLite database that some process has open, as runs are.

    Nobody but SQLite may open it: closing it again would drop the locks of this process's own connections.
    """
    bases = [path, *(path.with_name(path.name.removesuffix(end)) for end in SIDE_FILES if path.name.endswith(end))]
    return any(base.with_name(f"{base.name}-shm").exists() for base in bases)


def usable_cores() -> int:
    """Return how many cores this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    else:
        return os.cpu_count() or 1


# ------------------------------------------------------------------ files


def lock(file: int, *, shared: bool = False) -> None:
    """Lock a file for as long as it is open, or fail at once. Raises BlockingIOError, OSError where there are none."""
    if sys.platform == "win32":
        import msvcrt

        try:  # of one byte, where two who only look keep each other out for a moment
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(*error.args) from error
    else:
        import fcntl

        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def mounts() -> str:
    """Return the system's list of mounts in the form of Linux's `mountinfo`; empty where there is none."""
    with suppress(OSError):
        return Path("/proc/self/mountinfo").read_text("utf-8", "replace")
    return ""


def device(number: int) -> str:
    """Return a device's number as the list of mounts writes it; empty where there is no such list."""
    if sys.platform == "win32":
        return ""
    else:
        return f"{os.major(number)}:{os.minor(number)}"


def memory_file(text: str) -> IO[bytes]:
    """Return an open file of no folder that reads `text`."""
    if sys.platform == "linux":
        file = os.fdopen(os.memfd_create("rtc-inspector"), "wb+", buffering=0)
        file.write(text.encode())
        file.seek(0)
        return file
    else:
        raise OSError("only Linux has files of no folder")


# ------------------------------------------------------------------ users and processes


def user() -> tuple[int, int]:
    """Return the numbers of the user and the group; of the first ordinary user where there are no numbers."""
    if sys.platform == "win32":
        return 1000, 1000
    else:
        return os.geteuid(), os.getegid()


def is_root() -> bool:
    """Return whether this process runs as root."""
    return user()[0] == 0


def end_session(process: int) -> None:
    """Kill a process that leads a session, and all that it started there. Raises ProcessLookupError."""
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/T", "/F", "/PID", str(process)], capture_output=True)
    else:
        os.killpg(process, signal.SIGKILL)


def handle(process: int) -> int:
    """Return a descriptor that stands for a process, whatever becomes of its number. Raises ProcessLookupError."""
    if sys.platform == "linux":
        return os.pidfd_open(process)
    else:
        raise ProcessLookupError(process)


def kill_by(descriptor: int) -> None:
    """Kill the process that `handle` gave a descriptor of. Raises ProcessLookupError."""
    if sys.platform == "linux":
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)


def is_alive(process: str) -> bool:
    """Return whether there is a process of this number; True where that cannot be told."""
    return Path("/proc", process).exists() if LINUX else True


def bounds_of_processes() -> tuple[int, int]:
    """Return how many files this process may open, and how many processes its user may have; -1: no bound."""
    if sys.platform == "win32":
        return -1, -1
    else:
        import resource

        bounds = (resource.getrlimit(kind)[1] for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC))
        files, processes = (-1 if bound == resource.RLIM_INFINITY else bound for bound in bounds)
        return files, processes


# ------------------------------------------------------------------ the machine


def host_mark() -> list[str]:
    """Return since when this machine runs, and which processes can be seen from here."""
    if LINUX:
        started = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return [started, Path("/proc/self/ns/pid").readlink().name]
    # To the minute: the clock may be set meanwhile, by seconds.
    started = _said("sysctl", "-n", "kern.boottime") or str(int((time.time() - time.monotonic()) // 60))
    return [re.sub(r"\W+", "-", started), sys.platform]


def start_of(process: str) -> str:
    """Return when a process started, as the system says it; empty for no such process."""
    if not LINUX:
        return re.sub(r"\W+", "-", _said("ps", "-o", "lstart=", "-p", process))
    with suppress(OSError):
        return Path("/proc", process, "stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    return ""


def available_memory() -> int | None:
    """Return the bytes that can be taken without swapping, where Linux's `/proc/meminfo` is not there to say so."""
    if sys.platform == "win32":
        import ctypes

        status = (ctypes.c_ulonglong * 8)(64)  # MEMORYSTATUSEX: two words of 32 bits, then figures; its size first
        if ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
            return status[2]
    elif not LINUX:
        words = _said("vm_stat")
        size = re.search(r"page size of (\d+)", words)
        pages = re.findall(r"^Pages (?:free|inactive|speculative|purgeable):\s+(\d+)", words, re.MULTILINE)
        if size and pages:
            return int(size[1]) * sum(map(int, pages))
    return None


def call(address: str, patience: float | None = None) -> None:
    """Connect to a Unix socket and let go again. Raises OSError where nobody listens there."""
    if sys.platform == "win32":
        raise OSError(f"{address} is no address here")
    else:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(patience)
            connection.connect(address)


def needs_display() -> bool:
    """Return whether a window needs a server to show it, as under X11 and Wayland."""
    return LINUX


def image_to_show() -> str | None:
    """Return the image to take where this machine's own system cannot run in a Linux container; None on Linux."""
    return None if LINUX else f"python:{sys.version_info.major}.{sys.version_info.minor}"


def _said(*command: str) -> str:
    with suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    return ""
