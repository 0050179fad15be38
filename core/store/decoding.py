"""From table rows to frozen values: the other way of `encoding`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeVar

from rtc_inspector.core.store.rows import CandidateRow, ItemRow, LabelRow, RunRow, SampleRow, TestRow, VerdictRow
from rtc_inspector.core.store.scores import RunFigures
from rtc_inspector.core.types import Item, Span

Row = Mapping[str, Any]
T = TypeVar("T")

_FIRST = {"transform": 0, "forward": 1, "backward": 2, "baseline": 3}


def _frozen(kind: type[T], row: Row, **given: Any) -> T:
    """Return a frozen value whose fields are the row's columns of the same names, but for those that are `given`."""
    return kind(**{name: row[name] for name in _fields(kind) if name not in given}, **given)


def _fields(kind: Any) -> Iterable[str]:
    names: Iterable[str] = kind.__dataclass_fields__  # `dataclasses.fields` makes a list anew for each of many rows
    return names


def run_row(row: Row, status: str, figures: RunFigures) -> RunRow:
    """Return a run joined with its project, with what was counted and scored."""
    return _frozen(
        RunRow,
        row,
        status=status,
        dirty=bool(row["dirty"]),
        items_admitted=figures.items_admitted,
        items_dropped=figures.items_dropped,
        items_complete=figures.items_complete,
        samples=figures.samples,
        scores=figures.scores,
        near_limit=figures.near_limit,
        answers=figures.answers,
        config_json=row["config"],
        model_json=row["models"],
        problems=tuple(json.loads(row["problems"])),
        suite_json=row["suite"],
    )


def item_row(row: Row, measures: Mapping[str, float]) -> ItemRow:
    """Return an item joined with its state."""
    return _frozen(
        ItemRow,
        row,
        span=Span(row["span_start"], row["span_end"]),
        tests=_tuple(row["tests"]),
        admitted=bool(row["admitted"]),
        measures=measures,
        facets=_mapping(row["facets"]),
        origin=_mapping(row["origin"]),
        extra=bool(row["extra"]),
    )


def candidate_row(row: Row, scores: Mapping[str, float]) -> CandidateRow:
    """Return a judged sample with the text it stands for."""
    return _frozen(CandidateRow, row, passed=bool(row["passed"]), origin=_mapping(row["origin"]), scores=scores)


@lru_cache(maxsize=4096)
def _tuple(text: str) -> tuple[str, ...]:
    """Return a list that is stored as JSON; many items have the same one, and share it."""
    return tuple(json.loads(text))


@lru_cache(maxsize=4096)
def _mapping(text: str) -> Mapping[str, str]:
    """Return a mapping that is stored as JSON, shared likewise, so read only."""
    return MappingProxyType(json.loads(text))


def item(row: ItemRow) -> Item:
    """Return the item as the pipeline knows it."""
    return Item(**{name: getattr(row, name) for name in _fields(Item)})


def sample_row(row: Row, scores: Sequence[Row]) -> SampleRow:
    """Return a sample joined with its last verdict, whose columns start with `v_`; `scores` are its own."""
    pairs = [(score["metric"], score["reference_id"], score["value"]) for score in scores]
    return _frozen(
        SampleRow,
        row,
        index=row["sample_index"],
        extraction_steps=tuple(json.loads(row["extraction_steps"])),
        truncated=bool(row["truncated"]),
        verdict=_verdict_row(row),
        scores={metric: value for metric, reference, value in pairs if reference is None},
        counted=bool(row["counted"]),
        pairs=tuple(pair for pair in pairs if pair[1] is not None),
    )


def _verdict_row(row: Row) -> VerdictRow | None:
    if row["v_id"] is None:
        return None
    own = {name: row[f"v_{name}"] for name in _fields(VerdictRow)}
    return _frozen(VerdictRow, own, flags=_tuple(row["v_flags"]))


def in_trace_order(samples: Sequence[SampleRow]) -> list[SampleRow]:
    """Return each sample followed by what was made from it; the model's before a person's, baselines last."""
    children: dict[int | None, list[SampleRow]] = {}
    for sample in sorted(samples, key=_trace_order):
        children.setdefault(sample.parent_id, []).append(sample)

    def walk(parent_id: int | None) -> Iterator[SampleRow]:
        for sample in children.get(parent_id, ()):
            yield sample
            yield from walk(sample.id)

    return list(walk(None))


def _trace_order(sample: SampleRow) -> tuple[int, bool, int, int]:
    return _FIRST.get(sample.role, 2), sample.author != "model", sample.index, sample.id


def test_row(row: Row) -> TestRow:
    """Return the value of one row of `test_results`."""
    return _frozen(TestRow, row)


def label_row(row: Row) -> LabelRow:
    """Return the value of one row of `labels`."""
    return _frozen(LabelRow, row)
