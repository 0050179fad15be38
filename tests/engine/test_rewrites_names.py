"""Masking a function's name by syntax tree."""

from __future__ import annotations

import ast

import pytest

from rtc_inspector.core.rewrites.names import generic_variables, mask_name, mask_words
from rtc_inspector.core.trips.benchmark import masked_source
from rtc_inspector.core.types import Span


@pytest.mark.parametrize(
    ("source", "masked"),
    [
        ("def f(n):\n    return f(n - 1) if n else 0\n", "def func(n):\n    return func(n - 1) if n else 0\n"),
        ("def f(n):\n    def g(f): return f\n    return g(n)", "def func(n):\n    def g(f): return f\n    return g(n)"),
        ("é = 'f'; f = f(f=é).f", "é = 'f'; func = func(f=é).f"),
        ("async  def f(): pass", "async  def func(): pass"),
        ("def g():\n    global f\n    f = 1", "def g():\n    global func\n    func = 1"),
        ("def f():\n    f = 1\n    return f", "def func():\n    func = 1\n    return func"),
        ("class A:\n    f = 1\n    g = f", "class A:\n    f = 1\n    g = f"),
        ("class A:\n    def f(self): return f()", "class A:\n    def f(self): return func()"),
        ("def g():\n    from m import f\n    return f", "def g():\n    from m import f\n    return f"),
        ("@f\ndef g(a=f): return lambda f: f", "@func\ndef g(a=func): return lambda f: f"),
        ("def f(n):\r\n    'f f'\r\n    return f(n) # f", "def func(n):\r\n    'f f'\r\n    return func(n) # f"),
        ("def f(n:\n    return f.f(n) # f", "def func(n:\n    return func.f(n) # f"),
        ("f is 'what I want, of f", "func is 'what I want, of func"),
    ],
)  # fmt: skip
def test_only_what_means_the_function_is_masked(source: str, masked: str) -> None:
    assert mask_name(source, "f") == masked


def test_a_name_inside_other_words_survives() -> None:
    source = "def count(items):\n    'Count them.'\n    counted = account(items)\n    return count(items) + counted\n"
    masked = mask_name(source, "count")
    assert masked == source.replace("def count", "def func").replace("return count", "return func")
    ast.parse(masked)
    assert mask_words("count the account: count(1), x.count", "count") == "func the account: func(1), x.count"


@pytest.mark.parametrize(
    "body", ["return solve_it(x) + solve_it(1)", "return (solve_it(x", "words about solve_it, no code"]
)
def test_a_span_stays_with_its_text(body: str) -> None:
    """Also in a program that does not parse, whose names are found by tokens."""
    head = "def solve_it(x):\n    "
    source, span = masked_source(f"{head}{body}\n", Span(len(head), len(head) + len(body)), "solve_it")
    assert source[: span.start] == "def func(x):\n    "
    assert source[span.start : span.end] == body.replace("solve_it", "func")


def test_generic_variables_are_numbered_by_first_appearance() -> None:
    source = (
        "def f(total, items=None, *rest):\n"
        "    global count\n"
        "    import os\n"
        "    try:\n"
        "        for i, total in enumerate(items):\n"
        "            count += os.size(total, items=i)\n"
        "    except ValueError as err:\n"
        "        raise KeyError(err) from err\n"
        "    return [lambda é: é + item.total for item in rest]\n"
    )
    assert generic_variables(source) == (
        "def f(var0, var1=None, *var2):\n"
        "    global count\n"
        "    import os\n"
        "    try:\n"
        "        for var3, var0 in enumerate(var1):\n"
        "            count += os.size(var0, items=var3)\n"
        "    except ValueError as var4:\n"
        "        raise KeyError(var4) from var4\n"
        "    return [lambda var5: var5 + var6.total for var6 in var2]\n"
    )
    assert generic_variables("def f(:") is None and generic_variables("") == ""
