"""Parts of the sandboxes that need none to be tried."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.sandbox import docker_sandbox
from rtc_inspector.core.oracle.sandbox.host_system import User, readable, visible
from rtc_inspector.core.oracle.sandbox.protocol import KEPT, Tail


def test_the_tail_keeps_the_end() -> None:
    tail = Tail()
    for number in range(20_000):
        tail.add(b"%06d\n" % number)
    assert tail.text().endswith("019998\n019999\n")
    assert len(tail.text()) == KEPT


def test_paths_inside_others_are_shown_once(tmp_path: Path) -> None:
    inner = tmp_path / "project" / "venv"
    inner.mkdir(parents=True)
    assert visible([inner, tmp_path / "project", inner]) == (tmp_path / "project",)
    assert visible([inner], system=[tmp_path]) == ()


def test_a_missing_path_is_said(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="FileNotFoundError"):
        visible([tmp_path / "missing"])


def test_a_closed_folder_is_shown_by_its_open_entries(tmp_path: Path) -> None:
    stranger = User(os.getuid() + 1, os.getgid() + 1)
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o700)
    for name, mode in (("open.py", 0o644), ("secret", 0o600)):
        (folder / name).write_text("")
        (folder / name).chmod(mode)
    (folder / "dangling").symlink_to("nowhere")
    assert readable([folder], stranger) == (folder / "open.py",)
    (folder / "open.py").chmod(0o600)
    with pytest.raises(SandboxError, match="closed to the user"):
        readable([folder], stranger)


def test_only_containers_of_the_dead_are_abandoned() -> None:
    mine = docker_sandbox.owner_mark()
    boot, namespace, pid, started = mine.split("/")
    assert not docker_sandbox._abandoned(mine)
    assert docker_sandbox._abandoned(f"{boot}/{namespace}/{pid}/{int(started) - 1}")
    assert docker_sandbox._abandoned(f"{boot}/{namespace}/4194304/1")
    assert not docker_sandbox._abandoned(f"other-boot/{namespace}/4194304/1")
    assert not docker_sandbox._abandoned(f"{boot}/pid:[1]/4194304/1")
    assert not docker_sandbox._abandoned("")
