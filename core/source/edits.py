"""An edit: old and new code, and what is known of how one became the other (EditingRTC); and files of edits."""

import codecs
import difflib
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

import pygit2
from pygit2.enums import DeltaStatus, FileMode, SortMode
from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_for_filename
from pygments.token import Comment, Literal, Name, Punctuation, String, Token, Whitespace

from rtc_inspector.core.errors import ProjectError, UserError
from rtc_inspector.core.settings import EditSettings
from rtc_inspector.core.source.git import author_time, export_commit, open_repository, project_prefix, tip_commit
from rtc_inspector.core.source.json_lines import SURROGATE, BadLine, Row, lines_of, read_each
from rtc_inspector.core.source.reading import looks_generated, says_generated
from rtc_inspector.core.types import Report, Span


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit as it is sampled."""

    key: str  # the same whenever the same edit is drawn again
    path: str  # relative to the project; of a file of edits, the path it names, else its own name
    # `span`, `start_line`: of `new` in the new version of its file
    span: Span
    start_line: int
    # `old`, `new`: the changed lines with the unchanged ones around them, no newline at the end
    old: str
    new: str
    # `removed`, `added`: the changed lines alone
    removed: tuple[str, ...]
    added: tuple[str, ...]
    comment: str = ""  # what a person wrote about it: the commit's message, or a reviewer's words
    author: str = "comment"  # where that stands: `commit` or `comment`
    commit: str = ""
    date: str = ""
    language: str = ""
    old_line: int = 0  # where `old` begins in the old version of its file, from 1; 0 where there is none


def unfit(edit: Edit, settings: EditSettings) -> str:
    """Return why an edit is passed over; empty when it is not. White space alone is no edit: copying would pass."""
    shorter, longer = sorted((len(edit.old), len(edit.new)))
    if "".join(edit.old.split()) == "".join(edit.new.split()):
        return "edits of white space alone"
    if settings.plain:
        return ""
    if longer > settings.max_characters:
        return f"edits longer than {settings.max_characters} characters"
    if shorter < settings.min_characters:
        return f"edits shorter than {settings.min_characters} characters"
    if max(len(edit.removed), len(edit.added)) > settings.max_lines:
        return f"edits of more than {settings.max_lines} lines"
    return ""


def once(edits: Iterator[Edit], settings: EditSettings, passed_over: Counter[str]) -> Iterator[Edit]:
    """Yield the fit ones without duplicates; the others are counted."""
    seen: set[bytes] = set()
    for edit in edits:
        reason = unfit(edit, settings)
        # Sixteen bytes for each of a hundred thousand edits, where their texts would fill the memory.
        mark = hashlib.blake2b(f"{edit.old}\0{edit.new}".encode("utf-8", "replace"), digest_size=16).digest()
        if reason or (mark in seen and not settings.plain):
            passed_over[reason or "edits that repeat another one"] += 1
            continue
        seen.add(mark)
        yield edit


def rank(seed: int, name: str) -> bytes:
    """Return a sort key that shuffles: by the seed and the name alone, so what is added later moves nothing."""
    return hashlib.blake2b(f"{seed}\x1f{name}".encode(), digest_size=8).digest()


# --------------------------- files of edits


_OPTIONAL = ("comment", "path", "language")


class EditFile:
    """A file of edits, read whole."""

    revision: str | None = None  # the commit whose history is read; None for a file

    def __init__(self, path: Path, settings: EditSettings) -> None:
        """Raises ProjectError for a file that cannot be read, and names every line that is no edit."""
        self._settings = settings
        try:
            data = path.read_bytes()
        except OSError as error:
            remedy = "Name a JSONL file with an edit a line."
            raise ProjectError(f"{path} cannot be read: {error.strerror}.", remedy) from error
        self.fingerprint = hashlib.sha256(data).hexdigest()  # the same as long as the same edits are drawn
        self.passed_over: Counter[str] = Counter()  # how many edits, files and commits each filter left out so far
        rows = list(lines_of(data.removeprefix(codecs.BOM_UTF8)))
        if not rows:
            raise ProjectError(f"{path} holds no edit.", "Write one JSON object with `old` and `new` on each line.")
        lines = read_each(path, rows, _fields, lambda numbered: str(numbered[0]), "line")
        # Each line begins with its sign in a diff, which is taken off: so stand edits in CodeReviewer's files (Li et
        # al., 2022). All lines or none: a single edit may well begin each line with a blank.
        self.signed = all(_signed(fields) for _, fields in lines)
        # Comparing the lines of two texts takes the square of their length.
        longest = 10 * settings.max_characters if settings.plain else settings.max_characters
        for _, fields in lines if self.signed else ():
            fields |= {name: "\n".join(line[1:] for line in fields[name].splitlines()) for name in ("old", "new")}
        self._edits = [_edit(path, number, fields, longest) for number, fields in lines]

    def draw(self, seed: int, report: Report) -> Iterator[Edit]:
        """Yield every edit that the settings let through, once each, in an order that depends on `seed` alone."""
        report("reading edits", len(self._edits), len(self._edits))
        shuffled = sorted(self._edits, key=lambda edit: rank(seed, edit.key))
        return once(iter(shuffled), self._settings, self.passed_over)


def _signed(fields: dict[str, str]) -> bool:
    """Return whether all lines begin with a blank or the sign of their side of a diff, at least one with the sign."""
    before, after = ({line[:1] for line in fields[name].splitlines()} - {""} for name in ("old", "new"))
    return before <= {"-", " "} and after <= {"+", " "} and ("-" in before or "+" in after)


def _fields(number: int, row: Row) -> tuple[int, dict[str, str]]:
    for name in ("old", "new"):
        if name not in row:
            raise BadLine(f"has no `{name}`")
    texts = {name: row.get(name) or "" for name in ("old", "new", *_OPTIONAL)}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise BadLine(f"`{name}` is not a text")
    for name in ("old", "new"):
        if not texts[name]:
            raise BadLine(f"`{name}` is empty")
    for name, text in texts.items():
        if SURROGATE.search(text):
            raise BadLine(f"`{name}` holds half of a surrogate pair, which is no character")
    return number, texts


def _edit(path: Path, number: int, fields: dict[str, str], longest: int) -> Edit:
    """Return the edit of a line; one of over `longest` characters is passed over later: its lines are not compared."""
    old, new = (fields[name].removesuffix("\n").removesuffix("\r") for name in ("old", "new"))
    removed, added = changed_lines(old, new) if max(len(old), len(new)) <= longest else ((), ())
    return Edit(
        key=f"{path.name}:{number}",
        path=fields["path"] or path.name,
        span=Span(0, len(new)),
        start_line=number,
        old=old,
        new=new,
        removed=removed,
        added=added,
        comment=fields["comment"].strip(),
        language=fields["language"] or (language(fields["path"]) if fields["path"] else UNKNOWN),
    )


def changed_lines(old: str, new: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the lines that only the old text has, and those that only the new one has."""
    before, after = old.splitlines(), new.splitlines()
    removed: list[str] = []
    added: list[str] = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            removed += before[a:b]
            added += after[c:d]
    return tuple(removed), tuple(added)


# --------------------------- kinds of changes


IMPORT = re.compile(
    r"""\s*(import\b|from\s+\S+\s+import\b|#\s*include\s*[<"]|using\b|use\b|require\b|const\s.*\brequire\()"""
)
DEFINING = frozenset(
    {"def", "class", "function", "func", "fn", "fun", "interface", "struct", "enum", "type", "trait"}
    | {"let", "const", "var", "val"}
)
_PLAIN = re.compile(r"(?P<word>\w+)|(?P<space>\s+)|(?P<other>.)", re.DOTALL)
KINDS = ("import", "comment", "rename", "literal", "call", "addition", "deletion", "other")


@dataclass(frozen=True, slots=True)
class _Token:
    """One token. `call`: it stands between the parentheses of a call; `callee`: a parenthesis follows it."""

    kind: Any  # Pygments' kinds of tokens: `in` tells whether one belongs to a family
    text: str
    call: bool
    callee: bool


def change_kind(path: str, old: str, new: str, removed: Sequence[str], added: Sequence[str]) -> str:
    """Return the kind of a change: the first of `KINDS` that fits.

    - `import`: every changed line imports something.
    - `comment`: only comments and documentation differ.
    - `rename`: one name became another throughout; not one called function in place of another, which is a call.
    - `literal`: only numbers and texts differ.
    - `call`: what is called, or what it is called with.
    - `addition`, `deletion`: something came, or went, and nothing else.
    """
    before, after = _tokens(path, old), _tokens(path, new)
    texts = [token.text for token in before], [token.text for token in after]
    codes = difflib.SequenceMatcher(None, *texts, autojunk=False).get_opcodes()
    changes = [(before[a:b], after[c:d]) for kind, a, b, c, d in codes if kind != "equal"]
    defined = any(a > 0 and before[a - 1].text in DEFINING for kind, a, *_ in codes if kind != "equal")
    tokens = [token for gone, come in changes for token in (*gone, *come)]
    lines = [line for line in (*removed, *added) if line.strip()]
    if lines and all(IMPORT.match(line) for line in lines):
        return "import"
    if tokens and all(_is_comment(token) for token in tokens):
        return "comment"
    if changes and all(len(gone) == len(come) for gone, come in changes):
        if all(token.kind in Literal and not _is_comment(token) for token in tokens):
            return "literal"
        pairs = [pair for change in changes for pair in zip(*change, strict=True)]
        alike = len({one.text for one, _ in pairs}) == 1 == len({other.text for _, other in pairs})
        called = all(other.callee for _, other in pairs) and not defined
        if alike and not called and all(token.kind in Name for token in tokens):
            return "rename"
    if tokens and all(token.call or (token.callee and token.kind in Name) for token in tokens):
        return "call"
    if tokens and not any(gone for gone, _ in changes):
        return "addition"
    return "deletion" if tokens and not any(come for _, come in changes) else "other"


def _is_comment(token: _Token) -> bool:
    return (token.kind in Comment and token.kind not in Comment.Preproc) or token.kind in String.Doc


def _tokens(path: str, text: str) -> list[_Token]:
    """Return the tokens without white space; of an unknown language words and single signs."""
    ending = PurePosixPath(path).suffix or PurePosixPath(path).name
    lexer, parts = lexer_class(ending) if is_code(path) else None, list[tuple[Any, str]]()
    if lexer is not None:  # `startinline`: a piece of PHP has no opening tag
        parts += lexer(stripnl=False, startinline=True).get_tokens(text)
    else:
        kinds = {"word": Name, "space": Whitespace, "other": Punctuation}
        parts += [(kinds.get(match.lastgroup or "", Token), match[0]) for match in _PLAIN.finditer(text)]
    tokens = [(kind, part) for kind, part in parts if part.strip()]
    found: list[_Token] = []
    open_calls: list[bool] = []
    for index, (kind, part) in enumerate(tokens):
        following = tokens[index + 1][1] if index + 1 < len(tokens) else ""
        for sign in part if kind in Punctuation else "":
            if sign in "([{":
                # `(` behind a name is a call; behind anything else it only groups.
                open_calls.append(sign == "(" and index > 0 and tokens[index - 1][0] in Name)
            elif sign in ")]}" and open_calls:
                open_calls.pop()
        found.append(_Token(kind, part, any(open_calls), following.startswith("(")))
    return found


# --------------------------- languages


UNKNOWN = "unknown"

_NO_CODE = frozenset(
    {"CSV", "Diff", "Gettext Catalog", "Groff", "INI", "JSON", "JSON-LD", "Markdown", "Properties"}
    | {"reStructuredText", "TOML", "Text only", "TeX", "XML", "YAML"}
)
"""Prose and data as Pygments names them: sampled only when their ending is asked for."""

_LIKELIER = {".pl": "Perl", ".sql": "SQL", ".R": "R", ".r": "R"}
"""Endings of several languages, of which Pygments takes the rarer one."""


def language(path: str) -> str:
    """Return the language's name by Pygments, e.g. `Go`; `unknown` where the ending tells nothing."""
    ending = PurePosixPath(path).suffix or PurePosixPath(path).name
    lexer = lexer_class(ending)
    return _LIKELIER.get(ending, str(lexer.name) if lexer is not None else UNKNOWN)


def is_code(path: str) -> bool:
    """Return whether the file is in a known programming language."""
    return language(path) not in _NO_CODE | {UNKNOWN}


@cache
def lexer_class(ending: str) -> type[Lexer] | None:
    """Return the Pygments lexer for files of that ending."""
    name = f"file{ending}" if ending.startswith(".") else ending
    found: type[Lexer] | None = find_lexer_class_for_filename(name)
    return found


# ---- edits out of a repository's own history


_EVERY = 200
MISSING = "commits with missing objects (a shallow or partial clone)"
_IGNORED_REVISIONS = ".git-blame-ignore-revs"  # where projects list the commits that only reformat
_LARGEST = 1_000_000  # bytes of a file; a larger one is data or generated code


Place = tuple[int, int]  # of a hunk in a commit: which file of the commit's diff, which hunk of the file


class EditHistory:
    """The edits on the way to one commit; drawn from as an `EditFile` is."""

    def __init__(self, project: Path, settings: EditSettings) -> None:
        """Find the history of the project's folder, also in a bare repository.

        Raises ProjectError, and UserError for a date that is none.
        """
        self._repository = open_repository(project)
        self._tip = tip = tip_commit(self._repository, project, settings.revision)
        self._settings = settings
        # From the repository's top to the project: empty, or ending in a slash.
        self._prefix = project_prefix(self._repository, project)
        self.revision: str | None = str(tip.id)
        self.fingerprint = hashlib.sha256(f"history\0{self._prefix}\0{tip.id}".encode()).hexdigest()
        self.passed_over: Counter[str] = Counter()
        self._since, self._until = _day("--since", settings.since), _day("--until", settings.until)
        self._paths = tuple(path.strip("/") for path in settings.paths)
        self._diff = lru_cache(1)(self._compared)  # the last commit's, since its hunks are asked for next
        try:
            blob = tip.tree[_IGNORED_REVISIONS]
            text = blob.data.decode("utf-8", "replace") if isinstance(blob, pygit2.Blob) else ""
        except (pygit2.GitError, KeyError):
            text = ""
        self._reformatting = frozenset(line.partition("#")[0].strip() for line in text.splitlines())

    @property
    def shallow(self) -> bool:
        return bool(self._repository.is_shallow)

    def export(self, commit: str, folder: Path) -> Path:
        """Write a commit's files to a new `folder`; gives the project's own folder in it. Raises ProjectError."""
        export_commit(self._repository, commit, folder)
        return folder / self._prefix

    def draw(self, seed: int, report: Report) -> Iterator[Edit]:
        """Yield one edit of each commit, commits and edits shuffled, before a second one of any; and so on."""
        return once(self._rounds(seed, report), self._settings, self.passed_over)

    def _rounds(self, seed: int, report: Report) -> Iterator[Edit]:
        names = self._names(seed, report)
        turn = 0
        while names:
            more = []
            for done, name in enumerate(names):
                if done % _EVERY == 0:
                    report("reading history", done, len(names))
                found, left = self._nth(name, turn, seed)
                if found is not None:
                    yield found
                if left:
                    more.append(name)
            names, turn = more, turn + 1

    def _names(self, seed: int, report: Report) -> list[bytes]:
        """Return every commit's id, twenty bytes each, in an order that depends on `seed`."""
        names = []
        try:
            for done, commit in enumerate(self._repository.walk(self._tip.id, SortMode.NONE)):
                if done % (_EVERY * 50) == 0:
                    report("listing commits", done, 0)
                # Twenty bytes a commit, where pygit2's objects of a long history would fill the memory.
                names.append(commit.id.raw)
        except (pygit2.GitError, KeyError):
            self.passed_over["commits behind one that is missing"] += 1
        return sorted(names, key=lambda name: rank(seed, name.hex()))

    def _nth(self, name: bytes, turn: int, seed: int) -> tuple[Edit | None, bool]:
        passed_over: Counter[str] = Counter()
        places: list[Place] = []
        found: Edit | None = None
        try:
            commit = self._repository[pygit2.Oid(raw=name)].peel(pygit2.Commit)
            reason = self._commit_reason(commit)
            if not reason:
                places = self._hunks(commit, passed_over)
                places.sort(key=lambda place: rank(seed, f"{name.hex()}:{place[0]}.{place[1]}"))
            found = self._edit(commit, places[turn]) if turn < len(places) else None
        except (pygit2.GitError, KeyError, OSError):
            reason, places = MISSING, []
        # Into a count of this turn's own, since a commit is looked at once for each of its edits.
        passed_over.update([reason] if reason else [])
        if turn == 0:  # what a commit leaves out is counted once
            self.passed_over.update(passed_over)
        if found is None and places:
            self.passed_over["edits that are not UTF-8 text"] += 1
        return found, turn + 1 < len(places)

    def _commit_reason(self, commit: pygit2.Commit) -> str:
        """Return why a commit is passed over: merges, bulk formatting, other dates; empty when it is not."""
        parents = len(commit.parent_ids)
        if not parents:
            return "first commits, which have nothing before them"
        if parents > 1 and self._settings.skip_merges:
            return "merge commits"
        if self._settings.skip_bulk and str(commit.id) in self._reformatting:
            return "commits that the project lists as reformatting"
        day = author_time(commit).date()
        if (self._since and day < self._since) or (self._until and day > self._until):
            return "commits outside the dates"
        return ""

    def _hunks(self, commit: pygit2.Commit, passed_over: Counter[str]) -> list[Place]:
        """Return the commit's hunks in text files that pass the filter; none for a bulk change.

        What is left out is counted in `passed_over`. Raises KeyError, GitError for objects that are not there.
        """
        # Whether the project's own folder changed is far cheaper to see than the whole difference.
        folder = self._prefix.rstrip("/")
        if folder and _entry(commit, folder) == _entry(self._parent(commit), folder):
            return []
        diff = self._diff(commit)
        # `len` counts files without comparing their lines, which is what takes the time.
        if self._settings.skip_bulk and len(diff) > self._settings.max_files:
            passed_over[f"commits that touch more than {self._settings.max_files} files"] += 1
            return []
        places = []
        for number, delta in enumerate(diff.deltas):
            if delta.status != DeltaStatus.MODIFIED:
                continue  # an edit has an old and a new side
            reason = self._file_reason(delta)
            patch = diff[number] if not reason else None
            if patch is not None and patch.delta.is_binary:
                reason = "binary files"
            if reason:
                passed_over[reason] += 1
            elif patch is not None:
                places += [(number, hunk) for hunk in range(len(patch.hunks))]
        return places

    def _edit(self, commit: pygit2.Commit, place: Place) -> Edit | None:
        """Return one hunk as an edit, or None when its text is not UTF-8."""
        file, number = place
        patch = self._diff(commit)[file]
        assert patch is not None
        hunk = patch.hunks[number]
        path = _path(patch.delta)
        try:
            old, new = _side(hunk, "-"), _side(hunk, "+")
            lines = self._blob(patch.delta.new_file.id).split(b"\n")[: max(hunk.new_start, 1) - 1]
            before = sum(len(line.decode("utf-8")) + 1 for line in lines)
        except UnicodeDecodeError:
            return None
        return Edit(
            key=f"{commit.id}:{path}:{hunk.old_start}",
            path=path.removeprefix(self._prefix),
            span=Span(before, before + len(new)),
            start_line=max(hunk.new_start, 1),
            old=old,
            new=new,
            removed=_changed(hunk, "-"),
            added=_changed(hunk, "+"),
            comment=commit.raw_message.decode("utf-8", "replace").strip(),
            author="commit",
            commit=str(commit.id),
            date=author_time(commit).isoformat(),
            language=language(path),
            old_line=max(hunk.old_start, 1),
        )

    def _compared(self, commit: pygit2.Commit) -> pygit2.Diff:
        return self._repository.diff(self._parent(commit), commit, context_lines=self._settings.context)

    def _parent(self, commit: pygit2.Commit) -> pygit2.Commit:
        return self._repository[commit.parent_ids[0]].peel(pygit2.Commit)

    def _file_reason(self, delta: pygit2.DiffDelta) -> str:
        """Return why a changed file is passed over; empty when it is not."""
        plain = (FileMode.BLOB, FileMode.BLOB_EXECUTABLE)
        if delta.new_file.mode not in plain or delta.old_file.mode not in plain:
            return "links and submodules"
        if "\ufffd" in _path(delta):
            return "files whose name is not UTF-8"
        # By name first: what is left out by that need not be read.
        path, endings = _path(delta), self._settings.endings
        inside = path.removeprefix(self._prefix)
        wanted = any(f"{inside}/".startswith(f"{each}/") or fnmatchcase(inside, each) for each in self._paths)
        if not path.startswith(self._prefix) or (self._paths and not wanted):
            return "files outside the paths asked for"
        if endings and not path.endswith(endings):
            return "files with other endings"
        if not endings and not is_code(path):
            return "files in no known programming language"
        if self._settings.skip_generated and looks_generated(path):
            return "generated files"
        _, size = self._repository.odb.read_header(delta.new_file.id)
        if size > _LARGEST:
            return f"files of more than {_LARGEST // 1_000_000} MB"
        data = self._blob(delta.new_file.id)
        return "generated files" if self._settings.skip_generated and says_generated(data) else ""

    def _blob(self, blob_id: pygit2.Oid) -> bytes:
        return self._repository[blob_id].peel(pygit2.Blob).data


def _day(option: str, text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise UserError(f"{option} {text} is not a date.", "Write it as YYYY-MM-DD.") from error


def _entry(commit: pygit2.Commit, folder: str) -> pygit2.Oid | None:
    try:
        return commit.tree[folder].id
    except KeyError:
        return None


def _path(delta: pygit2.DiffDelta) -> str:
    """Return a file's new path from the repository's top; what is no UTF-8 in it is marked by U+FFFD."""
    return delta.new_file.raw_path.decode("utf-8", "replace")


def _side(hunk: pygit2.DiffHunk, sign: str) -> str:
    """Return one side, context included, without the last line's end. Raises UnicodeDecodeError."""
    text = "".join(line.raw_content.decode("utf-8") for line in hunk.lines if line.origin in (" ", sign))
    return text.removesuffix("\n").removesuffix("\r")


def _changed(hunk: pygit2.DiffHunk, sign: str) -> tuple[str, ...]:
    return tuple(line.raw_content.decode("utf-8").rstrip("\r\n") for line in hunk.lines if line.origin == sign)
