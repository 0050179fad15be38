"""From a selection to whole statements."""

from __future__ import annotations

import random
import textwrap

import pytest
from real_modules import as_file, source_of

from rtc_inspector.core.regions.candidates import parse_blocks, snap
from rtc_inspector.core.types import Span

TEXT = '''\
"""Doc."""
import os


# about f
@wraps(os)
def f(a, b=(
    1
)):
    """Doc."""
    # first
    x = a + 1  # add

    y = [
        a,
        b,
    ]
    if x:
        z = 1; w = 2
        return z
    elif y: return 3
    else:
        # nothing
        z = 3
    return x


def g(): return 1
'''


def snapped(selection: str, text: str = TEXT, within: int = 0) -> str | None:
    """What the first place of `selection` snaps to; `^` in it marks an empty selection."""
    plain = selection.replace("^", "")
    start = text.index(plain, within)
    caret = selection.find("^")
    span = Span(start, start + len(plain)) if caret < 0 else Span(start + caret, start + caret)
    region = snap(as_file(text), span)
    return None if region is None else region.text


WHOLE_IF = TEXT[TEXT.index("if x") : TEXT.index("    return x")].rstrip()
WHOLE_F = TEXT[TEXT.index("@wraps") : TEXT.index("\n\n\ndef g")]
Y = "y = [\n        a,\n        b,\n    ]"


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        ("a + 1", "x = a + 1"),
        ("x = a + 1", "x = a + 1"),
        ("    x = a + 1  # add\n", "x = a + 1"),
        ("# add", "x = a + 1"),
        ("    # first\n    x = a + 1", "x = a + 1"),
        ("a,\n        b", Y),
        ("\n\n    y = [", Y),
        ("1  # add\n\n    y", f"x = a + 1  # add\n\n    {Y}"),
        ("z = 1", "z = 1; w = 2"),
        ("w = 2\n        return", "z = 1; w = 2\n        return z"),
        ("if x:", WHOLE_IF),
        ("x:\n        z = 1", WHOLE_IF),
        ("return z\n    elif", WHOLE_IF),
        ("return 3", WHOLE_IF),
        ("else:", WHOLE_IF),
        ("z = 3\n    return x", f"{WHOLE_IF}\n    return x"),
        ("z = 3", "z = 3"),
        ("@wraps", WHOLE_F),
        ("def f(a", WHOLE_F),
        ("    1\n)):", WHOLE_F),
        ("return x\n\n\ndef g", f"{WHOLE_F}\n\n\ndef g(): return 1"),
        ("return 1", "def g(): return 1"),
        ("import os\n\n\n# about f\n", "import os"),
        ("# about f\n", None),
        ("# first", None),
        ("\n\n\n# about", None),
        ("x = ^a", "x = a + 1"),
        ("^    x = a", "x = a + 1"),
        ("add^", "x = a + 1"),
        ("        b^,", Y),
        ("^# first", None),
        ("def ^g", "def g(): return 1"),
    ],
)
def test_selections(selection: str, expected: str | None) -> None:
    assert snapped(selection) == expected


def test_offsets_beyond_the_text_are_cut() -> None:
    region = snap(as_file("a = 1\nb = 2\n"), Span(-5, 500))
    assert region is not None
    assert region.text == "a = 1\nb = 2"
    assert snap(as_file("a = 1\n"), Span(500, 500)) is None
    assert snap(as_file(""), Span(0, 0)) is None


def test_region_says_where_it_is() -> None:
    region = snap(as_file(TEXT.replace("\n", "\r\n"), "pkg/m.py"), Span(80, 81))
    assert region is not None
    assert region.path == "pkg/m.py"
    assert region.text == TEXT.replace("\n", "\r\n")[region.span.start : region.span.end]


def test_any_selection_of_a_real_file_gets_the_smallest_run_around_it() -> None:
    file = source_of(textwrap)
    runs = [
        Span(first.start, last.end)
        for block in parse_blocks(file)
        for i, first in enumerate(block.statements)
        for last in block.statements[i:]
    ]
    chance = random.Random(5)
    snapped_at_all = 0
    for _ in range(60):
        start = chance.randrange(len(file.text))
        wanted = Span(start, min(len(file.text), start + chance.choice([1, 10, 100, 1000])))
        region = snap(file, wanted)
        if region is None:
            continue
        snapped_at_all += 1
        assert region.span in runs
        line_start = file.text.rfind("\n", 0, wanted.start) + 1
        outside = file.text[line_start : region.span.start] + "\n" + file.text[region.span.end : wanted.end]
        assert all(not line.strip() or line.strip().startswith("#") for line in outside.splitlines())
        inside = [run for run in runs if run.start <= wanted.start and wanted.end <= run.end]
        assert all(len(region.span) <= len(run) for run in inside)
    assert snapped_at_all > 40
