"""The forward and backward pass over a wave of items: ask, read the answer, store, have it judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from core.events import SampleReady, ScoresReady, TextStreamed
from core.fitting import Window
from core.generation import INFILL, Extraction, Fits, Generation, Model, Prompt, Request, Role, Sample
from core.judging import Judging
from core.run import Pace, Run
from core.seeds import sample_seed
from core.store.rows import SampleRow
from core.trips.protocol import FillsGaps, Reference
from core.types import Item, Outcome, Verdict


@dataclass(frozen=True)
class Work:
    """One admitted item with the samples an earlier part of the run left."""

    item_id: int
    item: Item
    samples: tuple[SampleRow, ...] = ()


@dataclass(frozen=True)
class _Description:
    """A stored forward sample that a backward pass starts from."""

    id: int
    index: int
    text: str


@dataclass(frozen=True)
class _Slot:
    """A sample to be made: its place in the trace and its prompt, or the `problem` why there is none."""

    work: Work
    role: Role
    index: int
    parent: _Description | None
    prompt: Prompt
    request: Request
    problem: str = ""


class Passes:
    """Draws every missing sample of the items it is given."""

    def __init__(self, run: Run, judging: Judging, pace: Pace) -> None:
        """Nothing is asked yet."""
        self._run = run
        self._judging = judging
        self._pace = pace

    def draw(self, wave: Sequence[Work]) -> None:
        """Forward samples of all items, then backward and baseline samples of all. Raises Cancelled."""
        forward = [slot for work in wave for slot in self._forward_slots(work)]
        made = {work.item_id: _descriptions(work) for work in wave}
        for slot, sample_id, text in self._generate(self._run.parts.forward, forward):
            made[slot.work.item_id].append(_Description(sample_id, slot.index, text))
            self._compare(slot.work, sample_id, text)
        for work in wave:
            made[work.item_id] += self._references(work)
            self._judge_again(work)
        backward = [slot for work in wave for slot in self._backward_slots(work, made[work.item_id])]
        for _ in self._generate(self._run.parts.backward, backward):
            self._judging.drain()

    def describe(self, work: Work, reference: Reference) -> None:
        """Backward samples from what a person wrote of x now. Raises Cancelled, ModelError when it does not fit."""
        index = self._free_index(work)
        description = _Description(0, index, reference.text)
        prompt = self._backward_prompt(work.item, description, self._window(Role.BACKWARD))
        written = _Description(self._write(work, reference, index), index, reference.text)
        slots = [
            self._slot(work, Role.BACKWARD, at, written, prompt) for at in range(self._run.settings.backward_samples)
        ]
        for _ in self._generate(self._run.parts.backward, slots):
            self._judging.drain()

    def _free_index(self, work: Work) -> int:
        """The place after every description there is, and after those the run itself may still make."""
        own = self._run.settings.forward_samples + len(self._run.parts.trip.references(work.item))
        taken = (row.index + 1 for row in work.samples if row.role == Role.FORWARD)
        return max([own, *taken])

    def _judge_again(self, work: Work) -> None:
        """What was written but not judged, or not compared, before the run was interrupted."""
        for row in (*_whole(work, Role.BACKWARD), *_whole(work, Role.BASELINE)):
            if row.verdict is None or not Outcome(row.verdict.outcome).judged:
                self._judging.submit(work.item_id, row.id, work.item, row.text)
            elif not row.scores:
                self._judging.compare(work.item_id, row.id, work.item, row.text)
        for row in _whole(work, Role.FORWARD):
            if not row.scores:
                self._compare(work, row.id, row.text)

    def _compare(self, work: Work, sample_id: int, description: str) -> None:
        """Hold a description against what a person wrote, where somebody did."""
        run = self._run
        scores = run.parts.trip.description_scores(work.item, description)
        if scores:
            run.store.add_scores(sample_id, scores)
            run.emit(ScoresReady(run.id, work.item_id, sample_id, scores))

    def _references(self, work: Work) -> Iterable[_Description]:
        """What people wrote of x, stored after the model's descriptions as samples that do not count."""
        stored = {row.index: row for row in work.samples if row.role == Role.FORWARD and row.author != "model"}
        written = self._run.parts.trip.references(work.item)
        for index, reference in enumerate(written, start=self._run.settings.forward_samples):
            known = stored.get(index)
            yield _Description(known.id if known else self._write(work, reference, index), index, reference.text)

    def _write(self, work: Work, reference: Reference, index: int) -> int:
        run = self._run
        sample = Sample(
            role=Role.FORWARD,
            index=index,
            prompt_text="",
            seed=0,
            temperature=0.0,
            raw_text=reference.text,
            extraction=Extraction(reference.text),
            prompt_tokens=0,
            completion_tokens=0,
            seconds=0.0,
            finish_reason="written",
            recitation=run.parts.trip.recitation(work.item, reference.text),
            author=reference.author,
            form="text",
        )
        sample_id = run.store.add_sample(work.item_id, None, sample)
        run.emit(SampleReady(run.id, work.item_id, sample_id, None, sample))
        return sample_id

    # ---- what is missing

    def _forward_slots(self, work: Work) -> Iterable[_Slot]:
        have = {row.index for row in _whole(work, Role.FORWARD)}
        missing = [i for i in range(self._run.settings.forward_samples) if i not in have]
        if not missing:
            return
        trip = self._run.parts.trip
        prompt, problem = self._window(Role.FORWARD).prompt(lambda fits: trip.forward_prompt(work.item, fits))
        for index in missing:
            yield self._slot(work, Role.FORWARD, index, None, prompt, problem)

    def _backward_slots(self, work: Work, descriptions: Sequence[_Description]) -> Iterable[_Slot]:
        have = {(row.parent_id, row.index) for role in (Role.BACKWARD, Role.BASELINE) for row in _whole(work, role)}
        parents: list[_Description | None] = [*sorted(descriptions, key=lambda row: row.index), None]
        for parent in parents:
            missing = [i for i in range(self._run.settings.backward_samples) if (parent and parent.id, i) not in have]
            if missing:
                ask = partial(self._backward_prompt, work.item, parent)
                prompt, problem = self._window(Role.BACKWARD).prompt(ask)
                role = Role.BACKWARD if parent else Role.BASELINE
                for index in missing:
                    yield self._slot(work, role, index, parent, prompt, problem)

    def _backward_prompt(self, item: Item, parent: _Description | None, fits: Fits) -> Prompt:
        trip = self._run.parts.trip
        description = parent.text if parent else trip.uninformative
        if isinstance(trip, FillsGaps) and self._run.parts.backward.info.backward_style == INFILL:
            return trip.infill_prompt(item, description, fits)
        return trip.backward_prompt(item, description, fits)

    def _slot(
        self, work: Work, role: Role, index: int, parent: _Description | None, prompt: Prompt, problem: str = ""
    ) -> _Slot:
        settings = self._run.settings
        ahead = role is Role.FORWARD
        places = (index,) if parent is None else (parent.index, index)
        request = Request(
            id=f"{work.item_id}/{role}/{'/'.join(map(str, places))}",
            prompt=prompt,
            temperature=settings.forward_temperature if ahead else settings.backward_temperature,
            seed=sample_seed(settings.seed, work.item.key, role, *places),
            max_tokens=self._room(role),
        )
        return _Slot(work, role, index, parent, prompt, request, problem)

    def _room(self, role: Role) -> int:
        settings = self._run.settings
        return settings.forward_max_tokens if role is Role.FORWARD else settings.backward_max_tokens

    def _window(self, role: Role) -> Window:
        model = self._run.parts.forward if role is Role.FORWARD else self._run.parts.backward
        return Window(model, self._room(role))

    # ---- what comes back

    def _generate(self, model: Model, slots: Sequence[_Slot]) -> Iterable[tuple[_Slot, int, str]]:
        """Yield the samples that came out whole, as they are stored."""
        self._run.control.checkpoint()
        by_id = {slot.request.id: slot for slot in slots}

        def stream(request_id: str, text: str) -> None:
            slot = by_id[request_id]
            parent = slot.parent.index if slot.parent else None
            self._run.emit(TextStreamed(slot.work.item_id, slot.role, slot.index, text, parent))

        def read(request_id: str, done: int, total: int) -> None:
            self._run.emit(replace(self._pace.now(), detail=f"reading the prompt, {done} of {total} tokens"))

        unasked = [_unasked(slot) for slot in slots if slot.problem]
        asked = [slot.request for slot in slots if not slot.problem]
        for generation in chain(unasked, model.generate(asked, stream, read) if asked else ()):
            slot = by_id[generation.id]
            sample = self._sample(slot, generation)
            sample_id = self._store(slot, sample)
            self._run.emit(self._pace.count(generation))
            self._run.control.checkpoint()
            if not sample.error:
                yield slot, sample_id, sample.extraction.text

    def _store(self, slot: _Slot, sample: Sample) -> int:
        parent_id = slot.parent.id if slot.parent else None
        run, item_id = self._run, slot.work.item_id
        sample_id = run.store.add_sample(item_id, parent_id, sample)
        run.emit(SampleReady(run.id, item_id, sample_id, parent_id, sample))
        if sample.error:
            self._give_up(slot, sample_id, sample.error)
        elif slot.role is not Role.FORWARD:
            self._judging.submit(item_id, sample_id, slot.work.item, sample.extraction.text)
        return sample_id

    def _give_up(self, slot: _Slot, sample_id: int, error: str) -> None:
        """The engine failed twice: ours, not the model's, so never counted against it."""
        if slot.role is Role.FORWARD:
            self._run.problems.append(f"A description of {slot.work.item.key} could not be drawn: {error}")
            return
        verdict = Verdict(Outcome.INFRASTRUCTURE, 0.0, detail=error, oracle=self._run.parts.opened.oracle)
        self._judging.store(slot.work.item_id, sample_id, verdict)

    def _sample(self, slot: _Slot, generation: Generation) -> Sample:
        trip, item, raw = self._run.parts.trip, slot.work.item, generation.text
        if slot.role is Role.FORWARD:
            extraction = trip.read_description(raw)
            recited = trip.recitation(item, extraction.text)
        else:
            extraction = trip.read_code(item, raw, slot.prompt.prefill)
            recited = None
        if generation.error:
            extraction = replace(extraction, text="")
        return Sample(
            role=slot.role,
            index=slot.index,
            prompt_text=generation.rendered,
            seed=slot.request.seed,
            temperature=slot.request.temperature,
            raw_text=raw,
            extraction=extraction,
            prompt_tokens=generation.prompt_tokens,
            completion_tokens=generation.completion_tokens,
            seconds=generation.seconds,
            finish_reason=generation.finish_reason,
            truncated=slot.prompt.truncated,
            recitation=recited,
            form="text" if slot.role is Role.FORWARD else "code",
            error=generation.error,
        )


def _unasked(slot: _Slot) -> Generation:
    """What stands for a sample that could not even be asked for: ours, so never counted against the model."""
    return Generation(slot.request.id, "", "", 0, 0, 0.0, "context", slot.problem)


def _whole(work: Work, role: Role) -> Iterable[SampleRow]:
    return (row for row in work.samples if row.role == role and not row.error and row.author == "model")


def _descriptions(work: Work) -> list[_Description]:
    return [_Description(row.id, row.index, row.text) for row in _whole(work, Role.FORWARD)]
