"""Runs on a real Ray cluster of several nodes on one machine: the same store, whichever nodes die on the way."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from projects import write_shop

from core.cluster.session import Address, read_address, require_token
from core.errors import UserError
from core.run.results import open_reader

if find_spec("ray") is None:  # imported only once the environment names a token, since it looks for one then
    pytest.skip("Ray is not installed", allow_module_level=True)
SMALL = ("--regions", 2, "--forward-samples", 2, "--context", 1024, "--threads", 1, "--seed", 3)
SHORT = ("--forward-max-tokens", 24, "--backward-max-tokens", 32)
SANDBOX = {"rtc-sandbox": "yes"}
HAS_SANDBOX = shutil.which("bwrap") is not None


@pytest.mark.parametrize(
    ("text", "host", "workers", "loopback"),
    [
        ("local:3", "127.0.0.1", 3, True),
        ("ray://127.0.0.1:10001", "127.0.0.1", None, True),
        ("ray://[::1]:10001", "[::1]", None, True),
        ("localhost:6379", "localhost", None, True),
        ("ray://lab.example:10001", "lab.example", None, False),
        ("192.0.2.7:6379", "192.0.2.7", None, False),
    ],
)
def test_addresses(text: str, host: str, workers: int | None, loopback: bool) -> None:
    found = read_address(text)
    assert found == Address(text, host, workers) and found.loopback is loopback


@pytest.mark.parametrize("text", ["local:0", "lab.example", "http://lab:80", "ray://", ""])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(UserError, match="names no cluster"):
        read_address(text)


def test_other_machines_are_reached_with_a_token_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    require_token(read_address("ray://127.0.0.1:10001"))
    there = read_address("ray://lab.example:10001")
    with pytest.raises(UserError, match="no token"):
        require_token(there)
    monkeypatch.setenv("RAY_AUTH_TOKEN", "t")
    require_token(there)
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with pytest.raises(UserError, match="no token"):
        require_token(there)


# ---- real clusters


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, small_model: Path) -> Iterator[Path]:
    """A project, a model, and an environment with a token in which all of Ray's processes are started."""
    folder = tmp_path_factory.mktemp("cluster")
    write_shop(folder / "shop")
    shutil.copy(small_model, folder / "model.gguf")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(16))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        yield folder


class Nodes:
    """A cluster whose head has one core, with nodes that come and go."""

    def __init__(self, **head: Any) -> None:
        from ray.cluster_utils import Cluster

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._cluster = Cluster(
                initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False, **head}
            )

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    def add(self, **options: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._cluster.add_node(num_cpus=1, **options)

    def kill(self, node: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._cluster.remove_node(node, allow_graceful=False)

    def shutdown(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._cluster.shutdown()


def command(base: Path, database: Path, *more: object) -> list[str]:
    words = ("run", base / "shop", "--model", base / "model.gguf", *SMALL, *SHORT, "--db", database, *more)
    return [sys.executable, "-m", "app", *map(str, words)]


def made(database: Path) -> list[tuple[object, ...]]:
    """What a run stored, without ids, times and hosts, in no order."""
    with open_reader(database) as reader:
        return sorted(
            (item.key, row.role, row.index, row.seed, row.raw_text, row.text, row.verdict and row.verdict.outcome)
            for item in reader.items(1)
            for row in reader.samples(item.id)
        )


@pytest.fixture(scope="module")
def plain(base: Path) -> list[tuple[object, ...]]:
    """What the run stores on one machine, without any cluster."""
    subprocess.run(command(base, base / "plain.sqlite"), check=True, capture_output=True, timeout=300)
    return made(base / "plain.sqlite")


@pytest.mark.skipif(not HAS_SANDBOX, reason="bubblewrap is not installed")
def test_a_node_that_dies_costs_no_sample(base: Path, plain: list[tuple[object, ...]], tmp_path: Path) -> None:
    """One of two nodes is killed after the first sample, a third one comes: the store is as without a cluster."""
    nodes, database = Nodes(labels=SANDBOX), tmp_path / "runs.sqlite"
    stderr = (tmp_path / "said.txt").open("w")
    try:
        address, second = nodes.address, nodes.add(labels=SANDBOX)
        process = subprocess.Popen(
            command(base, database, "--cluster", nodes.address, "--json"),
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line)["event"] == "sample":
                break
        nodes.kill(second)
        nodes.add(labels=SANDBOX)
        *_, last = process.stdout
        said = (tmp_path / "said.txt").read_text()
        assert process.wait(timeout=300) == 0, said
        process.stdout.close()
    finally:
        stderr.close()
        nodes.shutdown()
    assert json.loads(last)["status"] == "finished"
    assert "3 files of" in said and f"go to the cluster at {address}" in said
    assert made(database) == plain and len(plain) == 2 * (2 + 2 + 1)


@pytest.mark.skipif(not HAS_SANDBOX, reason="bubblewrap is not installed")
def test_hosts_that_have_no_sandbox_do_not_judge(base: Path, tmp_path: Path) -> None:
    """No host is labelled; then one is whose sandbox is missing. Neither is trusted, and no token is no way in."""
    nodes = Nodes()
    try:
        words = command(base, tmp_path / "runs.sqlite", "--cluster", nodes.address)
        refused = subprocess.run(words, capture_output=True, text=True, timeout=120)
        assert refused.returncode == 2 and "none may judge" in refused.stderr
        bare = tmp_path / "bin"  # a host with all programs but a sandbox
        bare.mkdir()
        for folder in reversed(os.environ["PATH"].split(":")):
            for program in Path(folder).iterdir() if Path(folder).is_dir() else ():
                if program.name not in ("bwrap", "docker", "dockerd"):
                    (bare / program.name).unlink(missing_ok=True)
                    (bare / program.name).symlink_to(program)
        nodes.add(labels=SANDBOX, env_vars={"PATH": str(bare)})
        refused = subprocess.run(words, capture_output=True, text=True, timeout=180)
        assert refused.returncode == 2 and "sandbox" in refused.stderr.lower()
        other = {**os.environ, "RAY_AUTH_TOKEN": secrets.token_hex(16)}
        refused = subprocess.run(words, capture_output=True, text=True, timeout=180, env=other)
        assert refused.returncode == 2 and "cannot be used" in refused.stderr
        without = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
        without["HOME"] = str(tmp_path)
        refused = subprocess.run(words, capture_output=True, text=True, timeout=120, env=without)
        assert refused.returncode == 2 and "no token" in refused.stderr
        assert not made(tmp_path / "runs.sqlite") if (tmp_path / "runs.sqlite").exists() else True
    finally:
        nodes.shutdown()


@pytest.mark.skipif(not HAS_SANDBOX, reason="bubblewrap is not installed")
def test_a_driver_that_is_killed_goes_on_and_leaves_no_process(
    base: Path, plain: list[tuple[object, ...]], tmp_path: Path
) -> None:
    database = tmp_path / "runs.sqlite"
    process = subprocess.Popen(
        command(base, database, "--cluster", "local:2", "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["event"] == "sample":
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    resume = [sys.executable, "-m", "app", "run", "--resume", "1", "--db", str(database)]
    again = subprocess.run(resume, capture_output=True, text=True, timeout=300)
    assert again.returncode == 0, again.stderr
    assert "go to the cluster at local:2" in again.stderr
    assert made(database) == plain
    end = time.monotonic() + 60
    while mentions(database) and time.monotonic() < end:
        time.sleep(0.5)
    assert not mentions(database)


def mentions(text: Path) -> list[str]:
    """Command lines of processes that name a file."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if str(text) in words:
                found.append(words)
    return found


def test_without_ray_one_line_says_how_to_install_it(base: Path, tmp_path: Path) -> None:
    hidden = "import sys; sys.modules['ray'] = None; from app.cli import main; sys.exit(main())"
    words = [sys.executable, "-c", hidden, *command(base, tmp_path / "runs.sqlite", "--cluster", "local")[3:]]
    refused = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert refused.returncode == 2
    assert refused.stderr.splitlines() == [
        "--cluster needs Ray, which is not installed.",
        "Install it: pip install 'rtc-inspector[cluster]'",
    ]
