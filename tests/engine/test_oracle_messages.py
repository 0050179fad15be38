"""What a failing test's message shows first."""

from __future__ import annotations

import importlib
import sys
import traceback
from pathlib import Path

import pytest

from rtc_inspector.core.oracle.inside.messages import HEADER, MESSAGE_LIMIT, arranged, message_of, relative
from rtc_inspector.core.oracle.verdicts import headline

FAILURE = """Traceback (most recent call last):
  File "/v/site-packages/_pytest/runner.py", line 1, in from_call
    result = func()
             ^^^^^^
  File "/p/tests/test_a.py", line 3, in test_a
    assert f() == 1
  File "/p/a.py", line 7, in f
    return {}["x"]
           ~~^^^^^
KeyError: 'x'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/p/a.py", line 9, in f
    raise ValueError("no x")
ValueError: no x
 + more of it
"""


def test_the_exception_comes_first_then_lines_of_the_project() -> None:
    assert arranged(FAILURE, "/p", 4000).splitlines() == [
        "ValueError: no x",
        " + more of it",
        '  File "a.py", line 9, in f',
        '    raise ValueError("no x")',
        "while handling KeyError: 'x'",
        '  File "tests/test_a.py", line 3, in test_a',
        "    assert f() == 1",
        '  File "a.py", line 7, in f',
        '    return {}["x"]',
        "           ~~^^^^^",
        "[1 frame outside the project left out]",
    ]
    assert headline(arranged(FAILURE, "/p", 4000)) == "ValueError: no x"
    assert headline(FAILURE) == "ValueError: no x"


def test_what_judging_put_beside_a_benchmark_is_no_part_of_it() -> None:
    first = FAILURE.partition("\nDuring")[0].replace("/p/a.py", "/p/rtc_recording.py")
    assert arranged(first, "/p", 4000).splitlines()[1:] == [
        '  File "tests/test_a.py", line 3, in test_a',
        "    assert f() == 1",
        "[2 frames outside the project left out]",
    ]


def test_frames_stay_where_none_is_the_projects() -> None:
    assert arranged(FAILURE, "/elsewhere", 4000).count("  File ") == 4


def test_other_texts_stay_and_cuts_are_said() -> None:
    doctest = "001 >>> one()\nExpected:\n    2\nGot:\n    1\n\n/p/a.py:1: DocTestFailure"
    assert arranged(doctest, "/q", 4000) == doctest
    assert headline(doctest) == "/p/a.py:1: DocTestFailure"
    cut = arranged(FAILURE.replace("no x", "x" * 5000), "/p", 100)
    assert cut.startswith("ValueError: xxx") and "characters cut]" in cut and len(cut) < 150


def test_places_are_named_from_the_projects_root_and_what_was_said_stays() -> None:
    assert arranged("Got:\n    1\n\n/p/a.py:1: DocTestFailure", "/p", 4000) == "Got:\n    1\n\na.py:1: DocTestFailure"
    collected = "ImportError while importing test module '/p/tests/test_a.py'.\nFile \"/p/a.py\", line 1\n/pa/b.py:1"
    assert relative(collected, "/p").splitlines() == [
        "ImportError while importing test module 'tests/test_a.py'.",
        'File "a.py", line 1',
        "/pa/b.py:1",
    ]
    said = HEADER + '\n  File "/p/a.py", line 3, in f\n    read(x)\nOSError: no file "/p/x"'
    assert arranged(said, "/p", 4000) == 'OSError: no file "/p/x"\n  File "a.py", line 3, in f\n    read(x)'


def test_a_syntax_error_is_named_before_its_place() -> None:
    text = 'E     File "test_a.py", line 2\nE       def test(:\nE                ^\nE   SyntaxError: invalid syntax\n'
    assert headline(text) == 'SyntaxError: invalid syntax (File "test_a.py", line 2)'


PROGRAM = """
import foreign

def fails():
    return {}["x"]

def explains():
    try:
        fails()
    except KeyError as error:
        raise ValueError("no x") from error

def follows():
    try:
        fails()
    finally:
        foreign.call(explains)

def recurses():
    recurses()

def groups():
    raise ExceptionGroup("two", [ValueError(1), KeyError(2)])

def compiles():
    compile("a b", "<text>", "exec")
"""
FOREIGN = "def call(function):\n    function()\n\ndef fails():\n    raise OSError('foreign')\n"


@pytest.mark.parametrize("name", ["fails", "explains", "follows", "recurses", "groups", "compiles", "foreign.fails"])
def test_frames_that_are_left_out_need_not_be_read(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "program.py").write_text(PROGRAM)
    (tmp_path / "foreign.py").write_text(FOREIGN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path / "own"))
    program = importlib.import_module("program")
    monkeypatch.delitem(sys.modules, "program")
    monkeypatch.delitem(sys.modules, "foreign")
    root = str(tmp_path / "own")
    with pytest.raises(Exception) as caught:
        program.foreign.call(eval(name, vars(program)))
    error = caught.value
    whole = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    assert message_of(error, root) == arranged(whole, root, MESSAGE_LIMIT)
