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
from dataclasses import replace
from pathlib import Path

from rtc_inspector.core.models.discovery import bundled_model
from rtc_inspector.core.models.gguf import read_header
from rtc_inspector.core.models.styles import possible_styles
from rtc_inspector.core.run.calibration import calibrate
from rtc_inspector.core.run.events import Control
from rtc_inspector.core.run.pipeline import start
from rtc_inspector.core.settings import ModelSettings, OracleSettings, RunSettings
from rtc_inspector.core.store.writer import Store
from rtc_inspector.resources import path as resource


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, nargs="*", default=[])
    parser.add_argument("--project", type=Path, nargs="*", default=[])
    parser.add_argument("--regions", type=int, default=8, help="of each project; 0: the calibration set alone")
    parser.add_argument("--styles", nargs="*", default=[])
    parser.add_argument("--layouts", nargs="*", default=["shared"])
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    for model in options.model or [bundled_model()]:
        styles = options.styles or possible_styles(read_header(model))
        ways = [
            ModelSettings(threads=options.threads, prompt_style=style, prompt_layout=layout)
            for style in styles
            for layout in (options.layouts if style in ("chat", "completion") else ["shared"])
        ]
        for told in ways:
            on_calibration_set(model, told)
        for project in options.project or ([resource("demo")] if options.regions else []):
            for told in ways:
                on_project(model, project, told, options.regions)


def on_calibration_set(model: Path, told: ModelSettings) -> None:
    began = time.monotonic()
    oracle, style = OracleSettings(), told.prompt_style
    score = calibrate(model, told, oracle, print_nothing, print_nothing, print_nothing, [style]).best
    print(
        f"{model.stem} calibration {style}/{told.prompt_layout}: passes={score.passed}/{score.functions} "
        f"baseline={score.baseline} tokens={score.tokens} seconds={time.monotonic() - began:.0f}",
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
