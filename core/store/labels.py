"""The labels that hold in a run, with what they are about, for JSONL and CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from typing import Any, TextIO

from core.store.reader import Reader
from core.store.rows import ItemRow, LabelRow, SampleRow

Row = dict[str, Any]
COLUMNS = (
    "label_id", "run_id", "item_id", "sample_id", "annotator", "mode", "note", "made_at", "model", "path",
    "start_line", "end_line", "role", "outcome", "description", "original", "text",
)  # fmt: skip


def write_labels_jsonl(reader: Reader, run_id: int, stream: TextIO) -> int:
    """One JSON object a label; return the number of lines. Raises StoreError, OSError."""
    count = 0
    for row in label_rows(reader, run_id):
        stream.write(json.dumps(row, ensure_ascii=False) + "\n")
        count += 1
    return count


def write_labels_csv(reader: Reader, run_id: int, stream: TextIO) -> int:
    """A header and one record a label, in a stream opened with `newline=""`; return the number of records."""
    writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
    writer.writeheader()
    count = 0
    for row in label_rows(reader, run_id):
        writer.writerow(row)
        count += 1
    return count


def label_rows(reader: Reader, run_id: int) -> Iterator[Row]:
    """Every label that holds, by sample and annotator, with its region, texts and verdict. Raises StoreError."""
    model = reader.run(run_id).backward_model_name
    by_sample: dict[int, list[LabelRow]] = {}
    for label in reader.current_labels(run_id):
        by_sample.setdefault(label.sample_id, []).append(label)
    for item_id in sorted({reader.item_of(sample_id) for sample_id in by_sample}):
        item, samples = reader.item(item_id), {sample.id: sample for sample in reader.samples(item_id)}
        for sample in samples.values():
            for label in by_sample.get(sample.id, ()):
                parent = samples.get(sample.parent_id) if sample.parent_id is not None else None
                yield _row(label, item, sample, parent) | {"model": model}


def _row(label: LabelRow, item: ItemRow, sample: SampleRow, parent: SampleRow | None) -> Row:
    values = (
        label.id, item.run_id, item.id, sample.id, label.annotator, label.mode, label.note, label.made_at, "",
        item.path, item.start_line, item.end_line, sample.role, sample.verdict.outcome if sample.verdict else "",
        parent.text if parent else "", item.text, sample.text,
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))
