"""Self-contained HTML pages about a run, about figures alone, and about compared runs. No network, no Qt."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, Template
from markupsafe import Markup, escape

from rtc_inspector.core.analyses.analyse import analyse
from rtc_inspector.core.comparison import comparison as words
from rtc_inspector.core.comparison.comparison import Comparison, scatter
from rtc_inspector.core.figures import Figure
from rtc_inspector.core.figures.reading import number
from rtc_inspector.core.kinds import Measure, few, role_title, task
from rtc_inspector.core.metrics.statistics import interval
from rtc_inspector.core.store.files import writing
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import GROWING, ItemRow, SampleRow
from rtc_inspector.core.types import Estimate, Form, TestResult
from rtc_inspector.resources import text as resource
from rtc_inspector.ui.diff.lines import side_by_side
from rtc_inspector.ui.diff.rows import Cell, DiffRow, Kind, compare
from rtc_inspector.ui.presenters import presenter, provenance, recites, scored_against, sign
from rtc_inspector.ui.report.svg import drawn

MOST_TESTS = 3  # failing tests shown of one reconstruction; the others are counted
MESSAGE_LINES, MESSAGE_CHARACTERS = 12, 2_000  # of a failing test's message; a cut is said
NO_WORDS = "(the model answered without a word)"
UNCOUNTED = frozenset({"infrastructure"})  # outcomes that are no fault of the model


@dataclass(frozen=True)
class Code:
    """One reconstruction: its verdict and the rows of its diff. `more`: failing tests that are not shown.

    `sides`: what is compared.
    `tone` is `pass`, `notpass`, or `muted` for what says nothing about the model; `said` the outcome with its sign.
    """

    outcome: str
    tone: str
    said: str
    detail: str
    rows: list[dict[str, Any]]
    failed: list[TestResult]
    more: int
    sides: tuple[str, str]


@dataclass(frozen=True)
class Trip:
    """One description and the code made from it."""

    description: str
    recites: str
    codes: list[Code]

    @property
    def instructive(self) -> bool:
        return not self.recites and any(code.outcome == "fail" and code.failed for code in self.codes)


def trips(reader: Reader, item: ItemRow) -> list[Trip]:
    """Return an item's trace: each description with the code made from it, and code that came from none of them."""
    samples = reader.samples(item.id)
    by_id = {sample.id: sample for sample in samples}
    words = {sample.id for sample in samples if sample.form == Form.TEXT}
    found: list[Trip] = []
    alone: dict[str, list[Code]] = {}
    for sample in samples:
        if sample.id in words:
            codes = [_code(reader, item, code, by_id) for code in samples if code.parent_id == sample.id]
            by = "" if sample.author == "model" else f" (by {sample.author})"
            recited = f"{sample.recitation:.2f}" if recites(sample) else ""
            found.append(Trip(f"{sample.text or sample.error or NO_WORDS}{by}", recited, codes))
        elif sample.parent_id not in words:
            title = f"(no description: the {role_title(item.task, sample.role)})"
            if title not in alone:
                alone[title] = []
                found.append(Trip(title, "", alone[title]))
            alone[title].append(_code(reader, item, sample, by_id))
    return found


def edit_rows(item: ItemRow) -> list[dict[str, Any]]:
    """Return the rows of what people changed in an edit; none for a region."""
    if not presenter(item).past:
        return []
    return [_row(row) for row in compare(item.old_text or "", item.text, python=False).rows]


def _code(reader: Reader, item: ItemRow, sample: SampleRow, samples: Mapping[int, SampleRow]) -> Code:
    """Return the code beside the item, or beside the code that it was held against, as the window shows it."""
    verdict, before = sample.verdict, scored_against(sample, samples)
    sides = presenter(item).sides_of(item, sample, before)
    original = item.text if before is None else before.text
    # A region's text begins at its first statement; both sides get the same indentation back.
    rows = [_row(row) for row in compare(*side_by_side(original, sample.text, item.text)).rows]
    if verdict is None:
        return Code("", "muted", "○ Not judged", sample.error, rows, [], 0, sides)
    failed = [_short(test) for test in reader.tests(verdict.id) if test.outcome != "passed"]
    tone = "pass" if verdict.outcome == "pass" else "muted" if verdict.outcome in UNCOUNTED else "notpass"
    detail = verdict.detail.removeprefix(verdict.outcome).strip()  # it may begin with what the sign says already
    shown = sign(verdict.outcome)
    signed_word = f"{shown.symbol} {shown.word.capitalize()}"
    return Code(verdict.outcome, tone, signed_word, detail, rows, failed[:MOST_TESTS], len(failed[MOST_TESTS:]), sides)


def _short(test: TestResult) -> TestResult:
    """Return the start of a long message: there stands what went wrong."""
    message = test.message.strip()
    lines = message.splitlines()
    if len(lines) > MESSAGE_LINES:
        message = "\n".join([*lines[:MESSAGE_LINES], f"... {len(lines) - MESSAGE_LINES} lines left out ..."])
    if len(message) > MESSAGE_CHARACTERS:
        left_out = len(message) - MESSAGE_CHARACTERS
        message = f"{message[:MESSAGE_CHARACTERS]}\n... {left_out:,} characters left out ..."
    return replace(test, message=message)


def _row(row: DiffRow) -> dict[str, Any]:
    signs = {Kind.EQUAL: ("", ""), Kind.CHANGED: ("~", "~"), Kind.INSERTED: ("", "+"), Kind.DELETED: ("-", "")}
    left, right = signs[row.kind]
    return {
        "left_kind": "" if row.left is None else row.kind.value,
        "right_kind": "" if row.right is None else row.kind.value,
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


SHOWN = 20  # regions in each of the two lists, halved until the page is small enough
LARGEST = 4_900_000  # bytes of a page


def write_report(reader: Reader, run_id: int, out: Path) -> None:
    """Write the page. Raises StoreError for an unknown run, UserError when `out` cannot be written."""
    write_page(render(reader, run_id), out)


def write_page(page: str, out: Path) -> None:
    """Write a page to a file. Raises UserError when `out` cannot be written."""
    with writing(out):
        # A model may answer with half of a surrogate pair, which UTF-8 cannot write.
        out.write_text(page, encoding="utf-8", errors="backslashreplace")


def render(reader: Reader, run_id: int) -> str:
    """Return the page as text, of fewer regions where those are so long that it would grow past LARGEST."""
    return small_enough(partial(_render, reader, run_id, analyse(reader, [run_id])))


def write_figures(reader: Reader, run_ids: Sequence[int], figures: Sequence[Figure], out: Path) -> None:
    """Write a page of figures alone. Raises UserError when `out` cannot be written."""
    runs = [reader.run(run_id) for run_id in run_ids]
    write_page(template("analysis.html.jinja").render(runs=runs, shown=figures), out)


def small_enough(make: Callable[[int], str]) -> str:
    """Return the page made of SHOWN items a list, or of half as many until it is no larger than LARGEST."""
    shown = SHOWN
    while True:
        page = make(shown)
        if shown <= 1 or len(page.encode(errors="backslashreplace")) <= LARGEST:
            return page
        # Regions may have thousands of lines: a page that mail refuses helps nobody.
        shown //= 2


def template(name: str) -> Template:
    """Return the template of a page, of that name in `resources/report`."""
    # Code, answers and messages of models come into the page: nothing of theirs may be taken for HTML.
    pages = Environment(autoescape=True, trim_blocks=True)
    pages.filters.update(fraction=fraction, signed=signed, interval=_interval, value=_value)
    pages.filters["heading"] = lambda item: presenter(item).heading(item)
    pages.globals["style"] = Markup(resource("report", "style.css"))
    pages.globals["drawn"] = drawn
    traces: Any = pages.from_string(resource("report", "traces.html.jinja")).module
    figures: Any = pages.from_string(resource("report", "figures.html.jinja")).module
    pages.globals.update(traces=traces.traces, rows=traces.rows, figures=figures.figures)
    return pages.from_string(resource("report", name))


def _render(reader: Reader, run_id: int, figures: Sequence[Figure], shown: int) -> str:
    run = reader.run(run_id)
    done = [item for item in reader.items(run_id) if item.headline is not None and not item.extra]
    kind = task(run.task)
    scores = [(each, run.scores[each.name]) for each in kind.averaged if each.name in run.scores]
    counted = [item for item in done if item.admitted]
    paths = [item.path for item in counted]
    filed = any(item.has_file for item in counted)
    headline = kind.measure(kind.headline)
    values = [item.headline or 0.0 for item in counted]
    # The mean with the interval that speaks for other files like these.
    lowest, continuous = headline.lowest, headline.continuous
    other = Estimate(*interval(values, lowest, clusters=paths, continuous=continuous)) if filed else None
    return template("report.html.jinja").render(
        run=run,
        noun=kind.noun,
        kind=kind,
        scores=[(measure, score) for measure, score in scores if score.n or measure.name == kind.headline],
        few=few(run.headline.n, kind.noun),
        remarks=[f"{remark[:1].upper()}{remark[1:]}." for remark in run.remarks],
        growing=run.status in GROWING,
        files=len(set(paths)),
        headline=headline,
        other=other,
        shown=figures,
        groups=_groups(reader, done, shown),
        provenance=provenance(run),
    )


def _groups(reader: Reader, done: Sequence[ItemRow], most: int) -> list[dict[str, Any]]:
    """Return the lists of the page: the items with the worst headline, then those with the best, with their traces."""

    def rank(item: ItemRow) -> tuple[object, ...]:
        # The headline, then what can lie on both sides of 0, then the place.
        signed = [item.measures.get(each.name, 0.0) for each in task(item.task).averaged if each.lowest < 0]
        return (item.headline or 0.0, *signed, item.path, item.start)

    ranked = sorted(done, key=rank)
    lists = {
        "Worst": [item for item in ranked if (item.headline or 0.0) < 1],
        "Best": [item for item in reversed(ranked) if (item.headline or 0.0) > 0],
    }
    groups: list[dict[str, Any]] = []
    for title, items in lists.items():
        shown = [{"item": item, "trips": trips(reader, item), "edit": edit_rows(item)} for item in items[:most]]
        groups.append({"title": title, "total": len(items), "shown": shown})
    # Unfolded is the first trace from which something is learned, else the first: nobody unfolds forty by hand.
    every = [each for group in groups for each in group["shown"]]
    telling = (each for each in every if any(trip.instructive for trip in each["trips"]))
    if every:
        next(telling, every[0])["open"] = True
    return groups


def fraction(value: float | None) -> str:
    """Write `0.21`."""
    return "-" if value is None else f"{value:.2f}"


def signed(value: float | None) -> str:
    """Write `+0.21`."""
    return "-" if value is None else number(value, "signed")


def _value(value: float | None, measure: Measure) -> str:
    return signed(value) if measure.lowest < 0 else fraction(value)


def _interval(score: Estimate) -> str:
    if score.low is None or score.high is None:
        return "nothing judged yet"
    return f"95 % {score.low:.2f} to {score.high:.2f}"


def write_comparison(reader: Reader, comparisons: Sequence[Comparison], out: Path) -> None:
    """Write the page. Raises StoreError, and UserError when `out` cannot be written."""
    write_page(small_enough(partial(_render_comparison, reader, comparisons)), out)


def _render_comparison(reader: Reader, comparisons: Sequence[Comparison], shown: int) -> str:
    parts = []
    for each in comparisons:
        pairs = []
        for pair in each.disagreements[:shown]:
            traces = {"first": trips(reader, pair.first), "second": trips(reader, pair.second)}
            # The item is the same in both runs, and so is what people changed.
            pairs.append({"pair": pair, "edit": edit_rows(pair.first)} | traces)
        total, picture = len(each.disagreements), drawn(scatter(each))
        parts.append({"all": each, "scatter": picture, "pairs": pairs, "disagreements": total})
    first = comparisons[0].first
    names = {"noun": task(first.task).noun, "project": first.project_name}
    return template("comparison.html.jinja").render(comparisons=parts, words=words, **names)
