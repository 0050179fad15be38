"""Repositories of every odd kind: read, or refused in one clear sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from histories import Builder, module

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.settings import EditSettings
from rtc_inspector.core.source.edits import Edit, EditHistory


def drawn(root: Path, settings: EditSettings | None = None) -> list[Edit]:
    return list(EditHistory(root, settings or EditSettings()).draw(0, lambda *_: None))


def refusal(root: Path, settings: EditSettings | None = None) -> str:
    with pytest.raises(ProjectError) as caught:
        EditHistory(root, settings or EditSettings())
    assert caught.value.remedy
    assert "\n" not in caught.value.problem
    return caught.value.problem


def filled(builder: Builder, count: int = 3) -> list[str]:
    commits = [builder.commit({"lib/a.py": module(), "b.py": module()})]
    return commits + [builder.commit({"lib/a.py": module({n + 5: "'x'"})}, f"Number {n}") for n in range(count)]


def test_a_bare_repository_and_git_s_own_folder(tmp_path: Path) -> None:
    bare, plain = Builder(tmp_path / "bare.git", bare=True), Builder(tmp_path / "plain")
    for builder in (bare, plain):
        filled(builder)
    expected = {edit.key for edit in drawn(bare.root)}
    assert len(expected) == 3
    assert {edit.key for edit in drawn(plain.root)} == expected
    assert {edit.key for edit in drawn(plain.root / ".git")} == expected


def test_a_bare_repository_without_a_configuration(tmp_path: Path) -> None:
    """As mirrors that hold objects and references alone."""
    builder = Builder(tmp_path / "mirror" / "repo", bare=True)
    filled(builder)
    (builder.root / "config").unlink()
    assert {edit.path for edit in drawn(builder.root)} == {"lib/a.py"}


def test_a_folder_of_a_repository_gives_its_own_edits(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "repository")
    filled(builder)
    builder.commit({"b.py": module({9: "'outside'"})})
    builder.check_out()
    inside = drawn(builder.root / "lib")
    assert [edit.path for edit in inside] == ["a.py"] * 3
    assert len(drawn(builder.root)) == 4


def test_a_detached_head(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "repository")
    commits = filled(builder)
    builder.repository.set_head(builder.repository[commits[1]].id)
    assert builder.repository.head_is_detached
    assert [edit.comment for edit in drawn(builder.root)] == ["Number 0"]


def test_a_shallow_clone_gives_the_commits_it_holds(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "repository")
    commits = filled(builder, 4)
    (builder.root / ".git" / "shallow").write_text(f"{commits[2]}\n")
    builder.forget(commits[1])
    history = EditHistory(builder.root, EditSettings())
    assert history.shallow
    edits = list(history.draw(0, lambda *_: None))
    assert sorted(edit.comment for edit in edits) == ["Number 2", "Number 3"]


def test_missing_objects_are_passed_over_and_named(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "repository")
    commits = filled(builder, 4)
    tree = builder.repository[commits[2]].tree["lib"].id
    builder.forget(str(tree))
    history = EditHistory(builder.root, EditSettings())
    edits = list(history.draw(0, lambda *_: None))
    assert sorted(edit.comment for edit in edits) == ["Number 0", "Number 3"]
    assert history.passed_over["commits with missing objects (a shallow or partial clone)"] == 2


def test_no_repository(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path} is not in a git repository, so it has no edits."
    assert refusal(tmp_path / "none") == f"{tmp_path / 'none'} does not exist."
    (tmp_path / "file.py").write_text("x = 1\n")
    assert refusal(tmp_path / "file.py") == f"{tmp_path / 'file.py'} is not a folder."


def test_an_empty_history(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "repository")
    assert "is empty" in refusal(builder.root)


def test_a_single_commit_has_no_edit(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "repository")
    builder.commit({"a.py": module()})
    assert drawn(builder.root) == []


def test_a_damaged_repository(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "repository")
    filled(builder)
    (builder.root / ".git" / "HEAD").write_bytes(b"\0nonsense")
    assert refusal(builder.root)


def test_references_that_libgit2_cannot_read(tmp_path: Path) -> None:
    """As in the reftable format."""
    builder = Builder(tmp_path / "repository")
    filled(builder)
    for name in ("refs", "HEAD"):
        (builder.root / ".git" / name).rename(tmp_path / name)
    assert "cannot be read" in refusal(builder.root)


def test_an_unknown_revision_and_one_that_was_rewritten_away(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "repository")
    last = filled(builder)[-1]
    assert "has no commit nowhere" in refusal(builder.root, EditSettings(revision="nowhere"))
    builder.forget(last)
    assert f"has no commit {last}; its history may have been rewritten" in refusal(
        builder.root, EditSettings(revision=last)
    )


def test_the_fingerprint_is_of_the_history_that_is_read(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "repository")
    first, *_, last = filled(builder)
    now = EditHistory(builder.root, EditSettings())
    builder.commit({"b.py": module({1: 2})})
    assert now.revision == last
    assert EditHistory(builder.root, EditSettings(revision=last)).fingerprint == now.fingerprint
    assert EditHistory(builder.root, EditSettings()).fingerprint != now.fingerprint
    assert EditHistory(builder.root, EditSettings(revision=first[:10])).revision == first
