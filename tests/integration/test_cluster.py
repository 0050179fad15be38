"""Runs on real Ray clusters on one machine: the same store as without, whichever nodes die, and whoever has no sandbox.

One head without cores, which never works itself, serves all tests; each adds the nodes that it needs, and kills them.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from chat_server import chat_server, completion
from projects import write_shop

from rtc_inspector.core.cluster.session import Address, connected, read_address, require_token
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import configured
from rtc_inspector.core.models.gguf import read_header
from rtc_inspector.core.packages import install_command
from rtc_inspector.core.run import pipeline
from rtc_inspector.core.run.events import Control, Event, Notice, SampleReady
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import BenchmarkSettings, EndpointSettings, ModelSettings, OracleSettings, RunSettings
from rtc_inspector.resources import path as resource

if find_spec("ray") is None:  # imported only once the environment names a token, since it looks for one then
    pytest.skip("Ray is not installed", allow_module_level=True)
SANDBOX = {"rtc-sandbox": "yes"}
needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


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


def test_other_machines_judge_in_a_sandbox_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "t")
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    wanted = RunSettings(cluster="ray://lab.example:10001", oracle=OracleSettings(sandbox="none"))
    with pytest.raises(UserError, match="Without a sandbox"), connected(tmp_path, wanted, lambda text: None):
        pass


# ---- real clusters


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, small_model: Path) -> Iterator[Path]:
    """A project, a model, and an environment with a token in which all of Ray's processes are started."""
    folder = tmp_path_factory.mktemp("cluster")
    write_shop(folder / "shop")
    (folder / "models").mkdir()
    shutil.copy(small_model, folder / "models" / "model.gguf")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(16))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        yield folder


class Nodes:
    """A cluster on this machine: a head without cores, which is reached both ways, and nodes that come and go.

    A node that is killed counts as alive until the head has missed it some seconds.
    """

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        head: dict[str, Any] = {"num_cpus": 0, "include_dashboard": False, "ray_client_server_port": self.port}
        head["_system_config"] = {"health_check_period_ms": 1000}  # a dead node is missed five times: 5 seconds, not 15
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._cluster = Cluster(initialize_head=True, head_node_args=head)

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    def add(self, **options: Any) -> Any:
        wanted = {"num_cpus": 1, "labels": SANDBOX, **options}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return self._cluster.add_node(**wanted)
            except Exception:  # Ray gives a node 30 seconds, which a very busy machine may need
                return self._cluster.add_node(**wanted)

    def remove(self, node: Any, *, killed: bool = False) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._cluster.remove_node(node, allow_graceful=not killed)

    @contextmanager
    def one(self, **options: Any) -> Iterator[None]:
        """A node that is gone at the end."""
        node = self.add(**options)
        try:
            yield
        finally:
            self.remove(node)

    @contextmanager
    def without_folder(self, folder: Path) -> Iterator[None]:
        """A node from which a folder of this machine cannot be seen, and which does not judge."""
        ray = Path(sys.executable).with_name("ray")
        hidden = (
            "bwrap",
            "--dev-bind",
            "/",
            "/",
            "--tmpfs",
            folder,
            "--proc",
            "/proc",
            "--unshare-pid",
            "--die-with-parent",
        )
        start = (ray, "start", "--address", self.address, "--num-cpus", 1, "--block", "--disable-usage-stats")
        before = self._alive()
        nowhere = subprocess.DEVNULL  # Ray's own processes would hold a pipe open
        process = subprocess.Popen(list(map(str, (*hidden, *start))), stdout=nowhere, stderr=nowhere)
        try:
            end = time.monotonic() + 60
            while self._alive() == before and process.poll() is None and time.monotonic() < end:
                time.sleep(0.1)
            assert process.poll() is None and self._alive() == before + 1
            yield
        finally:
            process.kill()
            process.wait()

    def _alive(self) -> int:
        return sum(node["Alive"] for node in self._cluster.global_state.node_table())

    def shutdown(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._cluster.shutdown()


@pytest.fixture(scope="module")
def nodes(base: Path) -> Iterator[Nodes]:
    cluster = Nodes()
    yield cluster
    cluster.shutdown()


def wanted(base: Path, **more: Any) -> RunSettings:
    """A short run of the shop."""
    return replace(
        RunSettings(
            model=str(base / "models" / "model.gguf"),
            regions=2,
            forward_samples=1,
            forward_max_tokens=16,
            backward_max_tokens=24,
            seed=3,
            generation=ModelSettings(context_size=1024, threads=1),
            oracle=OracleSettings(identity_runs=1),
        ),
        **more,
    )


def command(base: Path, database: Path, cluster: str) -> list[str]:
    """The same run from the command line."""
    words = ["run", base / "shop", "--model", base / "models" / "model.gguf", "--db", database, "--cluster", cluster]
    words += ["--regions", 2, "--forward-samples", 1, "--context", 1024, "--threads", 1, "--seed", 3]
    words += ["--forward-max-tokens", 16, "--backward-max-tokens", 24]
    return [sys.executable, "-m", "rtc_inspector", *map(str, words)]


def run(
    settings: RunSettings, project: Path, database: Path, hear: Callable[[Event], None] = lambda event: None
) -> str:
    """See a run through; gives what was said on the way."""
    said: list[str] = []

    def emit(event: Event) -> None:
        if isinstance(event, Notice):
            said.append(event.text)
        hear(event)

    with open_store(database) as store:
        assert pipeline.start(settings, project, store, emit, Control()).status == "finished"
    return "\n".join(said)


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
    run(wanted(base), base / "shop", base / "plain.sqlite")
    return made(base / "plain.sqlite")


@needs_bubblewrap
def test_hosts_that_have_no_sandbox_do_not_judge(base: Path, nodes: Nodes, tmp_path: Path) -> None:
    """No host is labelled; then one is whose sandbox is missing. Neither is trusted."""
    database = tmp_path / "runs.sqlite"
    oracle = OracleSettings(identity_runs=1, sandbox="bubblewrap")
    settings = wanted(base, cluster=nodes.address, oracle=oracle)
    with pytest.raises(UserError, match="none may judge"):
        run(settings, base / "shop", database)
    bare = tmp_path / "bin"  # a host with all programs but a sandbox
    bare.mkdir()
    for folder in reversed(os.environ["PATH"].split(":")):
        for program in Path(folder).iterdir() if Path(folder).is_dir() else ():
            if program.name not in ("bwrap", "docker", "dockerd"):
                (bare / program.name).unlink(missing_ok=True)
                (bare / program.name).symlink_to(program)
    with nodes.one(env_vars={"PATH": str(bare)}), pytest.raises(UserError, match="bubblewrap is not installed"):
        run(settings, base / "shop", database)
    with open_reader(database) as reader:
        assert not reader.runs()


@needs_bubblewrap
def test_a_client_reaches_a_host_that_lacks_the_model(
    base: Path, nodes: Nodes, plain: list[tuple[object, ...]], tmp_path: Path
) -> None:
    """Over ray:// from the command line: one host judges, the other is sent the model. Not without the token."""
    database = tmp_path / "runs.sqlite"
    words = command(base, database, f"ray://127.0.0.1:{nodes.port}")
    with nodes.one(num_cpus=0, memory=4 << 30), nodes.without_folder(base / "models"):
        # Ray tries three times, and waits in between, 30 seconds in all where the first wait is as long as usual.
        other = {**os.environ, "RAY_AUTH_TOKEN": secrets.token_hex(16), "RAY_CLIENT_INITIAL_CONNECTION_TIMEOUT_S": "1"}
        refused = subprocess.run(words, capture_output=True, text=True, timeout=300, env=other)
        assert refused.returncode == 2 and "cannot be used" in refused.stderr
        done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "model.gguf" in done.stderr and "which lacks it" in done.stderr
    assert made(database) == plain


@needs_bubblewrap
def test_what_a_method_writes_itself_is_judged_there(base: Path, nodes: Nodes, tmp_path: Path) -> None:
    """The project of a benchmark's problems is only written when it is opened; a server is the model."""
    problems = tmp_path / "problems.jsonl"
    problems.write_text("".join(resource("benchmark", "pocket.jsonl").read_text().splitlines(keepends=True)[:2]))
    with chat_server(lambda number, body: (200, completion("return 1", model="m"), {})) as server:
        settings = replace(
            configured(RunSettings(regions=2, forward_samples=1), "benchmark"),
            endpoint=EndpointSettings(server.address, attempts=1),
            benchmark=BenchmarkSettings(str(problems)),
            oracle=OracleSettings(workers=1, identity_runs=1),
        )
        run(settings, tmp_path, tmp_path / "plain.sqlite")
        with nodes.one():
            said = run(replace(settings, cluster=nodes.address), tmp_path, tmp_path / "runs.sqlite")
    assert "prompts and code go to the cluster" in said
    assert made(tmp_path / "runs.sqlite") == made(tmp_path / "plain.sqlite")


def test_a_model_asks_for_what_its_run_leaves(base: Path, nodes: Nodes, tmp_path: Path) -> None:
    """GPUs where there are any and layers go to them; half of all for one of two models; memory for the judges."""
    header = read_header(base / "models" / "model.gguf")
    settings = wanted(base, cluster=nodes.address)
    with (
        nodes.one(memory=8 << 30),
        nodes.one(memory=8 << 30, num_gpus=1),
        connected(base / "shop", settings, lambda text: None) as joined,
    ):
        from rtc_inspector.core.cluster.remote import needs_of

        def asked(run: RunSettings) -> tuple[float, float, int]:
            needs = needs_of(header, run.generation, run)
            return needs.cores, needs.gpus, needs.places

        here = replace(joined.generation, gpu_layers=0)
        assert asked(joined) == (1.0, 1.0, 1)
        assert asked(replace(joined, generation=here)) == (1.0, 0.0, 2)
        assert asked(replace(joined, generation=here, backward_model="other.gguf")) == (0.5, 0.0, 4)
        full = replace(joined.oracle, memory_mib=8 << 10)
        assert asked(replace(joined, generation=here, oracle=full))[2] == 0


@needs_bubblewrap
def test_a_node_that_dies_costs_no_sample(
    base: Path, nodes: Nodes, plain: list[tuple[object, ...]], tmp_path: Path
) -> None:
    """One of two nodes is killed after the first sample, a third one comes: the store is as without a cluster."""
    database = tmp_path / "runs.sqlite"
    with nodes.one(), ExitStack() as later:
        second: list[Any] = [nodes.add()]

        def hear(event: Event) -> None:
            if isinstance(event, SampleReady) and second:
                nodes.remove(second.pop(), killed=True)
                later.enter_context(nodes.one())

        said = run(wanted(base, cluster=nodes.address), base / "shop", database, hear)
    assert not second and "3 files of" in said and f"go to the cluster at {nodes.address}" in said
    assert made(database) == plain and len(plain) == 2 * (1 + 1 + 1)


@needs_bubblewrap
def test_a_driver_that_is_killed_goes_on_and_leaves_no_process(
    base: Path, plain: list[tuple[object, ...]], tmp_path: Path
) -> None:
    """It is resumed without a cluster, and the store is as if there had never been one."""
    database = tmp_path / "runs.sqlite"
    words = [*command(base, database, "local:1"), "--json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["event"] == "sample":
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with open_store(database) as store:
        assert pipeline.resume(1, store, lambda event: None, Control(), {"cluster": ""}).status == "finished"
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
    hidden = "import sys; sys.modules['ray'] = None; from rtc_inspector.app.cli import main; sys.exit(main())"
    words = [sys.executable, "-c", hidden, "run", str(base / "shop"), "--cluster", "local"]
    refused = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert refused.returncode == 2
    assert refused.stderr.splitlines() == [
        "--cluster needs Ray, which is not installed.",
        f"Install it: `{install_command('cluster')}`.",
    ]
