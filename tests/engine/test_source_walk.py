"""Which files of a project are found, and which are passed over."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from source_trees import commit_all, write_tree

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.source.codebase import content_fingerprint, open_codebase
from rtc_inspector.core.source.walk import every_file

CODE = "x = 1\n"


def found(root: Path) -> list[str]:
    return [file.path for file in open_codebase(root).files]


def reasons(root: Path) -> dict[str, str]:
    return {file.path: file.reason for file in open_codebase(root).skipped}


@pytest.fixture(params=["git", "plain"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder that is, or is not, a git repository; the files are never committed."""
    if request.param == "git":
        write_tree(tmp_path, {"README": "hello\n"})
        commit_all(tmp_path)
    return tmp_path


def test_ignored_files_and_folders_are_left_out(project: Path) -> None:
    write_tree(
        project,
        {
            ".gitignore": "# generated\n/generated/\n*_pb2.py\nscratch\n\n!kept_pb2.py\n",
            "pkg/a.py": CODE,
            "pkg/b_pb2.py": CODE,
            "pkg/kept_pb2.py": CODE,
            "generated/c.py": CODE,
            "pkg/generated/d.py": CODE,
            "pkg/scratch/e.py": CODE,
        },
    )
    assert found(project) == ["pkg/a.py", "pkg/generated/d.py", "pkg/kept_pb2.py"]


def test_nested_gitignore_overrules_the_outer_one_for_its_folder(project: Path) -> None:
    write_tree(
        project,
        {
            ".gitignore": "local_*.py\n",
            "pkg/.gitignore": "!local_kept.py\n/only_here.py\n",
            "pkg/local_kept.py": CODE,
            "pkg/local_gone.py": CODE,
            "pkg/only_here.py": CODE,
            "pkg/sub/only_here.py": CODE,
            "only_here.py": CODE,
            "local_kept.py": CODE,
        },
    )
    assert found(project) == ["only_here.py", "pkg/local_kept.py", "pkg/sub/only_here.py"]


def test_a_file_cannot_be_taken_back_out_of_an_ignored_folder(project: Path) -> None:
    write_tree(project, {".gitignore": "gone/\n!gone/a.py\n", "gone/a.py": CODE, "b.py": CODE})
    assert found(project) == ["b.py"]


def test_gitignore_with_windows_newlines_bom_and_a_broken_line(project: Path) -> None:
    write_tree(project, {".gitignore": b"\xef\xbb\xbfa.py\r\n!\r\nb.py\r\n", "a.py": CODE, "b.py": CODE, "c.py": CODE})
    assert found(project) == ["c.py"]


def test_sub_folder_of_a_repository_obeys_the_rules_above_it(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {".gitignore": "/part/build_info.py\n*_gen.py\n", "part/a.py": CODE, "part/in/b_gen.py": CODE, "z.py": CODE},
    )
    commit_all(tmp_path)
    write_tree(tmp_path, {"part/build_info.py": CODE, "part/in/c.py": CODE})
    assert found(tmp_path / "part") == ["a.py", "in/c.py"]


def test_a_folder_its_repository_ignores_is_a_project_of_its_own(tmp_path: Path) -> None:
    write_tree(tmp_path, {".gitignore": "/out/\n", "a.py": CODE})
    commit_all(tmp_path)
    write_tree(tmp_path, {"out/b.py": CODE})
    codebase = open_codebase(tmp_path / "out")
    assert [file.path for file in codebase.files] == ["b.py"]
    assert codebase.revision is None
    assert not codebase.dirty


def test_what_git_tracks_is_never_ignored(tmp_path: Path) -> None:
    write_tree(tmp_path, {".gitignore": "lib/\n", "lib/kept.py": CODE, "lib/local.py": CODE, "a.py": CODE})
    commit_all(tmp_path, "lib/kept.py")
    assert found(tmp_path) == ["a.py", "lib/kept.py"]


def test_the_repositorys_own_exclude_file_counts(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": CODE})
    commit_all(tmp_path)
    write_tree(tmp_path, {".git/info/exclude": "mine.py\n", "mine.py": CODE})
    assert found(tmp_path) == ["a.py"]


def test_foreign_folders_are_named_with_the_reason(project: Path) -> None:
    write_tree(
        project,
        {
            "pkg/a.py": CODE,
            "pkg/_vendor/v.py": CODE,
            "third_party/t.py": CODE,
            "node_modules/m/n.py": CODE,
            "env/pyvenv.cfg": "home = /usr\n",
            "env/lib/python3.11/site-packages/p.py": CODE,
            "lib/site-packages/q.py": CODE,
            "build/lib/pkg/a.py": CODE,
            "pkg.egg-info/e.py": CODE,
        },
    )
    assert found(project) == ["pkg/a.py"]
    assert reasons(project) == {
        "pkg/_vendor/": "vendored code",
        "third_party/": "vendored code",
        "node_modules/": "installed packages",
        "env/": "a virtual environment",
        "lib/site-packages/": "installed packages",
        "build/": "build output",
        "pkg.egg-info/": "installed packages",
    }


def test_packages_called_env_or_build_are_code(project: Path) -> None:
    write_tree(project, {"env/__init__.py": CODE, "src/build/__init__.py": CODE, "src/build/main.py": CODE})
    assert found(project) == ["env/__init__.py", "src/build/__init__.py", "src/build/main.py"]


def test_dot_folders_and_caches_are_passed_over(project: Path) -> None:
    write_tree(project, {".tox/a.py": CODE, ".hidden/b.py": CODE, "pkg/__pycache__/c.py": CODE, "d.py": CODE})
    assert found(project) == ["d.py"]
    assert reasons(project) == {}


def test_project_inside_a_dot_folder_opens(tmp_path: Path) -> None:
    assert found(write_tree(tmp_path / ".hidden" / "vendor", {"a.py": CODE})) == ["a.py"]


def test_links_are_not_followed(project: Path) -> None:
    write_tree(project, {"pkg/a.py": CODE})
    (project / "pkg" / "loop").symlink_to(project, target_is_directory=True)
    (project / "pkg" / "self").symlink_to("self")
    (project / "pkg" / "b.py").symlink_to("a.py")
    (project / "pkg" / "gone.py").symlink_to("nowhere.py")
    assert found(project) == ["pkg/a.py"]
    assert reasons(project) == {"pkg/b.py": "a symbolic link", "pkg/gone.py": "a symbolic link"}


def test_root_given_as_a_link_is_resolved(tmp_path: Path) -> None:
    write_tree(tmp_path / "real", {"a.py": CODE})
    (tmp_path / "link").symlink_to("real", target_is_directory=True)
    assert open_codebase(tmp_path / "link").root == (tmp_path / "real").resolve()


def test_odd_entries_do_not_stall_the_walk(project: Path) -> None:
    write_tree(project, {"a.py": CODE, "folder.py/b.py": CODE})
    os.mkfifo(project / "pipe.py")
    Path(os.fsdecode(os.fsencode(project) + b"/caf\xe9.py")).write_text(CODE)
    assert found(project) == ["a.py", "folder.py/b.py"]
    assert reasons(project) == {"pipe.py": "not a regular file", "caf\\xe9.py": "its name is not valid UTF-8"}


def test_a_repository_inside_a_repository_is_not_this_project(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": CODE})
    commit_all(tmp_path)
    commit_all(write_tree(tmp_path / "other", {"b.py": CODE}))
    assert found(tmp_path) == ["a.py"]
    assert reasons(tmp_path) == {"other/": "another git repository"}


def test_a_plain_folder_of_repositories_is_one_project(tmp_path: Path) -> None:
    commit_all(write_tree(tmp_path / "one", {"a.py": CODE}))
    commit_all(write_tree(tmp_path / "two", {"b.py": CODE}))
    assert found(tmp_path) == ["one/a.py", "two/b.py"]


def test_a_folder_with_a_name_that_is_not_utf8_is_named(project: Path) -> None:
    """Its path could be neither stored nor printed."""
    odd = Path(os.fsdecode(os.fsencode(project) + b"/caf\xe9"))
    write_tree(odd, {"inside.py": "X = 1\n"})
    write_tree(project, {"app.py": "Y = 1\n"})
    codebase = open_codebase(project)
    assert ("caf\\xe9/", "its name is not valid UTF-8") in [(s.path, s.reason) for s in codebase.skipped]
    content_fingerprint(codebase)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may look into."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_a_folder_that_may_not_be_read_is_named(open_folder: Path) -> None:
    write_tree(open_folder, {"app.py": "X = 1\n", "data/locked.py": "Y = 1\n"})
    (open_folder / "data").chmod(0)
    me = os.geteuid()
    try:
        if me == 0:
            os.seteuid(65534)  # root may read everything
        codebase = open_codebase(open_folder)
        with pytest.raises(ProjectError, match="data cannot be read: Permission denied"):
            list(every_file(open_folder))  # a bundle would lack it
    finally:
        os.seteuid(me)
        (open_folder / "data").chmod(0o755)
    assert [file.path for file in codebase.files] == ["app.py"]
    assert [(s.path, s.reason) for s in codebase.skipped] == [("data/", "cannot be read: Permission denied")]
