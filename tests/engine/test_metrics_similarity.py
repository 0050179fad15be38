"""Text and tree similarity: known figures, edges, and hostile candidates."""

from __future__ import annotations

import ast
import inspect
import itertools
import random

import pytest

from rtc_inspector.core.metrics.similarity import (
    bleu,
    chrf,
    code_scores,
    edit_similarity,
    exact_match,
    same_syntax_tree,
    syntax_tree,
)
from rtc_inspector.core.store import reader

REGION = "if value < low:\n        return low\n    if value > high:\n        return high"
NAMES = {"exact_match", "exact_match_strict", "edit_sim", "bleu", "chrf", "same_ast"}


def test_equal_code_scores_one_everywhere() -> None:
    assert code_scores(REGION, REGION) == dict.fromkeys(NAMES, 1.0)


def test_empty_texts_are_defined() -> None:
    assert code_scores("", "") == dict.fromkeys(NAMES, 1.0)
    assert code_scores("", REGION) == dict.fromkeys(NAMES, 0.0)
    assert code_scores(REGION, "") == dict.fromkeys(NAMES, 0.0)


@pytest.mark.parametrize(
    ("candidate", "reference", "same"),
    [
        ("x = 1  \ny = 2\t\n\n", "x = 1\ny = 2", 1.0),
        ("x = 1\r\ny = 2\r", "x = 1\ny = 2\n", 1.0),
        ("x = 1\n\ny = 2", "x = 1\ny = 2", 0.0),
        ("  x = 1", "x = 1", 0.0),
        ("x = 1", "X = 1", 0.0),
    ],
)
def test_exact_match_forgives_white_space_at_ends_alone(candidate: str, reference: str, same: float) -> None:
    assert exact_match(candidate, reference) == same
    assert code_scores(candidate, reference)["exact_match_strict"] == 0.0


def levenshtein(first: str, second: str) -> int:
    """By the recurrence itself."""
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        left, row[0] = row[0], i
        for j, b in enumerate(second, 1):
            left, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, left + (a != b))
    return row[-1]


def test_edit_similarity_is_one_minus_distance_over_the_longer() -> None:
    choose = random.Random(5)
    for _ in range(50):
        first, second = ("".join(choose.choices("ab (\n", k=choose.randint(0, 12))) for _ in range(2))
        longer = max(len(first), len(second))
        expected = 1 - levenshtein(first, second) / longer if longer else 1.0
        assert edit_similarity(first, second) == pytest.approx(expected)


def test_bleu_cuts_code_into_words_and_signs() -> None:
    """One of nine tokens differs, and so do the n-grams it lies in; equal lengths, so no brevity penalty."""
    reference, candidate = "total = prices.sum() + tax", "total = values.sum() + tax"
    grams = [8 / 9, 6 / 8, 4 / 7, 3 / 6]
    product = 1.0
    for share in grams:
        product *= share
    assert bleu(candidate, reference) == pytest.approx(product**0.25)
    assert bleu("a.b(c)", "a . b ( c )") == 1.0
    assert bleu("x", "x") == 1.0 and bleu("x", "y") == pytest.approx(0.0)


def test_chrf_is_the_f_score_of_character_n_grams() -> None:
    """`abcd` and `abce`: precision and recall 3/4, 2/3, 1/2, 0 for n = 1 to 4; longer n-grams do not occur."""
    assert chrf("abcd", "abce") == pytest.approx((3 / 4 + 2 / 3 + 1 / 2 + 0) / 4)
    assert chrf("a b c d", "abcd") == 1.0


@pytest.mark.parametrize(
    "candidate",
    [
        "if value<low:\n    return low\nif value > high:\n    return (high)",
        "    if value < low:\n        return low  # under\n    if value > high:\n        return high\n",
        "if value < low: return low\n    if value > high:\n      return high",
    ],
)
def test_layout_and_comments_leave_the_tree_alone(candidate: str) -> None:
    assert same_syntax_tree(candidate, REGION)


@pytest.mark.parametrize(
    ("candidate", "reference"),
    [
        ("if value <= low:\n        return low\n    if value > high:\n        return high", REGION),
        ("x = 'a  b'", "x = 'a b'"),
        ("x = 1", "x = 1.0"),
        ("a = 1\nb = 2", "b = 2\na = 1"),
        ("if a:\n    b()\nc()", "if a:\n    b()\n    c()"),
        ("return (", "return ("),
        ("this is no code", "this is no code"),
    ],
)
def test_other_code_and_no_code_are_not_the_same_tree(candidate: str, reference: str) -> None:
    assert not same_syntax_tree(candidate, reference)


def test_a_region_of_any_block_parses_as_it_stands() -> None:
    """Every statement of a real module, cut as regions are: without the first line's indentation."""
    text = inspect.getsource(reader)
    lines = text.splitlines(keepends=True)
    statements = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    assert len(statements) > 100
    for node in statements:
        assert node.end_lineno is not None
        block = "".join(lines[node.lineno - 1 : node.end_lineno])
        if block.lstrip().startswith("elif") or getattr(node, "decorator_list", None):
            continue
        assert syntax_tree(block.lstrip(" ")) == ast.dump(node), block


HOSTILE = {
    "nul": "x = 1\x00",
    "surrogate": "x = '\udc80'",
    "bad escape": "x = '\\d'",
    "deep minus": "-" * 20_000 + "1",
    "deep brackets": "[" * 5_000 + "]" * 5_000,
    "long chain": "a" + ".b" * 20_000,
    "long sum": "a+" * 20_000 + "1",
    "huge": "x = 1\n" * 40_000,
    "right to left": "x = 'אבג' # 😀",
    "only white": " \t\n\r\n\x0c",
    "tabs and blanks": "if a:\n\tb\n        c",
    "line separator": "x = 1\u2028y = 2\x85z",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_candidate_makes_a_metric_raise(name: str) -> None:
    text = HOSTILE[name]
    for candidate, reference in itertools.permutations([text[:3_000], REGION], 2):
        scores = code_scores(candidate, reference)
        assert scores.keys() == NAMES
        assert all(0.0 <= value <= 1.0 for value in scores.values())
    assert same_syntax_tree(text, REGION) is False
    assert syntax_tree(text) is None or isinstance(syntax_tree(text), str)
