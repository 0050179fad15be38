"""From bytes to text: encodings, newlines, and files that must be left out."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest
from source_trees import write_tree

from rtc_inspector.core.source.codebase import open_codebase
from rtc_inspector.core.source.reading import LARGEST, Unreadable, decode

ACCEPTED = {
    "empty": b"",
    "no newline at the end": b"x = 1",
    "windows newlines": b"x = 1\r\ny = '\xc3\xa9'\r\n",
    "old mac newlines": b"# coding: latin-1\rx = '\xe9'\r",
    "mixed newlines": b"x = 1\r\ny = 2\rz = 3\n\x0cw = 4\n",
    "bom": codecs.BOM_UTF8 + "x = 'é'\n".encode(),
    "bom and cookie": codecs.BOM_UTF8 + b"# -*- coding: utf-8 -*-\nx = 1\n",
    "latin-1": b"# -*- coding: latin-1 -*-\nx = '\xe9'\n",
    "cookie on the second line": b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\n",
    "shift_jis": "# coding: shift_jis\nx = '日本'\n".encode("shift_jis"),
    "cookie on a third line is none": b"x = 1\n\n# coding: latin-1\ny = '\xc3\xa9'\n",
    "a string that looks like a cookie": b"# hello\rx = 'coding: latin-1 \xc3\xa9'\r",
    "astral characters": "x = '\U0001f40d'\n".encode(),
}

REFUSED = {
    "not utf-8": b"x = '\xe9'\n",
    "unknown codec": b"# coding: klingon\nx = 1\n",
    "codec that is no text encoding": b"# coding: rot13\nk = 1\n",
    "codec that does not give the bytes back": b"# coding: utf-7\nx = '+AGE-'\n",
    "bom against the cookie": codecs.BOM_UTF8 + b"# coding: latin-1\nx = 1\n",
}


@pytest.mark.parametrize("data", ACCEPTED.values(), ids=ACCEPTED)
def test_text_encodes_to_the_very_bytes(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(data)
    codebase = open_codebase(tmp_path)
    assert codebase.skipped == ()
    file = codebase.file("a.py")
    assert file.text.encode(file.encoding) == data
    assert not file.text.startswith("\ufeff")


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_decoded_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable, match="does not decode: "):
        decode(data)


def test_left_out_files_are_listed_with_the_reason(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "good.py": "x = 1\n",
            "latin.py": b"x = '\xe9'\n",
            "python2.py": "print 'hello'\n",
            "null.py": "x = 1\0\n",
            "outside.py": "x = 1\nreturn x\n",
            "deep.py": "x = " + "(" * 5000 + ")" * 5000 + "\n",
            "huge.py": "x = 1\n" * (LARGEST // 6 + 1),
        },
    )
    codebase = open_codebase(tmp_path)
    assert [file.path for file in codebase.files] == ["good.py"]
    reasons = {file.path: file.reason for file in codebase.skipped}
    assert reasons.pop("huge.py") == "1.0 MB, larger than 1 MB"
    assert reasons.pop("python2.py").startswith("does not parse: line 1: Missing parentheses")
    assert reasons.pop("outside.py") == "does not parse: line 2: 'return' outside function"
    assert reasons.pop("latin.py").startswith("does not decode: ")
    assert reasons.pop("null.py").startswith("does not parse: ")
    assert reasons.pop("deep.py").startswith("does not parse: ")
    assert not reasons


def test_warnings_about_the_code_stay_silent(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": "x = '\\q'\nif x is 'y':\n    assert (x, 'always')\n"})
    assert len(open_codebase(tmp_path).files) == 1
