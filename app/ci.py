"""What a build reads of a run or a comparison: a limit that fails it, JUnit XML, and a Markdown summary."""

import argparse
import math
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree as Xml

from rtc_inspector.app.output import written
from rtc_inspector.core.comparison import comparison as words
from rtc_inspector.core.comparison.comparison import Comparison
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.figures.reading import number
from rtc_inspector.core.kinds import Kind, counted, task
from rtc_inspector.core.store.files import writing
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import NOTHING, ItemRow, RunRow

MISSED = 3  # exit status of a run or comparison that a limit fails
SHOWN = 20  # items that a summary lists
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the options for what a build reads."""
    group = parser.add_argument_group("for builds and scripts")
    group.add_argument(
        "--fail-below",
        type=_limit,
        action="append",
        default=[],
        metavar="MEASURE=VALUE",
        help=f"end with exit status {MISSED} where a measure is lower, e.g. rtc=0.3; repeatable",
    )
    group.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML, a test case for each item")
    group.add_argument(
        "--summary", type=Path, metavar="FILE", help='append a summary in Markdown, e.g. to "$GITHUB_STEP_SUMMARY"'
    )


def _limit(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        return name, float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no limit: write MEASURE=VALUE, e.g. rtc=0.3") from None


def check_limits(limits: Sequence[tuple[str, float]], kind: Kind) -> None:
    """Raise UserError where a limit is of a measure that runs of this kind have not."""
    known = [measure.name for measure in kind.averaged]
    for name, value in limits:
        if name not in known or not math.isfinite(value):
            raise UserError(f"--fail-below {name}={value:g} holds for nothing.", f"Measures are: {', '.join(known)}.")


def below(runs: Iterable[RunRow], limits: Sequence[tuple[str, float]]) -> Iterator[str]:
    """Yield a sentence on each limit that a run misses; one whose measure is not known misses it."""
    for run in runs:
        check_limits(limits, task(run.task))
        for name, least in limits:
            title, value = task(run.task).measure(name).title, run.scores.get(name, NOTHING).value
            if value is None:
                yield f"{title} of run {run.id} is not known, so it is not shown to reach {least:g}."
            elif value < least:
                yield f"{title} of run {run.id} is {value:.3f}, below {least:g}."


def worse(comparisons: Iterable[Comparison]) -> Iterator[str]:
    """Yield a sentence on each run that is worse than the first, beyond chance."""
    for comparison in comparisons:
        difference = comparison.headline.score.value
        if comparison.decided and difference is not None and difference * comparison.better < 0:
            yield words.verdict(comparison)


def finish(reader: Reader, run_ids: Sequence[int], options: argparse.Namespace) -> int:
    """Write what `add_outputs` asked for of stored runs; return the exit status that their limits give."""
    runs = [reader.run(run_id) for run_id in run_ids]
    suites = [_suite(f"run {run.id}: {run.models}", _run_cases(run, reader.items(run.id))) for run in runs]
    _write(options, suites, (_run_summary(run, reader.items(run.id)) for run in runs))
    return _status(below(runs, options.fail_below))


def finish_comparison(comparisons: Sequence[Comparison], options: argparse.Namespace) -> int:
    """Write what `add_outputs` asked for of comparisons; return the exit status that limits give."""
    suites = [_suite(_versus(each), _pair_cases(each)) for each in comparisons]
    _write(options, suites, map(_comparison_summary, comparisons))
    missed = below([each.second for each in comparisons], options.fail_below)
    return _status([*missed, *(worse(comparisons) if options.fail_if_worse else ())])


def _status(missed: Iterable[str]) -> int:
    said = list(missed)
    for sentence in said:
        print(sentence, file=sys.stderr)
    return MISSED if said else 0


def _write(options: argparse.Namespace, suites: Sequence[Xml.Element], summaries: Iterable[str]) -> None:
    if options.junit is not None:
        root = Xml.Element("testsuites", _counts(case for suite in suites for case in suite.iter("testcase")))
        root.extend(suites)
        with written(options.junit) as stream:
            stream.write(Xml.tostring(root, "unicode", xml_declaration=True) + "\n")
    if options.summary is not None:
        with writing(options.summary), options.summary.open("a", encoding="utf-8") as stream:
            stream.writelines(summaries)


def _suite(name: str, cases: Iterable[Xml.Element]) -> Xml.Element:
    found = list(cases)
    suite = Xml.Element("testsuite", {"name": _plain(name), **_counts(found)})
    suite.extend(found)
    return suite


def _counts(cases: Iterable[Xml.Element]) -> dict[str, str]:
    found = list(cases)
    failed, skipped = (sum(case.find(each) is not None for case in found) for each in ("failure", "skipped"))
    return {"tests": str(len(found)), "failures": str(failed), "errors": "0", "skipped": str(skipped)}


def _run_cases(run: RunRow, items: Iterable[ItemRow]) -> Iterator[Xml.Element]:
    """Yield an item as a case: failed unless it counts as solved, skipped where it was dropped or not judged."""
    headline = task(run.task).measure(task(run.task).headline)
    for item in items:
        if item.extra:
            continue
        case = _case(item)
        if not item.admitted:
            _say(case, "skipped", item.reason)
        elif item.headline is None:
            _say(case, "skipped", "not judged")
        elif not headline.solves(item.headline):
            _say(case, "failure", f"{headline.title} {item.headline:.2f}")
        yield case


def _pair_cases(comparison: Comparison) -> Iterator[Xml.Element]:
    """Yield an item of both runs as a case: failed where the second run does worse on it."""
    for pair in comparison.pairs:
        case = _case(pair.second)
        if pair.difference * comparison.better < 0:
            said = f"{comparison.title} {pair.second.headline or 0:.2f}, in run {comparison.first.id} "
            _say(case, "failure", f"{said}{pair.first.headline or 0:.2f}")
        yield case


def _case(item: ItemRow) -> Xml.Element:
    return Xml.Element("testcase", {"classname": _plain(item.path), "name": _plain(item.lines)})


def _say(case: Xml.Element, what: str, message: str) -> None:
    Xml.SubElement(case, what, {"message": _plain(message)})


def _plain(text: str) -> str:
    """Return a text without the characters that XML cannot hold."""
    return _NO_XML.sub("?", text)


def _run_summary(run: RunRow, items: Sequence[ItemRow]) -> str:
    kind = task(run.task)
    rows = [
        (measure.title, words.bounded(score, ""), str(score.n))
        for measure in kind.averaged
        if (score := run.scores.get(measure.name, NOTHING)).n
    ]
    headline = kind.measure(kind.headline)
    failed = [each for each in items if each.headline is not None and not headline.solves(each.headline)]
    listed = [(_cell(item.lines), f"{item.headline:.2f}") for item in failed[:SHOWN]]
    title = f"{kind.title} of {run.project_name} by {run.models}: {run.status}"
    said = f"{counted(run.items_complete, kind.noun)} complete, {run.items_dropped} dropped."
    more = _table((f"{kind.noun} that fails", headline.title), listed, len(failed))
    return f"### {_cell(title)}\n\n{_table(('figure', '95 % interval', kind.nouns), rows)}{said}\n\n{more}"


def _comparison_summary(comparison: Comparison) -> str:
    heads = (comparison.place, f"run {comparison.first.id}", f"run {comparison.second.id}", "difference")
    rows = [
        (_cell(a.lines), number(a.headline), number(b.headline), number(each.difference, "signed"))
        for each in comparison.disagreements
        for a, b in ((each.first, each.second),)
    ]
    said = (words.verdict(comparison), words.secondary_verdict(comparison), *words.caveats(comparison))
    listed = _table(heads, rows[:SHOWN], len(rows))
    return f"### {_cell(_versus(comparison))}\n\n{_cell(' '.join(filter(None, said)))}\n\n{listed}"


def _versus(comparison: Comparison) -> str:
    return f"{words.run_words(comparison.first)} and {words.run_words(comparison.second)}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], all_: int = 0) -> str:
    if not rows:
        return ""
    lines = [heads, ["---"] * len(heads), *rows]
    more = f"and {all_ - len(rows)} more\n\n" if all_ > len(rows) else ""
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + f"\n{more}"


def _cell(text: str) -> str:
    return re.sub(r"([|<>\\`*_\[\]])", r"\\\1", text)
