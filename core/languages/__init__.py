"""The languages whose projects can be sampled: one module of plain data each, and one line in the registry."""

from rtc_inspector.core.languages.language import Language, Shot
from rtc_inspector.core.languages.python import PYTHON
from rtc_inspector.core.languages.registry import LANGUAGES, language_for, language_of, named

__all__ = ["LANGUAGES", "PYTHON", "Language", "Shot", "language_for", "language_of", "named"]
