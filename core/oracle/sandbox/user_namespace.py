"""A user namespace for sandboxes that root starts: the program inside is not root for the host either."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.sandbox.inside_user import User

# Forbids further namespaces inside, then watches: told which process is PID 1 inside, it ends that one when the pipe
# closes, and removes its control groups. bubblewrap's own parent-death signal cannot end it, for bubblewrap has given
# up the right to signal another user.
_HOLDER = """
echo; read mapped
echo 0 > /proc/sys/user/max_user_namespaces && echo
read inside groups && { read end; kill -9 "$inside"; sleep 0.2; rmdir $groups; }
"""

TOOLS = ("unshare", "nsenter", "setpriv")


class MappedNamespace:
    """A namespace where root is root, for mounting, and one more user is an ordinary user of the host.

    bubblewrap alone maps one user only: run by root, its program would still own what root owns, device nodes and
    kernel settings among it.
    """

    def __init__(self, user: User, inside: User) -> None:
        """Make it, with `inside` as `user`; only root can. Raises SandboxError."""
        if lacking := [tool for tool in TOOLS if shutil.which(tool) is None]:
            raise SandboxError(
                f"{lacking[0]} is missing, which bubblewrap needs when root runs it.", "Install util-linux."
            )
        self._holder = subprocess.Popen(
            ["unshare", "--user", "--keep-caps", "/bin/sh", "-c", _HOLDER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={},
            bufsize=0,
        )
        try:
            _map(self._holder, user, inside)
        except SandboxError:
            self.close()
            raise
        self.command = ("nsenter", f"--user=/proc/{self._holder.pid}/ns/user", "--")
        """In front of a command, it runs that command in the namespace."""

    def watch(self, inside: int, groups: Iterable[Path]) -> None:
        """End the process `inside` when we die, and remove the folders `groups`."""
        with suppress(BrokenPipeError):
            words = " ".join(map(str, (inside, *groups)))
            cast(BinaryIO, self._holder.stdin).write(f"{words}\n".encode())

    def close(self) -> None:
        """Watch no more; idempotent."""
        self._holder.kill()
        with self._holder:
            pass


def _map(holder: subprocess.Popen[bytes], user: User, inside: User) -> None:
    """Write both maps, then forbid further namespaces. Raises SandboxError."""
    try:
        _answer(holder)
        for kind, host, own in (("uid", user.uid, inside.uid), ("gid", user.gid, inside.gid)):
            Path(f"/proc/{holder.pid}/{kind}_map").write_text(f"0 0 1\n{own} {host} 1\n")
        cast(BinaryIO, holder.stdin).write(b"\n")
        _answer(holder)
    except OSError as error:
        raise SandboxError(
            f"No user namespace can be made: {error}.", "Use Docker, or run as an ordinary user."
        ) from error


def _answer(holder: subprocess.Popen[bytes]) -> None:
    if not cast(BinaryIO, holder.stdout).readline():
        words = cast(BinaryIO, holder.stderr).read().decode(errors="replace").strip()
        raise OSError(words or "unshare ended without a word")
