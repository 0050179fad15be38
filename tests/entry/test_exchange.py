"""Runs in other tools' files, read back by those tools, and problems out of tables."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from factories import fill_store

from rtc_inspector.app.cli import main
from rtc_inspector.app.options import settings_for
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.source.benchmark import read_benchmark
from rtc_inspector.core.store.export import export_rows
from rtc_inspector.resources import path as resource

POCKET = resource("benchmark", "pocket.jsonl")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    with open_store(folder / "runs.db") as store:
        fill_store(store, folder / "shop", 12, 3)
    return folder / "runs.db"


def exported(database: Path, folder: Path, kind: str) -> Path:
    out = folder / f"run.{ {'inspect': 'eval', 'lm-eval': 'json'}.get(kind, kind) }"
    assert main(["export", "--db", str(database), "--run", "1", "--format", kind, "--out", str(out)]) == 0
    return out


def test_a_parquet_table_has_the_rows_and_columns_of_jsonl(database: Path, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in exported(database, tmp_path, "jsonl").read_text().splitlines()]
    rows = pq.read_table(exported(database, tmp_path, "parquet")).to_pylist()
    named = {name for line in lines for name, value in line.items() if isinstance(value, dict)} | {"pair_scores"}
    assert [list(row) for row in rows] == [list(line) for line in lines]
    for row, line in zip(rows, lines, strict=True):
        assert {name: json.loads(value) if name in named else value for name, value in row.items()} == line


def test_a_log_of_inspects_is_read_by_inspect(database: Path, tmp_path: Path) -> None:
    log_module = pytest.importorskip("inspect_ai.log", reason="inspect_ai is not installed (extra `inspect`)")
    log = log_module.read_eval_log(str(exported(database, tmp_path, "inspect")))
    with open_reader(database) as reader:
        run, rows = reader.run(1), list(export_rows(reader, 1))
    assert (log.status, log.eval.model, log.eval.task) == ("success", run.model_name, "rtc_inspector/synthesis")
    metrics = {score.name: score.metrics["mean"].value for score in log.results.scores}
    assert metrics["rtc"] == run.scores["rtc"].value and metrics["lift"] == run.scores["lift"].value
    assert len(log.samples) == len(rows)
    found = {sample.metadata["sample_id"]: sample for sample in log.samples}
    for row in rows:
        sample = found[row["sample_id"]]
        assert (sample.input, sample.target, sample.output.completion) == (
            row["prompt"],
            row["reference"],
            row["raw_text"],
        )
        if row["outcome"] is not None:
            assert sample.scores["pass"].value == ("C" if row["outcome"] == "pass" else "I")
    one = log.samples[3]
    again = log_module.read_eval_log_sample(log.location, id=one.id, epoch=one.epoch)
    assert again.scores == one.scores
    summaries = log_module.read_eval_log_sample_summaries(log.location)
    assert len(summaries) == len(rows)


def test_a_log_of_inspects_holds_what_its_readers_look_for(database: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(exported(database, tmp_path, "inspect")) as log:
        names = log.namelist()
        header = json.loads(log.read("header.json"))
    assert {"_journal/start.json", "summaries.json", "header.json"} < set(names)
    assert header["results"]["total_samples"] == sum(name.startswith("samples/") for name in names)


def test_results_as_lm_evaluation_harness_writes_them(database: Path, tmp_path: Path) -> None:
    found = json.loads(exported(database, tmp_path, "lm-eval").read_text())
    with open_reader(database) as reader:
        run = reader.run(1)
        values = [item.measures["rtc"] for item in reader.items(1) if "rtc" in item.measures]
    results = found["results"]["rtc_synthesis"]
    assert results["rtc,none"] == run.scores["rtc"].value
    mean = sum(values) / len(values)
    spread = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    assert results["rtc_stderr,none"] == pytest.approx((spread / len(values)) ** 0.5)
    for name in ("group_subtasks", "configs", "versions", "n-shot", "higher_is_better", "n-samples"):
        assert list(found[name]) == ["rtc_synthesis"]


@pytest.mark.parametrize("kind", ["parquet", "inspect"])
def test_what_is_no_text_needs_a_file(database: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--db", str(database), "--run", "1", "--format", kind]) == 2
    assert "--out FILE" in capsys.readouterr().err
    assert main(["export", "--db", str(database), "--run", "1", "--format", kind, "--out", str(database)]) == 2
    assert "which is not written over" in capsys.readouterr().err


# --------------------------------------------------------------------------- in


@pytest.fixture
def table() -> pa.Table:
    return pa.Table.from_pylist([json.loads(line) for line in POCKET.read_text().splitlines()])


def test_problems_in_tables_are_those_of_the_lines(table: pa.Table, tmp_path: Path) -> None:
    """Parquet as the hub has it, Arrow as `datasets` saves it, and Arrow's file form."""
    pq.write_table(table, tmp_path / "a.parquet")
    with pa.OSFile(str(tmp_path / "b.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    with pa.OSFile(str(tmp_path / "c.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as file:
        file.write_table(table)
    wanted = read_benchmark(POCKET).problems
    for name in ("a.parquet", "b.arrow", "c.arrow"):
        assert read_benchmark(tmp_path / name).problems == wanted


def test_a_folder_of_the_hub_stands_for_its_one_table(table: pa.Table, tmp_path: Path) -> None:
    folder = tmp_path / "humaneval"
    (folder / "data").mkdir(parents=True)
    (folder / "README.md").write_text("---\n")
    pq.write_table(table, folder / "data" / "test-00000-of-00001.parquet")
    settings = settings_for(folder, None, {})
    assert settings.task == "benchmark"
    assert settings.benchmark.file == str(folder / "data" / "test-00000-of-00001.parquet")
    (folder / "prepare.py").touch()
    assert settings_for(folder, None, {}).task == "synthesis", "data of a project of one's own"
    (folder / "dataset_info.json").touch()
    assert settings_for(folder, None, {}).task == "benchmark", "saved by `datasets`"


@pytest.mark.parametrize(
    ("name", "rows", "said"),
    [
        ("p.parquet", None, "is not a table that can be read"),
        ("p.parquet", [{"complete_prompt": "", "test": ""}], "is of BigCodeBench, which is not read"),
        ("p.parquet", [{"question_content": "", "public_test_cases": ""}], "is of LiveCodeBench, which is not read"),
        ("p.arrow", [{"speed": 1}], "is no problem of a benchmark"),
        ("t.jsonl", '{"question_title": "A", "question_content": "B"}', "is of LiveCodeBench, which is not read"),
    ],
)
def test_a_bad_table_is_refused_before_a_model_is_asked(
    name: str, rows: list[dict[str, object]] | str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / name
    if isinstance(rows, list) and name.endswith("parquet"):
        pq.write_table(pa.Table.from_pylist(rows), file)
    elif isinstance(rows, list):
        with pa.OSFile(str(file), "wb") as sink:
            written = pa.Table.from_pylist(rows)
            with pa.ipc.new_stream(sink, written.schema) as stream:
                stream.write_table(written)
    else:
        file.write_text(rows or "no table")
    words = ["run", str(file), "--endpoint", "http://127.0.0.1:1/v1", "--db", str(tmp_path / "r.sqlite")]
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_several_tables_are_to_be_chosen_from(
    table: pa.Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("test", "train"):
        pq.write_table(table, tmp_path / f"{name}-00000-of-00001.parquet")
    assert main(["run", str(tmp_path), "--db", str(tmp_path / "r.sqlite")]) == 2
    said = capsys.readouterr().err
    assert "holds 2 tables" in said and "train-00000-of-00001.parquet" in said


def test_without_pyarrow_it_is_said_what_to_install(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "p.parquet").touch()
    for words in (["run", str(tmp_path / "p.parquet")], ["export", "--run", "1", "--format", "parquet", "--out", "x"]):
        assert main([*words, "--db", str(database)]) == 2
        assert 'pip install "pyarrow>=' in capsys.readouterr().err
