"""Notebooks written for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def notebook(path: Path, *cells: tuple[str, Any], **more: Any) -> Path:
    """A notebook of these cells: kind and source of each."""
    made = [{"cell_type": kind, "source": source, "metadata": {}} for kind, source in cells]
    path.write_text(json.dumps({"nbformat": 4, "metadata": {}, "cells": made, **more}), encoding="utf-8")
    return path
