"""Grows the trees of a run's items: asks the trip which steps may be made, has them made, judged and compared.

The tree of each item at work is live: what is made is written through to the store, and read only where an earlier
part of the run began it. The trip sees nothing but that tree, so going on with a run is the same as carrying it out:
what is there is not named again. Steps of several items are asked of a model together; while it writes, finished code
is being judged.
"""

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from rtc_inspector.core.generation import Extraction, Fed, Generation, Model, Prompt, Request, Sample, Window
from rtc_inspector.core.kinds import article, role_title, task
from rtc_inspector.core.models.answers import thought_tokens
from rtc_inspector.core.run.events import MeasuresReady, Notice, SampleReady, ScoresReady, TextStreamed, VerdictReady
from rtc_inspector.core.run.opening import Budget, Pace, Run
from rtc_inspector.core.store.rows import SampleRow, Tree
from rtc_inspector.core.trips.protocol import Ask, ChoosesNext, FixedText, Step, read
from rtc_inspector.core.types import Form, Item, Outcome, Verdict, plain
from rtc_inspector.core.waiting import result_of


def sample_seed(run_seed: int, item_key: str, role: str, *indices: int) -> int:
    """Return a 31-bit seed for one sample of a run; the same on every machine."""
    text = "\x1f".join([str(run_seed), item_key, role, *map(str, indices)])
    # 31 bits: some servers read a seed as a signed number of 32.
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


_Place = tuple[str, int | None, int]
_SAMPLED = ("thoughts", "prompt_tokens", "completion_tokens", "seconds", "finish_reason", "error")


def _place(step: Step) -> _Place:
    return step.role, step.parent, step.index


@dataclass(eq=False)
class Work:
    """An admitted item and what this part of the run has done on it."""

    item_id: int
    item: Item
    begun: bool = True  # samples of it are stored, which are to be read before it is worked on
    tree: Tree = field(default_factory=Tree)  # its samples, while it is worked on
    # role, parent and index of each step that was made, whatever came of it: what failed is named again by the trip,
    # and made again when the run is resumed, not at once
    made: set[_Place] = field(default_factory=set)
    asked: set[_Place] = field(default_factory=set)  # the same of steps that a model is working on
    judging: int = 0  # how many verdicts are awaited
    idle: bool = False  # the trip had nothing to make when it was last asked, and nothing was stored since


@dataclass(frozen=True)
class _Asked:
    """A step that a model is to make: its request, or the `problem` why it has no prompt."""

    work: Work
    step: Step
    request: Request
    problem: str = ""


class Growing:
    """Grows trees until the trip names no further step. The thread that calls it is the run's only writer."""

    def __init__(self, run: Run, pace: Pace) -> None:
        self._run = run
        self._trip = run.parts.trip
        self._roles = task(run.settings.task).roles
        self._pace = pace
        self._budget = Budget(run)
        self._below: int | None = None

    def grow(self, works: Sequence[Work], together: int = 1) -> None:
        """See `works` through, `together` of them at a time.

        Raises Cancelled when the run is stopped, and ModelError when a model fails for good.
        """
        if (learner := self._run.parts.opened.learner) is not None and works:
            learner.prepare()
        with self._judges():
            self._waiting = deque(works)
            self._active: list[Work] = []
            while self._waiting or self._active:
                self._take_verdicts()
                if named := self._all_named(together):
                    self._make(named)
                elif self._active:
                    self._take_verdicts(wait=True)

    def _all_named(self, together: int) -> list[tuple[Work, Step]]:
        """Return the steps that may be made now; where there are none, `together` further items are begun."""
        while True:
            named = [found for work in self._active if not work.idle for found in self._named(work)]
            # An idle item with a verdict or a sample under way stays: with that the trip may name more steps.
            for work in [work for work in self._active if work.idle and not work.judging and not work.asked]:
                self._active.remove(work)
                work.begun, work.tree = True, Tree()  # all of it is stored; only what is worked on is held
            if named or not self._waiting:
                return named
            begun = [self._next(self._waiting) for _ in range(min(together, len(self._waiting)))]
            for work in begun:
                self._begin(work)
                self._finish_stored(work)
            self._active += begun

    def _begin(self, work: Work) -> None:
        reader = self._run.store.reader
        work.tree = reader.tree(work.item_id) if work.begun else Tree(tests=reader.tests, roles=self._roles)

    def _next(self, waiting: deque[Work]) -> Work:
        place = self._trip.next([work.item for work in waiting]) if isinstance(self._trip, ChoosesNext) else 0
        work = waiting[place]
        del waiting[place]
        return work

    def grow_from(self, work: Work, step: Step) -> None:
        """Store a step whose text is given, and make what hangs below it and nothing else. Raises as `grow`."""
        with self._judges():
            self._begin(work)
            self._below = self._give(work, step, step.source)
            while not work.idle or work.judging:
                if named := self._named(work):
                    self._make(named)
                elif work.judging:
                    self._take_verdicts(wait=True)

    @contextmanager
    def _judges(self) -> Iterator[None]:
        """Verdicts come from the sandbox while the next sample is being written."""
        self._pool = ThreadPoolExecutor(self._run.settings.oracle.workers or 1, thread_name_prefix="judge")
        self._judging: deque[tuple[Work, SampleRow, Future[Verdict | None]]] = deque()
        try:
            yield
        except BaseException:
            # What has begun is not waited for: closing the oracle ends it at once.
            self._pool.shutdown(wait=False, cancel_futures=True)
            raise
        self._pool.shutdown()

    def _give(self, work: Work, step: Step, source: Ask | FixedText) -> int:
        if not isinstance(source, FixedText):
            raise TypeError("A step without a given text needs a model.")
        generation = Generation("", source.text if source.raw is None else source.raw, "", 0, 0, 0.0, "written")
        sample = self._sample(work.item, step, generation, Extraction(source.text, source.how))
        sample = replace(sample, author=source.author, counted=source.counted)
        sample_id = self._store(work, step, sample)
        if not self._run.parts.models:  # else only what models write is awaited
            self._run.emit(self._pace.count(0))
            self._run.control.checkpoint()
        return sample_id

    def _named(self, work: Work) -> list[tuple[Work, Step]]:
        """Return the steps that the trip names, less those that this part of the run has tried.

        Settles the item where none is left and nothing on it is under way.
        """
        steps = [
            step
            for step in self._trip.steps(work.item, work.tree)
            if _place(step) not in work.made | work.asked
            and (self._below is None or work.tree.below(step.parent, self._below))
        ]
        work.idle = not steps
        if work.idle and not work.judging and not work.asked:
            self._settle(work)
        return [(work, step) for step in steps]

    def _settle(self, work: Work) -> None:
        """Keep the item's measures, and whether it is done: nothing may follow, and all its code was judged."""
        run, tree = self._run, work.tree
        judged = all(row.verdict is None or row.passes is not None for row in tree.samples)
        done = judged and not work.judging and not work.asked and not self._trip.steps(work.item, tree)
        measures = {name: float(value) for name, value in self._trip.measures(work.item, tree).items()}
        if isinstance(self._trip, ChoosesNext):
            self._trip.learn(work.item, measures)
        if run.store.set_measures(work.item_id, measures, done):
            run.emit(MeasuresReady(run.id, work.item_id, measures, done, run.store.change))

    def _finish_stored(self, work: Work) -> None:
        """Judge what an earlier part of the run wrote but did not judge, and compare what it did not compare."""
        for row in work.tree.samples:
            if row.error:
                continue
            if row.form == Form.CODE and row.passes is None:
                self._judge(work, row)
            elif not row.scores and not row.pairs:
                self._compare(work, row)

    def _make(self, named: Sequence[tuple[Work, Step]]) -> None:
        """Make the given texts, and what one model is asked for: descriptions come before what is made from them."""
        asks = self._unmade(named)
        if not asks:
            return
        side = "forward" if any(ask.model == "forward" for *_, ask in asks) else "backward"
        model = self._run.parts.forward if side == "forward" else self._run.parts.backward
        self._generate(model, self._requests(model, [each for each in asks if each[2].model == side]))

    def _unmade(self, named: Sequence[tuple[Work, Step]]) -> list[tuple[Work, Step, Ask]]:
        """Store what is given, or made in another run of the series; the rest is for a model."""
        left = []
        for work, step in named:
            if not isinstance(step.source, Ask):
                self._give(work, step, step.source)
            elif (sample := self._run.made(work.item.key, step)) is not None:
                self._store(work, step, sample)
                self._run.emit(self._pace.count(0))
            else:
                left.append((work, step, step.source))
        return left

    def _further(self, model: Model) -> list[_Asked]:
        """Return what a model can be asked by now, while it works on other requests; further items last."""
        self._take_verdicts()
        while self._below is None and (named := self._all_named(1)):
            sides = {"forward": self._run.parts.forward, "backward": self._run.parts.backward}
            unmade = self._unmade(named)
            if mine := [each for each in unmade if sides[each[2].model] is model]:
                return self._requests(model, mine)
            if unmade:  # another model's turn comes when this one has nothing left
                break
        return []

    def _requests(self, model: Model, asks: Sequence[tuple[Work, Step, Ask]]) -> list[_Asked]:
        """Steps that share a way of asking share its prompt, which is measured against the model's window once."""
        info = self._run.parts.used(model)
        prompts: dict[int, tuple[Prompt, str]] = {}
        found = []
        for work, step, ask in asks:
            # By identity: a trip makes one Ask for all samples that are asked alike, and two partials never compare
            # equal.
            if id(ask) not in prompts:
                prompts[id(ask)] = Window(model, ask.max_tokens).prompt(partial(ask.prompt, info))
            prompt, problem = prompts[id(ask)]
            places = (*work.tree.places(step.parent), step.index)
            request = Request(
                id=f"{work.item_id}/{step.role}/{'/'.join(map(str, places))}",
                prompt=prompt,
                temperature=ask.temperature,
                seed=sample_seed(self._run.settings.seed, work.item.key, step.role, *places),
                max_tokens=ask.max_tokens,
            )
            work.asked.add(_place(step))
            found.append(_Asked(work, step, request, problem))
        return found

    def _generate(self, model: Model, asked: Sequence[_Asked]) -> None:
        run = self._run
        run.control.checkpoint()
        by_id: dict[str, _Asked] = {}
        waiting: list[_Asked] = []

        def admit(asked: Sequence[_Asked]) -> None:
            """Have requests wait; what has no prompt fails at once, to be stored, told and tried again later."""
            for each in asked:
                by_id[each.request.id] = each
                if each.problem:
                    self._take(each, each.request.failed(each.problem, reason="context"))
                else:
                    waiting.append(each)

        def stream(request_id: str, text: str) -> None:
            each = by_id[request_id]
            run.emit(TextStreamed(each.work.item_id, each.step.role, each.step.index, text, each.step.parent))

        def progress(request_id: str, done: int, total: int) -> None:
            run.emit(replace(self._pace.now(), detail=f"reading the prompt, {done} of {total} tokens"))

        def more(count: int) -> list[Request]:
            while len(waiting) < count and (found := self._further(model)):
                admit(found)
            taken, waiting[:] = waiting[:count], waiting[count:]
            return [each.request for each in taken]

        admit(asked)
        if isinstance(model, Fed):
            answers = model.draw(more, stream)
        else:
            answers = model.generate([each.request for each in waiting], stream, progress) if waiting else iter(())
        for generation in answers:
            self._take(by_id[generation.id], generation)

    def _take(self, asked: _Asked, generation: Generation) -> None:
        """Store a sample that came. Raises Cancelled once stopped."""
        asked.work.asked.discard(_place(asked.step))
        sample = self._drawn(asked, generation)
        sample_id = self._store(asked.work, asked.step, sample)
        if sample.error:
            self._give_up(asked.work, asked.step, sample_id, sample.error)
        else:
            side = self._run.parts.forward if sample.model == "forward" else self._run.parts.backward
            in_turns = side.info.prompt_style == "chat"  # answers there end by themselves
            for text in self._run.heard.take(sample, self._roles[asked.step.role].form, in_turns):
                self._run.emit(Notice(text))
        self._run.emit(self._pace.count(generation.completion_tokens))
        self._budget.take(generation, sample.model)
        self._take_verdicts()
        self._run.control.checkpoint()

    def _drawn(self, asked: _Asked, generation: Generation) -> Sample:
        item, prompt = asked.work.item, asked.request.prompt
        tag = self._run.settings.generation.thought_tag
        sample = self._sample(item, asked.step, generation, read(self._trip, item, asked.step, generation, prompt, tag))
        return replace(
            sample,
            model=asked.step.source.model if isinstance(asked.step.source, Ask) else "",
            seed=asked.request.seed,
            temperature=asked.request.temperature,
            extraction=replace(sample.extraction, text="") if generation.error else sample.extraction,
            truncated=prompt.truncated or generation.cut,
            shown=prompt.shown,
        )

    def _sample(self, item: Item, step: Step, generation: Generation, extraction: Extraction) -> Sample:
        return Sample(
            role=step.role,
            index=step.index,
            prompt_text=generation.rendered,
            seed=0,
            temperature=0.0,
            raw_text=generation.text,
            thought_tokens=thought_tokens(generation, self._run.settings.generation.thought_tag),
            extraction=extraction,
            recitation=self._trip.recitation(item, extraction.text) if self._is_text(step) else None,
            step=step.round,
            **plain(generation, *_SAMPLED),
        )

    def _is_text(self, step: Step) -> bool:
        return self._roles[step.role].form is Form.TEXT

    def _store(self, work: Work, step: Step, sample: Sample) -> int:
        run = self._run
        held = len(work.tree.samples)
        sample_id = run.store.add_sample(work.item_id, step.parent, sample, work.tree)
        row, again = work.tree[sample_id], len(work.tree.samples) == held
        run.emit(SampleReady(run.id, work.item_id, sample_id, step.parent, row, run.store.change, again))
        work.made.add(_place(step))
        work.idle = False
        if not sample.error:
            if self._is_text(step):
                self._compare(work, row)
            else:
                self._judge(work, row)
        return sample_id

    def _give_up(self, work: Work, step: Step, sample_id: int, error: str) -> None:
        """Record a sample that the engine could not make.

        That is ours, not the model's, so it never counts against it.
        """
        title = role_title(self._run.settings.task, step.role)
        self._run.problems.append(f"{article(title).capitalize()} of {work.item.key} could not be written: {error}")
        if not self._is_text(step):
            oracle = self._run.parts.opened.oracle
            self._keep(work, sample_id, Verdict(Outcome.INFRASTRUCTURE, 0.0, detail=error, oracle=oracle))

    def _judge(self, work: Work, row: SampleRow) -> None:
        work.judging += 1
        self._judging.append((work, row, self._pool.submit(self._trip.judge, work.item, row)))

    def _take_verdicts(self, wait: bool = False) -> None:
        """Store the verdicts that have come; with `wait`, at least one. Raises Cancelled once stopped."""
        judged: dict[Work, list[int]] = {}
        # In the order in which they were asked for, though a later one may have come: what is stored then does not
        # depend on which judge was faster. With `wait` the first is waited for; what else is there comes along.
        while self._judging and (wait or self._judging[0][2].done()):
            work, row, future = self._judging[0]
            verdict = result_of(future, self._run.control.checkpoint)
            self._judging.popleft()
            wait = False
            work.judging -= 1
            work.idle = False
            if verdict is not None:
                self._keep(work, row.id, verdict)
                if not verdict.outcome.judged:
                    self._run.problems.append(f"Sample {row.id} could not be judged: {verdict.detail}")
            judged.setdefault(work, []).append(row.id)
        for work, rows in judged.items():
            for row_id in rows:
                self._compare(work, work.tree[row_id])
            self._settle(work)

    def _keep(self, work: Work, sample_id: int, verdict: Verdict) -> None:
        run = self._run
        verdict_id = run.store.add_verdict(sample_id, verdict, work.tree)
        sample = work.tree[sample_id]
        assert sample.verdict is not None
        verdict_ready = VerdictReady(run.id, work.item_id, sample_id, verdict_id, sample.verdict)
        run.emit(replace(verdict_ready, change=run.store.change, counted=sample.counted))

    def _compare(self, work: Work, row: SampleRow) -> None:
        run = self._run
        found = self._trip.compare(work.item, row, work.tree)
        for sample_id, reference in dict.fromkeys((score.sample, score.reference) for score in found):
            scores = {s.metric: s.value for s in found if (s.sample, s.reference) == (sample_id, reference)}
            run.store.add_scores(sample_id, scores, reference, work.tree)
            run.emit(ScoresReady(run.id, work.item_id, sample_id, scores, reference, run.store.change))
