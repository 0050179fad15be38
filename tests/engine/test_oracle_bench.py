"""How a benchmark's tests are split, and the text that a program's result is known by."""

from __future__ import annotations

import collections
import dataclasses
import enum
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

from rtc_inspector.core.oracle.bench.inside.rtc_recording import Recording, canon, checked, near, reference
from rtc_inspector.core.oracle.bench.project import (
    file_of_tests,
    node_ids,
    program_file,
    program_path,
    split,
    write_project,
)
from rtc_inspector.core.types import Problem, Span

PROGRAM = "def twice(n):\n    return n * 2\n"


def problem(**changes: Any) -> Problem:
    start = PROGRAM.index("return")
    body = Span(start, len(PROGRAM) - 1)
    return Problem("Own/0", 1, "twice", ("twice",), "Twice.", PROGRAM, body, PROGRAM, body, **changes)


CHECK = '''
import math

METADATA = {"author": "us"}


def check(candidate):
    """What is checked."""
    limit = 3

    # a comment
    assert candidate(1) == [
        2
    ][0], "one"
    assert True, "constant"
    assert limit == 3
    for n in range(limit):
        assert candidate(n) == 2 * n
    given = candidate(4); assert given == 8
    assert twice(5) == 10
    if limit:
        assert candidate(6) == 12


check(twice)
'''


def test_each_check_becomes_a_test_of_its_own() -> None:
    parts = split(problem(test=CHECK))
    assert parts.shared == 'import math\nMETADATA = {"author": "us"}'
    setup = '    twice = candidate\n    """What is checked."""\n    limit = 3\n'
    given = "    given = candidate(4)\n"
    assert parts.bodies == (
        setup + "    assert (candidate(1) == [\n        2\n    ][0]), candidate.said()",
        setup + "    for n in range(limit):\n        assert candidate(n) == 2 * n",
        setup + given + "    assert (given == 8), candidate.said()",
        setup + given + "    assert (twice(5) == 10), candidate.said()",
        setup + given + "    if limit:\n        assert candidate(6) == 12",
    )


def test_another_parameter_and_a_check_on_one_line() -> None:
    (body,) = split(problem(test="def check(f): assert f(1) == 2")).bodies
    assert body == "    twice = candidate\n    f = candidate\n    assert (f(1) == 2), candidate.said()"


def test_asserts_are_one_test_each_and_may_need_statements_before() -> None:
    parts = split(
        problem(
            asserts=("assert twice(1) == 2, 'no'", "given = twice(2)\nassert given == 4", "assert 1"), setup="x = 1"
        )
    )
    assert parts.shared == "x = 1"
    assert parts.bodies == (
        "    twice = candidate\n    assert (twice(1) == 2), candidate.said()",
        "    twice = candidate\n    given = twice(2)\n    assert (given == 4), candidate.said()",
    )


def test_no_test_calls_the_program() -> None:
    assert split(problem(test="def check(candidate):\n    assert True\n")).bodies == ()


def run(tests: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, **changes: Any) -> dict[str, str]:
    """Test -> what it records, or the message of what it raises when that is nothing."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(Path(reference.__code__.co_filename).parent))
    folder = tmp_path / "problems"
    folder.mkdir()
    (folder / "__init__.py").touch()
    made = problem(**changes)
    (tmp_path / program_path(made)).write_text(program_file(made, program))
    for name in ("problems", "problems.p_0001", "rtc_recording"):
        monkeypatch.delitem(__import__("sys").modules, name, raising=False)
    space: dict[str, Any] = {"__name__": "test_p_0001"}
    exec(compile(file_of_tests(made), "test_p_0001.py", "exec"), space)  # noqa: S102
    found: dict[str, str] = {}
    for name, test in list(space.items()):
        if name.startswith("test_"):
            recorded: dict[str, str] = {}
            try:
                test(recorded.__setitem__)
            except Exception as error:
                recorded.setdefault("rtc_signature", str(error))
            found[name] = recorded["rtc_signature"]
    return found


ASSERTS = ("assert twice(1) == 2", "assert list(twice(3)) == [6]", "assert abs(twice(None)) > 0")


def test_a_test_records_what_the_program_gave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "def twice(n):\n    if n == 3:\n        return iter([n])\n    return None if n is None else _own(n)\n"
    program += "def _own(n):\n    return n + n\n"
    found = run("", tmp_path, monkeypatch, program, asserts=(*ASSERTS, "assert _own(2) == twice(1)"))
    assert found == {
        "test_000": "pass",
        "test_001": "value iterator [3]",
        "test_002": "value None",
        "test_003": "value 2",
    }


def test_inputs_are_expected_to_give_what_the_reference_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = "def twice(n):\n    return n * 2 + (1e-9 if n > 1 else 1)\n"
    found = run("", tmp_path, monkeypatch, wrong, inputs=("1", "2.5", "7"))
    assert found == {"test_000": "value 3", "test_001": "pass", "test_002": "value 14.000000001"}


def recorded(function: Callable[..., Any], test: Callable[[Any], None]) -> str:
    found: dict[str, str] = {}
    try:
        checked(function)(test)(found.__setitem__)
    except BaseException:
        assert found
    return found["rtc_signature"]


def sort_in_place(values: list[int]) -> None:
    values.sort(reverse=True)


def endless(start: int) -> Iterator[int]:
    while True:
        yield start
        start += 1


def test_what_a_function_changes_counts_when_it_returns_nothing() -> None:
    def test(candidate: Any) -> None:
        values = [2, 1, 3]
        candidate(values)
        assert values == [1, 2, 3], candidate.said()

    assert recorded(sort_in_place, test) == "value None changed ([3, 2, 1], )"
    assert recorded(lambda values: None, test) == "value None"


def test_an_iterator_is_left_to_the_test_and_read_anew_for_the_record() -> None:
    def test(candidate: Any) -> None:
        assert next(candidate(5)) == 4

    said = recorded(endless, test)
    assert said.startswith("value iterator [5, 6, 7") and len(said) < 2000


def test_an_error_is_known_by_its_type_and_message() -> None:
    def boom(n: int) -> None:
        raise KeyError(object() if n else "key")

    def test(candidate: Any) -> None:
        candidate(1)

    said = recorded(boom, test)
    assert said == "error KeyError: <object object at 0x..>"
    assert recorded(lambda n: exit(3), test) == "error SystemExit: 3"
    assert recorded(lambda: None, lambda candidate: candidate(1)).startswith("error TypeError: ")

    def starve(n: int) -> None:
        raise MemoryError

    assert recorded(starve, test) == "memory"
    assert recorded(boom, lambda candidate: int("a")) == "error ValueError: invalid literal for int() with base 10: 'a'"


def test_random_inputs_are_the_same_for_every_program() -> None:
    import random

    drawn: list[float] = []

    def test(candidate: Any) -> None:
        drawn.append(random.random() + numpy.random.rand())

    recorded(len, test)
    recorded(str, test)
    assert drawn[0] == drawn[1]


def test_the_recording_function_passes_for_the_function() -> None:
    proxy: Any = Recording(sort_in_place)
    assert proxy.__name__ == "sort_in_place" and proxy.said() == "the function was not called"


Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Pair:
    a: int
    b: object


class Colour(enum.Enum):
    RED = 1


def nested(depth: int) -> list[Any]:
    return [nested(depth - 1)] if depth else []


cycle: list[Any] = [1]
cycle.append(cycle)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "True"),
        ("1", "'1'"),
        (1, "1"),
        (-0.0, "0.0"),
        (float("nan"), "nan"),
        (b"a", "b'a'"),
        ([1, "a"], "[1, 'a']"),
        ((), "()"),
        ((1,), "(1, )"),
        ({3, 10, 2}, "set{10, 2, 3}"),
        (frozenset("b"), "frozenset{'b'}"),
        ({"b": 1, "a": [2]}, "{'a': [2], 'b': 1}"),
        (collections.Counter("aab"), "{'a': 2, 'b': 1}"),
        (Point(1, 2), "Point(x=1, y=2)"),
        (Pair(1, None), "Pair(a=1, b=None)"),
        (Colour.RED, "Colour <Colour.RED: 1>"),
        (range(3), "range range(0, 3)"),
        (iter("ab"), "iterator ['a', 'b']"),
        (cycle, "[1, ...]"),
        (nested(30), "[" * 20 + "..." + "]" * 20),
        (numpy.float64(2.0), "2.0"),
        (numpy.array([[1, 2]]), "ndarray (1, 2) int64 [[1, 2]]"),
    ],
)
def test_canonical_text(value: object, text: str) -> None:
    assert canon(value) == text


def test_long_texts_stay_apart_and_objects_have_no_address() -> None:
    one, other = canon("a" * 5000 + "b"), canon("a" * 5000 + "c")
    assert one != other and one[:1500] == other[:1500] and len(one) < 1600
    assert canon(10**5000) != canon(10**5000 + 1)
    assert canon(object()) == canon(object())


def test_near_numbers_are_taken_for_the_expected_ones() -> None:
    assert near([1.0000001, 2], [1.0, 2], 0) == [1.0, 2]
    assert near(1.1, 1.0, 0) == 1.1 and near(1.1, 1.0, 0.2) == 1.0
    assert near("a", 1.0, 9) == "a" and near(3, 2, 0) == 3


def test_the_reference_gets_copies() -> None:
    given = [2, 1]
    assert reference("def f(x):\n    x.sort()\n    return x\n", "f")(given) == [1, 2] and given == [2, 1]


def test_a_project_is_written_once_and_anew_when_its_problems_change(tmp_path: Path) -> None:
    first = write_project([problem(test=CHECK)], "own", tmp_path)
    assert first.name.startswith("own-")
    stamp = (first / "tests" / "test_p_0001.py").stat().st_mtime_ns
    assert write_project([problem(test=CHECK)], "own", tmp_path) == first
    assert (first / "tests" / "test_p_0001.py").stat().st_mtime_ns == stamp
    assert write_project([problem(test=CHECK.replace("8", "9"))], "own", tmp_path) != first
    (first / "complete").unlink()  # as if it had been broken off
    (first / "problems" / "p_0001.py").unlink()
    assert (write_project([problem(test=CHECK)], "own", tmp_path) / "problems" / "p_0001.py").is_file()
    assert len(node_ids(problem(test=CHECK))) == 5
    assert not list(tmp_path.glob("part-*"))
