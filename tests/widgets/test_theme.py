"""Both themes are readable: every text role and token colour on every ground it is drawn on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import (
    QApplication,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QTableView,
    QToolButton,
    QTreeView,
    QWidget,
)
from stored_run import shown
from themes import contrast, light, wear

from rtc_inspector.ui.panels.pieces import CodePeek
from rtc_inspector.ui.style.appearance import stylesheet
from rtc_inspector.ui.style.icons import icon
from rtc_inspector.ui.style.theme import DARK, LIGHT, Role, Theme, current_theme, mix

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
TEXT = ("text", "muted", "accent", "good", "bad", "warn", "neutral")
GROUNDS = ("background", "surface", "raised", "selection", "current_line", "gutter")
REGIONS = ("waiting", "running", "pass", "partial", "fail", "dropped")
DIFFS = ("inserted", "inserted_strong", "deleted", "deleted_strong", "changed")


@THEMES
@pytest.mark.parametrize("role", TEXT)
def test_text_roles_reach_4_5_on_every_ground(theme: Theme, role: str) -> None:
    for ground in GROUNDS:
        assert contrast(getattr(theme, role), getattr(theme, ground)) >= 4.5, ground


@THEMES
def test_text_on_the_accent_is_readable(theme: Theme) -> None:
    assert contrast(theme.accent_text, theme.accent) >= 4.5


@THEMES
def test_code_is_readable_in_diffs_and_regions(theme: Theme) -> None:
    tints = [theme.tint(getattr(theme, f"region_{name}"), 0.18) for name in REGIONS]
    grounds = [theme.surface, theme.current_line, *tints, *(getattr(theme, name) for name in DIFFS)]
    for kind, colour in theme.tokens.items():
        worst = min(contrast(colour, ground) for ground in grounds)
        assert worst >= 4.5, (kind, colour, worst)


@THEMES
def test_marks_of_regions_stand_out_from_whatever_they_lie_on(theme: Theme) -> None:
    for name in REGIONS:
        colour = getattr(theme, f"region_{name}")
        for ground in (*(getattr(theme, each) for each in GROUNDS), theme.tint(colour, 0.18)):
            assert contrast(colour, ground) >= 3.0, (name, ground)


@THEMES
def test_what_marks_a_selection_or_the_focus_stands_out(theme: Theme) -> None:
    for ground in GROUNDS:
        assert contrast(theme.accent, getattr(theme, ground)) >= 3.0, ground
        assert contrast(theme.focus, getattr(theme, ground)) >= 3.0, ground


@THEMES
def test_fields_stand_out_from_what_they_lie_on(qapp: QApplication, theme: Theme) -> None:
    field = QLineEdit()
    wear(theme)
    field.resize(120, 28)
    field.show()
    drawn = colours(field, QRect(0, 10, 3, 4))  # its left edge
    for ground in (theme.background, theme.surface):
        assert max(contrast(colour, ground) for colour in drawn) >= 3.0, ground


def colours(widget: QWidget, rect: QRect) -> set[str]:
    """Every colour that is drawn in a part of a widget."""
    image = widget.grab(rect).toImage()
    return {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}


def outstanding(after: set[str], before: set[str], ground: str) -> bool:
    return any(contrast(colour, ground) >= 3.0 for colour in after - before)


@pytest.fixture
def styled(qapp: QApplication, request: pytest.FixtureRequest) -> Iterator[Theme]:
    appearance = light(qapp)
    appearance.choose(request.param)
    yield appearance.theme
    appearance.choose("light")


BOTH = pytest.mark.parametrize("styled", ["light", "dark"], indirect=True)
VIEWS = [QTableView, QTreeView, QListView]


def empty_rows() -> QStandardItemModel:
    """Without any text, so that nothing but the selection is drawn."""
    model = QStandardItemModel(3, 2)
    return model


@BOTH
@pytest.mark.parametrize("kind", VIEWS)
def test_a_selected_row_is_told_from_the_others(styled: Theme, kind: type[QTableView]) -> None:
    view, model = kind(), empty_rows()
    view.setModel(model)
    shown(view, 300, 200)
    view.setCurrentIndex(model.index(0, 0))
    view.clearSelection()
    row = view.visualRect(model.index(1, 0)).translated(view.viewport().pos()).adjusted(0, -1, 0, 1)
    before = colours(view, row)
    view.selectionModel().select(model.index(1, 0), view.selectionModel().SelectionFlag.Select)
    assert outstanding(colours(view, row), before, styled.surface)


@BOTH
@pytest.mark.parametrize("kind", [*VIEWS, QPlainTextEdit])
def test_focus_is_seen_on_lists_trees_and_code(styled: Theme, kind: type[QTableView]) -> None:
    holder = QWidget()
    view, other = kind(holder), QLineEdit(holder)
    other.move(0, 170)
    view.resize(280, 160)
    shown(holder, 300, 200)
    edge = QRect(0, 0, 280, 2)
    other.setFocus()
    before = colours(view, edge)
    view.setFocus()
    assert outstanding(colours(view, edge), before, styled.surface)


@BOTH
def test_a_pressed_toggle_is_told_from_the_others(styled: Theme) -> None:
    for role in ("flat", ""):
        button = QToolButton()
        button.setCheckable(True)
        button.setProperty("role", role)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        shown(button, 60, 30)
        before = colours(button, button.rect())
        button.setChecked(True)
        assert outstanding(colours(button, button.rect()), before, styled.surface), role


@BOTH
def test_selected_text_stands_out(styled: Theme) -> None:
    text = QPlainTextEdit("    ")
    shown(text, 200, 60)
    inside = text.rect().adjusted(3, 3, -3, -3)
    before = colours(text, inside)
    text.selectAll()
    assert outstanding(colours(text, inside), before, styled.surface)


@THEMES
def test_every_colour_is_a_hex_string(theme: Theme) -> None:
    colours = [theme.role(name) for name, each in vars(Theme).items() if isinstance(each, Role)]
    assert len(colours) > 20
    assert all(re.fullmatch(r"#[0-9a-f]{6}", colour) for colour in [*colours, *theme.tokens.values(), *theme.palette])


@THEMES
def test_lines_and_their_names_are_readable(theme: Theme) -> None:
    assert len(set(theme.palette)) == len(theme.palette) == 6
    assert all(contrast(colour, theme.surface) >= 4.5 for colour in theme.palette)


def test_both_themes_colour_the_same_tokens() -> None:
    assert set(LIGHT.tokens) == set(DARK.tokens)


def test_heat_runs_from_fail_over_partial_to_pass() -> None:
    assert [LIGHT.heat(value) for value in (0.0, 0.5, 1.0)] == [
        LIGHT.region_fail,
        LIGHT.region_partial,
        LIGHT.region_pass,
    ]


def test_mix_and_contrast_have_their_known_ends() -> None:
    assert mix("#ff0000", "#0000ff", 1.0) == "#ff0000"
    assert mix("#ff0000", "#0000ff", 0.0) == "#0000ff"
    assert round(contrast("#000000", "#ffffff"), 3) == 21.0


def test_style_sheet_leaves_no_role_unfilled() -> None:
    assert "$" not in stylesheet(LIGHT)
    assert stylesheet(LIGHT) != stylesheet(DARK)


def test_a_switch_reaches_what_is_painted_by_hand_shown_or_not(qapp: QApplication) -> None:
    appearance, shown_peek, hidden_peek = light(qapp), CodePeek(), CodePeek()
    shown(shown_peek, 60, 20)
    find = icon("search", "text")
    before = find.pixmap(16, 16).toImage()
    appearance.choose("dark")
    assert current_theme() is DARK and DARK.background in qapp.styleSheet()
    assert qapp.palette().window().color().name() == DARK.background
    for peek in (shown_peek, hidden_peek):
        assert peek.grab().toImage().pixelColor(2, 2).name() == DARK.gutter
    assert find.pixmap(16, 16).toImage() != before
    appearance.choose("light")
    assert current_theme() is LIGHT
    assert shown_peek.grab().toImage().pixelColor(2, 2).name() == LIGHT.gutter
    assert find.pixmap(16, 16).toImage() == before


DESTROYED = """
from PySide6.QtWidgets import QApplication, QLabel
from rtc_inspector.ui.style.appearance import Appearance
app = QApplication([])
appearance = Appearance(app, "light")
before = QLabel("styled, and never shown")
with appearance.laid_aside():
    within = QLabel("made without the style sheet")
del before, within
appearance.choose("dark")
"""


def test_a_widget_that_is_gone_is_not_styled() -> None:
    environment = {**os.environ, "MALLOC_PERTURB_": "165"}  # what is freed is overwritten, so that reading it fails
    ended = subprocess.run([sys.executable, "-c", DESTROYED], env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_an_unknown_theme_is_refused(qapp: QApplication) -> None:
    with pytest.raises(ValueError):
        light(qapp).choose("sepia")


def test_fixed_text_follows_the_size_of_all_text(qapp: QApplication) -> None:
    appearance, peek = light(qapp), CodePeek()
    before = peek.font().pointSizeF()
    appearance.grow(1.5)
    later = CodePeek()
    assert (peek.font().pointSizeF(), later.font().pointSizeF()) == (1.5 * before, 1.5 * before)
    appearance.grow(1.0)
    assert peek.font().pointSizeF() == before
