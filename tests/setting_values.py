"""Values for settings, whatever they are."""

from __future__ import annotations

from typing import Any

from rtc_inspector.core.settings.setting import Described


def another(each: Described) -> Any:
    """A value that is allowed and not the default."""
    about = each.about
    if each.kind is bool:
        return not each.default
    if each.kind in (int, float):
        if each.many:
            return (each.kind(about.most),)
        full = each.default is None or each.default + 1 > about.most
        return each.kind(about.least if full else each.default + 1)
    if about.choices:
        return next(choice for choice in about.choices if choice != each.default)
    if about.form == "json":
        return '{"a": 1}'
    if about.form == "words":
        return 'system = "Be brief."\n'
    value = "2024-02-29" if about.form == "day" else ".txt" if about.form == "ending" else "/"
    return (value,) if each.many else value
