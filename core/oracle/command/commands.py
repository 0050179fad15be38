"""Which command tests a project, how it tells results and coverage, and what it needs of this machine.

Files are read and the tools that are named are asked for their version; nothing of the project runs here.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from rtc_inspector.core.errors import ProjectError, TargetError
from rtc_inspector.core.languages import LANGUAGES, PYTHON, Language, language_of, named
from rtc_inspector.core.settings import OracleSettings

TESTS = "{tests}"
CHECKER = "{build}/tsc"
"""What Vitest calls to check types: it would keep what it knows among its own files, which are read-only."""
_ON_NODE = re.compile(r"(?:^|[\s/])(?:node|npm|npx|pnpm|yarn|jest|vitest|mocha|ava|tape?|uvu)(?=\s|$)")
_PYTHON = ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", "requirements.txt")
_TYPED = {"TypeScript", "TSX"}
"""Files of one project, though each has a grammar of its own."""
_LOCKS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn"}
PATIENCE = 20.0


@dataclass(frozen=True, slots=True)
class Command:
    """A command that tests a project."""

    languages: tuple[Language, ...]  # whose files it judges
    test: str  # as people know it; `{tests}` stands where chosen test files or packages go
    run: str  # the same, so that it tells its results
    everything: str = ""  # what stands for `{tests}` where all tests run
    form: str = "exit"  # of the results, see `core.oracle.command.results`
    results: str = ""  # where they are written; empty where they are printed
    build: str = ""  # run before, for each candidate; may be empty
    coverage: str = ""  # the report that the command writes; empty where none is, or we trace ourselves
    unit: str = ""  # what can be chosen: `file`, `package`, or nothing
    source: str = ""  # where it was found

    @property
    def name(self) -> str:
        """The command without its placeholder: what a test is called where none can be chosen."""
        return " ".join(self.test.replace(TESTS, "").split())

    def line(self, tests: Sequence[str] | None, trace: bool = False) -> str:
        """Return the command for some tests (None: for all), and with `trace` as it tells which lines they ran."""
        chosen = self.everything if tests is None else " ".join(shlex.quote(test) for test in tests)
        run = self.run
        if trace and self.traces == "go":
            run = re.sub(r"\bgo test\b", "go test -coverpkg=./... -coverprofile={run}/cover.out", run, count=1)
        return run.replace(TESTS, chosen)

    @property
    def traces(self) -> str:
        """How covered lines are learned: from the `report` it writes, by Node (`v8`), by `go`, or not at all."""
        if self.coverage:
            return "report"
        if re.search(r"\bgo test\b", self.run):
            return "go"
        return "v8" if _ON_NODE.search(self.run) else ""


def find_command(root: Path, settings: OracleSettings) -> Command | None:
    """Return how the project is tested by a command; None where Python's own oracle judges. Raises UserError."""
    languages = _languages(root, settings)
    if languages is None:
        return None
    test, source = (settings.test_command, "your settings") if settings.test_command else _found(root, languages)
    command = _reporting(root, Command(languages, test, test, source=source))
    if settings.test_results:
        command = replace(command, run=command.test, form="junit", results=settings.test_results)
    return replace(command, build=settings.build_command or command.build, coverage=settings.coverage_report)


def told(command: Command, tools: Tools) -> str:
    """Say how a project is tested, before anything of it runs."""
    names = ", ".join(language.name for language in command.languages)
    results = {"exit": "by exit status and what is printed", "junit": f"by {command.results}"}
    lines = {"report": f"by {command.coverage}", "v8": "by Node itself", "go": "by Go itself"}
    versions = ", ".join(f"{name} {version}" for name, version in tools.versions.items() if version)
    built = f" after `{command.build}`" if command.build else ""
    return (
        f"{names}: tested by `{command.test}`{built} ({command.source}{'; ' + versions if versions else ''}); results "
        f"{results.get(command.form, 'test by test')}, covered lines {lines.get(command.traces, 'unknown')}."
    )


def languages_of(root: Path, settings: OracleSettings) -> tuple[Language, ...]:
    """Return the languages whose files are judged with these settings. Raises UserError."""
    command = find_command(root, settings)
    return command.languages if command is not None else (PYTHON,)


def shown_languages(root: Path) -> tuple[Language, ...]:
    """Return the languages of which the project may hold code that can be judged, by the files that say so."""
    marked = [language for each in _marked(root) for language in each]
    python = [PYTHON] if not marked or any((root / name).is_file() for name in _PYTHON) else []
    return (*python, *marked)


def settings_for(root: Path, path: str, settings: OracleSettings) -> OracleSettings:
    """Return settings under which the language of this file is judged, where these leave it open. Raises UserError."""
    language = language_of(path)
    if language is None or settings.language or settings.test_command or language not in shown_languages(root):
        return settings
    return settings if language in languages_of(root, settings) else replace(settings, language=language.name)


def _languages(root: Path, settings: OracleSettings) -> tuple[Language, ...] | None:
    """Return whose files are judged by a command; None where Python's own oracle judges."""
    others = tuple(language for language in LANGUAGES if language.grammar is not None)
    if settings.language:
        chosen = [named(name.strip()) for name in settings.language.split(",")]
        names = {one.name for one in chosen}
        names |= _TYPED if names & _TYPED else set()
        return tuple(each for each in others if each.name in names) or None
    if settings.test_command:
        return others
    if any((root / name).is_file() for name in _PYTHON):
        return None
    return next(iter(_marked(root)), None)


def _marked(root: Path) -> list[tuple[Language, ...]]:
    """Return the languages of each kind of project that this one is, by a file in its root."""
    markers: dict[str, tuple[Language, ...]] = {}
    for language in LANGUAGES:
        if language.marker and (root / language.marker).is_file():
            markers[language.marker] = (*markers.get(language.marker, ()), language)
    return list(markers.values())


def _found(root: Path, languages: Sequence[Language]) -> tuple[str, str]:
    """Return the command of the first of these languages that has one here, and where it was found."""
    markers = dict.fromkeys(language.marker for language in languages if language.marker)
    for language in languages:
        if not language.marker or not (root / language.marker).is_file():
            continue
        if language.test:
            return language.test, language.marker
        if script := _script(root, "test"):
            manager = next((name for lock, name in _LOCKS.items() if (root / lock).is_file()), "npm")
            return script, f"scripts.test of package.json ({manager})"
        markers = {"script called test in package.json": None}
    raise ProjectError(
        f"Nothing in {root.name} says how it is tested: there is no {' and no '.join(markers) or 'file that tells'}.",
        'Give the command, e.g. --test-command "node --test {tests}".',
    )


_RUN_SCRIPT = re.compile(r"(?:npm|pnpm|yarn)(?: run)?(?: -s| --silent)? (?P<name>[\w:.-]+)")
_BUILDS = re.compile(r"\b(build|compile|tsc|tsup|rollup|webpack|esbuild|swc|babel|unbuild|browserify|copy|cp|mkdir)\b")
_LINTERS = re.compile(r"\b(eslint|prettier|standard|xo|tsd|biome|oxlint|size-limit|tsc --noEmit|attw|publint|knip)\b")


def _script(root: Path, name: str, depth: int = 5) -> str:
    """Return what a script of package.json builds and tests, other scripts that it calls written out.

    Linters and checks of types or sizes are no tests of what code does: beside a runner they are left out.
    """
    try:
        scripts = json.loads((root / "package.json").read_text(encoding="utf-8")).get("scripts") or {}
    except (OSError, ValueError, AttributeError) as error:
        raise ProjectError(f"package.json cannot be read: {error}.", "Mend it, or give --test-command.") from error
    text = str(scripts.get(name, ""))
    if "no test specified" in text:
        return ""
    parts = []
    for part in (each.strip() for each in text.split("&&")):
        called = _RUN_SCRIPT.fullmatch(part)
        inner = called["name"] if called else ""
        parts.append(_script(root, inner, depth - 1) if inner in scripts and depth and inner != name else part)
    tests = [any(rule.says.search(part) for rule in _RULES) for part in parts]
    first = tests.index(True) if any(tests) else 0
    builds = [part for part in parts[:first] if _BUILDS.search(part) and not _LINTERS.search(part)]
    kept = [*builds, *(part for part, runs in zip(parts, tests, strict=True) if runs)]
    if not any(tests):
        kept = [part for part in parts if part and not _LINTERS.search(part)] or parts
    return " && ".join(part for part in kept if part)


# ---- how known runners are made to tell their results


def _program(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?:^|(?<=[\s/])){name}(?=\s|$)")


@dataclass(frozen=True, slots=True)
class _Rule:
    """A runner of tests: the words that name it, those put in their place, and the form of what it then tells."""

    says: re.Pattern[str]
    tells: str
    form: str
    unit: str = "file"
    results: str = ""
    dropped: re.Pattern[str] = field(default=re.compile(r"(?!)"))
    """Options that would contradict."""


_OUT = "{run}/results.json"
_REPORTER = re.compile(r"\s(?:--reporter|-R)(?:=|\s+)\S+")
_COVERAGE = r"\s--(?:coverage|collectCoverage)(?:\.\w+)?(?:=\S+)?(?=\s|$)"
_RULES = (
    _Rule(
        re.compile(r"(?:^|(?<=[\s/]))node\b(?P<options>[^|&;]*?)\s--test(?=\s|$)"),
        r"node\g<options> --test --test-reporter=tap",
        "tap",
    ),
    _Rule(
        _program("vitest(?: run)?"),
        f"vitest run --coverage=false --reporter=json --outputFile={_OUT}",
        "json",
        results=_OUT,
        dropped=re.compile(f"{_REPORTER.pattern}|{_COVERAGE}"),
    ),
    _Rule(
        _program("jest"),
        f"jest --ci --coverage=false --cacheDirectory={{build}}/jest --json --outputFile={_OUT}",
        "json",
        results=_OUT,
        dropped=re.compile(_COVERAGE),
    ),
    _Rule(_program("mocha"), "mocha --reporter tap", "tap", dropped=_REPORTER),
    _Rule(_program("ava"), "ava --tap", "tap"),
    _Rule(_program("tape"), "tape", "tap"),
    # A file's own time limit would set it aside where the machine is busy; there is another for all.
    _Rule(_program("tap"), "tap --reporter=tap --timeout=0", "tap", dropped=_REPORTER),
    _Rule(_program("go test"), "go test -json", "go-json", "package", dropped=re.compile(r"\s-(?:v|json)(?=\s|$)")),
    _Rule(_program("cargo test"), "cargo test", "cargo", ""),
)
_WRAPPERS = re.compile(r"^(?:npx )?(?:c8|nyc)(?:\s+-\S+)*\s+")
_VALUED = re.compile(r"-{1,2}(?:r|c|R|t|u|import|require|loader|config|reporter|ui|timeout|grep|env-file)")


def _reporting(root: Path, command: Command) -> Command:
    """Have a known runner tell each test, and take chosen files; another command is run as it stands."""
    called = _RUN_SCRIPT.fullmatch(command.test.strip())  # `npm test` and its like, written out
    script = _script(root, called["name"]) if called is not None and (root / "package.json").is_file() else ""
    test = script or command.test
    for rule in _RULES:
        if rule.says.search(test) is None:
            continue
        parts = test.split(" && ")
        first = next(place for place, part in enumerate(parts) if rule.says.search(part))
        build = ""
        if all(_BUILDS.search(part) for part in parts[:first]):
            build, test = " && ".join(parts[:first]), " && ".join(parts[first:])
        test = _WRAPPERS.sub("", test.partition(" | ")[0])  # without what makes its output pretty, or measures coverage
        everything = "./..." if rule.unit == "package" else ""
        if rule.unit and TESTS not in test:
            test, everything = _choosing(root, test, rule, everything)
        run = rule.says.sub(rule.tells, rule.dropped.sub("", test), count=1)
        if "vitest run" in rule.tells and not (root / "node_modules/vue-tsc").exists():
            run = re.sub(r"\s--typecheck(?=\s)", f"\\g<0> --typecheck.checker={CHECKER}", run)
        if rule.tells.startswith("tap "):
            run = run.replace(rule.tells, rule.tells + _without_coverage(root), 1)
        told = replace(command, form=rule.form, results=rule.results, unit=rule.unit)
        return replace(told, test=test, run=run, everything=everything, build=build)
    return replace(command, test=test, run=test, unit="file" if TESTS in test else "")


def _choosing(root: Path, test: str, rule: _Rule, everything: str) -> tuple[str, str]:
    """Put the placeholder where the command names its tests; with what it named."""
    found = rule.says.search(test)
    assert found is not None
    head, words = test[: found.end()], test[found.end() :].split()
    kept, named_tests = list[str](), list[str]()
    for place, word in enumerate(words):
        bare = word.strip("'\"")
        value = place > 0 and _VALUED.fullmatch(words[place - 1])
        is_tests = not word.startswith("-") and not value and ("*" in bare or "/" in bare or (root / bare).exists())
        (named_tests if is_tests else kept).append(word)
    return " ".join([head, *kept, TESTS]), " ".join(named_tests) or everything


def _without_coverage(root: Path) -> str:
    """tap measures coverage by itself, and fails where some files are not covered; options differ by its version."""
    try:
        version = json.loads((root / "node_modules/tap/package.json").read_text(encoding="utf-8"))["version"]
        return " --no-coverage" if int(version.partition(".")[0]) < 18 else " --disable-coverage --allow-empty-coverage"
    except (OSError, ValueError, KeyError):
        return ""


# ---- what it needs of this machine


@dataclass(frozen=True, slots=True)
class Tools:
    """Programs that a command needs: where they are, and what a sandbox must show and say for them to work."""

    path: tuple[str, ...]
    readonly: tuple[Path, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    links: tuple[tuple[str, str], ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)


_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/nix/store", "/gnu/store")
_NODE = frozenset(["node", "npm", "npx", "pnpm", "yarn", "corepack"])
INSTALL = {
    "node": "Install Node.js (https://nodejs.org, or your system's package nodejs).",
    "go": "Install Go (https://go.dev/dl, or your system's package golang).",
    "cargo": "Install Rust (https://rustup.rs, or your system's package cargo).",
}


def find_tools(root: Path, command: Command) -> Tools:
    """Find the programs of a command. Raises TargetError where one is missing, ProjectError without node_modules."""
    _check_packages(root, command)
    path, readonly, links = list[str](), list[Path](), list[tuple[str, str]]()
    environment, versions = dict[str, str](), dict[str, str]()
    if (root / "node_modules").is_symlink():
        readonly.append((root / "node_modules").resolve())
    for program in programs(root, command):
        about = tool(program)
        if about is None:
            raise TargetError(
                f"{program}, which `{command.name}` needs, is not installed.",
                INSTALL.get(program, f"Install {program}, or give another --test-command."),
            )
        path += about.path
        readonly += about.readonly
        environment |= about.environment
        links += about.links
        versions |= about.versions
    return Tools(tuple(dict.fromkeys(path)), tuple(dict.fromkeys(readonly)), environment, tuple(links), versions)


def programs(root: Path, command: Command) -> list[str]:
    """Name the programs that a command begins with, and those that its languages always need."""
    own = root / "node_modules" / ".bin"
    found = ["node"] if command.traces == "v8" else []
    for words in _commands(f"{command.build or ':'}; {command.run}"):
        first = next((word for word in words if not re.match(r"\w+=", word)), ":")
        if "/" not in first and not (own / first).exists():
            found.append("node" if first in _NODE else first)
    builtin = {":", "cd", "echo", "exit", "export", "false", "set", "test", "true", "sh", "[", "env"}
    return [word for word in dict.fromkeys(found) if word not in builtin]


def _commands(line: str) -> Iterator[list[str]]:
    reading = shlex.shlex(line, posix=True, punctuation_chars=True)
    reading.whitespace_split = True
    try:
        words = list(reading)
    except ValueError:  # a quote that is never closed: the shell says so itself
        return
    command = list[str]()
    for before, word in pairwise(["", *words, ";"]):
        if set(word) <= set(";&|()"):
            if command:
                yield command
            command = []
        elif not set(word) & set("<>") and not set(before) & set("<>"):  # no file that is read or written
            command.append(word)


@cache
def tool(program: str) -> Tools | None:
    """Find one, shims of version managers resolved by asking it; None where it is not installed or does not answer."""
    found = shutil.which(program)
    if found is None:
        return None
    match program:
        case "node":
            folder = Path(_said("node", "-p", "process.execPath")).parent
            version = _said("node", "--version").removeprefix("v")
            return Tools((str(folder),), _shown(folder.parent), versions={program: version})
        case "go":
            goroot, modules, version = (_said("go", "env", name) for name in ("GOROOT", "GOMODCACHE", "GOVERSION"))
            caches = tuple(path for path in (Path(modules),) if path.is_dir())
            places = {"GOROOT": goroot, "GOMODCACHE": modules} if caches else {"GOROOT": goroot}
            version = version.removeprefix("go")
            return Tools((f"{goroot}/bin",), (*_shown(Path(goroot)), *caches), places, versions={program: version})
        case "cargo" | "rustc":
            home = Path(_said("rustc", "--print", "sysroot"))
            own = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
            caches = tuple(own / name for name in ("registry", "git") if (own / name).is_dir())
            links = tuple((f"{{build}}/cargo/{each.name}", str(each)) for each in caches)
            folder = home / "bin"
            version = _said(str(folder / "rustc"), "--version").removeprefix("rustc ").partition(" ")[0]
            return Tools((str(folder),), (*_shown(home), *caches), links=links, versions={program: version})
    folder = Path(os.path.realpath(found)).parent
    shown = _shown(folder.parent if folder.name == "bin" else folder)
    return Tools((str(Path(found).parent),), shown, versions={program: ""})


def _shown(folder: Path) -> tuple[Path, ...]:
    return () if str(folder).startswith(_SYSTEM) else (folder,)


def _said(*command: str) -> str:
    """Return what a tool says of itself, asked outside of any project, so that none of its files are heeded."""
    try:
        variables = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": ""}
        done = subprocess.run(command, cwd="/", env=variables, capture_output=True, text=True, timeout=PATIENCE)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def _check_packages(root: Path, command: Command) -> None:
    """Raise ProjectError where packages that package.json asks for were never installed."""
    if command.traces != "v8" or (root / "node_modules").exists() or not (root / "package.json").is_file():
        return
    try:
        about: Any = json.loads((root / "package.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    asked = ("dependencies",) if command.run.startswith("node ") else ("dependencies", "devDependencies")
    wanted = {name for key in asked for name in about.get(key, {})} if isinstance(about, dict) else set()
    if wanted:
        raise ProjectError(
            f"{root.name} has no node_modules, and needs {len(wanted)} packages, {min(wanted)} among them.",
            "Install them first, e.g. `npm ci`: tests run without network.",
        )
