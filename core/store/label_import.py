"""Labels from files into the store: only what it does not have yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.store.label_studio import read_label_studio
from rtc_inspector.core.store.labels import FileLabel, read_labels_csv, read_labels_jsonl
from rtc_inspector.core.types import LabelKind

if TYPE_CHECKING:
    from rtc_inspector.core.store.writer import Store

_REMEDY = "Choose the file of these runs, or open the database that it was written from."


def import_labels(store: Store, runs: Sequence[int], text: str) -> int:
    """Add the labels that these runs do not have yet; return how many those were.

    Raises UserError when it is no file of labels, or about samples that the runs have not. Then nothing is added.
    """
    given, samples = list(read_labels(text)), set(_samples(store, runs))
    strange = [each.sample_id for each in given if each.sample_id not in samples]
    if strange:
        those = f"run {runs[0]}" if len(runs) == 1 else "these runs"
        raise UserError(f"Sample {strange[0]} of the file is not a reconstruction of {those}.", _REMEDY)
    known = dict(_known(store, runs))
    new = {_owner(each): each for each in given if known.get(_owner(each)) != _content(each)}
    for each in new.values():
        store.add_label(each.sample_id, each.mode, each.annotator, each.note, kind=each.kind)
    return len(new)


def read_labels(text: str) -> Iterator[FileLabel]:
    """Read the labels in a JSONL, CSV or Label Studio file, told apart by how it begins. Raises UserError."""
    # A spreadsheet puts a byte order mark before what it saves.
    begin = text.lstrip("\ufeff").lstrip()
    if begin.startswith("label_id,"):
        return read_labels_csv(begin)
    return read_labels_jsonl(begin) if begin.startswith('{"label_id"') else read_label_studio(begin)


Owner = tuple[int, str, LabelKind]
Content = tuple[str, ...]


def _owner(label: FileLabel) -> Owner:
    """Return whose word a label is; a sample has one decision, whoever took it."""
    return label.sample_id, "" if label.kind is LabelKind.ADJUDICATION else label.annotator, label.kind


def _content(label: FileLabel) -> Content:
    by = (label.annotator,) if label.kind is LabelKind.ADJUDICATION else ()
    return " ".join(sorted(label.mode.split())), label.note, *by


def _known(store: Store, runs: Sequence[int]) -> Iterator[tuple[Owner, Content]]:
    for run_id in runs:
        for row in (*store.reader.current_labels(run_id), *store.reader.adjudications(run_id)):
            label = FileLabel(row.sample_id, row.mode, row.annotator, row.note, LabelKind(row.kind))
            yield _owner(label), _content(label)


def _samples(store: Store, runs: Sequence[int]) -> Iterator[int]:
    for run_id in runs:
        yield from (each.sample_id for each in store.reader.reconstructions(run_id))
        for kept in (*store.reader.current_labels(run_id), *store.reader.adjudications(run_id)):
            yield kept.sample_id
