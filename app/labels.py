"""The commands about labels: `labels agreement`, `labels export` and `labels import`."""

import argparse
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from rtc_inspector.app import options as shared
from rtc_inspector.app.options import taxonomy_folder
from rtc_inspector.app.output import print_json, print_table, terminal, written
from rtc_inspector.core.analyses.agreement import Agreement, confusion_table, measure
from rtc_inspector.core.comparison.comparison import bounded
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import counted
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.store import labels as stored
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.taxonomy import TaxonomyFile
from rtc_inspector.core.types import Estimate

FORMATS = ("jsonl", "csv", "label-studio", "label-studio-tasks", "label-studio-interface")


def add_commands(commands: Any) -> None:
    """Add `labels` with what it can do."""
    parser = commands.add_parser("labels", help="what annotators said: agreement, export, import")
    kinds = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=type(parser))
    agreement = kinds.add_parser("agreement", help="Cohen's kappa of two annotators, Krippendorff's alpha of more")
    _add_runs(agreement)
    shared.add(agreement, "json")
    agreement.set_defaults(command=agreement_command)
    export = kinds.add_parser("export", help="labels and decisions with what they are about, or Label Studio's tasks")
    _add_runs(export)
    export.add_argument(
        "--format",
        choices=FORMATS,
        required=True,
        help="label-studio-tasks: all reconstructions, labelled or not; label-studio-interface: its configuration",
    )
    export.add_argument("--out", type=Path, metavar="FILE", help="where they are written (default: standard output)")
    export.set_defaults(command=export_command)
    taken = kinds.add_parser("import", help="add what is new in a file (JSONL, CSV, Label Studio)")
    taken.add_argument("file", type=Path, metavar="FILE", help="as `labels export` or Label Studio wrote it")
    _add_runs(taken)
    taken.set_defaults(command=import_command)


def _add_runs(parser: argparse.ArgumentParser) -> None:
    shared.add(parser, "db")
    parser.add_argument(
        "--run", type=int, action="append", metavar="ID", help="number of a run; repeatable (default: all runs)"
    )


def _runs(options: argparse.Namespace, reader: Reader) -> list[int]:
    """Return the runs asked for, or all there are. Raises StoreError when one is unknown."""
    return [reader.run(run_id).id for run_id in options.run] if options.run else [run.id for run in reader.runs()]


def agreement_command(options: argparse.Namespace) -> int:
    """Print how well annotators agree."""
    with open_reader(shared.database(options)) as reader:
        labels = [label for run_id in _runs(options, reader) for label in reader.current_labels(run_id)]
        names = stored.mode_names(reader)
    found = measure(labels)
    if options.json:
        print_json(dataclasses.asdict(found))
    else:
        _print_agreement(found, names)
    return 0


def _print_agreement(found: Agreement, names: Mapping[str, str]) -> None:
    console = terminal()
    said = ", ".join(f"{name or 'unnamed'} ({count})" for name, count in found.annotators) or "nobody"
    console.print(f"Labelled by {said}; {found.samples} by two or more, {found.disputed} of them with different modes.")
    if not found.coefficient:
        console.print("Agreement needs two annotators.")
        return
    console.print(f"{found.coefficient}: {_text(found.overall)}; the same modes in {_share(found.same)}.")
    modes = [(names.get(each.mode, each.mode), str(each.times), _text(each.estimate)) for each in found.modes]
    print_table(("mode, given or not", "labels", found.coefficient), modes)
    if len(found.pairs) > 1:
        pairs = [
            (f"{each.first} and {each.second}", _share(each.same), _text(each.estimate), str(each.estimate.n))
            for each in found.pairs
        ]
        print_table(("pair", "same modes", "Cohen's kappa", "samples"), pairs)
    for pair in found.pairs:
        confused, counts = confusion_table(pair)
        if confused:
            titles = [stored.named(mode, names) for mode in confused]
            rows = [(title, *map(str, row)) for title, row in zip(titles, counts, strict=True)]
            print_table((f"{pair.first or 'unnamed'} \\ {pair.second or 'unnamed'}", *titles), rows)


def _text(estimate: Estimate) -> str:
    return "undefined" if estimate.value is None else bounded(estimate, "")


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def export_command(options: argparse.Namespace) -> int:
    """Write labels, or what Label Studio needs to make some."""
    with open_reader(shared.database(options)) as reader:
        runs = _runs(options, reader)
        with written(options.out) as stream:
            _write(reader, runs, options.format, stream)
    return 0


def _write(reader: Reader, runs: Sequence[int], kind: str, stream: TextIO) -> None:
    if kind == "label-studio-interface":
        stream.write(stored.labelling_interface(TaxonomyFile(taxonomy_folder()).read()))
    elif kind.startswith("label-studio"):
        stored.write_label_studio(reader, runs, stream, unlabelled=kind.endswith("tasks"))
    else:
        (stored.write_labels_csv if kind == "csv" else stored.write_labels_jsonl)(reader, runs, stream)


def import_command(options: argparse.Namespace) -> int:
    """Add the labels of a file that are not there yet."""
    try:
        text = options.file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{options.file} cannot be read: {error}.", "Name a file of labels.") from error
    database = shared.database(options)
    open_reader(database).close()  # a database that is not there is not to be made
    with open_store(database) as store:
        new = stored.import_labels(store, _runs(options, store.reader), text)
    print(counted(new, "new label"))
    return 0
