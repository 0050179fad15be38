"""Error modes: the bundled ones, a user's own, and how they are revised without losing one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.taxonomy import (
    ErrorMode,
    Taxonomy,
    TaxonomyFile,
    fresh_id,
    parse_taxonomy,
    read_taxonomy,
    revised,
)


def test_the_bundled_taxonomy_has_the_papers_modes() -> None:
    taxonomy = read_taxonomy()
    assert taxonomy.version == 1
    assert [mode.key for mode in taxonomy.modes] == [*range(1, 10), 0]
    ids = {mode.id for mode in taxonomy.modes}
    assert ids >= {"misses-logic", "line-by-line", "hallucinated", "ambiguous", "copies-old", "equivalent"}
    assert taxonomy.name("of-another-version") == "of-another-version"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("version = 1\n[[mode]]\nid = 'a'\nkey = 1\n", "'name'"),
        ("version = 1\n[[mode]]\nid = 'a'\nname = 'A'\nretired = true\n", "are retired"),
        ("version = 1\n[[mode]]\nid = 'a'\nkey = 12\nname = 'A'\n", "a key 1 to 9"),
        ("version = 1\n", "no error modes"),
        ("version = ", "cannot be read"),
        (
            "version = 1\n[[mode]]\nid = 'a'\nkey = 1\nname = 'A'\n[[mode]]\nid = 'b'\nkey = 1\nname = 'B'\n",
            "have the key '1'",
        ),
    ],
)
def test_a_users_taxonomy_that_is_wrong_is_refused_with_the_reason(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "error_modes.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(UserError, match=problem) as raised:
        read_taxonomy(path)
    assert str(path) in raised.value.problem
    assert raised.value.remedy


def test_what_is_written_is_read_back() -> None:
    odd = ErrorMode("odd", 0, 'A "quoted"\\name', "Two\nlines,\ta tab, \x7f and \u2028 and ü.", retired=True)
    taxonomy = read_taxonomy()
    taxonomy = Taxonomy(7, (*taxonomy.modes, odd))
    assert parse_taxonomy(taxonomy.to_toml(), "here") == taxonomy


def test_a_revision_numbers_by_place_and_keeps_what_was_dropped() -> None:
    before = read_taxonomy()
    first, second, *rest = before.modes
    added = [ErrorMode(f"new-{n}", 0, f"New {n}", "") for n in (1, 2)]
    after = revised(before, [second, replace(first, name="Other words"), *added, *rest[:-1]])
    assert after.version == before.version + 1
    assert [(mode.id, mode.key) for mode in after.modes[:4]] == [
        (second.id, 1), (first.id, 2), ("new-1", 3), ("new-2", 4),
    ]  # fmt: skip
    assert after.offered[9].key == 0
    assert after.modes[-1] == replace(rest[-1], key=0, retired=True)
    assert after.name(first.id) == "Other words"
    assert revised(after, after.modes) is after


def test_new_modes_get_ids_of_their_own() -> None:
    assert fresh_id("Off by one!", ()) == "off-by-one"
    assert fresh_id("Off by one", ("off-by-one", "off-by-one-2")) == "off-by-one-3"
    assert fresh_id("境界", ()) == "mode"


def test_a_users_file_takes_the_place_of_the_bundled_one(tmp_path: Path) -> None:
    file = TaxonomyFile(tmp_path / "settings")
    bundled = file.read()
    assert bundled == read_taxonomy()
    second = revised(bundled, bundled.modes[1:])
    third = revised(second, second.modes[1:])
    for each in (second, third):
        file.save(each)
        assert file.read() == each
    assert read_taxonomy(file.folder / "error_modes.v2.toml") == second


def test_a_file_that_cannot_be_read_is_kept(tmp_path: Path) -> None:
    file = TaxonomyFile(tmp_path)
    for text in ("mine", "mine too"):
        file.path.write_text(text, "utf-8")
        with pytest.raises(UserError, match="cannot be read"):
            file.read()
        file.save(read_taxonomy())
    assert (tmp_path / "error_modes.unreadable.toml").read_text("utf-8") == "mine"
    assert (tmp_path / "error_modes.unreadable-2.toml").read_text("utf-8") == "mine too"


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("", "utf-8")
    with pytest.raises(UserError, match="could not be saved"):
        TaxonomyFile(tmp_path / "taken" / "inside").save(read_taxonomy())
