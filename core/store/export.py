"""A run in files: plain rows, one a code sample, and what other tools read; streamed, never held whole.

Rows are for JSONL, CSV and a Parquet table; other tools' files are Inspect's log and lm-evaluation-harness' results.
"""

import csv
import json
import statistics
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import task
from rtc_inspector.core.packages import install_command
from rtc_inspector.core.store.labels import LINE_END, write_lines, write_records
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import NOTHING, ItemRow, Row, RunRow, SampleRow
from rtc_inspector.core.types import Form, plain

_MODEL = ("name", "sha256", "template_sha256", "quantization", "context_size", "threads", "prompt_style", "build")
_OF_SAMPLE = (
    "seed", "temperature", "prompt_tokens", "completion_tokens", "seconds", "finish_reason", "truncated", "error",
)  # fmt: skip
_FILES = ("benchmark", "edit", "samples")
"""Parts of the settings that may name a file of items: who named one knows nothing of the project made from it."""
_LATER = ("path", "served", "backward_style")  # added since; a run of an earlier version has not all of them


def write_jsonl(reader: Reader, run_id: int, stream: TextIO) -> int:
    """Write one JSON object a line; return the number of lines. Raises StoreError, OSError."""
    return write_lines(export_rows(reader, run_id), stream)


def write_csv(reader: Reader, run_id: int, stream: TextIO) -> int:
    """Write a header and one record a code sample to a stream opened with `newline=""`; return the number of records.

    Lists (tests) and what has names of its own (facets, origin) are written as JSON. Raises StoreError, OSError.
    """
    rows = export_rows(reader, run_id)
    first = next(rows, None)
    if first is None:
        return 0
    csv.writer(stream, lineterminator=LINE_END).writerow(first)
    return write_records(chain([first], rows), stream)


def export_rows(reader: Reader, run_id: int) -> Iterator[Row]:
    """Yield every code sample with its item, its description, its verdict, its scores and where it comes from.

    Words that nothing was made from, but that were compared with something, have a row as well. All rows have the same
    keys. A baseline's description is empty; a metric that was not computed is None.
    Raises StoreError when the run is unknown.
    """
    run = _run_columns(reader.run(run_id))
    # All that the run has, so that every record has the same columns whatever was scored of its sample.
    metrics = reader.metrics(run_id)
    for item in reader.items(run_id):
        samples = {sample.id: sample for sample in reader.samples(item.id)}
        parents = {sample.parent_id for sample in samples.values()}
        for sample in samples.values():
            if sample.form == Form.CODE or (sample.id not in parents and (sample.scores or sample.pairs)):
                parent = samples.get(sample.parent_id) if sample.parent_id is not None else None
                yield (
                    _item_columns(item)
                    | _parent_columns(parent)
                    | _sample_columns(sample, reader.prompt(sample.prompt_hash))
                    | _verdict_columns(sample)
                    | {f"score_{metric}": sample.scores.get(metric) for metric in metrics}
                    | {"pair_scores": [{"metric": m, "sample": other, "value": v} for m, other, v in sample.pairs]}
                    | run
                )


def _item_columns(item: ItemRow) -> Row:
    return {
        "run_id": item.run_id,
        "item_id": item.id,
        "item_key": item.key,
        **plain(item, "kind", "path", "start", "end", "start_line", "end_line"),
        "reference": item.text,
        "old_text": item.old_text,
        "covering_tests": list(item.tests),
        "facets": dict(item.facets),
        "origin": dict(item.origin),
        **plain(item, "extra", "directive"),
        "measures": dict(item.measures),
    }


def _parent_columns(parent: SampleRow | None) -> Row:
    return {
        "parent_id": parent.id if parent else None,
        "parent_index": parent.index if parent else None,
        "description": parent.text if parent else "",
        "description_author": parent.author if parent else "",
        "description_seed": parent.seed if parent else None,
        "description_temperature": parent.temperature if parent else None,
        "recitation": parent.recitation if parent else None,
    }


def _sample_columns(sample: SampleRow, prompt: str) -> Row:
    return {
        "sample_id": sample.id,
        **plain(sample, "role", "form", "step", "index", "author"),
        "prompt": prompt,
        **plain(sample, "raw_text", "thoughts", "thought_tokens"),
        "extraction": " ".join(sample.extraction_steps),
        "text": sample.text,
        **plain(sample, *_OF_SAMPLE),
    }


def _verdict_columns(sample: SampleRow) -> Row:
    if (verdict := sample.verdict) is None:
        absent = dict.fromkeys(("judging_seconds", "judging_reused", "tests_run", "tests_failed"))
        return {"outcome": None, "detail": "", **absent, "oracle": "", "flags": []}
    return {
        **plain(verdict, "outcome", "detail"),
        "judging_seconds": verdict.seconds,
        "judging_reused": verdict.reused,
        **plain(verdict, "tests_run", "tests_failed", "oracle"),
        "flags": list(verdict.flags),
    }


def _run_columns(run: RunRow) -> Row:
    models, config = json.loads(run.model_json), json.loads(run.config_json)
    return {
        "task": run.task,
        "project": run.project_root,
        "source_file": next((file for part in _FILES if (file := config.get(part, {}).get("file"))), ""),
        **plain(run, "revision", "dirty"),
        "project_fingerprint": run.fingerprint,
        "run_seed": run.seed,
        "run_status": run.status,
        **plain(run, "started_at", "app_version", "sandbox", "image_digest"),
        **_model_columns("forward", models["forward"]),
        **_model_columns("backward", models["backward"]),
        "embedder": config.get("directive", {}).get("embedder_name", ""),
        "config": run.config_json,
    }


def _model_columns(role: str, model: Mapping[str, object]) -> Row:
    """Return the columns that say which model wrote a text.

    They name a file with its hash, or the address of a server and what it said.
    """
    columns = {key: model[key] for key in _MODEL} | {key: model.get(key, "") for key in _LATER}
    return {f"{role}_model_{key}": value for key, value in columns.items()}


INSPECT_VERSION = 2  # of the log's schema
_INSPECTED = (
    "description", "outcome", "path", "start_line", "end_line", "covering_tests", "role", "sample_id", "measures",
)  # fmt: skip
"""Columns of a row that stand in the log as they are."""
_BATCH = 512
_dumped = partial(json.dumps, ensure_ascii=False)
_STATUS = {"finished": "success", "running": "started", "failed": "error"}


def write_inspect(reader: Reader, run_id: int, file: Path) -> int:
    """Write Inspect's `.eval` log, whose samples are pieces of code that a model wrote; return their number."""
    run = reader.run(run_id)
    counts: Counter[str] = Counter()
    summaries: list[dict[str, Any]] = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as log:
        log.writestr("_journal/start.json", _dumped({"version": INSPECT_VERSION, "eval": _spec(run), "plan": {}}))
        for row in export_rows(reader, run_id):
            name = row["item_key"] if row["role"] == "backward" else f"{row['item_key']} ({row['role']})"
            counts[name] += 1
            sample = _inspect_sample(row, name, counts[name])
            log.writestr(f"samples/{name}_epoch_{counts[name]}.json", _dumped(sample))
            summaries.append({key: sample[key] for key in ("id", "epoch", "input", "target", "scores", "completed")})
        log.writestr("summaries.json", _dumped(summaries))
        log.writestr("header.json", _dumped(_header(run, counts)))
    return len(summaries)


def _header(run: RunRow, counts: Mapping[str, int]) -> dict[str, Any]:
    metrics = {}
    for name, score in run.scores.items():
        figures = {"mean": score.value, "ci_low": score.low, "ci_high": score.high}
        if score.value is not None:
            given = {key: value for key, value in figures.items() if value is not None}
            metrics[name] = {key: {"name": key, "value": value, "params": {}} for key, value in given.items()}
    samples = sum(counts.values())
    return {
        "version": INSPECT_VERSION,
        "status": _STATUS.get(run.status, "cancelled"),
        "eval": _spec(run) | {"dataset": _dataset(run, counts)},
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": samples,
            "completed_samples": samples,
            "scores": [{"name": n, "scorer": "rtc-inspector", "params": {}, "metrics": m} for n, m in metrics.items()],
        },
        "stats": {"started_at": run.started_at, "completed_at": run.ended_at or run.started_at, "model_usage": {}},
    }


def _spec(run: RunRow) -> dict[str, Any]:
    return {
        "eval_id": f"rtc-inspector-{run.id}",
        "run_id": f"rtc-inspector-{run.id}",
        "created": run.started_at,
        "task": f"rtc_inspector/{run.task}",
        "task_id": f"rtc-inspector-{run.id}",
        "task_version": 0,
        "dataset": _dataset(run, {}),
        "model": run.model_name or "none",
        "config": {},
        "packages": {"rtc-inspector": run.app_version},
        "metadata": {
            "backward_model": run.backward_model_name,
            "revision": run.revision,
            "sandbox": run.sandbox,
            "settings": json.loads(run.config_json),
            "models": json.loads(run.model_json),
        },
    }


def _dataset(run: RunRow, counts: Mapping[str, int]) -> dict[str, Any]:
    return {"name": run.project_name, "location": run.project_root, "samples": len(counts), "sample_ids": list(counts)}


def _inspect_sample(row: Row, name: str, epoch: int) -> dict[str, Any]:
    answer = {"role": "assistant", "content": row["raw_text"], "source": "generate"}
    model = row["backward_model_name"]
    used = {"input_tokens": row["prompt_tokens"], "output_tokens": row["completion_tokens"]}
    usage = {**used, "total_tokens": sum(number or 0 for number in used.values())}
    values: dict[str, Any] = {
        key.removeprefix("score_"): {"value": value}
        for key, value in row.items()
        if key.startswith("score_") and value is not None
    }
    if row["outcome"] is not None:
        right = "C" if row["outcome"] == "pass" else "I"
        values["pass"] = {"value": right, "answer": row["text"], "explanation": row["detail"] or row["outcome"]}
    return {
        "id": name,
        "epoch": epoch,
        "input": row["prompt"],
        "target": row["reference"],
        "messages": [{"role": "user", "content": row["prompt"]}, answer],
        "output": {
            "model": model,
            "choices": [{"message": answer, "stop_reason": "max_tokens" if row["truncated"] else "stop"}],
            "usage": usage,
            "time": row["seconds"],
        },
        "scores": values,
        "metadata": {key: row[key] for key in _INSPECTED},
        "model_usage": {model: usage},
        "completed": True,
    }


def lm_eval_results(reader: Reader, run_id: int) -> dict[str, Any]:
    """Return a run's figures as lm-evaluation-harness writes its results: metrics and standard errors of one task."""
    run, kind = reader.run(run_id), task(reader.run(run_id).task)
    name = f"rtc_{run.task}"
    items = [item for item in reader.items(run_id) if item.admitted and not item.extra]
    measured = [each for each in kind.averaged if run.scores.get(each.name, NOTHING).value is not None]
    results: dict[str, Any] = {"alias": name}
    for each in measured:
        values = [item.measures[each.name] for item in items if each.name in item.measures]
        results[f"{each.name},none"] = run.scores[each.name].value
        error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else "N/A"
        results[f"{each.name}_stderr,none"] = error
    config = json.loads(run.config_json)
    return {
        "results": {name: results},
        "group_subtasks": {name: []},
        "configs": {
            name: {
                "task": name,
                "dataset_path": run.project_root,
                "output_type": "generate_until",
                "metric_list": [
                    {"metric": each.name, "aggregation": "mean", "higher_is_better": each.higher_is_better}
                    for each in measured
                ],
                "metadata": {"version": 0, "revision": run.revision, "settings": config},
            }
        },
        "versions": {name: 0},
        "n-shot": {name: 0},
        "higher_is_better": {name: {each.name: each.higher_is_better for each in measured}},
        "n-samples": {name: {"original": run.available or len(items), "effective": len(items)}},
        "config": {"model": "rtc-inspector", "model_args": run.models, "limit": config.get("regions")},
        "date": run.started_at,
        "model_name": run.models,
        "model_source": "rtc-inspector",
        "lm_eval_version": None,
    }


def write_parquet(reader: Reader, run_id: int, file: Path) -> int:
    """Write the rows of `export_rows` as a Parquet table; return their number. Raises UserError without pyarrow."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise UserError("Parquet files need the package pyarrow.", f"Run `{install_command('tables')}`.") from error
    kinds = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), list: pa.list_(pa.string()), str: pa.string()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in _columns(export_rows(reader, run_id)).items()])
    rows, count = map(_flat, export_rows(reader, run_id)), 0
    with pq.ParquetWriter(file, schema) as writer:
        while batch := list(islice(rows, _BATCH)):
            writer.write_table(pa.Table.from_pylist(batch, schema))
            count += len(batch)
    return count


def _columns(rows: Iterable[Row]) -> dict[str, type]:
    """Return the type of each column, which its first rows may not tell; a column without a value holds texts."""
    found: dict[str, type] = {}
    for row in map(_flat, rows):
        for name, value in row.items():
            kind = next((each for each in (bool, int, float, list) if isinstance(value, each)), str)
            if value is not None and found.get(name) is not float:
                found[name] = kind
            found.setdefault(name, str)
    return found


def _flat(row: Row) -> Row:
    """Return a row whose values with names of their own are JSON, as in CSV."""
    return {
        name: json.dumps(value)
        if isinstance(value, dict) or (isinstance(value, list) and name == "pair_scores")
        else value
        for name, value in row.items()
    }
