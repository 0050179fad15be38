"""Cosmetic variance: does a change that means nothing change what a model does (Considine et al. 2022)?

    function x -> hidden names, description -> code again
    function x -> variant (no model; kept when the project's tests pass) -> hidden names, description -> code again

Every version is asked the same: the names at the same places, the description, the code from it. `identity` is a
variant that changes nothing, asked with other seeds and other hidden names: what changes there is noise. The paper
rewrites by regular expression and asks no test; how often a rewrite changes the meaning is a figure it does not have.
"""

from __future__ import annotations

import builtins
import keyword
import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import stdev
from threading import RLock

from core.errors import ProjectError
from core.generation import Extraction, Fits, ModelInfo, Prompt, Role
from core.kinds import COSMETIC_CHANGES, IDENTITY
from core.metrics.recitation import recitation
from core.metrics.rouge import rouge_l, rouge_synonym
from core.metrics.similarity import code_scores
from core.models.extraction import extract_code, extract_description
from core.models.mask_prompts import VERSION as MASK_VERSION
from core.models.mask_prompts import extract_name, mask_prompt
from core.models.prompts import backward_prompt, forward_prompt, wording
from core.regions.admission import admit
from core.regions.candidates import as_region
from core.regions.coverage import cover
from core.regions.lines import Lines
from core.rewrites.document import document, undocumented
from core.rewrites.program import Program, Refused, Rewritten
from core.rewrites.registry import TRANSFORMATIONS
from core.settings import RegionSettings, RunSettings
from core.source.codebase import content_fingerprint
from core.source.functions import Function, functions
from core.store.rows import SampleRow
from core.trips.ahead import in_order
from core.trips.judged import Judged, open_judged
from core.trips.opening import Notify, Opened
from core.trips.protocol import Ask, Given, PairScore, Step, Tree
from core.types import Candidate, Change, Item, Outcome, Region, Report, SourceFile, Span, Verdict

DOCUMENT = "document"
HIDDEN = "hidden_name"
NAME_TOKENS = 16
"""Room for one name."""
VERSIONS_KEPT = 64


@dataclass(frozen=True)
class Version:
    """A function as models see it: the original, or a variant.

    Attributes:
        change: the transformation; empty for the original.
        file: the whole file it stands in.
        function: where it stands there, whole, in parts.
        places: of the original's hidden names, where each stands now, by its position; and the name that stands there.
        others: other files that had to follow.
    """

    change: str
    file: SourceFile
    function: Function
    places: tuple[tuple[int, str], ...] = ()
    others: tuple[Change, ...] = ()

    @property
    def text(self) -> str:
        """The function alone."""
        return self.file.text[self.function.span.start : self.function.span.end]

    def undescribed(self) -> tuple[str, Span]:
        """The file without the function's docstring, and where its other statements stand then."""
        shown, body = self.function.docstring, self.function.body
        if shown is None:
            return self.file.text, body
        gap = body.start - shown.start
        return self.file.text[: shown.start] + self.file.text[body.start :], Span(body.start - gap, body.end - gap)


class Widths:
    """How sure the cells of complexity and transformation are, from what was measured of their functions so far."""

    def __init__(self) -> None:
        """Nothing is measured yet."""
        self._changes: dict[tuple[str, str], dict[str, float]] = {}

    def learn(self, item: Item, differences: Mapping[str, Sequence[float]]) -> None:
        """Keep the mean difference of an item's variants of each kind, in the place of an earlier one."""
        for change, values in differences.items():
            if values:
                cell = self._changes.setdefault((item.facets["complexity"], change), {})
                cell[item.key] = sum(values) / len(values)

    def of(self, bucket: str, change: str) -> float:
        """The standard error of a cell's mean; infinite for fewer than two functions."""
        values = list(self._changes.get((bucket, change), {}).values())
        return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf

    def seen(self, bucket: str) -> int:
        """Functions of a bucket that were measured."""
        return max((len(cell) for (each, _), cell in self._changes.items() if each == bucket), default=0)

    def widest(self, waiting: Sequence[Item]) -> int:
        """The place of the item that has a part in the widest cell; of several the one whose bucket has the fewest."""

        def rank(place: int) -> tuple[float, int, int]:
            item = waiting[place]
            bucket = item.facets["complexity"]
            cells = [self.of(bucket, change) for change in COSMETIC_CHANGES if f"no {change}" not in item.origin]
            return -max(cells, default=0.0), self.seen(bucket), place

        return min(range(len(waiting)), key=rank)


class CosmeticTrip:
    """x is a function; its variants do the same, and so should the model."""

    def __init__(self, judged: Judged, settings: RunSettings) -> None:
        """Nothing is rewritten yet."""
        self._files = {file.path: file for file in judged.codebase.files}
        self._program = Program({path: file.text for path, file in self._files.items()})
        self._judged = judged
        self._settings = settings
        self._asked = settings.cosmetic
        self._found: dict[str, tuple[Function, Region]] = {}
        self._dropped: list[str] = []
        self._versions: dict[tuple[str, int, str], Version | Refused] = {}
        self._widths = Widths()
        self._lock = RLock()  # verdicts are asked for in several threads

    # ---- items

    def items(self, wanted: int, seed: int, known: Mapping[str, Item], report: Report) -> Iterator[Item]:
        """Functions that the tests run, in turn from each bucket of complexity, so that all fill evenly."""
        admitted = 0
        keys = self._drawn(seed, report)

        def beat() -> None:
            report("admitting functions", admitted, wanted)

        def item_of(key: str) -> Item:
            return known.get(key) or self._item(key)

        with closing(in_order(item_of, keys, self._settings.oracle.workers or 1, beat)) as items:
            while admitted < wanted:
                beat()
                item = next(items, None)
                if item is None:
                    return
                admitted += item.admitted
                if not item.admitted:
                    self._dropped.append(item.reason)
                yield item

    def _drawn(self, seed: int, report: Report) -> list[str]:
        buckets: dict[str, list[str]] = {}
        covering = RegionSettings(coverage="any")
        files = [file for file in self._files.values() if not file.is_test]
        for done, file in enumerate(files):
            report("finding functions", done, len(files))
            lines = Lines(file.text)
            by_body = {each.body: each for each in functions(file)}
            regions = [as_region(file, body, lines) for body in by_body]
            for region in cover(regions, self._judged.suite.coverage, covering, file):
                function = by_body[region.span]
                key = f"{file.path}:{function.span.start}-{function.span.end}"
                self._found[key] = function, region
                buckets.setdefault(function.bucket, []).append(key)
        draw = random.Random(seed)
        for bucket in sorted(buckets):
            draw.shuffle(buckets[bucket])
        drawn = []
        while any(buckets.values()):
            drawn += [buckets[bucket].pop() for bucket in sorted(buckets, key=_low) if buckets[bucket]]
        return drawn

    def _item(self, key: str) -> Item:
        """Admitted when the tests notice that its statements are gone: else their pass says nothing of a variant."""
        function, region = self._found[key]
        file = self._files[region.path]
        item = admit(region, file, self._judged.oracle)
        lines = Lines(file.text)
        text = file.text[function.span.start : function.span.end]
        item = replace(
            item,
            key=key,
            kind="function",
            span=function.span,
            start_line=lines.number(function.span.start),
            end_line=lines.number(function.span.end - 1),
            text=text,
            facets={"complexity": function.bucket, "branches": _branches(function.branches)},
            origin={"function": function.name},
        )
        return replace(item, origin={**item.origin, **self._refusals(item)}) if item.admitted else item

    def _refusals(self, item: Item) -> dict[str, str]:
        """Why transformations leave the function as it is, by name."""
        found: dict[str, str] = {}
        for change, transformation in TRANSFORMATIONS.items():
            made = transformation(self._program, item.path, item.span.start, self._seed(item, 0))
            if isinstance(made, Refused):
                found[f"no {change}"] = made.reason
        refused = undocumented(self._program, item.path, item.span.start)
        return found | ({f"no {DOCUMENT}": refused.reason} if refused else {})

    def shortfall(self, admitted: int, wanted: int) -> Sequence[str]:
        """Say when the project has fewer functions than were asked for. Raises ProjectError when it has none."""
        if wanted and not admitted:
            why = Counter(self._dropped).most_common(1)
            told = f": {why[0][0]}" if why else ": the tests run no function that does something"
            raise ProjectError(
                f"No function of this project can be used{told}.", "Add tests that check what the functions do."
            )
        if admitted >= wanted:
            return ()
        return [f"Only {admitted} functions are run by tests that notice when they are gone ({wanted} were asked for)."]

    def next(self, waiting: Sequence[Item]) -> int:
        """As they were drawn, or where the widest interval can be narrowed."""
        return self._widths.widest(waiting) if self._asked.widest_first else 0

    # ---- versions

    def _changes(self, item: Item) -> list[tuple[int, str, int]]:
        """Number, transformation and draw of each variant that may be made; numbers leave room for all."""
        draws = self._asked.draws
        return [
            (1 + place * draws + draw, change, draw)
            for place, change in enumerate(COSMETIC_CHANGES)
            for draw in range(draws if change != DOCUMENT else 1)
            if f"no {change}" not in item.origin
        ]

    def _change(self, number: int) -> tuple[str, int]:
        """The transformation and the draw of a variant by its number, which is never 0."""
        place, draw = divmod(number - 1, self._asked.draws)
        return COSMETIC_CHANGES[place], draw

    def _seed(self, item: Item, draw: int) -> int:
        return random.Random(f"{self._settings.seed} {item.key} {draw}").randrange(1 << 30)

    def _version(self, item: Item, number: int, words: str = "") -> Version | Refused:
        """The original (0) or a variant; `words`: what a model wrote, for a docstring. The same again and again."""
        key = item.key, number, words
        with self._lock:
            if key not in self._versions:
                while len(self._versions) >= VERSIONS_KEPT:
                    del self._versions[next(iter(self._versions))]
                self._versions[key] = self._made(item, number, words)
            return self._versions[key]

    def _made(self, item: Item, number: int, words: str) -> Version | Refused:
        change, draw = self._change(number) if number else ("", 0)
        program, path, start = self._program, item.path, item.span.start
        if not number:
            made: Rewritten | Refused = Rewritten({})
        elif change == DOCUMENT:
            made = document(program, path, start, words)
        else:
            made = TRANSFORMATIONS[change](program, path, start, self._seed(item, draw))
        if isinstance(made, Refused):
            return made
        texts = {each: made.text(each, self._files[each].text) for each in made.edits}
        files = {each: replace(self._files[each], text=text) for each, text in texts.items()}
        home = files.get(path, self._files[path])
        at = made.place(path, start)
        function = next((each for each in functions(home) if each.span.start == at), None)
        if function is None:
            return Refused("it cannot be found again in its file")
        places = self._places(item, f"{IDENTITY} {draw}" if change == IDENTITY else "")
        found = [(made.place(path, place), name) for place, name in places]
        others = tuple(_changed(self._files[each], text) for each, text in texts.items() if each != path)
        known = tuple((place, made.renamed.get(name, name)) for place, name in found if place is not None)
        return Version(change, home, function, known, others)

    def _places(self, item: Item, which: str) -> list[tuple[int, str]]:
        """Where names are hidden in the original: of those that stand there twice, so that others tell of one."""
        parsed = self._program.parsed(item.path)
        if parsed is None:
            return []
        found = []
        for name, nodes in parsed.names.items():
            if len(name) < 2 or keyword.iskeyword(name) or hasattr(builtins, name):
                continue
            inside = [at for at in (parsed.span(node).start for node in nodes) if item.span.start <= at < item.span.end]
            found += [(at, name) for at in inside] if len(inside) > 1 else []
        drawn = random.Random(f"{self._settings.seed} {item.key} {which}")
        return sorted(drawn.sample(sorted(found), min(self._asked.positions, len(found))))

    def _original(self, item: Item) -> Version:
        found = self._version(item, 0)
        if isinstance(found, Refused):
            raise ProjectError(f"{item.key}: {found.reason}.", "Read the files again, and start a new run.")
        return found

    # ---- the tree

    def expected(self, item: Item) -> int:
        """All that models may be asked of every version; what is not kept makes it less."""
        names = len(self._original(item).places) * self._asked.identifiers
        several = 1 + sum(change != DOCUMENT for _, change, _ in self._changes(item))
        alone = sum(change == DOCUMENT for _, change, _ in self._changes(item))
        return several * (names + 2 * self._asked.describe) + alone * names

    def steps(self, item: Item, tree: Tree) -> Sequence[Step]:
        """The variants; and of the original and each variant that is kept the names, the description, the code."""
        if not item.admitted:
            return []
        original = self._original(item)
        found = [*self._tasks(item, tree, original, 0, None)]
        made = tree.whole(Role.TRANSFORM)
        taken = {sample.index for sample in made}
        seen = {(sample.author, sample.text) for sample in made}
        described = next((row for row in tree.whole(Role.FORWARD) if row.index == 0), None)
        for number, change, _ in self._changes(item):
            if number in taken or (change == DOCUMENT and described is None):
                continue
            words = described.text if described is not None and change == DOCUMENT else ""
            version = self._version(item, number, words)
            if isinstance(version, Refused) or (version.text == item.text and change != IDENTITY):
                continue
            if (change, version.text) in seen and change != IDENTITY:
                continue  # another seed has written the same
            seen.add((change, version.text))
            parent = described.id if described is not None and change == DOCUMENT else None
            found.append(Step(Role.TRANSFORM, number, Given(version.text, change, counted=True), parent))
        for sample in made:
            if _passes(sample):
                version = self._version_of(item, sample, tree)
                if isinstance(version, Version):
                    found += self._tasks(item, tree, version, sample.index, sample.id)
        return found

    def _version_of(self, item: Item, sample: SampleRow, tree: Tree) -> Version | Refused:
        """The variant that a stored sample is."""
        parent = tree.parent(sample)
        return self._version(item, sample.index, parent.text if parent is not None else "")

    def _tasks(self, item: Item, tree: Tree, version: Version, number: int, parent: int | None) -> Iterator[Step]:
        """What models are asked of one version. What hangs below a version bears its number, for `judge`."""
        asked = self._asked
        taken = tree.taken(Role.COMPLETE, parent)
        for place in range(len(version.places)) if asked.identifiers else ():
            if place not in taken:
                ask = Ask(partial(_mask_prompt, version, place), 0.0, self._name_room, "backward")
                yield Step(Role.COMPLETE, place, ask, parent)
        if not asked.describe or version.change == DOCUMENT:
            return
        if number not in tree.taken(Role.FORWARD, parent):
            temperature, room = self._settings.forward_temperature, self._settings.forward_max_tokens
            ask = Ask(partial(_describe_prompt, version), temperature, room, "forward")
            yield Step(Role.FORWARD, number, ask, parent)
        for words in tree.whole(Role.FORWARD):
            if words.parent_id == parent and words.index == number and not tree.taken(Role.BACKWARD, words.id):
                temperature, room = self._settings.backward_temperature, self._settings.backward_max_tokens
                prompt = partial(_write_prompt, version, words.text)
                yield Step(Role.BACKWARD, number, Ask(prompt, temperature, room, "backward"), words.id)

    @property
    def _name_room(self) -> int:
        """A server cannot be made to begin in the middle of an answer: it writes the function up to the name."""
        served = self._settings.endpoint is not None or self._settings.backward_endpoint is not None
        return self._settings.backward_max_tokens if served else NAME_TOKENS

    # ---- reading, judging, comparing

    def read(self, item: Item, step: Step, raw: str, prompt: Prompt) -> Extraction:
        """A name, a description, or the whole function with the statements that the model wrote."""
        if step.role is Role.COMPLETE:
            return extract_name(raw)
        if step.role is Role.FORWARD:
            return extract_description(raw)
        version = self._version(item, step.index)
        if isinstance(version, Refused):
            return Extraction("", ("empty",))
        text, body = version.undescribed()
        found = extract_code(raw, replace(item, span=body, text=text[body.start : body.end]), text, prompt.prefill)
        head = version.file.text[version.function.span.start : version.function.body.start]
        return replace(found, text=head + found.text) if found.text else found

    def recitation(self, item: Item, text: str) -> float:
        """Share of the function that a description quotes."""
        return recitation(text, item.text)

    def judge(self, item: Item, sample: SampleRow) -> Verdict | None:
        """The project's tests, on variants and on what is written from a description of one."""
        if sample.role == Role.COMPLETE:
            return None
        file = self._files[item.path]
        change, _ = self._change(sample.index) if sample.index else ("", 0)
        if sample.role == Role.TRANSFORM and change in (DOCUMENT, IDENTITY):
            return self._judged.oracle.judge(Candidate(file, item.span, sample.text), item.tests)
        version = self._version(item, sample.index)
        if isinstance(version, Refused):
            return Verdict(Outcome.INFRASTRUCTURE, 0.0, detail=f"The variant cannot be made again: {version.reason}.")
        text, span = version.file.text, version.function.span
        if sample.role == Role.BACKWARD:
            text = text[: span.start] + sample.text + text[span.end :]
        home = _changed(file, text)
        candidate = Candidate(file, home.span, home.replacement, version.others)
        return self._judged.oracle.judge(candidate, item.tests)

    def compare(self, item: Item, sample: SampleRow, tree: Tree) -> Sequence[PairScore]:
        """Whether a name is the hidden one; words with the docstring; code with the version's own."""
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
        """What a person wrote about the function; empty where nobody did."""
        original = self._original(item)
        shown = original.function.docstring
        return "" if shown is None else original.file.text[shown.start : shown.end]

    # ---- figures

    def measures(self, item: Item, tree: Tree) -> Mapping[str, float]:
        """Each task's score on the original, e.g. `rtc`, and on the variants of each kind that are kept, `rtc@rename`.

        `change` is the mean difference of both over tasks and kinds of variants, `noise` that of `identity` alone.
        """
        found = self._scores(item, tree, self._original(item), None)
        by_change: dict[str, dict[str, list[float]]] = {}
        tried, kept = Counter[str](), Counter[str]()
        for sample in tree.whole(Role.TRANSFORM):
            version = self._version_of(item, sample, tree)
            if isinstance(version, Refused) or sample.verdict is None or not Outcome(sample.verdict.outcome).judged:
                continue
            tried[version.change] += 1
            kept[version.change] += _passes(sample)
            if _passes(sample):
                values = by_change.setdefault(version.change, {})
                for name, value in self._scores(item, tree, version, sample.id).items():
                    values.setdefault(name, []).append(value)
        means = {
            change: {name: sum(values) / len(values) for name, values in by_name.items()}
            for change, by_name in by_change.items()
        }
        told = dict(found)
        told |= {f"{name}@{change}": value for change, each in means.items() for name, value in each.items()}
        told |= {f"tried:{change}": float(count) for change, count in tried.items()}
        told |= {f"kept:{change}": float(kept[change]) for change in tried}
        differences = {
            change: [value - found[name] for name, value in each.items() if name in found and name != "rouge_l"]
            for change, each in means.items()
        }
        self._widths.learn(item, differences)
        told |= _mean("change", [d for change, each in differences.items() if change != IDENTITY for d in each])
        told |= _mean("noise", differences.get(IDENTITY, []))
        real = [change for change in tried if change != IDENTITY]
        told |= _mean("same_meaning", [kept[change] / tried[change] for change in real])
        return told

    def _scores(self, item: Item, tree: Tree, version: Version, parent: int | None) -> dict[str, float]:
        """The scores of one version; of hidden names only once all were asked for, so that they are the same ones."""
        below = [row for row in tree.samples if row.parent_id == parent and not row.error]
        hits = [row.scores[HIDDEN] for row in below if row.role == Role.COMPLETE and HIDDEN in row.scores]
        found = _mean("identifiers", hits if len(hits) == len(version.places) else [])
        words = next((row for row in below if row.role == Role.FORWARD), None)
        if words is not None:
            found |= {name: words.scores[name] for name in ("rouge_synonym", "rouge_l") if name in words.scores}
            codes = [row for row in tree.samples if row.parent_id == words.id and row.role == Role.BACKWARD]
            judged = [_passes(row) for row in codes if row.verdict and Outcome(row.verdict.outcome).judged]
            found |= _mean("rtc", [float(each) for each in judged])
        return found


def _mean(name: str, values: Sequence[float]) -> dict[str, float]:
    """Under its name; nothing where there is none."""
    return {name: sum(values) / len(values)} if values else {}


def _passes(sample: SampleRow) -> bool:
    return sample.verdict is not None and sample.verdict.outcome == Outcome.PASS


def _low(bucket: str) -> int:
    return int(bucket.partition("-")[0])


def _branches(number: int) -> str:
    """A bucket of McCabe's complexity."""
    return next((name for most, name in ((1, "1"), (3, "2-3"), (7, "4-7")) if number <= most), "8 and more")


def _changed(file: SourceFile, text: str) -> Change:
    """The least stretch of whole lines in which a file differs from its new text."""
    old = file.text
    most = min(len(old), len(text))
    first = next((at for at in range(most) if old[at] != text[at]), most)
    first = old.rfind("\n", 0, first) + 1
    last = 0
    while last < most - first and old[-1 - last] == text[-1 - last]:
        last += 1
    end = old.find("\n", len(old) - last)
    last = len(old) - end if end >= 0 else 0
    return Change(file, Span(first, len(old) - last), text[first : len(text) - last])


def candidate_of(files: Mapping[str, SourceFile], path: str, rewritten: Rewritten) -> Candidate:
    """A rewrite as something to judge: the file at `path`, and those that had to follow."""
    changes = {each: _changed(files[each], rewritten.text(each, files[each].text)) for each in {path, *rewritten.edits}}
    home = changes.pop(path)
    return Candidate(home.file, home.span, home.replacement, tuple(changes.values()))


def _mask_prompt(version: Version, place: int, model: ModelInfo, fits: Fits) -> Prompt:
    start = version.function.span.start
    line = version.file.text.rfind("\n", 0, start) + 1
    shown = version.file.text[line : version.function.span.end]
    at, name = version.places[place]
    return mask_prompt(shown, at - line, len(name), fits, model.backward_style or model.prompt_style)


def _describe_prompt(version: Version, model: ModelInfo, fits: Fits) -> Prompt:
    text, body = version.undescribed()
    return forward_prompt(text, body, fits, model.prompt_style)


def _write_prompt(version: Version, words: str, model: ModelInfo, fits: Fits) -> Prompt:
    text, body = version.undescribed()
    return backward_prompt(text, body, words, fits, model.backward_style, model.prompt_layout)


def open_cosmetic(stack: ExitStack, project: Path, settings: RunSettings, notify: Notify, report: Report) -> Opened:
    """Open the project and run its own tests. Raises ProjectError, TargetError, SandboxError."""
    judged = open_judged(stack, project, settings.oracle, notify, report)
    codebase, oracle = judged.codebase, judged.oracle
    return Opened(
        make_trip=lambda settings: CosmeticTrip(judged, settings),
        settings=replace(settings, prompt_version=100 * wording().version + MASK_VERSION),
        root=codebase.root,
        revision=codebase.revision,
        dirty=codebase.dirty,
        fingerprint=content_fingerprint(codebase),
        oracle=oracle.name,
        suite=judged.suite,
        image_digest=oracle.image_digest,
    )
