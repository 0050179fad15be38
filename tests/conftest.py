"""How the tests share two processes: those on models and sandboxes one after another, the others beside them."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest chain, which one process keeps to itself: its engines and models are dear to start."""
    items.sort(key=lambda item: "integration" not in item.path.parts)
    for item in items:
        if "integration" in item.path.parts:
            item.add_marker(pytest.mark.xdist_group("integration"))
