"""Which sandbox is taken, and what is said when none can be."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import shutil
from pathlib import Path

import pytest
from sandbox_driver import needs_landlock

from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.sandbox import bubblewrap, confinement
from rtc_inspector.core.oracle.sandbox.choose import NAMES, available_sandboxes, choose_sandbox
from rtc_inspector.core.oracle.sandbox.docker_sandbox import find_engine, other_engines

needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


def ignore(text: str) -> None:
    pass


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")


@needs_bubblewrap
@pytest.mark.usefixtures("no_engine")
def test_auto_takes_bubblewrap_without_an_engine() -> None:
    assert choose_sandbox("auto", None, ignore).name == "bubblewrap"


@pytest.mark.docker
@pytest.mark.usefixtures("docker_engine")
def test_auto_takes_docker_first() -> None:
    assert choose_sandbox("auto", None, ignore).name == "docker"


@pytest.mark.usefixtures("no_engine")
def test_auto_takes_landlock_where_nothing_else_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    needs_landlock()
    monkeypatch.setenv("PATH", str(tmp_path))
    notices: list[str] = []
    assert choose_sandbox("auto", None, notices.append).name == "landlock"
    assert len(notices) == 1 and "not for all together" in notices[0]


@pytest.mark.usefixtures("no_engine")
def test_without_any_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing() -> int:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(confinement, "abi", missing)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError) as caught:
        choose_sandbox("auto", None, ignore)
    assert "Docker" in caught.value.problem and "bubblewrap" in caught.value.problem
    assert f"kernel {platform.release()} has no Landlock" in caught.value.problem
    assert "--sandbox none" in caught.value.remedy
    statuses = {status.name: status for status in available_sandboxes()}
    assert [statuses[name].usable for name in NAMES] == [False, False, False, True]
    assert all(status.remedy for status in statuses.values() if not status.usable)


@pytest.mark.usefixtures("no_engine")
def test_an_image_is_never_left_out_silently() -> None:
    with pytest.raises(SandboxError, match="No Docker engine answers"):
        choose_sandbox("auto", "some-image", ignore)
    with pytest.raises(SandboxError, match="cannot use an image"):
        choose_sandbox("bubblewrap", "some-image", ignore)


def test_a_name_that_is_none_is_said() -> None:
    with pytest.raises(SandboxError, match="no sandbox called chroot"):
        choose_sandbox("chroot", None, ignore)


def test_none_warns() -> None:
    notices: list[str] = []
    choose_sandbox("none", None, notices.append)
    assert len(notices) == 1 and "Nothing isolates" in notices[0]


@needs_bubblewrap
def test_a_missing_bound_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "group_maker", lambda: None)
    notices: list[str] = []
    choose_sandbox("bubblewrap", None, notices.append)
    assert len(notices) == 1 and "not for all together" in notices[0]


@pytest.mark.docker
@pytest.mark.parametrize("where", ["docker.sock", "podman/podman.sock", "context"])
def test_engines_of_ordinary_users_are_found(
    where: str, docker_engine: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Rootless engines listen in the user's own folders, or where `docker context use` says."""
    if Path("/var/run/docker.sock").exists() and where != "context":
        pytest.skip("the system's own engine comes first")
    socket = tmp_path / where
    for path in (socket, tmp_path / "podman" / "podman.sock"):
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(docker_engine.removeprefix("unix://"))
    monkeypatch.delenv("DOCKER_HOST")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    if where == "context":
        context = {"Name": "mine", "Metadata": {}, "Endpoints": {"docker": {"Host": f"unix://{socket}"}}}
        folder = tmp_path / "contexts" / "meta" / hashlib.sha256(b"mine").hexdigest()
        folder.mkdir(parents=True)
        (folder / "meta.json").write_text(json.dumps(context))
        (tmp_path / "config.json").write_text('{"currentContext": "mine"}')
    assert find_engine().address == f"unix://{socket}"
    assert not list(other_engines(find_engine())), "one engine by two names counts twice"


def test_an_engine_behind_tls_is_refused_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:2376")
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    with pytest.raises(SandboxError, match="spoken to by TLS") as error:
        choose_sandbox("docker", None, lambda text: None)
    assert "ssh://" in error.value.remedy
