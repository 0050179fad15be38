"""How long the window stands still over the marginals of 100,000 samples: stored before it opens, and arriving.

usage: python benchmarks/marginals.py [--samples 100000] [--folder FOLDER]
Makes a database of a cosmetic run (in FOLDER, which is used again where it has one), opens the window without a screen
in a process of its own, shows the run's figures, chooses other axes and tasks, opens cells, and then looks on while
another process stores as many samples again as fast as it can. Prints one `name=value` a line: `stall_ms` and
`busy_ms` are those of benchmarks/window.py, `reads` how often the figures were made. `stall_ms_empty` is that of the
same window before anything was opened, as long as the rest took: what the machine does to a window without work.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from window import Heart, _compile, _settle, _wait, shown

from rtc_inspector.core.kinds import COSMETIC_CHANGES

KINDS = COSMETIC_CHANGES[:5]
NAMES = 10
SAMPLES_OF_ITEM = (1 + len(KINDS)) * (NAMES + 2) + len(KINDS)
EMPTY = 20.0
"""Seconds of the window with nothing in it."""
CHOICES = (
    ("columns", "measure"),
    ("task", "rtc"),
    ("form", "symmetric"),
    ("rows", "variant"),
    ("columns", "facet"),
    ("task", "all"),
    ("form", "difference"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(options.folder, options.samples)
    if options.write:
        return write(options.folder / "runs.sqlite", options.folder / "project", options.samples)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "stored.sqlite").exists():
            write(folder / "partial.sqlite", folder / "project", options.samples)
            (folder / "partial.sqlite").rename(folder / "stored.sqlite")
        for side in ("-wal", "-shm"):
            (folder / f"runs.sqlite{side}").unlink(missing_ok=True)
        shutil.copy(folder / "stored.sqlite", folder / "runs.sqlite")
        _compile()
        command = [sys.executable, __file__, "--measure", "--folder", str(folder), "--samples", str(options.samples)]
        return subprocess.run(command, env={**os.environ, "RTC_STARTED": str(time.time())}).returncode


def write(database: Path, root: Path, samples: int) -> int:
    """A run of so many samples, or as many more of the run that is there, one committed after the other."""
    from factories import _module, model_info, suite

    from rtc_inspector.core.run.results import open_store
    from rtc_inspector.core.settings import RunSettings

    items = samples // SAMPLES_OF_ITEM + 1
    choose = random.Random(samples)
    with open_store(database) as store:
        store._db.execute("PRAGMA synchronous = OFF")
        runs = store.reader.runs()
        first = 10_000 if runs else 0
        if runs:
            run_id = runs[0].id
            store.take_up(run_id)
        else:
            model, settings = model_info(), RunSettings(task="cosmetic", regions=items)
            project = store.add_project(root, "made-up", None, dirty=False)
            run_id = store.start_run(project, settings, model, model, "tests", "", "0", "f", suite())
        for number in range(first, first + items, 40):
            path = f"shop/module_{number:05}.py"
            text, regions = _module(path, range(number, min(number + 40, first + items)), choose)
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
            for region in regions:
                add(store, run_id, region.item, choose)
        store.finish_run(run_id, "finished", [])
        store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return 0


def add(store, run_id: int, item, choose: random.Random) -> None:  # type: ignore[no-untyped-def]
    """A function with five variants, each asked for ten names, a description and code; measures as they come."""
    from dataclasses import replace

    from rtc_inspector.core.generation import Extraction, Role, Sample
    from rtc_inspector.core.types import Outcome, Verdict

    def sample(role: Role, index: int, text: str, author: str = "model") -> Sample:
        seed = choose.getrandbits(31)
        return Sample(
            role, index, f"Asked of {item.key}", seed, 0.1, text, Extraction(text, ()), 400, 20, 0.4, "stop",
            author=author,
        )  # fmt: skip

    def passed(sample_id: int, chance: float) -> bool:
        outcome = Outcome.PASS if choose.random() < chance else Outcome.FAIL
        store.add_verdict(sample_id, Verdict(outcome, 0.05))
        return outcome is Outcome.PASS

    bucket = 10 * min(9, int(choose.expovariate(0.3)))
    facets = {"complexity": f"{bucket}-{bucket + 10}", "branches": "2-3"}
    item = replace(item, kind="function", admitted=True, reason="", facets=facets, origin={"no document": "has one"})
    item_id, skill = store.add_item(run_id, item), choose.random()
    measures = dict[str, float]()
    for number, change in enumerate(("", *KINDS)):
        parent = None
        if change:
            parent = store.add_sample(item_id, None, sample(Role.TRANSFORM, number, item.text, "rewrite"))
            passed(parent, 1.0)
            measures |= {f"tried:{change}": 1.0, f"kept:{change}": 1.0}
        names = [sample(Role.COMPLETE, index, "value") for index in range(NAMES)]
        hits = 0
        for each in names:
            hit = choose.random() < skill
            store.add_scores(store.add_sample(item_id, parent, each), {"hidden_name": float(hit)})
            hits += hit
        words = store.add_sample(item_id, parent, sample(Role.FORWARD, number, "Adds up the prices."))
        rouge = round(choose.random(), 6)
        store.add_scores(words, {"rouge_synonym": rouge, "rouge_l": rouge / 2})
        rtc = passed(store.add_sample(item_id, words, sample(Role.BACKWARD, number, item.text)), skill)
        end = f"@{change}" if change else ""
        found = {"identifiers": hits / NAMES, "rouge_synonym": rouge, "rouge_l": rouge / 2, "rtc": float(rtc)}
        measures |= {f"{name}{end}": value for name, value in found.items()}
    for name in ("change", "noise", "same_meaning"):
        measures[name] = choose.random()
    store.set_measures(item_id, measures, True)


def measure(folder: Path, samples: int) -> int:
    app, window = shown(folder, 1400, 900)
    parts = window.parts
    heart = Heart()
    reads: list[float] = []
    window.browsing._figures.read.connect(lambda figures: reads.append(time.monotonic()))
    _settle(app, 5.0)  # what is loaded while nothing happens
    figures = heart.watch("empty", lambda: _settle(app, EMPTY))

    def opening() -> None:
        window.open_database(folder / "runs.sqlite", folder / "project")
        window.open_project(folder / "project")
        _wait(app, lambda: bool(parts.regions.regions.shown))
        parts.tabs.setCurrentWidget(parts.run)
        _wait(app, lambda: bool(reads))
        _settle(app, 3.0)

    def choosing() -> None:
        for name, value in CHOICES:
            before = len(reads)
            parts.run.chosen.emit(name, value)
            _wait(app, lambda before=before: len(reads) > before)
            _settle(app, 0.5)

    def clicking() -> None:
        table = parts.run.drawings.view.cells.table
        for at in range(12):
            table.clicked.emit(table.model().index(at % table.model().rowCount(), 1 + at % 4))
            _settle(app, 0.4)

    def arriving() -> None:
        command = [sys.executable, __file__, "--write", "--folder", str(folder), "--samples", str(samples)]
        writer = subprocess.Popen(command)
        began, before = time.monotonic(), len(reads)
        while writer.poll() is None:
            _settle(app, 0.05)
        _settle(app, 3.0)
        seconds = time.monotonic() - began
        rests = [later - earlier for earlier, later in zip(reads[before:], reads[before + 1 :], strict=False)]
        figures["seconds_arriving"], figures["reads_arriving"] = round(seconds, 1), len(rests) + 1
        figures["shortest_rest_seconds"] = round(min(rests, default=0.0), 2)

    for act in (opening, choosing, clicking, arriving):
        figures |= heart.watch(act.__name__, act)
    stored = window.inspection.run
    figures["samples"] = stored.samples if stored is not None else 0
    for name, value in figures.items():
        print(f"{name}={value}")
    window.close()
    _settle(app, 0.3)
    return 0


if __name__ == "__main__":
    sys.exit(main())
