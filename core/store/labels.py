"""The labels that hold, with what they are about: written as JSONL and CSV, and read back."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, TextIO

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.generation import Role
from rtc_inspector.core.store.rows import LabelRow, Row
from rtc_inspector.core.taxonomy import Taxonomy
from rtc_inspector.core.types import LabelKind, plain

if TYPE_CHECKING:
    from rtc_inspector.core.store.reader import Reader
    from rtc_inspector.core.store.writer import Store


LINE_END = "\r\n"
"""Of CSV, by RFC 4180: with another Python quotes no lone carriage return, and a reader would end the line there."""
COLUMNS = (
    "label_id", "run_id", "item_id", "sample_id", "annotator", "kind", "mode", "mode_name", "note", "made_at",
    "taxonomy_version", "model", "path", "start_line", "end_line", "role", "outcome", "description", "old", "original",
    "text",
)  # fmt: skip
_REMEDY = "Choose a file of labels that was written here; JSONL, CSV and Label Studio's JSON are read."


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
    csv.writer(stream, lineterminator=LINE_END).writerow(COLUMNS)
    return write_records(label_rows(reader, runs), stream)


def write_records(rows: Iterable[Row], stream: TextIO) -> int:
    """Write one record of comma-separated values a row, lists and mappings as JSON; return their number."""
    writer, count = csv.writer(stream, lineterminator=LINE_END), 0
    for row in rows:
        writer.writerow(json.dumps(v) if isinstance(v, (list, dict)) else v for v in row.values())
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
                row = about | plain(label, "annotator", "kind", "mode", "note", "made_at", "taxonomy_version")
                row |= {"label_id": label.id, "mode_name": named(label.mode, names), "model": model}
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
                **plain(item, "path", "start_line", "end_line"),
                "role": sample.role,
                "outcome": sample.verdict.outcome if sample.verdict else "",
                "description": parent.text if parent else "",
                "old": item.old_text or "",
                "original": item.text,
                "text": sample.text,
            }


def mode_names(reader: Reader) -> dict[str, str]:
    """Return the name of every error mode that labels were chosen from, by id; the newest where it was renamed."""
    return {mode.id: mode.name for taxonomy in reader.taxonomies() for mode in taxonomy.modes}


def named(mode: str, names: Mapping[str, str]) -> str:
    """Return the names of a label's modes, of which `mode` holds the ids; one without a name keeps its id."""
    return " + ".join(names.get(each, each) for each in mode.split())


def read_labels(text: str) -> Iterator[LabelRow]:
    """Yield the labels in a JSONL, CSV or Label Studio file, told apart by how it begins. Raises UserError.

    They have no id and no time: those are given by the database that they are stored in.
    """
    # A spreadsheet puts a byte order mark before what it saves.
    begin = text.lstrip("\ufeff").lstrip()
    if begin.startswith("label_id,"):
        for number, row in enumerate(csv.DictReader(io.StringIO(begin, newline="")), start=1):
            try:
                yield _label_of(row)
            except (ValueError, TypeError, KeyError) as error:
                raise UserError(f"Record {number} of the table is no label: {error!r}.", _REMEDY) from error
    elif begin.startswith('{"label_id"'):
        for number, line in enumerate(begin.split("\n"), start=1):
            try:
                if line.strip():
                    yield _label_of(json.loads(line))
            except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
                raise UserError(f"Line {number} of the file is no label: {error!r}.", _REMEDY) from error
    else:
        try:
            for task in json.loads(begin):
                for annotation in task.get("annotations", ()):
                    if not annotation.get("was_cancelled"):
                        yield _studio_label(int(task["data"]["sample_id"]), annotation)
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as error:
            raise UserError(f"The file holds no labels of Label Studio: {error!r}.", _STUDIO_REMEDY) from error


def _label_of(row: Mapping[str, Any]) -> LabelRow:
    mode, annotator, note = row["mode"], row["annotator"], str(row.get("note") or "")
    if not isinstance(mode, str) or not (mode.split() or note) or not isinstance(annotator, str):
        raise ValueError("no mode, no note or no annotator")
    kind = LabelKind(row.get("kind") or LabelKind.LABEL)
    return LabelRow(0, int(row["sample_id"]), annotator, mode, note, "", kind)


# ---- Label Studio

NOBODY_NAMED = "label-studio"
_INTERFACE = """\
<View>
  <Header value="$path"/>
  <Text name="description" value="$description"/>
  <Text name="old" value="$old"/>
  <Text name="original" value="$original"/>
  <Text name="text" value="$text"/>
  <Choices name="mode" toName="text" choice="multiple">
{choices}
  </Choices>
  <TextArea name="note" toName="text" maxSubmissions="1"/>
</View>
"""
DATA = ("run_id", "sample_id", "path", "description", "old", "original", "text")
"""What a task carries; `old` is an edit's old code, and empty for a region."""
_STUDIO_REMEDY = "Choose a JSON file that Label Studio exported from tasks which were written here."


def labelling_interface(taxonomy: Taxonomy) -> str:
    """Return the labelling configuration that the tasks are made for: to be pasted into a project's settings."""
    choices = []
    for mode in taxonomy.offered:
        hint = escape(" ".join(f"{mode.name}: {mode.about} {mode.guide}".split()))
        choices.append(f'    <Choice value="{escape(mode.id)}" hint="{hint}"/>')
    return _INTERFACE.format(choices="\n".join(choices))


def write_label_studio(reader: Reader, runs: Sequence[int], stream: TextIO, *, unlabelled: bool = False) -> int:
    """Write a JSON list with one task a labelled sample; return their number. Raises StoreError, OSError.

    unlabelled: reconstructions without a label become tasks too, to be labelled there.
    """
    tasks: dict[int, dict[str, Any]] = {}
    for row in label_rows(reader, runs):
        tasks.setdefault(row["sample_id"], _task(row))["annotations"].append(_annotation(row))
    if unlabelled:
        for run_id in runs:
            rows = reader.reconstructions(run_id)
            whole = {each.sample_id for each in rows}
            for row in subjects(reader, dict.fromkeys(each.item_id for each in rows)):
                if row["role"] == Role.BACKWARD and row["sample_id"] in whole:
                    tasks.setdefault(row["sample_id"], _task(row))
    json.dump(list(tasks.values()), stream, ensure_ascii=False, indent=1)
    return len(tasks)


def _task(row: Row) -> Row:
    return {"data": {key: row[key] for key in DATA}, "annotations": []}


def _annotation(row: Row) -> Row:
    modes = row["mode"].split()
    result = [_result("mode", "choices", {"choices": modes})] if modes else []
    if row["note"]:
        result.append(_result("note", "textarea", {"text": [row["note"]]}))
    return {
        "unique_id": f"rtc-{row['run_id']}-{row['sample_id']}-{row['label_id']}",
        "created_username": row["annotator"],
        "created_at": row["made_at"],
        "ground_truth": row["kind"] == LabelKind.ADJUDICATION,
        "result": result,
    }


def _result(name: str, kind: str, value: Row) -> Row:
    return {"from_name": name, "to_name": "text", "type": kind, "value": value}


def _studio_label(sample_id: int, annotation: Row) -> LabelRow:
    values = {each["from_name"]: each["value"] for each in annotation["result"]}
    lines = values.get("note", {}).get("text", "")
    note = lines if isinstance(lines, str) else "\n".join(lines)
    kind = LabelKind.ADJUDICATION if annotation.get("ground_truth") else LabelKind.LABEL
    modes = [str(mode) for mode in values.get("mode", {}).get("choices", ())]
    if not modes and not note:
        raise LookupError("an annotation without a mode and without a note")
    # A person is named by user name, e-mail address or number.
    by = annotation.get("completed_by")
    person = annotation.get("created_username") or (by.get("email") if isinstance(by, dict) else by)
    annotator = str(person) if person is not None else NOBODY_NAMED
    return LabelRow(0, sample_id, annotator, " ".join(modes), note, "", kind)


# ---- into the store

_IMPORT_REMEDY = "Choose the file of these runs, or open the database that it was written from."


def import_labels(store: Store, runs: Sequence[int], text: str) -> int:
    """Add the labels that these runs do not have yet; return how many those were.

    Raises UserError when it is no file of labels, or about samples that the runs have not. Then nothing is added.
    """
    labels, reader = list(read_labels(text)), store.reader
    stored = [row for run_id in runs for row in (*reader.current_labels(run_id), *reader.adjudications(run_id))]
    samples = {row.sample_id for row in stored}
    samples |= {each.sample_id for run_id in runs for each in reader.reconstructions(run_id)}
    strange = [each.sample_id for each in labels if each.sample_id not in samples]
    if strange:
        those = f"run {runs[0]}" if len(runs) == 1 else "these runs"
        raise UserError(f"Sample {strange[0]} of the file is not a reconstruction of {those}.", _IMPORT_REMEDY)
    contents = {_owner(each): _content(each) for each in stored}
    new = {_owner(each): each for each in labels if contents.get(_owner(each)) != _content(each)}
    for each in new.values():
        store.add_label(each.sample_id, each.mode, each.annotator, each.note, kind=LabelKind(each.kind))
    return len(new)


def _owner(label: LabelRow) -> tuple[int, str, str]:
    """Return whose word a label is; a sample has one decision, whoever took it."""
    return label.sample_id, "" if label.kind == LabelKind.ADJUDICATION else label.annotator, label.kind


def _content(label: LabelRow) -> tuple[str, ...]:
    by = (label.annotator,) if label.kind == LabelKind.ADJUDICATION else ()
    return " ".join(sorted(label.mode.split())), label.note, *by
