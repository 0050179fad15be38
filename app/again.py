"""The commands that make a stored run the same again, here or elsewhere: `replay` and `bundle`."""

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from rtc_inspector.app import options as shared
from rtc_inspector.app.console import Display
from rtc_inspector.app.output import print_json, print_table, terminal
from rtc_inspector.app.running import stopping
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import counted
from rtc_inspector.core.run.bundle import contents, is_bundle, unpack, write_bundle
from rtc_inspector.core.run.events import Control
from rtc_inspector.core.run.replay import Replay, Replayed, replay
from rtc_inspector.core.run.results import open_reader
from rtc_inspector.core.settings import NamedModel

SHOWN = 10  # measures stored otherwise that are printed; `--json` has all


def add_commands(commands: Any) -> None:
    """Add `replay` and `bundle`."""
    again = commands.add_parser("replay", help="stored samples drawn and judged again: are they the same?")
    shared.add(again, "db")
    again.add_argument("--run", type=int, metavar="ID", help="number of the run (default: the only one there is)")
    again.add_argument("--samples", type=shared.positive, metavar="N", help="so many of them (default: all)")
    again.add_argument("--model", type=Path, metavar="GGUF", help="where the forward model is now")
    again.add_argument("--backward-model", type=Path, metavar="GGUF", help="where the backward model is now")
    again.add_argument("--project", type=Path, metavar="FOLDER", help="where the source is now")
    shared.add(again, "json")
    again.set_defaults(command=replay_command, left=130)
    bundle = commands.add_parser("bundle", help="a run as one file, with its source, for another machine")
    shared.add(bundle, "db", "run")
    bundle.add_argument("--out", type=Path, required=True, metavar="run.zip", help="where it is written")
    bundle.add_argument("--yes", action="store_true", help="write it without asking: it holds your code")
    bundle.set_defaults(command=bundle_command)


def replay_command(options: argparse.Namespace) -> int:
    """Draw and judge stored samples again; 0 when all are the same."""
    control = Control()
    named = {"forward": options.model, "backward": options.backward_model}
    models = {role: NamedModel(str(path.resolve())) for role, path in named.items() if path is not None}
    console = terminal(soft_wrap=True)
    database = shared.database(options)
    if is_bundle(database):
        database = unpack(database, shared.bundles_folder()).database
    with open_reader(database) as reader, Display(options.json) as display, stopping(control):

        def show(sample: Replayed) -> None:
            if options.json:
                print_json({"event": "replayed", **dataclasses.asdict(sample)})
            else:
                console.print(_line(sample), style="" if sample.same else "yellow")

        runs = reader.runs()
        if not options.run and len(runs) != 1:
            raise UserError(f"{database} holds {len(runs)} runs.", "Say --run ID, as `rtc-inspector runs` prints it.")
        found = replay(
            reader,
            options.run or runs[0].id,
            display.follow,
            control,
            samples=options.samples,
            models=models,
            project=options.project,
            told=show,
        )
    if options.json:
        print_json({"event": "replay-finished", **_summary(found)})
    else:
        _print_end(console, found)
    return 0 if found.same else 1


def bundle_command(options: argparse.Namespace) -> int:
    """Write a run and its source as one file, after a question."""
    out: Path = options.out
    if out.suffix != ".zip":
        raise UserError(f"{out} does not end in .zip.", "Name a file that does: `open` knows bundles by that.")
    with open_reader(shared.database(options)) as reader, contents(reader, options.run) as found:
        what = counted(len(found.commits), "commit") if found.commits else counted(len(found.files), "file")
        code = f"{what} of {found.run.project_root} ({found.size / 1024:,.0f} KiB)"
        print(
            f"{out} will hold {code if found.files else 'no file of the source'}, and all that run {found.run.id} "
            f"stores: prompts with your code in them, and answers. {found.left_out}".rstrip()
        )
        if not options.yes:
            if not sys.stdin.isatty():
                raise UserError("Nobody is there to ask whether your code may be written to a file.", "Say --yes.")
            if input("Write it? [y/N] ").strip().lower() not in ("y", "yes"):
                print("Nothing was written.")
                return 1
        write_bundle(reader, found, out)
    print(f"Written: {out}")
    return 0


def _line(sample: Replayed) -> str:
    words = {True: "same", False: "DIFFERENT", None: "-"}
    line = f"sample {sample.sample_id}, {sample.what}: text {words[sample.text]}, verdict {words[sample.verdict]}"
    return f"{line} ({'; '.join(sample.notes)})" if sample.notes else line


def _summary(replayed: Replay) -> dict[str, Any]:
    texts = [sample.text for sample in replayed.samples if sample.text is not None]
    verdicts = [sample.verdict for sample in replayed.samples if sample.verdict is not None]
    return {
        "same": replayed.same,
        "texts": len(texts),
        "same_texts": sum(texts),
        "verdicts": len(verdicts),
        "same_verdicts": sum(verdicts),
        "measures": replayed.figures,
        "other_measures": [dataclasses.asdict(each) for each in replayed.measures],
        "changed": replayed.changed,
        "environment": [dataclasses.asdict(each) for each in replayed.environment],
    }


def _print_end(console: Console, replayed: Replay) -> None:
    summary = _summary(replayed)
    console.print(
        f"{summary['same_texts']} of {summary['texts']} texts and "
        f"{summary['same_verdicts']} of {summary['verdicts']} verdicts are the same."
    )
    other = len(replayed.measures)
    console.print(f"{summary['measures'] - other} of {summary['measures']} measures are what the stored samples give.")
    for each in replayed.measures[:SHOWN]:
        console.print(f"{each.what}: stored {each.before}, made again {each.now}", style="yellow")
    if replayed.changed:
        console.print(replayed.changed, style="yellow")
    if not replayed.environment:
        console.print("The environment is the same, as far as it is recorded.")
        return
    rows = [(each.what, each.before or "-", each.now or "-") for each in replayed.environment]
    print_table(("what differs in the environment", "when the run was made", "now"), rows)
