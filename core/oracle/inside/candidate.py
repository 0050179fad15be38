"""Take up a candidate before anything of it runs: compile it, screen it, and serve its files to all who import them.

Interpreters that tests start see it too, where they take the environment they are given: they find `sitecustomize` on
PYTHONPATH, which serves the files as this process does. One that is started with -I, -E or -S, or with another
environment, runs the original.
"""

from __future__ import annotations

import os
from types import CodeType
from typing import Any

from .child import Send, describe
from .screening import screen
from .sources import CandidateFinder

REFUSALS = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)
FOLDER = ".rtc-inspector"
STARTER = """\
import importlib.util, sys
sys.path[:] = [entry for entry in sys.path if entry != {folder!r}]
_spec = importlib.util.spec_from_file_location("_rtc_inspector_sources", {sources!r})
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
_finder = _module.CandidateFinder()
for _path, _text in {texts!r}.items():
    with open(_text, "rb") as _file:
        _finder.place(_path, _file.read())
sys.meta_path.insert(0, _finder)
_module = sys.modules.pop("sitecustomize")
_spec = importlib.util.find_spec("sitecustomize")
if _spec is None:  # the import that runs this wants to find something
    sys.modules["sitecustomize"] = _module
else:
    sys.modules["sitecustomize"] = _module = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(_module)
"""


def texts_of(request: dict[str, Any], config: dict[str, Any]) -> dict[str, bytes]:
    """Return path -> content of the changed files; empty where nothing is changed. Raises what REFUSALS names."""
    root = str(config["root"])
    return {os.path.join(root, c["path"]): c["text"].encode(c["encoding"]) for c in request.get("changes", ())}


def files_of(tests: list[str]) -> list[str]:
    """Return each file once, below the working folder: pytest ends a path at a bracket."""
    return list(dict.fromkeys(test.split("::", 1)[0] for test in tests))


def take_up(send: Send, request: dict[str, Any], config: dict[str, Any], finder: CandidateFinder) -> bool:
    """Compile, screen and serve the candidate; False, and a report, when it does not compile."""
    try:
        texts = texts_of(request, config)
        codes = {path: compile(text, path, "exec", dont_inherit=True) for path, text in texts.items()}
    except REFUSALS as error:
        send("syntax", describe(error), getattr(error, "lineno", None) or 0)
        return False
    serve(send, request, texts, finder, codes)
    return True


def serve(
    send: Send, request: dict[str, Any], texts: dict[str, bytes], finder: CandidateFinder, codes: dict[str, CodeType]
) -> None:
    """Screen what compiles, and have this interpreter and those to come read it. `codes`: what is compiled already."""
    send("screen", [reason for change in request["changes"] for reason in screen(change["original"], change["text"])])
    for path, text in texts.items():
        finder.place(path, text, codes.get(path))
    folder = _folder()
    if not folder:
        return
    os.makedirs(folder, exist_ok=True)
    copies = {path: os.path.join(folder, "candidate-%d" % number) for number, path in enumerate(texts)}
    for path, copy in copies.items():
        with open(copy, "wb") as file:
            file.write(texts[path])
    sources = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sources.py")
    with open(os.path.join(folder, "sitecustomize.py"), "w", encoding="utf-8") as starter:
        starter.write(STARTER.format(folder=folder, sources=sources, texts=copies))


def announce() -> None:
    """Name the folder, whether or not there is a candidate, so that the environment is the same for both."""
    folder = _folder()
    if folder:
        rest = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = folder + (os.pathsep + rest if rest else "")


def _folder() -> str:
    home = os.environ.get("HOME")
    return os.path.join(home, FOLDER) if home else ""
