"""Whatever option a sentence of ours tells people to use is one that a command takes."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path

from rtc_inspector.app.cli import build_parser

ROOT = Path(__file__).parents[2]
FOREIGN = re.compile(
    r"`(git|pip|apt-get|docker|sudo|mount|sqlite3|ollama|llama-server|python|systemctl|bwrap|ray)\b[^`]*`"
    r"|sudo [^.]*|git [^.]*|pip install [^`]*|--ctx-size"
)
"""Commands of others, with their own options."""
OTHERS = {
    *("core/oracle/sessionplan.py", "core/oracle/environment.py", "core/packages.py", "ui/report/svg.py"),
    *(f"core/oracle/command/{name}.py" for name in ("commands", "oracle")),
    *(f"core/languages/{name}.py" for name in ("go", "javascript", "rust", "typescript")),
}
"""Files that name options of pytest, pip, pacman and the test commands of other languages, or write style sheets."""
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def options_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                yield from options_of(each)


def sentences(path: Path) -> Iterator[str]:
    """Texts with a blank in them: what people read, not arguments of other programs."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield node.value


def test_every_option_that_is_named_exists() -> None:
    known = set(options_of(build_parser()))
    unknown = {
        (path.relative_to(ROOT).as_posix(), option)
        for package in ("core", "ui", "app")
        for path in sorted((ROOT / package).rglob("*.py"))
        if "inside" not in path.parts and path.relative_to(ROOT).as_posix() not in OTHERS
        for text in sentences(path)
        for option in OPTION.findall(FOREIGN.sub("", text))
        if option not in known
    }
    assert unknown == set()
