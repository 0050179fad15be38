"""Stored runs made again, and taken elsewhere as one file: what is the same, what differs, and what a kill leaves."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pygit2
import pytest
from chat_server import Answer, ChatServer, chat_server, completion
from histories import Builder
from projects import SHOP, TESTS, write_shop

from rtc_inspector.app.cli import main
from rtc_inspector.core.errors import ProjectError, UserError
from rtc_inspector.core.run import pipeline
from rtc_inspector.core.run.bundle import Contents, changes, contents, is_bundle, unpack, write_bundle
from rtc_inspector.core.run.events import Control, Event, SampleReady
from rtc_inspector.core.run.replay import Replay, replay
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import EditSettings, EndpointSettings, ModelSettings, OracleSettings, RunSettings
from rtc_inspector.ui.main_window import _caution

EDITS = [
    {"old": f"def area_{n}(side):\n    return side\n", "new": f"def area_{n}(side):\n    return side * {n}\n"}
    for n in range(2, 6)
]


class Talker:
    """A server's script that says the same until told otherwise."""

    words = "Change it."

    def __call__(self, number: int, body: dict[str, object]) -> Answer:
        return 200, completion(self.words, model="m"), {}


@pytest.fixture
def edits(tmp_path: Path) -> Iterator[tuple[ChatServer, Talker, Path]]:
    """A finished run on a file of edits, with the server that made it."""
    talker = Talker()
    (tmp_path / "edits.jsonl").write_text("".join(json.dumps(edit) + "\n" for edit in EDITS))
    with chat_server(talker) as server:
        settings = RunSettings(
            task="editing",
            regions=4,
            forward_samples=2,
            endpoint=EndpointSettings(server.address, attempts=1),
            edit=EditSettings(file=str(tmp_path / "edits.jsonl")),
        )
        with open_store(tmp_path / "runs.sqlite") as store:
            pipeline.start(settings, tmp_path, store, lambda event: None, Control())
        yield server, talker, tmp_path / "runs.sqlite"


def again(database: Path, run_id: int = 1, samples: int | None = None, project: Path | None = None) -> Replay:
    with open_reader(database) as reader:
        return replay(reader, run_id, lambda event: None, Control(), samples=samples, project=project)


def bundled(database: Path, out: Path, run_id: int = 1) -> Contents:
    with open_reader(database) as reader, contents(reader, run_id) as found:
        write_bundle(reader, found, out)
        return found


def test_every_sample_is_asked_for_and_judged_again(edits: tuple[ChatServer, Talker, Path]) -> None:
    server, _, database = edits
    before, asked = database.read_bytes(), len(server.asked)
    made = again(database)
    assert made.same and made.environment == ()
    texts = [sample for sample in made.samples if sample.text is not None]
    assert len(texts) == len(server.asked) - asked == 4 * (2 + 2 + 1)
    assert sum(sample.verdict is True for sample in made.samples) == 4 * (2 + 1)
    assert database.read_bytes() == before
    old, new = server.asked[:asked], server.asked[asked:]
    key = json.dumps
    assert sorted(map(key, old)) == sorted(map(key, new))  # the same questions, seeds and temperatures


def test_another_text_is_said_with_its_place_and_verdicts_are_of_what_is_stored(
    edits: tuple[ChatServer, Talker, Path],
) -> None:
    _, talker, database = edits
    talker.words = "Change them."
    made = again(database)
    assert not made.same
    assert {sample.text for sample in made.samples} == {False}
    assert {sample.verdict for sample in made.samples} == {None, True}
    assert all("its text differs from character 8 on" in sample.notes for sample in made.samples)


def test_so_many_samples_are_drawn_by_the_seed_of_the_run(edits: tuple[ChatServer, Talker, Path]) -> None:
    first, second = again(edits[2], samples=5), again(edits[2], samples=5)
    assert len(first.samples) == 5 and [s.sample_id for s in first.samples] == [s.sample_id for s in second.samples]
    assert len({s.sample_id for s in first.samples}) == 5


def test_a_verdict_that_is_another_is_a_difference(edits: tuple[ChatServer, Talker, Path]) -> None:
    with sqlite3.connect(edits[2]) as connection:
        connection.execute("UPDATE verdicts SET outcome = 'pass' WHERE id = 1")
    connection.close()
    made = again(edits[2])
    (wrong,) = [sample for sample in made.samples if sample.verdict is False]
    assert "the verdict was pass and is fail" in wrong.notes[0] and not made.same


def test_what_differs_around_the_samples_is_named(edits: tuple[ChatServer, Talker, Path]) -> None:
    server, _, database = edits
    server.served = [{"id": "m", "owned_by": "somebody else"}]
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE runs SET app_version = '0.0.1'")
    connection.close()
    named = {each.what: (each.before, each.now) for each in again(database).environment}
    assert named["version of RTC Inspector"][0] == "0.0.1"
    assert "forward model, served" in named


def test_changed_edits_are_refused(edits: tuple[ChatServer, Talker, Path]) -> None:
    file = edits[2].parent / "edits.jsonl"
    file.write_text(file.read_text().replace("side * 2", "side * 22"))
    with pytest.raises(ProjectError, match="have changed since run 1"):
        again(edits[2])


def test_a_file_of_edits_travels_with_its_run(edits: tuple[ChatServer, Talker, Path], tmp_path: Path) -> None:
    _, _, database = edits
    found = bundled(database, tmp_path / "run.zip")
    assert found.files == ("edits.jsonl",) and is_bundle(tmp_path / "run.zip")
    (tmp_path / "edits.jsonl").unlink()
    there = unpack(tmp_path / "run.zip", tmp_path / "elsewhere")
    assert again(there.database).same
    with pytest.raises(ProjectError, match="is not there"):
        bundled(database, tmp_path / "other.zip")


def test_a_changed_figure_is_noticed_by_replay_and_in_charts_and_lists_alike(
    edits: tuple[ChatServer, Talker, Path],
) -> None:
    _, _, database = edits
    assert again(database).figures > 0
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE measures SET value = 1 WHERE name = 'rtc'")
    connection.close()
    made = again(database)
    assert not made.same and all(sample.same for sample in made.samples)
    assert {(each.what.partition(" ")[0], each.before, each.now) for each in made.measures} == {("rtc", "1", "0")}
    with open_reader(database) as reader:
        assert reader.run(1).headline.value == 1.0 == reader.running(1)[-1].scores["rtc"].value


def rewritten(bundle: Path, changed: Path, **members: bytes) -> Path:
    """A bundle whose members of these names (without their ending) are others."""
    with zipfile.ZipFile(bundle) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            new.writestr(name, members.get(Path(name).stem, old.read(name)))
    return changed


def test_a_changed_bundle_says_what_was_changed(
    edits: tuple[ChatServer, Talker, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In the file as it was sent, or where it was unpacked; what a person adds there, labels say, is no change."""
    out, bundles, said = tmp_path / "run.zip", tmp_path / "bundles", "This bundle was changed after it was written: "
    bundled(edits[2], out)
    there = unpack(out, bundles)
    with open_store(there.database) as store:
        store.rename_run(1, "mine")
        store.add_label(store.reader.samples(1)[1].id, "", "me", "a note")
    assert there.changed == unpack(out, bundles).changed == "" and again(there.database).same
    with sqlite3.connect(there.database) as connection:
        connection.execute("UPDATE measures SET value = 1")
    connection.close()
    assert unpack(out, bundles).changed == f"{said}measures of its database."
    assert again(there.database).changed == f"{said}measures of its database."
    with open_reader(there.database) as reader:
        assert _caution(reader) == f"{said}measures of its database.", "a notice above the views"

    text = (tmp_path / "edits.jsonl").read_bytes()
    other = rewritten(out, tmp_path / "other.zip", edits=text.replace(b"side * 2", b"side * 3"))
    assert unpack(other, bundles).changed == f"{said}source/edits.jsonl."
    copy = tmp_path / "copy.sqlite"
    with zipfile.ZipFile(out) as archive:
        copy.write_bytes(archive.read("run.sqlite"))
    with sqlite3.connect(copy) as connection:
        connection.execute("UPDATE samples SET text = 'better'")
    connection.close()
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    third = rewritten(out, tmp_path / "third.zip", run=copy.read_bytes())
    assert main(["open", str(third)]) == 0
    assert f"{said}samples of its database." in capsys.readouterr().err
    assert main(["replay", "--db", str(third), "--samples", "1"]) == 1
    assert f"{said}samples of its database." in capsys.readouterr().out


def test_an_unfinished_run_is_gone_on_with_elsewhere_and_reads_as_it_was_sent(
    edits: tuple[ChatServer, Talker, Path], tmp_path: Path
) -> None:
    server, _, _ = edits
    settings = RunSettings(
        task="editing",
        regions=4,
        forward_samples=2,
        endpoint=EndpointSettings(server.address, attempts=1, concurrency=1),
        edit=EditSettings(file=str(tmp_path / "edits.jsonl")),
    )
    control, seen = Control(), 0

    def emit(event: Event) -> None:
        nonlocal seen
        seen += isinstance(event, SampleReady)
        if seen == 9:
            control.stop()

    with open_store(tmp_path / "half.sqlite") as store:
        assert pipeline.start(settings, tmp_path, store, emit, control).status == "interrupted"
    bundled(tmp_path / "half.sqlite", tmp_path / "half.zip")
    there = unpack(tmp_path / "half.zip", tmp_path / "elsewhere")
    with open_store(there.database) as store:
        assert pipeline.resume(1, store, lambda event: None, Control()).status == "finished"
    assert changes(there.database) == ""
    with sqlite3.connect(there.database) as connection:
        connection.execute("UPDATE samples SET text = 'another' WHERE id = 1")
    connection.close()
    assert "samples of its database" in changes(there.database)


def test_a_bundle_of_edits_needs_no_repository(tmp_path: Path) -> None:
    """It holds the commits of its edits, whose tests judge again what is no exact match; and no settings for git."""
    root, place = tmp_path / "project", tmp_path / "project" / "part"
    write_shop(place)
    halves = SHOP.replace("subtotal -= subtotal * discount // 100", "subtotal -= subtotal * discount // 200")
    history = Builder(root)
    for code, tests in ((SHOP, TESTS), (halves, TESTS.replace("== 180", "== 190")), (halves, "secret = 1\n")):
        files = {"part/shop.py": code, "part/tests/test_shop.py": tests, "part/pyproject.toml": ""}
        history.commit(files if tests is not TESTS else files | {"first.txt": "left behind"})
    database, out = tmp_path / "runs.sqlite", tmp_path / "run.zip"
    other = next(line for line in halves.splitlines() if "// 200" in line).replace(
        "subtotal * discount", "discount * subtotal"
    )
    with chat_server(lambda number, body: (200, completion(f"```python\n{other}\n```", model="m"), {})) as server:
        settings = RunSettings(
            task="editing",
            regions=2,
            forward_samples=1,
            endpoint=EndpointSettings(server.address, attempts=1),
            edit=EditSettings(tests=True),
            oracle=OracleSettings(identity_runs=1),
        )
        with open_store(database) as store:
            pipeline.start(settings, place, store, lambda event: None, Control())
        found = bundled(database, out)
        with zipfile.ZipFile(out, "a") as archive:
            archive.writestr("source/.git/config", "[core]\nfsmonitor = evil")
        shutil.rmtree(root)
        there = unpack(out, tmp_path / "elsewhere")
        made = again(there.database)
    assert len(found.commits) == 1 and there.root == there.database.parent / "source" / "part"
    assert made.same and made.environment == ()
    assert any(sample.verdict for sample in made.samples)
    with open_reader(there.database) as reader:
        oracles = {row.verdict.oracle for item in reader.items(1) for row in reader.samples(item.id) if row.verdict}
    assert any(name.startswith("tests/") for name in oracles)
    repository = pygit2.Repository(str(there.root.parent))
    assert repository.is_shallow and "core.fsmonitor" not in repository.config
    assert str(repository.head.target) == found.run.revision
    kept = {entry.name for commit in found.commits for entry in repository[commit].peel(pygit2.Tree)}
    assert kept == {"part", "first.txt"}


@pytest.fixture(scope="module")
def shop_run(tmp_path_factory: pytest.TempPathFactory, small_model: Path) -> Path:
    """A folder with a project under git, a model, and a run of it beside another run."""
    folder = tmp_path_factory.mktemp("shop")
    root = write_shop(folder / "shop")
    (root / ".gitignore").write_text("*.secret\n")
    (root / "keys.secret").write_text("not yours")
    (root / "prices.txt").write_text("tea 3\n")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(root))
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "all")):
        subprocess.run([*git, *words], check=True)
    shutil.copy(small_model, folder / "model.gguf")
    settings = RunSettings(
        model=str(folder / "model.gguf"),
        regions=2,
        forward_samples=1,
        forward_max_tokens=16,
        backward_max_tokens=24,
        generation=ModelSettings(context_size=1024),
        oracle=OracleSettings(identity_runs=2),
    )
    with open_store(folder / "runs.sqlite") as store:
        for seed in (3, 4):
            pipeline.start(replace(settings, seed=seed), root, store, lambda event: None, Control())
    return folder


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "XDG_DATA_HOME": str(folder / "data"), "XDG_CACHE_HOME": str(folder / "cache")}


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "rtc_inspector", *map(str, arguments)]


def test_a_bundle_is_replayed_where_neither_project_nor_model_are_at_their_place(
    shop_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And looked at, in the window and without a screen. A replay that was killed is begun again."""
    out = tmp_path / "run.zip"
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    ask = ["bundle", "--db", str(shop_run / "runs.sqlite"), "--run", "1", "--out", str(out)]
    assert main(ask) == 2 and "your code" in capsys.readouterr().err and not out.exists()
    assert main([*ask, "--yes"]) == 0
    with zipfile.ZipFile(out) as archive:
        names = set(archive.namelist())
        record = json.loads(archive.read("bundle.json"))
    source = {"pyproject.toml", "shop.py", "tests/test_shop.py", "prices.txt"}
    assert names == {"bundle.json", "run.sqlite", *(f"source/{name}" for name in source)}
    places = {each.encode() for each in (str(shop_run), str(Path.home()), str(tmp_path))}
    with zipfile.ZipFile(out) as archive:
        held = [archive.read(name) for name in ("bundle.json", "run.sqlite")]
    assert [each for each in places for content in held if each in content] == [], "no folder of this machine"
    assert len(record["models"]["forward"]["sha256"]) == 64 and record["revision"]
    assert any(each.startswith("pytest==") for each in record["environment"]["tests"]["packages"])

    moved = tmp_path / "model.gguf"
    shutil.copy(shop_run / "model.gguf", moved)
    with open_reader(shop_run / "runs.sqlite") as reader:
        where = Path(reader.settings(1).model)
    where.rename(where.with_suffix(".away"))
    try:
        assert main(["replay", "--db", str(out)]) == 2
        assert record["models"]["forward"]["sha256"] in capsys.readouterr().err
        there = unpack(out, tmp_path / "data" / "rtc-inspector" / "bundles").database
        before, words = there.read_bytes(), command("replay", "--db", out, "--model", moved)
        killed = subprocess.Popen([*words, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert killed.stdout is not None
        assert any('"replayed"' in line for line in killed.stdout)
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        made = subprocess.run(words, capture_output=True, text=True, timeout=300)
    finally:
        where.with_suffix(".away").rename(where)
    assert made.returncode == 0, made.stderr
    assert "6 of 6 texts and 4 of 4 verdicts are the same." in made.stdout
    assert there.read_bytes() == before
    with open_reader(there) as reader:
        assert [run.id for run in reader.runs()] == [1]
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert main(["open", str(out)]) == 0
    assert f"Run 1 is in {there}" in capsys.readouterr().out
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    look = [sys.executable, "-c", LOOK, "open", str(out)]
    opened = subprocess.run(look, capture_output=True, text=True, timeout=120)
    assert (opened.returncode, opened.stdout) == (0, "2 source\n"), opened.stderr


LOOK = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from rtc_inspector.app.cli import main
app = QApplication([])
def end():
    windows = [each for each in QApplication.topLevelWidgets() if type(each).__name__ == "MainWindow"]
    if not windows or not windows[0].parts.regions.regions.all_items or windows[0].project.codebase is None:
        QTimer.singleShot(100, end)
        return
    print(len(windows[0].parts.regions.regions.all_items), windows[0].project.codebase.root.name)
    windows[0].close()
QTimer.singleShot(100, end)
sys.exit(main())
"""
"""The command line, whose window is closed once it shows the run beside its source."""


def test_the_source_is_taken_from_its_commit_when_files_changed_since(shop_run: Path, tmp_path: Path) -> None:
    root = tmp_path / "shop"
    shutil.copytree(shop_run / "shop", root)
    database = tmp_path / "runs.sqlite"
    shutil.copy(shop_run / "runs.sqlite", database)
    with open_store(database) as store:
        store.move_run(1, root, store.reader.settings(1))
    before = (root / "shop.py").read_text()
    (root / "shop.py").write_text(before + "\n# later\n")
    found = bundled(database, tmp_path / "run.zip")
    with zipfile.ZipFile(tmp_path / "run.zip") as archive:
        assert archive.read("source/shop.py").decode() == before
    assert "shop.py" in found.files
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE projects SET dirty = 1")
    connection.close()
    with pytest.raises(ProjectError, match="no commit holds them"):
        bundled(database, tmp_path / "other.zip")


def test_a_bundle_that_is_killed_leaves_no_file_and_unpacking_begins_anew(shop_run: Path, tmp_path: Path) -> None:
    out, root = tmp_path / "run.zip", tmp_path / "shop"
    shutil.copytree(shop_run / "shop", root)
    (root / "big.bin").write_bytes(os.urandom(40 << 20))
    database = tmp_path / "runs.sqlite"
    shutil.copy(shop_run / "runs.sqlite", database)
    with open_store(database) as store:
        store.move_run(1, root, store.reader.settings(1))
    arguments = command("bundle", "--db", database, "--run", 1, "--out", out, "--yes")
    process = subprocess.Popen(arguments, env=environment(tmp_path), stdout=subprocess.DEVNULL)
    end = time.monotonic() + 120
    while not list(tmp_path.glob(".run.zip.*.part")) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL and not out.exists()
    subprocess.run(arguments, env=environment(tmp_path), check=True, capture_output=True, timeout=120)
    there = unpack(out, tmp_path / "bundles")
    place = there.database.parent
    (place / "bundle.json").unlink()  # written last: so it looks when unpacking was killed
    (place / "source" / "shop.py").write_text("half")
    assert unpack(out, tmp_path / "bundles") == there
    assert (place / "source" / "shop.py").read_text() == (root / "shop.py").read_text()


@pytest.mark.parametrize("content", [b"no zip", None])
def test_what_is_no_bundle_is_refused(tmp_path: Path, content: bytes | None) -> None:
    bad = tmp_path / "bad.zip"
    if content is not None:
        bad.write_bytes(content)
    else:
        with zipfile.ZipFile(bad, "w") as archive:
            archive.writestr("source/../../escaped.py", "x")
            archive.writestr("bundle.json", '{"version": 1, "source": true, "run": 1}')
    with pytest.raises(UserError, match="no bundle"):
        unpack(bad, tmp_path / "bundles")
    assert not list(tmp_path.rglob("escaped.py")) and not list((tmp_path / "bundles").glob("bad*"))
