"""Edits out of JSONL files, with one clear sentence for each bad line."""

from __future__ import annotations

import codecs
import json
import time
from pathlib import Path

import pytest

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.settings import EditSettings
from rtc_inspector.core.source.edits import Edit, EditFile, changed_lines

OLD = "def f(x):\n    return x + 1\n"
NEW = "def f(x):\n    return x + 2\n"


def written(folder: Path, *lines: str | bytes) -> Path:
    file = folder / "edits.jsonl"
    file.write_bytes(b"\n".join(line.encode() if isinstance(line, str) else line for line in lines))
    return file


def line(**fields: object) -> str:
    return json.dumps({"old": OLD, "new": NEW} | fields)


def drawn(file: Path, seed: int = 0) -> list[Edit]:
    return list(EditFile(file, EditSettings()).draw(seed, lambda *_: None))


def test_an_edit_with_all_that_may_stand_beside_it(tmp_path: Path) -> None:
    (edit,) = drawn(written(tmp_path, line(comment=" Add two. ", path="lib/f.py"), ""))
    assert (edit.old, edit.new) == (OLD.rstrip(), NEW.rstrip())
    assert (edit.key, edit.path, edit.language) == ("edits.jsonl:1", "lib/f.py", "Python")
    assert (edit.comment, edit.author) == ("Add two.", "comment")
    assert (edit.removed, edit.added) == (("    return x + 1",), ("    return x + 2",))


def test_what_is_not_there_is_not_made_up(tmp_path: Path) -> None:
    (edit,) = drawn(written(tmp_path, line(comment=None)))
    assert (edit.comment, edit.path, edit.language) == ("", "edits.jsonl", "unknown")


def test_the_seed_shuffles(tmp_path: Path) -> None:
    file = written(tmp_path, *(line(new=f"{NEW}# {number}") for number in range(20)))
    orders = [[edit.key for edit in drawn(file, seed)] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])


def test_repetitions_and_unfit_edits_are_counted(tmp_path: Path) -> None:
    spaced = "def f(x):\n        return x + 1\n"
    source = EditFile(written(tmp_path, line(), line(), line(new=spaced), line(new="x" * 900)), EditSettings())
    assert len(list(source.draw(0, lambda *_: None))) == 1
    assert source.passed_over == {
        "edits that repeat another one": 1,
        "edits of white space alone": 1,
        "edits longer than 800 characters": 1,
    }


def test_the_signs_of_a_diff_are_taken_off_where_all_edits_have_them(tmp_path: Path) -> None:
    """As in CodeReviewer's files, blank context lines without a sign among them."""
    signed = {"old": " def f(x):\n\n-    return x + 1\n", "new": " def f(x):\n\n+    return x + 2\n"}
    only_added = {"old": " def g(x):\n     pass", "new": " def g(x):\n+    print(x)\n     pass"}
    source = EditFile(written(tmp_path, line(**signed), line(**only_added)), EditSettings())
    edits = {edit.key: edit for edit in source.draw(0, lambda *_: None)}
    assert source.signed
    first, second = edits["edits.jsonl:1"], edits["edits.jsonl:2"]
    assert (first.old, first.new) == ("def f(x):\n\n    return x + 1", "def f(x):\n\n    return x + 2")
    assert (first.removed, first.added) == (("    return x + 1",), ("    return x + 2",))
    assert second.added == ("    print(x)",)
    plain = EditFile(written(tmp_path, line(**signed), line()), EditSettings())
    assert not plain.signed
    assert {edit.old[0] for edit in plain.draw(0, lambda *_: None)} == {" ", "d"}


def test_a_plain_sample_of_a_file_has_no_filters(tmp_path: Path) -> None:
    """As the paper draws: long and repeated edits too; white space alone would be passed by a copy."""
    spaced = "def f(x):\n        return x + 1\n"
    file = written(tmp_path, line(), line(), line(new=spaced), line(new="x" * 900))
    source = EditFile(file, EditSettings(plain=True))
    assert sorted(edit.start_line for edit in source.draw(0, lambda *_: None)) == [1, 2, 4]
    assert source.passed_over == {"edits of white space alone": 1}


def test_every_bad_line_is_named(tmp_path: Path) -> None:
    bad = [
        "{not json",
        '"text"',
        json.dumps({"new": NEW}),
        json.dumps({"old": OLD}),
        line(old=7),
        line(new=""),
        line(comment=["x"]),
        b'{"old": "\xff", "new": "y"}',
        "[" * 100_000,
        line(path="\ud800.py"),
    ]
    with pytest.raises(ProjectError) as caught:
        EditFile(written(tmp_path, line(), *bad), EditSettings())
    said = caught.value.problem.split("\n")
    assert [text.split(":")[0] for text in said] == [f"edits.jsonl, line {n}" for n in range(2, 12)]
    for text, words in zip(
        said,
        (
            "is not JSON", "not a JSON object", "has no `old`", "has no `new`", "`old` is not a text", "`new` is empty",
            "`comment` is not a text", "is not UTF-8", "is not JSON",
            "`path` holds half of a surrogate pair",
        ),
        strict=True,
    ):  # fmt: skip
        assert words in text


def test_a_file_written_on_windows(tmp_path: Path) -> None:
    written(tmp_path, line()).write_bytes(codecs.BOM_UTF8 + line().encode() + b"\r\n")
    assert len(list(EditFile(tmp_path / "edits.jsonl", EditSettings()).draw(0, lambda *_: None))) == 1


def test_whole_files_are_passed_over_without_comparing_their_lines(tmp_path: Path) -> None:
    """Comparing two of these line by line would take minutes."""
    old, new = ("\n".join(sign * (number % each) for number in range(9000)) for sign, each in (("x", 2), ("y", 3)))
    start = time.monotonic()
    source = EditFile(written(tmp_path, line(old=old, new=new), line()), EditSettings())
    assert len(list(source.draw(0, lambda *_: None))) == 1 and time.monotonic() - start < 60
    assert source.passed_over == {"edits longer than 800 characters": 1}


def test_many_bad_lines_are_counted(tmp_path: Path) -> None:
    with pytest.raises(ProjectError) as caught:
        EditFile(written(tmp_path, *["{"] * 50), EditSettings())
    assert caught.value.problem.split("\n")[-1] == "And 30 more."


def test_no_file_and_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="cannot be read"):
        EditFile(tmp_path / "none.jsonl", EditSettings())
    with pytest.raises(ProjectError, match="holds no edit"):
        EditFile(written(tmp_path, "", " "), EditSettings())


def test_the_fingerprint_is_of_the_content(tmp_path: Path) -> None:
    first = EditFile(written(tmp_path, line()), EditSettings()).fingerprint
    assert EditFile(written(tmp_path, line()), EditSettings()).fingerprint == first
    assert EditFile(written(tmp_path, line(comment="Other")), EditSettings()).fingerprint != first


def test_changed_lines_are_those_of_one_side(tmp_path: Path) -> None:
    assert changed_lines("a\nb\nc", "a\nc\nd") == (("b",), ("d",))
