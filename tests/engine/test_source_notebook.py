"""Notebooks: cells, what a person wrote about them, and what cannot be judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from notebooks import notebook

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.source.notebook import is_notebook, read_notebooks
from rtc_inspector.resources import path as resource


def test_cells_come_with_their_words_and_the_cells_before_them(tmp_path: Path) -> None:
    file = notebook(
        tmp_path / "a.ipynb",
        ("markdown", "Start."),
        ("code", ["# Numbers\n", "\n", "x = [1, 2]\n", "y = 3\n"]),
        ("code", "%matplotlib inline\n!ls\nz = sum(x)"),
        ("code", "def f(n): return n + y\nw = 1"),
        ("markdown", "Now\nuse it."),
        ("code", "print(f(z))"),
    )
    first, magic, function, last = read_notebooks(file).cells
    assert (first.key, first.words, first.code) == ("a.ipynb:2", "Start.\n\nNumbers", "x = [1, 2]\ny = 3")
    assert [name for name, _ in first.names] == ["x", "y"] and first.context == ""
    assert "never run here" in magic.reason
    assert function.names == (("f", "print(f(z))"),)
    assert function.context == "# Numbers\n\nx = [1, 2]\ny = 3\n\nz = sum(x)"
    assert (last.words, last.names) == ("Now\nuse it.", ())


def test_a_cell_that_cannot_run_is_left_out_of_what_comes_before(tmp_path: Path) -> None:
    broken, comment, last = read_notebooks(
        notebook(tmp_path / "a.ipynb", ("code", "x = ("), ("code", "# nothing"), ("code", "1"))
    ).cells
    assert (broken.reason, comment.reason) == ("it is not Python that can be read", "it holds comments only")
    assert last.context == "# nothing"


def test_a_folder_and_the_bundled_notebook(tmp_path: Path) -> None:
    for name in ("b.ipynb", "a.ipynb"):
        notebook(tmp_path / name, ("code", "1"))
    assert [cell.key for cell in read_notebooks(tmp_path).cells] == ["a.ipynb:1", "b.ipynb:1"]
    cells = read_notebooks(resource("benchmark", "tour.ipynb")).cells
    assert len(cells) == 8 and all(cell.words and not cell.reason for cell in cells)
    assert is_notebook(Path("A.IPYNB")) and not is_notebook(Path("a.py"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("{", "is not JSON"),
        ("{}", "no notebook of format 4"),
        ('{"nbformat": 3, "cells": []}', "no notebook of format 4 or later: its `nbformat` is 3"),
        ('{"nbformat": "4", "cells": []}', 'its `nbformat` is "4"'),
        ('{"nbformat": 4, "cells": [], "metadata": []}', "holds no code cell"),
        ('{"nbformat": 4, "cells": [], "metadata": {"kernelspec": "python"}}', "holds no code cell"),
        ('{"nbformat": 4, "cells": []}', "holds no code cell"),
        ('{"nbformat": 4, "cells": [{"cell_type": "code"}]}', "has no text in cell 1"),
        ('{"nbformat": 4, "cells": [], "metadata": {"kernelspec": {"language": "R"}}}', "is a notebook of R"),
    ],
)
def test_what_is_no_notebook_ends_in_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "a.ipynb"
    file.write_text(text)
    with pytest.raises(ProjectError) as refused:
        read_notebooks(file)
    assert said in refused.value.problem


def test_episodes_of_arcade_are_notebooks_of_turns(tmp_path: Path) -> None:
    """Each behind the code that came before, which is never an item itself."""
    turns = [
        {"code": {"value": "total = sum(prices)\ntotal"}, "code_context": "prices = [1, 2]\n%time\n",
         "intent": {"value": "What is the total? As a number."},
         "metadata": {"utterance_without_output_spec": "What is the total?"}},
        {"code": {"value": "total / len(prices)"}, "intent": {"value": "And the mean?"}},
    ]  # fmt: skip
    file = tmp_path / "annotated.json"
    file.write_text(json.dumps([{"turns": [{"turn": turn} for turn in turns]}, {"turns": [{"turn": turns[1]}]}]))
    first, second, alone = read_notebooks(file).cells
    assert (first.words, first.context, first.code) == (
        "What is the total?", "prices = [1, 2]", "total = sum(prices)\ntotal"
    )  # fmt: skip
    assert (second.words, second.context) == ("And the mean?", "prices = [1, 2]\n\ntotal = sum(prices)\ntotal")
    assert [name for name, _ in first.names] == ["total"] and alone.context == ""
    assert [cell.key for cell in (first, second, alone)] == [
        "annotated.json#1:3", "annotated.json#1:5", "annotated.json#2:3"
    ]  # fmt: skip


def test_every_fault_of_a_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "annotated.json"
    file.write_text(json.dumps([{"turns": [{"turn": {"code": {"value": 5}}}, {}]}, {"turns": []}, 3]))
    with pytest.raises(ProjectError) as refused:
        read_notebooks(file)
    assert refused.value.problem.split("\n") == [
        "annotated.json has no `turn.code.value` in turn 1 of episode 1.",
        "annotated.json has no `turn.code.value` in turn 2 of episode 1.",
        "annotated.json has no `turns` in episode 2.",
        "annotated.json has no `turns` in episode 3.",
    ]
    cells = notebook(tmp_path / "a.ipynb", *[("code", 5)] * 23)
    with pytest.raises(ProjectError) as refused:
        read_notebooks(cells)
    lines = refused.value.problem.split("\n")
    assert lines[19:] == ["a.ipynb has no text in cell 20.", "And 3 more."]


def test_no_notebook_at_all(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="holds no notebook"):
        read_notebooks(tmp_path)
    with pytest.raises(ProjectError, match="cannot be read"):
        read_notebooks(tmp_path / "absent.ipynb")
