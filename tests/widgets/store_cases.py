"""A real store with a made-up run, and where its project lies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from factories import fill_store

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
            return reader.files(self.run_id)

    def run(self) -> RunRow:
        with open_reader(self.database) as reader:
            return reader.run(self.run_id)

    def codebase(self) -> Codebase:
        return open_codebase(self.root)


def filled(folder: Path, items: int = 50, seed: int = 3, finish: bool = True) -> Filled:
    """Make such a store in `folder`."""
    root, database = folder / "shop-project", folder / "runs.sqlite"
    root.mkdir(exist_ok=True)
    with open_store(database) as store:
        run_id = fill_store(store, root, items, seed, finish=finish)
    return Filled(root, database, run_id)
