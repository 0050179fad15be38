"""A stored run made again: its samples drawn with the same model, prompt and seed, and judged. Nothing is written.

A sample is asked for as it was: the trip is shown the item's stored tree without the sample and what hangs below it,
and names the step again. Stored code is judged again as it was stored, so that text and verdict are told apart.
"""

import json
import random
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rtc_inspector.core import __version__
from rtc_inspector.core.errors import ModelError, ProjectError
from rtc_inspector.core.generation import Generation, Model, Request, Window
from rtc_inspector.core.kinds import role_title
from rtc_inspector.core.models.styles import as_recorded
from rtc_inspector.core.run.bundle import changes
from rtc_inspector.core.run.events import Control, Notice, Progress
from rtc_inspector.core.run.opening import Caller, Emit, Parts, located, open_parts
from rtc_inspector.core.settings import NamedModel, RunSettings
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import RunRow, SampleRow, Tree
from rtc_inspector.core.trips.pool import in_order
from rtc_inspector.core.trips.protocol import Ask, Step, read
from rtc_inspector.core.types import Form, Item, Verdict

ROUNDING = 1e-9  # by which a measure may differ where sums are taken in another order


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result for one sample."""

    sample_id: int
    what: str  # the sample in words
    # whether the same text was drawn; None where no model made it, or it could not be asked for again
    text: bool | None
    verdict: bool | None  # whether the verdict is the same; None where there was none, or it could not be judged again
    notes: tuple[str, ...] = ()  # what differs, a phrase each

    @property
    def same(self) -> bool:
        """Return whether all that could be made again came out the same, and nothing failed."""
        return self.text is not False and self.verdict is not False and not self.notes


@dataclass(frozen=True, slots=True)
class Difference:
    """Something of the surroundings that is another than when the run was made."""

    what: str
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class Replay:
    """The results for all samples, and what differs in the environment."""

    samples: tuple[Replayed, ...]
    environment: tuple[Difference, ...]
    figures: int = 0  # how many measures of items were made again from what is stored
    measures: tuple[Difference, ...] = ()  # those that are stored otherwise
    changed: str = ""  # what is not as it was bundled, a sentence; empty where all is, or the run is in no bundle

    @property
    def same(self) -> bool:
        """Return whether every sample came out the same, and all that is stored is what was made."""
        return all(sample.same for sample in self.samples) and not self.measures and not self.changed


def replay(
    reader: Reader,
    run_id: int,
    emit: Emit,
    control: Control,
    *,
    samples: int | None = None,
    models: Mapping[str, NamedModel] | None = None,
    project: Path | None = None,
    told: Callable[[Replayed], None] = lambda sample: None,
) -> Replay:
    """Make `samples` of a run's samples again, drawn by the run's seed, or all of them.

    `models` says where the `forward` and `backward` model are now, where that is elsewhere; `project` the same of the
    source. `told` hears of each sample as it is done. Raises ModelError when the recorded model is not found,
    ProjectError when the source is another, StoreError, Cancelled, and any other UserError.
    """
    run, changed = reader.run(run_id), changes(reader.path)
    if changed:
        emit(Notice(changed))
    recorded = json.loads(run.model_json)
    caller = Caller(emit, control)
    settings = located(replace(reader.settings(run_id), series=None), recorded, caller.notify, models or {})
    # On this machine, wherever it was made: seeds and texts do not depend on the place.
    settings = replace(settings, generation=as_recorded(settings.generation, recorded), cluster="")
    chosen = _chosen(reader, run, samples)
    with ExitStack() as stack:
        parts = open_parts(stack, project or Path(run.project_root), settings, caller)
        if parts.opened.fingerprint != run.fingerprint:
            revision = f" (revision {run.revision[:12]})" if run.revision else ""
            raise ProjectError(
                f"The project's files have changed since run {run_id} began.",
                f"Bring back the files as they were{revision}, or name a folder that has them with --project.",
            )
        _require_recorded(parts, recorded)
        replaying = _Replaying(reader, run, parts, emit, control)
        found = []
        with closing(replaying.items(chosen)) as replayed:
            for sample in replayed:
                found.append(sample)
                told(sample)
        surroundings = tuple(_environment(run, recorded, settings, parts))
        return Replay(tuple(found), surroundings, *_measures(reader, run_id, parts), changed)


def _measures(reader: Reader, run_id: int, parts: Parts) -> tuple[int, tuple[Difference, ...]]:
    """Make the measures of all items again from their stored samples; how many, and those that are stored otherwise."""
    made, found = 0, []
    for row in reader.items(run_id):
        if not row.admitted:
            continue
        now = parts.trip.measures(row, reader.tree(row.id))
        for name in sorted(now.keys() | row.measures.keys()):
            made += 1
            before, after = row.measures.get(name), now.get(name)
            if before is None or after is None or abs(before - after) > ROUNDING:
                found.append(
                    Difference(f"{name} of {row.key}", *("-" if v is None else f"{v:g}" for v in (before, after)))
                )
    return made, tuple(found)


def _chosen(reader: Reader, run: RunRow, samples: int | None) -> dict[int, list[SampleRow]]:
    """Return by item whole samples, as many as are wanted, in the order in which they were made."""
    rows = [row for item in reader.items(run.id) for row in reader.samples(item.id) if not row.error]
    known = [row for row in rows if row.author == "model" or row.verdict is not None]
    if samples is not None and samples < len(known):
        picked = {row.id for row in random.Random(run.seed).sample(known, samples)}
        known = [row for row in known if row.id in picked]
    found: dict[int, list[SampleRow]] = {}
    for row in known:
        found.setdefault(row.item_id, []).append(row)
    return found


def _require_recorded(parts: Parts, recorded: Mapping[str, Mapping[str, str]]) -> None:
    for role, model in (("forward", parts.forward), ("backward", parts.backward)):
        if model.info.sha256 != recorded[role]["sha256"]:
            raise ModelError(
                f"{model.info.path} is not the {role} model of the run.",
                f"Name the file whose SHA-256 is {recorded[role]['sha256'] or 'not recorded: it was a server'}.",
            )


# ---- what differs around the samples


_OF_MODEL = (
    "build",
    "threads",
    "context_size",
    "prompt_style",
    "backward_style",
    "prompt_layout",
    "template_sha256",
    "name",
    "served",
    "top_k",
    "top_p",
    "conditions",
)


def _environment(
    run: RunRow, recorded: Mapping[str, Mapping[str, str]], settings: RunSettings, parts: Parts
) -> Iterator[Difference]:
    for role, model in (("forward", parts.forward), ("backward", parts.backward)):
        now = parts.used(model)
        for name in _OF_MODEL:
            before, found = str(recorded[role].get(name, "")), str(getattr(now, name))
            if before != found:
                yield Difference(f"{role} model, {name.replace('_', ' ')}", before, found)
    opened = parts.opened
    suite = json.loads(run.suite_json)
    learned = opened.learner.known() if opened.learner is not None else opened.suite
    trusted = str(len(learned.tests)) if learned is not None else str(suite.get("tests", ""))
    pairs = (
        ("version of RTC Inspector", run.app_version, __version__),
        ("version of the prompts", str(settings.prompt_version), str(opened.settings.prompt_version)),
        ("what judges", run.sandbox, opened.oracle),
        ("image", run.image_digest, opened.image_digest),
        ("Python of the tests", str(suite.get("python", "")), opened.suite.python),
        ("trusted tests", str(suite.get("tests", "")), trusted),
        ("folder of the project", run.project_root, str(opened.root)),
    )
    yield from (Difference(what, before, now) for what, before, now in pairs if before != now)


# ---- the samples


@dataclass(frozen=True)
class _Drawn:
    """A sample that is asked for again: its step, its request, and what came of it."""

    row: SampleRow
    step: Step
    request: Request


class _Replaying:
    """Draws and judges stored samples, item by item."""

    def __init__(self, reader: Reader, run: RunRow, parts: Parts, emit: Emit, control: Control) -> None:
        self._reader, self._run, self._parts = reader, run, parts
        self._emit, self._control = emit, control
        self._trip = parts.trip

    def items(self, chosen: Mapping[int, Sequence[SampleRow]]) -> Generator[Replayed, None, None]:
        total, done = sum(map(len, chosen.values())), 0
        workers = self._parts.opened.settings.oracle.workers or 1
        for item_id, rows in chosen.items():
            self._emit(Progress("samples", done, total))
            self._control.checkpoint()
            item, tree = self._reader.item(item_id), self._reader.tree(item_id)
            texts = self._draw(item, tree, rows)
            judge = partial(self._judge, item)
            with closing(in_order(judge, rows, workers, self._control.checkpoint)) as verdicts:
                for row, verdict in zip(rows, verdicts, strict=True):
                    done += 1
                    yield self._told(item, row, texts[row.id], verdict)
        self._emit(Progress("samples", done, total))

    def _draw(self, item: Item, tree: Tree, rows: Sequence[SampleRow]) -> dict[int, tuple[bool | None, list[str]]]:
        found: dict[int, tuple[bool | None, list[str]]] = {row.id: (None, []) for row in rows}
        models = {"forward": self._parts.forward, "backward": self._parts.backward}
        drawn: dict[str, dict[str, _Drawn]] = {side: {} for side in models}
        for row in (row for row in rows if row.author == "model"):
            step = self._step(item, tree, row)
            if step is None or not isinstance(step.source, Ask):
                found[row.id] = (None, ["its method names no such step any more"])
            else:
                ask = step.source
                drawn[ask.model][str(row.id)] = self._asked(models[ask.model], row, step, ask)
        for side, wanted in drawn.items():
            for generation in models[side].generate([each.request for each in wanted.values()]) if wanted else ():
                self._control.checkpoint()
                each = wanted[generation.id]
                found[each.row.id] = self._compared(item, each, generation)
        return found

    def _step(self, item: Item, tree: Tree, row: SampleRow) -> Step | None:
        """Return the step that made a sample, named again where the sample and all below it are missing."""
        rest = Tree([each for each in tree.samples if not tree.below(each.id, row.id)], self._reader.tests)
        place = (row.role, row.parent_id, row.index)
        named = self._trip.steps(item, rest)
        return next((step for step in named if (step.role, step.parent, step.index) == place), None)

    def _asked(self, model: Model, row: SampleRow, step: Step, ask: Ask) -> _Drawn:
        info = self._parts.used(model)
        prompt, problem = Window(model, ask.max_tokens).prompt(partial(ask.prompt, info))
        if problem:
            raise ModelError(f"Sample {row.id} cannot be asked for again: {problem}", "Use the settings of the run.")
        return _Drawn(row, step, Request(str(row.id), prompt, row.temperature, row.seed, ask.max_tokens))

    def _compared(self, item: Item, drawn: _Drawn, generation: Generation) -> tuple[bool | None, list[str]]:
        row, notes = drawn.row, []
        if generation.error:
            return None, [f"it could not be drawn: {generation.error}"]
        if generation.rendered and generation.rendered != self._reader.prompt(row.prompt_hash):
            notes.append("its prompt is another")
        tag = self._parts.opened.settings.generation.thought_tag
        text = read(self._trip, item, drawn.step, generation, drawn.request.prompt, tag).text
        same = (generation.text, text) == (row.raw_text, row.text)
        if not same:
            before, now = row.raw_text, generation.text
            at = next(
                (n for n, (a, b) in enumerate(zip(before, now, strict=False)) if a != b), min(len(before), len(now))
            )
            notes.append(f"its text differs from character {at + 1} on" if before != now else "read otherwise")
        return same, notes

    def _judge(self, item: Item, row: SampleRow) -> Verdict | None:
        return self._trip.judge(item, row) if row.form == Form.CODE and row.verdict is not None else None

    def _told(self, item: Item, row: SampleRow, text: tuple[bool | None, list[str]], now: Verdict | None) -> Replayed:
        same, notes = text
        verdict: bool | None = None
        before = row.verdict
        if now is not None and before is not None and before.outcome.judged:
            if not now.outcome.judged:
                notes = [*notes, f"it could not be judged: {now.detail}"]
            else:
                verdict = now.outcome == before.outcome
                if not verdict:
                    notes = [*notes, f"the verdict was {before.outcome} and is {now.outcome}: {now.detail}"]
        place = f"{item.path}:{item.start_line}-{item.end_line}" if item.path else item.key
        what = f"{role_title(self._run.task, row.role)} {row.index + 1} of {place}"
        return Replayed(row.id, what, same, verdict, tuple(notes))
