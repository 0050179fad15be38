"""A user namespace for sandboxes that root starts, in which the program is not root for the host either."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from core.errors import SandboxError
from core.oracle.sandbox.inside_user import User

# Forbids further namespaces inside; answers, and stays until its namespace has been taken.
_HOLDER = "echo; read mapped; echo 0 > /proc/sys/user/max_user_namespaces && echo; read end"

TOOLS = ("unshare", "nsenter", "setpriv")


@contextmanager
def mapped_namespace(user: User, inside: User) -> Iterator[tuple[str, ...]]:
    """Words in front of a command that run it in a new namespace: root is root there, for mounting, `inside` is `user`.

    bubblewrap alone maps one user only: run by root, its program would still own what root owns, device nodes and
    kernel settings among it. The words hold until the context ends. Only root can do this. Raises SandboxError.
    """
    if lacking := [tool for tool in TOOLS if shutil.which(tool) is None]:
        raise SandboxError(f"{lacking[0]} is missing, which bubblewrap needs when root runs it.", "Install util-linux.")
    holder = subprocess.Popen(
        ["unshare", "--user", "--keep-caps", "/bin/sh", "-c", _HOLDER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={},
        bufsize=0,
    )
    with holder:
        try:
            _map(holder, user, inside)
            yield ("nsenter", f"--user=/proc/{holder.pid}/ns/user", "--")
        finally:
            holder.kill()


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
