"""The tests of an edit's own commit as the stronger oracle, in a real sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from factories import code_row
from projects import SHOP, TESTS, write_shop
from pygit2 import IndexEntry, Oid, Signature, init_repository
from pygit2.enums import FileMode

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import configured
from rtc_inspector.core.settings import EditSettings, OracleSettings, RunSettings
from rtc_inspector.core.trips.protocol import Opened, opener
from rtc_inspector.core.types import Item, Outcome

HALVES = SHOP.replace("subtotal -= subtotal * discount // 100", "subtotal -= subtotal * discount // 200")
WORDY = HALVES.replace('"""Prices."""', '"""Prices and receipts."""')
HALF_TESTS = TESTS.replace("== 180", "== 190")
BROKEN = WORDY.replace("def cheapest", "def dearest")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """Three edits: one that tests notice, one that they do not, one whose commit has no passing tests."""
    root = write_shop(tmp_path_factory.mktemp("history") / "project")
    repository = init_repository(str(root), initial_head="main")
    for code, tests in ((SHOP, TESTS), (HALVES, HALF_TESTS), (WORDY, HALF_TESTS), (BROKEN, HALF_TESTS)):
        (root / "shop.py").write_text(code)
        (root / "tests" / "test_shop.py").write_text(tests)
        repository.index.add_all()
        repository.index.add(IndexEntry("outside", repository.create_blob(b"/etc/passwd"), FileMode.LINK))
        repository.index.add(IndexEntry("module", Oid(hex="1" * 40), FileMode.COMMIT))
        parents = [] if repository.head_is_unborn else [repository.head.target]
        ada = Signature("Ada", "ada@example.org", 1_700_000_000, 0)
        repository.create_commit("HEAD", ada, ada, "A commit", repository.index.write_tree(), parents)
    settings = RunSettings(
        regions=10, edit=EditSettings(tests=True), oracle=OracleSettings(identity_runs=1, cache=False)
    )
    with ExitStack() as stack:
        yield opener("editing")(stack, root, configured(settings, "editing"), lambda _: None, lambda *_: None)


@pytest.fixture(scope="module")
def items(opened: Opened) -> dict[str, Item]:
    drawn = opened.trip.items(10, 0, {}, lambda *_: None)
    return {next(iter(set(item.text.split("\n")) - set((item.old_text or "").split("\n")))): item for item in drawn}


def test_only_edits_that_tests_notice_are_admitted(items: dict[str, Item]) -> None:
    reasons = {line.strip(): item.reason for line, item in items.items()}
    noticed = "subtotal -= subtotal * discount // 200"
    assert reasons.pop(noticed) == ""
    assert "do not notice when it is undone" in reasons.pop('"""Prices and receipts."""')
    assert "tests of its commit cannot be used" in reasons.pop("def dearest(prices):")
    assert set(reasons.values()) == {"its file is no code that tests judge"}, "an edit of the tests themselves"
    (item,) = (item for line, item in items.items() if noticed in line)
    assert "tests/test_shop.py::test_discount" in item.tests
    assert "tests/test_shop.py::test_cheapest" not in item.tests


def test_tests_judge_what_is_no_exact_match(opened: Opened, items: dict[str, Item]) -> None:
    (item,) = (item for item in items.values() if item.admitted)
    trip = opened.trip
    other = item.text.replace("subtotal * discount // 200", "discount * subtotal // 200")
    wrong = item.text.replace("// 200", "// 300")
    assert (trip.judge(item, code_row(item.text)).outcome, trip.judge(item, code_row(item.text)).oracle) == (
        Outcome.PASS,
        "exact-match",
    )
    judged = trip.judge(item, code_row(other))
    assert (judged.outcome, judged.oracle.split("/")[0]) == (Outcome.PASS, "tests")
    assert trip.judge(item, code_row(wrong)).outcome is Outcome.FAIL
    assert trip.judge(item, code_row("    return (")).outcome is Outcome.SYNTAX_ERROR
    copied = trip.judge(item, code_row(item.old_text or ""))
    assert (copied.outcome, copied.detail) == (Outcome.FAIL, "The old code came back unchanged.")
    assert trip.code_scores(item, other)["exact_match"] == 0.0


def test_the_work_tree_is_not_what_is_tested(opened: Opened, items: dict[str, Item]) -> None:
    (item,) = (item for item in items.values() if item.admitted)
    (opened.root / "shop.py").write_text("raise SystemExit\n")
    assert opened.trip.judge(item, code_row(item.text + "\n# the same\n")).outcome is Outcome.PASS


def test_a_file_of_edits_has_no_tests(tmp_path: Path) -> None:
    (tmp_path / "edits.jsonl").write_text('{"old": "a = 1", "new": "a = 2"}')
    settings = RunSettings(edit=EditSettings(file=str(tmp_path / "edits.jsonl"), tests=True))
    with ExitStack() as stack, pytest.raises(UserError, match="no commit whose tests"):
        opener("editing")(stack, tmp_path, settings, lambda _: None, lambda *_: None)
