"""What could have been drawn: fates and chances, and how the code view shows them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from store_cases import Filled, filled
from themes import contrast, wear
from waiting import wait_until

from rtc_inspector.core.regions.coverage import keep_coverage, kept_coverage
from rtc_inspector.core.run.considered import Considered, Fate, considered
from rtc_inspector.core.settings import RegionSettings
from rtc_inspector.core.source.codebase import content_fingerprint
from rtc_inspector.core.types import CoverageMap, Region, SourceFile, Span
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.code.editor import CandidateBlock, Canvas, paint_candidates
from rtc_inspector.ui.code.view import CodeView
from rtc_inspector.ui.style.theme import DARK, LIGHT, Theme

PATH = "shop/module_000.py"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Filled:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return filled(tmp_path, items=50)


def covering(file: SourceFile, missed: range = range(0)) -> CoverageMap:
    """One test that runs every line but some."""
    lines = {line: frozenset({0}) for line in range(1, file.text.count("\n") + 1) if line not in missed}
    return CoverageMap(("tests/test_a.py::test_a",), {file.path: lines}, {})


def fates(found: list[Considered], fate: Fate) -> list[Considered]:
    return [each for each in found if each.fate is fate]


def test_every_candidate_has_a_fate_and_chances_add_up(run: Filled) -> None:
    file = run.codebase().file(PATH)
    items = [item for item in run.items() if item.path == PATH]
    gone = next(item for item in items if item.admitted)
    kept = [item for item in items if item is not gone]
    found = considered(file, RegionSettings(), covering(file), kept)
    assert sum(each.chance for each in found) == pytest.approx(1.0)
    assert {(each.region.span.start, each.region.span.end) for each in fates(found, Fate.DRAWN)} <= {
        (item.start, item.end) for item in kept
    }
    (left,) = [each for each in fates(found, Fate.LEFT) if each.region.span.start == gone.start][-1:]
    assert "enough regions came first" in left.why
    over = fates(found, Fate.OVERLAPS)
    assert over and all("drawn before" in each.why for each in over)
    dropped = next(item for item in kept if not item.admitted)
    (said,) = [each.why for each in found if (each.region.span.start, each.region.span.end) == _span(dropped)]
    assert said == f"drawn, then dropped: {dropped.reason}"


def _span(item: object) -> tuple[int, int]:
    return item.start, item.end  # type: ignore[attr-defined]


def test_lines_that_no_test_runs_cannot_be_drawn(run: Filled) -> None:
    file = run.codebase().file(PATH)
    item = next(item for item in run.items() if item.path == PATH)
    missed = range(item.start_line, item.end_line + 1)
    found = considered(file, RegionSettings(), covering(file, missed), [])
    (own,) = [each for each in found if (each.region.span.start, each.region.span.end) == _span(item)]
    assert (own.fate, own.chance) == (Fate.UNCOVERED, 0.0)
    unknown = considered(file, RegionSettings(), None, [])
    assert {each.fate for each in unknown} == {Fate.UNKNOWN}


def test_coverage_is_kept_as_it_was(run: Filled) -> None:
    coverage = CoverageMap(("a", "b"), {"x.py": {3: frozenset({0, 1})}}, {"x.py": frozenset({1})})
    assert kept_coverage("ab") is None
    keep_coverage("ab", coverage)
    assert kept_coverage("ab") == coverage


@pytest.fixture
def view(qapp: QApplication, run: Filled) -> Iterator[CodeView]:
    gateway, codebase = Gateway(), run.codebase()
    keep_coverage(content_fingerprint(codebase), covering(codebase.file(PATH)))
    made = CodeView(gateway)
    made.resize(760, 520)
    made.show()
    made.set_codebase(codebase)
    made.set_items([item for item in run.items() if item.admitted][:3])
    made.open_file(PATH)
    made.set_sampling((RegionSettings(), content_fingerprint(codebase)))
    yield made
    made.close()
    assert gateway.close()


def test_the_switch_draws_candidates_and_the_card_says_why_each_was_not_taken(view: CodeView, run: Filled) -> None:
    before = view.editor.viewport().grab().toImage()
    view.header.candidates.click()
    wait_until(lambda: view.editor._candidates)
    assert view.editor.viewport().grab().toImage() != before
    assert view.header.candidates.text().endswith("candidates")
    last = max(block.last for block in view.editor.blocks)
    free = next(each for each in view.editor._candidates if each.first > last + 4)
    view.editor.show_line(free.first)
    point = view.editor.canvas().lines_rect(free.first, free.first, 2).center().toPoint()
    QTest.mouseMove(view.editor.viewport(), point)
    wait_until(view.editor._card.isVisible)
    assert "candidate" in view.editor._card.title.text()
    assert "enough regions" in view.editor._card.more.text()
    view.header.candidates.click()
    assert not view.editor._candidates
    assert view.header.candidates.text() == "Candidates"


def test_files_that_changed_since_the_run_claim_no_coverage(view: CodeView, run: Filled) -> None:
    codebase = run.codebase()
    changed = tuple(replace(each, text=each.text + "# more\n") for each in codebase.files)
    view.set_codebase(replace(codebase, files=changed))
    view.header.candidates.click()
    wait_until(lambda: view.editor._candidates)
    assert {each.considered.fate for each in view.editor._candidates} == {Fate.UNKNOWN}


def test_a_task_without_regions_offers_no_candidates(view: CodeView) -> None:
    assert view.header.candidates.isVisible()
    view.set_sampling(None)
    assert not view.header.candidates.isVisible()


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_stays_readable_over_any_number_of_candidates(qapp: QApplication, theme: Theme) -> None:
    image = QImage(200, 40, QImage.Format.Format_RGB32)
    wear(theme)
    image.fill(theme.surface)
    candidate = Considered(Region("a.py", Span(0, 40), 1, 1, "x" * 40), Fate.LEFT, 0.1, "")
    painter = QPainter(image)
    canvas = Canvas(0.0, 10.0, 20.0, 8.0, 200.0)
    paint_candidates(painter, canvas, [CandidateBlock(0, 1, 0, candidate)] * 30, range(2), drawn=(1,))
    painter.end()
    filled, spared = (image.pixelColor(100, y).name() for y in (10, 30))
    assert filled != theme.surface and spared == theme.surface
    assert min(contrast(colour, filled) for colour in theme.tokens.values()) >= 4.5
