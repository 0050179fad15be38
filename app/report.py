"""One self-contained HTML page about a run: figures, chart, worst and best regions, provenance. No network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup, escape

from core.errors import UserError
from core.store.reader import Reader
from core.store.rows import ItemRow, RunningPoint, RunRow, SampleRow, Score, TestRow
from resources import text as resource
from ui.diff.rows import Cell, Kind, Row, compare

SHOWN = 20
"""Regions in each of the two lists; keeps the page under 5 MB."""
MESSAGE_LINES = 12
"""Of a failing test's message; a cut is said."""


@dataclass(frozen=True)
class _Code:
    outcome: str
    detail: str
    rows: list[dict[str, Any]]
    failed: list[TestRow]


@dataclass(frozen=True)
class _Trip:
    description: str
    recites: str
    codes: list[_Code]


@dataclass(frozen=True)
class _Shown:
    item: ItemRow
    trips: list[_Trip]


def write_report(reader: Reader, run_id: int, out: Path) -> None:
    """Write the page. Raises StoreError for an unknown run, UserError when `out` cannot be written."""
    page = render(reader, run_id)
    try:
        out.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UserError(
            f"{out} cannot be written: {error.strerror}.", "Name a file in a folder you may write."
        ) from error


def render(reader: Reader, run_id: int) -> str:
    """The page as text."""
    run = reader.run(run_id)
    done = [item for item in reader.items(run_id) if item.rtc is not None and not item.extra]
    ranked = sorted(done, key=lambda item: (item.rtc or 0.0, item.lift or 0.0, item.path, item.start))
    worst = [item for item in ranked if (item.rtc or 0.0) < 1][:SHOWN]
    best = [item for item in reversed(ranked) if (item.rtc or 0.0) > 0][:SHOWN]
    environment = Environment(autoescape=True, trim_blocks=True)
    environment.filters.update(fraction=_fraction, signed=_signed, interval=_interval)
    return environment.from_string(resource("report", "report.html.jinja")).render(
        run=run,
        files=reader.files(run_id),
        chart=_chart(reader.running(run_id)),
        groups=[
            (title, [_shown(reader, item) for item in items])
            for title, items in (("Best regions", best), ("Worst regions", worst))
        ],
        provenance=_provenance(run),
    )


def _shown(reader: Reader, item: ItemRow) -> _Shown:
    samples = reader.samples(item.id)
    trips = []
    for description in (sample for sample in samples if sample.role == "forward"):
        codes = [_code(reader, item, code) for code in samples if code.parent_id == description.id]
        recited = description.recitation or 0.0
        trips.append(_Trip(description.text, f"{recited:.0%}" if recited >= 0.3 else "", codes))
    baselines = [_code(reader, item, code) for code in samples if code.role == "baseline"]
    if baselines:
        trips.append(_Trip("(no description: the baseline)", "", baselines))
    return _Shown(item, trips)


def _code(reader: Reader, item: ItemRow, sample: SampleRow) -> _Code:
    verdict = sample.verdict
    rows = [_row(row) for row in compare(item.text, sample.text).rows]
    if verdict is None:
        return _Code("not judged", sample.error, rows, [])
    failed = [_short(test) for test in reader.tests(verdict.id) if test.outcome != "passed"]
    return _Code(verdict.outcome, verdict.detail, rows, failed[:3])


def _short(test: TestRow) -> TestRow:
    lines = test.message.strip().splitlines()
    if len(lines) > MESSAGE_LINES:
        lines = [f"... {len(lines) - MESSAGE_LINES} lines left out ...", *lines[-MESSAGE_LINES:]]
    return TestRow(test.node_id, test.outcome, "\n".join(lines), test.seconds)


def _row(row: Row) -> dict[str, Any]:
    signs = {Kind.EQUAL: ("", ""), Kind.CHANGED: ("~", "~"), Kind.INSERTED: ("", "+"), Kind.DELETED: ("-", "")}
    left, right = signs[row.kind]
    return {
        "kind": row.kind.value,
        "left": _marked(row.left),
        "right": _marked(row.right),
        "left_sign": left,
        "right_sign": right,
    }


def _marked(cell: Cell | None) -> Markup:
    if cell is None:
        return Markup("")
    parts, at = [], 0
    for start, end in cell.marks:
        parts += [escape(cell.text[at:start]), Markup("<mark>") + escape(cell.text[start:end]) + Markup("</mark>")]
        at = end
    return Markup("").join([*parts, escape(cell.text[at:])])


def _chart(points: Sequence[RunningPoint]) -> Markup | None:
    """Running RTC with its interval band, as SVG; None below two points."""
    drawn = [(p.items, p.rtc.value, p.rtc.low, p.rtc.high) for p in points]
    whole = [(n, v, lo, hi) for n, v, lo, hi in drawn if v is not None and lo is not None and hi is not None]
    if len(whole) < 2:
        return None
    width, height, left = 1000, 220, 40
    most = whole[-1][0]

    def at(items: int, value: float) -> str:
        return f"{left + (width - left - 10) * items / most:.1f},{10 + (height - 40) * (1 - value):.1f}"

    band = " ".join([at(n, hi) for n, _, _, hi in whole] + [at(n, lo) for n, _, lo, _ in reversed(whole)])
    line = " ".join(at(n, v) for n, v, _, _ in whole)
    ticks = "".join(
        f'<text x="4" y="{14 + (height - 40) * (1 - v):.0f}">{v:.1f}</text>'
        f'<line x1="{left}" x2="{width - 10}" y1="{10 + (height - 40) * (1 - v):.0f}" '
        f'y2="{10 + (height - 40) * (1 - v):.0f}" stroke="var(--line)"/>'
        for v in (0.0, 0.5, 1.0)
    )
    return Markup(
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="RTC after each completed region">{ticks}'
        f'<polygon points="{band}" fill="var(--accent)" opacity=".18"/>'
        f'<polyline points="{line}" fill="none" stroke="var(--accent)" stroke-width="2"/>'
        f'<text x="{width - 10}" y="{height - 8}" text-anchor="end">{most} regions</text></svg>'
    )


def _provenance(run: RunRow) -> list[tuple[str, str]]:
    models = json.loads(run.model_json)
    entries = [
        ("project", run.project_root),
        ("revision", f"{run.revision or 'not under version control'}{' (modified)' if run.dirty else ''}"),
        ("sandbox", run.sandbox),
        ("seed", str(run.seed)),
        ("started", run.started_at),
        ("ended", run.ended_at or "-"),
    ]
    for role in ("forward", "backward"):
        for name, value in models[role].items():
            entries.append((f"{role} {name.replace('_', ' ')}", str(value)))
    for name, value in json.loads(run.config_json).items():
        entries.append((name.replace("_", " "), json.dumps(value)))
    return entries


def _fraction(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f}"


def _interval(score: Score) -> str:
    if score.low is None or score.high is None:
        return "nothing judged yet"
    return f"95 % {score.low:.2f} to {score.high:.2f}"
