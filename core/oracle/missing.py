"""Whether the environment that tests will run in has what the project requires: read, nothing is installed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.oracle.environment import environments_folder, is_made
from rtc_inspector.core.oracle.interpreter import Interpreter, find_interpreter
from rtc_inspector.core.oracle.requirements import Install, Requirements, read_install, read_requirements
from rtc_inspector.core.settings import OracleSettings

NAMED = 6
"""Requirements that a sentence names; of more it gives the number."""
Versions = Mapping[str, Sequence[str]]
"""Versions there are, by normalised name."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One line for people, and the requirements that are missing, as the project writes them."""

    said: str
    missing: tuple[str, ...] = ()


def check_environment(root: Path, settings: OracleSettings) -> Standing:
    """Return what a run with these settings would lack.

    Raises TargetError, and ProjectError where there is no project.
    """
    if not root.is_dir():
        raise ProjectError(f"There is no project folder {root}.", "Open a folder.")
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
    if is_made(base, install, environments_folder()):
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
    """The name of what a line asks for, whatever it says of versions."""
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
