"""What kills the judge from outside is nobody's failure: it is tried again, then said, and never remembered."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from oracle_projects import Opened, write
from sandbox_driver import Engine, processes_with

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.oracle.factory import open_oracle
from rtc_inspector.core.oracle.inside.supervise import descendants
from rtc_inspector.core.oracle.sandbox.docker_sandbox import LABEL, find_engine
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.source.codebase import open_codebase
from rtc_inspector.core.types import Outcome, Verdict

MODULE = "import time\n\n\ndef wait(seconds):\n    time.sleep(seconds)\n    return seconds\n"
TESTS = "from slow import wait\n\n\ndef test_wait():\n    assert wait(0.05) == 0.05\n"


@pytest.mark.docker
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a second engine")
@pytest.mark.usefixtures("docker_engine")
def test_killed_containers_and_engines_are_no_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Engine(Path(f"/tmp/rtc-{os.getpid()}-t"), monkeypatch) as engine:
        root = write(tmp_path / "project", {"slow.py": MODULE, "test_slow.py": TESTS})
        project = Opened(root, sandbox="docker", identity_runs=1)
        with closing(project.oracle):
            assert judged(project, 0).outcome is Outcome.PASS
            with later(kill_containers):
                assert judged(project, 1).outcome is Outcome.PASS
            with later(lambda: restart(engine)):
                assert judged(project, 2).outcome is Outcome.PASS
            monkeypatch.setattr("rtc_inspector.core.oracle.zygote.AWAY", 0.5)
            with later(lambda: os.kill(engine.pid, signal.SIGKILL)):
                lost = judged(project, 3)
            assert lost.outcome is Outcome.INFRASTRUCTURE and not lost.outcome.judged, lost
            assert "Docker no longer answers" in lost.detail


def test_a_sandbox_killed_while_the_suite_is_learned_is_started_again(tmp_path: Path) -> None:
    root = write(tmp_path / "project", {"slow.py": MODULE, "test_slow.py": TESTS})
    notices: list[str] = []
    settings = OracleSettings(sandbox="bubblewrap", cache=False, identity_runs=1)
    killed: list[int] = []

    def kill_once(stage: str, done: int, total: int) -> None:
        if stage == "learning the tests: last to first" and not killed:
            killed.extend(processes_with("inside/main.py") & set(descendants()))
            for process in sorted(killed):  # a fork that ends before what it was forked from would be heard of
                os.kill(process, signal.SIGKILL)

    with closing(open_oracle(open_codebase(root), settings, notices.append)) as oracle:
        assert [test.node_id for test in oracle.suite(kill_once).tests] == ["test_slow.py::test_wait"]
    assert killed and any("tried once more" in notice for notice in notices)


ENDINGS = {
    "SystemExit in a conftest": (
        "conftest.py",
        "raise SystemExit(1)\n",
        "ends the interpreter before pytest has found",
    ),
    "pytest.exit in a test": (
        "test_last.py",
        "import pytest\n\n\ndef test_last():\n    pytest.exit('no database')\n",
        "test_last.py::test_last ends the whole run of the tests by pytest.exit: no database.",
    ),
    "pytest.exit in a hook": (
        "conftest.py",
        "import pytest\n\n\ndef pytest_sessionstart(session):\n    pytest.exit('no database')\n",
        "A conftest.py or a plugin ends the whole run of the tests by pytest.exit: no database.",
    ),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_who_ends_the_tests_is_named(tmp_path: Path, name: str) -> None:
    path, text, told = ENDINGS[name]
    root = write(tmp_path / "project", {"slow.py": MODULE, "test_slow.py": TESTS, path: text})
    settings = OracleSettings(sandbox="bubblewrap", cache=False, identity_runs=1)
    with (
        closing(open_oracle(open_codebase(root), settings, lambda text: None)) as oracle,
        pytest.raises(ProjectError, match=re.escape(told)),
    ):
        oracle.suite(lambda stage, done, total: None)


def test_a_path_below_which_nothing_can_be_traced_is_refused(tmp_path: Path) -> None:
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    root.mkdir()
    (root / "slow.py").write_text(MODULE)
    with pytest.raises(ProjectError, match="not UTF-8"):
        open_codebase(root)


def judged(project: Opened, number: int) -> Verdict:
    """The verdict on a good candidate that takes a second; each number is another text."""
    good = f"time.sleep(1 if {number} else 0)\n    return seconds"
    return project.oracle.judge(project.candidate("slow.py", "return seconds", good), project.tests)


@contextmanager
def later(action: Callable[[], None]) -> Iterator[None]:
    """In the middle of what is done meanwhile."""
    timer = threading.Timer(0.5, action)
    timer.start()
    yield
    timer.join()


def restart(engine: Engine) -> None:
    """Killed, and started again as a service would be."""
    os.kill(engine.pid, signal.SIGKILL)
    engine.control("stop")
    engine.control("start")


def kill_containers() -> None:
    with closing(find_engine().client()) as client:
        for container in client.containers(filters={"label": LABEL}):
            client.kill(container["Id"])
