"""Runs that an earlier version stored: they read the same, and gone on with they end as that version would have ended.

The databases in `tests/stored` were written by version 682638d, whose schema had six steps: a finished run of each task
with a person's description, and one interrupted on its way. The answers were a server's, by the seed asked with.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, chat_server, completion
from factories import files_of
from projects import write_shop

from rtc_inspector.core.models import prompts
from rtc_inspector.core.run.events import Control
from rtc_inspector.core.run.pipeline import resume
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.store.rows import NOTHING
from rtc_inspector.core.trips import editing

STORED = Path(__file__).parent.parent / "stored"
ANSWERS = json.loads((STORED / "answers.json").read_text())
EDITS = [
    {
        "old": f"def area_{n}(side):\n    return side\n",
        "new": f"def area_{n}(side):\n    return side * {n}\n",
        "comment": f"Multiply the side by {n}.",
    }
    for n in range(2, 6)
]


def unpacked(name: str, folder: Path) -> Path:
    path = folder / f"{name}.sqlite"
    path.write_bytes(gzip.decompress((STORED / f"{name}.sqlite.gz").read_bytes()))
    return path


@pytest.mark.parametrize("task", ["synthesis", "editing"])
def test_figures_are_those_that_the_version_gave(task: str, tmp_path: Path) -> None:
    wanted = json.loads((STORED / f"{task}-figures.json").read_text())
    with open_store(unpacked(f"{task}-finished", tmp_path)) as store:
        reader = store.reader
        run = reader.run(1)
        assert [[run.headline.value], [run.secondary.value]] == [wanted["rtc"], wanted["lift"]]
        items = {
            item.key: [
                item.state,
                *(item.measures.get(name) for name in ("rtc", "baseline", "lift")),
                *(item.measures.get(name, 0) for name in ("passes", "judged")),
                item.recitation,
            ]
            for item in reader.items(1)
        }
        assert items == wanted["items"]
        assert [
            [f.path, f.items, f.done, f.measures.get("rtc"), f.measures.get("lift")] for f in files_of(reader, 1)
        ] == wanted["files"]
        facets = [[f.facet, f.value, f.items, f.scores["rtc"].value, f.scores["lift"].value] for f in reader.facets(1)]
        assert facets == wanted["facets"]
        assert {m: [s.value for s in reader.score(1, m)] for m in reader.metrics(1)} == wanted["metrics"]
        assert [[p.items, p.scores["rtc"].value, p.scores["lift"].value] for p in reader.running(1)] == wanted[
            "running"
        ]
        made, said = (reader.run(1).scores.get(name, NOTHING) for name in ("from_reference", "description_bleu"))
        found = [made.n, made.value, said.value] if made.n or said.n else None
        assert found == wanted["supervised"]


def traces(database: Path) -> set[tuple[Any, ...]]:
    """What a run made of itself, without ids and times; BLEU of descriptions is cut into other words since."""
    with sqlite3.connect(database) as db:
        rows = db.execute(
            "SELECT i.key, s.role, p.sample_index, s.sample_index, s.author, s.seed, s.temperature, s.raw_text, s.text,"
            " s.recitation, v.outcome, (SELECT group_concat(c.metric || c.value) FROM (SELECT * FROM scores"
            "   WHERE sample_id = s.id AND metric <> 'description_bleu' ORDER BY metric) c)"
            " FROM samples s JOIN items i ON i.id = s.item_id LEFT JOIN samples p ON p.id = s.parent_id"
            " LEFT JOIN last_verdicts v ON v.sample_id = s.id WHERE s.author <> 'anna' AND p.author IS NOT 'anna'"
        ).fetchall()
    db.close()
    return set(rows)


@pytest.mark.parametrize("task", ["synthesis", "editing"])
def test_gone_on_with_it_ends_as_it_would_have(task: str, tmp_path: Path) -> None:
    """Prompts may have changed since, which is a good reason to refuse; the answers here do not depend on them."""
    project = tmp_path / "project"
    if task == "synthesis":
        write_shop(project)
    else:
        project.mkdir()
        (project / "edits.jsonl").write_text("".join(json.dumps(edit) + "\n" for edit in EDITS))
    wanted = unpacked(f"{task}-finished", tmp_path)
    database = unpacked(f"{task}-interrupted", tmp_path)
    before = traces(database)

    def answer(number: int, body: dict[str, Any]) -> Answer:
        return 200, completion(ANSWERS[str(body["seed"])], model="m"), {}

    with chat_server(answer) as server:
        _move(database, project, server.address, (prompts if task == "synthesis" else editing).wording().version)
        with open_store(database) as store:
            finished = resume(1, store, lambda event: None, Control())
        asked = len(server.asked)
    assert (finished.status, finished.problems) == ("finished", ())
    assert traces(database) == traces(wanted)
    made = {row[:8] for row in traces(wanted)} - {row[:8] for row in before}
    assert asked == len([row for row in made if row[4] == "model"]), "what is there is not made again"
    with open_reader(database) as one, open_reader(wanted) as other:
        since = {"cut", "shown", "limited", "description_bleu"}
        for item, wanted_item in zip(one.items(1), other.items(1), strict=True):
            known = {name: value for name, value in item.measures.items() if name not in since}
            assert known == {name: value for name, value in wanted_item.measures.items() if name not in since}
        assert [item.state for item in one.items(1)] == ["done"] * len(other.items(1))


def _move(database: Path, project: Path, address: str, version: int) -> None:
    """The run is gone on with in another folder, against another server, with the prompts of today."""
    with sqlite3.connect(database) as db:
        config, models = map(json.loads, db.execute("SELECT config, models FROM runs").fetchone())
        config["prompt_version"] = version
        config["endpoint"]["address"] = address
        if config["edit"]["file"]:
            config["edit"]["file"] = str(project / "edits.jsonl")
        for model in models.values():
            model["path"] = address
        db.execute("UPDATE runs SET config = ?, models = ?", (json.dumps(config), json.dumps(models)))
        db.execute("UPDATE projects SET root = ?", (str(project),))
    db.close()
