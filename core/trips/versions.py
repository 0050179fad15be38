"""Versions of a function: the original and what rewrites make of it, each as models are shown it.

Parsing a file with libcst holds Python's interpreter lock all the while, 0.1 to 0.3 s for one of 60 to 100 kB: in a run
of the window nothing could be clicked meanwhile. So versions of large files are made in a process of their own.
"""

import builtins
import keyword
import multiprocessing
import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from multiprocessing.connection import Connection
from threading import RLock
from typing import Any

from rtc_inspector.core.generation import Fits, ModelInfo, Prompt
from rtc_inspector.core.kinds import TOGETHER
from rtc_inspector.core.models.function_prompts import mask_prompt
from rtc_inspector.core.models.prompts import backward_prompt, forward_prompt
from rtc_inspector.core.rewrites.program import Program, Refused
from rtc_inspector.core.rewrites.transformations import TRANSFORMATIONS, docstring_place, document
from rtc_inspector.core.source.functions import Function, functions
from rtc_inspector.core.types import Change, SourceFile, Span

DOCUMENT = "document"
IN_PLACE = 20_000
"""Characters of a project's largest file up to which versions are made in this process: 50 ms of parsing."""
VERSIONS_KEPT = 64


@dataclass(frozen=True)
class Version:
    """A function as models see it: the original, or a variant."""

    change: str  # the transformation; empty for the original
    file: SourceFile  # the whole file it stands in
    function: Function  # where it stands there, whole, in parts
    # of the original's hidden names, where each stands now, by its position; and the name that stands there
    places: tuple[tuple[int, str], ...] = ()
    others: tuple[Change, ...] = ()  # other files that had to follow

    @property
    def text(self) -> str:
        return self.file.text[self.function.span.start : self.function.span.end]

    def undescribed(self) -> tuple[str, Span]:
        """Return the file without the function's docstring, and where its other statements stand then."""
        shown, body = self.function.docstring, self.function.body
        if shown is None:
            return self.file.text, body
        gap = body.start - shown.start
        return self.file.text[: shown.start] + self.file.text[body.start :], Span(body.start - gap, body.end - gap)

    def ask_name(self, place: int, model: ModelInfo, fits: Fits) -> Prompt:
        """Ask for the hidden name at one of the places; the rest of the function is shown."""
        start = self.function.span.start
        line = self.file.text.rfind("\n", 0, start) + 1
        shown = self.file.text[line : self.function.span.end]
        at, name = self.places[place]
        return mask_prompt(shown, at - line, len(name), fits, model.backward_style or model.prompt_style)

    def ask_description(self, model: ModelInfo, fits: Fits) -> Prompt:
        text, body = self.undescribed()
        return forward_prompt(text, body, fits, model.prompt_style, model.prompt_layout)

    def ask_code(self, words: str, model: ModelInfo, fits: Fits) -> Prompt:
        text, body = self.undescribed()
        return backward_prompt(text, body, words, fits, model.backward_style, model.prompt_layout)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The key of a version of a function; the same gives the same version again."""

    # `path`, `span`: where the original stands
    path: str
    span: Span
    change: str  # transformations, with `TOGETHER` between them; empty for the original
    seed: int  # of the transformations
    names: int  # how many names are hidden, at most
    drawn_by: str  # a seed for those names
    words: str = ""  # of a model, for a docstring


class Rewriting:
    """Makes versions of a project's functions, in whichever process it is."""

    def __init__(self, files: Mapping[str, SourceFile]) -> None:
        self._files = files
        self._program = Program({path: file.text for path, file in files.items()})

    def functions(self, path: str) -> list[Function]:
        return functions(self._files[path])

    def refusals(self, path: str, start: int, seed: int) -> dict[str, str]:
        """Return why transformations leave the function at `start` as it is, by name."""
        found: dict[str, str] = {}
        attempts: dict[str, Callable[[], object]] = {
            change: partial(made, self._program, path, start, seed) for change, made in TRANSFORMATIONS.items()
        }
        attempts[DOCUMENT] = partial(docstring_place, self._program, path, start)
        for change, attempt in attempts.items():
            try:
                attempt()
            except Refused as refused:
                found[change] = str(refused)
        return found

    def version(self, wanted: Wanted) -> Version | str:
        """Make one, or say why not. Each of several transformations works on what the one before it has made."""
        program, at = self._program, wanted.span.start
        texts: dict[str, str] = {}
        places: list[tuple[int | None, str]] = [*self._hidden(wanted)]
        for change in filter(None, wanted.change.split(TOGETHER)):
            if texts:
                program = Program({path: texts.get(path, file.text) for path, file in self._files.items()})
            try:
                if change == DOCUMENT:
                    rewritten = document(program, wanted.path, at, wanted.words)
                else:
                    rewritten = TRANSFORMATIONS[change](program, wanted.path, at, wanted.seed)
            except Refused as refused:
                return str(refused)
            texts |= {path: rewritten.text(path, program.files[path]) for path in rewritten.edits}
            places = [
                (place if place is None else rewritten.place(wanted.path, place), rewritten.renamed.get(name, name))
                for place, name in places
            ]
            moved = rewritten.place(wanted.path, at)
            at = -1 if moved is None else moved
        files = {path: replace(self._files[path], text=text) for path, text in texts.items()}
        home = files.get(wanted.path, self._files[wanted.path])
        function = next((each for each in functions(home) if each.span.start == at), None)
        if function is None:
            return "it cannot be found again in its file"
        others = tuple(changed(self._files[path], text) for path, text in texts.items() if path != wanted.path)
        kept = tuple((place, name) for place, name in places if place is not None)
        return Version(wanted.change, home, function, kept, others)

    def _hidden(self, wanted: Wanted) -> list[tuple[int, str]]:
        """Draw the names to hide in the original, with their places, from those that stand there more than once."""
        parsed = self._program.parsed(wanted.path)
        if parsed is None:
            return []
        found = []
        for name, nodes in parsed.names.items():
            if len(name) < 2 or keyword.iskeyword(name) or hasattr(builtins, name):
                continue
            starts = (parsed.span(node).start for node in nodes)
            inside = [at for at in starts if wanted.span.start <= at < wanted.span.end]
            found += [(at, name) for at in inside] if len(inside) > 1 else []
        drawn = random.Random(wanted.drawn_by)
        return sorted(drawn.sample(sorted(found), min(wanted.names, len(found))))


class Versions:
    """`Rewriting` for several threads, in a process of its own where files are large; what it made is remembered.

    Close it in the end.
    """

    def __init__(self, files: Mapping[str, SourceFile]) -> None:
        self._here = Rewriting(files)
        self._files = files
        self._elsewhere = max((len(file.text) for file in files.values()), default=0) > IN_PLACE
        self._process: Any = None
        self._pipe: Any = None  # a `Connection`, which Windows has another class for
        self._made = lru_cache(VERSIONS_KEPT)(partial(self._ask, "version"))
        self._turn = RLock()
        self._closed = False

    def functions(self, path: str) -> list[Function]:
        found: list[Function] = self._ask("functions", path)
        return found

    def refusals(self, path: str, start: int, seed: int) -> dict[str, str]:
        found: dict[str, str] = self._ask("refusals", path, start, seed)
        return found

    def version(self, wanted: Wanted) -> Version | str:
        with self._turn:
            found: Version | str = self._made(wanted)
            return found

    def close(self) -> None:
        self._closed = True  # without the turn: somebody may wait for an answer, which does not come any more
        if self._process is not None:
            self._process.kill()
            self._process.join()

    def _ask(self, method: str, *given: object) -> Any:
        with self._turn:
            if self._elsewhere:
                with suppress(EOFError, OSError):
                    return self._answer(method, given)
                if self._closed:
                    raise EOFError("the run has ended")
                self._elsewhere = False  # it was ended from outside, e.g. for its memory: go on slowly
            return getattr(self._here, method)(*given)

    def _answer(self, method: str, given: tuple[object, ...]) -> Any:
        if self._pipe is None:
            context = multiprocessing.get_context("spawn")  # a fork of a program with threads may hang
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs, self._files), daemon=True)
            self._process.start()
            theirs.close()
        self._pipe.send((method, given))
        done, answer = self._pipe.recv()
        if not done:
            raise answer
        return answer


def _serve(pipe: "Connection[Any, Any]", files: Mapping[str, SourceFile]) -> None:
    """Answer until the other end is closed, be it because its process was killed."""
    rewriting = Rewriting(files)
    with suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            method, given = pipe.recv()
            try:
                answer = True, getattr(rewriting, method)(*given)
            except Exception as error:  # raised where the question came from
                answer = False, error
            pipe.send(answer)


def changed(file: SourceFile, text: str) -> Change:
    """Return the least stretch of whole lines in which a file differs from its new text."""
    old = file.text
    most = min(len(old), len(text))
    first = next((at for at in range(most) if old[at] != text[at]), most)
    first = old.rfind("\n", 0, first) + 1
    last = 0
    while last < most - first and old[-1 - last] == text[-1 - last]:
        last += 1
    end = old.find("\n", len(old) - last)
    last = len(old) - end if end >= 0 else 0
    return Change(file, Span(first, len(old) - last), text[first : len(text) - last])
