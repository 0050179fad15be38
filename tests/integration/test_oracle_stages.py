"""Fresh imports in stages: one process collects file after file, behind conftests that were imported before."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from oracle_projects import Opened, write

from rtc_inspector.core.types import Outcome

CONFTEST = """import pytest
from kit import early

times = []


@pytest.fixture(scope="session", autouse=True)
def service():
    times.append(1)
    assert times == [1], "set up twice"
    yield early.WORD
    times.append(2)


@pytest.fixture
def number():
    return 1
"""
FILES = {
    "kit/__init__.py": "",
    "kit/early.py": "WORD = 'early'\n",
    "kit/late.py": "RATE = 2\n\n\ndef twice(n):\n    return n * RATE\n",
    "kit/other.py": "def name():\n    return 'other'\n",
    "conftest.py": CONFTEST,
    "tests/__init__.py": "",
    "tests/conftest.py": (
        "import pytest\nmade = []\n\n\n@pytest.fixture(scope='session', autouse=True)\ndef inner():\n"
        "    made.append(1)\n    return made\n\n\n@pytest.fixture(params=[1, 2])\ndef count(request):\n"
        "    return request.param\n"
    ),
    "tests/test_late.py": (
        "import pytest\nfrom kit import late\n\n\n@pytest.fixture\ndef number(number):\n    return number + 1\n\n\n"
        "def test_twice(number):\n    assert late.twice(number) == 4\n\n\n"
        "def test_none(number, inner):\n    assert late.twice(0) == 0 and number == 2 and inner == [1]\n"
    ),
    "tests/test_more.py": (
        "from kit import late\n\n\ndef test_rate(service):\n    assert late.RATE < 3 and service == 'early'\n\n\n"
        "def test_large(count, inner):\n    assert late.twice(100) == 200 and count and inner == [1]\n"
    ),
    "kit/cases.py": "SIZE = 3\n",
    "tests/test_cases.py": (
        "import unittest\nfrom kit import cases\n\n\nclass Case(unittest.TestCase):\n"
        "    @classmethod\n    def setUpClass(cls):\n        cls.size = staticmethod(lambda: 3)\n\n"
        "    def test_size(self):\n        assert cases.SIZE == 3\n\n"
        "    def test_own(self):\n        assert self.size() == 3\n"
    ),
    "tests/test_other.py": "from kit import other\n\n\ndef test_name():\n    assert other.name() == 'other'\n",
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    project = Opened(write(tmp_path_factory.mktemp("kit"), FILES))
    yield project
    project.oracle.close()


def test_all_tests_of_several_files_run_with_one_set_up_of_the_session(opened: Opened) -> None:
    assert len(opened.suite.tests) == 8 and not opened.suite.excluded
    candidate = opened.candidate("kit/late.py", "RATE = 2", "RATE = 1 + 1")
    verdict = opened.oracle.judge(candidate, opened.covering("kit/late.py", 5))
    assert verdict.outcome is Outcome.PASS, verdict.detail
    assert len(verdict.tests) == 4 and "whole suite of 8" in verdict.detail


@pytest.mark.parametrize(
    ("path", "old", "new", "outcome"),
    [
        ("kit/late.py", "RATE = 2", "RATE = 0", Outcome.FAIL),  # the first file notices
        ("kit/late.py", "RATE = 2", "RATE = max(1, 2)", Outcome.PASS),
        ("kit/late.py", "def twice(n):", "def twice(n, more=0):\n    n = min(n, 50)", Outcome.FAIL),  # a later one
        ("kit/early.py", "WORD = 'early'", "WORD = 'late'", Outcome.FAIL),  # imported by the conftest
        ("kit/early.py", "WORD = 'early'", "WORD = nope", Outcome.IMPORT_ERROR),
        ("kit/other.py", "def name():", "def name(_=0):", Outcome.PASS),
    ],
)
def test_what_runs_at_import_is_judged_right(opened: Opened, path: str, old: str, new: str, outcome: Outcome) -> None:
    verdict = opened.oracle.judge(opened.candidate(path, old, new), opened.tests)
    assert verdict.outcome is outcome, verdict.detail


def test_a_case_of_unittest_before_any_function_is_no_change_of_the_framework(opened: Opened) -> None:
    covering = [test for test in opened.tests if "test_size" in test]
    verdict = opened.oracle.judge(opened.candidate("kit/cases.py", "SIZE = 3", "SIZE = 2 + 1"), covering)
    assert verdict.outcome is Outcome.PASS, verdict.detail  # nor is what its class sets up again for a later stage


def test_a_later_file_breaks_what_the_covering_tests_pass(opened: Opened) -> None:
    changed = "RATE = 2\nimport kit.other\nkit.other.name = lambda: 'changed'"
    covering = [test for test in opened.tests if "test_late" in test]
    verdict = opened.oracle.judge(opened.candidate("kit/late.py", "RATE = 2", changed), covering)
    assert verdict.outcome is Outcome.FAIL and "whole suite" in verdict.detail
