"""What integration tests share: a Docker engine where there can be one, and each sandbox in turn."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from projects import write_environment
from sandbox_driver import ENGINE_SCRIPT, needs_landlock
from small_model import write_small_model

from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle import interpreter
from rtc_inspector.core.oracle.sandbox.choose import choose_sandbox
from rtc_inspector.core.oracle.sandbox.docker_sandbox import find_engine
from rtc_inspector.core.oracle.sandbox.protocol import Sandbox


@pytest.fixture(scope="session")
def docker_engine() -> Iterator[str]:
    """The address of an engine that answers; one of our own is started where root may, and stopped at the end."""
    try:
        yield find_engine().address
        return
    except SandboxError as error:
        if os.geteuid() != 0:
            pytest.skip(f"{error.problem} Only root can start one for the tests.")
        if shutil.which("dockerd") is None and shutil.which("apt-get") is None:
            pytest.skip(f"{error.problem} There is no dockerd, and no apt-get to install one.")
    with tempfile.TemporaryDirectory(prefix="rtc-", dir="/tmp") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RTC_DOCKER_DIR", f"{folder}/d")
        started = subprocess.run([ENGINE_SCRIPT, "start"], capture_output=True, text=True, timeout=600)
        if started.returncode != 0:
            pytest.skip(f"No Docker engine can be started here: {started.stderr.strip()[-500:]}")
        address = started.stdout.strip().removeprefix("DOCKER_HOST=")
        patch.setenv("DOCKER_HOST", address)
        try:
            yield address
        finally:
            subprocess.run([ENGINE_SCRIPT, "stop"], check=True, capture_output=True, timeout=120)


@pytest.fixture(scope="session")
def environment_of_pytest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_environment(tmp_path_factory.mktemp("environment", numbered=True))


@pytest.fixture(scope="module", autouse=True)
def lean_python(environment_of_pytest: Path) -> Iterator[Path]:
    """Run small projects' tests with pytest alone: each start would import the plugins of our own tests, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interpreter, "sys", SimpleNamespace(executable=str(environment_of_pytest)))
        yield environment_of_pytest


@pytest.fixture(scope="session")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model file for tests that care what becomes of samples, not what they say."""
    return write_small_model(tmp_path_factory.mktemp("model") / "small.gguf")


@pytest.fixture(scope="module", params=["bubblewrap", "docker", "landlock", "none"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    if request.param == "docker":
        request.getfixturevalue("docker_engine")
    elif request.param == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    elif request.param == "landlock":
        needs_landlock()
    return choose_sandbox(request.param, None, lambda text: None)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache for the runs of a file's tests: what one of them learned of a benchmark, the others need not learn."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of one file. Its folder is closed to others, as temporary folders are."""
    folder = tmp_path / "project"
    folder.mkdir(mode=0o755)
    (folder / "module.py").write_text("ANSWER = 42\n")
    return folder
