"""Items of any kind in the window: headings without a file, traces of any depth, scores between samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from stored_run import StoredRun, shown, stored_run
from waiting import wait_until

from rtc_inspector.core.kinds import task
from rtc_inspector.ui.panels.roundtrip import RoundTripPanel
from rtc_inspector.ui.presenters import (
    as_known,
    diff_title,
    judged_by_tests,
    presenter,
    role_name,
    sample_name,
    sign_words,
    trace,
)
from rtc_inspector.ui.reading.inspection import by_file
from rtc_inspector.ui.shell.fields import window_words
from rtc_inspector.ui.style.region_state import RegionState, region_state, state_words


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoredRun]:
    with stored_run(Path(tmp_path_factory.mktemp("presenters")), items=8) as run:
        yield run


def test_samples_are_called_as_their_method_calls_them() -> None:
    assert role_name("synthesis", "forward", 1) == "Description 2 (y2)"
    assert role_name("synthesis", "backward") == "Reconstruction (x̂)"
    assert role_name("synthesis", "backward", 1) == "Reconstruction 2 (x̂2)"
    assert role_name("benchmark", "solve", 3) == "Solution 4 (s4)"
    assert role_name("benchmark", "transform") == "transform", "a role the method does not have keeps its own name"
    assert {role_name("editing", role).rpartition(" (")[2][:-1] for role in ("backward", "baseline")} == {
        name.sign for role, name in task("editing").roles.items() if role != "forward"
    }


def test_code_that_no_test_judges_waits_for_no_verdict(stored: StoredRun) -> None:
    code = next(s for s in stored.samples(stored.admitted()) if s.role == "backward")
    bare = replace(code, verdict=None)
    assert judged_by_tests("cosmetic", bare), "a reconstruction is judged"
    assert not judged_by_tests("cosmetic", replace(bare, role="complete")), "a guessed name is scored only"


def test_an_item_without_a_file_is_called_by_its_key(stored: StoredRun) -> None:
    item = stored.admitted()
    assert presenter(item).heading(item).startswith(f"{item.path}:{item.start_line}")
    bare = replace(item, path="", start_line=0, end_line=0, key="HumanEval/7", kind="problem")
    assert presenter(bare).heading(bare) == "HumanEval/7"
    alone = presenter(bare).code_shown(bare, {})
    assert (alone.path, alone.start, alone.end, alone.start_line) == ("HumanEval/7", 0, len(bare.text), 1)
    assert presenter(item).code_shown(item, {}) is item
    assert list(by_file([bare])) == [], "no file without a name in the project tree"


def test_code_beside_its_item_is_called_as_its_method_calls_it(stored: StoredRun) -> None:
    item = replace(stored.admitted(), task="benchmark")
    code = next(s for s in stored.samples(stored.admitted()) if s.role == "backward")
    assert presenter(item).sides_of(item, code, None) == ("original", "reconstruction")
    assert presenter(item).sides_of(item, replace(code, role="solve"), None) == ("original", "solution")
    assert presenter(item).sides_of(item, replace(code, role="solve"), code) == ("reconstruction", "solution")


def test_what_judges_an_item_is_said_by_its_kind(stored: StoredRun) -> None:
    item = replace(stored.admitted(), tests=())
    assert presenter(item).judged(item)[0] == "whole suite"
    edit = replace(item, kind="edit", old_text="a")
    assert presenter(edit).judged(edit)[0] == "exact match"
    many = replace(item, tests=tuple(f"t::{n}" for n in range(15)))
    said, tip = presenter(many).judged(many)
    assert said == "15 tests" and tip.splitlines()[0] == "Covered by:" and tip.endswith("and 3 more")


def test_a_chain_of_any_length_is_shown_as_a_tree(qapp: QApplication, stored: StoredRun) -> None:
    item = stored.admitted()
    words, code = stored.samples(item)[:2]
    chain = []
    for round_ in range(4):
        parent = chain[-1].id if chain else None
        chain.append(replace(words, id=1000 + 2 * round_, parent_id=parent, step=round_, index=0))
        pairs = (("cosine", chain[0].id, 0.75),) if round_ else ()
        chain.append(replace(code, id=1001 + 2 * round_, parent_id=chain[-1].id, step=round_, index=0, pairs=pairs))
    nodes = trace(item, chain)
    assert [node.depth for node in nodes] == list(range(8))
    assert [node.name for node in nodes][:4] == [
        "Description 1 (y1)",
        "Reconstruction (x̂)",
        "Description 2 (y2)",
        "Reconstruction 2 (x̂2)",
    ]
    assert nodes[3].against == ("Cosine 0.75 to Description 1 (y1)",)
    panel = RoundTripPanel()
    shown(panel, 420, 900)
    panel.set_trace(item, chain)
    wait_until(lambda: len(panel.cards) == len(chain), what="for the last cards")
    insets = [card.inset for card in panel.cards]
    assert insets == sorted(insets) and insets[:3] == [0, 20, 40] and insets[-1] == insets[-2], "deep levels share one"
    assert panel.cards[3]._against.text() == "Cosine 0.75 to Description 1 (y1)"
    assert "Cosine 0.75 to Description 1 (y1)" in panel.cards[3].accessibleName()
    assert panel.cards[0].describes and not panel.cards[1].describes
    panel.close()
    panel.deleteLater()


def test_the_name_of_a_diff_has_no_sign(stored: StoredRun) -> None:
    words, code = stored.samples(stored.admitted())[:2]
    assert diff_title("synthesis", code) == "reconstruction"
    assert diff_title("synthesis", replace(code, index=1)) == "reconstruction 2"
    assert sample_name("no such method", words) == "forward"
    swapped = replace(words, role="transform", author="swap", index=3)
    assert sample_name("cosmetic", swapped) == "Variant 4, swap (v4)"
    assert diff_title("cosmetic", swapped) == "variant 4, swap"


def test_files_that_were_written_for_a_run_are_called_as_people_know_them(stored: StoredRun) -> None:
    item = replace(stored.admitted(), kind="problem", key="Pocket/0", path="problems/p_0001.py")
    said = 'first tests/test_p_0001.py::test_002: AssertionError\n  File "problems/p_0001.py", line 2, in add'
    assert as_known(item, said) == 'first test 3 of Pocket/0: AssertionError\n  File "Pocket/0", line 2, in add'
    assert as_known(item, 'File "tests/test_p_0001.py", line 9') == 'File "the tests of Pocket/0", line 9'
    own = replace(item, kind="region", path="shop/problems/p_0001.py")
    assert as_known(own, said) == said


def test_every_sign_has_words(stored: StoredRun) -> None:
    sample = next(each for each in stored.samples(stored.admitted()) if each.role == "forward")
    assert sign_words("synthesis", sample.role) == "y is how papers write a description of a region"
    assert sign_words("chain", sample.role).endswith("its number says where in the chain it stands")
    assert sign_words("of another version", sample.role) == ""


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Its code runs with python3; --python names another interpreter.",
         "Its code runs with python3; “Interpreter” in the run settings names another interpreter."),
        ("Start Docker, or use `--sandbox bubblewrap`.",
         "Start Docker, or use “Sandbox: bubblewrap” in the run settings."),
        ("Widen --min-characters and --max-characters, or add tests.",
         "Widen “Characters” and “Characters of a region at most” in the run settings, or add tests."),
        ("Open another file (on the command line: --db); this one was left.", "Open another file; this one was left."),
        ("Name a database on a disk of this one (--db).", "Name a database on a disk of this one."),
        ("Sample edits (--task editing).", "Sample edits (“Task: editing”)."),
        ("Name it with --backward-model, or leave --cross-chain out.",
         "Name it with “Backward model”, or leave out “Cross broken chains with the other model” in the run settings."),
        ("Name it with --backward-model or --backward-endpoint.", "Name it with “Backward model”."),
        ("Start a run with --seed 1 and the settings of run 1.",
         "Start a run with “Seed: 1” in the run settings and the settings of run 1."),
        ("Give one (--test-command \"make check\").", "Give one (“Test command: make check” in the run settings)."),
        ("--thinking off asks for none.", "“Thinking: off” in the run settings asks for none."),
        ("Run `uv pip install --python \"/opt/x\" ray`.", "Run `uv pip install --python \"/opt/x\" ray`."),
        ("Give --price-read as well.", "Give “Price of a million tokens read” of the model server as well."),
        ("Run `git fetch --refetch` again.", "Run `git fetch --refetch` again."),
    ],
)  # fmt: skip
def test_a_sentence_of_the_window_names_no_option_of_the_command_line(said: str, shown: str) -> None:
    assert window_words(said) == shown


def test_colour_says_correct_or_not_never_alike_or_not(stored: StoredRun) -> None:
    item = stored.admitted()
    for name, value, state in (
        ("synthesis", 1.0, RegionState.PASS),
        ("synthesis", 0.0, RegionState.FAIL),
        ("cosmetic", 0.0, RegionState.UNJUDGED),
        ("directive", 1.0, RegionState.UNJUDGED),
    ):
        shown = replace(item, task=name, measures={task(name).headline: value}, state="done")
        assert region_state(shown) is state
        assert "unjudged" not in state_words(shown)
