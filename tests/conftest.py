"""How the tests share two processes: those on models and sandboxes one after another, the others file by file."""

from __future__ import annotations

import pytest

DEAR = "integration"
"""Tests whose engines and models are dear to start: one process keeps them to itself, and begins with them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let tests that share fixtures share a process."""
    items.sort(key=lambda item: DEAR not in item.path.parts)
    for item in items:
        group = DEAR if DEAR in item.path.parts else item.path.name
        item.add_marker(pytest.mark.xdist_group(group))
