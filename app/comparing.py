"""The commands that hold stored runs against each other: `compare`, item by item, and `analyse`, as figures."""

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rtc_inspector.app import ci
from rtc_inspector.app import options as shared
from rtc_inspector.app.console import Display
from rtc_inspector.app.figures import print_figures
from rtc_inspector.app.output import print_json, print_table, terminal, written
from rtc_inspector.core.analyses.analyse import ANALYSES, SCORED, analyse
from rtc_inspector.core.comparison import comparison as words
from rtc_inspector.core.comparison.compare import compare_runs
from rtc_inspector.core.comparison.comparison import Comparison, pair_row, summary_row, write_pairs_csv
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.figures.reading import number, to_json
from rtc_inspector.core.kinds import task
from rtc_inspector.core.models.loading import open_embedder
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import ModelSettings
from rtc_inspector.core.waiting import no_poll


def add_commands(commands: Any) -> None:
    """Add `compare` and `analyse`."""
    compare = commands.add_parser("compare", help="two or more runs of one project, item by item")
    compare.add_argument(
        "runs",
        type=shared.positive,
        nargs="+",
        metavar="RUN",
        help="number of a run, as `runs` prints it; each is compared with the first",
    )
    shared.add(compare, "db")
    compare.add_argument("--csv", type=Path, metavar="FILE", help="one record for each item in both runs")
    compare.add_argument("--html", type=Path, metavar="FILE", help="one self-contained page with the traces")
    compare.add_argument(
        "--fail-if-worse",
        action="store_true",
        help=f"end with exit status {ci.MISSED} where a run is worse than the first beyond chance",
    )
    ci.add_outputs(compare)
    shared.add(compare, "json")
    compare.set_defaults(command=compare_command)
    analysis = commands.add_parser("analyse", help="the figures of one or more runs")
    analysis.add_argument(
        "runs", type=shared.positive, nargs="+", metavar="RUN", help="number of a run, as `runs` prints it"
    )
    shared.add(analysis, "db")
    known = ", ".join(ANALYSES)
    analysis.add_argument("--kind", metavar="NAME", help=f"this analysis alone ({known}; default: all that apply)")
    analysis.add_argument(
        "--choose",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="what a figure leaves to choose, e.g. metric=bleu; --json names what there is",
    )
    analysis.add_argument(
        "--embedder",
        nargs="?",
        const="",
        metavar="GGUF",
        help="audit token vectors too, by this embedding model (default: MiniLM from its package)",
    )
    analysis.add_argument(
        "--perturb", action="store_true", help="audit what changes that keep the meaning do to the metrics as well"
    )
    analysis.add_argument("--html", type=Path, metavar="FILE", help="one self-contained page with the figures")
    shared.add(analysis, "json")
    analysis.set_defaults(command=analyse_command)


def analyse_command(options: argparse.Namespace) -> int:
    """Print the figures, and write them as a page."""
    for text in options.choose:
        if "=" not in text:
            raise UserError(f"{text!r} chooses nothing.", "Write --choose NAME=VALUE, e.g. --choose metric=bleu.")
    chosen = dict(text.split("=", 1) for text in options.choose)
    if options.kind in SCORED:
        _score(options)
    elif options.embedder is not None or options.perturb:
        raise UserError("Only an audit takes --embedder and --perturb.", "Add --kind audit.")
    with open_reader(shared.database(options)) as reader:
        figures = analyse(reader, options.runs, options.kind, chosen)
        if options.html is not None:
            from rtc_inspector.ui.report.page import write_figures  # Qt, which nothing else here needs

            write_figures(reader, options.runs, figures, options.html)
    if options.json:
        for figure in figures:
            print_json(to_json(figure))
    else:
        print_figures(figures)
    return 0


def _score(options: argparse.Namespace) -> None:
    """Compute the scores that are not stored yet; stopping keeps those that are done."""
    from rtc_inspector.core.run.scoring import score_runs  # a parser, which nothing else here needs

    with ExitStack() as stack:
        show = stack.enter_context(Display(options.json))
        embedder = None
        if options.embedder is not None:
            embedder = open_embedder(options.embedder, ModelSettings(), show.notify, no_poll)  # Ctrl-C ends the loading
            stack.callback(embedder.close)
        store = stack.enter_context(open_store(shared.database(options)))
        for run_id in options.runs:
            store.reader.run(run_id)
        score_runs(store, options.runs, show.report, embedder, perturb=options.perturb)


def compare_command(options: argparse.Namespace) -> int:
    """Print what the runs' common items say."""
    with open_reader(shared.database(options)) as reader:
        comparisons = compare_runs(reader, options.runs)
        if options.html is not None:
            from rtc_inspector.ui.report.page import write_comparison  # Qt, which nothing else here needs

            write_comparison(reader, comparisons, options.html)
    if options.csv is not None:
        with written(options.csv) as stream:
            write_pairs_csv(comparisons, stream)
    for comparison in comparisons:
        if options.json:
            print_json({"event": "comparison", **summary_row(comparison)})
            for pair in comparison.disagreements:
                print_json({"event": "disagreement", **pair_row(comparison, pair)})
        else:
            _print(comparison)
    if not options.json:
        print(words.NOTES)
    return ci.finish_comparison(comparisons, options)


def _print(comparison: Comparison) -> None:
    console = terminal(soft_wrap=True)
    console.print(words.verdict(comparison), style="bold")
    for line in (words.secondary_verdict(comparison), words.mcnemar_words(comparison), *words.caveats(comparison)):
        if line:
            console.print(line)
    first, second, place = comparison.first, comparison.second, comparison.place
    runs, nouns = (f"run {first.id}", f"run {second.id}"), f"{task(first.task).noun}s"
    figures, files, pairs = comparison.figures, comparison.files, comparison.disagreements
    rows = [
        (words.run_words(first), *(words.bounded(each.first, sign) for _, each, sign in figures)),
        (words.run_words(second), *(words.bounded(each.second, sign) for _, each, sign in figures)),
        ("difference", *(words.bounded(each.score) for _, each, _ in figures)),
        (nouns, *(str(each.items) for _, each, _ in figures)),
    ]
    print_table(("", *(title for title, _, _ in figures)), rows, right=True)
    if comparison.settings:
        print_table(("what differs", *runs), comparison.settings)
    ordered = sorted(files, key=lambda file: (-abs(file.difference), file.path))
    rows = [(each.path, *_differing(each.first, each.second, each.difference), str(each.items)) for each in ordered]
    print_table((place, *runs, "difference", nouns), rows, right=True, rest=place)
    if pairs:
        scores = (_differing(each.first.headline, each.second.headline, each.difference) for each in pairs)
        rows = [(each.first.lines, *figures) for each, figures in zip(pairs, scores, strict=True)]
        print_table(("disagreement", *runs, "difference"), rows, right=True, rest="disagreement")


def _differing(first: float | None, second: float | None, difference: float) -> tuple[str, str, str]:
    return number(first), number(second), number(difference, "signed")
