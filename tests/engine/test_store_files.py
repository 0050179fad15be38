"""Every kind of bad file gets a sentence, and is left as it was."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from factories import fill_store

from rtc_inspector.core.errors import StoreError
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.schema import APPLICATION_ID, VERSION
from rtc_inspector.core.store.writer import Store

ROOT = Path(__file__).parents[2]


def filled(path: Path) -> int:
    with Store.open(path) as store:
        return fill_store(store, path.parent / "project", items=10, seed=1)


def not_a_database(path: Path) -> None:
    path.write_text("name,value\nrtc,0.2\n" * 100)


def short_text(path: Path) -> None:
    path.write_text("x")


def foreign(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE cookies (host TEXT)")
    db.close()


def foreign_in_wal_mode(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE cookies (host TEXT)")
    db.commit()
    db.close()


def marked_by_another_program(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA application_id = 252006673")
        db.execute("PRAGMA user_version = 3")
    db.close()


def of_another_version(path: Path) -> None:
    filled(path)
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {VERSION + 1}")
    db.close()


def cut_off(path: Path) -> None:
    filled(path)
    os.truncate(path, path.stat().st_size // 2)


def cut_in_its_header(path: Path) -> None:
    filled(path)
    os.truncate(path, 60)


def damaged_schema(path: Path) -> None:
    filled(path)
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 3000)


BAD: list[tuple[Callable[[Path], None], str]] = [
    (not_a_database, "is not a database"),
    (short_text, "is not a database"),
    (foreign, "belongs to another program"),
    (foreign_in_wal_mode, "belongs to another program"),
    (marked_by_another_program, "belongs to another program"),
    (of_another_version, "another version of RTC Inspector: its schema is version 2"),
    (cut_off, "is damaged, or its end is missing"),
    (cut_in_its_header, "is not a database"),
    (damaged_schema, "is damaged"),
]


@pytest.mark.parametrize("opening", [Store.open, Reader.open])
@pytest.mark.parametrize(("make", "words"), BAD)
def test_a_bad_file_is_refused_and_left_alone(
    tmp_path: Path, make: Callable[[Path], None], words: str, opening: Callable[[Path], object]
) -> None:
    path = tmp_path / "runs.db"
    make(path)
    before = path.read_bytes(), sorted(tmp_path.iterdir())
    with pytest.raises(StoreError) as error:
        opening(path)
    assert words in error.value.problem and str(path) in error.value.problem
    assert error.value.remedy.endswith(".")
    assert (path.read_bytes(), sorted(tmp_path.iterdir())) == before


def test_a_folder_or_a_missing_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder"):
        Store.open(tmp_path)
    with pytest.raises(StoreError, match="does not exist"):
        Store.open(tmp_path / "nowhere" / "runs.db")
    with pytest.raises(StoreError, match="There is no database at"):
        Reader.open(tmp_path / "runs.db")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_becomes_a_database(tmp_path: Path) -> None:
    (tmp_path / "runs.db").touch()
    with Reader.open(tmp_path / "runs.db") as reader:
        assert reader.runs() == []
    db = sqlite3.connect(tmp_path / "runs.db")
    assert db.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    db.close()


def test_odd_names_are_no_options(tmp_path: Path) -> None:
    path = tmp_path / "100% näm?e#1&mode=memory.db"
    run_id = filled(path)
    with Reader.open(path) as reader:
        assert reader.run(run_id).items_admitted > 0
    assert path.exists()


def test_a_link_is_the_file_it_points_to(tmp_path: Path) -> None:
    path, link = tmp_path / "real" / "runs.db", tmp_path / "link.db"
    path.parent.mkdir()
    link.symlink_to(path)
    with Store.open(link) as store:
        run_id = fill_store(store, tmp_path / "project", items=3, seed=1, finish=False)
        with Store.open(path) as other, pytest.raises(StoreError, match="being worked on"):
            other.take_up(run_id)
    assert [found.name for found in path.parent.iterdir()] == ["runs.db"]
    loop = tmp_path / "loop.db"
    loop.symlink_to(loop)
    with pytest.raises(StoreError):
        Store.open(loop)


def test_damage_in_the_middle_is_told_when_it_is_met(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    run_id = filled(path)
    size = path.stat().st_size
    with path.open("r+b") as file:
        for page in range(8, size // 4096):
            file.seek(page * 4096)
            file.write(b"\xff" * 64)
    with pytest.raises(StoreError, match="is damaged"), Reader.open(path) as reader:
        for item in reader.items(run_id):
            reader.prompt(reader.samples(item.id)[0].prompt_hash)


def test_a_locked_database_is_waited_for_then_told(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked by another program"):
            store.add_project(tmp_path, "thing", None, dirty=False)
        assert store.reader.runs() == []
        other.execute("ROLLBACK")
        other.close()
        assert store.add_project(tmp_path, "thing", None, dirty=False) == 1


def fill_until_full(store: Store, root: Path) -> tuple[StoreError, int]:
    """The error, and how many items were there when it came."""
    with pytest.raises(StoreError) as error:
        fill_store(store, root, items=2000, seed=1)
    return error.value, sum(len(store.reader.items(row.id)) for row in store.reader.runs())


def test_a_full_database_keeps_what_was_stored(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as store:
        store._db.execute("PRAGMA max_page_count = 120")
        error, items = fill_until_full(store, tmp_path)
        assert "is full" in error.problem and "Free some space" in error.remedy
        store._db.execute("PRAGMA max_page_count = 100000")
        store.finish_run(1, "interrupted", [])
    with Reader.open(path) as reader:
        assert len(reader.items(1)) == items > 10


@contextmanager
def small_disk(folder: Path, kib: int = 400) -> Iterator[Path]:
    """A file system of so many KiB; skips where none can be mounted."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here (needs root)")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_told_and_nothing_stored_is_lost(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        filler = disk / "filler"
        filler.write_bytes(bytes(100_000))
        with Store.open(disk / "runs.db") as store:
            error, items = fill_until_full(store, tmp_path)
            assert "is full" in error.problem
            filler.unlink()
            store.finish_run(1, "interrupted", [error.problem])
            assert len(store.reader.items(1)) == items
            assert store.reader.run(1).problems == (error.problem,)


def fill_up(file: Path) -> None:
    """Take all space that is left."""
    with suppress(OSError), file.open("ab", buffering=0) as stream:
        while stream.write(bytes(4096)):
            pass


@pytest.mark.parametrize("moment", range(20))
def test_after_a_full_disk_at_any_moment_the_database_opens_and_nothing_is_gone(tmp_path: Path, moment: int) -> None:
    """The log is folded into the file at close. Where that fails half-way, only both together are the database."""
    with small_disk(tmp_path / "disk", kib=2000) as disk:
        path, filler = disk / "runs.db", disk / "filler"
        filler.write_bytes(bytes(800_000))
        store = Store.open(path)
        store._db.execute("PRAGMA wal_autocheckpoint = 25")  # so that several logs are folded in on this small disk
        fill_store(store, tmp_path / "project", items=1 + moment, seed=1, finish=False)
        fill_up(filler)
        fill_until_full(store, tmp_path)
        before = stored(store._db.conn)
        fill_up(filler)
        store.close()
        filler.unlink()
        with Store.open(path) as again:
            assert stored(again._db.conn) == before
            assert again._db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            again.take_up(1)
            assert fill_store(again, tmp_path / "project", items=2, seed=2)


def stored(db: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    tables = ("runs", "items", "samples", "verdicts", "test_results", "scores")
    return {table: db.execute(f"SELECT rowid FROM {table}").fetchall() for table in tables}


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that a user without rights can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def ask_without_rights(call: str, path: Path) -> str:
    """What a call says that may read `path` and write nowhere: root gives up its rights first."""
    program = f"""
import os, sys
from pathlib import Path
from rtc_inspector.core.errors import StoreError
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.schema import APPLICATION_ID, VERSION
from rtc_inspector.core.store.writer import Store
path = Path(sys.argv[1])
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    print({call})
except StoreError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program, str(path)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


READ = "len(Reader.open(path).items(1))"
WRITE = "Store.open(path)"


def test_a_read_only_folder_can_be_read_and_not_written(open_folder: Path) -> None:
    path = open_folder / "runs.db"
    filled(path)
    path.chmod(0o444)
    open_folder.chmod(0o555)
    assert ask_without_rights(READ, path) == "10"
    assert "cannot be written to" in ask_without_rights(WRITE, path)
    open_folder.chmod(0o755)


def test_a_read_only_folder_with_unfinished_changes_is_not_read_half(open_folder: Path) -> None:
    """What stands in the log alone would be missing without a word."""
    with Store.open(open_folder / "live.db") as store:
        fill_store(store, open_folder / "project", items=10, seed=1)
        for ending in ("", "-wal"):
            copy = ["cp", str(open_folder / f"live.db{ending}"), str(open_folder / f"copy.db{ending}")]
            subprocess.run(copy, check=True)  # a process of its own: nobody here may open a live database
    open_folder.chmod(0o555)
    told = ask_without_rights(READ, open_folder / "copy.db")
    open_folder.chmod(0o755)
    assert "unfinished changes beside it" in told
    with Reader.open(open_folder / "copy.db") as reader:
        assert len(reader.items(1)) == 10
