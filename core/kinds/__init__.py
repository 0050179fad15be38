"""The methods there are: what each is called, what it makes and measures, and its defaults.

Quick to import: the window reads it before the engine is loaded. Nothing outside `core/kinds/methods.py` and the
method's own modules names a method.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds.kind import METHODS as METHODS
from rtc_inspector.core.kinds.kind import Kind as Kind
from rtc_inspector.core.kinds.kind import Measure as Measure
from rtc_inspector.core.kinds.kind import RoleName as RoleName
from rtc_inspector.core.kinds.kind import Source as Source
from rtc_inspector.core.kinds.methods import CONDITIONS as CONDITIONS
from rtc_inspector.core.kinds.methods import COSMETIC_CHANGES as COSMETIC_CHANGES
from rtc_inspector.core.kinds.methods import COSMETIC_PAIRS as COSMETIC_PAIRS
from rtc_inspector.core.kinds.methods import FIRST_KIND as FIRST_KIND
from rtc_inspector.core.kinds.methods import IDENTITY as IDENTITY
from rtc_inspector.core.kinds.methods import IMPORTED as IMPORTED
from rtc_inspector.core.kinds.methods import TOGETHER as TOGETHER
from rtc_inspector.core.kinds.methods import TOLD_ALREADY as TOLD_ALREADY
from rtc_inspector.core.kinds.methods import cosmetic_changes as cosmetic_changes
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.types import FEW

TASKS: Mapping[str, Kind] = MappingProxyType(METHODS)
"""What can be chosen, by name."""


def task(name: str) -> Kind:
    """The kind of that name. Raises UserError naming those there are."""
    if (kind := known(name)) is None:
        raise UserError(f"There is no task {name!r}.", f"Name one of these: {', '.join(TASKS)}.")
    return kind


def known(name: str) -> Kind | None:
    """The kind of a stored run, None where this version does not know it."""
    return IMPORTED if name == IMPORTED.name else TASKS.get(name)


def noun(name: str) -> str:
    """Return the noun for one item of a stored run, whatever its task."""
    kind = known(name)
    return kind.noun if kind else "item"


def role_title(name: str, role: str) -> str:
    """Return the title of a role's samples in a task."""
    kind = known(name)
    names = kind.roles if kind else {}
    return names[role].title if role in names else role


def article(noun: str) -> str:
    """`a region`, `an edit`."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def counted(number: int, noun: str) -> str:
    """`1 region`, `40 regions`."""
    many = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"


def few(number: int, noun: str, more: str = "") -> str:
    """`Only 8 regions: few to judge by.` below FEW; `more` follows the noun. Empty from FEW on, and for none at all."""
    return f"Only {counted(number, noun)}{more}: few to judge by." if 0 < number < FEW else ""


def configured(settings: RunSettings, name: str) -> RunSettings:
    """The settings for a task, with its own temperatures and room. Raises UserError: no such task."""
    kind = task(name)
    return replace(
        settings,
        task=kind.name,
        forward_temperature=kind.forward_temperature,
        backward_temperature=kind.backward_temperature,
        backward_max_tokens=kind.backward_max_tokens,
    )


def for_selected_code(settings: RunSettings) -> RunSettings:
    """The settings as they are if their task takes selected code, else those of the first task that does."""
    if task(settings.task).source.selected:
        return settings
    return configured(settings, next(kind.name for kind in TASKS.values() if kind.source.selected))


def for_words(settings: RunSettings, words: str, header: str, tests: str) -> RunSettings:
    """The settings of a run on words that a person wrote down, for the first task that takes such."""
    kind = next(kind for kind in TASKS.values() if kind.source.words)
    wanted = replace(settings.directive, words=words, header=header, tests=tests)
    return replace(configured(settings, kind.name), regions=1, directive=wanted)


def project_of(settings: RunSettings, project: Path | None) -> Path | None:
    """Return the folder that a run takes its items from, or None where none is known.

    A file of items stands for its own folder where no project is named, and words typed in for the working directory.
    """
    source = task(settings.task).source
    if source.by_hand(settings):
        return project or Path.cwd()
    file = source.named(settings)
    return project or (Path(file).resolve().parent if file else None)
