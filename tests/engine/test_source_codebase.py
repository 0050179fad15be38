"""Opening a project: what it refuses, its fingerprint, its name, and its pace."""

from __future__ import annotations

from pathlib import Path

import pytest
from source_trees import commit_all, write_tree

from rtc_inspector.core.errors import Cancelled, ProjectError
from rtc_inspector.core.source.codebase import content_fingerprint, open_codebase, project_name


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(ProjectError) as caught:
        open_codebase(tmp_path / "nowhere")
    assert caught.value.problem.endswith("does not exist.")


def test_file_in_place_of_a_folder(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": "x = 1\n"})
    with pytest.raises(ProjectError) as caught:
        open_codebase(tmp_path / "a.py")
    assert caught.value.problem.endswith("is not a folder.")


def test_project_without_python(tmp_path: Path) -> None:
    write_tree(tmp_path, {"README": "hello\n", ".venv/a.py": "x = 1\n"})
    with pytest.raises(ProjectError) as caught:
        open_codebase(tmp_path)
    assert caught.value.problem == f"{tmp_path} holds no Python file."


def test_project_without_usable_python_names_the_first_reason(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": "print 1\n", "b.py": "print 2\n"})
    with pytest.raises(ProjectError) as caught:
        open_codebase(tmp_path)
    assert "2 passed over, first a.py (does not parse: line 1: " in caught.value.problem


def test_files_come_sorted_and_progress_reaches_the_end(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{name}.py": "x = 1\n" for name in ("b", "a", "c/a", "Z")})
    steps: list[tuple[str, int, int]] = []
    codebase = open_codebase(tmp_path, lambda *step: steps.append(step))
    assert [file.path for file in codebase.files] == ["Z.py", "a.py", "b.py", "c/a.py"]
    assert steps[-1] == ("reading files", 4, 4)


def test_progress_can_cancel(tmp_path: Path) -> None:
    def stop(stage: str, done: int, total: int) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        open_codebase(write_tree(tmp_path, {"a.py": "x = 1\n"}), stop)


def test_fingerprint_follows_paths_texts_and_encodings(tmp_path: Path) -> None:
    def fingerprint(name: str, files: dict[str, str | bytes]) -> str:
        return content_fingerprint(open_codebase(write_tree(tmp_path / name, files)))

    first = fingerprint("first", {"a.py": "x = 1\n", "b.py": "y = 2\n"})
    assert fingerprint("same", {"b.py": "y = 2\n", "a.py": "x = 1\n", "notes.txt": "hello"}) == first
    others = [
        fingerprint("renamed", {"a.py": "x = 1\n", "c.py": "y = 2\n"}),
        fingerprint("newlines", {"a.py": "x = 1\r\n", "b.py": "y = 2\n"}),
        fingerprint("bom", {"a.py": b"\xef\xbb\xbfx = 1\n", "b.py": "y = 2\n"}),
        fingerprint("moved", {"a.py": "x = 1\ny = 2\n", "b.py": ""}),
    ]
    assert len({first, *others}) == 5


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('[project]\nname = "my-lib"\n', "my-lib"),
        ('[tool.poetry]\nname = "poem"\n', "poem"),
        ('[project]\ndynamic = ["name"]\n', "folder"),
        ("not toml at all [", "folder"),
        ('project = "odd"\n', "folder"),
    ],
)
def test_project_name(tmp_path: Path, text: str, name: str) -> None:
    assert project_name(write_tree(tmp_path / "folder", {"pyproject.toml": text})) == name


def test_project_name_without_pyproject(tmp_path: Path) -> None:
    assert project_name(tmp_path) == tmp_path.name


def test_thousands_of_files_open(tmp_path: Path) -> None:
    text = "def area(width, height):\n    return width * height\n\n\n" * 20
    write_tree(tmp_path, {f"pkg{n % 50}/mod{n}.py": text for n in range(5000)})
    write_tree(tmp_path, {".gitignore": "".join(f"pattern_{n}_*.py\n" for n in range(60))})
    commit_all(tmp_path)
    codebase = open_codebase(tmp_path)
    assert len(codebase.files) == 5000
    assert not codebase.dirty
