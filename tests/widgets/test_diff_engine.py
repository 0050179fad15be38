"""The diff engine: alignment, pairing, marks, recognition of equal trees, fall-backs."""

from __future__ import annotations

import random
import time

import pytest

from rtc_inspector.ui.diff.lines import split
from rtc_inspector.ui.diff.rows import MOST_LINES, Kind, PairLines, TextDiff, compare, marks, patch


def kinds(diff: TextDiff) -> str:
    signs = {Kind.EQUAL: "=", Kind.CHANGED: "~", Kind.INSERTED: "+", Kind.DELETED: "-"}
    return "".join(signs[row.kind] for row in diff.rows)


def forms(diff: TextDiff) -> list[bool]:
    """Whether each hunk is mere form."""
    return [all(row.same_tree or row.kind is Kind.EQUAL for row in diff.rows[h.start : h.stop]) for h in diff.hunks]


def side(diff: TextDiff, name: str) -> list[str]:
    cells = [getattr(row, name) for row in diff.rows]
    return [cell.text for cell in cells if cell is not None]


def test_a_changed_line_stands_beside_what_it_became() -> None:
    diff = compare("a = 1\nlimit = old + 1\nreturn a", "a = 1\n# why\nlimit = new + 1\nreturn a")
    assert kinds(diff) == "=+~="
    row = diff.rows[2]
    assert row.left is not None and row.right is not None
    assert (row.left.text, row.left.marks) == ("limit = old + 1", ((8, 11),))
    assert (row.right.text, row.right.marks) == ("limit = new + 1", ((8, 11),))


@pytest.mark.parametrize("seed", range(30))
def test_rows_hold_every_line_of_both_texts_in_order(seed: int) -> None:
    rnd = random.Random(seed)
    words = ["x = 1", "", "    return y", "for a in b:", "pass", "é = '😀'"]
    left = [rnd.choice(words) for _ in range(rnd.randrange(40))]
    right = [rnd.choice(words) if rnd.random() < 0.3 else line for line in left if rnd.random() < 0.9]
    diff = compare("\n".join([*left, ""]), "\n".join([*right, ""]))
    assert side(diff, "left") == left
    assert side(diff, "right") == right
    numbers = [row.left.number for row in diff.rows if row.left]
    assert numbers == list(range(len(left)))
    for row in diff.rows:
        assert (row.kind is Kind.EQUAL) == bool(row.left and row.right and row.left.text == row.right.text)


def test_hunks_cover_exactly_the_changed_rows() -> None:
    diff = compare("a\nb\nc\nd\ne", "a\nB\nc\nd\ne\nf")
    assert list(diff.hunks) == [range(1, 2), range(5, 6)]


def test_marks_are_tokens_not_characters() -> None:
    left, right = "total = count_items(box)", "total = count_boxes(box)"
    assert marks(left, right) == (((8, 19),), ((8, 19),))


def test_marks_cover_whole_lines_that_share_little() -> None:
    assert marks("    return 1", "    raise ValueError(x)") == (((4, 12),), ((4, 23),))


def test_a_line_of_thousands_of_tokens_is_marked_whole_and_at_once() -> None:
    left, right = "[" + "1, " * 20_000 + "]", "[" + "2, " * 20_000 + "]"
    started = time.process_time()
    assert marks(left, right) == (((0, len(left)),), ((0, len(right)),))
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("original", "candidate"),
    [
        ("x = 'a'\nreturn x", 'x = "a"\nreturn (x)'),
        ("a = f(x,\n      y)", "a = f(x, y,)"),
        ("x = 1\n    y = 2\n    return x", "x = 1\n    # now y\n\n    y = 0x2\n    return x"),
    ],
)
def test_form_alone_is_the_same_tree(original: str, candidate: str) -> None:
    diff = compare(original, candidate)
    assert diff.same_tree
    assert diff.hunks and all(forms(diff))


@pytest.mark.parametrize(
    ("original", "candidate"),
    [
        ("if a:\n    b()\n    c()", "if a:\n    b()\nc()"),
        ('s = """a\nb  c\n"""', 's = """a\nb c\n"""'),
        ('s = """\n# a\n"""', 's = """\n# b\n"""'),
        ("x = 1", "x = (1"),
        ("x = (a,)", "x = (a)"),
        ("for x in f(\n    a, b\n):\n    g()\n    h()", "for x in f(\n    (a, b)\n):\n    g()\n    i()"),
    ],
)
def test_meaning_changed_is_not_the_same_tree(original: str, candidate: str) -> None:
    diff = compare(original, candidate)
    assert not diff.same_tree
    assert not any(forms(diff))


def test_one_hunk_may_be_form_while_another_is_not() -> None:
    diff = compare("x = 'a'\ny = 1\nz = 2", 'x = "a"\ny = 1\nz = 3')
    assert not diff.same_tree
    assert forms(diff) == [True, False]


def test_no_claim_about_trees_outside_python() -> None:
    diff = compare("x = 'a'", 'x = "a"', python=False)
    assert not diff.same_tree
    assert forms(diff) == [False]


def test_parsing_hostile_text_warns_nobody() -> None:
    diff = compare("x = '\\d' is 1", "x = '\\d'  is 1")
    assert diff.same_tree
    assert not compare("x = 1\0", "(" * 5000).same_tree


def test_line_breaks_are_set_aside_and_said() -> None:
    diff = compare("a\r\nb\r\n", "a\nb")
    assert not diff.hunks
    assert diff.notes == ("Line breaks differ: CRLF and LF.", "Only the original ends with a line break.")


def test_form_feeds_do_not_break_lines() -> None:
    assert split("a\x0cb\u2028c\nd").texts == ("a\x0cb\u2028c", "d")


def test_empty_sides() -> None:
    assert kinds(compare("", "a\nb")) == "++"
    assert kinds(compare("a", "")) == "-"
    assert not compare("", "").hunks


def test_unified_form_lists_old_lines_before_new_ones() -> None:
    diff = compare("a\nx1\nx2\nb", "a\ny1\ny2\nb")
    assert patch(diff) == " a\n-x1\n-x2\n+y1\n+y2\n b"
    labels = [line.labels for line in PairLines(diff, (1, 1)).single()]
    assert labels == [("1", "1"), ("2", ""), ("3", ""), ("", "2"), ("", "3"), ("4", "4")]


def long_text(seed: int, lines: int = 10_000) -> list[str]:
    rnd = random.Random(seed)
    return [rnd.choice(["", f"    value_{rnd.randrange(500)} = {rnd.randrange(9)}"]) for _ in range(lines)]


@pytest.mark.parametrize("lines", [10_000, MOST_LINES])
def test_long_texts_are_one_change_and_say_so(lines: int) -> None:
    """Also those of fewer lines whose equal lines make too many pairs."""
    left = long_text(1, lines)
    rnd = random.Random(2)
    right = [line + "  # new" if rnd.random() < 0.05 else line for line in left if rnd.random() < 0.97]
    started = time.process_time()
    diff = compare("\n".join([*left, ""]), "\n".join([*right, ""]))
    assert time.process_time() - started < 1
    assert side(diff, "left") == left and side(diff, "right") == right
    assert len(diff.hunks) == 1
    assert "Long texts: shown as one change, not aligned." in diff.notes
