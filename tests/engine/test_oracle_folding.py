"""Texts put together from constants are read, however; none may fill the memory of who reads it."""

from __future__ import annotations

import ast
import tracemalloc

import pytest

from core.oracle.inside.folding import folded


def _folded(expression: str) -> str | None:
    return folded(ast.parse(expression, mode="eval").body)


@pytest.mark.parametrize(
    "expression",
    [
        "'__' + 'eq' + '__'",
        "''.join(reversed('__qe__'))",
        "str(''.join(reversed(['__', 'eq', '__'])))",
        "'%s%s' % ('__e', 'q__')",
        "'{}{}'.format('__e', 'q__')",
        "chr(95) + f\"{'_eq'}{chr(95)}_\"",
        "'--eq--'.replace('-', '_')",
        "bytes([95, 95]).decode() + 'eq__'",
    ],
)
def test_a_name_is_read(expression: str) -> None:
    assert _folded(expression) == "__eq__"


@pytest.mark.parametrize(
    "expression",
    [
        "'aaa'" + (".replace('', '" + "a" * 200 + "')") * 8,
        "'" + "b" * 200 + "'" + ".join('abc')" * 20,
        "('%' + '999' + '999' + '999' + 'd') % 1",
        "input() + 'eq__'",
    ],
)
def test_nothing_grows_and_nothing_is_called(expression: str) -> None:
    tracemalloc.start()
    try:
        assert _folded(expression) is None
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
