"""What only Docker has: images, an engine that can go away, containers somebody else can kill."""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from docker import APIClient
from sandbox_driver import (
    ENGINE_SCRIPT,
    LIMITS,
    Engine,
    gone_within,
    launch,
    processes_with,
    read_all,
    read_line,
    run,
    said,
    started,
)

from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.sandbox.docker_sandbox import ENGINE_LOST, LABEL, DockerSandbox, find_engine, owner_mark
from rtc_inspector.core.oracle.sandbox.protocol import Launch

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("docker_engine")]

READY = "print('ready', flush=True); import time; time.sleep(300)"


@pytest.fixture
def client(docker_engine: str) -> Iterator[APIClient]:
    connection = find_engine().client()
    yield connection
    connection.close()


def ours(client: APIClient) -> list[str]:
    """Ids of the containers of this process."""
    filters = {"label": f"{LABEL}={owner_mark()}"}
    return [container["Id"] for container in client.containers(all=True, filters=filters)]


# ------------------------------------------------------------------ images


@pytest.fixture(scope="module")
def rootfs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tar of a file system that holds `cat` and the libraries it needs, and nothing else."""
    program = Path(shutil.which("cat") or "/bin/cat").resolve()
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    tar_path = tmp_path_factory.mktemp("rootfs") / "rootfs.tar"
    with tarfile.open(tar_path, "w") as tar:
        for path in (program, *map(Path, re.findall(r"(/\S+) \(0x", listed))):
            tar.add(path.resolve(), str(path).lstrip("/"))
        mark = tarfile.TarInfo("etc/mark")
        mark.size = 10
        tar.addfile(mark, io.BytesIO(b"from image"))
    return tar_path


def cat(path: str, readonly: tuple[Path, ...] = ()) -> Launch:
    program = str(Path(shutil.which("cat") or "/bin/cat").resolve())
    return Launch((program, path), "/", readonly, {"PATH": "/usr/bin"}, LIMITS)


def test_system_folders_come_from_a_given_tar(rootfs: Path, client: APIClient, tmp_path: Path) -> None:
    sandbox = DockerSandbox(str(rootfs))
    assert sandbox.image_digest == "sha256:" + hashlib.sha256(rootfs.read_bytes()).hexdigest()
    assert run(sandbox, cat("/etc/mark")).output == "from image"
    assert run(sandbox, cat("/etc/os-release")).status == 1
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "file").write_text("from the host")
    assert run(sandbox, cat(str(tmp_path / "project" / "file"), (tmp_path / "project",))).output == "from the host"

    tagged = f"rtc-inspector/rootfs:{sandbox.image_digest[7:23]}"
    made = client.inspect_image(tagged)["Id"]
    assert DockerSandbox(str(rootfs)).image_digest == sandbox.image_digest
    assert client.inspect_image(tagged)["Id"] == made, "the same tar was imported again"
    assert DockerSandbox(tagged).image_digest == made
    client.remove_image(tagged, force=True)


def test_the_image_without_a_name_is_made_once(client: APIClient) -> None:
    first, second = DockerSandbox(), DockerSandbox()
    assert first.image_digest == second.image_digest != ""
    assert client.inspect_image(f"rtc-inspector/skeleton:{first.image_digest[7:23]}")["Id"]


@pytest.mark.parametrize(("image", "problem"), [("no-such-image:1", "no image called"), (__file__, "not a tar")])
def test_a_wrong_image_is_said(image: str, problem: str) -> None:
    with pytest.raises(SandboxError, match=problem):
        DockerSandbox(image)


def test_file_systems_below_a_folder_are_not_writable(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can mount")
    inner = tmp_path / "project" / "inner"
    inner.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=777", "rtc-test", inner], check=True)
    try:
        (inner / "file").write_text("there")
        code = "import sys; print(open(sys.argv[1] + '/file').read()); open(sys.argv[1] + '/file', 'w')"
        done = run(DockerSandbox(), launch(code, readonly=[tmp_path / "project"], arguments=[str(inner)]))
        assert done.output == "there\n"
        assert done.status == 1 and "Read-only file system" in done.errors
    finally:
        subprocess.run(["umount", inner], check=True)


# ------------------------------------------------------------------ what goes wrong from outside


def test_a_container_killed_by_others_is_seen(client: APIClient) -> None:
    with started(DockerSandbox(), launch(READY)) as process:
        assert read_line(process) == b"ready\n"
        (container,) = ours(client)
        client.kill(container)
        assert read_all(process, 5) == ""
        assert process.wait(5) == 137
        with pytest.raises(OSError):
            for _ in range(100):
                process.stdin.write(b"x" * 65536)


def test_containers_of_a_killed_run_are_removed_by_the_next(client: APIClient) -> None:
    script = (
        "import os, sys; sys.path[:0] = sys.argv[1:3]\n"
        "from sandbox_driver import launch, read_line\n"
        "from rtc_inspector.core.oracle.sandbox.docker_sandbox import DockerSandbox\n"
        "process = DockerSandbox().start(launch(sys.argv[3], arguments=['rtc-orphan-mark']))\n"
        "assert read_line(process)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    folders = [str(ENGINE_SCRIPT.parents[1]), str(Path(__file__).parent)]
    died = subprocess.run([sys.executable, "-c", script, *folders, READY], timeout=60)
    assert died.returncode == -9
    assert processes_with("rtc-orphan-mark")
    with started(DockerSandbox(), launch(READY)) as other:
        assert read_line(other) == b"ready\n"
        assert gone_within("rtc-orphan-mark", 2.0)
        DockerSandbox()
        assert other.poll() is None, "a container of a living process was taken for a leftover"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a second engine")
def test_an_engine_that_is_stopped_in_mid_run(monkeypatch: pytest.MonkeyPatch) -> None:
    with Engine(Path(f"/tmp/rtc-{os.getpid()}-e"), monkeypatch) as engine:
        sandbox = DockerSandbox()
        process = sandbox.start(launch(READY, arguments=["rtc-stopped-mark"]))
        assert read_line(process) == b"ready\n"
        engine.control("stop")
        assert read_all(process, 20) == ""
        assert process.wait(20) in (137, ENGINE_LOST)
        begin = time.monotonic()
        process.close()
        assert time.monotonic() - begin < 8.0
        with pytest.raises(SandboxError, match="Docker no longer answers"):
            sandbox.start(launch(READY))
        with pytest.raises(SandboxError, match="No Docker engine answers"):
            DockerSandbox()
    assert not processes_with("rtc-stopped-mark")


def test_memory_swap_and_the_rest_are_bounded(client: APIClient) -> None:
    with started(DockerSandbox(), launch(READY)) as process:
        assert read_line(process) == b"ready\n"
        config = client.inspect_container(ours(client)[0])
        host = config["HostConfig"]
        assert host["Memory"] == host["MemorySwap"] == LIMITS.memory_mib << 20
        assert host["PidsLimit"] == LIMITS.processes
        assert host["NetworkMode"] == "none" and host["ReadonlyRootfs"] and host["AutoRemove"]
        assert host["CapDrop"] == ["ALL"] and not host["Privileged"] and not host["Init"]


def test_environment_of_the_client_configuration_stays_outside(
    client: APIClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """docker-py would copy the proxies of ~/.docker/config.json into every container."""
    (tmp_path / "config.json").write_text('{"proxies": {"default": {"httpProxy": "http://secret.example"}}}')
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    code = "import os; print([name for name in os.environ if 'proxy' in name.lower()])"
    assert said(DockerSandbox(), replace(launch(code))) == "[]"
