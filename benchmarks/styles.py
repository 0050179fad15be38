"""How well a model does in each style in which it can be asked: on the calibration set, and on projects.

    python benchmarks/styles.py [--model FILE ...] [--project FOLDER ...] [--regions 8] [--styles code chat ...]
                                [--layouts shared paper] [--threads 1]

Without `--project` the demo project is taken, without `--model` the bundled model. One line for each style: passes,
baseline and lift, tokens read and written, seconds.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.calibration import calibrate
from core.control import Control
from core.models.discovery import bundled_model
from core.models.gguf import read_header
from core.models.styles import possible_styles
from core.run.pipeline import start
from core.settings import ModelSettings, OracleSettings, RunSettings
from core.store.writer import Store
from resources import path as resource


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, nargs="*", default=[])
    parser.add_argument("--project", type=Path, nargs="*", default=[])
    parser.add_argument("--regions", type=int, default=8)
    parser.add_argument("--styles", nargs="*", default=[])
    parser.add_argument("--layouts", nargs="*", default=["shared"])
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    for model in options.model or [bundled_model()]:
        styles = options.styles or possible_styles(read_header(model))
        calibration_set(model, styles, options.threads)
        for project in options.project or [resource("demo")]:
            for style in styles:
                for layout in options.layouts if style in ("chat", "completion") else ["shared"]:
                    told = ModelSettings(threads=options.threads, prompt_style=style, prompt_layout=layout)
                    on_project(model, project, told, options.regions)


def calibration_set(model: Path, styles: Sequence[str], threads: int) -> None:
    for style in styles:
        began = time.monotonic()
        settings = ModelSettings(threads=threads)
        found = calibrate(model, settings, OracleSettings(), print_nothing, print_nothing, print_nothing, [style])
        score, seconds = found.best, time.monotonic() - began
        print(
            f"{model.stem} calibration {style}: passes={score.passed}/{score.functions} baseline={score.baseline} "
            f"tokens={score.tokens} seconds={seconds:.0f}",
            flush=True,
        )


def on_project(model: Path, project: Path, generation: ModelSettings, regions: int) -> None:
    settings = replace(RunSettings(), model=str(model), regions=regions, generation=generation)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "runs.sqlite") as store:
        finished = start(settings, project, store, print_nothing, Control())
        seconds = time.monotonic() - began
        samples = [sample for row in store.reader.items(finished.run_id) for sample in store.reader.samples(row.id)]
    figures = {name: score.value for name, score in finished.measures.items() if name in ("rtc", "baseline", "lift")}
    shown = " ".join(f"{name}={value:.2f}" for name, value in figures.items() if value is not None)
    read, written = (sum(getattr(s, f"{kind}_tokens") for s in samples) for kind in ("prompt", "completion"))
    print(
        f"{model.stem} {project.name} {generation.prompt_style}/{generation.prompt_layout}: {shown} "
        f"regions={finished.items} read={read / max(1, finished.items):.0f} "
        f"written={written / max(1, finished.items):.0f} a region, seconds={seconds:.0f}",
        flush=True,
    )


def print_nothing(*_: object) -> None:
    """Nobody watches."""


if __name__ == "__main__":
    main()
