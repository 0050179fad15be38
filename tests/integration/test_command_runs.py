"""Whole runs on a JavaScript project: what models answer, killed and resumed, bundled and replayed, looked at."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, ChatServer, chat_server, completion
from factories import code_row
from histories import Builder

from rtc_inspector.core.kinds import configured
from rtc_inspector.core.run.bundle import contents, unpack, write_bundle
from rtc_inspector.core.run.events import Control
from rtc_inspector.core.run.pipeline import resume, start
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.run.unstored import try_tests
from rtc_inspector.core.settings import EditSettings, EndpointSettings, OracleSettings, RunSettings
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.trips.protocol import opener
from rtc_inspector.resources import path as resource

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed: nothing runs JavaScript")
ORACLE = OracleSettings(sandbox="auto", workers=1)
MARK = "It does what the region "


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shop") / "shop-js"
    shutil.copytree(resource("shop-js"), root)
    for folder in (root.parent, root.parent.parent):
        folder.chmod(0o755)
    return root


class Answers:
    """Describes each region by its number, and answers with the region itself, or with `instead`."""

    def __init__(self, root: Path, settings: RunSettings, instead: str = "", slow: float = 0.0) -> None:
        from rtc_inspector.core.run.unstored import sample_items

        self.items = [item for item in sample_items(root, settings, lambda _: None, lambda *_: None) if item.admitted]
        self.heads = {item.path: (root / item.path).read_text().splitlines()[0] for item in self.items}
        self.instead, self.slow, self.asked = instead, slow, 0

    def __call__(self, number: int, body: dict[str, Any]) -> Answer:
        self.asked += 1
        time.sleep(self.slow)
        question = str(body["messages"][-1]["content"])
        told = next((n for n in range(len(self.items)) if f"{MARK}{n}." in question), None)
        if told is not None:
            return 200, completion(f"```javascript\n{self.instead or self.items[told].text}\n```", model="m"), {}
        # The region stands in its file, and by itself behind that.
        shown = max(range(len(self.items)), key=lambda n: question.count(self.items[n].text))
        if question.count(self.items[shown].text) > 1:
            return 200, completion(f"{MARK}{shown}.", model="m"), {}
        # Asked without a description: the region that is not there, in its file.
        gone = [each.text for each in self.items if each.text not in question and self.heads[each.path] in question]
        return 200, completion(f"```javascript\n{self.instead or gone[0]}\n```", model="m"), {}


def settings(server: ChatServer | None = None, regions: int = 4) -> RunSettings:
    endpoint = EndpointSettings(server.address, attempts=2, timeout=10.0) if server is not None else None
    return RunSettings(
        regions=regions, forward_samples=1, backward_temperature=0.0, endpoint=endpoint, oracle=ORACLE, seed=3
    )


def figures(database: Path, run_id: int = 1) -> dict[str, float | None]:
    with Reader.open(database) as reader:
        rtc, lift = reader.score(run_id)
    return {"rtc": rtc.value, "lift": lift.value}


@pytest.mark.parametrize(("instead", "rtc"), [("", 1.0), ("throw new Error();", 0.0)])
def test_the_region_itself_passes_and_what_throws_does_not(
    shop: Path, tmp_path: Path, instead: str, rtc: float
) -> None:
    answers = Answers(shop, settings(), instead)
    with chat_server(answers) as server, open_store(tmp_path / "runs.sqlite") as store:
        finished = start(settings(server), shop, store, lambda event: None, Control())
        assert finished.status == "finished" and not finished.problems
        found = figures(tmp_path / "runs.sqlite")
        assert found == {"rtc": rtc, "lift": 0.0}
        assert store.reader.run(1).sandbox.startswith("command/")
        scored = [sample.scores for item in store.reader.items(1) for sample in store.reader.samples(item.id)]
        assert any("chrf" in scores for scores in scored)
        assert not any("same_ast" in scores for scores in scored), "trees are compared of Python alone"


def test_a_run_that_was_killed_goes_on_and_can_be_bundled_and_replayed(shop: Path, tmp_path: Path) -> None:
    database, answers = tmp_path / "runs.sqlite", Answers(shop, settings(), slow=0.3)
    with chat_server(answers) as server:
        command = [sys.executable, "-m", "rtc_inspector", "run", str(shop), "--endpoint", server.address]
        command += ["--regions", "4", "--forward-samples", "1", "--seed", "3", "--db", str(database), "--json"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ)
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line).get("event", json.loads(line).get("type", "")) == "verdict" or '"verdict"' in line:
                process.send_signal(signal.SIGKILL)
                break
        process.wait()
        process.stdout.close()
        with open_store(database) as store:
            before = answers.asked
            finished = resume(1, store, lambda event: None, Control())
            assert finished.status == "finished" and answers.asked - before < 12
            assert figures(database)["rtc"] == 1.0
            with contents(store.reader, 1) as found:
                assert {"package.json", "lib/prices.js", "test/prices.test.js"} <= set(found.files)
                write_bundle(store.reader, found, tmp_path / "run.zip")
        unpacked = unpack(tmp_path / "run.zip", tmp_path / "again")
        replayed = subprocess.run(
            [sys.executable, "-m", "rtc_inspector", "replay", "--db", str(unpacked.database), "--run", "1", "--json"],
            capture_output=True,
            text=True,
            env=os.environ,
            check=False,
        )
        assert replayed.returncode == 0, replayed.stdout + replayed.stderr


def test_the_tests_can_be_tried_before_a_run(shop: Path) -> None:
    said = try_tests(shop, ORACLE, lambda *_: None)
    assert said.startswith("29 tests passed in ") and "lines run" in said


def test_an_edit_that_its_tests_notice_is_judged_by_them(shop: Path, tmp_path: Path) -> None:
    history, code, tests = Builder(tmp_path / "history"), "lib/prices.js", "test/prices.test.js"
    texts = {path: (shop / path).read_text() for path in ("package.json", code, tests)}
    history.commit(texts)
    texts[code] = texts[code].replace("price / 5", "price / 4")
    history.commit({code: texts[code], tests: texts[tests].replace("(10), 12)", "(10), 12.5)").replace("24", "25")})
    history.commit({code: texts[code].replace("(percent, 50)", "(50, percent)")})
    asked = RunSettings(regions=9, edit=EditSettings(tests=True), oracle=replace(ORACLE, cache=False))
    with ExitStack() as stack:
        opened = opener("editing")(stack, history.root, configured(asked, "editing"), lambda _: None, lambda *_: None)
        items = list(opened.trip.items(9, 0, {}, lambda *_: None))
        (item,) = (item for item in items if item.admitted)
        assert "price / 4" in item.text and item.tests
        reasons = {item.reason.partition(" (")[0] for item in items if not item.admitted}
        assert reasons == {"its tests do not notice when it is undone", "its file is no code that tests judge"}
        for new, outcome in (("price * 0.25", "pass"), ("price / 3", "fail"), ("price / / 4", "syntax-error")):
            assert opened.trip.judge(item, code_row(item.text.replace("price / 4", new))).outcome == outcome
