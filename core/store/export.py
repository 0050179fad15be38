"""A run as plain rows, one a code sample, for JSONL and CSV: streamed, never held whole."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from rtc_inspector.core.store.labels import LINE_END, write_lines
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import ItemRow, RunRow, SampleRow
from rtc_inspector.core.types import Form

Row = dict[str, Any]

_MODEL = ("name", "sha256", "template_sha256", "quantization", "context_size", "threads", "prompt_style", "build")
_OF_SAMPLE = (
    "seed", "temperature", "prompt_tokens", "completion_tokens", "seconds", "finish_reason", "truncated", "error",
)  # fmt: skip
_FILES = ("benchmark", "edit", "samples")
"""Parts of the settings that may name a file of items: who named one knows nothing of the project made from it."""
_LATER = ("path", "served", "backward_style")
"""Added since; a run of an earlier version has not all of them."""


def write_jsonl(reader: Reader, run_id: int, stream: TextIO) -> int:
    """Write one JSON object a line; return the number of lines. Raises StoreError, OSError."""
    return write_lines(export_rows(reader, run_id), stream)


def write_csv(reader: Reader, run_id: int, stream: TextIO) -> int:
    """Write a header and one record a code sample to a stream opened with `newline=""`; return the number of records.

    Lists (tests) and what has names of its own (facets, origin) are written as JSON. Raises StoreError, OSError.
    """
    writer: csv.DictWriter[str] | None = None
    count = 0
    for row in export_rows(reader, run_id):
        if writer is None:
            writer = csv.DictWriter(stream, row.keys(), lineterminator=LINE_END)
            writer.writeheader()
        writer.writerow({key: json.dumps(v) if isinstance(v, (list, dict)) else v for key, v in row.items()})
        count += 1
    return count


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
        "kind": item.kind,
        "path": item.path,
        "start": item.start,
        "end": item.end,
        "start_line": item.start_line,
        "end_line": item.end_line,
        "reference": item.text,
        "old_text": item.old_text,
        "covering_tests": list(item.tests),
        "facets": dict(item.facets),
        "origin": dict(item.origin),
        "extra": item.extra,
        "directive": item.directive,
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
        "role": sample.role,
        "form": sample.form,
        "step": sample.step,
        "index": sample.index,
        "author": sample.author,
        "prompt": prompt,
        "raw_text": sample.raw_text,
        "thoughts": sample.thoughts,
        "thought_tokens": sample.thought_tokens,
        "extraction": " ".join(sample.extraction_steps),
        "text": sample.text,
        **{name: getattr(sample, name) for name in _OF_SAMPLE},
    }


def _verdict_columns(sample: SampleRow) -> Row:
    verdict = sample.verdict
    return {
        "outcome": verdict.outcome if verdict else None,
        "detail": verdict.detail if verdict else "",
        "judging_seconds": verdict.seconds if verdict else None,
        "judging_reused": verdict.reused if verdict else None,
        "tests_run": verdict.tests_run if verdict else None,
        "tests_failed": verdict.tests_failed if verdict else None,
        "oracle": verdict.oracle if verdict else "",
        "flags": list(verdict.flags) if verdict else [],
    }


def _run_columns(run: RunRow) -> Row:
    """Return the run's provenance: what is needed to make the sample again."""
    models, config = json.loads(run.model_json), json.loads(run.config_json)
    return {
        "task": run.task,
        "project": run.project_root,
        "source_file": next((file for part in _FILES if (file := config.get(part, {}).get("file"))), ""),
        "revision": run.revision,
        "dirty": run.dirty,
        "project_fingerprint": run.fingerprint,
        "run_seed": run.seed,
        "run_status": run.status,
        "started_at": run.started_at,
        "app_version": run.app_version,
        "sandbox": run.sandbox,
        "image_digest": run.image_digest,
        **_model_columns("forward", models["forward"]),
        **_model_columns("backward", models["backward"]),
        "embedder": config.get("directive", {}).get("embedder_name", ""),
        "config": run.config_json,
    }


def _model_columns(role: str, model: Mapping[str, object]) -> Row:
    """Return the columns that say which model wrote a text.

    They name a file with its hash, or the address of a server and what it said.
    """
    known = {key: model[key] for key in _MODEL} | {key: model.get(key, "") for key in _LATER}
    return {f"{role}_model_{key}": value for key, value in known.items()}
