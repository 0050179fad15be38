"""Several processes on one file: killed ones, rivals, readers."""

from __future__ import annotations

import itertools
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from factories import fill_store

from rtc_inspector.core.errors import StoreError
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.writer import Store

ROOT = Path(__file__).parents[2]
PREAMBLE = """
import sys, time
from pathlib import Path
sys.path.insert(0, "tests")
from rtc_inspector.core.errors import StoreError
from rtc_inspector.core.store.writer import Store
from factories import fill_store
path = Path(sys.argv[1])
"""
FILL = """
with Store.open(path) as store:
    fill_store(store, path.parent / sys.argv[2], items=60, seed=1)
"""
TELL = """
class Telling(Store):
    def _say(self, kind, row_id):
        print(kind, row_id, flush=True)
        return row_id
    def start_run(self, *args, **kwargs):
        return self._say("runs", super().start_run(*args, **kwargs))
    def add_item(self, *args):
        return self._say("items", super().add_item(*args))
    def add_sample(self, *args):
        return self._say("samples", super().add_sample(*args))
    def add_verdict(self, *args):
        return self._say("verdicts", super().add_verdict(*args))

with Telling.open(path) as store:
    fill_store(store, path.parent / "project", items=100000, seed=1)
"""
TAKE_UP = """
with Store.open(path) as store:
    try:
        store.take_up(int(sys.argv[2]))
        print("taken", flush=True)
        time.sleep(60)
    except StoreError as error:
        print(error.problem, flush=True)
"""


def start(script: str, path: Path, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PREAMBLE + script, str(path), *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kill(process: subprocess.Popen[str]) -> str:
    """End it as the kernel would, and return what it had said by then."""
    process.kill()
    with process:
        assert process.stdout is not None
        return process.stdout.read() if not process.stdout.closed else ""


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.parametrize("after", [1, 10, 77, 400])
def test_a_killed_writer_loses_at_most_what_was_in_flight(tmp_path: Path, after: int) -> None:
    path = tmp_path / "runs.db"
    writer = start(TELL, path)
    assert writer.stdout is not None
    lines = list(itertools.islice(writer.stdout, after))
    lines += kill(writer).splitlines()
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    words = [line.split() for line in lines]
    for kind in ("runs", "items", "samples", "verdicts"):
        announced = {int(found[1]) for found in words if len(found) == 2 and found[0] == kind}
        stored = {row[0] for row in db.execute(f"SELECT id FROM {kind}")}
        assert announced <= stored and len(stored - announced) <= 1
    half = db.execute(
        "SELECT id FROM verdicts WHERE tests_run <> (SELECT count(*) FROM test_results WHERE verdict_id = verdicts.id)"
    )
    assert half.fetchall() == []
    db.close()
    with Store.open(path) as store:
        assert store.reader.run(1).status == "interrupted"
        store.take_up(1)
        assert store.reader.run(1).status == "running"


def test_one_process_works_on_a_run_and_a_killed_one_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as store:
        run_id = fill_store(store, tmp_path / "project", items=3, seed=1)
    holder = start(TAKE_UP, path, run_id)
    try:
        assert said(holder) == "taken"
        with Store.open(path) as store:
            assert store.reader.run(run_id).status == "running"
            with pytest.raises(StoreError, match="being worked on by another"):
                store.take_up(run_id)
            other = fill_store(store, tmp_path / "project", items=3, seed=2)
            kill(holder)
            assert store.reader.run(run_id).status == "interrupted"
            store.take_up(run_id)
            store.finish_run(run_id, "finished", [])
            assert [row.id for row in store.reader.runs()] == [run_id, other]
    finally:
        kill(holder)
    assert sorted(file.name for file in tmp_path.glob("runs.db*")) == ["runs.db"]


def test_two_windows_of_one_process_do_not_share_a_run(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as store, Store.open(path) as rival:
        run_id = fill_store(store, tmp_path / "project", items=3, seed=1, finish=False)
        with pytest.raises(StoreError, match="being worked on"):
            rival.take_up(run_id)
        store.finish_run(run_id, "interrupted", [])
        rival.take_up(run_id)


def test_two_processes_make_the_file_and_write_to_it_at_once(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    writers = [start(FILL, path, name) for name in ("one", "two", "three")]
    for writer in writers:
        _, noise = writer.communicate(timeout=60)
        assert (writer.returncode, noise) == (0, "")
    with Reader.open(path) as reader:
        runs = reader.runs()
        assert [(run.status, run.items_admitted + run.items_dropped) for run in runs] == [("finished", 60)] * 3
        assert len({run.project_root for run in runs}) == 3


def test_threads_may_share_a_store_and_its_reader(tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store, ThreadPoolExecutor(4) as pool:
        filling = [pool.submit(fill_store, store, tmp_path / "project", 8, seed) for seed in range(4)]
        while not all(done.done() for done in filling):
            for row in store.reader.runs():
                assert row.samples >= 0 and len(store.reader.items(row.id)) <= 8
        assert len({done.result() for done in filling}) == 4
        assert [len(store.reader.items(row.id)) for row in store.reader.runs()] == [8] * 4


def test_a_reader_follows_a_run_another_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    writer = start(TELL, path)
    try:
        said(writer)
        with Reader.open(path) as reader:
            seen = []
            while len(seen) < 3:
                assert said(writer)
                if not seen or reader.change_count() != seen[-1][0]:
                    seen.append((reader.change_count(), reader.run(1).samples, len(reader.items(1))))
            assert reader.run(1).status == "running"
            assert seen == sorted(seen)
    finally:
        kill(writer)


def test_a_run_that_somebody_works_on_is_not_free(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with Store.open(path) as one, Store.open(path) as other:
        run_id = fill_store(one, tmp_path / "project", items=2, seed=1)
        other.check_free(run_id)
        one.take_up(run_id)
        one.check_free(run_id)
        with pytest.raises(StoreError, match="being worked on"):
            other.check_free(run_id)
        with pytest.raises(StoreError, match="no run 9"):
            other.check_free(9)
