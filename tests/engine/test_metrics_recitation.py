"""Recitation: quoting is caught however it is laid out, naming is not."""

from __future__ import annotations

import random
import re

import pytest

from rtc_inspector.core.metrics.similarity import SHORTEST_RUN, recitation

CODE = "subtotal = sum(prices)\n    discount = subtotal * rate\n    return subtotal - discount"


@pytest.mark.parametrize(
    "description",
    [
        CODE,
        f"The code does this:\n```python\n{CODE}\n```\nand returns it.",
        " ".join(CODE.split()),
        "subtotal=sum( prices )\ndiscount=subtotal*rate\nreturn subtotal-discount",
        f"First.{CODE}Then {CODE}",
        re.sub(r"\w+", r"`\g<0>`", CODE),
    ],
)
def test_code_quoted_whole_is_recited_whole(description: str) -> None:
    assert recitation(description, CODE) == 1.0


@pytest.mark.parametrize(
    "description",
    [
        "",
        "Adds up the prices and takes the discount off.",
        "Sets `subtotal` to the sum of `prices`, takes `rate` of it as `discount`, and returns the difference.",
        "Uses `sum(prices)` and `self.items`, `foo.bar()`.",
        "discount rate subtotal prices return sum",
    ],
)
def test_naming_is_not_reciting(description: str) -> None:
    assert recitation(description, CODE) == 0.0


def test_a_quoted_line_counts_by_its_characters() -> None:
    line = "discount = subtotal * rate"
    blanks_aside = len("".join(CODE.split()))
    expected = len("discount=subtotal*rate") / blanks_aside
    assert recitation(f"It says {line} , then ends.", CODE + "\nx = 1\n") < expected
    assert recitation("then returns\nreturn subtotal - discount", CODE) == 0.0
    quoted = recitation(f"It computes `{line}\nreturn`.", CODE)
    assert quoted == pytest.approx(len("discount=subtotal*ratereturn") / blanks_aside)


def test_runs_shorter_than_the_bound_do_not_count() -> None:
    tokens = [f"t{number}" for number in range(30)]
    code = " ".join(tokens)
    assert recitation(" ".join(tokens[: SHORTEST_RUN - 1]), code) == 0.0
    assert recitation(" ".join(tokens[:SHORTEST_RUN]), code) == pytest.approx(
        sum(map(len, tokens[:SHORTEST_RUN])) / sum(map(len, tokens))
    )


def test_short_code_counts_only_when_quoted_whole() -> None:
    assert recitation("It does x += 1 here", "x += 1") == 1.0
    assert recitation("It adds 1 to x", "x += 1") == 0.0
    assert recitation("anything", " \n") == 0.0


def test_more_quoting_never_lowers_the_figure() -> None:
    choose = random.Random(2)
    words = CODE.split()
    for _ in range(100):
        start = choose.randrange(len(words))
        part = " ".join(words[start : start + choose.randint(1, 12)])
        before = recitation(part, CODE)
        assert 0.0 <= before <= recitation(f"{part} and also {' '.join(words[:7])}", CODE) <= 1.0
