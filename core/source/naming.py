"""What to call a project."""

from __future__ import annotations

import tomllib
from pathlib import Path


def project_name(root: Path) -> str:
    """The name in pyproject.toml (`[project]`, else `[tool.poetry]`), else the folder's."""
    try:
        table = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        table = {}
    for keys in (("project",), ("tool", "poetry")):
        section: object = table
        for key in keys:
            section = section.get(key) if isinstance(section, dict) else None
        name = section.get("name") if isinstance(section, dict) else None
        if isinstance(name, str) and name.strip():
            return name.strip()
    return root.resolve().name or str(root)
