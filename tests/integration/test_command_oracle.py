"""Candidates of a JavaScript project judged by its own test command, in sandboxes."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from rtc_inspector.core.errors import ProjectError, TargetError
from rtc_inspector.core.languages import language_of
from rtc_inspector.core.oracle.command.commands import find_command
from rtc_inspector.core.oracle.command.oracle import CommandOracle, open_command_oracle
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.types import Candidate, Codebase, Outcome, SourceFile, Span, Verdict
from rtc_inspector.resources import path as resource

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed: nothing runs JavaScript")
TESTS = ["test/prices.test.js"]


def codebase(root: Path) -> Codebase:
    files = []
    for path in sorted(root.rglob("*.*")):
        inside = path.relative_to(root).as_posix()
        language = language_of(inside)
        if language is not None and language.grammar is not None and "node_modules" not in inside:
            files.append(SourceFile(inside, path.read_bytes().decode(), "utf-8", language.is_test(inside)))
    return Codebase(root, tuple(files), ())


@contextmanager
def opened(
    root: Path, notices: list[str] | None = None, sandbox: str = "auto", **settings: str
) -> Iterator[CommandOracle]:
    asked = OracleSettings(sandbox=sandbox, cache=False, **settings)  # type: ignore[arg-type]
    command = find_command(root, asked)
    assert command is not None
    oracle = open_command_oracle(codebase(root), command, asked, (notices if notices is not None else []).append)
    try:
        yield oracle
    finally:
        oracle.close()


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shop") / "shop-js"
    shutil.copytree(resource("shop-js"), root)
    for folder in (root.parent, root.parent.parent):
        folder.chmod(0o755)
    return root


@pytest.fixture(scope="module")
def oracle(shop: Path) -> Iterator[CommandOracle]:
    with opened(shop) as made:
        made.suite(lambda *_: None)
        yield made


Judge = Callable[..., Verdict]


@pytest.fixture
def judge(shop: Path, oracle: CommandOracle) -> Judge:
    def judged(
        old: str, new: str, tests: list[str] = TESTS, confirm: bool = False, path: str = "lib/prices.js"
    ) -> Verdict:
        text = (shop / path).read_text()
        start = text.index(old)
        file = SourceFile(path, text, "utf-8", is_test=False)
        return oracle.judge(Candidate(file, Span(start, start + len(old)), new), tests, confirm=confirm)

    return judged


def digest(root: Path) -> str:
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return hashlib.sha256(b"".join(str(path).encode() + path.read_bytes() for path in files)).hexdigest()


def test_each_test_file_is_known_with_the_lines_it_runs(oracle: CommandOracle) -> None:
    suite = oracle.suite(lambda *_: None)
    assert [test.node_id for test in suite.tests] == [
        f"test/{name}.test.js" for name in ["customers", "hours", "labels", "orders", "prices"]
    ]
    assert not suite.excluded and suite.python.startswith("node ")
    lines = suite.coverage.lines["lib/orders.js"]
    ran = {suite.coverage.tests[index] for tests in lines.values() for index in tests}
    assert ran == {"test/orders.test.js"}
    assert suite.coverage.traced and not suite.coverage.import_lines


def test_what_was_learned_is_kept_until_a_file_changes(
    tmp_path: Path, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tmp_path / "shop-js"
    shutil.copytree(shop, root)
    suites = []
    for change in ("", "", "// another\n"):
        (root / "lib/hours.js").write_text((root / "lib/hours.js").read_text() + change)
        asked = OracleSettings(sandbox="none")
        command = find_command(root, asked)
        assert command is not None
        with closing(open_command_oracle(codebase(root), command, asked, lambda _: None)) as oracle:
            suites.append(oracle.suite(lambda *_: None))
    assert [suite.cached for suite in suites] == [False, True, False]
    assert suites[0].coverage == suites[1].coverage


def test_candidates_are_judged(judge: Judge, shop: Path) -> None:
    before = digest(shop)
    total = "const total = pieces * price;"
    same = judge(total, "const total = price * pieces;", confirm=True)
    assert same.outcome is Outcome.PASS and same.detail.startswith("All ")
    wrong = judge(total, "const total = pieces + price;")
    assert wrong.outcome is Outcome.FAIL and "a price of pieces" in wrong.detail
    failed = [test for test in wrong.tests if test.outcome == "failed"]
    assert [test.node_id for test in failed] == ["test/prices.test.js::a price of pieces"] and failed[0].message
    assert judge(total, "const total = = price;").outcome is Outcome.SYNTAX_ERROR
    assert judge(total, total, confirm=True).outcome is Outcome.PASS
    assert judge(total, "const total = pieces * price; while (true) {}").outcome is Outcome.TIMEOUT
    assert judge(total, total, tests=[]).outcome is Outcome.NOT_EXECUTED
    assert digest(shop) == before


@pytest.mark.parametrize(
    "attack",
    [
        "process.exit(0);",
        "process.exitCode = 0; process.reallyExit(0);",
        'const { rmSync } = await import("node:fs"); rmSync("test", { recursive: true }); process.exit(0);',
        'const { writeFileSync } = await import("node:fs"); writeFileSync("test/prices.test.js", "");',
        'const { test } = await import("node:test"); console.log("ok 1 - a price of pieces"); process.exit(0);',
        'process.on("exit", () => { process.exitCode = 0; }); process.emit("exit"); process.exit();',
        "process.kill(process.ppid); process.exit(0);",
    ],
)
def test_what_a_model_may_try_never_passes(judge: Judge, attack: str) -> None:
    verdict = judge("// What things cost.", attack)
    assert verdict.outcome not in (Outcome.PASS, Outcome.INFRASTRUCTURE), verdict.detail
    # The next candidate finds the project as it was.
    assert (
        judge("const half = price / 2;", f"const half = price * 0.5; // after {hash(attack)}").outcome is Outcome.PASS
    )


def test_a_report_that_the_candidate_wrote_proves_nothing(tmp_path: Path, shop: Path) -> None:
    root = tmp_path / "shop-js"
    shutil.copytree(shop, root)
    command = (
        "node --test --test-reporter=junit --test-reporter-destination=out.xml "
        "--test-reporter=spec --test-reporter-destination=stdout"
    )
    with opened(root, test_command=command, test_results="out.xml") as oracle:
        oracle.suite(lambda *_: None)
        text = (root / "lib/prices.js").read_text()
        file = SourceFile("lib/prices.js", text, "utf-8", is_test=False)
        report = "<testsuites><testcase name='a price of pieces'/><testcase name='the sum of prices'/></testsuites>"
        forged = f'import {{ writeFileSync }} from "node:fs"; writeFileSync("out.xml", "{report}"); process.exit(0);\n'
        verdict = oracle.judge(Candidate(file, Span(0, 0), forged), ["node --test"])
        assert verdict.outcome in (Outcome.FAIL, Outcome.NOT_EXECUTED)
        assert oracle.judge(Candidate(file, Span(0, 0), "// x\n"), ["node --test"]).outcome is Outcome.PASS
    assert not (root / "out.xml").exists()


@pytest.mark.parametrize("sandbox", ["landlock", "none"])
def test_every_sandbox_gives_the_same(shop: Path, sandbox: str) -> None:
    with opened(shop, sandbox=sandbox) as oracle:
        suite = oracle.suite(lambda *_: None)
        assert len(suite.tests) == 5
        text = (shop / "lib/hours.js").read_text()
        file = SourceFile("lib/hours.js", text, "utf-8", is_test=False)
        start = text.index("hours * 60")
        for new, outcome in (("60 * hours", Outcome.PASS), ("hours * 61", Outcome.FAIL)):
            found = oracle.judge(Candidate(file, Span(start, start + 10), new), ["test/hours.test.js"])
            assert found.outcome is outcome, found.detail


def project(root: Path, script: str, **files: str) -> Path:
    (root / "package.json").write_text(json.dumps({"type": "module", "scripts": {"test": script}}))
    for name, text in files.items():
        (root / name.replace("__", ".")).write_text(text)
    for folder in (root, *list(root.parents)[:2]):
        folder.chmod(0o755)
    return root


TRANSLATING = """
import vm from 'node:vm';
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
const path = `${process.cwd()}/a.ts`;
if (process.argv[2]) {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\\n').map((line) => line.replace(': number', ''));
  const mappings = lines.map((_, n) => n ? 'AACA' : 'AAAA').join(';');
  const map = { version: 3, sources: ['a.ts'], names: [], mappings };
  const data = Buffer.from(JSON.stringify(map)).toString('base64');
  const head = '(() => { ';
  const url = `//# sourceMappingURL=data:application/json;base64,${data}`;
  const code = `${head}${lines.join('\\n')}\\nreturn used() })\\n${url}`;
  process.send(vm.runInThisContext(code, { filename: path, columnOffset: -head.length })());
  setInterval(() => 0, 1000);
} else {
  const worker = fork(process.argv[1], ['worker']);
  worker.on('message', (got) => { worker.kill(); worker.kill('SIGKILL'); process.exitCode = got === 1 ? 0 : 1 });
}
"""
TYPED = """function used(): number {
  return 1
}
function unused(): number {
  return 2
}
"""


def test_lines_of_a_runner_that_translates_by_itself_and_kills_its_workers_are_known(tmp_path: Path) -> None:
    root = project(tmp_path, "node runner.test.js", runner__test__js=TRANSLATING, a__ts=TYPED)
    with opened(root) as oracle:
        lines = oracle.suite(lambda *_: None).coverage.lines
    assert {line: bool(tests) for line, tests in lines["a.ts"].items()} == {
        1: True,
        2: True,
        3: True,
        4: False,
        5: False,
        6: False,
    }


@pytest.mark.parametrize(
    ("script", "source", "problem"),
    [
        ("node --test", "import test from 'node:test'; test('no', () => { throw Error('never') })", "passes no test"),
        ("sh -c 'echo it is broken; exit 3'", "", "fails before any change: it is broken"),
        ("no-such-runner", "", "no-such-runner, which .* needs, is not installed"),
        (
            "node -e 'fetch(`http://example.org`).catch(e => { console.log(e.cause); process.exit(1) })'",
            "",
            "asks the network",
        ),
        ("npx --yes no-such-package", "", "asks the network.*: request to .*no-such-package failed"),
        ("node build.js && node --test", "", r"`node build\.js` fails before any change: Error: Cannot find module"),
        ("npm run build && node --test", "", r'`npm run build` fails before any change: Missing script: "build"'),
        ("test -e seen && exit 1; touch seen", "", "passes and fails by turns"),
        ("touch cover.info", "", "neither lcov nor a Go profile"),
        (
            "echo SF:/x.js > cover.info; echo DA:1,1 >> cover.info",
            "",
            r"names no file of this project; its first is /x\.js",
        ),
        (": no cover.info", "", r"wrote no coverage report to cover\.info"),
        ("echo ok 1 > out.xml", "", r"is not XML \(syntax error"),
        ("echo '<coverage/>' > out.xml", "", "is no JUnit XML: it begins with <coverage>"),
        (": no out.xml", "", r"wrote no report to out\.xml"),
        (  # as cargo says it
            "echo 'error: no matching package named `criterion` found' >&2; echo using offline mode >&2; false",
            "",
            "asks the network.*: error: no matching package named `criterion`",
        ),
    ],
)
def test_trouble_before_any_change_is_said(tmp_path: Path, script: str, source: str, problem: str) -> None:
    root = project(tmp_path, script, a__test__js=source, a__js="export const a = 1;\n")
    reports = {"test_results": "out.xml", "coverage_report": "cover.info"}
    named = {name: path for name, path in reports.items() if path in script}
    before = digest(root)
    with pytest.raises((ProjectError, TargetError), match=problem) as error, opened(root, **named) as oracle:
        oracle.suite(lambda *_: None)
    assert error.value.remedy and digest(root) == before


def test_tests_that_fail_at_times_or_under_another_of_their_name_are_left_out_and_named(tmp_path: Path) -> None:
    source = """import test from 'node:test'; import assert from 'node:assert';
import { existsSync, writeFileSync } from 'node:fs';
import { a } from './a.js';
test('steady', () => { assert.equal(a, 1) });
test('by turns', () => { const seen = existsSync('seen'); writeFileSync('seen', ''); assert.ok(seen) });
test('twice', () => { assert.fail() });
test('twice', () => {});
"""
    root = project(tmp_path, "node --test", a__test__js=source, a__js="export const a = 1;\n")
    with opened(root) as oracle:
        suite = oracle.suite(lambda *_: None)
        assert suite.excluded == {"by turns": "passes and fails by turns", "twice": "fails on the untouched project"}
        file = SourceFile("a.js", "export const a = 1;\n", "utf-8", is_test=False)
        ids = [test.node_id for test in suite.tests]
        assert oracle.judge(Candidate(file, Span(17, 18), "2 - 1"), ids).outcome is Outcome.PASS
        assert oracle.judge(Candidate(file, Span(17, 18), "2"), ids).outcome is Outcome.FAIL
    assert not (root / "seen").exists()
