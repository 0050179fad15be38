"""The round-trip panel over stored rows: what it says, keys, live text, updates in place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from stored_run import StoredRun, shown, stored_run
from themes import wear
from waiting import wait_until

from rtc_inspector.core.store.rows import ItemRow, SampleRow
from rtc_inspector.ui.diff.lines import level
from rtc_inspector.ui.panels.pieces import Badge
from rtc_inspector.ui.panels.roundtrip import AT_ONCE, CARET, RoundTripPanel, SampleCard, WritingCard
from rtc_inspector.ui.style.theme import DARK


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoredRun]:
    with stored_run(Path(tmp_path_factory.mktemp("trace"))) as run:
        yield run


@pytest.fixture
def panel(qapp: QApplication) -> Iterator[RoundTripPanel]:
    made = RoundTripPanel()
    shown(made, 380, 700)
    yield made
    made.close()
    made.deleteLater()


def show_all(panel: RoundTripPanel, item: ItemRow, samples: Sequence[SampleRow]) -> None:
    panel.set_trace(item, samples)
    wait_until(lambda: [card.sample for card in panel.cards] == list(samples), what="for the last cards")


def badges(card: SampleCard) -> list[str]:
    return [badge.text for badge in card.findChildren(Badge) if badge.text]


def writing(panel: RoundTripPanel) -> list[str]:
    return [card.text.text() for card in panel.findChildren(WritingCard) if card.isVisible()]


def test_without_a_region_it_says_what_to_do(panel: RoundTripPanel) -> None:
    assert panel._empty.isVisible()
    assert "No regions yet" in panel._empty.accessibleName()
    panel.expect(True)
    assert "Pick a region" in panel._empty.accessibleName()


def test_cards_stand_in_the_order_of_the_samples(panel: RoundTripPanel, stored: StoredRun) -> None:
    item = stored.admitted()
    samples = stored.samples(item)
    show_all(panel, item, samples)
    QApplication.processEvents()
    assert [card.sample for card in panel.cards] == samples
    tops = [card.y() for card in panel.cards]
    assert tops == sorted(tops) and len(set(tops)) == 7
    assert [card.sample.role for card in panel.cards][:2] == ["forward", "backward"]


def test_many_cards_are_made_a_few_at_a_time_and_stand_in_order(panel: RoundTripPanel, stored: StoredRun) -> None:
    item, first = stored.admitted(), stored.samples(stored.admitted())[0]
    samples = [replace(first, id=1000 + index, index=index) for index in range(5 * AT_ONCE)]
    chosen: list[int] = []
    panel.sample_selected.connect(chosen.append)
    panel.set_trace(item, samples)
    assert len(panel.cards) == AT_ONCE, "more at once would keep keys and clicks waiting"
    panel.select(samples[-1].id)
    assert panel.selected == samples[0].id
    wait_until(lambda: panel.selected == samples[-1].id)
    assert [card.sample for card in panel.cards] == samples
    QApplication.processEvents()
    tops = [card.y() for card in panel.cards]
    assert tops == sorted(tops) and len(set(tops)) == len(tops)
    newest = [*samples[:3], replace(first, id=2000), *samples[3:]]
    panel.set_trace(item, newest)
    assert [card.sample for card in panel.cards] == newest, "what is shown already costs no turn"
    panel.set_trace(item, [replace(each, error="again") for each in newest])
    panel.set_trace(None, [])
    panel.set_trace(replace(item, id=item.id + 1), samples[:1])
    QApplication.processEvents()
    assert [card.sample for card in panel.cards] == samples[:1], "nothing is left of the item before"
    assert chosen == [samples[0].id, samples[-1].id, samples[0].id]


def test_verdicts_have_sign_word_and_count(panel: RoundTripPanel, stored: StoredRun) -> None:
    expected = {"pass": "✓ PASS", "fail": "✗ FAIL 1 of 3", "timeout": "◷ TIMEOUT", "syntax-error": "⊘ SYNTAX ERROR"}
    for outcome, text in expected.items():
        sample = stored.code_with(outcome)
        show_all(panel, stored.reader.item(sample.item_id), stored.reader.samples(sample.item_id))
        card = next(card for card in panel.cards if card.sample.id == sample.id)
        assert badges(card) == [text]
        assert text in card.accessibleName()


def test_what_was_odd_stands_beside_the_verdict(panel: RoundTripPanel, stored: StoredRun) -> None:
    sample = stored.code_with("pass")
    assert sample.verdict is not None
    odd = replace(sample, verdict=replace(sample.verdict, flags=("frames", "subprocess")))
    panel.set_trace(stored.reader.item(sample.item_id), [odd])
    (card,) = panel.cards
    assert badges(card) == ["✓ PASS", "⚑ frames, subprocess"]
    assert "frames" in card.accessibleName()


def test_recitation_is_a_warning_from_thirty_per_cent(panel: RoundTripPanel, stored: StoredRun) -> None:
    item = stored.admitted()
    first, *rest = stored.samples(item)
    for share, said in ((0.29, []), (0.3, ["⚠ recites 0.30"]), (0.71, ["⚠ recites 0.71"])):
        panel.set_trace(item, [replace(first, recitation=share), *rest])
        assert badges(panel.cards[0]) == said


def test_human_cut_and_shortened_samples_are_marked(panel: RoundTripPanel, stored: StoredRun) -> None:
    item = stored.admitted()
    first, *rest = stored.samples(item)
    panel.set_trace(item, [replace(first, author="Ada", finish_reason="length", truncated=True, recitation=0.0), *rest])
    assert badges(panel.cards[0]) == ["✎ by Ada", "⚠ cut at length limit", "⚠ file shortened"]


def test_the_first_reconstruction_is_chosen_and_said_once(panel: RoundTripPanel, stored: StoredRun) -> None:
    chosen: list[int] = []
    panel.sample_selected.connect(chosen.append)
    item = stored.admitted()
    samples = stored.samples(item)
    panel.set_trace(item, samples)
    panel.set_trace(item, samples)
    assert chosen == [samples[1].id]
    assert panel.cards[1].marked


def test_arrow_keys_walk_the_cards(panel: RoundTripPanel, stored: StoredRun) -> None:
    item = stored.admitted()
    show_all(panel, item, stored.samples(item))
    chosen: list[int] = []
    panel.sample_selected.connect(chosen.append)
    panel.cards[1].setFocus()
    ids = [card.sample.id for card in panel.cards]
    for key in (Qt.Key.Key_Down, Qt.Key.Key_End, Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Home, Qt.Key.Key_Up):
        QTest.keyClick(QApplication.focusWidget(), key)
    assert chosen == [ids[2], ids[6], ids[5], ids[0]]
    assert QApplication.focusWidget() is panel.cards[0]


def test_only_the_chosen_card_is_in_the_tab_order(panel: RoundTripPanel, stored: StoredRun) -> None:
    item = stored.admitted()
    panel.set_trace(item, stored.samples(item))
    panel.describe.setFocus()
    QTest.keyClick(panel.describe, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is panel.cards[1]


def test_a_click_chooses(panel: RoundTripPanel, stored: StoredRun) -> None:
    item = stored.admitted()
    panel.set_trace(item, stored.samples(item))
    QApplication.processEvents()
    chosen: list[int] = []
    panel.sample_selected.connect(chosen.append)
    QTest.mouseClick(panel.cards[2], Qt.MouseButton.LeftButton)
    assert chosen == [panel.cards[2].sample.id]


def test_an_update_keeps_cards_choice_and_focus(panel: RoundTripPanel, stored: StoredRun) -> None:
    item = replace(stored.admitted(), state="running")
    samples = stored.samples(item)
    panel.set_trace(item, [samples[0], replace(samples[1], verdict=None), samples[-1]])
    before = panel.cards
    panel.select(samples[-1].id)
    before[2].setFocus()
    assert badges(before[1]) == ["… judging"]
    show_all(panel, item, samples)
    assert panel.cards[0] is before[0] and panel.cards[1] is before[1] and panel.cards[6] is before[2]
    assert badges(before[1]) != ["… judging"]
    assert panel.selected == samples[-1].id
    assert QApplication.focusWidget() is before[2]


def test_text_being_written_shows_at_once_and_gives_way_to_its_sample(panel: RoundTripPanel, stored: StoredRun) -> None:
    item = replace(stored.admitted(), state="running")
    samples = stored.samples(item)
    panel.set_trace(item, [])
    panel.append_text(item.id, "forward", 0, "If the value ")
    panel.append_text(item.id, "forward", 0, "lies outside")
    assert writing(panel) == ["If the value lies outside" + CARET]
    wait_until(lambda: writing(panel) == ["If the value lies outside "], what="for the caret to blink")
    panel.set_trace(item, samples[:1])
    assert writing(panel) == []
    panel.append_text(item.id, "backward", 0, "if value", parent=samples[0].id)
    panel.append_text(item.id, "backward", 0, "return", parent=samples[0].id + 1000)
    assert writing(panel) == ["if value" + CARET, "return" + CARET]
    panel.set_trace(item, samples[:2])
    assert writing(panel) == ["return" + CARET]
    panel.end_writing()
    assert writing(panel) == []


def test_text_of_another_region_waits_until_that_region_is_shown(panel: RoundTripPanel, stored: StoredRun) -> None:
    first, second = [item for item in stored.items if item.admitted][:2]
    panel.set_trace(first, [])
    panel.append_text(second.id, "forward", 1, "Add up")
    assert writing(panel) == []
    panel.set_trace(second, [])
    assert writing(panel) == ["Add up" + CARET]


def test_dropped_and_waiting_regions_say_why_there_is_nothing(panel: RoundTripPanel, stored: StoredRun) -> None:
    panel.set_trace(stored.dropped(), [])
    assert "no test notices that it is gone" in panel._state.text()
    panel.set_trace(replace(stored.admitted(), state="waiting"), [])
    assert "waits for its turn" in panel._state.text()


def test_the_header_names_place_scores_and_tests(panel: RoundTripPanel, stored: StoredRun) -> None:
    item = stored.admitted()
    item = replace(item, measures={**item.measures, "rtc": 1 / 3, "lift": -0.25})
    panel.set_trace(item, stored.samples(item))
    header = panel._header
    assert header._place.text() == f"{item.path}:{item.start_line}–{item.end_line}"
    assert [badge.text for badge in header._badges] == ["RTC 0.33", "lift -0.25", "3 tests", "", "", ""]
    panel.set_trace(replace(item, extra=True), stored.samples(item))
    assert header._badges[-1].text == "✎ by hand, not counted"


def test_a_region_whose_lines_stand_twice_is_marked(panel: RoundTripPanel, stored: StoredRun) -> None:
    item = stored.admitted()
    for facets, marked in ({}, False), ({"copy": "also elsewhere in the file"}, True):
        panel.set_trace(replace(item, facets=facets), stored.samples(item))
        said = [badge.text for badge in panel.findChildren(Badge) if badge.text]
        assert ("⚠ also elsewhere in the file" in said) == marked


def test_describing_by_hand_begins_from_the_chosen_words(panel: RoundTripPanel, stored: StoredRun) -> None:
    asked: list[tuple[int, str]] = []
    panel.description_written.connect(lambda number, text: asked.append((number, text)))
    item = stored.admitted()
    samples = stored.samples(item)
    panel.set_trace(item, samples)
    panel.describe.setFocus()
    QTest.keyClick(panel.describe, Qt.Key.Key_Space)
    assert panel.own.text.hasFocus()
    assert panel.own.text.toPlainText() == samples[0].text
    QTest.keyClicks(panel.own.text, "Clamp it.")
    QTest.keyClick(panel.own.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert asked == [(item.id, "Clamp it.")]
    QTest.keyClick(panel.own.text, Qt.Key.Key_Escape)
    assert not panel.own.isVisible()
    assert panel.cards[1].hasFocus()


def test_nothing_written_cannot_be_sent_and_a_dropped_region_not_described(
    panel: RoundTripPanel, stored: StoredRun
) -> None:
    item = stored.admitted()
    panel.set_trace(item, stored.samples(item))
    panel.write_description()
    panel.own.text.setPlainText("  ")
    assert not panel.own.go.isEnabled()
    panel.set_trace(stored.dropped(), [])
    assert not panel.own.isVisible()
    assert not panel.describe.isEnabled()


def test_a_persons_words_stand_after_the_models_and_say_so(panel: RoundTripPanel, stored: StoredRun) -> None:
    item = stored.admitted()
    samples = stored.samples(item)
    own = replace(samples[0], id=9001, index=3, author="Ann", finish_reason="written")
    show_all(panel, item, [*samples[:-1], own, samples[-1]])
    assert badges(panel.cards[6]) == ["✎ by Ann"]
    assert panel.cards[6]._cost.text() == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("if a:\n            b()", ["if a:", "    b()"]),
        ("a = [\n            1,\n        ]", ["a = [", "    1,", "]"]),
        ("if a:\n            b()\n        else:\n            c()", ["if a:", "    b()", "else:", "    c()"]),
        ("a = 1\n        if a:\n            b()", ["a = 1", "if a:", "    b()"]),
        ("with a:\n            b()\n        c()", ["with a:", "    b()", "c()"]),
    ],
)
def test_the_first_line_stands_where_it_belongs(text: str, shown: list[str]) -> None:
    assert level(tuple(text.split("\n"))) == shown


def test_long_texts_never_widen_the_panel(panel: RoundTripPanel, stored: StoredRun) -> None:
    item = replace(stored.admitted(), path="a/" * 60 + "module.py")
    first, *rest = stored.samples(item)
    long = replace(
        first,
        extraction=replace(first.extraction, text="word " * 200),
        truncated=True,
        finish_reason="length",
        recitation=0.9,
    )
    panel.set_trace(item, [long, *rest])
    QApplication.processEvents()
    assert panel._list.width() <= panel.width()


def test_the_dark_theme_reaches_every_card(panel: RoundTripPanel, stored: StoredRun) -> None:
    item = stored.admitted()
    panel.set_trace(item, stored.samples(item))
    wear(DARK)
    card = panel.cards[2]
    assert card.grab().toImage().pixelColor(card.width() - 20, card.height() - 4).name() == DARK.surface
