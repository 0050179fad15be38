"""Programs that somebody else's system wrote for a benchmark, as a run without a model: browsed, labelled, audited.

    item (the reference's whole function) -> solution (solve), as it was found in a file

Problems that the system did not attempt stay in the run as dropped items: they are counted, and never score 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.generation import Extraction, ModelInfo, Prompt, Role
from rtc_inspector.core.metrics.similarity import code_scores, function_of, plain_code
from rtc_inspector.core.oracle.bench.project import VERSION, node_ids, program_file
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.source.benchmark import Benchmark
from rtc_inspector.core.source.samples_file import Samples, WrittenProgram, read_samples
from rtc_inspector.core.store.rows import SampleRow
from rtc_inspector.core.trips.benchmark import pass_at, problem_item, signature_line, unusable, written_benchmark
from rtc_inspector.core.trips.judged import Judged, open_judged
from rtc_inspector.core.trips.opening import UNTESTED, Opened
from rtc_inspector.core.trips.protocol import Given, PairScore, Step, Tree, passing
from rtc_inspector.core.types import Item, Notify, Outcome, Problem, Report, Verdict

NOT_ATTEMPTED = "not attempted"
TRUSTED = "samples file"
"""The name of what judged, where the file's own verdicts are taken."""
NO_MODEL = ModelInfo("", "", "", "", "", "", 0, 0, 0, "")


class ImportedTrip:
    """What is in the file, given step by step; judged here, or as the file says."""

    def __init__(self, benchmark: Benchmark, name: str, samples: Samples, judged: Judged | None) -> None:
        """`judged` is None where the file's own verdicts are taken."""
        self._name = name
        self._samples = samples
        self._problems = {problem.key: problem for problem in benchmark.problems}
        self._judged = judged
        self._dropped: list[str] = []
        self._absent = 0

    # ---- items

    def items(self, wanted: int, seed: int, known: Mapping[str, Item], report: Report) -> Iterator[Item]:
        """Yield every problem of the benchmark, in its order."""
        for number, problem in enumerate(self._problems.values(), start=1):
            report("reading problems", number, len(self._problems))
            item = known.get(problem.key) or self._item(problem)
            if item.reason == NOT_ATTEMPTED:
                self._absent += 1
            elif not item.admitted:
                self._dropped.append(f"Dropped {item.key}: {item.reason}.")
            yield item

    def _item(self, problem: Problem) -> Item:
        start = problem.body.start - len(signature_line(problem))
        reason = ""
        if problem.key not in self._samples.programs:
            reason = NOT_ATTEMPTED
        elif self._judged is not None:
            reason = unusable(node_ids(problem), self._judged)
        trusted = self._judged.trusted if self._judged else ()
        return replace(problem_item(problem, problem, start, trusted, reason), facets={"benchmark": self._name})

    def shortfall(self, admitted: int, wanted: int) -> Sequence[str]:
        """Say which problems are left out, and why."""
        if not admitted:
            raise ProjectError(
                f"No sample of {self._samples.author} can be used.", (self._dropped or ["It attempted nothing."])[0]
            )
        absent = f"{self._samples.author} did not attempt {self._absent} of {len(self._problems)} problems."
        return [*([absent] if self._absent else []), *self._dropped]

    # ---- the tree

    def expected(self, item: Item) -> int:
        """Return how many programs the file has for the problem."""
        return len(self._samples.programs.get(item.key, ()))

    def steps(self, item: Item, tree: Tree) -> Sequence[Step]:
        """Return a step for each of the file's programs that is not stored yet."""
        problem, programs = self._problems[item.key], self._samples.programs.get(item.key, ())
        missing = tree.missing(Role.SOLVE, len(programs))
        return [Step(Role.SOLVE, index, self._given(problem, programs[index])) for index in missing]

    def _given(self, problem: Problem, program: WrittenProgram) -> Given:
        """Return the function by itself, as it is compared, and beside it all that stands in the file."""
        whole = _whole(problem, program)
        # A file's whole program and another's completion come to the same text, so that their similarities compare.
        function = function_of(whole, problem.entry)
        text = plain_code(function if function is not None else whole)
        how = "solution" if program.whole else "completion"
        return Given(text, self._samples.author, counted=True, raw=program.text, how=(how,))

    def read(self, item: Item, step: Step, raw: str, prompt: Prompt) -> Extraction:
        """Return the text as it is; never asked for, since no model writes here."""
        return Extraction(raw)

    def recitation(self, item: Item, text: str) -> None:
        """Return None: there are no descriptions."""

    # ---- judging and comparing

    def judge(self, item: Item, sample: SampleRow) -> Verdict:
        """Judge by the problem's tests, or as the file says."""
        problem, program = self._problems[item.key], self._samples.programs[item.key][sample.index]
        if self._judged is None:
            outcome = Outcome.PASS if program.passed else Outcome.FAIL
            return Verdict(outcome, 0.0, detail="as the file of samples says", oracle=TRUSTED)
        return self._judged.judge_file(item, program_file(problem, _whole(problem, program)))

    def compare(self, item: Item, sample: SampleRow, tree: Tree) -> Sequence[PairScore]:
        """Compare the program with the reference's function."""
        scores = code_scores(sample.text, item.text)
        return [PairScore(sample.id, metric, value) for metric, value in scores.items()]

    def measures(self, item: Item, tree: Tree) -> Mapping[str, float]:
        """Return pass@k, as far as there are k judged programs, and the counts of those that pass and are judged."""
        judged = passing(tree.whole(Role.SOLVE))
        return {**pass_at(judged), "passes": sum(judged), "judged": len(judged)}


def _whole(problem: Problem, program: WrittenProgram) -> str:
    """Return the whole program: a completion follows the prompt, here without its docstring."""
    if program.whole:
        return program.text
    prompt = problem.program[: problem.body.start]
    if program.text[:1].isspace():  # it brings its own indentation, as most do
        prompt = prompt.rstrip(" \t")
    return prompt + program.text


def open_imported(stack: ExitStack, project: Path, settings: RunSettings, notify: Notify, report: Report) -> Opened:
    """Read the benchmark and the samples, and make ready what judges them. Raises UserError."""
    report("reading problems", 0, 1)
    written, asked = written_benchmark(settings.benchmark), settings.samples
    keys = [problem.key for problem in written.benchmark.problems]
    samples = read_samples(Path(asked.file), keys, verdicts=asked.trusted)
    if asked.author:
        samples = replace(samples, author=asked.author)
    judged = None
    if not asked.trusted:
        oracle = replace(settings.oracle, confirm_whole_suite=False)
        judged = open_judged(stack, written.root, oracle, notify, report)
    return Opened(
        make_trip=lambda settings: ImportedTrip(written.benchmark, written.name, samples, judged),
        settings=replace(settings, regions=len(keys)),
        root=judged.codebase.root if judged else written.root.resolve(),
        fingerprint=f"{written.benchmark.fingerprint}-{VERSION}",
        oracle=judged.oracle.name if judged else TRUSTED,
        suite=judged.suite if judged else UNTESTED,
        image_digest=judged.oracle.image_digest if judged else "",
        author=replace(NO_MODEL, name=samples.author),
    )
