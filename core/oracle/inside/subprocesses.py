"""Interpreters that tests start see the candidate too, where they take the environment they are given.

They find `sitecustomize` on PYTHONPATH, which serves the candidate's text as this process does. One that is started
with -I, -E or -S, or with another environment, runs the original.
"""

from __future__ import annotations

import os

FOLDER = ".rtc-inspector"
STARTER = """\
import importlib.util, sys
sys.path[:] = [entry for entry in sys.path if entry != {folder!r}]
_spec = importlib.util.spec_from_file_location("_rtc_inspector_sources", {sources!r})
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
_finder = _module.CandidateFinder()
with open({text!r}, "rb") as _file:
    _finder.place({path!r}, _file.read())
sys.meta_path.insert(0, _finder)
_module = sys.modules.pop("sitecustomize")
_spec = importlib.util.find_spec("sitecustomize")
if _spec is None:  # the import that runs this wants to find something
    sys.modules["sitecustomize"] = _module
else:
    sys.modules["sitecustomize"] = _module = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(_module)
"""


def announce() -> None:
    """Name the folder, whether or not there is a candidate, so that the environment is the same for both."""
    folder = _folder()
    if folder:
        rest = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = folder + (os.pathsep + rest if rest else "")


def serve(path: str, text: bytes) -> None:
    """Have interpreters to come read `text` for `path`."""
    folder = _folder()
    if not folder:
        return
    os.makedirs(folder, exist_ok=True)
    copy = os.path.join(folder, "candidate")
    with open(copy, "wb") as file:
        file.write(text)
    sources = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sources.py")
    with open(os.path.join(folder, "sitecustomize.py"), "w", encoding="utf-8") as starter:
        starter.write(STARTER.format(folder=folder, sources=sources, text=copy, path=path))


def _folder() -> str:
    home = os.environ.get("HOME")
    return os.path.join(home, FOLDER) if home else ""
