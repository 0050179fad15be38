"""What is done to model files: `models download REPO:FILE` and `models --calibrate`."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from core.errors import UserError
from core.generation import Model
from core.models.calibrated import Calibration, keep_calibration
from core.models.discovery import GgufEntry
from core.models.download import download, parse_wanted
from core.models.styles import expected_style
from core.run.control import Control
from core.settings import ModelSettings, OracleSettings

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


def calibrate_models(entries: Sequence[GgufEntry], oracle: OracleSettings, threads: int | None, as_json: bool) -> int:
    """Measure and keep in which style each of these models is best asked; one that fails is named, the others go on.

    Raises UserError when there is none.
    """
    usable = [entry for entry in entries if entry.header is not None and not entry.problem]
    if not usable:
        raise UserError("There is no model to calibrate here.", "Name a GGUF file of a model that writes text.")
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    failed = 0
    for entry in usable:
        try:
            found = _calibrated(entry, oracle, ModelSettings(threads=threads), console)
        except UserError as error:
            console.print(f"{entry.name}: {error.problem} {error.remedy}")
            failed += 1
            continue
        keep_calibration(found)
        values = {"name": entry.name, "path": str(entry.path), **found.to_json(), "chosen": found.best.style}
        print(json.dumps(values, ensure_ascii=False) if as_json else f"{entry.name}: {found.words}")
    return 1 if failed else 0


def _calibrated(entry: GgufEntry, oracle: OracleSettings, model: ModelSettings, console: Console) -> Calibration:
    """Calibrate one model, telling how far it is; Ctrl-C ends it."""
    from core.run.calibration import calibrate  # a parser, which nothing else here needs

    control = Control()
    with Progress(
        TextColumn("{task.description}"), BarColumn(), console=console, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(entry.name, total=None)

        def report(stage: str, done: int, total: int) -> None:
            control.checkpoint()
            bar.update(task, description=f"{entry.name}: {stage}", completed=done, total=total or None)

        def heed(loaded: Model) -> None:
            control.on_stop(loaded.cancel)

        return calibrate(entry.path, model, oracle, lambda text: None, report, heed)


def calibration_words(entry: GgufEntry) -> str:
    """What is known of how a model is best asked, e.g. `code 8/12, chat 1/12`; empty where nothing is."""
    return expected_style(entry.header).calibration if entry.header is not None and not entry.problem else ""
