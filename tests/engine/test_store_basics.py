from __future__ import annotations

from pathlib import Path

from factories import fill_store

from core.store.reader import Reader
from core.store.writer import Store


def test_a_filled_store_reads_back_and_spans_match_the_files(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db") as store:
        run_id = fill_store(store, tmp_path / "project", items=50, seed=1)
    with Reader.open(tmp_path / "a.db") as reader:
        run = reader.run(run_id)
        items = reader.items(run_id)
    assert run.items_admitted + run.items_dropped == 50 == len(items)
    assert run.samples == 7 * run.items_admitted
    for item in items:
        text = (tmp_path / "project" / item.path).read_text()
        assert text[item.start : item.end] == item.text
        assert text.splitlines()[item.start_line - 1].strip() == item.text.splitlines()[0]
