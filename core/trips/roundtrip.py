"""The tree that all round trips share: descriptions of an item, code from each of them, and code from none.

    item -> description (forward, Nf of them) -> reconstruction (backward, Nb of each)
    item -> reconstruction from the uninformative utterance (baseline, Nb)

A person's words about the item stand beside the model's descriptions, are reconstructed from too, and never count
(RTC paper, Sec. 3).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from rtc_inspector.core.generation import Extraction, Fits, ModelInfo, Prompt, Role
from rtc_inspector.core.languages import PYTHON, language_for
from rtc_inspector.core.metrics.similarity import code_scores, recitation
from rtc_inspector.core.models.extraction import extract_code, extract_description
from rtc_inspector.core.models.prompts import UNINFORMATIVE, backward_prompt, forward_prompt
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.store.rows import SampleRow
from rtc_inspector.core.trips.protocol import Ask, FixedText, PairScore, Step, Tree, Trip, passing
from rtc_inspector.core.types import Form, Item, Verdict

if TYPE_CHECKING:  # what judges by tests loads a parser, which exact match needs not
    from rtc_inspector.core.trips.judged import Judged


class RoundTrip(Trip, ABC):
    """A trip of round trips: how it asks, reads, judges and compares."""

    uninformative: str = ""  # the baseline's utterance, eps; without one no baseline is made

    def __init__(self, settings: RunSettings) -> None:
        self.settings = settings

    def expected(self, item: Item) -> int:
        return super().expected(item) + len(self.references(item)) * self.settings.backward_samples

    def steps(self, item: Item, tree: Tree) -> Sequence[Step]:
        """Return steps for descriptions, words by people, then code from each and from the uninformative utterance."""
        settings, prompt = self.settings, partial(self.forward_prompt, item)
        forward = Ask(prompt, settings.forward_temperature, settings.forward_max_tokens, "forward")
        steps = [Step(Role.FORWARD, index, forward) for index in tree.missing(Role.FORWARD, settings.forward_samples)]
        stored = tree.taken(Role.FORWARD)
        for index, reference in enumerate(self.references(item), start=settings.forward_samples):
            if index not in stored:
                steps.append(Step(Role.FORWARD, index, reference))
        for described in tree.whole(Role.FORWARD):
            steps += self._code(Role.BACKWARD, item, tree, described.text, described.id)
        if self.uninformative:
            steps += self._code(Role.BASELINE, item, tree, self.uninformative, None)
        return steps

    def description(self, item: Item, tree: Tree, text: str, author: str) -> Step:
        """Return the step of a person's words, after every description there is and those the run may still make."""
        # Not the next free index: at that one a run that is resumed may still have a description to make.
        own = self.settings.forward_samples + len(self.references(item))
        place = max([own, *(index + 1 for index in tree.taken(Role.FORWARD))])
        return Step(Role.FORWARD, place, FixedText(text, author))

    def _code(self, role: str, item: Item, tree: Tree, words: str, parent: int | None) -> Iterator[Step]:
        settings, prompt = self.settings, partial(self.backward_prompt, item, words)
        ask = Ask(prompt, settings.backward_temperature, settings.backward_max_tokens, "backward")
        for index in tree.missing(role, settings.backward_samples, parent):
            yield Step(role, index, ask, parent)

    def measures(self, item: Item, tree: Tree) -> Mapping[str, float]:
        return round_trip_measures(tree, {reference.author for reference in self.references(item)})

    def compare(self, item: Item, sample: SampleRow, tree: Tree) -> Sequence[PairScore]:
        if sample.form == Form.CODE:
            scores = self.code_scores(item, sample.text)
        else:
            scores = self.description_scores(item, sample.text) if sample.author == "model" else {}
        return [PairScore(sample.id, metric, value) for metric, value in scores.items()]

    def read(self, item: Item, step: Step, raw: str, prompt: Prompt) -> Extraction:
        return extract_description(raw) if step.role == Role.FORWARD else self.read_code(item, raw, prompt)

    def references(self, item: Item) -> Sequence[FixedText]:
        """Return words by people that came with the item; none unless a method has some."""
        return ()

    def description_scores(self, item: Item, description: str) -> Mapping[str, float]:
        """Return how a description compares with what a person wrote; empty unless a method has references."""
        return {}

    @abstractmethod
    def forward_prompt(self, item: Item, model: ModelInfo, fits: Fits) -> Prompt:
        """Ask for a description. Raises ModelError when the item alone does not fit."""

    @abstractmethod
    def backward_prompt(self, item: Item, description: str, model: ModelInfo, fits: Fits) -> Prompt:
        """Ask for code from a description. Raises ModelError when the place alone does not fit."""

    def recitation(self, item: Item, text: str) -> float | None:
        """Return the share of the item quoted in its description (the limit named in Sec. 2)."""
        return recitation(text, item.text)

    @abstractmethod
    def read_code(self, item: Item, raw: str, prompt: Prompt) -> Extraction:
        """Take the code from a raw answer to `prompt`."""

    def code_scores(self, item: Item, text: str) -> Mapping[str, float]:
        scores = code_scores(text, item.text)
        if language_for(item.path) is not PYTHON:
            del scores["same_ast"]
        return scores


class InFile(RoundTrip):
    """A round trip on a stretch of a file that tests judge: both passes see the file around it."""

    uninformative = UNINFORMATIVE

    def __init__(self, judged: Judged, settings: RunSettings) -> None:
        super().__init__(settings)
        self.judged = judged

    def shown(self, item: Item) -> str:
        return self.judged.files[item.path].text

    def forward_prompt(self, item: Item, model: ModelInfo, fits: Fits) -> Prompt:
        style, layout = model.prompt_style, model.prompt_layout
        own, language = self.settings.prompts, language_for(item.path)
        return forward_prompt(self.shown(item), item.span, fits, style, layout, own, language)

    def backward_prompt(self, item: Item, description: str, model: ModelInfo, fits: Fits) -> Prompt:
        """Show the file with a TODO comment that carries the description, or a gap, in the place of the stretch."""
        style, layout = model.backward_style, model.prompt_layout
        own, language = self.settings.prompts, language_for(item.path)
        return backward_prompt(self.shown(item), item.span, description, fits, style, layout, own, language)

    def read_code(self, item: Item, raw: str, prompt: Prompt) -> Extraction:
        return extract_code(raw, item, self.shown(item), prompt.prefill)

    def judge(self, item: Item, sample: SampleRow) -> Verdict:
        return self.judged.judge(item, sample.text)


def round_trip_measures(tree: Tree, authors: Collection[str] = ()) -> Mapping[str, float]:
    """Return RTC, the share of judged reconstructions that pass, and lift, RTC less the same share of the baseline.

    `authors` of words that came with the item: how often code from those passes (`from_reference`), and how close the
    model's descriptions come to them (`description_bleu`); RTC paper, Sec. 2 and Table 3. `cut`, `shown` and `limited`
    say under what conditions: what the prompts showed of the file, and which descriptions were cut off.
    """
    backward = passing(row for row in tree.whole(Role.BACKWARD) if row.counted)
    baseline = passing(row for row in tree.whole(Role.BASELINE) if row.counted)
    words = {row.id for row in tree.whole(Role.FORWARD) if row.author in authors}
    references = passing(row for row in tree.whole(Role.BACKWARD) if row.parent_id in words)
    described = [row.scores for row in tree.whole(Role.FORWARD) if row.counted]
    bleu = [scores["description_bleu"] for scores in described if "description_bleu" in scores]
    found: dict[str, float] = {"judged": len(backward), "passes": sum(backward)}
    means: dict[str, Sequence[float]] = {"rtc": backward, "baseline": baseline, "from_reference": references}
    means["description_bleu"] = bleu
    # A person's words, and what a sample of the run was given instead of asked, had no prompt.
    prompts = [row for row in tree.samples if row.counted and row.author == "model" and not row.error]
    means["cut"] = [row.truncated for row in prompts]
    means["shown"] = [row.shown for row in prompts if row.shown is not None]
    means["limited"] = [row.finish_reason == "length" for row in prompts if row.role == Role.FORWARD]
    found |= {name: sum(values) / len(values) for name, values in means.items() if values}
    if backward and baseline:
        found["lift"] = found["rtc"] - found["baseline"]
    return found
