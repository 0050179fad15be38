"""What a project says it and its tests need, as far as that can be read without running anything."""

from __future__ import annotations

import configparser
import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rtc_inspector.core.errors import TargetError
from rtc_inspector.core.settings import OracleSettings

LAYOUT = 1
"""Part of every key: raised when environments are made in another way."""

OF_TESTS = ("test", "tests", "testing")
OF_DEVELOPERS = ("dev", "develop", "development")
"""Names of extras, dependency groups and files that hold what tests need; developers' only where tests have none."""

# A name, perhaps with extras, versions and a marker: nothing that pip would have to build by running foreign code.
_PLAIN = re.compile(r"[A-Za-z0-9][\w.-]*\s*(\[[\w\s,.-]*\])?\s*(\(?[<>=!~][^@]*)?(;.*)?$")
_NESTED = re.compile(r"(?:-r|--requirement)[\s=]+(\S+)")


@dataclass(frozen=True, slots=True)
class Requirements:
    """What to install.

    Attributes:
        lines: as pip reads them, sorted, each once.
        sources: files they were found in, for people.
        left_out: what is not a name with versions, as it stood.
    """

    lines: tuple[str, ...]
    sources: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Install:
    """What to install, and where from.

    Attributes:
        wheels: a folder, used without network; None asks the index that pip is set up for.
        python: of the image, where one is built.
    """

    wanted: Requirements
    wheels: Path | None
    python: str = "python3"

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
        """For people."""
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
    """From the file `given`, else from the project's own files; pytest is always among them. Raises TargetError."""
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
    """File -> lines: what the project needs, and what its tests do."""
    found = _read(root, OF_TESTS)
    return found if found != _read(root, ()) else _read(root, OF_DEVELOPERS)


def _read(root: Path, names: Sequence[str]) -> Mapping[str, list[str]]:
    """With the extras, groups and files of these names."""
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
    """A dependency group with those it includes."""
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
