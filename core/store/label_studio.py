"""Labels in Label Studio's JSON: tasks with annotations, as its import takes them and its export gives them back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, TextIO

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.generation import Role
from rtc_inspector.core.store.labels import FileLabel, label_rows, subjects
from rtc_inspector.core.taxonomy import Taxonomy
from rtc_inspector.core.types import LabelKind

if TYPE_CHECKING:
    from rtc_inspector.core.store.reader import Reader

NOBODY = "label-studio"
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
_REMEDY = "Choose a JSON file that Label Studio exported from tasks which were written here."


def labelling_interface(taxonomy: Taxonomy) -> str:
    """Return the labelling configuration that the tasks are made for: to be pasted into a project's settings."""
    return _INTERFACE.format(
        choices="\n".join(_choice(mode.id, mode.name, f"{mode.about} {mode.guide}") for mode in taxonomy.offered)
    )


def write_label_studio(reader: Reader, runs: Sequence[int], stream: TextIO, *, unlabelled: bool = False) -> int:
    """Write a JSON list with one task a labelled sample; return their number. Raises StoreError, OSError.

    unlabelled: reconstructions without a label become tasks too, to be labelled there.
    """
    tasks: dict[int, dict[str, Any]] = {}
    for row in label_rows(reader, runs):
        made = tasks.setdefault(row["sample_id"], _task(row))
        made["annotations"].append(_annotation(row))
    if unlabelled:
        for run_id in runs:
            rows = reader.reconstructions(run_id)
            whole = {each.sample_id for each in rows}
            for row in subjects(reader, dict.fromkeys(each.item_id for each in rows)):
                if row["role"] == Role.BACKWARD and row["sample_id"] in whole:
                    tasks.setdefault(row["sample_id"], _task(row))
    json.dump(list(tasks.values()), stream, ensure_ascii=False, indent=1)
    return len(tasks)


def read_label_studio(text: str) -> Iterator[FileLabel]:
    """Yield the labels in an exported file. Raises UserError."""
    try:
        for task in json.loads(text):
            for annotation in task.get("annotations", ()):
                if not annotation.get("was_cancelled"):
                    yield _given(int(task["data"]["sample_id"]), annotation)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as error:
        raise UserError(f"The file holds no labels of Label Studio: {error!r}.", _REMEDY) from error


def _choice(mode: str, name: str, about: str) -> str:
    said = escape(" ".join(f"{name}: {about}".split()))
    return f'    <Choice value="{escape(mode)}" hint="{said}"/>'


def _task(row: Mapping[str, Any]) -> dict[str, Any]:
    data = {key: row[key] for key in DATA}
    return {"data": data, "annotations": []}


def _annotation(row: Mapping[str, Any]) -> dict[str, Any]:
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


def _result(name: str, kind: str, value: Mapping[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": kind, "value": dict(value)}


def _given(sample_id: int, annotation: Mapping[str, Any]) -> FileLabel:
    values = {each["from_name"]: each["value"] for each in annotation["result"]}
    said = values.get("note", {}).get("text", "")
    note = said if isinstance(said, str) else "\n".join(said)
    kind = LabelKind.ADJUDICATION if annotation.get("ground_truth") else LabelKind.LABEL
    modes = [str(mode) for mode in values.get("mode", {}).get("choices", ())]
    if not modes and not note:
        raise LookupError("an annotation without a mode and without a note")
    return FileLabel(sample_id, " ".join(modes), _annotator(annotation), note, kind)


def _annotator(annotation: Mapping[str, Any]) -> str:
    """Return whoever the file names: by user name, e-mail address or number."""
    by = annotation.get("completed_by")
    named = annotation.get("created_username") or (by.get("email") if isinstance(by, dict) else by)
    return str(named) if named is not None else NOBODY
