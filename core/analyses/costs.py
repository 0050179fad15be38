"""What runs cost: the tokens that each model read, thought and wrote, how fast, and money where its price was given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtc_inspector.core.figures import Column, Link, Row, Table
from rtc_inspector.core.settings import EndpointSettings, RunSettings
from rtc_inspector.core.store.rows import RunRow, SpentRow

if TYPE_CHECKING:  # the run dialog takes prices from here, before anything is read
    from rtc_inspector.core.store.reader import Reader


@dataclass(frozen=True, slots=True)
class Spent:
    """What one model of a run has taken.

    Attributes:
        answer_tokens: of what it wrote, without its thoughts.
        seconds: that its answers took, each for itself: many may have been written at a time.
        money: in the currency of its price; None where none was given.
    """

    model: str
    samples: int
    prompt_tokens: int
    thought_tokens: int
    answer_tokens: int
    seconds: float
    money: float | None = None

    @property
    def speed(self) -> float | None:
        """Tokens written a second by one answer; None where nobody counted."""
        written = self.thought_tokens + self.answer_tokens
        return written / self.seconds if written and self.seconds else None


def spent(reader: Reader, run: RunRow) -> list[Spent]:
    """Return what each model of a run has taken so far; one row where one model made both passes."""
    settings = reader.settings(run.id)
    found = {row.model: row for row in reader.spent(run.id)}
    if settings.one_model and found:
        return [_of(run.model_name, list(found.values()), settings.endpoint)]
    sides = (
        ("forward", run.model_name, settings.endpoint),
        ("backward", run.backward_model_name, _backward(settings)),
    )
    return [_of(name, [found[side]], endpoint) for side, name, endpoint in sides if side in found]


def table(reader: Reader, runs: Sequence[RunRow]) -> Iterator[Table]:
    """Yield a table of what runs cost, a row for each of their models, or nothing where no model was asked."""
    rows = [(run, each) for run in runs for each in spent(reader, run)]
    if not rows:
        return
    priced = any(each.money is not None for _, each in rows)
    several = [Column("Run", "count")] if len(runs) > 1 else []
    total = sum(each.money or 0.0 for _, each in rows)
    yield Table(
        name="costs" if len(runs) == 1 else "costs-of-all",
        title="What it cost",
        short="Costs",
        note=f"{money_words(total)} altogether, by the prices that were given." if priced else "",
        columns=(
            *several,
            Column("Model"),
            Column("Read", "count", tip="Tokens of prompts"),
            Column("Thought", "count", tip="Tokens of thoughts; a share by length where a server does not count them"),
            Column("Answered", "count", tip="Tokens written beside the thoughts"),
            Column("Seconds", tip="Of all answers, each for itself: many may have been written at a time"),
            Column("Tokens a second", tip="Written by one answer, the reading of its prompt included"),
            *([Column("Money")] if priced else []),
        ),
        rows=tuple(_row(run, each, several=len(runs) > 1, priced=priced) for run, each in rows),
    )


def words(found: Sequence[Spent]) -> str:
    """The whole in a line, e.g. `120,000 tokens, 3.40`; empty where no model was asked."""
    tokens = sum(each.prompt_tokens + each.thought_tokens + each.answer_tokens for each in found)
    money = [each.money for each in found if each.money is not None]
    return ", ".join([f"{tokens:,} tokens", *([money_words(sum(money))] if money else [])]) if tokens else ""


def money_words(money: float) -> str:
    """A sum in the currency of the prices, whatever that is: two digits behind the point, more of a small one."""
    return f"{money:,.2f}" if money >= 1 else f"{money:.4f}"


def price(endpoint: EndpointSettings | None, read: int, written: int) -> float | None:
    """Return the price of so many tokens at a server, or None where none was given."""
    if endpoint is None or not (endpoint.price_read or endpoint.price_written):
        return None
    return (read * endpoint.price_read + written * endpoint.price_written) / 1e6


def _row(run: RunRow, each: Spent, several: bool, priced: bool) -> Row:
    speed = "-" if each.speed is None else f"{each.speed:.1f}"
    cells: tuple[str | float | None, ...] = (
        *([run.id] if several else []),
        each.model,
        each.prompt_tokens,
        each.thought_tokens,
        each.answer_tokens,
        f"{each.seconds:,.0f}",
        speed,
        *(["-" if each.money is None else money_words(each.money)] if priced else []),
    )
    return Row(cells, links=(Link(run.id),))


def _of(name: str, rows: Sequence[SpentRow], endpoint: EndpointSettings | None) -> Spent:
    read, written = sum(row.prompt_tokens for row in rows), sum(row.completion_tokens for row in rows)
    thought = min(written, sum(row.thought_tokens for row in rows))
    return Spent(
        model=name,
        samples=sum(row.samples for row in rows),
        prompt_tokens=read,
        thought_tokens=thought,
        answer_tokens=written - thought,
        seconds=sum(row.seconds for row in rows),
        money=price(endpoint, read, written),
    )


def _backward(settings: RunSettings) -> EndpointSettings | None:
    return settings.endpoint if settings.one_model else settings.backward_endpoint
