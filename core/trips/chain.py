"""IdentityChain: words -> code -> words -> code ... and whether the program still does the same (Min et al. 2024).

    item (a person's words nl_0) -> pl_0 -> nl_1 -> pl_1 -> ... -> pl_n

Each program is compared with the one before it by what the tests get from both, whether they pass or not: a model may
be wrong and still mean the same at every step. Function names are masked from nl_1 on, so that only the words carry the
meaning. Every step is greedy; where decoding is repeatable, a chain that repeats itself has ended.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from core.errors import ProjectError
from core.generation import Extraction, Fits, ModelInfo, Prompt, Role
from core.metrics import output_match
from core.metrics.recitation import recitation
from core.metrics.similarity import without_trailing_space
from core.models.chain_prompts import SHOT, Example, describe_prompt, write_prompt
from core.models.chain_prompts import VERSION as PROMPT_VERSION
from core.models.extraction import extract_code, extract_description
from core.oracle.bench.project import VERSION, node_ids, program_file, program_path, write_project
from core.settings import RunSettings
from core.source.benchmark import read_benchmark
from core.source.edits import rank
from core.store.rows import SampleRow, TestRow
from core.trips.benchmark import benchmark_file, masked_problem, masked_source, unusable
from core.trips.judged import Judged, open_judged
from core.trips.opening import Notify, Opened
from core.trips.protocol import Ask, Given, PairScore, Report, Step, Tree
from core.types import Candidate, Form, Item, Outcome, Problem, Span, Verdict

DOCSTRING = "docstring"
REFERENCE = "reference"
"""Authors of what a chain may begin with."""
TOM = "tom"
_OUTPUT_OF = {
    Outcome.TIMEOUT: "timeout",
    Outcome.OUT_OF_MEMORY: "memory",
    Outcome.CRASH: "crash",
    Outcome.TAMPERED: "missing",
    Outcome.NOT_EXECUTED: "missing",
}
"""What a test gave that did not run to its end, by what became of the program."""


class ChainTrip:
    """x is what a person asked for; the programs of a chain are compared with one another, step by step."""

    def __init__(
        self, problems: Sequence[Problem], judged: Judged, settings: RunSettings, shot: Example = SHOT
    ) -> None:
        """Nothing is asked or judged yet. `shot`: the one worked example of every prompt."""
        self._shot = shot
        self._problems = {problem.key: problem for problem in problems}
        self._masked = {problem.key: masked_problem(problem) for problem in problems}
        self._judged = judged
        self._files = {file.path: file for file in judged.codebase.files}
        self._trusted = frozenset(test.node_id for test in judged.suite.tests)
        self._settings = settings
        self._steps = settings.chain.steps
        self._repeatable = settings.endpoint is None and settings.backward_endpoint is None
        self._reasons: list[str] = []

    # ---- items

    def items(self, wanted: int, seed: int, known: Mapping[str, Item], report: Report) -> Iterator[Item]:
        """Problems with words to begin with and a reference that passes, in an order that the seed decides."""
        admitted = 0
        for key in sorted(self._problems, key=lambda key: rank(seed, key)):
            if admitted >= wanted:
                return
            item = known.get(key) or self._item(self._problems[key])
            admitted += item.admitted
            if not item.admitted:
                self._reasons.append(f"{key}: {item.reason}")
            report("reading problems", admitted, wanted)
            yield item

    def _item(self, problem: Problem) -> Item:
        tests = node_ids(problem)
        reason = unusable(tests, self._trusted, self._judged.suite.excluded)
        masked = self._masked[problem.key]  # as it stands in the file
        text = body_of(masked)
        first = masked.program.count("\n", 0, masked.body.start) + 1
        return Item(
            key=problem.key,
            kind="problem",
            path=program_path(problem),
            span=masked.body,
            start_line=first,
            end_line=first + text.count("\n"),
            text=text,
            tests=tuple(test for test in tests if test in self._trusted),
            admitted=bool(problem.words) and not reason,
            reason=reason or ("" if problem.words else "it has no words to begin with"),
            origin={"problem": problem.key, "function": problem.entry},
            directive=problem.words or None,
        )

    def shortfall(self, admitted: int, wanted: int) -> Sequence[str]:
        """Say when there are fewer problems than were asked for, and which were dropped."""
        dropped = [f"Dropped {reason}." for reason in self._reasons]
        if not admitted:
            why = self._reasons[0] if self._reasons else "it holds none"
            raise ProjectError(f"No problem of this benchmark can be used: {why}.", "Name another file.")
        return dropped if admitted >= wanted else [*dropped, f"The benchmark has {admitted} problems to use."]

    # ---- the chain

    def expected(self, item: Item) -> int:
        """One program, then words and a program a step."""
        return 2 * self._steps + (self._settings.chain.start != REFERENCE)

    def steps(self, item: Item, tree: Tree) -> Sequence[Step]:
        """The one step that comes next; none once n steps are made, or the chain repeats itself."""
        chain = chain_of(tree)
        last = chain[-1] if chain else None
        if last is None:
            return [Step(Role.FORWARD, 0, Given(item.directive or "", DOCSTRING, counted=True))]
        if last.form == Form.TEXT:
            if last.step == 0 and self._settings.chain.start == REFERENCE:
                return [Step(Role.SOLVE, 0, Given(body_of(self._problems[item.key]), REFERENCE, counted=True), last.id)]
            role = Role.SOLVE if last.step == 0 else Role.BACKWARD
            if self._fixed_after(item, chain) is not None:
                return []
            ask = Ask(partial(self._write_prompt, item, last), 0.0, self._settings.backward_max_tokens, "backward")
            return [Step(role, 0, ask, last.id, last.step)]
        if last.step >= self._steps or self._fixed_after(item, chain) is not None:
            return []
        ask = Ask(partial(self._describe_prompt, item, last), 0.0, self._settings.forward_max_tokens, "forward")
        return [Step(Role.FORWARD, 0, ask, last.id, last.step + 1)]

    def _fixed_after(self, item: Item, chain: Sequence[SampleRow]) -> int | None:
        """The last step whose program is new, where the chain repeats itself from there on; None where it does not.

        Greedy decoding of a local model gives the same answer to the same question. A server's does not: there a chain
        is followed to its end.
        """
        if not self._repeatable:
            return None
        codes = [row for row in chain if row.form == Form.CODE]
        words = [row for row in chain if row.form == Form.TEXT and row.step > 0]
        if len(words) >= 2 and words[-1].text == words[-2].text:
            return words[-2].step
        if len(codes) >= 2 and self._same(item, codes[-2], codes[-1]):
            return codes[-2].step
        return None

    def _same(self, item: Item, one: SampleRow, other: SampleRow) -> bool:
        texts = [without_trailing_space(self._masked_body(item, row)) for row in (one, other)]
        return texts[0] == texts[1]

    def _masked_body(self, item: Item, row: SampleRow) -> str:
        """A program's body with its own name masked; only the first program of a chain knows that name."""
        if row.role != Role.SOLVE:
            return row.text
        problem = self._problems[item.key]
        program = problem.program[: problem.body.start] + row.text + problem.program[problem.body.end :]
        span = Span(problem.body.start, problem.body.start + len(row.text))
        source, at = masked_source(program, span, problem.entry)
        return source[at.start : at.end]

    # ---- asking and reading

    def _describe_prompt(self, item: Item, row: SampleRow, model: ModelInfo, fits: Fits) -> Prompt:
        problem = self._masked[item.key]
        body = indent_of(problem) + self._masked_body(item, row)
        return describe_prompt(signature(problem), body, fits, model.prompt_style, self._shot)

    def _write_prompt(self, item: Item, row: SampleRow, model: ModelInfo, fits: Fits) -> Prompt:
        problem = (self._problems if row.step == 0 else self._masked)[item.key]
        style = model.backward_style or model.prompt_style
        return write_prompt(signature(problem), row.text, fits, style, self._shot)

    def read(self, item: Item, step: Step, raw: str, prompt: Prompt) -> Extraction:
        """Words without labels and fences; the body of the function, whatever was written around it."""
        if step.role.form is Form.TEXT:
            return extract_description(raw)
        problem = (self._problems if step.role is Role.SOLVE else self._masked)[item.key]
        return extract_code(raw, replace(item, span=problem.body), problem.program, prompt.prefill)

    def recitation(self, item: Item, text: str) -> float:
        """Share of the reference that the words quote."""
        return recitation(text, item.text)

    # ---- judging and comparing

    def judge(self, item: Item, sample: SampleRow) -> Verdict:
        """Run every test, twice: a test that says two things about one program says nothing about two."""
        candidate = self._candidate(item, sample)
        first = self._judged.oracle.judge(candidate, item.tests, every_test=True)
        if not first.outcome.judged or first.outcome in _OUTPUT_OF or not first.tests:
            return first
        second = self._judged.oracle.judge(candidate, item.tests, every_test=True)
        if not second.outcome.judged:  # ours: judged again on resume, not taken for a program that is unstable
            return second
        again = {test.node_id: test.signature for test in second.tests}
        tests = tuple(
            test if again.get(test.node_id) == test.signature else replace(test, signature=output_match.UNSTABLE)
            for test in first.tests
        )
        return replace(first, tests=tests, seconds=first.seconds + second.seconds)

    def _candidate(self, item: Item, sample: SampleRow) -> Candidate:
        file = self._files[item.path]
        if sample.role != Role.SOLVE:
            return Candidate(file, self._masked[item.key].body, sample.text)
        # The file has its names masked, but the first program was written under the function's own name.
        problem = self._problems[item.key]
        program = problem.program[: problem.body.start] + sample.text + problem.program[problem.body.end :]
        return Candidate(file, Span(0, len(file.text)), program_file(problem, program))

    def outputs(self, item: Item, row: SampleRow, tree: Tree) -> Mapping[str, str] | None:
        """What each test got from a program; None before it is judged."""
        if row.verdict is None or not Outcome(row.verdict.outcome).judged:
            return None
        outcome = Outcome(row.verdict.outcome)
        rest = _OUTPUT_OF.get(outcome, "missing")
        if outcome in (Outcome.SYNTAX_ERROR, Outcome.IMPORT_ERROR):
            rest = f"error {row.verdict.detail}"
        found = {test.node_id: test for test in tree.tests(row)}
        return {node: _output(found[node], rest) if node in found else rest for node in item.tests}

    def compare(self, item: Item, sample: SampleRow, tree: Tree) -> Sequence[PairScore]:
        """TOM of the program with the one before it, and of the one after it, as far as both are judged."""
        if sample.form != Form.CODE:
            return ()
        codes = [row for row in chain_of(tree) if row.form == Form.CODE]
        pairs = [(one, other) for one, other in itertools.pairwise(codes) if sample.id in (one.id, other.id)]
        found = []
        for one, other in pairs:
            before, after = (self.outputs(item, row, tree) for row in (one, other))
            value = output_match.tom(before, after) if before is not None and after is not None else None
            if value is not None:
                found.append(PairScore(other.id, TOM, value, one.id))
        return found

    def measures(self, item: Item, tree: Tree) -> Mapping[str, float]:
        """pass@1, whether the meaning was kept after each step (sc_i, and ssc_i where pl_0 passes too), TOM, P/FM.

        IdentityChain, Sec. 4. The figures without a number are those of the last step.
        """
        chain = chain_of(tree)
        codes = [row for row in chain if row.form == Form.CODE]
        passing = [_passes(row) for row in codes]
        if not codes or passing[0] is None:
            return {}
        fixed = self._fixed_after(item, chain)
        toms = [_tom(row) for row in codes[1:]]
        kept = output_match.kept(toms, self._steps, fixed)
        found: dict[str, float] = {"pass@1": float(passing[0])}
        for step, sc in enumerate(kept, start=1):
            if sc is not None:
                found |= {f"sc_{step}": float(sc), f"ssc_{step}": float(sc and passing[0])}
        if kept and kept[-1] is not None:
            found |= {"sc": found[f"sc_{self._steps}"], "ssc": found[f"ssc_{self._steps}"]}
        known = [value for value in toms if value is not None]
        pairs = itertools.pairwise(passing)
        same = [one == other for one, other in pairs if one is not None and other is not None]
        if known:
            found["tom"] = sum(known) / len(known)
        if same:
            found["pfm"] = sum(same) / len(same)
        found |= {"kept": float(sum(sc is True for sc in kept)), "steps": float(sum(sc is not None for sc in kept))}
        if fixed is not None:
            found["fixed_after"] = float(fixed)
        return found


def _output(test: TestRow, otherwise: str) -> str:
    return test.signature or ("pass" if test.outcome == "passed" else otherwise)


def chain_of(tree: Tree) -> list[SampleRow]:
    """The whole samples of a chain from its first words on, each made from the one before."""
    chain: list[SampleRow] = []
    parent = None
    while True:
        following = [row for row in tree.samples if row.parent_id == parent and row.index == 0 and not row.error]
        if not following:
            return chain
        chain.append(following[0])
        parent = following[0].id


def signature(problem: Problem) -> str:
    """Everything above the body: imports and helpers of the problem, and the line of the function."""
    return problem.program[: problem.body.start].rstrip()


def body_of(problem: Problem) -> str:
    """The body of the reference."""
    return problem.program[problem.body.start : problem.body.end]


def indent_of(problem: Problem) -> str:
    """What stands before the body on its first line."""
    return problem.program[problem.program.rfind("\n", 0, problem.body.start) + 1 : problem.body.start]


def _tom(row: SampleRow) -> float | None:
    return next((value for name, _, value in row.pairs if name == TOM), None)


def _passes(row: SampleRow) -> bool | None:
    """Whether a program passes all its tests; None before that is known."""
    if row.verdict is None or not Outcome(row.verdict.outcome).judged:
        return None
    return row.verdict.outcome == Outcome.PASS


def open_chain(stack: ExitStack, project: Path, settings: RunSettings, notify: Notify, report: Report) -> Opened:
    """Read the benchmark, write it as a project with masked names, and run its references. Raises UserError."""
    report("reading problems", 0, 1)
    path = benchmark_file(settings.benchmark)
    benchmark = read_benchmark(path)
    problems, shot = benchmark.problems, SHOT
    if settings.chain.paper_shot:
        first, *rest = problems
        problems, masked = tuple(rest), masked_problem(first)
        shot = Example(signature(masked), masked.words, indent_of(masked) + body_of(masked))
    root = write_project([masked_problem(problem) for problem in problems], f"{path.name.split('.')[0]} masked")
    judged = open_judged(stack, root, replace(settings.oracle, confirm_whole_suite=False), notify, report)
    return Opened(
        trip=ChainTrip(problems, judged, settings, shot),
        settings=replace(settings, prompt_version=PROMPT_VERSION),
        root=judged.codebase.root,
        revision=None,
        dirty=False,
        fingerprint=f"{benchmark.fingerprint}-{VERSION}",
        oracle=judged.oracle.name,
        suite=judged.suite,
        image_digest=judged.oracle.image_digest,
    )
