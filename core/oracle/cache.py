"""Baselines kept between openings, by fingerprint."""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import Path

from platformdirs import user_cache_path

from rtc_inspector.core.json_cache import JsonCache
from rtc_inspector.core.oracle.baseline import Baseline
from rtc_inspector.core.oracle.identity import IdentityRun
from rtc_inspector.core.oracle.suite import Traced
from rtc_inspector.core.types import Outcome, TestResult, Verdict

KEPT = 50
"""Baselines that stay; the oldest go first."""


def cache_folder() -> Path:
    """Return the folder of kept suites, where the platform keeps caches."""
    return user_cache_path("rtc-inspector") / "suites"


def _verdict(outcome: str, detail: str, tests: list[list[str]]) -> Verdict:
    results = tuple(TestResult(node_id, ended) for node_id, ended in tests)
    return Verdict(Outcome(outcome), 0.0, results, detail)


class BaselineCache:
    """A folder of baselines. Trouble with it never stops a run: it is only a cache."""

    def __init__(self, folder: Path) -> None:
        """The folder is made when first needed."""
        self._files = JsonCache(folder, KEPT)
        self._seen = JsonCache(folder / "imported", KEPT)
        self._traced = JsonCache(folder / "traced", KEPT)
        self._admissions = JsonCache(folder / "admissions", KEPT)

    def load(self, key: str) -> Baseline | None:
        """The baseline kept under `key`; None when there is none, or it cannot be read."""
        try:
            return Baseline.from_json(self._files.load(key)).as_cached()
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    def save(self, key: str, baseline: Baseline) -> None:
        """Keep it, whole or not at all."""
        self._files.save(key, baseline.to_json())

    def traced(self, key: str) -> Traced | None:
        """Return the traced run kept under `key`, of a project of which no more is known yet."""
        try:
            data = self._traced.load(key)
            return Traced(IdentityRun.from_json(data["run"]), tuple(map(Path, data["opened"])))
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    def keep_traced(self, key: str, traced: Traced) -> None:
        """Keep what the first run showed."""
        self._traced.save(key, {"run": traced.run.to_json(), "opened": list(map(str, traced.opened))})

    def admissions(self, key: str) -> dict[str, Verdict]:
        """Return what deletions and own texts of regions came to, by digest."""
        try:
            return {str(digest): _verdict(*kept) for digest, kept in self._admissions.load(key).items()}
        except (ValueError, TypeError, AttributeError):
            return {}

    def keep_admissions(self, key: str, verdicts: Mapping[str, Verdict]) -> None:
        """Keep them: outcome, sentence, and which tests ran."""
        plain = {
            digest: [str(verdict.outcome), verdict.detail, [[test.node_id, test.outcome] for test in verdict.tests]]
            for digest, verdict in verdicts.items()
        }
        self._admissions.save(key, plain)

    def imported(self, key: str) -> set[str]:
        """Files of the project that the tests are known to import."""
        found = self._seen.load(key)
        return {path for path in found if isinstance(path, str)} if isinstance(found, list) else set()

    def keep_imported(self, key: str, paths: Set[str]) -> None:
        """Keep which files they import."""
        self._seen.save(key, sorted(paths))
