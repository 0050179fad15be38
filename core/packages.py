"""Which packages an extra of ours needs, as a command that installs them wherever this runs from."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, requires

from packaging.requirements import Requirement


def install_command(extra: str, *, alone: bool = False) -> str:
    """Return the command that installs what our `extra` needs, quoted for every shell.

    It names the packages themselves: a checkout and a wheel are known to no index. `alone`: without what they need.
    """
    names = " ".join(f'"{each}"' for each in needed_by(extra))
    return f'"{sys.executable}" -m pip install {"--no-deps " if alone else ""}{names}'


def needed_by(extra: str) -> list[str]:
    """Return the requirements of an extra as pip takes them; empty where this is not installed."""
    try:
        listed = map(Requirement, requires("rtc-inspector") or ())
    except PackageNotFoundError:
        return []
    return [
        f"{each.name}{f'[{chr(44).join(sorted(each.extras))}]' if each.extras else ''}{each.specifier}"
        for each in listed
        if each.marker is not None
        and each.marker.evaluate({"extra": extra})
        and not each.marker.evaluate({"extra": ""})
    ]
