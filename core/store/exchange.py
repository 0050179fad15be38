"""A stored run in other tools' files: Inspect's log, lm-evaluation-harness' results, a Parquet table."""

from __future__ import annotations

import json
import statistics
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import task
from rtc_inspector.core.packages import install_command
from rtc_inspector.core.store.export import Row, export_rows
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import NOTHING, ItemRow, RunRow

INSPECT_VERSION = 2
"""Of the log's schema."""
_BATCH = 512
_STATUS = {"finished": "success", "running": "started", "failed": "error"}

# --------------------------------------------------------------------------- Inspect


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
    metrics = {
        name: {
            "mean": {"name": "mean", "value": score.value, "params": {}},
            **({} if score.low is None else {"ci_low": {"name": "ci_low", "value": score.low, "params": {}}}),
            **({} if score.high is None else {"ci_high": {"name": "ci_high", "value": score.high, "params": {}}}),
        }
        for name, score in run.scores.items()
        if score.value is not None
    }
    samples = sum(counts.values())
    return {
        "version": INSPECT_VERSION,
        "status": _STATUS.get(run.status, "cancelled"),
        "eval": _spec(run) | {"dataset": _dataset(run, counts)},
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": samples,
            "completed_samples": samples,
            "scores": [
                {"name": name, "scorer": "rtc-inspector", "params": {}, "metrics": values}
                for name, values in metrics.items()
            ],
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
    kept = (
        "description",
        "outcome",
        "path",
        "start_line",
        "end_line",
        "covering_tests",
        "role",
        "sample_id",
        "measures",
    )
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
        "metadata": {key: row[key] for key in kept},
        "model_usage": {model: usage},
        "completed": True,
    }


def _dumped(values: object) -> str:
    return json.dumps(values, ensure_ascii=False)


# --------------------------------------------------------------------------- lm-evaluation-harness


def lm_eval_results(reader: Reader, run_id: int) -> dict[str, Any]:
    """Return a run's figures as lm-evaluation-harness writes its results: metrics and standard errors of one task."""
    run, kind = reader.run(run_id), task(reader.run(run_id).task)
    name = f"rtc_{run.task}"
    items = [item for item in reader.items(run_id) if item.admitted and not item.extra]
    measured = [each for each in kind.averaged if run.scores.get(each.name, NOTHING).value is not None]
    results: dict[str, Any] = {"alias": name}
    for each in measured:
        results[f"{each.name},none"] = run.scores[each.name].value
        results[f"{each.name}_stderr,none"] = _standard_error(items, each.name)
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


def _standard_error(items: Iterable[ItemRow], name: str) -> float | str:
    values = [item.measures[name] for item in items if name in item.measures]
    return statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else "N/A"


# --------------------------------------------------------------------------- Parquet


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
