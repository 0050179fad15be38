"""How the tests share some processes: whole files, the dearest first, so that none of them idles at the end."""

from __future__ import annotations

import gc
import os
import sys

import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command line has it, before anything imports NumPy

DEAR = (
    "test_cluster",
    "test_oracle_projects",
    "test_command_oracle",
    "test_whole_runs",
    "test_benchmark_oracle",
    "test_oracle_attacks",
    "test_command_runs",
    "test_models_local",
    "test_directive_runs",
    "test_oracle_verdicts",
    "test_replay",
    "test_printed_commands",
    "test_models_styles",
    "test_command_line",
    "test_oracle_limits",
    "test_chain_runs",
    "test_comparing",
    "test_answer_forms",
    "test_editing_run",
    "test_looked_at",
    "test_window_main",
    "test_calibration",
    "test_wheel",
    "test_types",
    "test_metrics_codebleu",
    "test_output_lost",
    "test_by_hand",
    "test_sandbox_conformance",
    "test_benchmark_runs",
    "test_cosmetic_runs",
    "test_labelling",
    "test_many_runs",
    "test_models_crash",
    "test_regions_admission",
    "test_oracle_trouble",
    "test_rewrites",
    "test_first_use",
    "test_store_files",
    "test_notebook_runs",
    "test_servers",
)
"""Files that take longest, the longest first."""


def pytest_configure() -> None:
    """Keep all that the tests start on two processors: however many processes wait, no more than two are busy."""
    if sys.platform == "linux":
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put dear files first; the others stay in their order."""
    rank = {name: place for place, name in enumerate(DEAR)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(DEAR)))


@pytest.fixture(scope="module", autouse=True)
def no_garbage_yet() -> None:
    """What is there before a file's first test is no garbage: its tests need not look through all of it again."""
    gc.collect()
    gc.freeze()
