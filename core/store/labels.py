"""The labels that hold, with what they are about: written as JSONL and CSV, and read back."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.store.rows import LabelRow
from rtc_inspector.core.types import LabelKind

if TYPE_CHECKING:
    from rtc_inspector.core.store.reader import Reader

Row = dict[str, Any]
LINE_END = "\r\n"
"""Of CSV, by RFC 4180: with another Python quotes no lone carriage return, and a reader would end the line there."""
COLUMNS = (
    "label_id", "run_id", "item_id", "sample_id", "annotator", "kind", "mode", "mode_name", "note", "made_at",
    "taxonomy_version", "model", "path", "start_line", "end_line", "role", "outcome", "description", "old", "original",
    "text",
)  # fmt: skip
_REMEDY = "Choose a file of labels that was written here; JSONL, CSV and Label Studio's JSON are read."


@dataclass(frozen=True, slots=True)
class FileLabel:
    """A label found in a file; `mode` as in LabelRow."""

    sample_id: int
    mode: str
    annotator: str
    note: str
    kind: LabelKind = LabelKind.LABEL


def write_labels_jsonl(reader: Reader, runs: Sequence[int], stream: TextIO) -> int:
    """Write one JSON object a label of these runs; return the number of lines. Raises StoreError, OSError."""
    return write_lines(label_rows(reader, runs), stream)


def write_lines(rows: Iterable[Row], stream: TextIO) -> int:
    """Write one JSON object a row; return the number of lines. Raises OSError."""
    count = 0
    for row in rows:
        stream.write(json.dumps(row, ensure_ascii=False) + "\n")
        count += 1
    return count


def write_labels_csv(reader: Reader, runs: Sequence[int], stream: TextIO) -> int:
    """Write a header and one record a label to a stream opened with `newline=""`; return the number of records."""
    writer = csv.DictWriter(stream, COLUMNS, lineterminator=LINE_END)
    writer.writeheader()
    count = 0
    for row in label_rows(reader, runs):
        writer.writerow(row)
        count += 1
    return count


def label_rows(reader: Reader, runs: Sequence[int]) -> Iterator[Row]:
    """Yield every label and decision that holds, by sample, with its region, texts and verdict. Raises StoreError."""
    names = mode_names(reader)
    for run_id in runs:
        by_sample: dict[int, list[LabelRow]] = {}
        for label in (*reader.current_labels(run_id), *reader.adjudications(run_id)):
            by_sample.setdefault(label.sample_id, []).append(label)
        model = reader.run(run_id).backward_model_name
        for about in subjects(reader, sorted({reader.item_of(sample_id) for sample_id in by_sample})):
            for label in by_sample.get(about["sample_id"], ()):
                row = about | _label_columns(label) | {"mode_name": named(label.mode, names), "model": model}
                yield {column: row[column] for column in COLUMNS}


def subjects(reader: Reader, item_ids: Iterable[int]) -> Iterator[Row]:
    """Yield what may be labelled: each sample of these items, with its region, texts and verdict. Raises StoreError."""
    for item_id in item_ids:
        item, samples = reader.item(item_id), {sample.id: sample for sample in reader.samples(item_id)}
        for sample in samples.values():
            parent = samples.get(sample.parent_id) if sample.parent_id is not None else None
            yield {
                "run_id": item.run_id,
                "item_id": item.id,
                "sample_id": sample.id,
                "path": item.path,
                "start_line": item.start_line,
                "end_line": item.end_line,
                "role": sample.role,
                "outcome": sample.verdict.outcome if sample.verdict else "",
                "description": parent.text if parent else "",
                "old": item.old_text or "",
                "original": item.text,
                "text": sample.text,
            }


def _label_columns(label: LabelRow) -> Row:
    plain = ("annotator", "kind", "mode", "note", "made_at", "taxonomy_version")
    return {"label_id": label.id} | {name: getattr(label, name) for name in plain}


def mode_names(reader: Reader) -> dict[str, str]:
    """Return the name of every error mode that labels were chosen from, by id; the newest where it was renamed."""
    return {mode.id: mode.name for taxonomy in reader.taxonomies() for mode in taxonomy.modes}


def named(mode: str, names: Mapping[str, str]) -> str:
    """Return the names of a label's modes, of which `mode` holds the ids; one without a name keeps its id."""
    return " + ".join(names.get(each, each) for each in mode.split())


def read_labels_jsonl(text: str) -> Iterator[FileLabel]:
    """Yield the labels in a file of `write_labels_jsonl`. Raises UserError."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield _given(json.loads(line))
            except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
                raise UserError(f"Line {number} of the file is no label: {error!r}.", _REMEDY) from error


def read_labels_csv(text: str) -> Iterator[FileLabel]:
    """Yield the labels in a file of `write_labels_csv`. Raises UserError."""
    for number, row in enumerate(csv.DictReader(io.StringIO(text, newline="")), start=1):
        try:
            yield _given(row)
        except (ValueError, TypeError, KeyError) as error:
            raise UserError(f"Record {number} of the table is no label: {error!r}.", _REMEDY) from error


def _given(row: Mapping[str, Any]) -> FileLabel:
    """Return the label of a row. Raises KeyError, TypeError, ValueError."""
    mode, annotator, note = row["mode"], row["annotator"], str(row.get("note") or "")
    if not isinstance(mode, str) or not (mode.split() or note) or not isinstance(annotator, str):
        raise ValueError("no mode, no note or no annotator")
    kind = LabelKind(row.get("kind") or LabelKind.LABEL)
    return FileLabel(int(row["sample_id"]), mode, annotator, note, kind)
