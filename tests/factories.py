"""Fills a store with a made-up but plausible run, through the public interface only."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from rtc_inspector.core.generation import Extraction, ModelInfo, Role, Sample
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import FileRow, SampleRow
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.trips.roundtrip import RoundTrip
from rtc_inspector.core.types import CoverageMap, Form, Item, Outcome, Span, Suite, TestCase, TestResult, Verdict

_FUNCTIONS = (
    (
        "def clamp_{n}(value, low={n}, high=100):",
        "    if value < low:\n        return low\n    if value > high:\n        return high",
        "    return value\n",
        "If the value lies outside the bounds, return the bound it passed.",
    ),
    (
        "def total_{n}(prices, rate=0.{n}):",
        "    subtotal = sum(prices)\n    discount = subtotal * rate\n    subtotal -= discount",
        "    return round(subtotal, 2)\n",
        "Add up the prices and take the discount off.",
    ),
    (
        "def words_{n}(text):",
        "    counts = {{}}\n    for word in text.split():\n        counts[word] = counts.get(word, 0) + {n}",
        "    return counts\n",
        "Count how often each word occurs.",
    ),
    (
        "def window_{n}(values, size={n}):",
        "    result = []\n    for start in range(len(values) - size + 1):\n"
        "        result.append(values[start:start + size])",
        "    return result\n",
        "Collect every run of neighbouring values, `size` at a time.",
    ),
)
_PER_FILE = 40
_FAILURES = (Outcome.FAIL, Outcome.FAIL, Outcome.FAIL, Outcome.SYNTAX_ERROR, Outcome.TIMEOUT, Outcome.CRASH)


@dataclass(frozen=True)
class _Region:
    item: Item
    description: str


def model_info(name: str = "TinyCoder-1B-Q4_K_M") -> ModelInfo:
    """A model as a run records it."""
    return ModelInfo(
        name=name,
        path=f"/models/{name}.gguf",
        sha256="ab" * 32,
        template_sha256="cd" * 32,
        architecture="llama",
        quantization="Q4_K_M",
        parameters=1_100_000_000,
        context_size=8192,
        threads=1,
        prompt_style="chat",
        build="llama.cpp test build",
    )


def suite(tests: int = 3) -> Suite:
    """A project's tests, all trusted but one."""
    cases = tuple(TestCase(f"tests/test_module.py::test_{n}", 0.01) for n in range(tests))
    coverage = CoverageMap(tuple(case.node_id for case in cases), {}, {})
    excluded = {"tests/test_module.py::test_clock": "flaky: failed in 1 of 3 runs of the unmodified code"}
    return Suite(cases, excluded, coverage, seconds=0.4, python="3.11.7")


def fill_store(
    store: Store,
    root: Path,
    items: int,
    seed: int,
    *,
    settings: RunSettings | None = None,
    model: str = "TinyCoder-1B-Q4_K_M",
    finish: bool = True,
) -> int:
    """Store a whole run over `items` regions and write its source files under `root`; return the run's id.

    About one region in ten is dropped, one sample in fifty could not be judged, and RTC is around 0.4.
    """
    choose = random.Random(seed)
    settings = settings or RunSettings(model=f"/models/{model}.gguf", regions=items, seed=seed)
    info = model_info(model)
    project_id = store.add_project(root, root.name or "made-up", "0123456789abcdef", dirty=False)
    run_id = store.start_run(
        project_id,
        settings,
        info,
        info,
        sandbox="tests/bubblewrap",
        image_digest="",
        app_version="0.1.0",
        fingerprint="ef" * 32,
        suite=suite(),
    )
    for region in _regions(root, items, choose):
        item_id = store.add_item(run_id, region.item)
        if region.item.admitted:
            _fill_item(store, item_id, region, settings, choose)
            settle_item(store, item_id, settings)
    if finish:
        store.finish_run(run_id, "finished", [])
    return run_id


def code_row(text: str) -> SampleRow:
    """A piece of code as the store gives it, not judged yet."""
    made = Sample(Role.BACKWARD, 0, "", 0, 0.0, text, Extraction(text), 1, 1, 0.1, "stop")
    return SampleRow(**vars_of(made), id=1, item_id=1, parent_id=None, prompt_hash="")


def vars_of(made: Sample) -> dict[str, Any]:
    return {field.name: getattr(made, field.name) for field in fields(made)}


class PlainTrip(RoundTrip):
    """A round trip that knows its tree and no source: enough to say what is missing and what the items come to."""

    uninformative = "eps"

    def _nothing(self, *_: object) -> Any:
        raise NotImplementedError

    forward_prompt = backward_prompt = read_description = read_code = code_scores = _nothing


def settle_item(store: Store, item_id: int, settings: RunSettings) -> None:
    """Keep an item's measures and whether it is done, as the engine does."""
    item, trip, tree = store.reader.item(item_id), PlainTrip(settings), store.reader.tree(item_id)
    judged = all(row.verdict is None or row.verdict.outcome.judged for row in tree.samples)
    code = all(row.verdict is not None for row in tree.samples if row.form == Form.CODE and not row.error)
    done = item.admitted and judged and code and not trip.steps(item, tree)
    store.set_measures(item_id, trip.measures(item, tree), done)


def files_of(reader: Reader, run_id: int) -> list[FileRow]:
    """The files of a run as the views of its database have them."""
    rows = reader._rows("SELECT path, items, done FROM file_scores WHERE run_id = ? ORDER BY path", run_id)
    values = reader._values("SELECT path, name, value FROM file_measures WHERE run_id = ?", run_id)
    return [FileRow(**row, measures=values.get(row["path"], {})) for row in rows]


def settle(store: Store, run_id: int) -> None:
    """The same for every item of a run."""
    for row in store.reader.items(run_id):
        if row.admitted:
            settle_item(store, row.id, store.reader.settings(run_id))


def _regions(root: Path, items: int, choose: random.Random) -> Iterator[_Region]:
    for first in range(0, items, _PER_FILE):
        path = f"shop/module_{first // _PER_FILE:03}.py"
        text, regions = _module(path, range(first, min(first + _PER_FILE, items)), choose)
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        yield from regions


def _module(path: str, numbers: range, choose: random.Random) -> tuple[str, list[_Region]]:
    """A file of one function a number, and the region inside each."""
    text, regions = '"""Made for the tests."""\n', []
    for n in numbers:
        header, body, end, description = _FUNCTIONS[n % len(_FUNCTIONS)]
        body = body.format(n=n + 1)
        text += f"\n\n{header.format(n=n + 1)}\n    "
        start = len(text)
        text += body.lstrip() + "\n"
        admitted = choose.random() > 0.1
        regions.append(
            _Region(_item(path, start, text, admitted, tuple(case.node_id for case in suite().tests)), description)
        )
        text += end
    return text, regions


def _item(path: str, start: int, text: str, admitted: bool, tests: tuple[str, ...]) -> Item:
    end = len(text) - 1
    return Item(
        key=f"{path}:{start}-{end}",
        kind="region",
        path=path,
        span=Span(start, end),
        start_line=text.count("\n", 0, start) + 1,
        end_line=text.count("\n", 0, end) + 1,
        text=text[start:end],
        tests=tests,
        admitted=admitted,
        reason="" if admitted else "no test notices that it is gone",
    )


def _fill_item(store: Store, item_id: int, region: _Region, settings: RunSettings, choose: random.Random) -> None:
    skill = choose.random()
    for index in range(settings.forward_samples):
        forward = _forward(region, index, choose)
        forward_id = store.add_sample(item_id, None, forward)
        for backward in range(settings.backward_samples):
            _fill_code(store, item_id, forward_id, region, (Role.BACKWARD, backward, skill * 0.8), choose)
    for index in range(settings.backward_samples):
        _fill_code(store, item_id, None, region, (Role.BASELINE, index, skill * 0.3), choose)


def _fill_code(
    store: Store,
    item_id: int,
    parent_id: int | None,
    region: _Region,
    place: tuple[Role, int, float],
    choose: random.Random,
) -> None:
    role, index, skill = place
    passed = choose.random() < skill
    code = region.item.text if passed else region.item.text.replace("value", "thing", 1) + "  # guessed"
    prompt = f"Complete the code of {region.item.path}.\n\n# TODO: {region.description}\n"
    sample_id = store.add_sample(item_id, parent_id, _sample(role, index, prompt, code, choose, None))
    store.add_verdict(sample_id, _verdict(region.item, passed, choose))
    likeness = 1.0 if passed else round(choose.uniform(0.1, 0.95), 4)
    exact = float(code == region.item.text)
    scores = {
        "exact_match": exact,
        "exact_match_strict": exact,
        "edit_sim": likeness,
        "bleu": likeness**2,
        "chrf": likeness,
        "same_ast": exact,
    }
    store.add_scores(sample_id, scores)


def _forward(region: _Region, index: int, choose: random.Random) -> Sample:
    recited = 0.7 if choose.random() < 0.1 else 0.0
    quote = f" The code is `{region.item.text}`." if recited else ""
    prompt = f"Describe the marked code of {region.item.path}.\n\n{region.item.text}\n"
    return _sample(Role.FORWARD, index, prompt, f"{region.description}{quote}", choose, recited)


def _sample(role: Role, index: int, prompt: str, text: str, choose: random.Random, recited: float | None) -> Sample:
    forward = role is Role.FORWARD
    return Sample(
        role=role,
        index=index,
        prompt_text=prompt,
        seed=choose.getrandbits(31),
        temperature=0.8 if forward else 0.1,
        raw_text=text if forward else f"```python\n{text}\n```",
        extraction=Extraction(text, () if forward else ("fence", "reindented")),
        prompt_tokens=400 + len(prompt) // 4,
        completion_tokens=max(1, len(text) // 4),
        seconds=round(choose.uniform(0.3, 2.0), 3),
        finish_reason="stop",
        recitation=recited,
        model="forward" if forward else "backward",
    )


def _verdict(item: Item, passed: bool, choose: random.Random) -> Verdict:
    if choose.random() < 0.02:
        return Verdict(Outcome.INFRASTRUCTURE, 0.0, detail="The sandbox did not answer.", oracle="tests/bubblewrap")
    outcome = Outcome.PASS if passed else choose.choice(_FAILURES)
    tests = [TestResult(node_id, "passed", "", 0.01) for node_id in item.tests]
    if outcome is Outcome.FAIL:
        tests[-1] = TestResult(item.tests[-1], "failed", "AssertionError: assert 3 == 4", 0.01)
    elif not passed:
        tests = []
    return Verdict(outcome, 0.05, tuple(tests), f"{outcome.value} on the covering tests", "", "tests/bubblewrap")
