"""A key for everything a suite's results depend on."""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from rtc_inspector.core.oracle.bench.project import ORIGIN_FILE
from rtc_inspector.core.oracle.interpreter import Interpreter
from rtc_inspector.core.oracle.sessionplan import INSIDE, SessionPlan
from rtc_inspector.core.settings import OracleSettings

WHOLE_FILE = 4 << 20
"""Bytes up to which a file counts by its content; beyond, by size and time of change."""

_SKIPPED_WORDS = """
.git .hg .svn .tox .nox node_modules __pycache__ .mypy_cache .ruff_cache .pytest_cache .hypothesis .idea
.vscode htmlcov
"""
_SKIPPED = frozenset(_SKIPPED_WORDS.split())
_CLAIM = re.compile(r".+\.run\d+\.lock")
"""The lock files that the store puts beside a database."""
_SETTINGS = ("identity_runs", "repeat_seconds", "memory_mib", "processes", "scratch_mib", "suite_timeout")


def fingerprint(
    root: Path, interpreter: Interpreter, plan: SessionPlan, settings: OracleSettings, sandbox: tuple[str, str]
) -> str:
    """SHA-256 over files, interpreter, installed distributions, our own inside code and the settings that matter.

    `sandbox`: its name and image digest.
    """
    digest = hashlib.sha256()
    config = {key: value for key, value in plan.config.items() if key != "coverage_folder"}
    facts = {
        "interpreter": [str(interpreter.executable), interpreter.version_text, interpreter.tag],
        "distributions": sorted(_distributions(interpreter)),
        "config": config,
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


def _distributions(interpreter: Interpreter) -> Iterator[str]:
    """Name and version as the folder is called, with its time of change."""
    for folder in interpreter.site_folders:
        for entry in os.scandir(folder):
            if entry.name.endswith((".dist-info", ".egg-info", ".egg-link", ".pth")):
                yield f"{entry.name} {entry.stat().st_mtime_ns}"


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
    try:
        status = path.stat()
        if status.st_size > WHOLE_FILE or not path.is_file():
            return f"{status.st_size} {status.st_mtime_ns}".encode()
        content = path.read_bytes()
        return None if _is_ours(content) else hashlib.sha256(content).digest()
    except OSError as error:
        # EBUSY: the store refuses to have the files of a database opened that it has open itself.
        return None if error.errno == errno.EBUSY else type(error).__name__.encode()


def _is_ours(content: bytes) -> bool:
    """By the header of an SQLite file, in which the store writes its application id."""
    return content.startswith(b"SQLite format 3\0") and content[68:72] == b"RTCI"
