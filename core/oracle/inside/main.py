"""Entry of the process inside the sandbox; started as a script by the target's interpreter.

    python main.py MODULE

MODULE is what serves the host: `zygote` runs tests of Python, `commands` any project's own commands.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys

PACKAGE = "_rtc_inspector_inside"


def main() -> None:
    """Leave nothing of ours on `sys.path`, load this folder as a package whose name no project uses, then serve."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]
    location = os.path.join(here, "__init__.py")
    spec = importlib.util.spec_from_file_location(PACKAGE, location, submodule_search_locations=[here])
    if spec is None or spec.loader is None:
        raise ImportError(location)
    sys.modules[PACKAGE] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    importlib.import_module(PACKAGE + "." + sys.argv[1]).main()


if __name__ == "__main__":
    main()
