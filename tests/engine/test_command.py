"""The test command of a project: how it is found, how its results are read, and what outcome they prove."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.oracle.command.commands import Command, Tools, find_command, find_tools, told
from rtc_inspector.core.oracle.command.results import passed_count, read_results
from rtc_inspector.core.oracle.command.verdict import Expected, Ran, outcome_of
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.source.codebase import open_codebase
from rtc_inspector.core.types import Outcome


def written(root: Path, script: str = "", **files: str) -> Path:
    root.mkdir(exist_ok=True)
    if script:
        (root / "package.json").write_text(json.dumps({"scripts": {"test": script, "unit": "mocha -R dot test/*.js"}}))
    for name, text in files.items():
        (root / name.replace("__", ".")).write_text(text)
    return root


def found(root: Path, **settings: Any) -> Command:
    command = find_command(root, OracleSettings(**settings))
    assert command is not None
    return command


WRITTEN = "--outputFile={run}/results.json"


# ---- finding it


@pytest.mark.parametrize(
    ("script", "run", "everything", "form"),
    [
        ("node --test", "node --test --test-reporter=tap {tests}", "", "tap"),
        (
            "node --import tsx --test test/*.ts",
            "node --import tsx --test --test-reporter=tap {tests}",
            "test/*.ts",
            "tap",
        ),
        ("c8 --all node --test", "node --test --test-reporter=tap {tests}", "", "tap"),
        ("eslint . && npm run unit", "mocha --reporter tap {tests}", "test/*.js", "tap"),
        ("npm run unit && tsd", "mocha --reporter tap {tests}", "test/*.js", "tap"),
        ("tape test/*.js | tap-spec", "tape {tests}", "test/*.js", "tap"),
        ("npx tap --timeout=60", "npx tap --reporter=tap --timeout=0 --timeout=60 {tests}", "", "tap"),
        ("mocha -r ts-node/register", "mocha --reporter tap -r ts-node/register {tests}", "", "tap"),
        ("vitest", f"vitest run --coverage=false --reporter=json {WRITTEN} {{tests}}", "", "json"),
        (
            "vitest run --typecheck --coverage.enabled=true --reporter=dot",
            f"vitest run --coverage=false --reporter=json {WRITTEN} --typecheck --typecheck.checker={{build}}/tsc "
            "{tests}",
            "",
            "json",
        ),
        (
            "jest --env node --coverage",
            f"jest --ci --coverage=false --cacheDirectory={{build}}/jest --json {WRITTEN} --env node {{tests}}",
            "",
            "json",
        ),
        ("make check", "make check", "", "exit"),
    ],
)
def test_a_script_is_made_to_tell_its_results(
    tmp_path: Path, script: str, run: str, everything: str, form: str
) -> None:
    command = found(written(tmp_path, script))
    assert (command.run, command.everything, command.form) == (run, everything, form)
    assert [language.name for language in command.languages] == ["JavaScript", "TypeScript", "TSX"]
    assert "package.json" in command.source


def test_what_builds_runs_before_the_tests_by_itself(tmp_path: Path) -> None:
    root = written(tmp_path, "eslint . && tsc && npm run bundle && c8 mocha && tsd")
    scripts = {**json.loads((root / "package.json").read_text())["scripts"], "bundle": "rollup -c"}
    (root / "package.json").write_text(json.dumps({"scripts": scripts}))
    command = found(root)
    assert (command.build, command.run) == ("tsc && rollup -c", "mocha --reporter tap {tests}")
    assert "tested by `mocha {tests}` after `tsc && rollup -c`" in told(command, Tools((), ()))
    assert found(root, build_command="make").build == "make"
    command = found(root, test_command="cd lib && mocha")
    assert (command.build, command.run) == ("", "cd lib && mocha --reporter tap {tests}")


def test_files_of_a_project_say_how_it_is_tested(tmp_path: Path) -> None:
    go = found(written(tmp_path, go__mod="module example.org/m\n"))
    assert (go.line(None), go.line(["./a b"]), go.form) == ("go test -json ./...", "go test -json './a b'", "go-json")
    assert "-coverprofile" in go.line(["."], trace=True)
    written(tmp_path, Cargo__toml="[package]\n")
    assert found(tmp_path, language="Rust").form == "cargo"
    written(tmp_path, pyproject__toml="")
    assert find_command(tmp_path, OracleSettings()) is None  # Python's own oracle


def test_settings_go_before_what_is_found(tmp_path: Path) -> None:
    root = written(tmp_path, "mocha", pyproject__toml="")
    command = found(root, test_command="jake {tests}", test_results="out/*.xml", build_command="make")
    assert (command.run, command.form, command.results, command.build) == ("jake {tests}", "junit", "out/*.xml", "make")
    assert "Python" not in {language.name for language in command.languages}
    assert found(root, test_command="npm test").run == "mocha --reporter tap {tests}"


def test_no_command_and_no_packages_are_said_with_what_to_do(tmp_path: Path) -> None:
    written(tmp_path, 'echo "Error: no test specified" && exit 1')
    with pytest.raises(ProjectError, match="no script called test") as error:
        find_command(tmp_path, OracleSettings())
    assert "--test-command" in error.value.remedy
    (tmp_path / "package.json").write_text('{"scripts": {"test": "mocha"}, "devDependencies": {"mocha": "1"}}')
    with pytest.raises(ProjectError, match="has no node_modules") as error:
        find_tools(tmp_path, found(tmp_path))
    assert "npm ci" in error.value.remedy
    with pytest.raises(ProjectError, match="holds no Python file") as error:
        open_codebase(written(tmp_path / "lib", a__js="let a = 1;\n"))
    assert "Its JavaScript is judged by a test command" in error.value.remedy
    (tmp_path / "package.json").write_text("{")
    with pytest.raises(ProjectError, match=r"package\.json cannot be read"):
        find_command(tmp_path, OracleSettings())


# ---- reading results

TAP = """\
TAP version 13
# Subtest: adds
ok 1 - adds
  ---
  duration_ms: 21.5
  ...
# Subtest: group
    ok 1 - inner
    not ok 2 - bad
      ---
      duration_ms: 2
      error: 'Expected 1 to be 2'
      ...
    ok 3 - later # SKIP
    1..3
not ok 2 - group
  ---
  error: '1 subtest failed'
  ...
ok 3 - test/a.js # time=12ms {
    ok 1 - buffered
}
not ok 4 - test/broken.js
1..4
# pass 3
"""
GO = "\n".join(
    [
        '{"Action":"output","Package":"m/a","Test":"TestX","Output":"    a_test.go:3: got 1\\n"}',
        '{"Action":"fail","Package":"m/a","Test":"TestX","Elapsed":0.5}',
        '{"Action":"pass","Package":"m/a","Test":"TestY/sub","Elapsed":0}',
        '{"Action":"pass","Package":"m/a"}',
    ]
)
JUNIT = """<testsuites><testsuite><testcase classname="c" name="a" time="0.5"/><testcase name="b"><failure message="no">
why</failure></testcase><testcase name="s"><skipped/></testcase></testsuite></testsuites>"""
JEST = json.dumps(
    {
        "testResults": [
            {
                "name": "a.test.js",
                "status": "failed",
                "assertionResults": [
                    {"fullName": "x y", "status": "passed", "duration": 5},
                    {"fullName": "z", "status": "failed", "failureMessages": ["no"]},
                    {"fullName": "t", "status": "todo"},
                ],
            },
            {"name": "b.test.js", "status": "failed", "assertionResults": [], "message": "Cannot find module"},
        ]
    }
)
CARGO = """\
test tests::adds ... ok
test tests::odd ... FAILED
test slow ... ignored

failures:

---- tests::odd stdout ----
thread 'tests::odd' panicked at src/lib.rs:9:5:
assertion failed

failures:
    tests::odd
test result: FAILED. 1 passed; 1 failed; 1 ignored
"""


@pytest.mark.parametrize(
    ("form", "out", "reports", "results"),
    [
        (
            "tap",
            TAP,
            [],
            [
                "::adds passed",
                "::group > inner passed",
                "::group > bad failed",
                "::group > later skipped",
                "::test/a.js > buffered passed",
                "::test/broken.js failed",
            ],
        ),
        ("go-json", GO, [], ["m/a::TestX failed", "m/a::TestY/sub passed"]),
        ("junit", "", [JUNIT], ["::c > a passed", "::b failed", "::s skipped"]),
        (
            "json",
            "",
            [JEST],
            ["a.test.js::x y passed", "a.test.js::z failed", "a.test.js::t skipped", "b.test.js:: error"],
        ),
        ("cargo", CARGO, [], ["::tests::adds passed", "::tests::odd failed", "::slow skipped"]),
        ("exit", "anything", [], []),
    ],
)
def test_results_are_read(form: str, out: str, reports: Sequence[str], results: list[str]) -> None:
    read = read_results(form, out, "", reports)
    assert [f"{each.node_id} {each.outcome}" for each in read] == results
    for each in read:
        assert bool(each.message) == (each.outcome in ("failed", "error") and each.node_id != "::test/broken.js")


def test_what_lost_its_name_to_a_time_limit_of_tap_is_no_test() -> None:
    ended = """\
    # Subtest: fast
        ok 1 - first
        1..1
    ok 1 - fast # time=4.751ms
    # Subtest: slow
        ok 1 - second
        not ok 2 - timeout!
          ---
          expired: test/slow.js
          ...
        1..2
    not ok 2 - timeout!
    1..2
not ok 1 - test/slow.js # time=2069.642ms
"""
    read = read_results("tap", ended, "", ())
    assert [(each.node_id, each.outcome) for each in read] == [
        ("::test/slow.js > fast > first", "passed"),
        ("::test/slow.js > timeout!", "failed"),
    ]


@pytest.mark.parametrize("text", ["no XML", "<html/>"])
def test_a_report_in_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="XML"):
        read_results("junit", "", "", [text])


@pytest.mark.parametrize(
    ("printed", "count"),
    [
        ("# tests 3\n# pass 2\n", 2),
        ("  12 passing (5ms)\n  1 failing", 12),
        ("Tests:       1 failed, 4 passed, 5 total", 4),
        ("test result: ok. 3 passed; 0 failed\ntest result: ok. 2 passed;", 5),
        ("\x1b[32mOK\x1b[0m", None),
        ("OK (7 tests, 9 assertions)", 7),
        ("5 runs, 9 assertions, 0 failures", 5),
    ],
)
def test_what_runners_print_is_counted(printed: str, count: int | None) -> None:
    assert passed_count(printed, "") == count


# ---- outcomes


def ran(form: str, out: str, status: int = 0, err: str = "", **more: Any) -> Ran:
    step = {"exit": status, "killed": "", "seconds": 1.0, "out": out, "err": err}
    reply = {"steps": [step | more.pop("step", {})], "altered": [], "reports": [], **more}
    return Ran(reply, read_results(form, out, err, ()))


NODE = Command((), "node --test", "node --test {tests}", form="tap")
CARGO_TEST = Command((), "cargo test", "cargo test", form="cargo")
ANY = Command((), "make check", "make check")
TWO = Expected({"a": 1, "b": 1}, 2, 0, 1.0)
BOTH = "ok 1 - a\nok 2 - b\n# pass 2\n"


@pytest.mark.parametrize(
    ("run", "outcome"),
    [
        (ran("tap", BOTH), Outcome.PASS),
        (ran("tap", BOTH + "ok 3 - new\n"), Outcome.PASS),
        (ran("tap", "ok 1 - a\nnot ok 2 - b\n", 1), Outcome.FAIL),
        (ran("tap", BOTH, 1), Outcome.FAIL),
        (ran("tap", ""), Outcome.NOT_EXECUTED),  # it ended the process with 0
        (ran("tap", "ok 1 - a\n# pass 1\n"), Outcome.NOT_EXECUTED),
        (ran("tap", "ok 1 - a\nok 2 - b # SKIP\n# pass 1\n"), Outcome.NOT_EXECUTED),
        (ran("tap", "ok 1 - a\nok 2 - b\n# pass 1\n"), Outcome.NOT_EXECUTED),  # a report says more than the runner
        (ran("tap", BOTH, altered=["test/a.js"]), Outcome.TAMPERED),
        (ran("tap", BOTH, step={"killed": "timeout"}), Outcome.TIMEOUT),
        (ran("tap", "", 134, "FATAL ERROR: JavaScript heap out of memory"), Outcome.OUT_OF_MEMORY),
        (ran("tap", "", 137), Outcome.OUT_OF_MEMORY),
        (ran("tap", "", 139), Outcome.CRASH),
        (ran("tap", "", -11), Outcome.CRASH),
    ],
)
def test_a_pass_needs_all_that_the_untouched_project_gives(run: Ran, outcome: Outcome) -> None:
    assert outcome_of(run, TWO, NODE, {})[0] is outcome


def test_tests_that_fail_anyway_prove_nothing() -> None:
    expected = Expected({"a": 1}, 1, 1, 1.0)
    run = ran("tap", "ok 1 - a\nnot ok 2 - b\n# pass 1\n", 1)
    assert outcome_of(run, expected, NODE, {"b": "fails on the untouched project"})[0] is Outcome.PASS
    assert outcome_of(run, expected, NODE, {})[0] is Outcome.FAIL


def test_what_does_not_build_is_a_syntax_error() -> None:
    out, detail = outcome_of(ran("cargo", "", 101, "error[E0425]: cannot find value `x`\n"), TWO, CARGO_TEST, {})
    assert out is Outcome.SYNTAX_ERROR and "cannot find value" in detail
    built = Command((), "make check", "make check", build="make")
    assert outcome_of(ran("exit", "", 2, "x.c:1:2: error: no"), TWO, built, {})[0] is Outcome.SYNTAX_ERROR


def test_a_number_is_compared_where_no_names_are_told() -> None:
    expected = Expected({}, 4, 0, 1.0)
    assert outcome_of(ran("exit", "4 passed"), expected, ANY, {})[0] is Outcome.PASS
    assert outcome_of(ran("exit", "3 passed"), expected, ANY, {})[0] is Outcome.NOT_EXECUTED
    assert outcome_of(ran("exit", ""), expected, ANY, {})[0] is Outcome.NOT_EXECUTED
    assert outcome_of(ran("exit", "1 failed", 1), expected, ANY, {})[0] is Outcome.FAIL


def test_what_is_run_is_said_before(tmp_path: Path) -> None:
    from rtc_inspector.core.oracle.command.commands import Tools

    said = told(found(written(tmp_path, "node --test")), Tools((), (), versions={"node": "20.1.0"}))
    assert "`node --test {tests}`" in said and "package.json" in said and "node 20.1.0" in said
