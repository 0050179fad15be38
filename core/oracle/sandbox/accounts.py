"""The few files below /etc that a sandbox writes itself."""

from __future__ import annotations

from collections.abc import Mapping


def account_files(uid: int, gid: int, home: str) -> Mapping[str, str]:
    """Path -> text: one account called `sandbox`, loopback, and names looked up in files only."""
    return {
        "/etc/passwd": f"root:x:0:0:root:/:/usr/sbin/nologin\nsandbox:x:{uid}:{gid}:sandbox:{home}:/bin/sh\n",
        "/etc/group": f"root:x:0:\nsandbox:x:{gid}:\n",
        "/etc/hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }
