"""CodeBLEU and CrystalBLEU against the packages' own values on 500 pairs, and what is never computed."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu
from rapidfuzz.distance import Levenshtein

from rtc_inspector.core.generation import TokenVectors
from rtc_inspector.core.metrics.codebleu import (
    NAMES,
    PARTS,
    TooLargeError,
    all_scores,
    codebleu,
    crystalbleu,
    scores,
    shared_ngrams,
)
from rtc_inspector.core.metrics.similarity import bleu, code_scores, f_score, matched

ROOT = Path(__file__).parents[2]
RECORDED = json.loads(gzip.decompress((ROOT / "tests" / "stored" / "metric-values.json.gz").read_bytes()))
"""By scripts/metric_values.py, from `codebleu` 0.7.0 and `crystalbleu` 0.2."""
PAIRS: list[dict[str, Any]] = RECORDED["pairs"]
THEIRS = {
    "codebleu": "codebleu",
    "codebleu_ngram": "ngram_match_score",
    "codebleu_weighted": "weighted_ngram_match_score",
    "codebleu_syntax": "syntax_match_score",
    "codebleu_dataflow": "dataflow_match_score",
}
EMPTY: frozenset[tuple[str, ...]] = frozenset()


def test_codebleu_and_its_parts_are_the_package_s() -> None:
    assert len(PAIRS) == 500
    without_flow = 0
    for pair in PAIRS:
        found = codebleu(pair["candidate"], pair["reference"])
        without_flow += "codebleu_dataflow" not in found
        for name, their in THEIRS.items():
            assert found.get(name, 0.0) == pytest.approx(pair[their], abs=1e-6), (name, pair)
        parts = sum(found.get(name, 0.0) for name in PARTS[2:])
        assert found["codebleu_zero"] == pytest.approx(parts / 4)
    assert without_flow > 10, "references without data flow are among them"


def test_crystalbleu_is_the_package_s() -> None:
    shared = shared_ngrams(pair["reference"] for pair in PAIRS)
    assert sorted(" ".join(gram) for gram in shared) == RECORDED["shared"] and len(shared) == 50
    found = [crystalbleu(pair["candidate"], pair["reference"], shared) for pair in PAIRS]
    assert found == pytest.approx([pair["crystalbleu"] for pair in PAIRS], abs=1e-6)
    assert sum(value == 0 for value in found) > 50, "one order without a match is enough"


@pytest.mark.parametrize(
    ("candidate", "reference", "value"),
    [
        ("def bar ( x ) :\n    return x", "def foo ( x ) :\n    return x", 0.85),
        ("def foo ( x ) :\n    return x * x", "def bar ( x ) :\n    return x", 0.61),
        ("this is nonsense", "def test ( ) :\n pass", 0.25),
        ("def foo ( x ) :\n    return x", "def foo ( x ) :\n    return x", 1.0),
    ],
)
def test_the_authors_own_examples(candidate: str, reference: str, value: float) -> None:
    assert codebleu(candidate, reference)["codebleu"] == pytest.approx(value, abs=0.01)


def test_renaming_a_variable_does_not_change_the_data_flow() -> None:
    """In the package it does, as the names' hashes decide the order of a loop's sources."""
    code = "def f(a, b, c, d):\n    for x in a:\n        b = b + c * d - x + a\n    return b\n"
    for name in ("zebra", "q", "value", "other"):
        assert codebleu(code.replace("c", name), code)["codebleu_dataflow"] == 1.0


def test_scores_do_not_depend_on_the_process() -> None:
    program = (
        "from rtc_inspector.core.metrics.codebleu import codebleu; import json, sys\n"
        "print([codebleu(*pair)['codebleu'] for pair in json.load(sys.stdin)])"
    )
    pairs = json.dumps([(pair["candidate"], pair["reference"]) for pair in PAIRS[:80]])
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            input=pairs,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


@pytest.mark.parametrize(
    "hostile",
    [
        "x = " + "(" * 5_000 + ")" * 5_000,
        "".join(f"{' ' * depth}for a in b:\n" for depth in range(40)) + " " * 40 + "a = b\n",
        "x = 1\n" * 30_000,
    ],
)
def test_what_would_take_for_ever_is_not_defined(hostile: str) -> None:
    with pytest.raises(TooLargeError):
        codebleu(hostile, "x = 1")
    found = scores((hostile, "x = 1", frozenset(NAMES)), EMPTY)
    assert set(NAMES) - set(found) == set(PARTS), "the others are"


def test_without_shared_ngrams_crystalbleu_has_bleu_s_value_where_all_orders_match() -> None:
    code = PAIRS[40]["reference"]
    other = code + "\n    return None"
    assert crystalbleu(other, code, EMPTY) == pytest.approx(bleu(other, code), abs=1e-6)
    assert crystalbleu(code, code, EMPTY) == 1.0 and crystalbleu("", code, EMPTY) == 0.0


def test_many_pairs_on_several_cores_have_the_scores_of_single_ones() -> None:
    shared = shared_ngrams(pair["reference"] for pair in PAIRS)
    wanted = [(pair["candidate"], pair["reference"], frozenset(NAMES)) for pair in PAIRS[:260]]
    found = [row for _, rows in all_scores(wanted, shared, 2) for row in rows]
    assert found == [scores(pair, shared) for pair in wanted]
    plain = {name: found[40][name] for name in code_scores("", "")}
    assert plain == code_scores(PAIRS[40]["candidate"], PAIRS[40]["reference"])


def test_token_vectors_match_greedily() -> None:
    reference = TokenVectors(("a", "b", "("), np.array([[2, 0], [0, 1], [1, 1]], dtype=np.float32))
    candidate = TokenVectors(("a", ")"), np.array([[1, 0], [-1, 0]], dtype=np.float32))
    found = matched(candidate, reference, code=True)
    assert (found["p"], found["r"]) == (1.0, 0.5), "the brackets do not count, and b is like nothing"
    assert found["f1"] == pytest.approx(2 / 3) and found["f3"] == pytest.approx(10 * 0.5 / 9.5)
    text = matched(candidate, reference, code=False)
    assert text["p"] == pytest.approx((1 + 0) / 2), "punctuation counts as in texts"
    assert matched(reference, reference, code=True) == {"p": 1.0, "r": 1.0, "f1": 1.0, "f3": 1.0}
    nothing = TokenVectors(("(",), np.ones((1, 2), dtype=np.float32))
    assert matched(nothing, reference, code=True) == {"p": 0.0, "r": 0.0, "f1": 0.0, "f3": 0.0}
    opposite = TokenVectors(("a",), np.array([[-1, 0]], dtype=np.float32))
    assert matched(opposite, TokenVectors(("a",), -opposite.values), code=True)["f1"] == 0.0, "never below 0"
    assert f_score(0.0, 0.0, 1) == 0.0


def test_what_other_packages_compute_is_theirs_on_the_same_pairs() -> None:
    for pair in PAIRS[::3]:
        candidate, reference = pair["candidate"], pair["reference"]
        found = scores((candidate, reference, frozenset(NAMES) - set(PARTS)), EMPTY)
        longest = max(len(candidate), len(reference))
        distance = Levenshtein.distance(candidate, reference)
        assert found["edit_sim"] == pytest.approx(1 - distance / longest if longest else 1.0, abs=1e-9)
        if candidate.strip() and reference.strip():
            assert found["chrf"] == pytest.approx(sacrebleu.sentence_chrf(candidate, [reference]).score / 100, abs=1e-9)
            words, wanted = (" ".join(re.findall(r"\w+|[^\w\s]", text)) for text in (candidate, reference))
            theirs = sacrebleu.sentence_bleu(words, [wanted], tokenize="none", use_effective_order=True)
            assert found["bleu"] == pytest.approx(theirs.score / 100, abs=1e-9)
        assert found["exact_match_strict"] == float(candidate == reference)


def test_token_vectors_are_matched_by_the_paper_s_formulas_on_the_same_pairs() -> None:
    """Equations 1 to 4, token by token."""
    random = np.random.default_rng(1)
    known: dict[str, np.ndarray[Any, Any]] = {}

    def vectors(text: str) -> TokenVectors:
        tokens = tuple(re.findall(r"\w+|[^\w\s]", text))[:40]
        for token in tokens:
            known.setdefault(token, random.normal(size=6).astype(np.float32))
        rows = np.array([known[token] for token in tokens], dtype=np.float32)
        return TokenVectors(tokens, rows.reshape(len(tokens), 6))

    def similar(one: str, other: str) -> float:
        a, b = known[one].astype(float), known[other].astype(float)
        return max(0.0, float(a @ b / np.sqrt((a @ a) * (b @ b))))

    for pair in PAIRS[::4]:
        made, wanted = vectors(pair["candidate"]), vectors(pair["reference"])
        ours = matched(made, wanted, code=True)
        kept = [[t for t in side.tokens if re.search(r"[A-Za-z0-9+*/&|~-]", t)] for side in (made, wanted)]
        if not kept[0] or not kept[1]:
            assert ours == {"p": 0.0, "r": 0.0, "f1": 0.0, "f3": 0.0}
            continue
        p = sum(max(similar(t, u) for u in kept[1]) for t in kept[0]) / len(kept[0])
        r = sum(max(similar(t, u) for u in kept[0]) for t in kept[1]) / len(kept[1])
        expected = (p, r, 2 * p * r / (p + r) if p + r else 0.0, 10 * p * r / (9 * p + r) if p + r else 0.0)
        assert (ours["p"], ours["r"], ours["f1"], ours["f3"]) == pytest.approx(expected, abs=1e-6)
