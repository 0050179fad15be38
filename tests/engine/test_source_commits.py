"""The list of commits: of any repository, of one whose history was rewritten, and of a long one in time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from histories import Builder, module

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.source.git import CommitLine, list_commits, text_before


def test_commits_come_newest_first_with_their_words(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "bare.git", bare=True)
    ids = [builder.commit({"a.c": module({n: "'x'"})}, f"Number {n}\n\nBecause.") for n in range(4)]
    found = list_commits(builder.root)
    assert [commit.id for commit in found.commits] == ids[::-1]
    assert found.commits[0] == CommitLine(ids[3], "2023-11-14", "Ada", "Number 3")
    assert found.whole and not found.note
    part = list_commits(builder.root, most=3)
    assert (len(part.commits), part.whole) == (3, False)
    assert [commit.id for commit in list_commits(builder.root, ids[1]).commits] == ids[1::-1]


def test_a_revision_that_is_gone_and_a_shallow_clone_are_told(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "repository")
    ids = [builder.commit({"a.c": module({n: "'x'"})}) for n in range(3)]
    found = list_commits(builder.root, "0" * 40)
    assert len(found.commits) == 3 and "is gone" in found.note
    (builder.root / ".git" / "shallow").write_text(f"{ids[1]}\n")
    builder.forget(ids[0])
    assert "never fetched" in list_commits(builder.root).note
    with pytest.raises(ProjectError, match="is not in a git repository"):
        list_commits(tmp_path)


def test_a_file_as_it_was_before_a_commit(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "repository")
    first = builder.commit({"lib/a.c": module(), "b.bin": b"\xff\xfe"})
    second = builder.commit({"lib/a.c": module({3: "'new'"}), "b.bin": b"\0"})
    assert text_before(builder.root, second, "lib/a.c") == module()
    builder.check_out()
    assert text_before(builder.root / "lib", second, "a.c") == module()
    assert text_before(builder.root, second, "b.bin") == "\ufffd\ufffd"
    for commit, path in ((second, "none.c"), (first, "lib/a.c"), ("f" * 40, "lib/a.c"), (second, "lib")):
        with pytest.raises(ProjectError):
            text_before(builder.root, commit, path)


def test_many_commits_are_listed_at_once(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "repository")
    for n in range(400):
        builder.commit({}, f"Number {n}")
    started = time.process_time()
    assert len(list_commits(builder.root).commits) == 400
    assert time.process_time() - started < 3, "a program for each commit takes more"
