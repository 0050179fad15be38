"""IdentityChain: how long models keep the meaning of what they describe and write again (Min et al., Sec. 4, 5)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from rtc_inspector.core import figures as fig
from rtc_inspector.core.figures.reading import in_words
from rtc_inspector.core.metrics.output_match import Class, Lost, class_of
from rtc_inspector.core.metrics.paired import TwoByTwo, holm
from rtc_inspector.core.metrics.statistics import interval
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import ItemRow, RunRow, SampleRow
from rtc_inspector.core.trips.protocol import Tree
from rtc_inspector.core.trips.trees import chain_of, crossing, first_break, lost_in, none_parses, tom_of
from rtc_inspector.core.types import Estimate, Form

CLASSES = (Class.PASS_PASS, Class.PASS_FAIL, Class.FAIL_PASS, Class.FAIL_FAIL)
TONES = {Class.PASS_PASS: "good", Class.PASS_FAIL: "bad", Class.FAIL_PASS: "warn", Class.FAIL_FAIL: "muted"}


@dataclass(frozen=True)
class Chains:
    """The chains of one run. `steps`: how many a chain may have."""

    run: RunRow
    items: tuple[ItemRow, ...]
    steps: int

    def mean(self, name: str) -> Estimate:
        """Return the mean of a measure, with its interval, over the items that have it; an empty one where none has."""
        values = [item.measures[name] for item in self.items if name in item.measures]
        return Estimate(*interval(values), len(values)) if values else Estimate()


def figures(reader: Reader, run_ids: Sequence[int], chosen: Mapping[str, str]) -> Iterator[fig.Figure]:
    """Yield the figures of one run, or of several models beside each other."""
    chains = []
    for run_id in run_ids:
        items = tuple(item for item in reader.items(run_id) if item.admitted and not item.extra)
        chains.append(Chains(reader.run(run_id), items, reader.settings(run_id).chain.steps))
    yield summary(chains)
    yield by_step(chains)
    for each in chains:
        trees = {item.id: Tree(reader.samples(item.id)) for item in each.items}
        codes = {at: [row for row in chain_of(tree) if row.form == Form.CODE] for at, tree in trees.items()}
        own: list[fig.Figure] = [classes(codes), breaks(each), grid(each, codes)]
        if reader.settings(each.run.id).chain.cross:
            own.append(lost(each, trees))
        yield from fig.one_of(run_ids, each.run.id, own)
    yield table(chains)
    if len(chains) > 1:
        yield between(chains)


def summary(chains: Sequence[Chains]) -> fig.Sentence:
    """Return what the chains come to in words, run by run."""
    sentences = []
    for each in chains:
        first, sc, ssc, read = (each.mean(name) for name in ("pass@1", "sc", "ssc", "sc_parsing"))
        name = each.run.model_name
        if first.value is None:
            sentences.append(f"Of {name} nothing is judged yet.")
        elif sc.value is None or ssc.value is None:
            sentences.append(
                f"{name} solves {in_words(first)} of {first.n} problems; no chain has come to its end yet."
            )
        else:
            sentences.append(
                f"{name} solves {in_words(first)} of {first.n} problems, and in {in_words(ssc)} keeps that over "
                f"{each.steps} steps (SSC). Right or wrong, the programs of {in_words(sc)} behave alike (SC), of those "
                f"whose first program parses {in_words(read) if read.value is not None else '-'}."
            )
        silent = sum(item.measures.get("none_parses") == 1.0 for item in each.items)
        if silent:
            sentences.append(
                f"Of {silent} of {first.n} chains no program parses, so that being alike says nothing of them."
            )
    return fig.Sentence(fig.Head("summary", "Self-consistency"), text=" ".join(sentences))


def by_step(chains: Sequence[Chains]) -> fig.Lines:
    """Draw SSC and SC after each step; SSC after none is pass@1."""
    series = []
    for each in chains:
        of = "" if len(chains) == 1 else f" {each.run.label}"
        for name, title, first in (("ssc", "SSC", 0), ("sc", "SC", 1)):
            points = []
            for step in range(first, each.steps + 1):
                mean = each.mean(f"{name}_{step}" if step else "pass@1")
                if mean.value is not None:
                    points.append(fig.Point(Estimate(step), mean, links=(fig.Link(each.run.id),)))
            series.append(fig.Series(f"{title}{of}", tuple(points)))
    return fig.Lines(
        fig.Head("by-step", "Chains that kept their meaning", "By step"),
        note="SSC: the first program passes its tests, and every one so far behaves like the one before it; after "
        "step 0 that is pass@1. SC: they behave alike, be they right or wrong. Bands are 95 % intervals over problems.",
        x=fig.Axis("step", 0, max(each.steps for each in chains), form="count"),
        y=fig.Axis("share of problems", 0, 1, "up"),
        series=tuple(series),
    )


def classes(codes: Mapping[int, Sequence[SampleRow]]) -> fig.Bars:
    """Return bars of what became of passing all tests from one program to the next, by step."""
    counts: dict[int, Counter[Class]] = {}
    for rows in codes.values():
        for one, other in pairwise(rows):
            if one.passes is not None and other.passes is not None:
                counts.setdefault(other.step, Counter())[class_of(one.passes, other.passes)] += 1
    bars = [
        fig.Bar(f"step {step}", Estimate(counts[step][name]), name.value, TONES[name])  # type: ignore[arg-type]
        for step in sorted(counts)
        for name in CLASSES
        if counts[step][name]
    ]
    return fig.Bars(
        fig.Head("classes", "From one program to the next", "Classes"),
        note="Whether all tests pass before and after a step. Chains that repeat themselves make no further programs.",
        categories=fig.Categories("step", tuple(f"step {step}" for step in sorted(counts))),
        y=fig.Axis("problems", 0, form="count"),
        bars=tuple(bars),
        stacked=True,
    )


def breaks(chains: Chains) -> fig.Bars:
    """Count the steps at which chains lost their meaning first, and how those that never did stand."""
    silent = [item for item in chains.items if item.measures.get("none_parses") == 1.0]
    steps: dict[int, list[ItemRow]] = {step: [] for step in range(1, chains.steps + 1)}
    for item in chains.items:
        first = next((step for step in steps if item.measures.get(f"sc_{step}") == 0.0), None)
        if first is not None and item not in silent:
            steps[first].append(item)
    kept = [item for item in chains.items if item.measures.get("sc") == 1.0 and item not in silent]
    groups: list[tuple[str, fig.Tone, list[ItemRow]]] = [
        *((f"step {step}", "bad", items) for step, items in steps.items()),
        ("never", "good", [item for item in kept if item.measures["ssc"] == 1.0]),
        ("never, but wrong", "warn", [item for item in kept if item.measures["ssc"] == 0.0]),
        ("none parses", "bad", silent),
    ]
    bars = []
    for name, tone, items in groups:
        links = tuple(fig.Link(item.run_id, item.id) for item in items)
        bars.append(fig.Bar(name, Estimate(len(items)), tone=tone, links=links))
    return fig.Bars(
        fig.Head("breaks", "Where the meaning was lost first", "Breaks"),
        note="Never: the first program passes. Never, but wrong: all behave alike and the first one fails. "
        "None parses: programs that cannot be read are alike too, which says nothing.",
        categories=fig.Categories("first break", tuple(bar.category for bar in bars)),
        y=fig.Axis("problems", 0, form="count"),
        bars=tuple(bars),
    )


def grid(chains: Chains, codes: Mapping[int, Sequence[SampleRow]]) -> fig.Grid:
    """Show TOM of each step of each problem; a cell leads to the program after the step."""
    names = [f"step {step}" for step in range(1, chains.steps + 1)]
    cells = []
    for item in chains.items:
        wrong = item.measures.get("pass@1") == 0.0
        for before, row in pairwise(codes[item.id]):
            value, links = tom_of(row), (fig.Link(item.run_id, item.id, row.id),)
            if value is not None and none_parses((before, row)):
                cells.append(fig.Cell(item.key, f"step {row.step}", text="no parse", tone="bad", links=links))
            elif value is not None:
                cells.append(fig.Cell(item.key, f"step {row.step}", Estimate(value), faded=wrong, links=links))
    return fig.Grid(
        fig.Head("tom", "Test output match by problem and step", "TOM"),
        note="The share of tests under which a program behaves like the one before it. Pale: the first program of the "
        "chain fails. No parse: neither program can be read.",
        rows=fig.Categories("problem", tuple(item.key for item in chains.items)),
        columns=fig.Categories("step", tuple(names)),
        scale=fig.Axis("TOM", 0, 1),
        cells=tuple(cells),
    )


def lost(chains: Chains, trees: Mapping[int, Tree]) -> fig.Table:
    """Return which pass lost the meaning at the first break of each chain, by the second model, with what tells so."""
    rows = []
    for item in chains.items:
        tree = trees[item.id]
        chain = chain_of(tree)
        broken, programs, verdict = first_break(chain), crossing(tree, chain), lost_in(tree, chain)
        if broken is not None and programs is not None and verdict is not None:
            toms = [tom_of(row) for row in (broken[2], *programs)]
            cells = (item.key, broken[2].step, verdict.value, *map(Estimate, toms))
            shown = broken[1] if verdict is Lost.WORDS else broken[2]
            rows.append(fig.Row(cells, links=(fig.Link(item.run_id, item.id, shown.id),)))
    return fig.Table(
        fig.Head("lost", "Which pass lost the meaning", "Crossed"),
        note="TOM is with the program before the break: of the one that the model wrote, of the one that the second "
        "model wrote from the same words, and of the one that the model wrote from the second model's words. What came "
        "back to the same program did not lose its meaning, so the other pass did.",
        columns=fig.columns(
            "Problem | Step: count | Lost in | TOM: number up | read by the second: number up | "
            "described by the second: number up"
        ),
        rows=tuple(rows),
    )


def table(chains: Sequence[Chains]) -> fig.Table:
    """Return the paper's Table 1, for one's own models."""
    rows = []
    for each in chains:
        first, one, sc, ssc, read = (each.mean(name) for name in ("pass@1", "sc_1", "sc", "ssc", "sc_parsing"))
        silent = sum(item.measures.get("none_parses") == 1.0 for item in each.items)
        cells = (first, ssc, drop(first.value, ssc.value), one, sc, drop(one.value, sc.value), read, silent)
        rows.append(fig.Row((each.run.model_name, len(each.items), *cells), links=(fig.Link(each.run.id),)))
    steps = max(each.steps for each in chains)
    return fig.Table(
        fig.Head("table", "Accuracy and self-consistency", "Table"),
        note="Drop: 1 less the ratio of the two figures before it; left out where the first of them is 0. SC parsing: "
        "of the chains whose first program parses. None parses: chains of programs that cannot be read.",
        columns=fig.columns(
            f"Model | Problems: count | pass@1: number up | SSC after {steps}: number up | Drop: number down | "
            f"SC after 1: number up | SC after {steps}: number up | Drop: number down | "
            "SC parsing: number up | None parses: count down"
        ),
        rows=tuple(rows),
    )


def drop(first: float | None, last: float | None) -> float | None:
    """Return the share of the first figure that is lost at the last; None where the first is 0 or one is not known."""
    return None if not first or last is None else 1 - last / first


def between(chains: Sequence[Chains]) -> fig.Table:
    """Compare pairs of models by the problems they solve and keep: McNemar's exact test on the chains both have."""
    found = []
    for one, other in combinations(chains, 2):
        first = {item.key: item.measures["ssc"] == 1.0 for item in one.items if "ssc" in item.measures}
        second = {item.key: item.measures["ssc"] == 1.0 for item in other.items if "ssc" in item.measures}
        test = TwoByTwo.of((first[key], second[key]) for key in first if key in second)
        found.append((one.run, other.run, test))
    adjusted = holm([test.mcnemar_p for *_, test in found])
    return fig.Table(
        fig.Head("between", "Who solves and keeps more problems", "Between models"),
        note="McNemar's exact test on SSC after the last step; p adjusted by Holm for all pairs shown.",
        columns=fig.columns(
            "First | Second | Problems: count | Only the first: count | Only the second: count | p: number"
        ),
        rows=tuple(
            fig.Row(
                (a.label, b.label, test.n, test.only_first, test.only_second, p), links=(fig.Link(a.id), fig.Link(b.id))
            )
            for (a, b, test), p in zip(found, adjusted, strict=True)
        ),
    )
