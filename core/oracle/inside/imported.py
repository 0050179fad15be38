"""What a run of the unmodified project imports: its own files before any collection, and foreign modules."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from .channel import Send


class Imported:
    """A plugin that reports the project's files which are imported before any collection, and what tests import.

    The latter are neither the project's nor a plugin's, for pytest rewrites those on import.
    """

    def __init__(self, send: Send, root: str) -> None:
        """`root`: of the project. What is imported by now does not count as imported by tests."""
        self._send = send
        self._root = root + os.sep
        self._known = set(sys.modules)
        self._prepared = set(self._known)

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self) -> None:
        """By now pytest is configured by its options, plugins and first conftests."""
        self._prepared = set(sys.modules)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: Any) -> None:
        """Look once for conftests and what they import.

        What plugins have imported in between they may have changed (pytest changes pdb): that must not be there before.
        """
        self._known |= set(sys.modules) - self._prepared
        files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        below = (file for file in files if isinstance(file, str) and file.startswith(self._root))
        self._send("early", sorted({os.path.relpath(file, self._root).replace(os.sep, "/") for file in below}))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Look once: what plugins import to say farewell serves no test."""
        modules = list(sys.modules.items())
        plugins = {name.split(".", 1)[0] for name, module in modules if _rewritten(module)}
        found = [
            name
            for name, module in modules
            if name not in self._known and name.split(".", 1)[0] not in plugins and self._is_foreign(name, module)
        ]
        self._send("modules", found)

    def _is_foreign(self, name: str, module: Any) -> bool:
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or file.startswith(self._root):
            return False
        return "pytest" not in name and getattr(module, "__spec__", None) is not None


def _rewritten(module: Any) -> bool:
    return type(getattr(module, "__loader__", None)).__name__ == "AssertionRewritingHook"
