"""Test code told from code: pytest's and unittest's conventions, and the project's own configuration."""

from __future__ import annotations

from pathlib import Path

import pytest
from source_trees import commit_all, write_tree

from rtc_inspector.core.source.codebase import open_codebase

CODE = "x = 1\n"
TEST = "def test_x():\n    assert True\n"
UNITTEST = "import unittest\n\n\nclass Check(unittest.TestCase):\n    def runTest(self):\n        pass\n"


def found_tests(root: Path) -> set[str]:
    return {file.path for file in open_codebase(root).files if file.is_test}


def test_conventions(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "pkg/code.py": CODE,
            "pkg/test_code.py": TEST,
            "pkg/code_test.py": TEST,
            "pkg/conftest.py": CODE,
            "pkg/app/tests.py": UNITTEST,
            "pkg/app/test.py": UNITTEST,
            "pkg/testcode.py": UNITTEST,
            "pkg/latest.py": CODE,
            "pkg/contest.py": CODE,
            "tests/helper.py": CODE,
            "tests/data/sample.py": CODE,
            "pkg/test/support.py": CODE,
        },
    )
    code = {file.path for file in open_codebase(tmp_path).files if not file.is_test}
    assert code == {"pkg/code.py", "pkg/latest.py", "pkg/contest.py"}


def test_testing_modules_are_code(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "pkg/testing.py": "class FakeCase:\n    def test_client(self):\n        return None\n",
            "pkg/testing/asserts.py": CODE,
            "pkg/testclient.py": "class TestClient:\n    def get(self):\n        return 1\n",
            "pkg/testing/test_asserts.py": TEST,
        },
    )
    assert found_tests(tmp_path) == {"pkg/testing/test_asserts.py"}


CONFIGURATIONS = {
    "pytest.ini": "[pytest]\npython_files = check_*.py\n    spec/*.py\n",
    ".pytest.ini": "[pytest]\npython_files = check_*.py spec/*.py\n",
    "tox.ini": "[tox]\nenvlist = py311\n[pytest]\npython_files =\n    check_*.py\n    spec/*.py\n",
    "setup.cfg": "[metadata]\nname = x\n[tool:pytest]\npython_files = check_*.py spec/*.py\n",
    "pyproject.toml": '[tool.pytest.ini_options]\npython_files = ["check_*.py", "spec/*.py"]\n',
    "pytest.toml": '[pytest]\npython_files = ["check_*.py", "spec/*.py"]\n',
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_python_files_of_every_configuration_file(tmp_path: Path, name: str) -> None:
    write_tree(
        tmp_path,
        {
            name: CONFIGURATIONS[name],
            "pkg/code.py": CODE,
            "pkg/check_code.py": TEST,
            "pkg/spec/code.py": CODE,
            "test_top.py": TEST,
        },
    )
    assert found_tests(tmp_path) == {"pkg/check_code.py", "pkg/spec/code.py", "test_top.py"}


def test_pyproject_as_pytest_nine_reads_it(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pyproject.toml": '[tool.pytest]\npython_files = ["a.py"]\n', "a.py": TEST, "b.py": CODE})
    assert found_tests(tmp_path) == {"a.py"}


def test_an_empty_pytest_ini_wins_over_pyproject(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "pytest.ini": "",
            "pyproject.toml": '[tool.pytest.ini_options]\npython_files = ["a.py"]\n',
            "a.py": CODE,
        },
    )
    assert found_tests(tmp_path) == set()


@pytest.mark.parametrize("text", ["[tool.pytest", '[tool]\npytest = "odd"\n', "\xff"])
def test_broken_configuration_leaves_the_conventions(tmp_path: Path, text: str) -> None:
    write_tree(tmp_path, {"pyproject.toml": text.encode("latin-1"), "a.py": CODE, "test_a.py": TEST})
    assert found_tests(tmp_path) == {"test_a.py"}


def test_testpaths_folder_counts_with_its_helpers(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "pytest.ini": "[pytest]\ntestpaths = checks extra/more.py\n",
            "checks/test_a.py": TEST,
            "checks/helper.py": CODE,
            "checks/data/tables.py": CODE,
            "extra/more.py": TEST,
            "pkg/helper.py": CODE,
        },
    )
    checks = {"checks/test_a.py", "checks/helper.py", "checks/data/tables.py"}
    assert found_tests(tmp_path) == {*checks, "extra/more.py"}


def test_testpaths_that_name_the_code_leave_it_code(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "pytest.ini": "[pytest]\ntestpaths = . src pkg\npython_files = *.py\n",
            "src/lib/a.py": CODE,
            "src/lib/b.py": CODE,
            "src/lib/tests/test_a.py": TEST,
            "src/lib/tests/helper.py": CODE,
            "pkg/a.py": CODE,
            "pkg/a_test.py": TEST,
            "pkg/b.py": CODE,
            "pkg/b_test.py": TEST,
        },
    )
    assert found_tests(tmp_path) == {
        "src/lib/tests/test_a.py",
        "src/lib/tests/helper.py",
        "pkg/a_test.py",
        "pkg/b_test.py",
    }


def test_a_pattern_for_every_file_holds_inside_testpaths_for_files_with_tests(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "pyproject.toml": '[tool.pytest.ini_options]\npython_files = "*.py"\ntestpaths = ["checks"]\n',
            "checks/login.py": TEST,
            "checks/helper.py": CODE,
            "pkg/probe.py": "def test_connection():\n    return 1\n",
        },
    )
    assert found_tests(tmp_path) == {"checks/login.py", "checks/helper.py"}


def test_top_level_folder_named_like_tests(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "integration_tests/test_a.py": TEST,
            "integration_tests/server.py": CODE,
            "ab_test/__init__.py": CODE,
            "ab_test/groups.py": CODE,
        },
    )
    assert found_tests(tmp_path) == {"integration_tests/test_a.py", "integration_tests/server.py"}


def test_sub_folder_finds_the_configuration_of_its_repository(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "pyproject.toml": '[tool.pytest.ini_options]\npython_files = ["check_*.py"]\ntestpaths = ["part/checks"]\n',
            "part/code.py": CODE,
            "part/checks/check_code.py": TEST,
            "part/checks/helper.py": CODE,
        },
    )
    commit_all(tmp_path)
    assert found_tests(tmp_path / "part") == {"checks/check_code.py", "checks/helper.py"}


def test_configuration_above_a_plain_folder_is_not_its_own(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pytest.ini": "[pytest]\npython_files = *.py code.py\n", "part/code.py": CODE})
    assert found_tests(tmp_path / "part") == set()
