"""`rtc-inspector models download REPO:FILE`."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from core.errors import UserError
from core.models.download import download, parse_wanted

WORD = "download"


def fetch(names: Sequence[str], as_json: bool) -> int:
    """Download a model into the hub's cache and say where it is. Raises UserError."""
    if len(names) != 1:
        raise UserError("One model is downloaded at a time.", "Say `rtc-inspector models download OWNER/NAME:FILE`.")
    wanted = parse_wanted(names[0])
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=as_json or not console.is_terminal) as bar:
        task = bar.add_task("asking the hub", total=None)

        def report(stage: str, done: int, total: int) -> None:
            bar.update(task, description=stage, completed=done, total=total)

        path = download(wanted, report)
    print(json.dumps({"repo": wanted.repo, "file": wanted.file, "path": str(path)}) if as_json else path)
    return 0
