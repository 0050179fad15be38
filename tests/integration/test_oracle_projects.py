"""Layouts, configurations and broken projects, each opened as a user would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from oracle_projects import SHOP, SHOP_TESTS, Opened, shop, write

from rtc_inspector.core.errors import ProjectError, TargetError
from rtc_inspector.core.oracle import identity, suite, trial
from rtc_inspector.core.oracle.factory import open_oracle
from rtc_inspector.core.oracle.identity import IdentityRun, IdentityRunner
from rtc_inspector.core.oracle.project_oracle import ProjectOracle
from rtc_inspector.core.oracle.sandbox.protocol import Sandbox
from rtc_inspector.core.oracle.sessionplan import SessionPlan
from rtc_inspector.core.oracle.trial import Trial
from rtc_inspector.core.oracle.verdicts import Observation
from rtc_inspector.core.oracle.worker import Worker
from rtc_inspector.core.oracle.zygote import Zygote
from rtc_inspector.core.regions.admission import admit
from rtc_inspector.core.regions.coverage import cover
from rtc_inspector.core.settings import OracleSettings, RegionSettings
from rtc_inspector.core.source.codebase import open_codebase
from rtc_inspector.core.types import Candidate, Item, LearnsLater, Oracle, Outcome, Region, Report, Span, Verdict

Open = Callable[..., Opened]


@pytest.fixture
def opening() -> Iterator[Open]:
    opened: list[Opened] = []

    def start(root: Path, **settings: object) -> Opened:
        opened.append(Opened(root, **{"identity_runs": 2, **settings}))
        return opened[-1]

    yield start
    for project in opened:
        project.oracle.close()


def judged(project: Opened, path: str, old: str, new: str, part: str = "") -> Outcome:
    verdict = project.oracle.judge(project.candidate(path, old, new), of(project.tests, part))
    print(verdict)  # noqa: T201 - shown where the outcome is not the expected one
    return verdict.outcome


CASE = "import unittest, pair\nclass Case(unittest.TestCase):\n    def test(self): assert pair.{}() == 1\n"
READER = "import inspect\n\n\ndef first(function):\n    return inspect.getsource(function)[:3]\n"
LAYOUTS = {
    "thing.py": "def one():\n    return 1\n",
    "test_thing.py": (
        "import os, pytest, thing\nSEEN = []\n"
        "def test_one(): assert thing.one() == 1\n"
        "def test_wrong(): assert thing.one() == 2\n"
        "@pytest.mark.skip(reason='not now')\ndef test_skipped(): pass\n"
        "@pytest.mark.xfail\ndef test_expected(): assert 0\n"
        "def test_first(): SEEN.append(1)\n"
        "def test_second(): assert SEEN\n"
        "def test_writes(): open(os.path.join(os.path.dirname(__file__), 'thing.py'), 'a')\n"
    ),
    "data.cfg": "1",
    "closed/examples": "",
    ".hypothesis/examples": "",
    "test_data.py": (
        "import os, pathlib, thing\n"
        "def test_data(): pathlib.Path(__file__).with_name('data.cfg').read_text()\n"
        "def test_examples():\n    assert thing.one() == 1\n"
        "    folder = pathlib.Path(os.environ['HYPOTHESIS_STORAGE_DIRECTORY'])\n"
        "    folder.mkdir()\n    (folder / 'examples').write_text('kept')\n"
    ),
    "seen.py": "SEEN = []\n\n\ndef see():\n    SEEN.append(1)\n",
    "test_seen.py": (
        "import seen\ndef test_a(): seen.see()\ndef test_b(): assert seen.SEEN\ndef test_c(): seen.see()\n"
    ),
    "src/shop/__init__.py": "",
    "src/shop/basket.py": SHOP,
    "tests/test_basket.py": SHOP_TESTS,
    "src/space/part/one.py": "def one():\n    return 1\n",
    "src/space/other/two.py": "from space.part.one import one\n\n\ndef two():\n    return one() + 1\n",
    "tests/unit/test_space.py": "from space.other.two import two\ndef test_two(): assert two() == 2\n",
    "told.py": 'def one():\n    """One.\n\n    >>> one()\n    1\n    """\n    return 1\n',
    "test_told.py": (
        "import doctest, unittest, told\n\n\n"
        "def load_tests(loader, tests, ignore):\n"
        "    tests.addTests(doctest.DocTestSuite(told))\n    return tests\n"
    ),
    "pair.py": "def one():\n    return 1\n\n\ndef two():\n    return 1 + 0\n",
    "suite/__init__.py": (
        "import os\n\n\ndef load_tests(loader, tests, pattern):\n    here = os.path.dirname(__file__)\n"
        "    tests.addTests(loader.discover(here, pattern=pattern))\n"
        "    tests.addTests(loader.discover(here, pattern='check_*.py'))\n    return tests\n"
    ),
    "suite/check_two.py": CASE.format("two"),
    "suite/test_one.py": CASE.format("one"),
    "again.py": "def one():\n    return 1\n",
    "test_again.py": (
        "import importlib, again\n\ndef test_one():\n    importlib.reload(again)\n    assert again.one() == 1\n"
    ),
    "tools/a-script.py": "def two():\n    return 2\n",
    "test_script.py": (
        "from importlib import util\n\ndef test_two():\n"
        "    spec = util.spec_from_file_location('script', 'tools/a-script.py')\n"
        "    script = util.module_from_spec(spec)\n    spec.loader.exec_module(script)\n"
        "    assert script.two() == 2\n"
    ),
    "tests/test_absent.py": "import nowhere_to_be_found\n",
    "often.py": READER,
    "once.py": READER,
    "test_reading.py": (
        "import often, once\n\ndef test_a(): assert often.first(test_a) == 'def'\n\n"
        "def test_b(): assert once.first(test_a) == 'def'\n\ndef test_c(): assert often.first(test_a) == 'def'\n"
    ),
}


@pytest.fixture(scope="module")
def layouts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """One project that is laid out in many ways, and opened once."""
    root = write(tmp_path_factory.mktemp("layouts"), LAYOUTS)
    root.chmod(0o755)
    (root / "data.cfg").chmod(0o600)
    (root / "closed").chmod(0o700)
    (root / ".hypothesis").chmod(0o700)
    project = Opened(root, identity_runs=2)
    yield project
    project.oracle.close()


def of(names: Iterable[str], part: str) -> list[str]:
    """Those of the tests that a part of the project has."""
    return [name for name in names if name.startswith(part)]


def test_untrusted_tests_are_named_with_the_reason(layouts: Opened) -> None:
    suite = layouts.suite
    assert of(layouts.tests, "test_thing.py") == ["test_thing.py::test_one", "test_thing.py::test_first"]
    reasons = {name.rpartition("::")[2]: reason for name, reason in suite.excluded.items()}
    assert "assert 1 == 2" in reasons["test_wrong"]
    assert reasons["test_skipped"] == "is skipped: not now"
    assert "expected to fail" in reasons["test_expected"]
    assert of((test.node_id for test in suite.own_order), "test_thing.py") == ["test_thing.py::test_second"]
    assert suite.not_asked == ()  # plain pytest passes none of the others either
    assert "test_writes" in reasons
    assert (layouts.codebase.root / "thing.py").read_text() == "def one():\n    return 1\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's files are closed to the user that tests run as")
def test_what_the_tests_user_cannot_read_is_said(layouts: Opened) -> None:
    (said,) = (notice for notice in layouts.notices if "cannot be read" in notice)
    assert said.startswith("2 files and folders") and "first closed" in said
    assert f"chmod -R go+rX {layouts.codebase.root}" in said
    assert "Permission denied" in layouts.suite.excluded["test_data.py::test_data"]


def test_hypothesis_keeps_its_examples_where_it_may(layouts: Opened) -> None:
    assert "test_data.py::test_examples" in layouts.tests


def test_a_test_that_needs_any_other_before_it_is_asked_behind_them(layouts: Opened) -> None:
    assert of((test.node_id for test in layouts.suite.own_order), "test_seen.py") == ["test_seen.py::test_b"]
    assert judged(layouts, "seen.py", "SEEN.append(1)", "pass", "test_seen.py") is Outcome.FAIL


def test_packages_and_a_namespace_in_a_source_folder_without_installation(layouts: Opened) -> None:
    assert judged(layouts, "src/shop/basket.py", "RATE = 2", "RATE = 3", "tests/test_basket.py") is Outcome.FAIL
    same = judged(layouts, "src/shop/basket.py", "item.upper()", "item.upper()  ", "tests/test_basket.py")
    assert same is Outcome.PASS
    assert layouts.covering("src/space/part/one.py", 2) == ["tests/unit/test_space.py::test_two"]
    assert judged(layouts, "src/space/part/one.py", "return 1", "return 2", "tests/unit") is Outcome.FAIL
    assert judged(layouts, "src/space/part/one.py", "return 1", "return 2 - 1", "tests/unit") is Outcome.PASS


def test_a_file_that_cannot_be_imported_is_left_out_and_said(layouts: Opened) -> None:
    assert not of(layouts.tests, "tests/test_absent.py")
    assert any("test_absent.py; nowhere_to_be_found is not installed" in notice for notice in layouts.notices)


def test_load_tests_is_honoured(layouts: Opened) -> None:
    assert len(of(layouts.tests, "test_told.py")) == 1
    assert judged(layouts, "told.py", "return 1", "return 2", "test_told.py") is Outcome.FAIL


def test_load_tests_of_a_package_finds_modules_of_unusual_names(layouts: Opened) -> None:
    assert sorted(of(layouts.tests, "suite/")) == [
        "suite/__init__.py::load_tests::suite.check_two.Case.test",
        "suite/test_one.py::Case::test",
    ]
    assert judged(layouts, "pair.py", "return 1 + 0", "return 2", "suite/") is Outcome.FAIL
    assert judged(layouts, "pair.py", "def two():", "def two(_=0):", "suite/") is Outcome.PASS


def test_a_module_that_is_reloaded_or_named_by_its_file_is_the_candidate(layouts: Opened) -> None:
    assert judged(layouts, "again.py", "return 1", "return 2", "test_again.py") is Outcome.FAIL
    assert judged(layouts, "tools/a-script.py", "return 2", "return 1", "test_script.py") is Outcome.FAIL


def test_what_the_project_does_in_another_order_is_no_tampering(layouts: Opened) -> None:
    """Which part of a project is the first to read a source file depends on the order of the tests."""
    verdict = layouts.oracle.judge(layouts.candidate("once.py", "[:3]", "[0:3]"), ["test_reading.py::test_b"])
    assert verdict.outcome is Outcome.PASS, verdict.detail


def test_a_failure_counts_only_where_the_untouched_project_passes_the_same_tests(
    tmp_path: Path, opening: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There was no time to run the tests apart: that one needs others is seen when it judges."""
    monkeypatch.setattr(identity, "LEAST_APART", 0.0)
    monkeypatch.setattr(identity, "MOST_APART", 0.0)
    tests = (
        "import thing\ndef test_a():\n    sum(range(3 * 10**5)); thing.see()\ndef test_b(): assert thing.SEEN\n"
        "def test_c():\n    sum(range(3 * 10**5)); thing.see()\n"
    )
    text = "SEEN = []\n\n\ndef see():\n    SEEN.append(1)\n"
    project = opening(write(tmp_path, {"thing.py": text, "test_thing.py": tests}))
    assert len(project.tests) == 3
    assert judged(project, "thing.py", "SEEN = []", "SEEN = list()") is Outcome.PASS
    assert judged(project, "thing.py", "SEEN = []", "SEEN = [].copy()") is Outcome.PASS
    assert judged(project, "thing.py", "SEEN = []", "SEEN = ()") is Outcome.FAIL
    assert judged(project, "thing.py", "SEEN.append(1)", "pass") is Outcome.FAIL


LOCALES = {
    "words.py": (
        "KNOWN = {}\n\n\nclass Locale:\n    def __init_subclass__(cls):\n        KNOWN[cls.__name__] = cls\n\n\n"
        'class English(Locale):\n    months = ("january", "february")\n\n\n'
        'class French(Locale):\n    months = ("janvier", "octobre")\n\n\ndef first(name):\n'
        "    return KNOWN[name].months[0]\n"
    ),
    "test_a_words.py": (
        "import words\n\n\ndef test_made():\n    class Made(words.Locale):\n        months = ('one',)\n"
        "    assert words.first('Made') == 'one'\n\n\n"
        "def test_english():\n    assert words.first('English') == 'january'\n"
    ),
    "test_every.py": (
        "import random, words\n\nHERE = []\n\ndef test_before():\n    HERE.append(words.first('English'))\n\n\n"
        "def test_registered():\n    assert 'Made' in words.KNOWN\n    for known in words.KNOWN.values():\n"
        "        assert all(known.months)\n\n\n"
        "def test_in_file():\n    assert HERE and words.KNOWN['French'].months[0]\n\n\n"
        "def test_by_chance():\n    assert HERE and random.random() < 0.0001\n"
    ),
}


def test_tests_that_need_the_projects_own_order_are_asked_in_it(tmp_path: Path, opening: Open) -> None:
    """One needs classes that a test of another file registers, one a test of its own file; they alone check French."""
    project = opening(write(tmp_path, LOCALES))
    assert [test.node_id for test in project.suite.own_order] == [
        "test_every.py::test_registered",
        "test_every.py::test_in_file",
    ]
    for old, new, outcome in (
        ('"octobre"', '""', Outcome.FAIL),
        ('"janvier"', '""', Outcome.FAIL),
        ('"octobre"', '"octobre" + ""', Outcome.PASS),
    ):
        candidate = project.candidate("words.py", old, new)
        verdict = project.oracle.judge(candidate, project.tests)
        assert verdict.outcome is outcome, verdict
        if outcome is Outcome.FAIL:
            assert "own order" in verdict.detail and verdict.tests[-1].outcome == "failed"
        else:
            assert verdict.detail == "All 3 tests passed, and 2 tests in the project's own order."


def test_what_plain_pytest_asks_and_the_oracle_does_not_is_said(tmp_path: Path, opening: Open) -> None:
    tests = (
        "import thing\n\ndef test_one(): assert thing.one() == 1\n\n"
        "def test_two(): assert thing.one() < 2\n\ndef test_slow():\n    import time\n    time.sleep(0.6)\n"
    )
    project = opening(
        write(tmp_path, {"thing.py": "def one():\n    return 1\n", "test_thing.py": tests}), repeat_seconds=0.5
    )
    assert project.suite.not_asked == ("test_thing.py::test_slow",)
    verdict = project.oracle.judge(project.candidate("thing.py", "return 1", "return 2 - 1"), project.tests)
    assert verdict.detail == "2 tests passed; 1 test of plain pytest was not asked."


def test_doctests_async_tests_and_options_of_the_project(tmp_path: Path, opening: Open) -> None:
    write(
        tmp_path,
        {
            "setup.cfg": "[tool:pytest]\naddopts = --doctest-modules --cov=thing --strict-markers -n 2 -ra\n",
            "thing.py": 'def one():\n    """One.\n\n    >>> one()\n    1\n    """\n    return 1\n',
            "test_thing.py": (
                "import unittest, thing\nclass TestOne(unittest.IsolatedAsyncioTestCase):\n"
                "    async def test_one(self): self.assertEqual(thing.one(), 1)\n"
            ),
            "test_threads.py": (  # no tracer, hook or limit of ours may keep one of many threads from starting
                "import threading\ndef test_threads():\n    exec(compile('x = 1', 'nowhere.py', 'exec'))\n"
                "    for _ in range(20):\n"
                "        barrier = threading.Barrier(31, timeout=5)\n"
                "        threads = [threading.Thread(target=barrier.wait) for _ in range(30)]\n"
                "        for thread in threads: thread.start()\n        barrier.wait()\n"
                "        for thread in threads: thread.join()\n"
            ),
        },
    )
    project = opening(tmp_path)
    ours = {"thing.py::thing.one", "test_thing.py::TestOne::test_one"}
    assert set(project.tests) == ours | {"test_threads.py::test_threads"}
    assert any("--cov=thing" in notice and "-n 2" in notice for notice in project.notices)
    assert set(project.covering("thing.py", 7)) == ours
    assert judged(project, "thing.py", "return 1", "return 2") is Outcome.FAIL
    assert judged(project, "thing.py", "return 1", "return 2 - 1") is Outcome.PASS


ONLY_A_SUBPROCESS = (
    "import subprocess, sys\ndef test_one():\n    code = 'import thing; assert thing.one() == 1'\n"
    "    done = subprocess.run([sys.executable{}, '-c', code], stderr=subprocess.PIPE)\n"
    "    assert (done.returncode, done.stderr) == (0, b'')\n"
)


def test_interpreters_that_tests_start_see_the_candidate_or_are_found_out(tmp_path: Path, opening: Open) -> None:
    """One that heeds no environment sees the file alone: no candidate could ever have an effect."""
    text, tests = "def one():\n    return 1\n", ONLY_A_SUBPROCESS
    files = {"thing.py": text, "test_thing.py": tests.format(""), "other.py": text}
    files["test_other.py"] = tests.replace("import thing; assert thing", "import other; assert other").format(", '-E'")
    project = opening(write(tmp_path, files))
    assert judged(project, "thing.py", "return 1", "return 2", "test_thing.py") is Outcome.FAIL
    assert judged(project, "thing.py", "return 1", "return 2 - 1", "test_thing.py") is Outcome.PASS
    verdict = project.oracle.judge(project.candidate("other.py", "return 1", "return 2"), ["test_other.py::test_one"])
    assert verdict.outcome is Outcome.NOT_EXECUTED
    assert "other.py" in verdict.detail and verdict.detail in project.notices


BROKEN: list[tuple[dict[str, str], type[Exception], str]] = [
    ({"thing.py": "x = 1\n"}, ProjectError, "no tests"),
    ({"thing.py": "x = 1\n", "test_thing.py": "def test(): assert 0\n"}, ProjectError, "None of the project's 1 tests"),
    ({"test_thing.py": "import nowhere_to_be_found\ndef test(): pass\n"}, TargetError, "nowhere_to_be_found"),
    ({"test_thing.py": "def test(): pass\n", "conftest.py": "import nowhere_at_all\n"}, TargetError, "nowhere_at_all"),
    (
        {"test_thing.py": "1 / 0\ndef test(): pass\n"},
        ProjectError,
        "test_thing.py cannot be imported: ZeroDivisionError",
    ),
    (
        {"test_thing.py": "def test(): pass\n", "pytest.ini": "[pytest]\naddopts = -p nowhere_plugin\n"},
        TargetError,
        "nowhere",
    ),
    ({"test_thing.py": "import os\ndef test(): os._exit(3)\n"}, ProjectError, "test_thing.py::test"),
]


@pytest.mark.parametrize(("files", "error", "says"), BROKEN)
def test_a_project_that_cannot_be_judged_says_why(
    tmp_path: Path, opening: Open, files: dict[str, str], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says) as caught:
        opening(write(tmp_path, files))
    assert "Traceback" not in str(caught.value)


def test_an_interpreter_without_pytest_is_refused_with_the_command(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True)
    oracle = open_oracle(open_codebase(shop(tmp_path)), OracleSettings(sandbox="bubblewrap", cache=False), print)
    with pytest.raises(TargetError, match="has no pytest") as caught:
        oracle.suite(lambda *_: None)
    oracle.close()
    assert f"{tmp_path / '.venv' / 'bin' / 'python'} -m pip install pytest" in caught.value.remedy


def test_progress_is_heard_and_may_cancel(tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    stages: list[str] = []

    def progress(stage: str, done: int, total: int) -> None:
        stages.append(stage)
        if stage == "learning the tests: collected once":
            raise Stop

    oracle = open_oracle(open_codebase(shop(tmp_path)), OracleSettings(sandbox="bubblewrap", cache=False), print)
    with pytest.raises(Stop):
        oracle.suite(progress)
    oracle.close()
    assert stages[0] == "check" and "learning the tests: last to first" in stages


def test_a_second_opening_does_not_run_the_suite_and_knows_what_is_imported(
    tmp_path: Path, opening: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = shop(tmp_path / "project")
    kept = tmp_path / "cache" / "rtc-inspector" / "suites" / "imported"
    first = opening(root, cache=True)
    assert judged(first, "shop/basket.py", "RATE = 2", "RATE = 3") is Outcome.FAIL
    assert not kept.exists()  # what fails has had an effect, and nothing needs to be asked
    assert judged(first, "shop/basket.py", "RATE = 2", "RATE = 1 + 1") is Outcome.PASS
    (before,) = [known.stat().st_ino for known in kept.iterdir()]
    again = opening(root, cache=True)
    assert again.suite.cached and not first.suite.cached
    assert again.suite.tests == first.suite.tests
    assert again.suite.coverage == first.suite.coverage
    assert judged(again, "shop/basket.py", "RATE = 2", "RATE = 3") is Outcome.FAIL
    assert judged(again, "shop/basket.py", "RATE = 2", "RATE = 3 - 1") is Outcome.PASS
    assert [known.stat().st_ino for known in kept.iterdir()] == [before]  # not asked, so not written anew
    (root / "data.txt").write_text("new")
    assert not opening(root, cache=True).suite.cached


def test_one_run_is_enough_to_admit_regions_and_verdicts_wait_for_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root, settings = shop(tmp_path / "project"), OracleSettings(sandbox="bubblewrap")
    codebase, runs = open_codebase(root), Counter[str]()
    usual = IdentityRunner.run

    def counted(self: IdentityRunner, zygote: Zygote, stage: str, progress: Report, **request: Any) -> IdentityRun:
        runs[stage] += 1
        return usual(self, zygote, stage, progress, **request)

    monkeypatch.setattr(IdentityRunner, "run", counted)
    file = codebase.file("shop/basket.py")
    start = file.text.index("result += price")
    region = Region(file.path, Span(start, start + 15), 10, 10, "result += price")

    def opened() -> tuple[Oracle, Item]:
        oracle = open_oracle(codebase, settings, print)
        assert isinstance(oracle, LearnsLater)
        suite = oracle.begin(lambda *_: None)
        (covered,) = cover([region], suite.coverage, RegionSettings(), file)
        return oracle, admit(covered, file, oracle)

    oracle, item = opened()
    assert item.admitted and sum(runs.values()) == 1
    assert isinstance(oracle, LearnsLater) and oracle.known() is None
    oracle.prepare()
    wrong = Candidate(file, Span(start, start + 15), "result -= price")
    assert oracle.judge(wrong, item.tests).outcome is Outcome.FAIL
    assert oracle.judge(replace(wrong, replacement="result = result + price"), item.tests).outcome is Outcome.PASS
    assert oracle.known() is not None and runs["learning the tests: which lines they run"] == 1
    oracle.close()
    runs.clear()
    monkeypatch.setattr(Worker, "judge", lambda *_: pytest.fail("what was admitted is known"))
    again, same = opened()
    again.close()
    assert same == item and not runs


REGISTERED = """ALL = []


class Language:
    def __init_subclass__(cls):
        ALL.append(cls)


class French(Language):
    days = ["lundi"]
    months = ["janvier"]
"""
ONE_BY_ONE = """import time, languages


def test_all():
    time.sleep(0.05)
    assert all(hasattr(each, "months") for each in languages.ALL)


def test_another():
    type("Own", (languages.Language,), {})
    assert languages.ALL[-1].__name__ == "Own"
"""


def test_what_runs_at_import_is_admitted_in_the_own_order_of_the_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fastest test, asked first, spoils the one that notices, which is remembered as the likeliest then."""
    monkeypatch.setattr(trial, "FIRST", 1)
    codebase = open_codebase(write(tmp_path, {"languages.py": REGISTERED, "test_languages.py": ONE_BY_ONE}))
    oracle, asked, usual = (
        open_oracle(codebase, OracleSettings(sandbox="bubblewrap", cache=False), print),
        [0],
        Worker._ask,
    )

    def ask(self: Worker, zygote: Zygote, one: Trial, stages: Sequence[tuple[str, ...]]) -> Observation:
        asked[0] += 1
        return usual(self, zygote, one, stages)

    monkeypatch.setattr(Worker, "_ask", ask)
    assert isinstance(oracle, LearnsLater)
    file, suite, counts = codebase.file("languages.py"), oracle.begin(lambda *_: None), list[int]()
    for text in ('months = ["janvier"]', 'days = ["lundi"]\n    months = ["janvier"]'):
        start, asked[0] = file.text.index(text), 0
        line = file.text[:start].count("\n") + 1
        region = Region(file.path, Span(start, start + len(text)), line, line + text.count("\n"), text)
        (covered,) = cover([region], suite.coverage, RegionSettings(), file)
        item = admit(covered, file, oracle)
        assert item.admitted, item.reason
        counts.append(asked[0])
    oracle.close()
    assert counts == [5, 3], "a fork that refuses; the fastest, all, and twice the one that failed; then this one twice"


def test_a_single_candidate_is_judged_by_one_run_as_plain_pytest_does(tmp_path: Path) -> None:
    codebase = open_codebase(write(tmp_path, LOCALES))
    oracle = open_oracle(codebase, OracleSettings(sandbox="bubblewrap", cache=False), print)
    assert isinstance(oracle, LearnsLater)
    suite, file = oracle.begin(lambda *_: None), codebase.file("words.py")
    for old, new, outcome, says in (
        ('"octobre"', '""', Outcome.FAIL, "whole suite"),
        ('"janvier"', '"january"', Outcome.PASS, "All 2 covering tests passed, and the whole suite of"),
        ('"january"', '""', Outcome.FAIL, "test_english"),
        ("months[0]", "months[0]()", Outcome.FAIL, "not callable"),
    ):
        start = file.text.index(old)
        candidate = Candidate(file, Span(start, start + len(old)), new)
        tests = ["test_a_words.py::test_english", "test_a_words.py::test_made"]
        verdict = oracle.judge_now(candidate, tests, every_test=True)
        assert (verdict.outcome, says in verdict.detail) == (outcome, True), verdict
    assert oracle.known() is None and len(suite.tests) >= 5
    # Some of them need the company of others, which one run in their own order does not tell.
    start = file.text.index('"octobre"')
    honest = Candidate(file, Span(start, start + 9), '"october"')
    verdict = oracle.judge_now(honest, [test.node_id for test in reversed(suite.tests)])
    assert verdict.outcome is Outcome.PASS, verdict
    oracle.close()


def test_a_failure_is_told_before_anything_is_learned_and_nothing_else(tmp_path: Path) -> None:
    """And the run that tells what covers the rest goes on in the same process."""
    codebase = open_codebase(write(tmp_path, LOCALES))
    file, runs = codebase.file("words.py"), list[str]()

    def told(old: str, new: str) -> tuple[Outcome | None, bool]:
        oracle = open_oracle(codebase, OracleSettings(sandbox="bubblewrap", cache=False), print)
        assert isinstance(oracle, LearnsLater)
        start = file.text.index(old)
        verdict = oracle.judge_cold(Candidate(file, Span(start, start + len(old)), new), lambda stage, *_: None)
        learned = oracle.begin(lambda stage, *_: runs.append(stage)) if verdict is None else None
        oracle.close()
        return verdict.outcome if verdict is not None else None, learned is not None and len(learned.tests) >= 5

    assert told("months[0]", "months[0]()") == (Outcome.FAIL, False)
    assert told("months[0]", "months[") == (Outcome.SYNTAX_ERROR, False)
    assert not runs
    assert told('"janvier"', '"january"') == (None, True)
    assert "learning the tests: which lines they run" in runs


def test_a_failure_is_told_though_another_test_fails_anyway(tmp_path: Path) -> None:
    tests = "import thing\n\n\ndef test_broken():\n    assert 0\n\n\ndef test_one():\n    assert thing.one() == 1\n"
    codebase = open_codebase(write(tmp_path, {"thing.py": "def one():\n    return 1\n", "test_thing.py": tests}))
    oracle, file = open_oracle(codebase, OracleSettings(sandbox="bubblewrap", cache=False), print), codebase.files[1]
    assert isinstance(oracle, LearnsLater) and file.path == "thing.py"
    verdict = oracle.judge_cold(Candidate(file, Span(15, 23), "pass"), lambda *_: None)
    oracle.close()
    assert verdict is not None and verdict.outcome is Outcome.FAIL and "test_one" in verdict.detail


def test_what_one_run_takes_for_tampering_is_judged_by_all_that_is_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codebase = open_codebase(shop(tmp_path))
    oracle = open_oracle(codebase, OracleSettings(sandbox="bubblewrap", cache=False), print)
    assert isinstance(oracle, LearnsLater)
    tampered = Verdict(Outcome.TAMPERED, 0.0)
    monkeypatch.setattr(ProjectOracle, "judge_by_one_run", lambda *arguments, **options: (tampered, True))
    oracle.begin(lambda *_: None)
    file = codebase.file("shop/basket.py")
    start = file.text.index("result += price")
    deleted = Candidate(file, Span(start, start + 15), "pass")
    tests = ["tests/test_basket.py::test_total"]
    assert oracle.judge(deleted, tests, confirm=False).outcome is Outcome.FAIL
    assert oracle.judge_now(deleted, tests).outcome is Outcome.FAIL
    oracle.close()


def test_a_first_opening_says_how_long_it_will_take_and_tells_its_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One test that is slower than all others together is not taken for what the others will be."""
    monkeypatch.setattr(suite, "FORECAST_AFTER", 0.5)
    tests = "import time\nimport pytest\nimport thing\n\n\n@pytest.mark.parametrize('n', range(40))\n"
    tests += "def test(n):\n    time.sleep(1.0 if n == 1 else 0.05)\n    assert thing.one() == 1\n"
    write(tmp_path, {"thing.py": "def one():\n    return 1\n", "test_thing.py": tests})
    notices, heard = list[str](), list[tuple[str, int, int]]()
    oracle = open_oracle(open_codebase(tmp_path), OracleSettings(sandbox="bubblewrap", cache=False), notices.append)
    assert isinstance(oracle, LearnsLater)
    oracle.begin(lambda *step: heard.append(step))
    oracle.close()
    (said,) = [text for text in notices if text.startswith("The tests take about")]
    plain, first, _ = re.findall(r"about ([\d.]+) (?:s|min)", said)
    assert 1 <= float(plain) < 15 and float(first) <= float(plain)
    assert [(done, total) for stage, done, total in heard if stage == suite.TRACING and done][-1] == (40, 40)


def test_an_opening_that_was_broken_off_behind_its_first_run_goes_on_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    codebase, heard = open_codebase(shop(tmp_path / "project")), list[str]()
    for _ in range(2):
        oracle = open_oracle(codebase, OracleSettings(sandbox="bubblewrap"), print)
        assert isinstance(oracle, LearnsLater)
        heard.clear()
        oracle.begin(lambda stage, *_: heard.append(stage))
        oracle.prepare()
        oracle.close()  # in the middle of the second run
        verdict = oracle.judge(Candidate(codebase.files[0], Span(0, 0), ""), ["tests/test_basket.py::test_total"])
        assert verdict.outcome is Outcome.INFRASTRUCTURE
    assert heard == []


WRITER = """import pathlib, sqlite3, tempfile, thing

HERE = pathlib.Path(__file__).parent


def test_beside_itself():
    (HERE / "out").mkdir()
    (HERE / "out" / "one.txt").write_text(str(thing.one()))
    assert (HERE / "out" / "one.txt").read_text() == "1"


def test_where_it_runs():
    with open("one.txt", "x") as file:
        file.write(str(thing.one()))
    assert thing.one() == 1 and not pathlib.Path("left.txt").exists()


def test_database():
    connection = sqlite3.connect("one.db")
    connection.execute("create table one (n)")
    assert thing.one() == 1


def test_what_is_there_stays():
    pathlib.Path("thing.py").write_text("")
"""


CHANGER = """import os, pathlib, pytest, other
DATA = pathlib.Path(__file__).with_name("data.txt")


def test_changes():
    with DATA.open("r+") as file:
        assert file.read() == "data"
        file.write(str(other.one()))
    DATA.chmod(0o600)
    os.link(DATA, DATA.with_name("linked"))
    assert DATA.with_name("linked").read_text() == "data1"


def test_reads():
    assert other.one() == 1 and DATA.read_text().startswith("data")


def test_code_stays():
    with pytest.raises(OSError):
        pathlib.Path(__file__).open("r+")
    assert other.one() == 1
"""


@pytest.mark.parametrize(("lazy", "times"), [("", 1), ("import colorsys", 2)])
def test_a_suite_is_collected_once_unless_its_tests_import_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lazy: str, times: int
) -> None:
    """What foreign modules tests import by themselves is there before, where candidates are judged again and again."""
    collected: list[SessionPlan] = []
    usual = Zygote.__init__

    def init(self: Zygote, sandbox: Sandbox, plan: SessionPlan, *others: Any) -> None:
        collected.extend([plan] if plan.config.get("collect") else [])
        usual(self, sandbox, plan, *others)

    monkeypatch.setattr(Zygote, "__init__", init)
    files = {
        "own.py": "def f():\n    return 1\n",
        "test_own.py": f"import own\n\ndef test_f():\n    {lazy}\n    assert own.f()",
    }
    project = Opened(write(tmp_path, files), identity_runs=1)
    try:
        assert project.oracle.judge(project.candidate("own.py", "1", "2"), project.tests).outcome is Outcome.PASS
    finally:
        project.oracle.close()
    assert len(collected) == times and ("colorsys" in collected[-1].config.get("preload", ())) is bool(lazy)


def test_only_tests_that_were_refused_to_write_are_traced_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = (
        "import pytest, thing\n\n\n@pytest.mark.parametrize('n', range(30))\ndef test_plain(n): assert thing.one()\n"
    )
    files = {"thing.py": "def one():\n    return 1\n", "tests/test_write.py": WRITER, "tests/test_plain.py": plain}
    codebase, asked, usual = open_codebase(write(tmp_path, files)), list[int | None](), IdentityRunner.run

    def counted(self: IdentityRunner, zygote: Zygote, stage: str, progress: Report, **request: Any) -> IdentityRun:
        asked.append(len(request["tests"]) if "tests" in request else None)
        return usual(self, zygote, stage, progress, **request)

    monkeypatch.setattr(IdentityRunner, "run", counted)
    oracle = open_oracle(codebase, OracleSettings(sandbox="bubblewrap", cache=False), print)
    assert isinstance(oracle, LearnsLater)
    suite = oracle.begin(lambda *_: None)
    oracle.close()
    assert asked == [None, 4] and len(suite.tests) == 33 and len(suite.excluded) == 1
    covering = suite.coverage.lines["thing.py"][2]
    assert {suite.coverage.tests[place] for place in covering} == {test.node_id for test in suite.tests}


@pytest.mark.parametrize("sandbox", ["bubblewrap", pytest.param("docker", marks=pytest.mark.docker)])
def test_tests_make_files_and_change_data_of_the_project_that_nobody_else_sees(
    tmp_path: Path, opening: Open, sandbox: str, request: pytest.FixtureRequest
) -> None:
    if sandbox == "docker":
        request.getfixturevalue("docker_engine")
    text = "def one():\n    return 1\n"
    files = {"thing.py": text, "tests/test_write.py": WRITER, "other.py": text}
    write(tmp_path, {**files, "tests/test_change.py": CHANGER, "tests/data.txt": "data"})
    project = opening(tmp_path, sandbox=sandbox)
    assert len(project.tests) == 6, project.suite.excluded
    assert "test_what_is_there_stays" in next(iter(project.suite.excluded))
    leaves = "open('left.txt', 'w').close(); return 1"
    spoils = "open('tests/data.txt', 'w').close(); return 1"
    for path, part, unwanted in (("thing.py", "test_write", leaves), ("other.py", "test_change", spoils)):
        for new, outcome in ((unwanted, Outcome.FAIL), ("return 2", Outcome.FAIL), ("return 3 - 2", Outcome.PASS)):
            assert judged(project, path, "return 1", new, f"tests/{part}") is outcome, (path, new)
    assert (tmp_path / "thing.py").read_text() == text and (tmp_path / "tests/data.txt").read_text() == "data"
    names = ["data.txt", "other.py", "test_change.py", "test_write.py", "thing.py"]
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == names
    assert any("Tests make files in ., tests" in notice for notice in project.notices)


def test_a_failure_is_not_shrunk_for_minutes(tmp_path: Path) -> None:
    """A module of the name stands in for hypothesis, which reads this limit at each failure."""
    tests = "from hypothesis.internal.conjecture import engine\nimport thing\n\n\ndef test():\n"
    tests += "    assert engine.MAX_SHRINKING_SECONDS < 10 and thing.one() == 1\n"
    engine = "hypothesis/internal/conjecture/engine.py"
    write(
        tmp_path,
        {"thing.py": "def one():\n    return 1\n", engine: "MAX_SHRINKING_SECONDS = 300\n", "test_it.py": tests},
    )
    codebase = open_codebase(tmp_path)
    oracle = open_oracle(codebase, OracleSettings(sandbox="bubblewrap", cache=False), lambda text: None)
    file = codebase.file("thing.py")
    same = Candidate(file, Span(0, len(file.text)), "def one():\n    return 2 - 1\n")
    assert oracle.judge(same, [case.node_id for case in oracle.suite(lambda *_: None).tests]).outcome is Outcome.PASS
    oracle.close()
