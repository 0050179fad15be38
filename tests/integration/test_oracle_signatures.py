"""What tests record of the code they call, beside whether they accept it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from oracle_projects import Opened, write

from rtc_inspector.core.types import Outcome, Verdict

BODY = "return n * n"
TESTS = """import pytest
from power import square


@pytest.mark.parametrize("n", range(4))
def test_square(n, record_property):
    try:
        value = square(n)
    except Exception as error:
        record_property("rtc_signature", "error %s: %s" % (type(error).__name__, error))
        raise
    record_property("rtc_signature", "value %r" % (value,))
    assert value == n * n


def test_silent():
    assert square(5) == 25
"""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    root = tmp_path_factory.mktemp("power")
    write(root, {"power.py": f"def square(n):\n    {BODY}\n", "tests/test_power.py": TESTS})
    project = Opened(root, test_timeout_floor=1.0)
    yield project
    project.oracle.close()


def judged(opened: Opened, body: str) -> Verdict:
    tests = sorted(opened.covering("power.py", 2))
    return opened.oracle.judge(opened.candidate("power.py", BODY, body), tests, every_test=True)


def signatures(verdict: Verdict) -> list[str]:
    found = {test.node_id: test.signature for test in verdict.tests}
    assert len(found) == len(verdict.tests) == 5
    return [found[name] for name in sorted(found)]  # test_silent comes first


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return n ** 2", ["", "pass", "pass", "pass", "pass"]),
        ("return n + n", ["", "pass", "value 2", "pass", "value 6"]),
        ("if n == 1: raise ValueError('one')\n    return n * n", ["", "pass", "error ValueError: one", "pass", "pass"]),
        ("return n * n if n < 2 else bytearray(1 << 40)", ["", "pass", "pass", "memory", "memory"]),
    ],
)
def test_a_signature_says_what_the_code_gave(opened: Opened, body: str, expected: list[str]) -> None:
    assert signatures(judged(opened, body)) == expected


def test_tests_behind_one_that_ends_the_process_are_run_too(opened: Opened) -> None:
    verdict = judged(opened, "import os\n    while n == 1: pass\n    if n == 2: os.abort()\n    return n * n")
    assert verdict.outcome in (Outcome.TIMEOUT, Outcome.CRASH)
    assert signatures(verdict) == ["", "pass", "timeout", "crash", "pass"]


def test_code_that_is_not_loaded_gives_the_same_everywhere(opened: Opened) -> None:
    verdict = judged(opened, "return n *")
    assert verdict.outcome is Outcome.SYNTAX_ERROR
    (said,) = set(signatures(verdict))
    assert said.startswith("error SyntaxError: ")
    assert {test.outcome for test in verdict.tests} == {"missing"}


def test_a_long_signature_is_cut_and_stays_its_own(opened: Opened) -> None:
    one, other = (signatures(judged(opened, f"return 'a' * 50_000 + '{end}'"))[1] for end in "bc")
    assert one != other and one[:9000] == other[:9000] and len(one) < 20_000
