"""A method that nobody has heard of: one trip and one entry in the registry.

It asks for so many wordings of a line of text, each made from the one before, and for a last one as code, in a role of
its own, which it judges; and compares each with the one before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from chat_server import Answer, completion

from rtc_inspector.core.generation import Extraction, Fits, Message, ModelInfo, Prompt, Role
from rtc_inspector.core.kinds import Kind, Measure, RoleName, Source
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.store.rows import SampleRow
from rtc_inspector.core.trips.protocol import Ask, Opened, PairScore, Step, Tree, Trip, passing
from rtc_inspector.core.types import Form, Item, Notify, Outcome, Report, Span, TestResult, Verdict

ECHO = "echo"
LINES = "add the prices\nsort the names\nclose the file\n"


class TwiceTrip(Trip):
    """Describe, describe the description, and see how many words they share."""

    def __init__(self, lines: Sequence[str], settings: RunSettings) -> None:
        self._lines, self._wordings = lines, settings.forward_samples

    def items(self, wanted: int, seed: int, known: Mapping[str, Item], report: Report) -> Iterator[Item]:
        for number, line in enumerate(self._lines[:wanted], start=1):
            key = f"line {number}"
            yield known.get(key) or Item(key, "line", "", Span(0, 0), number, number, line, form="text")

    def shortfall(self, admitted: int, wanted: int) -> Sequence[str]:
        return ()

    def expected(self, item: Item) -> int:
        return self._wordings + 1

    def steps(self, item: Item, tree: Tree) -> Sequence[Step]:
        last = tree.samples[-1] if tree.samples else None
        rounds = len(tree.whole(Role.FORWARD))
        if tree.whole(ECHO):
            return ()

        def prompt(model: ModelInfo, fits: Fits) -> Prompt:
            return Prompt((Message("user", f"Say it otherwise: {last.text if last else item.text}"),))

        role, model = (Role.FORWARD, "forward") if rounds < self._wordings else (ECHO, "backward")
        return [Step(role, 0, Ask(prompt, 0.5, 20, model), last.id if last else None, round=rounds)]

    def read(self, item: Item, step: Step, raw: str, prompt: Prompt) -> Extraction:
        return Extraction(raw.strip())

    def judge(self, item: Item, sample: SampleRow) -> Verdict | None:
        said = Outcome.PASS if "please" in sample.text else Outcome.FAIL
        return Verdict(said, 0.1, (TestResult("polite", "passed" if said is Outcome.PASS else "failed"),), oracle="ear")

    def compare(self, item: Item, sample: SampleRow, tree: Tree) -> Sequence[PairScore]:
        before = tree.parent(sample)
        if before is None:
            return ()
        one, other = set(before.text.split()), set(sample.text.split())
        return [PairScore(sample.id, "shared_words", len(one & other) / len(one | other), before.id)]

    def measures(self, item: Item, tree: Tree) -> Mapping[str, float]:
        values = [value for sample in tree.samples for _, _, value in sample.pairs]
        found = {"agreement": sum(values) / len(values)} if values else {}
        judged = passing(tree.whole(ECHO))
        return found | ({"polite": float(judged[0])} if judged else {})


def open_twice(stack: ExitStack, project: Path, settings: RunSettings, notify: Notify, report: Report) -> Opened:
    lines = (project / "lines.txt").read_text().splitlines()
    return Opened(lambda settings: TwiceTrip(lines, settings), settings, project, "f", "ear")


TWICE = Kind(
    name="twice",
    title="Twice",
    tip="Say it twice",
    noun="line",
    source=Source("lines"),
    judged="an ear judged the result",
    roles={Role.FORWARD: RoleName("wording", "w", Form.TEXT, by_round=True), ECHO: RoleName("echo", "e")},
    measures=(
        Measure("agreement", "agreement", "Share of words that wordings share with the one before"),
        Measure("polite", "polite", "Share of echoes that say please"),
    ),
    headline="agreement",
    samples=lambda settings: {Role.FORWARD: settings.forward_samples, ECHO: 1},
    settings=("forward_samples",),
    opens="toy_method:open_twice",
    analyses=(),
    forward_temperature=0.5,
    backward_temperature=0.5,
    backward_max_tokens=20,
)


def answer(number: int, body: dict[str, Any]) -> Answer:
    """Repeats what it is asked, with a word more the first time."""
    words = str(body["messages"][-1]["content"]).removeprefix("Say it otherwise: ")
    return 200, completion(words if "please" in words else f"{words} please", model="m"), {}
