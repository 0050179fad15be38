"""Where Ctrl-K can go: files, commands and regions, found by words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from core.store.rows import ItemRow
from ui.shell.search_field import MOST, Target

WORTH = 60.0
"""Similarity of 100 from which a misspelt name counts as meant."""


@dataclass(frozen=True, slots=True)
class Places:
    """Everything there is just now; a Target is made only of what is found.

    Attributes:
        files: paths; `open_file` goes to one.
        commands: what can be done, by its words.
        regions: of the run that is shown; `choose` goes to one by its id.
    """

    files: Sequence[str]
    commands: Sequence[tuple[str, Callable[[], object]]]
    regions: Sequence[ItemRow]
    open_file: Callable[[str], object]
    choose: Callable[[int], object]

    def find(self, words: str) -> list[Target]:
        """The places meant: names with all words, then regions with them in their code, then similar names."""
        wanted = words.lower().split()
        if not wanted:
            return list(islice(self._named([]), MOST))
        found = list(islice(self._named(wanted), MOST))
        found += islice(self._regions(wanted), MOST - len(found))
        # Similar names come last: who typed a name right means that one.
        if len(found) < MOST:
            # What was found by its words is similar, too.
            known = {target.title for target in found}
            found += [target for target in self._similar(words) if target.title not in known]
        return found[:MOST]

    def _named(self, wanted: Sequence[str]) -> Iterator[Target]:
        for path in self.files:
            if _holds(path, wanted):
                yield self._file(path)
        for title, act in self.commands:
            if _holds(title, wanted):
                yield Target(title, "command", act)

    def _regions(self, wanted: Sequence[str]) -> Iterator[Target]:
        for item in self.regions:
            title = f"{item.path}:{item.start_line}" if item.has_file else item.key
            if _holds(f"{title}\n{item.text}", wanted):
                yield Target(title, item.kind, partial(self.choose, item.id), item.text.partition("\n")[0])

    def _similar(self, words: str) -> Iterator[Target]:
        from rapidfuzz import fuzz, process  # not before it is needed: the window opens sooner

        commands = dict(self.commands)
        names = [*self.files, *commands]
        scored = process.extract(words, names, scorer=fuzz.WRatio, processor=str.lower, score_cutoff=WORTH, limit=MOST)
        for name, _, _ in scored:
            yield Target(name, "command", commands[name]) if name in commands else self._file(name)

    def _file(self, path: str) -> Target:
        return Target(path, "file", partial(self.open_file, path))


def _holds(text: str, wanted: Sequence[str]) -> bool:
    low = text.lower()
    return all(word in low for word in wanted)
