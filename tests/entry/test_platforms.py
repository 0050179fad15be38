"""Every module imports on systems that lack what Linux has, and only one asks which system it is."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
INSIDE = (
    "rtc_inspector.core.oracle.inside",
    "rtc_inspector.core.oracle.bench.inside",
    "rtc_inspector.core.oracle.sandbox.guardian",
    "rtc_inspector.core.oracle.sandbox.confinement",
)
"""Programs of the sandbox, which is Linux everywhere: on macOS and Windows they run in a container."""
MODULES = ["fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "posix", "_posixshmem"]
NAMES = {
    "os": "sched_getaffinity sched_setaffinity pidfd_open memfd_create fork forkpty setsid killpg getpgid getuid "
    "geteuid getgid getegid getgroups setuid chown lchown mkfifo mknod major minor sysconf statvfs nice getloadavg "
    "uname WNOHANG O_CLOEXEC O_NOFOLLOW O_PATH O_DIRECTORY setxattr openpty register_at_fork",
    "signal": "SIGKILL SIGHUP SIGBUS SIGALRM SIGCHLD SIGPIPE SIGSTOP SIGUSR1 SIGVTALRM pidfd_send_signal setitimer "
    "alarm pthread_kill pthread_sigmask siginterrupt ITIMER_REAL ITIMER_VIRTUAL",
    "socket": "AF_UNIX socketpair send_fds recv_fds",
    "select": "poll epoll kqueue",
    "time": "tzset clock_gettime",
}

IMPORTS = """
import importlib, json, pkgutil, select, sys
modules, names, inside = json.loads(sys.argv[1])
OURS = ("rtc_inspector.core", "rtc_inspector.ui", "rtc_inspector.app")

def imported():
    for package in OURS:
        top = importlib.import_module(package)
        for found in pkgutil.walk_packages(top.__path__, package + ".", onerror=lambda name: None):
            if not found.name.startswith(tuple(inside)) and not found.name.endswith(".__main__"):
                try:
                    importlib.import_module(found.name)
                except Exception as error:
                    yield f"{found.name}: {type(error).__name__}: {error}"

print(*imported(), sep=chr(10))  # what others wrote is loaded by that, and knows the systems by itself
for name in list(sys.modules):
    if name.partition(".")[0] in OURS:
        del sys.modules[name]
for name in modules:
    sys.modules[name] = None
for module, lost in names.items():
    for name in lost.split():
        vars(sys.modules[module]).pop(name, None)
print(*imported(), sep=chr(10))
"""


def test_every_module_imports_without_what_only_linux_has() -> None:
    words = [sys.executable, "-c", IMPORTS, json.dumps([MODULES, NAMES, INSIDE])]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""


ASKS = re.compile(
    r"^\s*(?:import|from) (?:fcntl|resource|pwd|grp|msvcrt|winreg)\b|sys\.platform|platform\.system\(|os\.name\b"
    r"|sched_getaffinity|os\.(?:killpg|fork|getuid|geteuid|memfd_create|pidfd_open)\b|signal\.SIG(?:KILL|HUP|BUS)"
    r"|/boot_id|socket\.AF_UNIX",
    re.MULTILINE,
)


def test_one_module_knows_the_systems() -> None:
    asking = set()
    for package in ("core", "ui", "app"):
        for path in (ROOT / package).rglob("*.py"):
            name = ".".join(("rtc_inspector", *path.relative_to(ROOT).with_suffix("").parts))
            if not name.startswith(INSIDE) and name != "rtc_inspector.core.platform":
                asking |= {f"{name}: {found}" for found in ASKS.findall(path.read_text())}
    assert not asking
