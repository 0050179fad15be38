"""Revision and dirty flag, on real repositories of every odd kind."""

from __future__ import annotations

import os
from pathlib import Path

import pygit2
import pytest
from source_trees import commit_all, write_tree

from rtc_inspector.core.source.codebase import open_codebase

CODE = "x = 1\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    write_tree(tmp_path, {"pkg/a.py": CODE, "other/b.py": CODE, "notes.txt": "hello\n"})
    commit_all(tmp_path)
    return tmp_path


def state(root: Path) -> tuple[str | None, bool]:
    codebase = open_codebase(root)
    return codebase.revision, codebase.dirty


def test_clean_checkout(repository: Path) -> None:
    assert state(repository) == (str(pygit2.Repository(str(repository)).head.target), False)


def test_no_repository(tmp_path: Path) -> None:
    assert state(write_tree(tmp_path, {"a.py": CODE})) == (None, False)


def test_changed_file_makes_it_dirty(repository: Path) -> None:
    write_tree(repository, {"pkg/a.py": "x = 2\n"})
    assert state(repository)[1]


def test_changed_text_file_makes_it_dirty(repository: Path) -> None:
    write_tree(repository, {"notes.txt": "changed\n"})
    assert state(repository)[1]


def test_staged_change_makes_it_dirty(repository: Path) -> None:
    write_tree(repository, {"pkg/a.py": "x = 2\n"})
    index = pygit2.Repository(str(repository)).index
    index.add("pkg/a.py")
    index.write()
    assert state(repository)[1]


def test_deleted_file_makes_it_dirty(repository: Path) -> None:
    (repository / "other" / "b.py").unlink()
    assert state(repository)[1]


def test_untracked_python_file_makes_it_dirty_and_other_files_do_not(repository: Path) -> None:
    write_tree(repository, {"scratch.txt": "hello\n"})
    assert not state(repository)[1]
    write_tree(repository, {"pkg/new.py": CODE})
    assert state(repository)[1]


def test_sub_folder_has_the_revision_and_only_its_own_changes(repository: Path) -> None:
    revision = str(pygit2.Repository(str(repository)).head.target)
    write_tree(repository, {"other/b.py": "x = 2\n"})
    assert state(repository / "pkg") == (revision, False)
    assert state(repository / "other") == (revision, True)


def test_sub_folder_with_nothing_tracked_has_no_revision(repository: Path) -> None:
    assert state(write_tree(repository / "fresh", {"c.py": CODE})) == (None, False)


def test_detached_head(repository: Path) -> None:
    repo = pygit2.Repository(str(repository))
    repo.set_head(repo.head.target)
    assert state(repository) == (str(repo.head.target), False)


def test_before_the_first_commit(tmp_path: Path) -> None:
    pygit2.init_repository(str(tmp_path))
    assert state(write_tree(tmp_path, {"a.py": CODE})) == (None, False)


def test_folder_inside_a_bare_repository(tmp_path: Path) -> None:
    pygit2.init_repository(str(tmp_path), bare=True)
    assert state(write_tree(tmp_path, {"a.py": CODE})) == (None, False)


def test_shallow_history(repository: Path) -> None:
    write_tree(repository, {"pkg/a.py": "x = 3\n"})
    last = commit_all(repository)
    repo = pygit2.Repository(str(repository))
    first = str(repo[last].parents[0].id)
    write_tree(repository, {".git/shallow": f"{last}\n"})
    (repository / ".git" / "objects" / first[:2] / first[2:]).unlink()
    assert state(repository) == (last, False)


def test_linked_work_tree(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    linked = tmp_path_factory.mktemp("linked") / "tree"
    write_tree(repository, {".git/info/exclude": "mine.py\n"})
    pygit2.Repository(str(repository)).add_worktree("linked", str(linked))
    write_tree(linked, {"mine.py": CODE})
    assert [file.path for file in open_codebase(linked).files] == ["other/b.py", "pkg/a.py"]
    assert state(linked) == state(repository)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_repository_of_another_owner(repository: Path) -> None:
    for folder, folders, files in os.walk(repository):
        for name in (*folders, *files, "."):
            os.chown(Path(folder, name), 12345, 12345)
    assert state(repository)[0] is not None


@pytest.mark.parametrize("broken", [".git/HEAD", ".git/index"])
def test_broken_repository_still_opens(repository: Path, broken: str) -> None:
    write_tree(repository, {broken: b"\0not git\n"})
    assert [file.path for file in open_codebase(repository).files] == ["other/b.py", "pkg/a.py"]


def test_opening_writes_nothing(repository: Path) -> None:
    def snapshot() -> dict[str, tuple[int, int, int]]:
        stats = ((str(path), path.lstat()) for path in sorted(repository.rglob("*")))
        return {path: (stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size) for path, stat in stats}

    (repository / "pkg" / "a.py").touch()  # the index is out of date now, and git itself would renew it
    before = snapshot()
    open_codebase(repository)
    assert snapshot() == before
