"""Files and folders of a project as a tree, with each folder's share of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rtc_inspector.core.oracle.bench.project import origin_of
from rtc_inspector.core.store.rows import FileRow
from rtc_inspector.core.types import Codebase

LARGEST = 20
"""Files that are looked into for where to begin: of a whole project it would take too long."""


@dataclass(frozen=True, slots=True)
class ListedFile:
    """One line of the tree. `note` says why it is never sampled; empty for code.

    `name`: of a file that was written for a run, which stands in no folder that anybody knows.
    """

    path: str
    note: str = ""
    name: str = ""


@dataclass(slots=True)
class Node:
    """A file or a folder.

    Attributes:
        name: the last part of the path, or what a run calls a file that was written for it.
        path: from the project's root; empty for the root itself.
        row: place among its siblings; `ident`: place in the walk over the whole tree.
        note: as in ListedFile; a folder has none.
        items, done: regions of a run in it, and how many are complete.
        measures: their means over its complete regions; what is not defined is absent.
    """

    name: str
    path: str
    parent: Node | None
    row: int = 0
    ident: int = 0
    folder: bool = False
    note: str = ""
    children: list[Node] = field(default_factory=list)
    items: int = 0
    done: int = 0
    measures: Mapping[str, float] = field(default_factory=dict)

    def walk(self) -> Iterator[Node]:
        """Yield this node, then all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def first_code(codebase: Codebase) -> str:
    """Return the file to begin with where nothing is chosen, the one with most to draw from; empty where there is none.

    Lines inside functions and classes stand for candidates, which take seconds to enumerate: a script of settings has
    few of them. Of a generated project it is the first problem.
    """
    keys = origin_of(codebase.root).keys
    if keys:
        return next((each.path for each in codebase.files if each.path in keys), "")
    code = [each for each in codebase.files if not each.is_test]
    largest = sorted(code, key=lambda each: -len(each.text))[:LARGEST]
    return max(largest, key=lambda each: each.text.count("\n    ")).path if largest else ""


def listed_files(codebase: Codebase) -> list[ListedFile]:
    """Return what the tree lists: code, tests and what was left out; of a generated codebase its problems alone."""
    keys = origin_of(codebase.root).keys
    if keys:
        return [ListedFile(path, name=key) for path, key in keys.items()]
    files = [ListedFile(each.path, "test file" if each.is_test else "") for each in codebase.files]
    return files + [ListedFile(each.path, f"left out: {each.reason}") for each in codebase.skipped]


def build(files: Iterable[ListedFile]) -> Node:
    """Return the tree over `files`: folders first, then by name."""
    root = Node("", "", None, folder=True)
    folders: dict[str, Node] = {"": root}
    for listed in files:
        head, _, name = listed.path.rpartition("/")
        parent = root if listed.name else _folder(head, folders)
        parent.children.append(Node(listed.name or name, listed.path, parent, note=listed.note))
    # `walk` comes to a node before its children, which are sorted in time: numbers follow the order shown.
    for ident, node in enumerate(root.walk()):
        node.ident = ident
        node.children.sort(key=lambda child: (not child.folder, child.path.lower()))
        for row, child in enumerate(node.children):
            child.row = row
    return root


def _folder(path: str, folders: dict[str, Node]) -> Node:
    """Return the folder at `path`, made with those above it where missing."""
    if path not in folders:
        head, _, name = path.rpartition("/")
        parent = _folder(head, folders)
        folders[path] = Node(name, path, parent, folder=True)
        parent.children.append(folders[path])
    return folders[path]


def fill(node: Node, rows: Mapping[str, FileRow]) -> None:
    """Put a run's figures on the tree; a folder has the mean over the regions below it."""
    if not node.folder:
        row = rows.get(node.path)
        node.items, node.done = (row.items, row.done) if row else (0, 0)
        node.measures = row.measures if row else {}
        return
    for child in node.children:
        fill(child, rows)
    node.items = sum(child.items for child in node.children)
    node.done = sum(child.done for child in node.children)
    names = {name for child in node.children for name in child.measures}
    node.measures = {name: mean for name in names if (mean := _mean(name, node.children)) is not None}


def _mean(name: str, nodes: Sequence[Node]) -> float | None:
    """Return the mean of a measure by the number of complete regions, those without it left out."""
    known = [(node.measures[name], node.done) for node in nodes if name in node.measures]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total else None
