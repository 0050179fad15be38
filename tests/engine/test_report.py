"""The pages about runs: small, self-contained, whole where they say so, safe with any text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import factories
import pytest
from factories import files_of, fill_store
from figure_cases import one_of_each

from rtc_inspector.app.storing import _figures
from rtc_inspector.core.analyses.analyse import analyse
from rtc_inspector.core.comparison.compare import compare_runs
from rtc_inspector.core.errors import StoreError, UserError
from rtc_inspector.core.figures import Figure
from rtc_inspector.core.figures.reading import marks
from rtc_inspector.core.metrics.metric import metric
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.types import TestResult
from rtc_inspector.ui.diff.rows import compare
from rtc_inspector.ui.report import page as pages
from rtc_inspector.ui.report.page import (
    MESSAGE_CHARACTERS,
    _row,
    _short,
    render,
    write_comparison,
    write_figures,
    write_report,
)
from rtc_inspector.ui.report.svg import drawn
from rtc_inspector.ui.shell.bars import run_summary

VOID = {"meta", "rect", "circle", "line", "polygon", "polyline", "br"}


class Outline(HTMLParser):
    """Fails on tags that do not match; notes what could load something, and how often each tag occurs."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.counts: dict[str, int] = {}
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.loads += [tag] if tag in ("script", "link", "iframe", "img", "object") else []
        self.loads += [name for name, _ in attrs if name in ("src", "href", "srcset") or name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def outline(text: str) -> Outline:
    parser = Outline()
    parser.feed(text)
    assert parser.open == []
    return parser


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    folder = tmp_path_factory.mktemp("report")
    with open_store(folder / "runs.db") as store:
        settings = RunSettings(regions=222, forward_samples=1, seed=7)  # one description each is quicker to store
        fill_store(store, folder / "shop", 222, seed=7, settings=settings)
        fill_store(store, folder / "shop", 30, seed=8)
        store.note_run(1, "<script>alert('no')</script>")
    with open_reader(folder / "runs.db") as made:
        yield made


@pytest.fixture(scope="module")
def page(reader: Reader) -> str:
    return render(reader, 1)


def test_two_hundred_regions_make_a_small_page_that_loads_nothing(reader: Reader, page: str) -> None:
    assert reader.run(1).items_admitted >= 195
    assert len(page.encode()) < 5_000_000
    found = outline(page)
    assert found.loads == []
    assert not re.search(r"https?://|url\(|@import", page)
    assert found.counts["svg"] == 3, "running, spread, and a metric against the verdict"
    assert found.counts["details"] == 2 * pages.SHOWN
    assert found.counts["tr"] > len(files_of(reader, 1))
    assert "prefers-color-scheme: dark" in page


def test_the_page_says_what_the_run_says(reader: Reader, page: str) -> None:
    run = reader.run(1)
    assert f"<b>{run.headline.value:.2f}</b><span>RTC, 95 % {run.headline.low:.2f} to {run.headline.high:.2f}" in page
    assert f"<b>{run.secondary.value:+.2f}</b>" in page
    worst = [item for item in reader.items(1) if item.headline is not None and item.headline < 1]
    assert f"Worst regions (20 of {len(worst)})" in page
    assert page.index("Worst regions") < page.index("Best regions") < page.index("Provenance")
    assert "AssertionError: assert 3 == 4" in page
    assert f"<dd>{run.seed}</dd>" in page
    for name in reader.metrics(1):
        assert f"<td>{metric(name).title}</td>" in page


def test_text_of_others_is_never_markup(page: str) -> None:
    assert "<script>" not in page
    assert "&lt;script&gt;alert" in page


def test_a_page_that_would_be_too_large_shows_fewer_regions_and_says_so(
    reader: Reader, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "LARGEST", len(page) * 2 // 3)
    smaller = render(reader, 1)
    assert len(smaller) <= len(page) * 2 // 3
    assert "Worst regions (10 of " in smaller


def test_a_long_message_keeps_its_start_and_says_what_is_missing() -> None:
    lines = TestResult("t::a", "failed", "\n".join(f"line {n}" for n in range(40)), 0.1)
    assert _short(lines).message.splitlines()[-1] == "... 28 lines left out ..."
    assert _short(lines).message.startswith("line 0")
    long = _short(TestResult("t::a", "failed", "start" + "x" * 5_000, 0.1)).message
    assert long.endswith(f"... {5_005 - MESSAGE_CHARACTERS:,} characters left out ...") and long.startswith("startx")


def test_an_unknown_run_and_a_bad_place_are_sentences(reader: Reader, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="run 9"):
        write_report(reader, 9, tmp_path / "x.html")
    assert not (tmp_path / "x.html").exists()
    with pytest.raises(UserError, match="cannot be written"):
        write_report(reader, 2, tmp_path / "absent" / "x.html")


@pytest.mark.parametrize("figure", one_of_each(), ids=lambda figure: figure.kind)
def test_every_figure_is_drawn_with_the_words_of_its_marks(figure: Figure) -> None:
    made = str(drawn(figure))
    outline(made)
    said = unescape(made)
    for mark in marks(figure):
        assert mark.text in said or (figure.kind == "table" and all(part in said for part in mark.text.split(", ")))
    assert "nan" not in made.lower()


def test_figures_of_two_runs_make_a_page(reader: Reader, tmp_path: Path) -> None:
    found = analyse(reader, [1, 2])
    write_figures(reader, [1, 2], found, tmp_path / "f.html")
    text = (tmp_path / "f.html").read_text("utf-8")
    made = outline(text)
    assert made.loads == []
    assert made.counts["h2"] == len(found)
    assert "RTC in runs 1 and 2" in text


def test_compared_runs_make_a_page_with_both_traces(reader: Reader, tmp_path: Path) -> None:
    found = compare_runs(reader, (1, 2))
    write_comparison(reader, found, tmp_path / "c.html")
    text = (tmp_path / "c.html").read_text("utf-8")
    made = outline(text)
    assert made.loads == []
    assert made.counts["details"] == min(pages.SHOWN, len(found[0].disagreements))
    assert made.counts["circle"] == len({(p.first.headline, p.second.headline) for p in found[0].pairs})
    assert text.count("<h4>Run 1</h4>") == text.count("<h4>Run 2</h4>") == made.counts["details"]


def test_a_line_that_only_one_side_has_is_marked_on_that_side_alone() -> None:
    both, added = (_row(row) for row in compare("a = 1", "a = 1\nb = 2").rows)
    assert (both["left_kind"], both["right_kind"]) == ("equal", "equal")
    assert (added["left_kind"], added["right_kind"], added["right_sign"]) == ("", "inserted", "+")


def test_the_page_opens_with_a_trace_that_teaches_something(reader: Reader, page: str) -> None:
    assert page.count("<details open>") == 1
    opened = page[page.index("<details open>") :]
    opened = opened[: opened.index("</details>")]
    assert "✗ Fail" in opened and "AssertionError" in opened
    assert "recites" not in opened[: opened.index("✗ Fail")]
    assert "fail fail" not in page, "what the sign says is not said again"


def test_what_could_not_be_judged_has_no_red_cross(tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.db") as store:
        fill_store(store, tmp_path / "shop", 60, seed=3)
    with open_reader(tmp_path / "runs.db") as reader:
        page = render(reader, 1)
    assert '<p class="muted">⚙ Not judged' in page
    assert "✗ infrastructure" not in page and "✗ Not judged" not in page


def test_tests_that_were_not_asked_stand_beside_the_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_aside = replace(
        factories.suite(), not_asked=("tests/test_module.py::test_clock", "tests/test_module.py::test_order")
    )
    monkeypatch.setattr(factories, "suite", lambda: set_aside)
    with open_store(tmp_path / "runs.db") as store:
        run_id = fill_store(store, tmp_path / "code", 4, seed=1)
        shown = render(store.reader, run_id)
        row = store.reader.run(run_id)
    said = "2 tests of plain pytest were not asked"
    assert row.not_asked == said and f"<p>{said}.</p>" in shown
    assert said in run_summary(row) and said in _figures(row)
