"""From frozen values to rows of tables, and back."""

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeVar

from rtc_inspector.core.generation import Extraction, ModelInfo
from rtc_inspector.core.store.rows import ItemRow, Row, RunFigures, RunRow, SampleRow, VerdictRow
from rtc_inspector.core.types import Outcome, Span, Suite, TestResult, plain

T = TypeVar("T")


def now() -> str:
    """Return the time as it is stored: UTC, ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def clean(value: T) -> T:
    r"""Return text as SQLite can hold it: a lone surrogate is kept readable as `\udc80`."""
    found: Any = value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else value
    kept: T = found
    return kept


def prompt_hash(text: str) -> str:
    """Return the key of a prompt: sha256 of its exact text."""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def models_text(model: ModelInfo, backward_model: ModelInfo) -> str:
    """Return what a run records of its models, as JSON."""
    return json.dumps({"forward": dataclasses.asdict(model), "backward": dataclasses.asdict(backward_model)})


def suite_text(suite: Suite) -> str:
    """Return what a run records of the project's tests: how many are trusted, and which are not and why."""
    return json.dumps(
        {
            "tests": len(suite.tests),
            "excluded": dict(suite.excluded),
            "own_order": [test.node_id for test in suite.own_order],
            "not_asked": list(suite.not_asked),
            **plain(suite, "seconds", "python", "cached"),
        }
    )


SAMPLE = (
    "author", "model", "finish_reason", "error", "recitation", "shown", "seed", "temperature", "prompt_tokens",
    "completion_tokens", "thought_tokens", "seconds", "raw_text", "thoughts", "step", "text",
)  # fmt: skip
"""Fields of a sample in columns of their own names; so is `text`."""


def frozen(kind: type[T], row: Row, **given: Any) -> T:
    """Return a frozen value whose fields are the row's columns of the same names, but for those that are `given`."""
    # `dataclasses.fields` makes a list anew for each of many rows
    names: Iterable[str] = kind.__dataclass_fields__  # type: ignore[attr-defined]
    return kind(**{name: row[name] for name in names if name not in given}, **given)


def read_run(row: Row, status: str, figures: RunFigures) -> RunRow:
    """Return a run joined with its project, with what was counted and scored."""
    return frozen(
        RunRow,
        row,
        status=status,
        dirty=bool(row["dirty"]),
        config_json=row["config"],
        model_json=row["models"],
        problems=tuple(json.loads(row["problems"])),
        suite_json=row["suite"],
        **plain(figures, *RunFigures.__slots__),
    )


def read_item(row: Row, measures: Mapping[str, float]) -> ItemRow:
    """Return an item joined with its state."""
    return frozen(
        ItemRow,
        row,
        span=Span(row["span_start"], row["span_end"]),
        tests=_tuple(row["tests"]),
        admitted=bool(row["admitted"]),
        measures=measures,
        facets=mapping(row["facets"]),
        origin=mapping(row["origin"]),
        extra=bool(row["extra"]),
    )


@lru_cache(maxsize=4096)
def _tuple(text: str) -> tuple[str, ...]:
    """Return a list that is stored as JSON; many items have the same one, and share it."""
    return tuple(json.loads(text))


@lru_cache(maxsize=4096)
def mapping(text: str) -> Mapping[str, str]:
    """Return a mapping that is stored as JSON, shared likewise, so read only."""
    return MappingProxyType(json.loads(text))


def read_sample(row: Row, scores: Sequence[tuple[str, int | None, float]] = (), prompt: str = "") -> SampleRow:
    """Return a sample joined with its last verdict (columns `v_...`); `scores`: metric, reference, value."""
    own = {name[2:]: value for name, value in row.items() if name.startswith("v_")}
    return frozen(
        SampleRow,
        row,
        index=row["sample_index"],
        prompt_text=prompt,
        extraction=Extraction(row["text"], _tuple(row["extraction_steps"])),
        truncated=bool(row["truncated"]),
        counted=bool(row["counted"]),
        verdict=read_verdict(own) if own.get("id") is not None else None,
        scores={metric: value for metric, reference, value in scores if reference is None},
        pairs=tuple((metric, reference, value) for metric, reference, value in scores if reference is not None),
    )


def read_verdict(row: Row, tests: tuple[TestResult, ...] = ()) -> VerdictRow:
    """Return a row of `verdicts`."""
    return frozen(
        VerdictRow,
        row,
        outcome=Outcome(row["outcome"]),
        flags=_tuple(row["flags"]),
        reused=bool(row["reused"]),
        tests=tests,
    )
