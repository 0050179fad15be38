"""What is kept of a project: verdicts in memory, and between openings what was learned, by all it depends on."""

import hashlib
import itertools
import json
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Set
from dataclasses import replace
from pathlib import Path

from rtc_inspector.core.json_cache import JsonCache
from rtc_inspector.core.oracle.baseline import Baseline
from rtc_inspector.core.oracle.bench.project import ORIGIN_FILE
from rtc_inspector.core.oracle.identity import IdentityRun
from rtc_inspector.core.oracle.interpreter import Interpreter
from rtc_inspector.core.oracle.sessionplan import INSIDE, SessionPlan
from rtc_inspector.core.oracle.suite import Traced
from rtc_inspector.core.platform import in_use
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.settings.setting import read_back
from rtc_inspector.core.types import Outcome, TestResult, Verdict

CHARACTERS = 32 << 20  # of all outputs and messages kept
EACH = 1 << 10  # what a verdict counts beside its texts


class VerdictCache:
    """Those asked for least recently go first. Thread-safe."""

    def __init__(self, characters: int = CHARACTERS) -> None:
        self._most = characters
        self._held = 0
        self._known: OrderedDict[Hashable, Verdict] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Verdict | None:
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def keep(self, key: Hashable, verdict: Verdict) -> None:
        with self._lock:
            self._drop(key)
            if size(verdict) > self._most:
                return
            self._known[key] = verdict
            self._held += size(verdict)
            while self._held > self._most:
                self._drop(next(iter(self._known)))

    def _drop(self, key: Hashable) -> None:
        old = self._known.pop(key, None)
        self._held -= size(old) if old is not None else 0


def size(verdict: Verdict) -> int:
    """Characters of its texts, and a little for the rest of it and of each test."""
    texts = sum(len(test.message) + len(test.node_id) for test in verdict.tests)
    return EACH + len(verdict.output) + len(verdict.detail) + texts + EACH // 4 * len(verdict.tests)


WHOLE_FILE = 4 << 20  # bytes up to which a file counts by its content; beyond, by size and time of change

_SKIPPED_WORDS = """
.git .hg .svn .tox .nox node_modules __pycache__ .mypy_cache .ruff_cache .pytest_cache .hypothesis .idea
.vscode htmlcov
"""
_SKIPPED = frozenset(_SKIPPED_WORDS.split())
_CLAIM = re.compile(r".+\.run\d+\.lock")  # the lock files that the store puts beside a database
_SETTINGS = ("identity_runs", "repeat_seconds", "memory_mib", "processes", "scratch_mib", "suite_timeout")


def fingerprint(
    root: Path, interpreter: Interpreter, plan: SessionPlan, settings: OracleSettings, sandbox: tuple[str, str]
) -> str:
    """SHA-256 over files, interpreter, installed distributions, our own inside code and the settings that matter.

    `sandbox`: its name and image digest.
    """
    digest = hashlib.sha256()
    entries = (entry for folder in interpreter.site_folders for entry in os.scandir(folder))
    installed = (each for each in entries if each.name.endswith((".dist-info", ".egg-info", ".egg-link", ".pth")))
    facts = {
        "interpreter": [str(interpreter.executable), interpreter.version_text, interpreter.tag],
        "distributions": sorted(f"{each.name} {each.stat().st_mtime_ns}" for each in installed),
        "config": plan.config,
        "environment": dict(plan.launch.environment),
        "settings": [getattr(settings, name) for name in _SETTINGS],
        "sandbox": list(sandbox),
    }
    digest.update(json.dumps(facts, sort_keys=True).encode())
    elsewhere = [extra for extra in interpreter.editable if not extra.is_relative_to(root)]
    sources = (file for folder in elsewhere for file in _files(folder) if file.suffix == ".py")
    for path in itertools.chain(_files(INSIDE), _files(root), sources):
        content = _content(path)
        if content is not None:
            digest.update(f"\0{path}\0".encode("utf-8", "surrogateescape"))
            digest.update(content)
    return digest.hexdigest()


def _files(root: Path) -> Iterator[Path]:
    """Regular files below `root`, sorted; version control, environments and caches left out."""
    if root.is_file():
        yield root
    for folder, names, files in os.walk(root):
        names[:] = sorted(n for n in names if n not in _SKIPPED and not Path(folder, n, "pyvenv.cfg").exists())
        for name in sorted(files):
            if not name.endswith((".pyc", ".pyo", ORIGIN_FILE)) and not _CLAIM.fullmatch(name):
                yield Path(folder, name)


def _content(path: Path) -> bytes | None:
    """Return what stands for a file's content: a hash, for a large file its size and time, or the name of an error.

    It is None for databases of runs, which no test reads and every run changes.
    """
    if in_use(path):
        return None
    try:
        status = path.stat()
        if status.st_size > WHOLE_FILE or not path.is_file():
            return f"{status.st_size} {status.st_mtime_ns}".encode()
        content = path.read_bytes()
        # The store writes its application id into the header of its files.
        ours = content.startswith(b"SQLite format 3\0") and content[68:72] == b"RTCI"
        return None if ours else hashlib.sha256(content).digest()
    except OSError as error:
        return type(error).__name__.encode()


KEPT = 50  # baselines that stay; the oldest go first


def _verdict(outcome: str, detail: str, tests: list[list[str]]) -> Verdict:
    results = tuple(TestResult(node_id, ended) for node_id, ended in tests)
    return Verdict(Outcome(outcome), 0.0, results, detail)


class BaselineCache:
    """A folder of baselines. Trouble with it never stops a run: it is only a cache."""

    def __init__(self, folder: Path = Path("suites")) -> None:
        """`folder`: below the user's caches unless it is absolute."""
        self._files = JsonCache(folder, KEPT)
        self._seen = JsonCache(folder / "imported", KEPT)
        self._traced = JsonCache(folder / "traced", KEPT)
        self._forecasts = JsonCache(folder / "forecasts", KEPT)
        self._admissions = JsonCache(folder / "admissions", KEPT)

    def load(self, key: str) -> Baseline | None:
        """Return the baseline kept under `key`; None when there is none, or it cannot be read."""
        try:
            baseline = read_back(Baseline, self._files.load(key))
            return replace(baseline, suite=replace(baseline.suite, cached=True))
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    def save(self, key: str, baseline: Baseline) -> None:
        self._files.save(key, baseline)

    def traced(self, key: str) -> Traced | None:
        """Return the traced run kept under `key`, of a project of which no more is known yet."""
        try:
            data = self._traced.load(key)
            opened, endless = tuple(map(Path, data["opened"])), dict(data["endless"])
            return Traced(IdentityRun.from_json(data["run"]), opened, bool(data["forked"]), endless)
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    def keep_traced(self, key: str, traced: Traced) -> None:
        opened, endless = list(map(str, traced.opened)), dict(traced.endless)
        run, forked = traced.run.to_json(), traced.forked
        self._traced.save(key, {"run": run, "opened": opened, "forked": forked, "endless": endless})

    def forecast(self, root: str) -> dict[str, float]:
        """Return what the last openings of a project's folder took, in seconds: `first`, `plain` and `learned`."""
        found = self._forecasts.load(hashlib.sha256(root.encode("utf-8", "surrogatepass")).hexdigest())
        return found if isinstance(found, dict) else {}

    def keep_forecast(self, root: str, **seconds: float) -> None:
        name = hashlib.sha256(root.encode("utf-8", "surrogatepass")).hexdigest()
        self._forecasts.save(name, {**self.forecast(root), **seconds})

    def admissions(self, key: str) -> dict[str, Verdict]:
        """Return what deletions and own texts of regions came to, by digest."""
        try:
            return {str(digest): _verdict(*kept) for digest, kept in self._admissions.load(key).items()}
        except (ValueError, TypeError, AttributeError):
            return {}

    def keep_admissions(self, key: str, verdicts: Mapping[str, Verdict]) -> None:
        plain = {
            digest: [str(verdict.outcome), verdict.detail, [[test.node_id, test.outcome] for test in verdict.tests]]
            for digest, verdict in verdicts.items()
        }
        self._admissions.save(key, plain)

    def imported(self, key: str) -> set[str]:
        found = self._seen.load(key)
        return {path for path in found if isinstance(path, str)} if isinstance(found, list) else set()

    def keep_imported(self, key: str, paths: Set[str]) -> None:
        self._seen.save(key, sorted(paths))
