"""Edits out of real git histories: what is sampled, and in which order."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

import pygit2
import pytest
from histories import Builder, module
from pygit2.enums import FileMode

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.settings import EditSettings
from rtc_inspector.core.source.edits import Edit, EditHistory

ALL = EditSettings()


def drawn(root: Path, settings: EditSettings = ALL, seed: int = 0, most: int | None = None) -> list[Edit]:
    history = EditHistory(root, settings)
    return list(islice(history.draw(seed, lambda *_: None), most))


def passed_over(root: Path, settings: EditSettings = ALL) -> dict[str, int]:
    history = EditHistory(root, settings)
    list(history.draw(0, lambda *_: None))
    return dict(history.passed_over)


@pytest.fixture
def builder(tmp_path: Path) -> Builder:
    made = Builder(tmp_path / "repository")
    made.commit({"a.py": module(), "b.go": "package b\n", "README.md": "# Title\n"}, "Begin")
    return made


def test_an_edit_is_what_git_holds(builder: Builder) -> None:
    commit = builder.commit({"a.py": module({20: "'twenty'"})}, "Spell twenty\n\nFor readers.")
    (edit,) = drawn(builder.root)
    context = [f"value_{n} = {n}" for n in range(17, 24)]
    assert edit.old == "\n".join(context)
    assert edit.new == edit.old.replace("= 20", "= 'twenty'")
    assert (edit.removed, edit.added) == (("value_20 = 20",), ("value_20 = 'twenty'",))
    assert (edit.path, edit.start_line, edit.language) == ("a.py", 18, "Python")
    assert (edit.commit, edit.comment, edit.author) == (commit, "Spell twenty\n\nFor readers.", "commit")
    assert edit.date == "2023-11-14T23:15:20+01:00"


def test_every_edit_stands_in_its_files(builder: Builder) -> None:
    for number in range(1, 12):
        values = {n: f"'é{n}-{number}'" for n in range(0, 40, number)}
        builder.commit({"a.py": module(values), f"sub/c{number % 3}.py": module({number: -1})})
    edits = drawn(builder.root, EditSettings(max_lines=100, max_characters=10_000))
    assert len(edits) > 20
    for edit in edits:
        commit = builder.repository[edit.commit].peel(pygit2.Commit)
        after = commit.tree[edit.path].data.decode()
        before = commit.parents[0].tree[edit.path].data.decode()
        assert after[edit.span.start : edit.span.end] == edit.new
        assert after[: edit.span.start].count("\n") + 1 == edit.start_line
        assert edit.old in before


def test_the_order_depends_on_the_seed_alone(builder: Builder) -> None:
    for number in range(30):
        builder.commit({"a.py": module({10: f"'{number}'", 30: f"'{number}'"})})
    first, again, other = (drawn(builder.root, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert [edit.key for edit in first] != [edit.key for edit in other]
    assert {edit.key for edit in first} == {edit.key for edit in other}


def test_later_commits_move_nothing(builder: Builder) -> None:
    for number in range(10):
        builder.commit({"a.py": module({10: f"'{number}'"})})
    before = [edit.key for edit in drawn(builder.root)]
    builder.commit({"a.py": module({10: "'late'"})})
    after = [edit.key for edit in drawn(builder.root)]
    assert len(after) == len(before) + 1
    assert [key for key in after if key in before] == before


def test_every_commit_gives_an_edit_before_any_gives_two(builder: Builder) -> None:
    for number in range(8):
        builder.commit({"a.py": module({5: f"'{number}'", 20: f"'{number}'", 35: f"'{number}'"})})
    commits = [edit.commit for edit in drawn(builder.root)]
    assert len(commits) == 24
    assert len(set(commits[:8])) == len(set(commits[8:16])) == 8


def test_a_pinned_revision_reads_the_same_history_for_ever(builder: Builder) -> None:
    tip = [builder.commit({"a.py": module({10: f"'{number}'"})}) for number in range(5)][-1]
    before = drawn(builder.root)
    builder.commit({"a.py": module({11: "'rewritten'"})}, parents=[], reference="refs/heads/other")
    builder.repository.set_head("refs/heads/other")
    assert drawn(builder.root) == []
    assert drawn(builder.root, EditSettings(revision=tip)) == before


# ---- filters


def test_merges_bulk_changes_and_listed_commits_are_skipped(builder: Builder) -> None:
    side = builder.commit({"a.py": module({3: "'side'"})}, reference=None)
    main = builder.commit({"a.py": module({3: "'main'"})})
    builder.commit({"a.py": module({3: "'both'"})}, parents=[main, side])
    builder.commit({f"many/{n}.py": module() for n in range(30)})
    builder.commit({f"many/{n}.py": module({7: "'bulk'"}) for n in range(30)})
    listed = builder.commit({"a.py": module({3: "'formatted'"})})
    builder.commit({".git-blame-ignore-revs": f"# Formatting\n{listed}  # black\n"})
    assert {edit.added for edit in drawn(builder.root)} == {("value_3 = 'main'",), ("value_3 = 'side'",)}
    counted = passed_over(builder.root)
    assert counted["merge commits"] == counted["first commits, which have nothing before them"] == 1
    assert counted["commits that touch more than 25 files"] == 2
    assert counted["commits that the project lists as reformatting"] == 1
    loose = EditSettings(skip_merges=False, skip_bulk=False)
    added = {line for edit in drawn(builder.root, loose) for line in edit.added}
    assert added == {
        "value_3 = 'main'",
        "value_3 = 'side'",
        "value_3 = 'both'",
        "value_7 = 'bulk'",
        "value_3 = 'formatted'",
    }


def test_languages_endings_and_paths(builder: Builder) -> None:
    builder.commit({"a.py": module({1: "'py'"}), "lib/c.go": module(), "README.md": "# Other title for this\n"})
    builder.commit({"lib/c.go": module({1: "'go'"}), "lib/d/e.go": module(), "x.unknown": module()})
    builder.commit({"lib/d/e.go": module({2: "'deep'"}), "x.unknown": module({1: 2})})
    languages = {edit.path: edit.language for edit in drawn(builder.root)}
    assert languages == {"a.py": "Python", "lib/c.go": "Go", "lib/d/e.go": "Go"}
    markdown = EditSettings(endings=(".md", ".unknown"), min_characters=1)
    assert {edit.path for edit in drawn(builder.root, markdown)} == {"README.md", "x.unknown"}
    for paths, expected in {
        ("lib",): {"lib/c.go", "lib/d/e.go"},
        ("lib/d/",): {"lib/d/e.go"},
        ("*.py", "lib/c.go"): {"a.py", "lib/c.go"},
    }.items():
        assert {edit.path for edit in drawn(builder.root, EditSettings(paths=paths))} == expected


@pytest.mark.parametrize(
    ("path", "head"),
    [
        ("api_pb2.py", ""),
        ("vendor/lib.py", ""),
        ("site/app.min.js", ""),
        ("a/parser.py", "# Code generated by a tool. DO NOT EDIT.\n"),
        ("a/other.go", "// @generated\n"),
    ],
)
def test_generated_files_are_skipped(builder: Builder, path: str, head: str) -> None:
    builder.commit({path: head + module()})
    builder.commit({path: head + module({20: "'changed'"})})
    assert drawn(builder.root) == []
    assert passed_over(builder.root)["generated files"] == 1
    assert len(drawn(builder.root, EditSettings(skip_generated=False))) == 1


def test_dates_are_the_author_s_and_both_inside(builder: Builder) -> None:
    for day in range(1, 6):
        builder.commit({"a.py": module({10: f"'day {day}'"})}, time=1_600_000_000 + day * 86_400)
    between = drawn(builder.root, EditSettings(since="2020-09-15", until="2020-09-16"))
    assert sorted(edit.date[:10] for edit in between) == ["2020-09-15", "2020-09-16"]
    with pytest.raises(UserError, match="is not a date"):
        drawn(builder.root, EditSettings(since="yesterday"))


def test_sizes_white_space_and_repetitions(builder: Builder) -> None:
    builder.commit({"a.py": module(dict.fromkeys(range(5, 30), "'many'"))})
    builder.commit({"a.py": module().replace(" = ", "  =  ")})
    builder.commit({"a.py": module()})
    builder.commit({"a.py": module({20: "'x'"}), "b.py": module()})
    builder.commit({"b.py": module({20: "'x'"})})
    (edit,) = drawn(builder.root)
    assert edit.added == ("value_20 = 'x'",)
    counted = passed_over(builder.root)
    assert counted["edits that repeat another one"] == 1
    assert counted["edits of more than 20 lines"] == 2, "there and back"
    assert counted["edits of white space alone"] >= 1
    assert passed_over(builder.root, EditSettings(max_characters=300))["edits longer than 300 characters"] >= 1
    assert passed_over(builder.root, EditSettings(min_characters=150))["edits shorter than 150 characters"] == 2


# ---- odd content


def test_binary_foreign_and_odd_files_are_passed_over(builder: Builder) -> None:
    commit = str(builder.repository.head.target)
    modes = {"module": FileMode.COMMIT, "link.py": FileMode.LINK}
    latin = module().replace("value_20", "größe").encode("latin-1")
    odd = {"data.py": b"\0\1\2" * 50, "latin.py": latin, "module": commit, "link.py": "a.py"}
    builder.commit(odd, modes=modes)
    other = builder.commit({"a.py": module({1: 11})})
    changed = {"data.py": b"\0\1\3" * 50, "latin.py": latin.replace(b"= 20", b"= 21")}
    builder.commit(changed | {"module": other, "link.py": "b.go"}, modes=modes)
    assert [edit.path for edit in drawn(builder.root)] == ["a.py"]
    counted = passed_over(builder.root)
    assert counted["binary files"] == 1
    assert counted["edits that are not UTF-8 text"] == 1
    assert counted["links and submodules"] == 2


def test_line_ends_and_a_missing_last_one_are_kept(builder: Builder) -> None:
    text = module(lines=8).replace("\n", "\r\n")
    builder.commit({"w.py": text})
    builder.commit({"w.py": text.replace("= 3", "= 33")})
    builder.commit({"w.py": text.replace("= 3", "= 33").removesuffix("\r\n") + "  # end"})
    by_size = sorted(drawn(builder.root), key=lambda edit: len(edit.old))
    assert by_size[0].new.endswith("value_7 = 7  # end")
    assert "value_3 = 33\r\nvalue_4" in by_size[1].new
    assert not by_size[1].new.endswith("\r")


# ---- nothing is touched


def test_the_work_tree_and_the_index_are_left_alone(builder: Builder) -> None:
    builder.commit({"a.py": module({3: "'three'"})})
    builder.check_out()
    (builder.root / "a.py").write_text("uncommitted = True\n")
    (builder.root / "new.py").write_text("untracked = True\n")

    def state() -> dict[str, tuple[float, bytes]]:
        names = (Path(folder) / name for folder, _, names in os.walk(builder.root) for name in names)
        return {str(name): (name.stat().st_mtime_ns, name.read_bytes()) for name in names}

    before = state()
    assert len(drawn(builder.root)) == 1
    assert state() == before
