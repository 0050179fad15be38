"""What a run will cost, in words that claim no more than was measured."""

from __future__ import annotations

from core.generation import Role
from core.kinds import Kind, counted
from core.run.estimate import Estimate
from ui.shell.status_line import duration

UNMEASURED = (
    "How long that takes was not measured yet with these models: the first run tells, or a trial of one {noun}."
)


def cost_words(cost: Estimate, kind: Kind, measured: bool = True) -> str:
    """Samples; below them tokens and minutes, and what they rest on. `measured`: whether stored runs were looked at."""
    noun = kind.noun
    *first, last = (counted(number, kind.roles[role].title) for role, number in cost.made.items())
    judged = counted(sum(number for role, number in cost.made.items() if role is not Role.FORWARD), "candidate")
    counts = f"{', '.join(first)} and {last}; {judged} to judge." if first else f"{last}; {judged} to judge."
    if not measured:
        return counts
    if cost.seconds is None or cost.low is None or cost.high is None or cost.tokens is None:
        return f"{counts}\n{UNMEASURED.format(noun=noun)}"
    return (
        f"{counts}\nAbout {duration(cost.seconds)}{_between(cost.low, cost.high)} and {_count(cost.tokens)} tokens, "
        f"going by {_basis(cost, noun)}. Loading the models comes on top, and at first the project's own tests."
    )


def _basis(cost: Estimate, noun: str) -> str:
    """What was measured, and how far to trust it."""
    samples = counted(cost.measured, "sample")
    if cost.trial:
        return f"a trial of one {noun} ({samples}): take it as rough, for {noun}s differ"
    runs = "the last run" if cost.runs == 1 else f"the last {cost.runs} runs"
    rough = "" if cost.like else ", which sampled otherwise: take it as rough"
    return f"{runs} with these models ({samples}){rough}"


def _between(low: float, high: float) -> str:
    """The range, where it is one when said in words."""
    ends = duration(low), duration(high)
    return "" if ends[0] == ends[1] else f" ({ends[0]} to {ends[1]})"


def _count(number: int) -> str:
    """Two digits that count: more would claim too much."""
    if number >= 950_000:
        return f"{number / 1e6:.1f} million"
    return f"{round(number, -3):,}" if number >= 10_000 else f"{round(number, -2):,}"
