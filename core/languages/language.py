"""What there is to know of a programming language: its grammar's words, its tests, and how models are asked in it."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

Names = frozenset[str]


@dataclass(frozen=True, slots=True)
class Shot:
    """One worked example of a prompt: a file in three parts, the place of the region, and the region's description."""

    where: str
    before: str
    region: str
    after: str
    description: str


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """One language. Names of nodes are those of its tree-sitter grammar."""

    name: str  # as people write it
    suffixes: tuple[str, ...]  # of its files
    fences: tuple[str, ...]  # tags of code blocks; the first is the one that prompts use
    comment: str  # what a comment to the end of the line begins with
    shots: tuple[Shot, ...]  # the three worked examples of prompts, the same tasks in every language
    # returns the grammar; None for Python, which has a parser and an oracle of its own
    grammar: Callable[[], object] | None = None
    blocks: Names = frozenset()  # nodes whose children are statements that may be sampled
    # nodes whose children are definitions, e.g. of a class: they lead to blocks, and are not sampled
    bodies: Names = frozenset()
    at_top: Names = frozenset()  # the statements of a file that run when it is loaded, and may be sampled
    comments: Names = frozenset()  # nodes that are no statements
    prefixes: Names = frozenset()  # nodes that belong to the statement behind them
    scopes: Names = frozenset()  # nodes that have a name by which people know a place, e.g. functions
    imports: Names = frozenset()  # statements that import
    strings: Names = frozenset()  # nodes whose lines keep their indentation
    quotes: str = ""  # marks of strings of several lines
    # text around a piece of code that is not a file of its own, with which it parses
    wrappers: tuple[tuple[str, str], ...] = (("", ""),)
    defines: str = ""  # a regular expression of a line that defines `{name}`
    test_files: tuple[str, ...] = ()  # patterns of file names, and folders with a slash behind
    test_code: str = ""  # a regular expression that a statement of tests begins with, in a file of other code
    stand_in: str = ""  # a statement that fails, in the place of a region whose deletion does not build
    marker: str = ""  # the file in a project's folder that tells of the language
    # the command that runs a project's tests, where the marker itself names none. `{tests}` in it stands for the tests
    # that are chosen, nothing for all of them
    test: str = ""
    # the folder of `resources` with functions in this language that models are calibrated on; languages that are alike
    # may share one
    calibration: str = "calibration"

    def is_test(self, path: str) -> bool:
        pure = PurePosixPath(path)
        folders = {f"{part}/" for part in pure.parts[:-1]}
        return any(each in folders or fnmatchcase(pure.name, each) for each in self.test_files)

    def defined_in(self, name: str, text: str) -> bool:
        return re.search(self.defines.format(name=re.escape(name)), text, re.M) is not None
