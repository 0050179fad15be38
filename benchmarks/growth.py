"""How a run's cost grows with what is stored: taking a run up again, growing an item, looking on.

    python benchmarks/growth.py [--samples 40000 1000000] [--folder DIR]

Prints one `name=value` a line: seconds and MiB (Python's own, by tracemalloc) for each number of samples in one run, 20
of each item, and as `..._ratio` how many times the earlier way took: every sample of the run read to take it up, an
item's samples read after each sample and verdict, states of items counted from all samples at each look.
"""

from __future__ import annotations

import argparse
import gc
import json
import sqlite3
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from factories import model_info, suite

from rtc_inspector.core.generation import Extraction, Role, Sample
from rtc_inspector.core.run.events import SampleReady, Stored, VerdictReady
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import Tree
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.types import Item, Outcome, Span, Verdict
from rtc_inspector.ui.reading.inspection import Library, Overview, Wanted, look

EACH = 20
"""Samples of an item: four descriptions, three reconstructions of each, four baselines."""
GROWN = 2001
"""Samples of one large item."""
EARLIER_STATES = """
    SELECT i.id, i.admitted, count(s.id), max(s.recitation), max(CASE WHEN v.outcome <> 'infrastructure' THEN v.id END)
    FROM items i
    LEFT JOIN samples s ON s.item_id = i.id AND s.counted
    LEFT JOIN verdicts v ON v.id = (SELECT max(l.id) FROM verdicts l WHERE l.sample_id = s.id)
    WHERE i.run_id = 1 GROUP BY i.run_id, i.id
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, nargs="*", default=[40_000, 1_000_000])
    parser.add_argument("--folder", type=Path, default=None, help="where databases are written (default: a new one)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rtc-growth-", dir=options.folder) as folder:
        for count in options.samples:
            database = Path(folder) / f"{count}.sqlite"
            _fill(database, count)
            _taken_up(database, count)
            _looked_on(database, count)
            database.unlink()
        _grown(Path(folder) / "item.sqlite")


def _fill(database: Path, count: int) -> None:
    """One run of so many samples, as an interrupted one is stored; the last hundred items are to be worked on yet."""
    with open_store(database) as store:
        info = model_info()
        project = store.add_project(database.parent, "growth", None, dirty=False)
        store.start_run(project, RunSettings(regions=count // EACH), info, info, "s", "", "0", "f", suite())
    with closing(sqlite3.connect(database)) as db:
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute("INSERT INTO prompts VALUES ('p', 'What does it do?')")
        items = count // EACH
        db.executemany(
            "INSERT INTO items (id, run_id, key, kind, path, span_start, span_end, start_line, end_line, text, tests,"
            " admitted, reason, done, added_at) VALUES (?, 1, ?, 'region', ?, 0, 90, 1, 4, ?, ?, 1, '', ?, '2026')",
            (
                (n, f"m{n // 40}.py:{n}", f"m{n // 40}.py", f"total = {n}\n" * 8, json.dumps(["t::a"]), n < items - 100)
                for n in range(1, items + 1)
            ),
        )
        places = ", ".join("?" * len(db.execute("PRAGMA table_info(samples)").fetchall()))
        db.executemany(f"INSERT INTO samples VALUES ({places})", _samples(db, items))
        db.execute(
            "INSERT INTO verdicts (sample_id, outcome, seconds, tests_run, tests_failed, oracle, judged_at, detail,"
            " output) SELECT id, CASE id % 3 WHEN 0 THEN 'pass' ELSE 'fail' END, 0.1, 4, id % 3 > 0, 'o', '2026',"
            " 'd', '' FROM samples WHERE form = 'code'"
        )
        for name, value in (("rtc", "0.25 * (id % 5)"), ("baseline", "0.25"), ("lift", "0.25 * (id % 5) - 0.25")):
            db.execute(f"INSERT INTO measures SELECT id, ?, {value} FROM items", (name,))
        db.commit()


def _samples(db: sqlite3.Connection, items: int) -> Iterator[tuple[object, ...]]:
    names = [row[1] for row in db.execute("PRAGMA table_info(samples)")]
    number = 0
    for item in range(1, items + 1):
        parent = None
        for place in range(EACH):
            number += 1
            form = "text" if place % 4 == 0 and place < 16 else "code"
            parent = number if form == "text" else parent
            role = "forward" if form == "text" else "backward" if place < 16 else "baseline"
            values = {
                "id": number,
                "item_id": item,
                "parent_id": parent if role == "backward" else None,
                "role": role,
                "form": form,
                "sample_index": place,
                "author": "model",
                "model": "forward" if form == "text" else "backward",
                "counted": 1,
                "recitation": 0.1 if form == "text" else None,
                "prompt_hash": "p",
                "extraction_steps": "[]",
                "text": "total = sum(prices)\n" * 10,
                "raw_text": "total = sum(prices)\n" * 12,
                "finish_reason": "stop",
                "error": "",
                "thoughts": "",
                "made_at": "2026",
                "shown": 1.0,
            }
            yield tuple(values.get(name, 0) for name in names)


def _measured(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of it, and the most MiB that it held at a time, measured in a second round."""
    gc.collect()
    began = time.perf_counter()
    work()
    seconds = time.perf_counter() - began
    tracemalloc.start()
    work()
    held = tracemalloc.get_traced_memory()[1] / (1 << 20)
    tracemalloc.stop()
    return seconds, held


def _say(name: str, count: int, now: tuple[float, float], earlier: tuple[float, float]) -> None:
    print(f"{name}_{count}_seconds={now[0]:.3f}")
    print(f"{name}_{count}_mib={now[1]:.1f}")
    print(f"{name}_{count}_seconds_ratio={earlier[0] / now[0]:.1f}")
    print(f"{name}_{count}_mib_ratio={earlier[1] / now[1]:.1f}", flush=True)


def _taken_up(database: Path, count: int) -> None:
    """What the engine reads before it goes on: which items there are, and the trees of those that are not done."""

    def now(reader: Reader) -> None:
        for row in reader.drawn(1).values():
            if row.state != "done":
                reader.tree(row.id)  # one at a time, as they are worked on

    def earlier(reader: Reader) -> list[object]:
        return [(row, reader.samples(row.id)) for row in reader.items(1)]

    with open_reader(database) as reader:
        _say("resume", count, _measured(lambda: now(reader)), _measured(lambda: earlier(reader)))


def _looked_on(database: Path, count: int) -> None:
    """What the window does while its own run goes on: before, all of the run was read anew at each look."""
    library, wanted = Library(database), Wanted(run_id=1)
    with open_store(database) as store:
        store.take_up(1)
        first = library.ask(lambda reader: look(library, wanted, None))
        assert isinstance(first, Overview) and first.run is not None
        heard = list(_further(store, count // EACH, 1000, 10))
        done: list[Overview | None] = []
        own = _measured(lambda: done.append(look(library, wanted, None, first, None, heard)))
        shown = done[-1]
        assert shown is not None and shown.run is not None and shown.run.changes == first.run.changes + len(heard)
        list(_further(store, count // EACH, 2000, 1))
        foreign = _measured(lambda: look(library, wanted, None))
        with closing(sqlite3.connect(database)) as db:
            states = _measured(lambda: db.execute(EARLIER_STATES).fetchall())
        earlier = (foreign[0] + 2 * states[0], foreign[1] + states[1])
        _say("look_own", count, own, earlier)
        _say("look_other", count, foreign, earlier)
        library.close_here()


def _further(store: Store, item: int, first: int, count: int) -> Iterator[Stored]:
    """Store further samples of an item, with verdicts."""
    tree = store.reader.tree(item)
    for number in range(first, first + count):
        made = _sample(number)
        sample_id = store.add_sample(item, None, made, tree)
        yield SampleReady(1, item, sample_id, None, tree[sample_id], store.change)
        verdict_id = store.add_verdict(sample_id, Verdict(Outcome.PASS, 0.1), tree)
        verdict = tree[sample_id].verdict
        assert verdict is not None
        yield VerdictReady(1, item, sample_id, verdict_id, verdict, store.change)


def _sample(index: int) -> Sample:
    return Sample(Role.BASELINE, index, "Again?", 0, 0.1, "x = 1", Extraction("x = 1"), 9, 9, 0.1, "stop")


def _grown(database: Path) -> None:
    """An item grows to many samples: before, all of them were read after each."""
    with open_store(database) as store:
        info = model_info()
        project = store.add_project(database.parent, "growth", None, dirty=False)
        run = store.start_run(project, RunSettings(regions=1), info, info, "s", "", "0", "f", suite())
        item = store.add_item(run, Item("m.py:1", "region", "m.py", Span(0, 9), 1, 1, "x = 1", ("t::a",)))
        tree, spent = Tree(roles=(Role.BASELINE,)), 0.0
        for number in range(GROWN):
            store.add_sample(item, None, _sample(number), tree)
            began = time.perf_counter()
            _ = tree.samples
            spent += time.perf_counter() - began
        began = time.perf_counter()
        store.reader.samples(item)
        read = time.perf_counter() - began
        print(f"tree_after_{GROWN}_milliseconds={1000 * spent / GROWN:.2f}")
        print(f"tree_after_{GROWN}_ratio={read / 2 / (spent / GROWN):.0f}")


if __name__ == "__main__":
    main()
