"""Labelling by keys alone, every keypress stored in a real database before the next."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from factories import fill_store
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from stored_run import shown
from themes import light, wear

from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import ItemRow, SampleRow
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.types import Form, LabelKind, TestResult
from rtc_inspector.ui.labels.controls import ModeButton
from rtc_inspector.ui.labels.panel import LabelsPanel
from rtc_inspector.ui.labels.queue import LabelRequest, LabelSession
from rtc_inspector.ui.style.theme import DARK


@dataclass
class Desk:
    """What the window does around the panel: stores what is asked for, walks the queue."""

    panel: LabelsPanel
    store: Store
    reader: Reader
    item: ItemRow
    queue: list[SampleRow]
    at: int = 0
    asked: list[tuple[int, str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.panel.label_requested.connect(self._store)
        self.panel.next_requested.connect(lambda: self.show(self.at + 1))
        self.panel.previous_requested.connect(lambda: self.show(self.at - 1))
        self.panel.sample_requested.connect(lambda n: self.show([s.id for s in self.queue].index(n)))
        self.show(0)

    def _store(self, given: LabelRequest) -> None:
        self.asked.append((given.sample_id, given.mode, given.note))
        self.store.add_label(given.sample_id, given.mode, self.panel.name, given.note, run_id=given.run_id)
        if given.sample_id == self.queue[self.at].id:
            self.show(self.at)

    def show(self, at: int) -> None:
        self.at = max(0, min(at, len(self.queue) - 1))
        sample = self.queue[self.at]
        self.panel.set_sample(sample, self.reader.labels(sample.id), item=self.item, description="Why.")

    def key(self, *keys: Qt.Key) -> None:
        for key in keys:
            QTest.keyClick(QApplication.focusWidget(), key)

    def labels(self, at: int) -> list[tuple[str, str]]:
        return [(label.mode, label.note) for label in self.reader.labels(self.queue[at].id)]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nobody has labelled, of which each test has a copy."""
    folder = tmp_path_factory.mktemp("labels")
    with Store.open(folder / "runs.db") as store:
        assert fill_store(store, folder / "shop", 3, 5) == 1
    return folder / "runs.db"


@pytest.fixture
def desk(qapp: QApplication, written: Path, tmp_path: Path) -> Iterator[Desk]:
    shutil.copyfile(written, tmp_path / "runs.db")
    with Store.open(tmp_path / "runs.db") as store:
        reader = Reader.open(tmp_path / "runs.db")
        item = next(item for item in reader.items(1) if item.admitted)
        with light(qapp).laid_aside():  # as the window makes it
            panel = LabelsPanel()
        panel.set_name("Ada")
        made = Desk(panel, store, reader, item, [s for s in reader.samples(item.id) if s.role == "backward"])
        shown(panel, 950, 420)
        panel.side.buttons[0].setFocus()
        yield made
        panel.close()
        panel.deleteLater()
        reader.close()


def test_a_digit_labels_and_goes_on(desk: Desk) -> None:
    desk.key(Qt.Key.Key_4)
    assert desk.labels(0) == [("ambiguous", "")]
    assert desk.at == 1
    assert desk.panel.progress.text() == "1 labelled"


def test_without_going_on_the_label_shows_on_its_button(desk: Desk) -> None:
    desk.panel.advance.click()
    desk.panel.side.buttons[0].setFocus()
    desk.key(Qt.Key.Key_2)
    assert [button.mode.id for button in desk.panel.side.buttons if button.isChecked()] == ["line-by-line"]
    assert desk.panel.history.text().startswith("Ada · Line by line · ")
    desk.key(Qt.Key.Key_0)
    assert desk.labels(0) == [("line-by-line", ""), ("", "")]
    assert not any(button.isChecked() for button in desk.panel.side.buttons)


def test_a_note_is_typed_kept_and_stored_with_the_label(desk: Desk) -> None:
    desk.key(Qt.Key.Key_N)
    assert QApplication.focusWidget() is desk.panel.note
    QTest.keyClicks(desk.panel.note, "2 of 3 cases")
    assert desk.asked == []
    desk.key(Qt.Key.Key_Return)
    assert desk.labels(0) == [("", "2 of 3 cases")] and desk.at == 0
    assert desk.panel.history.text().startswith("Ada · note: 2 of 3 cases")
    desk.key(Qt.Key.Key_1)
    assert desk.labels(0)[1:] == [("misses-logic", "2 of 3 cases")]
    assert desk.panel.note.text() == ""


def test_a_note_alone_can_be_undone_and_is_no_label(desk: Desk) -> None:
    desk.key(Qt.Key.Key_N)
    QTest.keyClicks(desk.panel.note, "odd")
    desk.key(Qt.Key.Key_Return)
    assert [label.note for label in desk.reader.current_labels(desk.item.run_id)] == ["odd"]
    assert desk.panel.progress.text() == "0 labelled"
    desk.key(Qt.Key.Key_U)
    assert desk.labels(0) == [("", "odd"), ("", "")]
    assert desk.panel.note.text() == ""
    assert desk.reader.current_labels(desk.item.run_id) == []


def test_a_note_that_is_taken_back_takes_no_label_from_the_count(desk: Desk) -> None:
    desk.key(Qt.Key.Key_1, Qt.Key.Key_N)
    QTest.keyClicks(desk.panel.note, "odd")
    desk.key(Qt.Key.Key_Return, Qt.Key.Key_U)
    assert desk.panel.progress.text() == "1 labelled"
    desk.key(Qt.Key.Key_U)
    assert desk.panel.progress.text() == "0 labelled"


def test_several_modes_are_added_and_taken_away_and_the_next_digit_goes_on(desk: Desk) -> None:
    alt = Qt.KeyboardModifier.AltModifier
    for key in (Qt.Key.Key_1, Qt.Key.Key_4, Qt.Key.Key_2, Qt.Key.Key_4):
        QTest.keyClick(QApplication.focusWidget(), key, alt)
    assert desk.at == 0
    assert [button.mode.id for button in desk.panel.side.buttons if button.isChecked()] == [
        "misses-logic",
        "line-by-line",
    ]
    assert desk.panel.history.text().startswith("Ada · Misses part of the logic + Line by line · ")
    desk.key(Qt.Key.Key_7)
    assert desk.at == 1
    assert desk.labels(0)[-1] == ("misses-logic line-by-line recites", "")
    # Coming back, a digit alone is another label, not one more.
    desk.key(Qt.Key.Key_Left, Qt.Key.Key_3)
    assert desk.labels(0)[-1] == ("hallucinated", "")


def test_nothing_wrong_is_offered_where_passes_are_in_turn_and_stands_alone(desk: Desk) -> None:
    panel = desk.panel
    assert "nothing-wrong" not in [button.mode.id for button in panel.side.buttons]
    desk.key(Qt.Key.Key_G)
    assert desk.asked == []
    panel.offer_clean(True)
    QTest.keyClick(panel, Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier)
    desk.key(Qt.Key.Key_G)
    assert desk.labels(0)[-1] == ("nothing-wrong", "")
    desk.key(Qt.Key.Key_Left)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_2, Qt.KeyboardModifier.AltModifier)
    assert desk.labels(0)[-1] == ("line-by-line", "")


def test_definitions_and_guide_lines_are_whole_where_there_is_room(desk: Desk) -> None:
    panel, first = desk.panel, desk.panel.taxonomy.modes[0]
    guided = replace(first, guide="Also where a branch for None is missing.")
    panel.set_taxonomy(replace(panel.taxonomy, modes=(guided, *panel.taxonomy.modes[1:])))
    button = panel.side.buttons[0]
    assert isinstance(button, ModeButton)
    panel.resize(1200, 900)
    QApplication.processEvents()
    assert button.height() == button.high(button.width(), 8) > button.high(button.width(), 1)
    said = button.laid_out(button.width(), 8).text()
    assert " ".join(said.split()) == f"{first.name} {first.about} → {guided.guide}"
    bottom = panel.side.buttons[-1]
    assert bottom.mapTo(panel, bottom.rect().bottomLeft()).y() < panel.height() - panel.note.height()


@pytest.mark.parametrize("size", [(1068, 480), (946, 437)], ids=["1440x900", "1280x800"])
def test_definitions_are_whole_in_the_desk_of_a_usual_window(desk: Desk, size: tuple[int, int]) -> None:
    """As many pixels as labels have in such a window, with code, lists and round trip around them."""
    desk.panel.resize(*size)
    QApplication.processEvents()
    for button in desk.panel.side.buttons:
        assert isinstance(button, ModeButton)
        assert button.height() == button.high(button.width(), 8), button.text()


def test_a_program_is_read_below_the_words_it_was_asked_for_in(desk: Desk) -> None:
    sample, subject = next(each for each in desk.queue if each.verdict is not None), desk.panel.subject
    asked = replace(desk.item, form=Form.TEXT, text="Return the larger of two numbers.")
    desk.panel.set_sample(None, [])
    desk.panel.set_sample(sample, [], item=asked)
    assert subject.description.text() == asked.text and subject.original.edit.toPlainText() == sample.text
    assert subject.original.title.text() == "Program" and not subject.columns.isVisible()


def test_a_definition_without_room_is_one_line(desk: Desk) -> None:
    for button in desk.panel.side.buttons:
        assert isinstance(button, ModeButton)
        assert {button.laid_out(width, 1).lineCount() for width in range(240, 480)} == {1}, button.text()


def test_large_shows_where_the_code_stands_and_what_failed(desk: Desk) -> None:
    panel, context = desk.panel, desk.panel.subject.context
    sample = next(each for each in desk.queue if each.verdict is not None)
    failed = TestResult("tests/test_a.py::test_one", "failed", "AssertionError: assert 3 == 4", 0.1)
    panel.set_sample(None, [])
    panel.set_sample(sample, [], item=desk.item, around='def f():\n    """Why."""', failing=[failed])
    assert not context.isVisible()
    panel.large.click()
    assert context.place.text().replace("\u200b", "").startswith(desk.item.path)
    assert context.around.edit.toPlainText().startswith("def f():")
    assert "assert 3 == 4" in context.failed.edit.toPlainText() and context.failed.isVisible()
    panel.blind.click()
    assert context.around.isVisible() and not context.failed.isVisible()


def test_a_note_on_a_labelled_sample_is_stored_at_once(desk: Desk) -> None:
    desk.key(Qt.Key.Key_3, Qt.Key.Key_Left, Qt.Key.Key_N)
    QTest.keyClicks(desk.panel.note, "late")
    desk.key(Qt.Key.Key_Return)
    assert desk.labels(0) == [("hallucinated", ""), ("hallucinated", "late")]


def test_escape_leaves_the_note(desk: Desk) -> None:
    desk.key(Qt.Key.Key_N, Qt.Key.Key_Escape, Qt.Key.Key_6)
    assert desk.labels(0) == [("equivalent", "")]


def test_skip_and_back_move_without_a_label(desk: Desk) -> None:
    desk.key(Qt.Key.Key_S, Qt.Key.Key_Right)
    assert desk.at == 2
    desk.key(Qt.Key.Key_Left)
    assert desk.at == 1
    assert desk.asked == []


def test_keys_work_while_the_diff_has_the_focus(desk: Desk) -> None:
    desk.panel.subject.columns.right.setFocus()
    desk.key(Qt.Key.Key_7)
    assert desk.labels(0) == [("recites", "")]
    desk.panel.subject.columns.left.setFocus()
    desk.key(Qt.Key.Key_Left)
    assert desk.at == 0


def test_undo_restores_what_was_there_and_shows_that_sample(desk: Desk) -> None:
    desk.key(Qt.Key.Key_1, Qt.Key.Key_Left, Qt.Key.Key_2, Qt.Key.Key_S)
    assert desk.at == 2
    desk.key(Qt.Key.Key_U)
    assert desk.at == 0
    assert desk.labels(0)[-1] == ("misses-logic", "")
    desk.key(Qt.Key.Key_U)
    assert desk.labels(0)[-1] == ("", "")
    asked = list(desk.asked)
    desk.key(Qt.Key.Key_U)
    assert desk.asked == asked
    assert not desk.panel.undo.isEnabled()


def test_nobody_undoes_what_another_annotator_said(desk: Desk) -> None:
    desk.key(Qt.Key.Key_1)
    desk.panel.set_name("Ben")
    asked = list(desk.asked)
    desk.key(Qt.Key.Key_U)
    assert desk.asked == asked and not desk.panel.undo.isEnabled()


def test_blind_hides_the_verdict_and_the_others_labels(desk: Desk) -> None:
    desk.store.add_label(desk.queue[0].id, "other", "Ben", "")
    desk.show(0)
    desk.key(Qt.Key.Key_O)
    assert desk.panel.badge.text and "Ben" in desk.panel.history.text()
    told: list[bool] = []
    desk.panel.blind_changed.connect(told.append)
    desk.key(Qt.Key.Key_B)
    assert desk.panel.badge.text == "" and "Ben" not in desk.panel.history.text()
    assert told == [True]


def test_each_annotator_sees_their_own_label(desk: Desk) -> None:
    desk.store.add_label(desk.queue[0].id, "other", "Ben", "")
    desk.show(0)
    assert not any(button.isChecked() for button in desk.panel.side.buttons)
    desk.panel.set_name("Ben")
    assert [button.mode.id for button in desk.panel.side.buttons if button.isChecked()] == ["other"]


def test_digits_in_the_annotators_name_are_no_labels(desk: Desk) -> None:
    desk.panel.annotator.setFocus()
    QTest.keyClicks(desk.panel.annotator, "2n")
    assert desk.panel.annotator.text() == "Ada2n"
    assert desk.asked == []


def test_question_mark_shows_all_keys(desk: Desk) -> None:
    assert not desk.panel.keys.isVisible()
    desk.key(Qt.Key.Key_Question)
    assert desk.panel.keys.isVisible()
    desk.key(Qt.Key.Key_Question)
    assert not desk.panel.keys.isVisible()


def test_every_mode_says_its_key(desk: Desk) -> None:
    assert [button.accessibleName()[-5:] for button in desk.panel.side.buttons] == [f"key {n}" for n in range(1, 10)]
    wear(DARK)
    desk.panel.grab()


def test_the_subject_shows_description_and_texts(desk: Desk) -> None:
    subject = desk.panel.subject
    assert subject.description.text() == "Why."
    assert subject.columns.isVisible() and not subject.original.isVisible()
    forward = next(sample for sample in desk.reader.samples(desk.item.id) if sample.role == "forward")
    desk.panel.set_sample(forward, [], item=desk.item)
    assert subject.description.text() == forward.text
    assert subject.original.edit.toPlainText().lstrip() == desk.item.text
    assert not subject.columns.isVisible()


def test_without_a_sample_it_says_what_to_do(qapp: QApplication) -> None:
    panel = LabelsPanel()
    shown(panel)
    assert panel._empty.isVisible() and not panel._body.isVisible()
    QTest.keyClick(panel, Qt.Key.Key_1)
    panel.close()


def test_pace_leaves_breaks_out() -> None:
    now = [0.0]
    session = LabelSession(lambda: now[0])
    for wait in (0, 10, 20, 1000, 15):
        now[0] += wait
        session.add(LabelRequest(1, 1, "other", ""), None, counts=True)
    assert session.text == "5 labelled · 240 an hour"


def adjudicate(desk: Desk) -> None:
    """Ben and Cyd differ on the first sample; Ada decides."""
    desk.store.add_label(desk.queue[0].id, "other", "Ben", "see line 2")
    desk.store.add_label(desk.queue[0].id, "ambiguous", "Cyd", "")
    desk.panel.set_adjudicating(True)
    desk.show(0)


def test_a_key_decides_as_one_annotator_says(desk: Desk) -> None:
    adjudicate(desk)
    said = [(card.annotator.text(), card.mode.text(), card.note.text()) for card in desk.panel.opinions.cards]
    assert said == [("Ben", "Something else", "see line 2"), ("Cyd", "Ambiguous", "")]
    desk.key(Qt.Key.Key_J)
    assert desk.asked == [(desk.queue[0].id, "other", "see line 2")]
    assert desk.at == 1
    desk.key(Qt.Key.Key_K)
    assert len(desk.asked) == 1


def test_a_decision_that_is_changed_takes_the_other_note(desk: Desk) -> None:
    adjudicate(desk)
    desk.store.add_label(desk.queue[0].id, "other", "Ada", "see line 2", kind=LabelKind.ADJUDICATION)
    desk.panel.set_sample(None, [])
    desk.show(0)
    assert desk.panel.note.text() == "see line 2"
    desk.panel.note.setText("see line 3")
    desk.panel.opinions.cards[0].accept.click()
    desk.panel.note.setText("see line 2")
    desk.show(0)
    desk.panel.opinions.cards[1].accept.click()
    assert desk.asked == [(desk.queue[0].id, "other", "see line 3"), (desk.queue[0].id, "ambiguous", "")]


def test_another_mode_can_be_decided_on_and_undone(desk: Desk) -> None:
    adjudicate(desk)
    desk.panel.advance.click()
    desk.panel.side.buttons[0].setFocus()
    desk.key(Qt.Key.Key_1)
    assert desk.asked == [(desk.queue[0].id, "misses-logic", "")]
    desk.key(Qt.Key.Key_U)
    assert desk.asked[-1] == (desk.queue[0].id, "", "")


def test_blind_hides_who_said_what(desk: Desk) -> None:
    adjudicate(desk)
    desk.key(Qt.Key.Key_B)
    names = [card.annotator.text() for card in desk.panel.opinions.cards]
    assert names == ["Annotator 1", "Annotator 2"]
    assert desk.panel.history.text() == ""
    desk.panel.opinions.cards[1].accept.click()
    modes = {card.mode.text() for card in desk.panel.opinions.cards}
    assert modes == {"Something else", "Ambiguous"} and len(desk.asked) == 1


def test_enter_confirms_a_name_and_digits_label_again(desk: Desk) -> None:
    named: list[str] = []
    desk.panel.named.connect(named.append)
    desk.panel.annotator.setFocus()
    desk.panel.annotator.selectAll()
    QTest.keyClicks(desk.panel.annotator, "anna")
    assert desk.panel.name == "Ada" and "Enter: label as anna · Esc: stay Ada" in desk.panel.side.unconfirmed.text()
    desk.key(Qt.Key.Key_Return, Qt.Key.Key_2)
    assert named == ["anna"] and desk.panel.annotator.text() == "anna"
    assert [(label.annotator, label.mode) for label in desk.reader.labels(desk.queue[0].id)] == [
        ("anna", "line-by-line")
    ]
    assert not desk.panel.side.unconfirmed.isVisible()


def test_escape_keeps_the_name_and_digits_label_again(desk: Desk) -> None:
    desk.panel.annotator.setFocus()
    QTest.keyClicks(desk.panel.annotator, "2")
    desk.key(Qt.Key.Key_Escape, Qt.Key.Key_1)
    assert desk.panel.annotator.text() == desk.panel.name == "Ada"
    assert desk.labels(0) == [("misses-logic", "")]


def test_no_label_is_taken_under_a_name_that_is_not_confirmed(desk: Desk) -> None:
    desk.panel.annotator.setFocus()
    QTest.keyClicks(desk.panel.annotator, "m")
    desk.panel.side.buttons[0].click()
    assert desk.asked == []
    assert QApplication.focusWidget() is desk.panel.annotator and desk.panel.side.unconfirmed.isVisible()
    desk.key(Qt.Key.Key_Return, Qt.Key.Key_1)
    assert desk.panel.name == "Adam" and len(desk.asked) == 1


def test_what_others_said_is_shown_after_ones_own_label_or_on_request(desk: Desk) -> None:
    for sample in desk.queue[:2]:
        desk.store.add_label(sample.id, "other", "Ben", "")
    desk.show(0)
    history = desk.panel.history
    assert "Ben" not in history.text() and "by others, too" in history.text()
    desk.key(Qt.Key.Key_3, Qt.Key.Key_Left)
    assert "Ben · " in history.text() and "Ada · " in history.text()
    desk.key(Qt.Key.Key_S)
    assert "Ben" not in history.text()
    desk.key(Qt.Key.Key_O)
    assert "Ben · " in history.text()


def test_several_modes_of_a_sample_count_once(desk: Desk) -> None:
    desk.panel.set_progress(1, 9)
    desk.key(Qt.Key.Key_1)
    for key in (Qt.Key.Key_2, Qt.Key.Key_5, Qt.Key.Key_3):
        QTest.keyClick(desk.panel.side.buttons[0], key, Qt.KeyboardModifier.AltModifier)
    assert "2 labelled" in desk.panel.progress.text()


def test_counts_are_of_one_annotator(desk: Desk) -> None:
    desk.panel.set_progress(1, 9)
    desk.key(Qt.Key.Key_1, Qt.Key.Key_1)
    assert "1 of 9 · 2 labelled" in desk.panel.progress.text()
    desk.panel.set_name("Ben")
    assert "0 labelled" in desk.panel.progress.text()
