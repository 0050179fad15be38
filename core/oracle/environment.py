"""What a project requires, whether an interpreter has it, and an environment made with it on the user's request."""

import configparser
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import distributions
from pathlib import Path
from typing import IO, Any

from packaging.markers import default_environment
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from platformdirs import user_cache_path

from rtc_inspector.core import platform
from rtc_inspector.core.errors import ProjectError, TargetError
from rtc_inspector.core.oracle.command.commands import find_command, find_tools, told
from rtc_inspector.core.oracle.interpreter import Interpreter, describe, find_interpreter
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.waiting import Poll, no_poll, wait_for

LAYOUT = 1  # part of every key: raised when environments are made in another way

OF_TESTS = ("test", "tests", "testing")
OF_DEVELOPERS = ("dev", "develop", "development")
"""Names of extras, dependency groups and files that hold what tests need; developers' only where tests have none."""

# A name, perhaps with extras, versions and a marker: nothing that pip would have to build by running foreign code.
_PLAIN = re.compile(r"[A-Za-z0-9][\w.-]*\s*(\[[\w\s,.-]*\])?\s*(\(?[<>=!~][^@]*)?(;.*)?$")
_NESTED = re.compile(r"(?:-r|--requirement)[\s=]+(\S+)")


@dataclass(frozen=True, slots=True)
class Requirements:
    """Requirements to install."""

    lines: tuple[str, ...]  # as pip reads them, sorted, each once
    sources: tuple[str, ...]  # files they were found in, for people
    left_out: tuple[str, ...]  # what is not a name with versions, as it stood


@dataclass(frozen=True, slots=True)
class Install:
    """Requirements to install, and where they come from."""

    wanted: Requirements
    wheels: Path | None  # a folder, used without network; None asks the index that pip is set up for
    python: str = "python3"  # of the image, where one is built

    def key(self, *base: str) -> str:
        """Return a key of all that an environment made on `base` holds.

        Raises TargetError when there is no folder `wheels`.
        """
        facts = [LAYOUT, *base, self.wanted.lines, _contents(self.wheels)]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]

    def pip_arguments(self, wheels: str) -> list[str]:
        """Return the arguments of `pip install`, with the wheels at `wheels`.

        Only wheels are taken: other distributions run foreign code to be built.
        """
        source = ["--no-index", "--find-links", wheels] if self.wheels is not None else []
        return ["install", "--only-binary", ":all:", "--no-input", "--disable-pip-version-check", *source]

    @property
    def said(self) -> str:
        where = f"from {self.wheels}" if self.wheels is not None else "from the package index, over the network"
        named = ", ".join(self.wanted.sources) or "nothing is declared"
        text = f"Installing {len(self.wanted.lines)} requirements ({named}) {where}; they are kept for later runs."
        return text + (f" Left out: {', '.join(self.wanted.left_out)}." if self.wanted.left_out else "")


def read_install(root: Path, settings: OracleSettings) -> Install | None:
    """Return what the settings ask to be installed; None when nothing. Raises TargetError."""
    if not settings.install:
        return None
    wheels = Path(settings.wheels).expanduser().absolute() if settings.wheels is not None else None
    return Install(read_requirements(root, settings.requirements), wheels, settings.python or "python3")


def _contents(wheels: Path | None) -> list[list[str]] | None:
    if wheels is None:
        return None
    if not wheels.is_dir():
        raise TargetError(f"There is no folder of wheels at {wheels}.", "Make one with `pip download -d FOLDER ...`.")
    files = sorted(wheels.glob("*.whl"))
    return [[file.name, hashlib.sha256(file.read_bytes()).hexdigest()] for file in files]


def read_requirements(root: Path, given: str | None) -> Requirements:
    """Read from the file `given`, else from the project's own files; pytest is always among them.

    Raises TargetError.
    """
    found = _given(Path(given).expanduser()) if given is not None else _declared(root)
    lines = [line for listed in found.values() for line in listed]
    plain = {line for line in lines if _PLAIN.match(line)}
    if not any(re.match(r"pytest\b(?!-)", line, re.IGNORECASE) for line in plain):
        plain.add("pytest")
    # The project itself is judged as it stands in its folder.
    odd = (
        line for line in lines if line.strip() and not _PLAIN.match(line) and line not in ("-e .", ".", "--editable .")
    )
    return Requirements(tuple(sorted(plain)), tuple(found), tuple(dict.fromkeys(odd)))


def _given(file: Path) -> Mapping[str, list[str]]:
    if not file.is_file():
        raise TargetError(
            f"There is no requirements file {file}.", "Name one, or leave it out to use what the project declares."
        )
    return {str(file): list(_lines(file))}


def _declared(root: Path) -> Mapping[str, list[str]]:
    found = _read(root, OF_TESTS)
    return found if found != _read(root, ()) else _read(root, OF_DEVELOPERS)


def _read(root: Path, names: Sequence[str]) -> Mapping[str, list[str]]:
    readers: dict[str, Callable[[Path], Iterator[str]]] = {
        "pyproject.toml": partial(_pyproject, names),
        "setup.cfg": partial(_setup_cfg, names),
        **dict.fromkeys(_files(names), _lines),
    }
    read = {name: list(reader(root / name)) for name, reader in readers.items() if (root / name).is_file()}
    return {name: lines for name, lines in read.items() if any(lines)}


def _files(names: Sequence[str]) -> Iterator[str]:
    yield from ("requirements.txt", "requirements/base.txt", "requirements/main.txt")
    for name in names:
        yield from (f"requirements-{name}.txt", f"requirements_{name}.txt", f"{name}-requirements.txt")
        yield f"requirements/{name}.txt"


def _lines(file: Path, seen: frozenset[Path] = frozenset()) -> Iterator[str]:
    """Yield the lines of a requirements file and of those it names, without comments and hashes.

    Hashes are left to those who use pip themselves.
    """
    if not file.is_file() or file in seen:
        return
    for line in re.sub(r"\\\r?\n", " ", file.read_text(encoding="utf-8-sig", errors="replace")).splitlines():
        text = re.sub(r"(^|\s)#.*| --hash[=\s]\S+", "", line).strip()
        if nested := _NESTED.fullmatch(text):
            yield from _lines((file.parent / nested.group(1)).resolve(), seen | {file.resolve()})
        elif text:
            yield text


def _pyproject(names: Sequence[str], file: Path) -> Iterator[str]:
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TargetError(f"{file} cannot be read: {error}.", "Mend it, or name a requirements file.") from error
    project = _table(data, "project")
    yield from _texts(project.get("dependencies"))
    extras, groups = _table(project, "optional-dependencies"), _table(data, "dependency-groups")
    for name in names:
        yield from _texts(extras.get(name))
        yield from _group(groups, name, frozenset())


def _group(groups: Mapping[str, Any], name: str, seen: frozenset[str]) -> Iterator[str]:
    if name in seen:
        return
    for entry in groups.get(name) or ():
        if isinstance(entry, dict):
            yield from _group(groups, str(entry.get("include-group")), seen | {name})
        else:
            yield str(entry)


def _setup_cfg(names: Sequence[str], file: Path) -> Iterator[str]:
    parser = configparser.RawConfigParser(strict=False)
    with suppress(configparser.Error, UnicodeDecodeError):
        parser.read(file, encoding="utf-8")
    yield from parser.get("options", "install_requires", fallback="").split("\n")
    for name in names:
        yield from parser.get("options.extras_require", name, fallback="").split("\n")


def _table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = data.get(key)
    return found if isinstance(found, dict) else {}


def _texts(values: object) -> Iterator[str]:
    yield from map(str, values if isinstance(values, list) else ())


PATIENCE = 1800.0
KEPT_SECONDS = 90 * 24 * 3600  # environments that were not used for so long go
_DONE = "rtc-inspector.json"

Notice = Callable[[str], None]


def environments_folder() -> Path:
    """Return the folder where the environments of projects are kept."""
    return user_cache_path("rtc-inspector") / "environments"


def environment_for(
    base: Interpreter, install: Install, folder: Path, notice: Notice, poll: Poll = no_poll
) -> Interpreter:
    """Return the interpreter of an environment with what is asked, made unless `folder` has one of the same content.

    Raises TargetError, and what `poll` raises; then nothing half made stays.
    """
    home = _home(base, install, folder)
    with _locked(folder, home.name, poll):
        if not (home / _DONE).is_file():
            _make(home, base, install, notice, poll)
        os.utime(home)
    _sweep(folder, home)
    return describe(home / "bin" / "python")


def _home(base: Interpreter, install: Install, folder: Path) -> Path:
    return folder / install.key(str(base.executable), base.version_text, base.tag)


def _make(home: Path, base: Interpreter, install: Install, notice: Notice, poll: Poll) -> None:
    """Make it in place, for environments cannot be moved; what is not finished is made anew. Raises TargetError."""
    notice(install.said)
    shutil.rmtree(home, ignore_errors=True)
    try:
        # Without site packages, so that no line of a .pth file runs outside the sandbox.
        venv = [str(base.executable), "-I", "-S", "-B", "-m", "venv", "--without-pip", str(home)]
        _run(venv, "make an environment", poll)
        pip = [*_pip(base), "--python", str(home / "bin" / "python"), *install.pip_arguments(str(install.wheels))]
        _run([*pip, *install.wanted.lines], "install what the project requires", poll)
        (home / _DONE).write_text(json.dumps({"requirements": install.wanted.lines, "from": install.wanted.sources}))
        home.chmod(0o755)
    except BaseException:
        shutil.rmtree(home, ignore_errors=True)
        raise


def _pip(base: Interpreter) -> list[str]:
    """Return a pip that can install into another environment. Raises TargetError."""
    for executable in (sys.executable, str(base.executable)):
        command = [executable, "-I", "-m", "pip"]
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run([*command, "--version"], capture_output=True, check=True, timeout=60)
            return command
    raise TargetError(
        "There is no pip to install the requirements with.",
        f"Run `{sys.executable} -m ensurepip`, or install them yourself and name their interpreter with --python.",
    )


def _run(command: Sequence[str], what: str, poll: Poll) -> None:
    try:
        run_to_end(command, PATIENCE, poll)
    except subprocess.CalledProcessError as error:
        raise _failed(what, error.stderr or error.stdout) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _failed(what, str(error)) from error


def _failed(what: str, said: str) -> TargetError:
    lines = [line for line in said.splitlines() if line.startswith("ERROR")] or said.strip().splitlines()[-1:]
    reason = (lines or ["it said nothing"])[0].removeprefix("ERROR: ").rstrip(".")
    return TargetError(
        f"pip cannot {what}: {reason}.",
        "Only wheels are installed: check that pip reaches its index, build those that are missing (`pip wheel`) into "
        "a folder and give it with --wheels, or make an environment yourself and name its interpreter with --python.",
    )


@contextmanager
def _locked(folder: Path, name: str, poll: Poll) -> Iterator[None]:
    """Let one maker in at a time. Raises TargetError, and what `poll` raises."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{name}.lock").open("w") as file:
            lock(file, poll)
            yield
    except OSError as error:
        raise TargetError(
            f"No environment can be made in {folder}: {error.strerror}.", "Free some space, or set XDG_CACHE_HOME."
        ) from error


def _sweep(folder: Path, used: Path) -> None:
    for old in folder.iterdir():
        with suppress(OSError):  # another process may sweep too
            if old != used and old.is_dir() and old.stat().st_mtime < time.time() - KEPT_SECONDS:
                shutil.rmtree(old, ignore_errors=True)
                old.with_suffix(".lock").unlink(missing_ok=True)


NAMED = 6  # requirements that a sentence names; of more it gives the number
Versions = Mapping[str, Sequence[str]]  # versions there are, by normalised name


@dataclass(frozen=True, slots=True)
class Standing:
    """One line for people, and the requirements that are missing, as the project writes them.

    `by_command`: the project is in another language, and tested by a command.
    """

    said: str
    missing: tuple[str, ...] = ()
    by_command: bool = False


def check_environment(root: Path, settings: OracleSettings) -> Standing:
    """Return what a run with these settings would lack.

    Raises TargetError, and ProjectError where there is no project.
    """
    if not root.is_dir():
        raise ProjectError(f"There is no project folder {root}.", "Open a folder.")
    command = find_command(root, settings)
    if command is not None:
        return Standing(told(command, find_tools(root, command)), by_command=True)
    if settings.image is not None:
        return Standing("The interpreter is the image's own: what it lacks is seen when the run begins.")
    install = read_install(root, settings)
    chosen = settings.python or (None if install is None else sys.executable)
    interpreter = find_interpreter(root, chosen, lambda text: None)  # what is said below names it
    if install is None:
        return _installed(read_requirements(root, settings.requirements), interpreter)
    return _to_install(install, interpreter)


def _installed(wanted: Requirements, interpreter: Interpreter) -> Standing:
    found = distributions(path=list(map(str, interpreter.site_folders)))
    lacks = _lacks(wanted, interpreter, _versions((each.metadata["Name"], each.version) for each in found))
    if lacks:
        return Standing(
            f"{interpreter.executable} lacks {_some(lacks, wanted)}: {_named(lacks)}. "
            "Have the requirements installed, or name another interpreter.",
            lacks,
        )
    return Standing(f"{interpreter.executable} has {_all(wanted)}.")


def _to_install(install: Install, base: Interpreter) -> Standing:
    wanted = install.wanted
    left = f" Left out: {_named(wanted.left_out)}." if wanted.left_out else ""
    if (_home(base, install, environments_folder()) / _DONE).is_file():
        return Standing(f"{_all(wanted).capitalize()}: installed already, and kept from before.{left}")
    if install.wheels is None:
        return Standing(f"{_all(wanted).capitalize()}: installed over the network when a run begins.{left}")
    lacks = _lacks(wanted, base, _versions(_wheels(install.wheels)))
    if lacks:
        return Standing(f"{install.wheels} has no wheel for {_some(lacks, wanted)}: {_named(lacks)}.{left}", lacks)
    return Standing(f"{_all(wanted).capitalize()}: installed from {install.wheels} when a run begins.{left}")


def _lacks(wanted: Requirements, interpreter: Interpreter, there: Versions) -> tuple[str, ...]:
    """Packages that hold for this interpreter and that nothing in `there` satisfies, each once.

    A package that several files ask for is named by its longest line, which says most of its versions.
    """
    longest: dict[str, str] = {}
    for line in wanted.lines:
        if not _satisfied(line, interpreter, there):
            name = _package(line)
            longest[name] = max(longest.get(name, ""), line, key=len)
    return tuple(longest.values())


def _package(line: str) -> str:
    """Return the name of what a line asks for, whatever it says of versions."""
    try:
        return canonicalize_name(Requirement(line).name)
    except InvalidRequirement:
        return line


def _count(wanted: Requirements) -> int:
    return len({_package(line) for line in wanted.lines})


def _satisfied(line: str, interpreter: Interpreter, there: Versions) -> bool:
    """True also for what cannot be read: pip is the one to say so."""
    try:
        requirement = Requirement(line)
    except InvalidRequirement:
        return True
    if requirement.marker is not None and not requirement.marker.evaluate(_environment(interpreter)):
        return True
    versions = there.get(canonicalize_name(requirement.name), ())
    return any(requirement.specifier.contains(version, prereleases=True) for version in versions)


def _environment(interpreter: Interpreter) -> dict[str, str]:
    """Return the values by which the markers of requirements are evaluated for an interpreter."""
    version = interpreter.version_text
    return {
        **{name: str(value) for name, value in default_environment().items()},
        "python_full_version": version,
        "python_version": version.rpartition(".")[0],
        "implementation_name": interpreter.tag.partition("-")[0],
        "extra": "",
    }


def _versions(found: Iterable[tuple[str | None, str]]) -> Versions:
    by_name: dict[str, list[str]] = {}
    for name, version in found:
        if name:  # what is left of a broken installation may have none
            by_name.setdefault(canonicalize_name(name), []).append(version)
    return by_name


def _wheels(folder: Path) -> Iterable[tuple[str, str]]:
    for file in sorted(folder.glob("*.whl")):
        with suppress(InvalidWheelFilename):
            name, version, *_ = parse_wheel_filename(file.name)
            yield name, str(version)


def _all(wanted: Requirements) -> str:
    where = f" ({', '.join(wanted.sources)})" if wanted.sources else ""
    return (
        f"all {_count(wanted)} requirements{where}" if _count(wanted) > 1 else f"the one requirement, {wanted.lines[0]}"
    )


def _some(lacks: Sequence[str], wanted: Requirements) -> str:
    return f"{len(lacks)} of {_count(wanted)} requirements" if _count(wanted) > 1 else "the one requirement"


def _named(lines: Sequence[str]) -> str:
    more = f" and {len(lines) - NAMED} more" if len(lines) > NAMED else ""
    return ", ".join(lines[:NAMED]) + more


def run_to_end(command: Sequence[str], patience: float, poll: Poll) -> str:
    """Run a program and return what it wrote to standard output; `patience`: the most seconds it may take.

    It is killed with all of its session when `poll` raises. Raises what `subprocess.run` does with `check`.
    """
    pipe, end = subprocess.PIPE, time.monotonic() + patience
    with subprocess.Popen(command, text=True, start_new_session=True, stdout=pipe, stderr=pipe) as process:

        def ended(step: float) -> tuple[str, str] | None:
            try:
                return process.communicate(timeout=step)
            except subprocess.TimeoutExpired:
                if time.monotonic() > end:
                    raise
                return None

        try:
            out, err = wait_for(ended, poll)
        except BaseException:
            with suppress(ProcessLookupError):
                platform.end_session(process.pid)
            raise
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, out, err)
    return out


def lock(file: IO[str], poll: Poll) -> None:
    """Wait for a lock that another process holds. Raises OSError, and what `poll` raises."""

    def taken(step: float) -> bool | None:
        try:
            platform.lock(file.fileno())
        except BlockingIOError:
            time.sleep(step)
            return None
        return True

    wait_for(taken, poll)
