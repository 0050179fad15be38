"""From table rows to frozen values: the other way of `encoding`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from core.store.rows import (
    CandidateRow,
    ItemRow,
    LabelRow,
    RunRow,
    SampleRow,
    TestRow,
    VerdictRow,
)
from core.store.scores import Standing
from core.types import Item, Span

Row = Mapping[str, Any]

_FIRST = {"transform": 0, "forward": 1, "backward": 2, "baseline": 3}


def run_row(row: Row, status: str, standing: Standing) -> RunRow:
    """A run joined with its project, with what was counted and scored."""
    return RunRow(
        id=row["id"],
        task=row["task"],
        status=status,
        project_name=row["project_name"],
        project_root=row["project_root"],
        revision=row["revision"],
        dirty=bool(row["dirty"]),
        model_name=row["model_name"],
        backward_model_name=row["backward_model_name"],
        sandbox=row["sandbox"],
        seed=row["seed"],
        app_version=row["app_version"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        regions_wanted=row["regions_wanted"],
        items_admitted=standing.items_admitted,
        items_dropped=standing.items_dropped,
        items_complete=standing.items_complete,
        samples=standing.samples,
        scores=standing.scores,
        config_json=row["config"],
        model_json=row["models"],
        name=row["name"],
        notes=row["notes"],
        problems=tuple(json.loads(row["problems"])),
        suite_json=row["suite"],
        image_digest=row["image_digest"],
        fingerprint=row["fingerprint"],
        changes=row["changes"],
        available=row["available"],
    )


def item_row(row: Row, measures: Mapping[str, float]) -> ItemRow:
    """An item joined with its state."""
    return ItemRow(
        id=row["id"],
        run_id=row["run_id"],
        key=row["key"],
        kind=row["kind"],
        path=row["path"],
        start=row["span_start"],
        end=row["span_end"],
        start_line=row["start_line"],
        end_line=row["end_line"],
        text=row["text"],
        old_text=row["old_text"],
        tests=_tuple(row["tests"]),
        admitted=bool(row["admitted"]),
        reason=row["reason"],
        state=row["state"],
        task=row["task"],
        measures=measures,
        recitation=row["recitation"],
        facets=_mapping(row["facets"]),
        origin=_mapping(row["origin"]),
        extra=bool(row["extra"]),
        form=row["form"],
        directive=row["directive"],
    )


def candidate_row(row: Row, scores: Mapping[str, float]) -> CandidateRow:
    """A judged sample with the text it stands for."""
    return CandidateRow(
        sample_id=row["sample_id"],
        item_id=row["item_id"],
        key=row["key"],
        role=row["role"],
        passed=bool(row["passed"]),
        text=row["text"],
        reference=row["reference"],
        origin=_mapping(row["origin"]),
        scores=scores,
    )


@lru_cache(maxsize=4096)
def _tuple(text: str) -> tuple[str, ...]:
    """A list as it is stored; many items have the same one, and share it."""
    return tuple(json.loads(text))


@lru_cache(maxsize=4096)
def _mapping(text: str) -> Mapping[str, str]:
    """A mapping as it is stored, shared likewise, so read only."""
    return MappingProxyType(json.loads(text))


def item(row: ItemRow) -> Item:
    """The item as the pipeline knows it."""
    return Item(
        key=row.key,
        kind=row.kind,
        path=row.path,
        span=Span(row.start, row.end),
        start_line=row.start_line,
        end_line=row.end_line,
        text=row.text,
        tests=row.tests,
        admitted=row.admitted,
        reason=row.reason,
        old_text=row.old_text,
        facets=row.facets,
        origin=row.origin,
        extra=row.extra,
        form=row.form,
        directive=row.directive,
    )


def sample_row(row: Row, scores: Sequence[Row]) -> SampleRow:
    """A sample joined with its last verdict, whose columns start with `v_`; `scores` are its own."""
    return SampleRow(
        id=row["id"],
        item_id=row["item_id"],
        parent_id=row["parent_id"],
        role=row["role"],
        index=row["sample_index"],
        text=row["text"],
        raw_text=row["raw_text"],
        extraction_steps=tuple(json.loads(row["extraction_steps"])),
        prompt_hash=row["prompt_hash"],
        seed=row["seed"],
        temperature=row["temperature"],
        prompt_tokens=row["prompt_tokens"],
        completion_tokens=row["completion_tokens"],
        seconds=row["seconds"],
        finish_reason=row["finish_reason"],
        truncated=bool(row["truncated"]),
        recitation=row["recitation"],
        error=row["error"],
        author=row["author"],
        verdict=_verdict_row(row),
        scores={score["metric"]: score["value"] for score in scores if score["reference_id"] is None},
        form=row["form"],
        step=row["step"],
        counted=bool(row["counted"]),
        pairs=tuple(
            (score["metric"], score["reference_id"], score["value"])
            for score in scores
            if score["reference_id"] is not None
        ),
        shown=row["shown"],
    )


def _verdict_row(row: Row) -> VerdictRow | None:
    if row["v_id"] is None:
        return None
    return VerdictRow(
        id=row["v_id"],
        outcome=row["v_outcome"],
        seconds=row["v_seconds"],
        detail=row["v_detail"],
        output=row["v_output"],
        oracle=row["v_oracle"],
        tests_run=row["v_tests_run"],
        tests_failed=row["v_tests_failed"],
        flags=_tuple(row["v_flags"]),
    )


def in_trace_order(samples: Sequence[SampleRow]) -> list[SampleRow]:
    """Each sample followed by what was made from it; the model's before a person's, baselines last."""
    children: dict[int | None, list[SampleRow]] = {}
    for sample in sorted(samples, key=_place):
        children.setdefault(sample.parent_id, []).append(sample)

    def walk(parent_id: int | None) -> Iterator[SampleRow]:
        for sample in children.get(parent_id, ()):
            yield sample
            yield from walk(sample.id)

    return list(walk(None))


def _place(sample: SampleRow) -> tuple[int, bool, int, int]:
    return _FIRST.get(sample.role, 2), sample.author != "model", sample.index, sample.id


def test_row(row: Row) -> TestRow:
    """One row of `test_results`."""
    return TestRow(row["node_id"], row["outcome"], row["message"], row["seconds"], row["signature"])


def label_row(row: Row) -> LabelRow:
    """One row of `labels`."""
    names = ("id", "sample_id", "annotator", "mode", "note", "made_at", "kind", "taxonomy_version")
    return LabelRow(*(row[name] for name in names))
