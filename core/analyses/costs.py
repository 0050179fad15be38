"""What runs cost: the tokens that each model read, thought and wrote, how fast, and money where its price was given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rtc_inspector.core.figures import Column, Head, Link, Row, Table
from rtc_inspector.core.settings import EndpointSettings
from rtc_inspector.core.store.rows import RunRow, Spent

if TYPE_CHECKING:  # the run dialog takes prices from here, before anything is read
    from rtc_inspector.core.store.reader import Reader


def spent(reader: Reader, run: RunRow) -> list[Spent]:
    """Return what each model of a run has taken so far; one row where one model made both passes."""
    settings = reader.settings(run.id)
    found = {row.model: row for row in reader.spent(run.id)}
    if settings.one_model and found:
        return [_sum(run.model_name, list(found.values()), settings.endpoint)]
    backward = settings.endpoint if settings.one_model else settings.backward_endpoint
    sides = ("forward", run.model_name, settings.endpoint), ("backward", run.backward_model_name, backward)
    return [_sum(name, [found[side]], endpoint) for side, name, endpoint in sides if side in found]


def table(reader: Reader, runs: Sequence[RunRow]) -> Iterator[Table]:
    """Yield a table of what runs cost, a row for each of their models, or nothing where no model was asked."""
    rows = [(run, each) for run in runs for each in spent(reader, run)]
    if not rows:
        return
    priced = any(each.money is not None for _, each in rows)
    several = [Column("Run", "count")] if len(runs) > 1 else []
    total = sum(each.money or 0.0 for _, each in rows)
    lines = []
    for run, each in rows:
        speed = "-" if each.speed is None else f"{each.speed:.1f}"
        tokens = (each.prompt_tokens, each.thought_tokens, each.answer_tokens)
        money = ["-" if each.money is None else money_words(each.money)] if priced else []
        cells: tuple[str | float, ...] = (
            *([run.id] if several else []),
            each.model,
            *tokens,
            f"{each.seconds:,.0f}",
            speed,
            *money,
        )
        lines.append(Row(cells, links=(Link(run.id),)))
    yield Table(
        Head("costs" if len(runs) == 1 else "costs-of-all", "What it cost", "Costs"),
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
        rows=tuple(lines),
    )


def words(found: Sequence[Spent]) -> str:
    """Return the whole in a line, e.g. `120,000 tokens, 3.40`; empty where no model was asked."""
    tokens = sum(each.prompt_tokens + each.thought_tokens + each.answer_tokens for each in found)
    money = [each.money for each in found if each.money is not None]
    return ", ".join([f"{tokens:,} tokens", *([money_words(sum(money))] if money else [])]) if tokens else ""


def money_words(money: float) -> str:
    """Write a sum in the currency of the prices, whatever that is: two digits behind the point, more of a small one."""
    return f"{money:,.2f}" if money >= 1 else f"{money:.4f}"


def price(endpoint: EndpointSettings | None, read: int, written: int) -> float | None:
    """Return the price of so many tokens at a server, or None where none was given."""
    if endpoint is None or not (endpoint.price_read or endpoint.price_written):
        return None
    return (read * endpoint.price_read + written * endpoint.price_written) / 1e6


def _sum(name: str, rows: Sequence[Spent], endpoint: EndpointSettings | None) -> Spent:
    read, written = sum(row.prompt_tokens for row in rows), sum(row.completion_tokens for row in rows)
    thought = min(written, sum(row.thought_tokens for row in rows))
    samples, seconds = sum(row.samples for row in rows), sum(row.seconds for row in rows)
    return Spent(name, samples, read, written, thought, seconds, price(endpoint, read, written))
