"""A real store with a made-up run, and where its project lies."""

from __future__ import annotations

import atexit
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from factories import files_of, fill_store

from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.source.codebase import open_codebase
from rtc_inspector.core.store.rows import FileRow, ItemRow, RunRow
from rtc_inspector.core.types import Codebase


@dataclass(frozen=True)
class Filled:
    """One run over `root`, stored in `database`, and its rows."""

    root: Path
    database: Path
    run_id: int

    def items(self) -> list[ItemRow]:
        with open_reader(self.database) as reader:
            return reader.items(self.run_id)

    def files(self) -> list[FileRow]:
        with open_reader(self.database) as reader:
            return files_of(reader, self.run_id)

    def run(self) -> RunRow:
        with open_reader(self.database) as reader:
            return reader.run(self.run_id)

    def codebase(self) -> Codebase:
        return open_codebase(self.root)


def filled(folder: Path, items: int = 50, seed: int = 3, finish: bool = True) -> Filled:
    """Make such a store in `folder`: a copy of one that is written once, since that takes longer than most tests."""
    root, database = folder / "shop-project", folder / "runs.sqlite"
    if database.exists():
        with open_store(database) as store:
            return Filled(root, database, fill_store(store, root, items, seed, finish=finish))
    first = Path(_written(items, seed, finish).name)
    shutil.copytree(first / root.name, root, dirs_exist_ok=True)
    shutil.copyfile(first / database.name, database)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE projects SET root = ?", (str(root),))
    return Filled(root, database, 1)


@cache
def _written(items: int, seed: int, finish: bool) -> TemporaryDirectory[str]:
    folder = TemporaryDirectory(prefix="rtc-filled-")
    atexit.register(folder.cleanup)
    root = Path(folder.name, "shop-project")
    root.mkdir()
    with open_store(Path(folder.name, "runs.sqlite")) as store:
        assert fill_store(store, root, items, seed, finish=finish) == 1
    return folder
