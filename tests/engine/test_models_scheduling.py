"""The engine's scheduling over a cache that checks every move: same texts in any company, and nothing read twice."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from rtc_inspector.core.models.engine import Counters, Engine, Job, Row, Shape, find_shape, twinned


def quiet(event: str, id_: str, **values: object) -> None: ...


class Cells:
    """Implements `Native`: what a stream says next depends on its own tokens, and a row out of place is an error."""

    can_rewind = True

    def open_context(self, tokens: int, streams: int) -> None:
        self.size = tokens
        self.streams: list[list[int]] = [[] for _ in range(streams)]
        self.seeds: list[int] = []

    def decode(self, rows: Sequence[Row]) -> None:
        self.rows = []
        for row in rows:
            held = self.streams[row.stream]
            assert row.position == len(held) < self.size
            held.append(row.token)
            self.rows.append(tuple(held) if row.wanted else None)

    def forget(self, stream: int, start: int) -> None:
        del self.streams[stream][start:]

    def copy(self, source: int, target: int) -> None:
        self.streams[target] = list(self.streams[source])

    def logits(self, row: int) -> bytes:
        raise AssertionError("only the probe compares logits")

    def open_sampler(self, temperature: float, seed: int) -> int:
        self.seeds.append(seed)
        return len(self.seeds) - 1

    def sample(self, sampler: int, row: int) -> int:
        """As llama.cpp counts: -1 is the last row whose logits were wanted."""
        wanted = self.rows[row] if row >= 0 else [r for r in self.rows if r][row]
        assert wanted
        return hash((self.seeds[sampler], wanted)) % 997

    def close_sampler(self, sampler: int) -> None: ...

    def piece(self, token: int) -> bytes:
        return b"%d " % token

    def ends(self, token: int) -> bool:
        return token % 31 == 0


class Recurrent(Cells):
    can_rewind = False

    def logits(self, row: int) -> bytes:
        return b""


def test_a_model_that_takes_nothing_back_is_evaluated_once_all_the_same() -> None:
    """While it is loaded: a build that crashes at its first evaluation is found out then."""
    model = Recurrent()
    assert find_shape(model, 1000) is None and len(model.streams[0]) > 1


def run(engine: Engine, jobs: Sequence[Job]) -> dict[str, str]:
    return {end.id: end.text for end in engine.run(jobs, quiet)}


def open_engine(streams: int, shape: Shape | None) -> Engine:
    return Engine(Cells(), 1200, streams, shape, Counters())


def jobs(seed: int, count: int) -> list[Job]:
    choose = random.Random(seed)
    parts = [[choose.randrange(1000) for _ in range(choose.randrange(20, 120))] for _ in range(4)]
    return [
        Job(
            id=str(n),
            tokens=tuple(t for part in choose.sample(parts, choose.randrange(1, 4)) for t in part)[
                : choose.randrange(30, 300)
            ],
            temperature=choose.choice([0.0, 0.8]),
            seed=choose.randrange(5),
            max_tokens=choose.randrange(1, 40),
        )
        for n in range(count)
    ]


@pytest.mark.parametrize("shape", [Shape(4, 1), Shape(8, 4), None])
def test_texts_do_not_depend_on_company_order_or_cache(shape: Shape | None) -> None:
    asked = jobs(1, 40)
    engine = open_engine(5, shape)
    together = run(engine, asked)
    random.Random(2).shuffle(asked)
    assert run(engine, asked[:25]) | run(engine, asked[25:]) == together
    assert {k: v for job in asked for k, v in run(open_engine(1, shape), [job]).items()} == together


def test_a_wave_does_not_drive_out_what_the_other_pass_has_read() -> None:
    """Eight samples at a time on nine streams: the last one keeps the other pass's file."""
    engine = open_engine(9, Shape(4, 1))
    passes = [tuple(range(at, at + 560)) for at in (1000, 2000)]

    def wave(prompt: tuple[int, ...], number: int) -> int:
        before = engine.counters.evaluated
        run(engine, [Job(f"{n}", (*prompt, number, n), 0.8, n, 5) for n in range(8)])
        return engine.counters.evaluated - before

    for number in range(4):
        read = [wave(prompt, number) for prompt in passes]
        assert all(tokens < (600 if number == 0 else 40) for tokens in read)


def test_on_few_streams_samples_wait_rather_than_drive_out_a_file() -> None:
    engine = open_engine(3, Shape(4, 1))
    passes = [tuple(range(at, at + 1000)) for at in (1000, 2000)]
    for prompt in (*passes, *passes):
        run(engine, [Job(f"{n}", (*prompt, n), 0.8, n, 5) for n in range(6)])
    assert engine.counters.evaluated < 2 * 1000 + 200


def test_greedy_twins_are_found() -> None:
    one = Job("a", (1, 2), 0.0, 1, 5)
    same, warmer = Job("b", (1, 2), 0.0, 9, 5), Job("c", (1, 2), 0.1, 1, 5)
    longer, other = Job("d", (1, 2), 0.0, 1, 6), Job("e", (1, 3), 0.0, 1, 5)
    kept, ids = twinned([one, same, warmer, longer, other])
    assert kept == [one, warmer, longer, other]
    assert ids == {"a": ["a", "b"], "c": ["c"], "d": ["d"], "e": ["e"]}
