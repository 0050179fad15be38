"""The languages whose projects can be sampled: one module of plain data each, and one line here."""

from pathlib import PurePosixPath

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.languages.go import GO
from rtc_inspector.core.languages.javascript import JAVASCRIPT, TSX, TYPESCRIPT
from rtc_inspector.core.languages.language import Language, Shot
from rtc_inspector.core.languages.python import PYTHON
from rtc_inspector.core.languages.rust import RUST

__all__ = ["LANGUAGES", "PYTHON", "Language", "Shot", "language_for", "language_of", "named"]

LANGUAGES: list[Language] = [
    PYTHON,
    JAVASCRIPT,
    TYPESCRIPT,
    TSX,
    GO,
    RUST,
]


def language_of(path: str) -> Language | None:
    """Return the language of a file by the end of its name, or None."""
    suffix = PurePosixPath(path).suffix
    return next((each for each in LANGUAGES if suffix in each.suffixes), None)


def language_for(path: str) -> Language:
    """Return the language of a file, Python where its name tells of none: so are items named that are no file's."""
    return language_of(path) or PYTHON


def named(name: str) -> Language:
    """Return the language that people call so. Raises UserError with the names there are."""
    found = next((each for each in LANGUAGES if each.name.lower() == name.lower()), None)
    if found is None:
        known = ", ".join(each.name for each in LANGUAGES)
        raise UserError(
            f"There is no language {name} here.", f"Name one of {known}; docs/languages.md says how to add one."
        )
    return found
