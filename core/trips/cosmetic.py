"""Cosmetic variance: does a change that means nothing change what a model does (Considine et al. 2022)?

    function x -> hidden names, description -> code again
    function x -> variant (no model; kept when the project's tests pass) -> hidden names, description -> code again

Every version is asked the same: the names at the same places, the description, the code from it. `identity` is a
variant that changes nothing, asked with other seeds and other hidden names: what changes there is noise. The paper
rewrites by regular expression and asks no test; how often a rewrite changes the meaning is a figure it does not have.
"""

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import stdev

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.generation import Extraction, Prompt, Role
from rtc_inspector.core.kinds import COSMETIC_CHANGES, IDENTITY, TOGETHER, TOLD_ALREADY, cosmetic_changes
from rtc_inspector.core.metrics.similarity import code_scores, recitation, rouge_l, rouge_synonym
from rtc_inspector.core.models.extraction import extract_code, extract_description
from rtc_inspector.core.models.function_prompts import MASK_VERSION as MASK_VERSION
from rtc_inspector.core.models.function_prompts import extract_name
from rtc_inspector.core.models.prompts import wording
from rtc_inspector.core.regions.admission import admit
from rtc_inspector.core.regions.candidates import as_region
from rtc_inspector.core.regions.coverage import cover
from rtc_inspector.core.settings import RegionSettings, RunSettings
from rtc_inspector.core.source.codebase import content_fingerprint
from rtc_inspector.core.source.functions import Function
from rtc_inspector.core.store.rows import SampleRow
from rtc_inspector.core.syntax import Lines
from rtc_inspector.core.trips.judged import Judged, open_judged
from rtc_inspector.core.trips.pool import draw_items
from rtc_inspector.core.trips.protocol import Ask, FixedText, Opened, PairScore, Step, Tree, Trip, passing
from rtc_inspector.core.trips.versions import DOCUMENT, Version, Versions, Wanted, changed
from rtc_inspector.core.types import Candidate, Item, Notify, Outcome, Region, Report, Verdict

TRIED = 3  # functions of a bucket after which a transformation that none of them gave a value for is not waited for


class Widths:
    """The certainty of the cells of complexity and transformation, from what was measured of their functions so far."""

    def __init__(self) -> None:
        self._changes: dict[tuple[str, str], dict[str, float]] = {}

    def learn(self, item: Item, differences: Mapping[str, Sequence[float]]) -> None:
        """Keep the mean difference of an item's variants of each kind, in the place of an earlier one."""
        for change, values in differences.items():
            if values:
                cell = self._changes.setdefault((item.facets["complexity"], change), {})
                cell[item.key] = sum(values) / len(values)

    def of(self, bucket: str, change: str) -> float:
        """Return the standard error of a cell's mean; infinite for fewer than two functions.

        0 where several functions gave nothing: without descriptions no docstring is written, and that empty cell would
        be the widest for ever.
        """
        values = list(self._changes.get((bucket, change), {}).values())
        if len(values) > 1:
            return stdev(values) / math.sqrt(len(values))
        return math.inf if values or self.seen(bucket) < TRIED else 0.0

    def seen(self, bucket: str) -> int:
        return max((len(cell) for (each, _), cell in self._changes.items() if each == bucket), default=0)

    def widest(self, waiting: Sequence[Item]) -> int:
        """Return the place of the item with a part in the widest cell; of several, the one of the emptiest bucket."""

        def rank(place: int) -> tuple[float, int, int]:
            item = waiting[place]
            bucket = item.facets["complexity"]
            cells = [self.of(bucket, change) for change in COSMETIC_CHANGES if f"no {change}" not in item.origin]
            return -max(cells, default=0.0), self.seen(bucket), place

        return min(range(len(waiting)), key=rank)


def seed_of(run_seed: int, item: Item, draw: int) -> int:
    """Return the seed by which a function's rewrites are drawn."""
    return random.Random(f"{run_seed} {item.key} {draw}").randrange(1 << 30)


# ---- the trip

HIDDEN = "hidden_name"
NAME_TOKENS = 16  # room for one name


class CosmeticTrip(Trip):
    """Asks models the same of a function and of its variants, which do the same: so should the models."""

    def __init__(self, judged: Judged, versions: Versions, settings: RunSettings) -> None:
        self._judged, self._versions, self.settings = judged, versions, settings
        self._asked = settings.cosmetic
        self._kinds = cosmetic_changes(settings.cosmetic)
        self._widths = Widths()
        self._found: dict[str, tuple[Function, Region]] = {}
        self._dropped: list[Item] = []

    def items(self, wanted: int, seed: int, stored: Mapping[str, Item], report: Report) -> Iterator[Item]:
        """Draw functions that the tests run, in turn from each bucket of complexity, so that all fill evenly."""

        def item_of(key: str) -> Item:
            return stored.get(key) or self._item(key)

        keys, workers = self._drawn(seed, report), self.settings.oracle.workers
        return draw_items(keys, item_of, wanted, report, "admitting functions", self._dropped, workers)

    def _drawn(self, seed: int, report: Report) -> list[str]:
        buckets: dict[str, list[str]] = {}
        covering = RegionSettings(coverage="any")
        files = [file for file in self._judged.codebase.files if not file.is_test]
        for done, file in enumerate(files):
            report("finding functions", done, len(files))
            lines = Lines(file.text)
            by_body = {each.body: each for each in self._versions.functions(file.path)}
            regions = [as_region(file, body, lines) for body in by_body]
            for region in cover(regions, self._judged.suite.coverage, covering, file):
                function = by_body[region.span]
                key = f"{file.path}:{function.span.start}-{function.span.end}"
                self._found[key] = function, region
                buckets.setdefault(function.bucket, []).append(key)
        draw = random.Random(seed)
        for bucket in sorted(buckets):
            draw.shuffle(buckets[bucket])
        by_number = sorted(buckets, key=lambda bucket: int(bucket.partition("-")[0]))
        drawn = []
        while any(buckets.values()):
            drawn += [buckets[bucket].pop() for bucket in by_number if buckets[bucket]]
        return drawn

    def _item(self, key: str) -> Item:
        """Return a function as an item, admitted when the tests notice that its statements are gone.

        Else their pass says nothing of a variant.
        """
        function, region = self._found[key]
        file = self._judged.files[region.path]
        item = admit(region, file, self._judged.oracle)
        lines = Lines(file.text)
        text = file.text[function.span.start : function.span.end]
        sizes = ((1, "1"), (3, "2-3"), (7, "4-7"))  # of McCabe's complexity
        branches = next((name for most, name in sizes if function.branches <= most), "8 and more")
        item = replace(
            item,
            key=key,
            kind="function",
            span=function.span,
            start_line=lines.number(function.span.start),
            end_line=lines.number(function.span.end - 1),
            text=text,
            facets={"complexity": function.bucket, "branches": branches},
            origin={"function": function.name},
        )
        if not item.admitted:
            return item
        # Why transformations leave the function as it is.
        refused = self._versions.refusals(item.path, item.span.start, seed_of(self.settings.seed, item, 0))
        return replace(item, origin={**item.origin, **{f"no {change}": why for change, why in refused.items()}})

    def shortfall(self, admitted: int, wanted: int) -> Sequence[str]:
        if wanted and not admitted:
            why = Counter(item.reason for item in self._dropped).most_common(1)
            reason = why[0][0] if why else "the tests run no function that does something"
            raise ProjectError(
                f"No function of this project can be used: {reason}.", "Add tests that check what the functions do."
            )
        if admitted >= wanted:
            return ()
        return [f"Only {admitted} functions are run by tests that notice when they are gone ({wanted} were asked for)."]

    def learn(self, item: Item, measures: Mapping[str, float]) -> None:
        self._widths.learn(item, _differences(measures))

    def next(self, waiting: Sequence[Item]) -> int:
        """Return the place of the first that was drawn, or of the one by which the widest interval can be narrowed."""
        return self._widths.widest(waiting) if self._asked.widest_first else 0

    def _changes(self, item: Item) -> list[tuple[int, str, int]]:
        """Return number, transformation and draw of each variant that may be made; numbers leave room for all."""
        draws = self._asked.draws
        return [
            (1 + place * draws + draw, change, draw)
            for place, change in enumerate(self._kinds)
            for draw in range(draws if change != DOCUMENT else 1)
            if not any(f"no {each}" in item.origin for each in change.split(TOGETHER))
        ]

    def _change(self, number: int) -> tuple[str, int]:
        place, draw = divmod(number - 1, self._asked.draws)
        return self._kinds[place], draw

    def _version(self, item: Item, number: int, words: str = "") -> Version | str:
        """Return the original (0) or a variant, the same each time; `words`: what a model wrote, for a docstring."""
        change, draw = self._change(number) if number else ("", 0)
        # The names are hidden at the original's places in every version but `identity`, which is to show what other
        # names and other seeds alone do to a score.
        hidden = f"{IDENTITY} {draw}" if change == IDENTITY else ""
        drawn_by = f"{self.settings.seed} {item.key} {hidden}"
        seed, positions = seed_of(self.settings.seed, item, draw), self._asked.positions
        return self._versions.version(Wanted(item.path, item.span, change, seed, positions, drawn_by, words))

    def _original(self, item: Item) -> Version:
        found = self._version(item, 0)
        if isinstance(found, str):
            raise ProjectError(f"{item.key}: {found}.", "Read the files again, and start a new run.")
        return found

    def expected(self, item: Item) -> int:
        names = len(self._original(item).places) * self._asked.identifiers
        changes = ["", *(change for _, change, _ in self._changes(item))]
        described = sum(change != DOCUMENT for change in changes)
        return len(changes) * names + described * 2 * self._asked.describe

    def steps(self, item: Item, tree: Tree) -> Sequence[Step]:
        if not item.admitted:
            return []
        original = self._original(item)
        found = [*self._tasks(tree, original, 0, None)]
        variants = tree.whole(Role.TRANSFORM)
        taken = {sample.index for sample in variants}
        seen = {(sample.author, sample.text) for sample in variants}
        described = next((row for row in tree.whole(Role.FORWARD) if row.index == 0), None)
        for number, change, _ in self._changes(item):
            parent = described if change == DOCUMENT else None
            if number in taken or (change == DOCUMENT and parent is None):
                continue
            version = self._version(item, number, parent.text if parent else "")
            if isinstance(version, str) or (version.text == item.text and change != IDENTITY):
                continue
            if (change, version.text) in seen and change != IDENTITY:
                continue  # another seed has made the same variant
            seen.add((change, version.text))
            source = FixedText(version.text, change, counted=True)
            found.append(Step(Role.TRANSFORM, number, source, parent.id if parent else None))
        for sample in variants:
            if sample.passes:
                version = self._version_of(item, sample, tree)
                if isinstance(version, Version):
                    found += self._tasks(tree, version, sample.index, sample.id)
        return found

    def _version_of(self, item: Item, sample: SampleRow, tree: Tree) -> Version | str:
        parent = tree.parent(sample)
        return self._version(item, sample.index, parent.text if parent is not None else "")

    def _tasks(self, tree: Tree, version: Version, number: int, parent: int | None) -> Iterator[Step]:
        """Yield what models are still to be asked of one version: names, a description, code from it.

        Descriptions and code have the version's number as their index: `judge` sees a sample without its tree, and has
        to know into which version the code belongs.
        """
        asked, settings = self._asked, self.settings
        # A server's answer cannot be made to begin in the middle, so it writes the function up to the name first.
        served = settings.endpoint is not None or settings.backward_endpoint is not None
        name_room = settings.backward_max_tokens if served else NAME_TOKENS
        for place in tree.missing(Role.COMPLETE, len(version.places), parent) if asked.identifiers else ():
            ask = Ask(partial(version.ask_name, place), 0.0, name_room, "backward")
            yield Step(Role.COMPLETE, place, ask, parent)
        if not asked.describe or version.change == DOCUMENT:
            return
        if number not in tree.taken(Role.FORWARD, parent):
            room = settings.forward_max_tokens
            ask = Ask(version.ask_description, settings.forward_temperature, room, "forward")
            yield Step(Role.FORWARD, number, ask, parent)
        for words in tree.whole(Role.FORWARD):
            if words.parent_id == parent and words.index == number and not tree.taken(Role.BACKWARD, words.id):
                temperature, room = settings.backward_temperature, settings.backward_max_tokens
                ask = Ask(partial(version.ask_code, words.text), temperature, room, "backward")
                yield Step(Role.BACKWARD, number, ask, words.id)

    def read(self, item: Item, step: Step, raw: str, prompt: Prompt) -> Extraction:
        if step.role == Role.COMPLETE:
            return extract_name(raw, prompt)
        if step.role == Role.FORWARD:
            return extract_description(raw)
        version = self._version(item, step.index)
        if isinstance(version, str):
            return Extraction("", ("empty",))
        text, body = version.undescribed()
        found = extract_code(raw, replace(item, span=body, text=text[body.start : body.end]), text, prompt.prefill)
        head = version.file.text[version.function.span.start : version.function.body.start]
        return replace(found, text=head + found.text) if found.text else found

    def recitation(self, item: Item, text: str) -> float:
        return recitation(text, item.text)

    def judge(self, item: Item, sample: SampleRow) -> Verdict | None:
        if sample.role == Role.COMPLETE:
            return None
        change, _ = self._change(sample.index) if sample.index else ("", 0)
        # These two change nothing outside the function, so their text is all there is to judge; `document` could not
        # even be made again here, since its words stand in another sample.
        if sample.role == Role.TRANSFORM and change in (DOCUMENT, IDENTITY):
            return self._judged.judge(item, sample.text)
        version = self._version(item, sample.index)
        if isinstance(version, str):
            return Verdict(Outcome.INFRASTRUCTURE, 0.0, detail=f"The variant cannot be made again: {version}.")
        text, span = version.file.text, version.function.span
        if sample.role == Role.BACKWARD:
            text = text[: span.start] + sample.text + text[span.end :]
        home = changed(self._judged.files[item.path], text)
        candidate = Candidate(home.file, home.span, home.replacement, version.others)
        return self._judged.oracle.judge(candidate, item.tests)

    def compare(self, item: Item, sample: SampleRow, tree: Tree) -> Sequence[PairScore]:
        scores: dict[str, float | None] = {}
        if sample.role == Role.COMPLETE:
            parent = tree.parent(sample)
            version = self._original(item) if parent is None else self._version_of(item, parent, tree)
            if isinstance(version, Version) and sample.index < len(version.places):
                scores[HIDDEN] = float(sample.text == version.places[sample.index][1])
        elif sample.role == Role.FORWARD and (reference := self._docstring(item)):
            scores = {
                "rouge_synonym": rouge_synonym(sample.text, reference),
                "rouge_l": rouge_l(sample.text, reference),
            }
        elif sample.role == Role.BACKWARD:
            version = self._version(item, sample.index)
            if isinstance(version, Version):
                scores = dict(code_scores(sample.text, version.text))
        return [PairScore(sample.id, metric, value) for metric, value in scores.items() if value is not None]

    def _docstring(self, item: Item) -> str:
        original = self._original(item)
        shown = original.function.docstring
        return "" if shown is None else original.file.text[shown.start : shown.end]

    def measures(self, item: Item, tree: Tree) -> Mapping[str, float]:
        """Return each task's score on the original, e.g. `rtc`, and on the kept variants of each kind, `rtc@rename`.

        `change` is the mean difference of both over tasks and kinds of variants, `noise` that of `identity` alone.
        """
        found = self._scores(tree, self._original(item), None)
        by_name: dict[str, list[float]] = {}
        tried, kept = Counter[str](), Counter[str]()
        for sample in tree.whole(Role.TRANSFORM):
            version = self._version_of(item, sample, tree)
            if isinstance(version, str) or sample.passes is None:
                continue
            tried[version.change] += 1
            kept[version.change] += sample.passes
            if sample.passes:
                for name, value in self._scores(tree, version, sample.id).items():
                    by_name.setdefault(f"{name}@{version.change}", []).append(value)
        found |= {name: sum(values) / len(values) for name, values in by_name.items()}
        found |= {f"tried:{change}": float(count) for change, count in tried.items()}
        found |= {f"kept:{change}": float(kept[change]) for change in tried}
        differences = _differences(found)
        found |= _mean("change", [d for change, each in differences.items() if change != IDENTITY for d in each])
        found |= _mean("noise", differences.get(IDENTITY, []))
        real = [change for change in tried if change != IDENTITY]
        found |= _mean("same_meaning", [kept[change] / tried[change] for change in real])
        return found

    def _scores(self, tree: Tree, version: Version, parent: int | None) -> dict[str, float]:
        """Return the scores of one version; of hidden names only once all were asked for, so they are the same ones."""
        below = [row for row in tree.samples if row.parent_id == parent and not row.error]
        hits = [row.scores[HIDDEN] for row in below if row.role == Role.COMPLETE and HIDDEN in row.scores]
        found = _mean("identifiers", hits if len(hits) == len(version.places) else [])
        words = next((row for row in below if row.role == Role.FORWARD), None)
        if words is not None:
            found |= {name: words.scores[name] for name in ("rouge_synonym", "rouge_l") if name in words.scores}
            codes = [row for row in tree.samples if row.parent_id == words.id and row.role == Role.BACKWARD]
            found |= _mean("rtc", passing(codes))
        return found


def _differences(measures: Mapping[str, float]) -> dict[str, list[float]]:
    """Return by kind of variant how much each task's score is above that on the original."""
    found: dict[str, list[float]] = {}
    for path, value in measures.items():
        name, at, change = path.partition("@")
        if at:
            compared = name in measures and name not in TOLD_ALREADY
            found.setdefault(change, []).extend([value - measures[name]] if compared else [])
    return found


def _mean(name: str, values: Sequence[float]) -> dict[str, float]:
    return {name: sum(values) / len(values)} if values else {}


def open_cosmetic(stack: ExitStack, project: Path, settings: RunSettings, notify: Notify, report: Report) -> Opened:
    """Open the project and run its own tests. Raises ProjectError, TargetError, SandboxError."""
    judged = open_judged(stack, project, settings.oracle, notify, report)
    versions = Versions(judged.files)
    stack.callback(versions.close)
    settings = replace(settings, prompt_version=100 * wording().version + MASK_VERSION)
    fingerprint = content_fingerprint(judged.codebase)
    return judged.opened(lambda settings: CosmeticTrip(judged, versions, settings), settings, fingerprint)
