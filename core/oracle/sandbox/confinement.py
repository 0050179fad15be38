"""Confine this process by what every process may do to itself: Landlock for files, seccomp for the rest.

Needs no root, no user namespace and no capability, so that it works in a default container. Three things the kernel
cannot judge by itself are asked of the guardian outside (seccomp's user notifications): whether a signal stays inside,
whether one more process is within the bound, and whether the file whose mode or time is to change lies in the scratch
folder, for Landlock leaves `chmod` and `utime` alone.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import struct
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TypedDict

# Name, its number on x86-64, its number on aarch64 (asm-generic).
_NUMBERS = """
add_key 248 217|bpf 321 280|chmod 90 -|chown 92 -|clone 56 220|clone3 435 435|connect 42 203|fanotify_init 300 262
fchmod 91 52|fchmodat 268 53|fchmodat2 452 452|fchown 93 55|fchownat 260 54|fcntl 72 25|fork 57 -|fremovexattr 199 16
fsconfig 431 431|fsetxattr 190 7|fsmount 432 432|fsopen 430 430|fspick 433 433|futimesat 261 -|io_uring_enter 426 426
io_uring_register 427 427|io_uring_setup 425 425|ioctl 16 29|ioprio_set 251 30|kcmp 312 272|keyctl 250 219|kill 62 129
lchown 94 -|lremovexattr 198 15|lsetxattr 189 6|migrate_pages 256 238|mount 165 40|mount_setattr 442 442
move_mount 429 429|move_pages 279 239|mq_open 240 180|mq_unlink 241 181|msgctl 71 187|msgget 68 186|msgrcv 70 188
msgsnd 69 189|name_to_handle_at 303 264|open 2 -|open_by_handle_at 304 265|open_tree 428 428|openat 257 56
openat2 437 437|perf_event_open 298 241|pidfd_getfd 438 438|pidfd_send_signal 424 424|pivot_root 155 41
prlimit64 302 261|process_madvise 440 440|process_mrelease 448 448|process_vm_readv 310 270|process_vm_writev 311 271
ptrace 101 117|quotactl 179 60|quotactl_fd 443 443|removexattr 197 14|request_key 249 218|rt_sigqueueinfo 129 138
rt_tgsigqueueinfo 297 240|sched_setaffinity 203 122|sched_setattr 314 274|sched_setparam 142 118
sched_setscheduler 144 119|seccomp 317 277|semctl 66 191|semget 64 190|semop 65 193|semtimedop 220 192
setns 308 268|setpriority 141 140|setxattr 188 5|shmat 30 196|shmctl 31 195|shmget 29 194|socket 41 198
socketpair 53 199|syslog 103 116|tgkill 234 131|tkill 200 130|truncate 76 45|umount2 166 39|unshare 272 97
userfaultfd 323 282|utime 132 -|utimensat 280 88|utimes 235 -|vfork 58 -
"""
_NEWER = 463  # the first number, the same on both processors, of calls that nobody weighed: none of them is let through
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_REFUSED = {
    # Programs fall back where these are missing. io_uring would do all the rest unseen, clone3 hides its flags.
    errno.ENOSYS: "clone3 io_uring_enter io_uring_register io_uring_setup pidfd_send_signal",
    # A named Unix socket may be a session bus or an engine, which start programs outside.
    errno.EACCES: "connect",
    errno.ENOTSUP: "fremovexattr fsetxattr lremovexattr lsetxattr removexattr setxattr",
    errno.EPERM: (
        # other processes' memory, descriptors and standing
        "kcmp migrate_pages move_pages perf_event_open pidfd_getfd process_madvise process_mrelease process_vm_readv "
        "process_vm_writev ptrace ioprio_set "
        # what all processes of a user share
        "add_key keyctl mq_open mq_unlink msgctl msgget msgrcv msgsnd request_key semctl semget semop semtimedop shmat "
        "shmctl shmget "
        # the system
        "bpf fanotify_init fsconfig fsmount fsopen fspick mount mount_setattr move_mount name_to_handle_at "
        "open_by_handle_at open_tree pivot_root quotactl quotactl_fd setns syslog umount2 userfaultfd "
        # files outside, which Landlock does not guard against these
        "chown fchown fchownat lchown futimesat utime utimes"
    ),
}
_ASKED = (
    "chmod clone fchmod fchmodat fchmodat2 fork kill rt_sigqueueinfo rt_tgsigqueueinfo tgkill tkill utimensat vfork"
)

# Rights of Landlock, by bit.
_EXECUTE, _WRITE, _READ, _LIST = (1 << bit for bit in range(4))
_MAKE_CHAR, _MAKE_BLOCK, _TRUNCATE, _IOCTL = (1 << bit for bit in (6, 11, 14, 15))
_OF_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _IOCTL
_SHOWN = _EXECUTE | _READ | _LIST
_DEVICES = {
    "/dev/null": _READ | _WRITE | _TRUNCATE | _IOCTL,
    "/dev/zero": _READ | _WRITE,
    "/dev/full": _READ | _WRITE,
    "/dev/random": _READ,
    "/dev/urandom": _READ,
    "/proc": _READ | _LIST,
}
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_OLDEST_SIGNAL_SCOPE, _OLDEST_TCP, _OLDEST_TRUNCATE = 6, 4, 3

_libc = ctypes.CDLL(None, use_errno=True)


class Confinement(TypedDict):
    """A program's rights by a version of Landlock: to read `readable`, write below `scratch`, be so many processes."""

    abi: int
    scratch: str
    readable: list[str]
    processes: int


def abi() -> int:
    """Return the version of Landlock that this kernel has. Raises OSError where it has none, or it is switched off."""
    return _call(_CREATE, None, ctypes.c_size_t(0), 1)


def machine() -> tuple[str, str]:
    """Return the processor's kind and the kernel's version."""
    return platform.machine(), platform.release()


def processor_is_known() -> bool:
    """Return whether the numbers of system calls are known for this processor and word size."""
    return platform.machine() in _ARCHITECTURES and struct.calcsize("P") == 8


def _call(number: int, *arguments: object) -> int:
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


assert sys.platform == "linux"


def confine(plan: Confinement) -> int:
    """Give up every right but those of `plan`; return the descriptor on which the guardian is asked. Raises OSError."""
    version = plan["abi"]
    _prctl(38, 1)  # no new privileges: neither setuid programs nor file capabilities count from now on
    # Give up what root of a container still has; who has nothing loses nothing.
    for capability in range(64):
        with suppress(OSError):
            _prctl(24, capability)  # the bounding set
    with suppress(OSError):
        _prctl(47, 4)  # the ambient set
    if _libc.capset(struct.pack("=Ii", 0x20080522, 0), bytes(24)):
        raise OSError(ctypes.get_errno(), "capset")
    ruleset = _ruleset(plan, version)
    _call(_RESTRICT, ruleset, 0)
    os.close(ruleset)
    return _install(_filter(version))


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


# ------------------------------------------------------------------ Landlock


def _ruleset(plan: Confinement, version: int) -> int:
    files = (1 << (13 if version < 2 else 14 if version < 3 else 15 if version < 5 else 16)) - 1
    # TCP, then abstract sockets and signals: seccomp refuses them as well, on every kernel.
    handled = struct.pack("QQQ", files, 3 if version >= _OLDEST_TCP else 0, 3 if version >= _OLDEST_SIGNAL_SCOPE else 0)
    handled = handled[: 8 if version < _OLDEST_TCP else 16 if version < _OLDEST_SIGNAL_SCOPE else 24]
    ruleset = _call(_CREATE, handled, ctypes.c_size_t(len(handled)), 0)
    rights = dict.fromkeys(plan["readable"], _SHOWN) | _DEVICES
    rights[plan["scratch"]] = ~(_MAKE_CHAR | _MAKE_BLOCK | _IOCTL)
    for path, right in rights.items():
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        if not os.path.isdir(path):
            right &= _OF_FILES
        _call(_ADD, ruleset, 1, struct.pack("=Qi", right & files, descriptor), 0)
        os.close(descriptor)
    return ruleset


# ------------------------------------------------------------------ seccomp

_LOAD, _AND, _EQUAL, _AT_LEAST, _JUMP, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x05, 0x06
_ALLOW, _ASK, _FAIL = 0x7FFF0000, 0x7FC00000, 0x00050000
_NAMESPACES = 0x7E020000
_NEW_LISTENER, _ONLY_KILLED_WHILE_WAITING = 8, 32

Instruction = tuple[int, int, int, int]


def _known() -> Mapping[str, int]:
    place = _ARCHITECTURES[platform.machine()][0]
    rows = (row.split() for row in _NUMBERS.replace("\n", "|").split("|") if row)
    return {name: int(numbers[place]) for name, *numbers in rows if numbers[place] != "-"}


def _argument(place: int) -> Instruction:
    """Load the lower half, which is all that the kernel takes of an `int`."""
    return _LOAD, 0, 0, 16 + 8 * place


def _unless(value: int, code: int) -> list[Instruction]:
    return [(_EQUAL, 1, 0, value), (_RETURN, 0, 0, _FAIL | code)]


def _if(value: int, code: int) -> list[Instruction]:
    return [(_EQUAL, 0, 1, value), (_RETURN, 0, 0, _FAIL | code)]


def _by_arguments(version: int) -> Iterator[tuple[str, list[Instruction]]]:
    """Give what is refused of a call, by its arguments; what is not returned goes on to the next rule."""
    # Unix sockets that are streams: a datagram could be sent to any name without `connect`.
    unix = [_argument(0), *_unless(1, errno.EACCES), _argument(1), (_AND, 0, 0, 0xF), (_EQUAL, 2, 0, 1)]
    unix += [(_EQUAL, 1, 0, 5), (_RETURN, 0, 0, _FAIL | errno.EACCES)]
    yield "socket", unix
    yield "socketpair", unix
    namespaces = [_argument(0), (_AND, 0, 0, _NAMESPACES), *_unless(0, errno.EPERM)]
    yield "clone", namespaces
    yield "unshare", [_argument(0), (_AND, 0, 0, _NAMESPACES | 0x80), *_unless(0, errno.EPERM)]
    # Of itself only: a bound on another process's time would end it.
    for name in ("prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"):
        yield name, [_argument(0), *_unless(0, errno.EPERM)]
    yield "setpriority", [_argument(0), *_unless(0, errno.EPERM), _argument(1), *_unless(0, errno.EPERM)]
    # Have the kernel send any signal to any process of the user (F_SETOWN, F_SETSIG, F_SETOWN_EX and their kin), type
    # into a terminal (TIOCSTI, TIOCLINUX), change flags of a file that is open for reading.
    yield "fcntl", [_argument(1), *(each for value in (8, 10, 15) for each in _if(value, errno.EPERM))]
    orders = (0x8901, 0x8902, 0x5412, 0x541C, 0x40086602, 0x401C5820, 0x40087602)
    order = [_argument(1), *(each for value in orders for each in _if(value, errno.EPERM))]
    # What file systems take (btrfs, ext4 and fs-verity, XFS): some need no more than a file that is open for reading.
    kinds = [each for kind in (0x9400, 0x6600, 0x5800) for each in _if(kind, errno.ENOTSUP)]
    yield "ioctl", [*order, (_AND, 0, 0, 0xFF00), *kinds]
    if version < _OLDEST_TRUNCATE:  # then Landlock lets files be emptied that were not opened for writing
        yield "truncate", [(_RETURN, 0, 0, _FAIL | errno.EPERM)]
        yield "openat2", [(_RETURN, 0, 0, _FAIL | errno.ENOSYS)]
        for name, place in (("open", 1), ("openat", 2)):
            emptied = os.O_TRUNC | os.O_ACCMODE
            both = [*_if(os.O_TRUNC, errno.EPERM), *_if(emptied, errno.EPERM)]
            yield name, [_argument(place), (_AND, 0, 0, emptied), *both]


def _filter(version: int) -> list[Instruction]:
    """Return the program that the kernel runs before each system call."""
    numbered = _known()
    program = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, _ARCHITECTURES[platform.machine()][1])]
    program += [(_RETURN, 0, 0, _FAIL | errno.ENOSYS), (_LOAD, 0, 0, 0)]
    # The numbers of x86-64's other width (x32) are far above these.
    program += [(_AT_LEAST, 0, 1, _NEWER), (_RETURN, 0, 0, _FAIL | errno.ENOSYS)]
    for name, rule in _by_arguments(version):
        if name in numbered:
            program += [(_EQUAL, 0, len(rule) + 1, numbered[name]), *rule, (_LOAD, 0, 0, 0)]
    answers = {_FAIL | code: names for code, names in _REFUSED.items()} | {_ASK: _ASKED}
    for answer, names in answers.items():
        numbers = [numbered[name] for name in names.split() if name in numbered]
        program += [(_EQUAL, len(numbers) - place, 0, number) for place, number in enumerate(numbers)]
        program += [(_JUMP, 0, 0, 1), (_RETURN, 0, 0, answer)]
    return [*program, (_RETURN, 0, 0, _ALLOW)]


def _install(program: Sequence[Instruction]) -> int:
    """Put the filter on this process for good; return the descriptor on which it asks. Raises OSError."""
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    described = struct.pack("HxxxxxxP", len(program), ctypes.addressof(buffer))
    number = _known()["seccomp"]
    try:
        return _call(number, 1, _NEW_LISTENER | _ONLY_KILLED_WHILE_WAITING, described)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        return _call(number, 1, _NEW_LISTENER, described)  # kernels before 5.19


# ------------------------------------------------------------------ the guardian's answers

_RECEIVE, _SEND, _STILL_ASKING = 0xC0502100, 0xC0182101, 0x40082102
_GO_ON = 1
_AT_CWD = -100
_EMPTY_PATH, _NO_FOLLOW = 0x1000, 0x100
_LONGEST = 4096
_FULL_SECONDS = 0.05  # in which no process is made after one was refused because there are too many


class Answers:
    """The guardian's side: what a confined program asks of it, judged one question at a time."""

    def __init__(
        self, listener: int, program: int, plan: Confinement, descendants: Callable[[], Sequence[int]]
    ) -> None:
        self._listener, self._program, self._descendants = listener, program, descendants
        self._scratch = os.path.realpath(plan["scratch"]) + "/"
        self._most, self._full_until = plan["processes"], 0.0
        self._names = {number: name for name, number in _known().items()}

    def fileno(self) -> int:
        return self._listener

    def answer(self) -> None:
        asked = bytearray(80)
        with suppress(OSError):
            fcntl.ioctl(self._listener, _RECEIVE, asked)
            number, caller, _, call, _, _, *arguments = struct.unpack("=QIIiIQ6Q", asked)
            error, flags = 0, 0
            try:
                if self._judge(number, caller, self._names.get(call, ""), arguments):
                    flags = _GO_ON
            except OSError as trouble:
                error = trouble.errno or errno.EPERM
            except (OverflowError, ValueError):  # a pointer or a number that can stand for nothing
                error = errno.EFAULT
            fcntl.ioctl(self._listener, _SEND, struct.pack("=QqiI", number, 0, -error, flags))

    def _judge(self, number: int, caller: int, name: str, arguments: Sequence[int]) -> bool:
        """Return whether the kernel shall go on; else it was done here. Raises OSError for what is refused."""
        if name in ("clone", "fork", "vfork"):
            full = caller != self._program and time.monotonic() < self._full_until
            if not full and _tasks(self._descendants()) >= self._most:
                # A fork bomb asks without end: to count for each would keep the signals waiting that are to end it.
                full, self._full_until = True, time.monotonic() + _FULL_SECONDS
            if full:
                raise OSError(errno.EAGAIN, name)
            return True
        if name in ("chmod", "fchmod", "fchmodat", "fchmodat2", "utimensat"):
            self._change(number, caller, name, arguments)
            return False
        # Decided by numbers that the kernel has taken already, so that going on is safe.
        self._signal(caller, ctypes.c_int(arguments[1 if name in ("tgkill", "rt_tgsigqueueinfo") else 0]).value)
        return True

    def _signal(self, caller: int, target: int) -> None:
        """Refuse signals that leave the sandbox, and any to the program itself but its own. Raises OSError."""
        own = _about(caller)["Tgid"] == self._program
        if target > 0:
            reached = [_about(target)["Tgid"]] if _is_below(target) else []
            if not reached:
                raise OSError(errno.EPERM, "kill")
        elif target == -1:
            raise OSError(errno.EPERM, "kill")
        else:
            group = -target or os.getpgid(caller)
            reached = [process for process in self._descendants() if _group(process) == group]
            if not reached:
                raise OSError(errno.ESRCH, "kill")
        if self._program in reached and not own:
            raise OSError(errno.EPERM, "kill")

    def _change(self, number: int, caller: int, name: str, arguments: Sequence[int]) -> None:
        """Change the mode or the times of a file below the scratch folder, in the caller's place. Raises OSError."""
        folder, path, value, flags = _AT_CWD, 0, 0, 0
        if name == "chmod":
            path, value = arguments[:2]
        elif name == "fchmod":
            folder, value = arguments[:2]
        else:
            folder, path, value, flags = arguments[:4]
        if name == "fchmodat":
            flags = 0  # takes none, whatever stands in the register
        folder, flags = ctypes.c_int(folder).value, flags & 0xFFFFFFFF
        memory = os.open(f"/proc/{caller}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            text = os.pread(memory, _LONGEST, path).split(b"\0")[0] if path else b""
            times = os.pread(memory, 32, value) if name == "utimensat" and value else None
        finally:
            os.close(memory)
        if path and not text and not flags & _EMPTY_PATH:
            raise OSError(errno.ENOENT, name)
        follow = 0 if not text or not flags & _NO_FOLLOW else os.O_NOFOLLOW
        file = os.open(_place(caller, folder, os.fsdecode(text)), os.O_PATH | os.O_CLOEXEC | follow)
        try:
            # The file that is open now is the one that is changed, whatever its name leads to by then.
            fcntl.ioctl(self._listener, _STILL_ASKING, struct.pack("Q", number))
            here = f"/proc/self/fd/{file}"
            if not os.readlink(here).startswith(self._scratch):
                raise OSError(errno.EPERM, name)
            if name == "utimensat":
                if _libc.utimensat(_AT_CWD, here.encode(), times, 0):
                    raise OSError(ctypes.get_errno(), name)
            else:
                os.chmod(here, value & 0o1777)
        finally:
            os.close(file)


def _place(caller: int, folder: int, path: str) -> str:
    """Return the caller's path as seen from here: from its folder, its descriptor, its own entry of /proc."""
    for name in ("/proc/self/", "/proc/thread-self/"):
        if path.startswith(name):
            return f"/proc/{caller}/{path.removeprefix(name)}"
    if path.startswith("/dev/fd/"):
        return f"/proc/{caller}/fd/{path.removeprefix('/dev/fd/')}"
    base = f"/proc/{caller}/cwd" if folder == _AT_CWD else f"/proc/{caller}/fd/{folder}"
    return os.path.join(base, path) if path else base


def _about(task: int) -> dict[str, int]:
    with open(f"/proc/{task}/status", errors="replace") as file:
        rows = (line.split() for line in file)
        return {row[0][:-1]: int(row[1]) for row in rows if row and row[0] in ("Tgid:", "PPid:")}


def _is_below(task: int) -> bool:
    here = os.getpid()
    try:
        while task > 1:
            task = _about(task)["PPid"]
            if task == here:
                return True
    except OSError as error:
        raise OSError(errno.ESRCH, "kill") from error
    return False


def _group(process: int) -> int:
    with suppress(ProcessLookupError):
        return os.getpgid(process)
    return 0


def _tasks(processes: Sequence[int]) -> int:
    count = 0
    for process in processes:
        with suppress(OSError):
            count += len(os.listdir(f"/proc/{process}/task"))
    return count
