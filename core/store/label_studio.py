"""Labels in Label Studio's JSON: tasks with annotations, as its import takes them and its export gives them back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TextIO

from core.errors import UserError
from core.store.labels import label_rows
from core.store.reader import Reader
from core.store.writer import Store

CONFIG = """\
<View>
  <Header value="$path"/>
  <Text name="description" value="$description"/>
  <Text name="original" value="$original"/>
  <Text name="text" value="$text"/>
  <Choices name="mode" toName="text" choice="single" required="true">{choices}</Choices>
  <TextArea name="note" toName="text" maxSubmissions="1"/>
</View>
"""
"""The labelling interface that the tasks are made for; `choices` are `<Choice value="..."/>`."""

NOBODY = "label-studio"
_REMEDY = "Choose a JSON file that Label Studio exported from tasks which were written here."


@dataclass(frozen=True, slots=True)
class Given:
    """A label found in a file."""

    sample_id: int
    mode: str
    annotator: str
    note: str


def write_label_studio(reader: Reader, run_id: int, stream: TextIO) -> int:
    """A JSON list with one task a labelled sample; return their number. Raises StoreError, OSError."""
    tasks: dict[int, dict[str, Any]] = {}
    for row in label_rows(reader, run_id):
        data = {key: row[key] for key in ("run_id", "sample_id", "path", "description", "original", "text")}
        made = tasks.setdefault(row["sample_id"], {"data": data, "annotations": []})
        made["annotations"].append(_annotation(row))
    json.dump(list(tasks.values()), stream, ensure_ascii=False, indent=1)
    return len(tasks)


def import_labels(store: Store, run_id: int, text: str) -> int:
    """Add the labels that the run does not have yet; return how many those were.

    Raises UserError when it is no such file, or about samples that the run has not.
    """
    known = {(each.sample_id, each.annotator): (each.mode, each.note) for each in store.reader.current_labels(run_id)}
    samples = {each.sample_id for each in store.reader.reconstructions(run_id)}
    given = list(read_label_studio(text))
    strange = [each.sample_id for each in given if each.sample_id not in samples]
    if strange:
        raise UserError(f"Sample {strange[0]} of the file is not a reconstruction of run {run_id}.", _REMEDY)
    new = [each for each in given if known.get((each.sample_id, each.annotator)) != (each.mode, each.note)]
    for each in new:
        store.add_label(each.sample_id, each.mode, each.annotator, each.note)
    return len(new)


def read_label_studio(text: str) -> Iterator[Given]:
    """The labels in an exported file. Raises UserError."""
    try:
        for task in json.loads(text):
            for annotation in task.get("annotations", ()):
                if not annotation.get("was_cancelled"):
                    yield _given(int(task["data"]["sample_id"]), annotation)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise UserError(f"The file holds no labels of Label Studio: {error!r}.", _REMEDY) from error


def _annotation(row: Mapping[str, Any]) -> dict[str, Any]:
    result = [_result("mode", "choices", {"choices": [row["mode"]]})]
    if row["note"]:
        result.append(_result("note", "textarea", {"text": [row["note"]]}))
    return {
        "unique_id": f"rtc-{row['run_id']}-{row['sample_id']}-{row['label_id']}",
        "created_username": row["annotator"],
        "created_at": row["made_at"],
        "result": result,
    }


def _result(name: str, kind: str, value: Mapping[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": kind, "value": dict(value)}


def _given(sample_id: int, annotation: Mapping[str, Any]) -> Given:
    values = {each["from_name"]: each["value"] for each in annotation["result"]}
    said = values.get("note", {}).get("text", "")
    note = said if isinstance(said, str) else "\n".join(said)
    return Given(sample_id, str(values["mode"]["choices"][0]), _annotator(annotation), note)


def _annotator(annotation: Mapping[str, Any]) -> str:
    """Whoever the file names: by user name, e-mail address or number."""
    by = annotation.get("completed_by")
    named = annotation.get("created_username") or (by.get("email") if isinstance(by, dict) else by)
    return str(named) if named is not None else NOBODY
