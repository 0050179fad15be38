"""From what a model wrote to the answer that a method reads: one way for files and servers.

A sample keeps what came byte for byte (`raw_text`, and `thoughts` where a server sends those apart). What is taken off
here is named among the steps of its extraction: `thoughts-apart`, `thoughts-dropped`, `thoughts-unended`,
`marks-dropped`, `end-dropped`. A method then reads code, a description or a name out of the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rtc_inspector.core.generation import Generation, Prompt, is_plain
from rtc_inspector.core.models.textstream import Ending, TextStream
from rtc_inspector.core.models.thoughts import begun_by, formats, parted, without_marks_around


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model answered, without its thoughts.

    Attributes:
        prompt: what it answers to, with the `prefill` that it really was begun with: none where a server was asked in
            turns, so that nothing is taken to be open that was not sent.
        steps: what was taken off.
    """

    text: str
    prompt: Prompt
    steps: tuple[str, ...] = ()


def answer_of(generation: Generation, prompt: Prompt, tag: str = "") -> Answer:
    """Return the answer in what a model wrote; `tag`: of thoughts, as the user named it."""
    steps = ["thoughts-apart"] if generation.thoughts else []
    known = formats(tag)
    # A prompt is recorded as it was sent: it ends in the beginning of the answer, or that was not sent.
    asked = prompt if generation.rendered.endswith(prompt.prefill) else replace(prompt, prefill="")
    thoughts, text, ended = parted(generation.text, known, begun_by(generation.rendered, known))
    if thoughts:
        steps.append("thoughts-dropped" if ended else "thoughts-unended")
    if (bare := without_marks_around(text)) != text:
        steps.append("marks-dropped")
    if (inside := _ended(bare, prompt)) != bare:
        steps.append("end-dropped")
    return Answer(inside, asked, tuple(steps))


def thought_tokens(generation: Generation, tag: str = "") -> int:
    """Return how many of the tokens written were thoughts: as the server says, else by their share of the text."""
    if generation.thought_tokens:
        return generation.thought_tokens
    known = formats(tag)
    inside, rest, _ = parted(generation.text, known, begun_by(generation.rendered, known))
    thoughts = len(generation.thoughts) + len(inside)
    return round(generation.completion_tokens * thoughts / (thoughts + len(rest))) if thoughts else 0


def _ended(text: str, prompt: Prompt) -> str:
    """An answer written into a file, cut where it leaves its block, since servers know stop texts only."""
    if not is_plain(prompt.messages):
        return text
    answer = TextStream(Ending(prompt.stop, prompt.block, prompt.most_characters))
    answer.push(text.encode())
    answer.finish()
    return answer.text
