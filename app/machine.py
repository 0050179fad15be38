"""The commands about this machine: `models` and `doctor`."""

import argparse
import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.table import Table

from rtc_inspector.app import options as shared
from rtc_inspector.app.output import print_json, terminal
from rtc_inspector.core.errors import InspectorError, UserError
from rtc_inspector.core.generation import Model
from rtc_inspector.core.languages import PYTHON, named
from rtc_inspector.core.models import devices
from rtc_inspector.core.models.client import LocalModel
from rtc_inspector.core.models.discovery import GgufEntry, bundled_model, discover
from rtc_inspector.core.models.download import download, parse_wanted
from rtc_inspector.core.models.gguf import read_header
from rtc_inspector.core.models.loading import models_at
from rtc_inspector.core.models.process import Crashed
from rtc_inspector.core.models.styles import Calibration, expected_style, keep_calibration
from rtc_inspector.core.oracle.command.commands import INSTALL, tool
from rtc_inspector.core.oracle.sandbox.choose import available_sandboxes
from rtc_inspector.core.packages import QT, pip_install, system_install
from rtc_inspector.core.run.events import Control
from rtc_inspector.core.settings import EndpointSettings, ModelSettings, OracleSettings
from rtc_inspector.core.types import plain


@dataclass(frozen=True)
class Finding:
    """One part of what RTC Inspector needs, and whether it works here."""

    name: str
    works: bool
    detail: str
    remedy: str = ""


def add_commands(commands: Any) -> None:
    """Add `models` and `doctor`."""
    models = commands.add_parser("models", help="every GGUF file on this machine, or `models download REPO:FILE`")
    models.add_argument(
        "folders",
        type=Path,
        nargs="*",
        metavar="FOLDER",
        help="look here as well, at any depth; or: download OWNER/NAME:FILE, from the Hugging Face hub",
    )
    models.add_argument(
        "--calibrate",
        action="store_true",
        help="try every way in which the named models (files or FOLDERs), or the bundled one, can be asked, and keep "
        "which is best; takes a minute or more for each",
    )
    models.add_argument(
        "--try",
        dest="try_it",
        action="store_true",
        help="ask the --endpoint one small question of each kind: what comes and is read from it, how fast, its window",
    )
    models.add_argument("--endpoint-model", metavar="NAME", default="", help="for --try, where it serves several")
    shared.add_settings(models, ("generation.threads", "oracle.sandbox", "oracle.language"), note="for --calibrate")
    _add_server(models)
    shared.add(models, "json")
    models.set_defaults(command=models_command)
    doctor = commands.add_parser("doctor", help="what works on this machine, and what to do about the rest")
    _add_server(doctor)
    shared.add(doctor, "json")
    doctor.set_defaults(command=doctor_command)


def _add_server(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--endpoint", metavar="URL", help="ask this server, e.g. http://127.0.0.1:8080/v1")
    parser.add_argument("--key-variable", metavar="VAR", default="", help="environment variable with the server's key")


def models_command(options: argparse.Namespace) -> int:
    """List GGUF files; those that cannot be used say why. With a server, list what that serves instead.

    `download` as the first word fetches one.
    """
    if options.folders[:1] == [Path("download")]:
        return _fetch(list(map(str, options.folders[1:])), options.json)
    if options.endpoint:
        return _ask_server(options)
    if options.try_it:
        raise UserError("No server was named to be tried.", "Say --endpoint URL as well.")
    if options.calibrate:
        if options.folders:
            chosen = [entry for entry in discover(options.folders) if entry.source == "folder"]
        else:
            wanted = bundled_model().resolve()
            chosen = [entry for entry in discover() if entry.path.resolve() == wanted]
        threads = vars(options)["generation.threads"]
        return _calibrate_models(chosen, shared.oracle_settings(options), threads, options.json)
    entries, free = discover(options.folders), devices.memory_now()
    if options.json:
        for entry in entries:
            print_json(_model_values(entry, free))
    else:
        _print_models(entries, free)
    return 0


def _model_values(entry: GgufEntry, free: devices.Memory) -> dict[str, Any]:
    values: dict[str, Any] = {"name": entry.name, "path": str(entry.path), "source": entry.source}
    header = entry.header
    if header is not None:
        values |= {
            **plain(header, "architecture", "parameters", "quantization", "context_length"),
            "chat": header.chat_template is not None,
            "embedding": header.is_embedding,
            "fill_in_the_middle": header.fills_gaps,
            "calibration": expected_style(header).calibration if not entry.problem else "",
            "bytes": header.file_bytes,
            "memory_needed": devices.needed_together([header], ModelSettings()),
            "memory_free": free.free,
            "fits": not devices.tight([header], ModelSettings(), free),
            "files": [str(path) for path in header.files],
        }
    return {**values, "usable": not entry.problem, "problem": entry.problem}


def _print_models(entries: list[GgufEntry], free: devices.Memory) -> None:
    table = Table()
    table.add_column("model", overflow="fold", ratio=1)
    for column in ("size", "quantized", "context", "style", "memory", "found in"):
        table.add_column(column, justify="right" if column in ("size", "context", "memory") else "left", no_wrap=True)
    for entry in entries:
        table.add_row(*_cells(entry, free), style="dim" if entry.problem else "")
    console = terminal()
    console.print(table)
    for entry in entries:
        if entry.problem:
            console.print(f"{entry.name}: {entry.problem}")
    console.print(f"{devices.gib(free.free)} of memory are free; `!` marks models that need more.")
    if idle := devices.idle_gpu():
        console.print(f"{idle.problem} {idle.remedy}", soft_wrap=True)  # a command to copy is not broken


def _cells(entry: GgufEntry, free: devices.Memory) -> tuple[str, ...]:
    header = entry.header
    if header is None or (entry.problem and not header.is_embedding):
        return (entry.name, "", "", "", "unusable", "", entry.source)
    needs = devices.gib(devices.needed_together([header], ModelSettings())) + (
        " !" if devices.tight([header], ModelSettings(), free) else ""
    )
    style = ("instruct" if header.chat_template else "base") + (" fim" if header.fills_gaps else "")
    style = "embedding" if header.is_embedding else style
    context = str(header.context_length or "-")
    size = header.parameters
    short = f"{size / 1e9:.1f} B" if size >= 1e9 else f"{size / 1e6:.0f} M"
    return (entry.name, short, header.quantization, context, style, needs, entry.source)


def _ask_server(options: argparse.Namespace) -> int:
    """List what a server has, or try one of its models; 1 where a question in turns got no answer."""
    server = EndpointSettings(options.endpoint, key_variable=options.key_variable)
    if not options.try_it:
        for each in models_at(server):
            if options.json:
                print_json(asdict(each))
            else:
                print(f"{each.name}  {each.said}".rstrip())
        return 0
    from rtc_inspector.core.run.trying import try_server, words  # readers of answers, which a list of models needs not

    trial = try_server(replace(server, model=options.endpoint_model), ModelSettings())
    if options.json:
        print_json(asdict(trial))
    else:
        print("\n".join(words(trial)))
    return 1 if any(each.error for each in trial.tried[:2]) else 0


def _fetch(names: Sequence[str], as_json: bool) -> int:
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


def _calibrate_models(entries: Sequence[GgufEntry], oracle: OracleSettings, threads: int | None, as_json: bool) -> int:
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
        values = {"name": entry.name, "path": str(entry.path), **asdict(found), "chosen": found.best.style}
        print(json.dumps(values, ensure_ascii=False) if as_json else f"{entry.name}: {found.words}")
    return 1 if failed else 0


def _calibrated(entry: GgufEntry, oracle: OracleSettings, model: ModelSettings, console: Console) -> Calibration:
    from rtc_inspector.core.run.calibration import calibrate  # a parser, which nothing else here needs

    control = Control()
    columns = TextColumn("{task.description}"), BarColumn()
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(entry.name, total=None)

        def report(stage: str, done: int, total: int) -> None:
            control.checkpoint()
            bar.update(task, description=f"{entry.name}: {stage}", completed=done, total=total or None)

        def heed(loaded: Model) -> None:
            control.on_stop(loaded.cancel)

        language = named(oracle.language) if oracle.language else PYTHON
        return calibrate(entry.path, model, oracle, lambda text: None, report, heed, language=language)


def doctor_command(options: argparse.Namespace) -> int:
    """Try each part for real. Exit 0 when a run is possible."""

    def qt() -> str:
        import_module("PySide6.QtGui")
        return f"PySide6 {version('pyside6-essentials')}"

    qt_remedy = f"Install Qt's system libraries with `{system_install(QT)}`."
    findings = [_tried("qt", qt, qt_remedy), _llama(), _bundled(), _gpu(), _memory()]
    sandboxes = (each for each in available_sandboxes() if each.name != "none")
    findings += [Finding(s.name, s.usable, s.detail, "" if s.usable else s.remedy) for s in sandboxes]
    findings.append(_languages())
    if options.endpoint:
        findings.append(_tried("endpoint", lambda: _served(options), "Check the address."))
    for finding in findings:
        if options.json:
            print_json(asdict(finding))
            continue
        print(f"{'ok ' if finding.works else 'NO '} {finding.name}: {finding.detail}")
        if finding.remedy:
            print(f"     {finding.remedy}")
    works = {finding.name for finding in findings if finding.works}
    return 0 if "llama.cpp" in works and works & {"docker", "bubblewrap", "landlock"} else 1


def _tried(name: str, attempt: Callable[[], str], remedy: str) -> Finding:
    try:
        return Finding(name, True, attempt())
    except InspectorError as error:
        return Finding(name, False, error.problem, error.remedy)
    except (ImportError, OSError) as error:
        return Finding(name, False, str(error), remedy)


def _llama() -> Finding:
    def attempt() -> str:
        if find_spec("llama_cpp") is None:
            raise ImportError("The package llama-cpp-python is not installed.")
        if not _bundled().works:
            return f"{devices.build_version()} is installed; without the bundled model it was not tried"
        try:
            usual = _evaluated(extra_buffers=True)
        except Crashed as crash:
            detail = f"{_evaluated(extra_buffers=False)}, as models here do from now on; else: {crash.problem}"
            devices.remember_crash(True)
            return detail
        _evaluated(extra_buffers=False)
        devices.remember_crash(False)
        return f"{usual}, with extra buffers and without them"

    remedy = f"Install it with `{pip_install()} llama-cpp-python`; it needs a C++ compiler."
    finding = _tried("llama.cpp", attempt, remedy)
    if finding.works and finding.detail.count(devices.WITHOUT_EXTRA_BUFFERS):
        return replace(finding, remedy=f"For all of its speed build it anew: `{devices.rebuild_without_amx()}`.")
    return finding


def _bundled() -> Finding:
    return _tried("bundled model", lambda: str(bundled_model()), "")


def _evaluated(extra_buffers: bool) -> str:
    """Load the bundled model in a worker of its own, which evaluates a few tokens. Raises ModelError."""
    model = LocalModel(bundled_model(), ModelSettings(context_size=512), extra_buffers=extra_buffers)
    with closing(model):
        return f"{model.info.build}; {model.info.name} reads tokens with {model.info.threads} threads"


def _gpu() -> Finding:
    idle = devices.idle_gpu()
    if idle is not None:
        return Finding("gpu", False, idle.problem, idle.remedy)
    names = ", ".join(gpu.name for gpu in devices.found_gpus())
    return Finding("gpu", True, f"{names}, used by llama.cpp" if names else "none found; models run on the processor")


def _memory() -> Finding:
    """Return whether memory suffices for the bundled model, where it is; `models` tells of the others."""
    free = devices.memory_now()
    if not _bundled().works:
        return Finding("memory", True, f"{devices.gib(free.free)} are free")
    header = read_header(bundled_model())
    fits = not devices.tight([header], ModelSettings(), free)
    remedy = "" if fits else "Close other programs."
    return Finding("memory", fits, devices.estimate([header], ModelSettings(), free), remedy)


def _served(options: argparse.Namespace) -> str:
    served = models_at(EndpointSettings(options.endpoint, key_variable=options.key_variable))
    return f"{options.endpoint} serves {', '.join(each.name for each in served) or 'no model'}"


def _languages() -> Finding:
    """Return which tools of other languages are here; Python's projects need none of them."""
    found = {name: about.versions[name] for name in ("node", "go", "cargo") if (about := tool(name)) is not None}
    missing = [words for name, words in INSTALL.items() if name not in found]
    there = ", ".join(f"{name} {version}" for name, version in found.items()) or "no tool of another language is here"
    return Finding("languages", bool(found), f"Python; {there}", " ".join(missing))
