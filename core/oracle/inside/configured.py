"""pytest with its options read, its plugins loaded and the first conftests imported, and nothing collected yet."""

from __future__ import annotations

import os
from typing import Any

import pytest
from _pytest.config import _prepareconfig

from .evidence import snapshot
from .loading import LoadTests
from .reporter import Witness
from .sources import CandidateFinder, install


class Configured:
    """One configuration; in the zygote it is made once, and a child begins with its copy."""

    def __init__(self, config: dict[str, Any]) -> None:
        """Raises whatever pytest or a conftest raises."""
        self.finder: CandidateFinder = install()
        self.witness = Witness()
        _say_version()
        arguments = [*config["pytest_args"], *config["targets"]]
        self._pytest: Any = _prepareconfig(arguments, [LoadTests(), self.witness])
        self.changes = snapshot()

    def main(self, files: list[str] | None, plugins: list[Any]) -> int:
        """Collect `files` (None: what the options say) and run; the exit status, as `pytest.main` has it."""
        if files is not None:
            self._pytest.args = files
        for plugin in plugins:
            self._pytest.pluginmanager.register(plugin)
        return int(self._pytest.hook.pytest_cmdline_main(config=self._pytest))


def _say_version() -> None:
    """As `pytest.main` does since it has had this variable."""
    if tuple(int(part) for part in pytest.__version__.split(".")[:2]) >= (8, 2):
        os.environ["PYTEST_VERSION"] = pytest.__version__
