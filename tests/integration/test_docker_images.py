"""An image that brings its own interpreter, and one built on it from a project's requirements."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from local_wheels import make_wheels
from sandbox_driver import LIMITS, PYTHON, said

from rtc_inspector.core.errors import SandboxError, TargetError
from rtc_inspector.core.oracle.environment import Install, Requirements
from rtc_inspector.core.oracle.interpreter import interpreter_of_image
from rtc_inspector.core.oracle.sandbox.docker_sandbox import DockerSandbox, find_engine
from rtc_inspector.core.oracle.sandbox.protocol import Launch

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("docker_engine")]

INSIDE = "/opt/image/bin/python3"
BASE = Path(sys.base_prefix)
LIBRARY = Path("lib", f"python{sys.version_info.major}.{sys.version_info.minor}")
LEFT_OUT = {
    "test",
    "idlelib",
    "tkinter",
    "turtledemo",
    "lib2to3",
    "ensurepip",
    "__pycache__",
    "site-packages",
    "config",
}


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A tar of a file system with Python, its libraries and pip, at places that the host does not have."""
    path = tmp_path_factory.mktemp("image") / "python.tar"
    with tarfile.open(path, "w") as tar:
        scratch = tarfile.TarInfo("tmp")
        scratch.type, scratch.mode = tarfile.DIRTYPE, 0o1777
        tar.addfile(scratch)
        tar.add(Path(PYTHON).resolve(), "opt/image/bin/python3")
        tar.add(BASE / LIBRARY, f"opt/image/{LIBRARY}", filter=_needed)
        pip = Path(__import__("pip").__file__).parent
        tar.add(pip, f"opt/image/{LIBRARY}/site-packages/pip", filter=_needed)
        for library in sorted(set(_libraries())):
            tar.add(library.resolve(), str(library).lstrip("/"))
    yield path
    client = find_engine().client()
    for found in client.images():
        for tag in found["RepoTags"] or ():
            if tag.startswith(("rtc-inspector/rootfs:", "rtc-inspector/project:")):
                client.remove_image(tag, force=True)
    client.close()


def _needed(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if Path(entry.name).name.startswith("config-") or Path(entry.name).name in LEFT_OUT else entry


def _libraries() -> Iterator[Path]:
    """What the interpreter and its extension modules are linked with."""
    modules = [Path(PYTHON).resolve(), *(BASE / LIBRARY / "lib-dynload").glob("*.so")]
    listed = subprocess.run(["ldd", *modules], capture_output=True, text=True).stdout
    yield from map(Path, re.findall(r"(/\S+) \(0x", listed))


def test_an_image_brings_its_interpreter_and_takes_requirements(image: Path, tmp_path: Path) -> None:
    given, notices = DockerSandbox(str(image)), list[str]()
    with pytest.raises(TargetError, match="has no Python interpreter called python3"):
        interpreter_of_image(given, None)
    found = interpreter_of_image(given, INSIDE)
    assert str(found.executable) == INSIDE and found.version[:2] == sys.version_info[:2] and not found.readonly

    install = Install(Requirements(("greeting",), (), ()), make_wheels(tmp_path, packed=()), INSIDE)
    sandbox = DockerSandbox(str(image), install, notices.append)
    program = "import sys, greeting; print(greeting.WORD, sys.prefix)"
    launch = Launch((INSIDE, "-c", program), "/", (), {}, replace(LIMITS, memory_mib=512))
    assert said(sandbox, launch) == "hello /opt/image"
    assert DockerSandbox(str(image), install, notices.append).image_digest == sandbox.image_digest != given.image_digest
    assert len(notices) == 1, "the same content was built again"

    with pytest.raises(SandboxError, match="No image with the project's requirements can be built"):
        DockerSandbox(str(image), replace(install, python="no-such-python"))
