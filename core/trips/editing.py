"""EditingRTC: edit -> description -> the same edit of the old code again (RTC paper, Sec. 3.2 and 4).

The words are data, in `resources/prompts/editing.toml`. Models are asked in turns of a conversation; in the
style `code` the same parts stand under headings of one text, which the model goes on writing.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from rtc_inspector.core.errors import Cancelled, InspectorError, ModelError, ProjectError, UserError
from rtc_inspector.core.generation import PLAIN, Block, Extraction, Fits, Message, ModelInfo, Prompt, conversation
from rtc_inspector.core.metrics import similarity
from rtc_inspector.core.models.extraction import extract_edit
from rtc_inspector.core.models.prompts import CODE, LEAST_ROOM, ROOM_FACTOR
from rtc_inspector.core.settings import OracleSettings, RegionSettings, RunSettings
from rtc_inspector.core.settings.words import words_of
from rtc_inspector.core.source.edits import MISSING, Edit, EditFile, EditHistory, change_kind
from rtc_inspector.core.store.rows import SampleRow
from rtc_inspector.core.trips.protocol import FixedText, Opened
from rtc_inspector.core.trips.roundtrip import RoundTrip
from rtc_inspector.core.types import OLD_LINE, Candidate, Item, Notify, Outcome, Region, Report, SourceFile, Verdict

if TYPE_CHECKING:
    from rtc_inspector.core.trips.judged import Judged

BEFORE, EDIT, AFTER, END = "# Before:", "# Edit:", "# After:", "# End"  # the headings in the style `code`
UNINFORMATIVE = "Edit."  # the utterance eps of the baseline


@dataclass(frozen=True, slots=True)
class Shot:
    """One worked example."""

    old: str
    new: str
    description: str


@dataclass(frozen=True, slots=True)
class Wording:
    """The texts of the resource file. `version`: goes up with every change of what models are asked."""

    version: int
    system: str
    forward: str
    backward: str
    shots: tuple[Shot, ...]


@cache
def wording(own: str = "") -> Wording:
    """Return the texts of the resource file, with a person's `own` in their place."""
    data = words_of("editing", own)
    shots = (Shot(shot["old"].strip("\n"), shot["new"].strip("\n"), shot["description"]) for shot in data["shots"])
    forward, backward = data["forward"]["question"], data["backward"]["question"]
    return Wording(data["version"], data["system"], forward, backward, tuple(shots))


def edit_forward_prompt(old: str, new: str, fits: Fits, style: str = "chat", own: str = "") -> Prompt:
    """Ask what differs between the old and the new code; `own`: a person's words, as TOML.

    Where the window is too small shots are left out, and `truncated` says so. Raises ModelError when not even the
    question fits.
    """
    words = wording(own)

    def ask(shots: Sequence[Shot]) -> Prompt:
        turns = [(_forward_question(words, shot.old, shot.new), shot.description) for shot in shots]
        return Prompt(conversation(words.system, turns, _forward_question(words, old, new)))

    def ask_in_one_text(shots: Sequence[Shot]) -> Prompt:
        parts = [_part(shot.old, after=shot.new) + f"{EDIT} {shot.description}\n\n\n" for shot in shots]
        text = "".join(parts) + _part(old, after=new) + EDIT
        return Prompt((Message(PLAIN, text),), block=Block("", comment="#"))

    return _fitted(words.shots, ask_in_one_text if style == CODE else ask, fits)


def edit_backward_prompt(old: str, description: str, fits: Fits, style: str = "chat", own: str = "") -> Prompt:
    """Ask for the new code, from the old code and the description of the edit alone. Raises ModelError as above."""
    fence, words = fence_for(old), wording(own)

    def ask(shots: Sequence[Shot]) -> Prompt:
        turns = []
        for shot in shots:
            inner = fence_for(shot.old)
            turns.append((_backward_question(words, shot.old, shot.description), f"{inner}\n{shot.new}\n{inner}"))
        messages = conversation(words.system, turns, _backward_question(words, old, description))
        return Prompt(messages, prefill=f"{fence}\n", stop=(f"\n{fence}",))

    def ask_in_one_text(shots: Sequence[Shot]) -> Prompt:
        parts = [_part(shot.old, edit=shot.description, after=shot.new) + f"{END}\n\n\n" for shot in shots]
        return Prompt(
            (Message(PLAIN, "".join(parts) + _part(old, edit=description) + f"{AFTER}\n"),),
            stop=(f"\n{END}", f"\n{BEFORE}"),
            most_characters=max(LEAST_ROOM, ROOM_FACTOR * len(old)),
        )

    return _fitted(words.shots, ask_in_one_text if style == CODE else ask, fits)


def _part(old: str, edit: str = "", after: str | None = None) -> str:
    lines = [BEFORE, _lines(old).rstrip("\n")]
    lines += [f"{EDIT} " + "\n# ".join(edit.strip().splitlines())] if edit else []
    lines += [AFTER, _lines(after).rstrip("\n")] if after is not None else []
    return "\n".join(lines) + "\n"


def fence_for(text: str) -> str:
    """Return a fence that the text does not hold."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)


def _fitted(shots: Sequence[Shot], ask: Callable[[Sequence[Shot]], Prompt], fits: Fits) -> Prompt:
    for count in range(len(shots), -1, -1):
        prompt = replace(ask(shots[:count]), truncated=count < len(shots))
        if fits(prompt):
            return prompt
    raise ModelError(
        "An edit does not fit the model's context window, even without examples before it.",
        "Use a larger context size, a model with a larger window, or a smaller --max-edit-characters.",
    )


def _forward_question(words: Wording, old: str, new: str) -> str:
    old, new = _lines(old), _lines(new)
    return words.forward.strip().format(old=old, new=new, fence=fence_for(old + "\n" + new))


def _backward_question(words: Wording, old: str, description: str) -> str:
    return words.backward.strip().format(old=_lines(old), description=description.strip(), fence=fence_for(old))


def _lines(text: str) -> str:
    """Return the text with the one kind of line end that models are used to."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


ORACLE = "exact-match"
_SIZES = ((1, "1 line"), (5, "2-5 lines"), (20, "6-20 lines"))


class EditingTrip(RoundTrip):
    """x is an edit, y its description, sim is that the old code edited by y equals the new code."""

    uninformative = UNINFORMATIVE

    def __init__(
        self, source: EditFile | EditHistory, settings: RunSettings, notify: Notify, tests: CommitTests | None = None
    ) -> None:
        """Draw from `source`; with `tests`, what is no exact match may still pass."""
        super().__init__(settings)
        self._source = source
        self._notify = notify
        self._tests = tests

    def items(self, wanted: int, seed: int, stored: Mapping[str, Item], report: Report) -> Iterator[Item]:
        """Draw edits until enough are admitted: all, or with tests those that tests notice.

        Stored ones come first, as they were drawn first, and hold all that is needed: git may have lost them since.
        """
        admitted = 0
        fresh = (edit_item(edit) for edit in self._source.draw(seed, report) if edit.key not in stored)
        new = fresh if self._tests is None else map(self._tests.admit, fresh)
        for item in chain(stored.values(), new):
            yield item
            admitted += item.admitted
            report("sampling edits", admitted, wanted)
            if admitted >= wanted:
                break
        reasons = "; ".join(f"{reason}: {count}" for reason, count in self._source.passed_over.most_common())
        if reasons:
            self._notify(f"Passed over on the way: {reasons}.")

    def shortfall(self, admitted: int, wanted: int) -> Sequence[str]:
        if not admitted:
            raise _nothing(self._source.passed_over)
        return () if admitted >= wanted else (f"Only {admitted} of {wanted} edits could be sampled.",)

    def references(self, item: Item) -> Sequence[FixedText]:
        """Return the words that came with the edit: a reviewer's comment, or the first line of the commit's message."""
        return [FixedText(_words_of(item, name), name) for name in ("comment", "commit") if _words_of(item, name)]

    def forward_prompt(self, item: Item, model: ModelInfo, fits: Fits) -> Prompt:
        return edit_forward_prompt(_old(item), item.text, fits, model.prompt_style, self.settings.prompts)

    def backward_prompt(self, item: Item, description: str, model: ModelInfo, fits: Fits) -> Prompt:
        return edit_backward_prompt(_old(item), description, fits, model.prompt_style, self.settings.prompts)

    def read_code(self, item: Item, raw: str, prompt: Prompt) -> Extraction:
        return extract_edit(raw, _old(item), prompt.prefill)

    def recitation(self, item: Item, text: str) -> float:
        """Return the share of the edit's added lines that the description quotes; of a deletion, of those it took."""
        before, after = set(_old(item).splitlines()), set(item.text.splitlines())
        added = [line for line in item.text.splitlines() if line not in before]
        removed = [line for line in _old(item).splitlines() if line not in after]
        return similarity.recitation(text, "\n".join(added or removed))

    def description_scores(self, item: Item, description: str) -> dict[str, float]:
        """Return BLEU against what a person wrote (Sec. 5.2, Table 3)."""
        references = self.references(item)
        return {"description_bleu": similarity.description_bleu(description, references[0].text)} if references else {}

    def judge(self, item: Item, sample: SampleRow) -> Verdict:
        """Judge by exact match, white space at line ends and the end aside; the old code unchanged is told apart.

        With tests they have the word on every other candidate that holds code.
        """
        text = sample.text
        started = time.perf_counter()
        same, copied = similarity.exact_match(text, item.text), similarity.exact_match(text, _old(item))
        # An exact match needs no tests, and the old code unchanged is known to fail them: it was admitted for that.
        if self._tests is not None and not same and not copied and text.strip():
            return self._tests.judge(item, text)
        outcome = Outcome.PASS if same else Outcome.FAIL
        return Verdict(outcome, time.perf_counter() - started, detail=_detail(item, text), oracle=ORACLE)

    def code_scores(self, item: Item, text: str) -> dict[str, float]:
        return {
            "exact_match": similarity.exact_match(text, item.text),
            "exact_match_strict": float(text == item.text),
            "edit_sim": similarity.edit_similarity(text, item.text),
            "bleu": similarity.bleu(text, item.text),
            "chrf": similarity.chrf(text, item.text),
            "unchanged": similarity.exact_match(text, _old(item)),
        }


def open_editing(stack: ExitStack, project: Path, settings: RunSettings, notify: Notify, report: Report) -> Opened:
    """Open the project's history, or the file of edits that the settings name. Raises ProjectError, UserError.

    The commit is fixed in the settings, so that a resumed run reads the same history whatever was committed since.
    """
    report("opening the history", 0, 1)
    source: EditFile | EditHistory
    tests: CommitTests | None = None
    if settings.edit.file is not None:
        if settings.edit.tests:
            raise UserError(
                "Edits out of a file have no commit whose tests could judge them.",
                "Leave --edit-tests out, or sample the edits of a project's history.",
            )
        source = EditFile(Path(settings.edit.file), settings.edit)
        if source.signed:
            notify(f"{Path(settings.edit.file).name}: its lines carry a diff's signs, as CodeReviewer's do; taken off.")
    else:
        source = history = EditHistory(project, settings.edit)
        if history.shallow:
            notify("The clone is shallow: edits come from the commits it holds, older ones are missing.")
        if settings.edit.tests:

            def export(commit: str, folder: Path) -> Path:
                """Write a commit's files, and show it the packages that are installed beside what is checked out."""
                root, packages = history.export(commit, folder), project / "node_modules"
                if packages.is_dir() and (root / "package.json").is_file() and not (root / "node_modules").exists():
                    (root / "node_modules").symlink_to(packages.resolve())
                return root

            tests = CommitTests(export, _interpreter(project, settings.oracle), notify, report)
            stack.callback(tests.close)
        settings = replace(settings, edit=replace(settings.edit, revision=source.revision))
    return Opened(
        make_trip=lambda settings: EditingTrip(source, settings, notify, tests),
        settings=replace(settings, prompt_version=wording().version),
        root=project.resolve(),
        revision=source.revision,
        fingerprint=source.fingerprint,
        oracle=ORACLE if tests is None else f"{ORACLE}, tests/{settings.oracle.sandbox}",
    )


def _nothing(passed_over: Mapping[str, int]) -> ProjectError:
    """Return the error that no edit could be sampled; it says what most edits were lost to."""
    if passed_over.get(MISSING, 0) > sum(passed_over.values()) / 4:
        problem = "No edit could be sampled: the clone lacks the files of its commits."
        return ProjectError(
            problem, "Fetch them, e.g. with `git fetch --refetch --filter=blob:limit=1g`, or clone again."
        )
    return ProjectError(
        "No edit could be sampled: there is none, or every one was passed over.",
        "Ask for other --ending, --since, --until or --only, or widen --max-edit-characters.",
    )


def _interpreter(project: Path, settings: OracleSettings) -> OracleSettings:
    """Return the settings with the project's own virtual environment, for its exported commits, which carry none."""
    own = next((project / name for name in (".venv", "venv") if (project / name / "bin" / "python").exists()), None)
    return settings if settings.python or own is None else replace(settings, python=str(own))


def edit_item(edit: Edit) -> Item:
    """Return the edit as an item of a run; language, kind of change and size are what scores are split by."""
    lines = max(len(edit.removed), len(edit.added))
    line = str(edit.old_line) if edit.old_line else ""
    origin = {"commit": edit.commit, "date": edit.date, OLD_LINE: line, _ORIGIN_OF[edit.author]: edit.comment}
    return Item(
        key=edit.key,
        kind="edit",
        path=edit.path,
        span=edit.span,
        start_line=edit.start_line,
        end_line=edit.start_line + edit.new.count("\n"),
        text=edit.new,
        old_text=edit.old,
        facets={
            "language": edit.language,
            "change": change_kind(edit.path, edit.old, edit.new, edit.removed, edit.added),
            "size": next((name for most, name in _SIZES if lines <= most), "over 20 lines"),
        },
        origin={name: value for name, value in origin.items() if value},
    )


_ORIGIN_OF = {"commit": "message", "comment": "comment"}  # under which name of `Item.origin` an author's words stand


def _words_of(item: Item, author: str) -> str:
    words = item.origin.get(_ORIGIN_OF[author], "").strip()
    return words.partition("\n")[0].strip() if author == "commit" else words


def _old(item: Item) -> str:
    return item.old_text or ""


def _detail(item: Item, text: str) -> str:
    if text == item.text:
        return "Equal to the new code."
    found, wanted, old = (similarity.without_trailing_space(part) for part in (text, item.text, _old(item)))
    if found == wanted:
        return "Equal to the new code but for white space at line ends."
    if found == old:
        return "The old code came back unchanged."
    if not found.strip():
        return "The answer holds no code."
    pairs = zip_longest(found.split("\n"), wanted.split("\n"))
    line = next(number for number, (one, other) in enumerate(pairs, start=1) if one != other)
    return f"Differs from the new code from line {line} on."


# --------------------------------------------------------------------------- the tests of an edit's commit

_ANY = RegionSettings(coverage="any")


class CommitTests:
    """The stronger oracle of edits: the project's own tests as they were at an edit's commit, on an export of it.

    One commit is open at a time; calls from several threads take turns. Close it when done.
    """

    def __init__(
        self, export: Callable[[str, Path], Path], settings: OracleSettings, notify: Notify, report: Report
    ) -> None:
        """`export` writes a commit's files under a folder and gives the project's own folder in it."""
        self._export = export
        self._settings = settings
        self._notify = cache(notify)  # most is the same of every commit
        self._report = report
        self._folder = tempfile.TemporaryDirectory(prefix="rtc-commits-")
        self._judged: Judged | None = None  # of the commit whose tests are ready to run
        self._commit, self._stack = "", ExitStack()
        self._turn = threading.Lock()
        self._closed = threading.Event()

    def admit(self, item: Item) -> Item:
        """Return the item with the tests that cover its new code, or dropped with the reason.

        Admitted is an edit that tests tell from its absence: with the new code they pass, with the old they do not.
        Raises Cancelled.
        """
        with self._turn:
            try:
                file, tests, judged = self._covered(item, self._notify, self._report)
            except Cancelled:
                raise
            except InspectorError as error:
                return _dropped(item, f"the tests of its commit cannot be used: {error.problem}")
            if file is None:
                return _dropped(item, "its file is no code that tests judge")
            if not tests:
                return _dropped(item, "no test of its commit covers it")
            item = replace(item, tests=tuple(tests))
            new = judged.oracle.judge(Candidate(file, item.span, item.text), tests)
            old = judged.oracle.judge(Candidate(file, item.span, item.old_text or ""), tests)
        if new.outcome is not Outcome.PASS:
            return _dropped(item, f"its own tests do not pass with it ({new.outcome}): {new.detail}")
        if old.outcome in (Outcome.PASS, Outcome.NOT_EXECUTED, Outcome.INFRASTRUCTURE):
            return _dropped(item, f"its tests do not notice when it is undone ({old.outcome})")
        return item

    def judge(self, item: Item, text: str) -> Verdict:
        with self._turn:
            try:
                self._heed_close()
                # Judges work beside the run's own thread, which alone may tell of what goes on.
                file, _, judged = self._covered(item, lambda text: None, self._heed_close)
            except InspectorError as error:
                return Verdict(Outcome.INFRASTRUCTURE, 0.0, detail=error.problem, oracle="tests")
            if file is None:
                return Verdict(Outcome.INFRASTRUCTURE, 0.0, detail="The edit's file is gone.", oracle="tests")
            return judged.oracle.judge(Candidate(file, item.span, text), item.tests)

    def close(self) -> None:
        """Stop what runs, at once, and remove what was written; whoever waits for a turn gets none."""
        self._closed.set()
        # Without waiting for the turn: whoever has it may be in the middle of a long verdict, which this ends.
        if (judged := self._judged) is not None:
            judged.oracle.close()
        with self._turn:
            self._leave()
            self._folder.cleanup()

    def _heed_close(self, *_: object) -> None:
        if self._closed.is_set():
            raise Cancelled

    def _covered(self, item: Item, notify: Notify, report: Report) -> tuple[SourceFile | None, Sequence[str], Judged]:
        """Return the file with the edit in it, the tests that cover it, and the commit's project. Raises UserError."""
        from rtc_inspector.core.regions.coverage import cover  # loads a parser, which exact match needs not

        judged = self._open(item.origin["commit"], notify, report)
        file = next((file for file in judged.codebase.files if file.path == item.path and not file.is_test), None)
        if file is None or file.text[item.span.start : item.span.end] != item.text:
            return None, (), judged
        region = Region(item.path, item.span, item.start_line, item.end_line, item.text)
        covered = cover([region], judged.suite.coverage, _ANY, file)
        return file, covered[0].tests if covered else (), judged

    def _open(self, commit: str, notify: Notify, report: Report) -> Judged:
        """Open the commit's project and tests; what was learned is cached, so that coming back to it is quick."""
        from rtc_inspector.core.trips.judged import open_judged  # as above

        if self._judged is None or self._commit != commit:
            self._leave()
            folder = Path(self._folder.name) / commit
            with ExitStack() as stack:
                stack.callback(shutil.rmtree, folder, ignore_errors=True)
                project = self._export(commit, folder)
                self._judged = open_judged(stack, project, self._settings, notify, report, python_only=False)
                self._commit, self._stack = commit, stack.pop_all()
        return self._judged

    def _leave(self) -> None:
        self._judged = None
        self._stack.close()


def _dropped(item: Item, reason: str) -> Item:
    return replace(item, admitted=False, reason=reason)
