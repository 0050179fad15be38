"""Learn the unmodified project: what can be trusted, what it covers, how it may be judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass

from core.errors import ProjectError
from core.oracle.baseline import Baseline
from core.oracle.identity import IdentityRun, Progress, coverage_map, orders, untrusted
from core.oracle.identity_runner import IdentityRunner
from core.oracle.isolation import budget, failing_alone
from core.oracle.sessionplan import SessionPlan
from core.oracle.verdicts import Allowances
from core.oracle.zygote import Zygote
from core.types import Suite, TestCase

MOST_FRESH_ONLY = 0.2
"""Share of tests that may need fresh imports before the collected suite is given up."""


@dataclass(frozen=True, slots=True)
class _CodeSwap:
    """What forks of the collected suite showed. `run` is None when it cannot be used."""

    run: IdentityRun | None
    fresh_only: frozenset[str]
    order_dependent: Mapping[str, str]


class SuiteRun:
    """One learning of one project; starts processes, ends them all."""

    def __init__(
        self, runner: IdentityRunner, plan: SessionPlan, identity_runs: int, notice: Callable[[str], None], python: str
    ) -> None:
        """Nothing is started yet. `python`: the version to record."""
        self._runner = runner
        self._plan = plan
        self._identity_runs = identity_runs
        self._notice = notice
        self._python = python

    def learn(self, progress: Progress) -> Baseline:
        """Run the suite as often as it takes.

        Raises ProjectError, TargetError, SandboxError, and what `progress` raises.
        """
        progress("check", 0, 1)
        first = self._first_run(progress)
        ignored = tuple(dict.fromkeys(where for where, _ in first.errors if where))
        plan = ready_plan(self._plan, ignored, first.modules, first.import_lines)
        with ExitStack() as stack:
            fresh = stack.enter_context(closing(self._runner.start(plan)))
            plain = self._plain_runs(fresh, progress)
            excluded = untrusted([first, *plain])
            trusted = [node for node in dict.fromkeys(first.collected) if node not in excluded]
            if not trusted:
                raise _none_pass(excluded)
            seconds = min(run.seconds for run in plain)
            swap = self._try_code_swap(plan, fresh, trusted, seconds, progress)
            excluded |= swap.order_dependent
            trusted = [node for node in trusted if node not in excluded]
        tests = tuple(TestCase(node, max(run.outcomes[node][1] for run in plain)) for node in trusted)
        suite = Suite(tests, excluded, coverage_map(first, trusted), seconds, self._python)
        overhead = max(run.overhead for run in plain)
        allowed = _allowances([*plain, *([swap.run] if swap.run is not None else [])])
        modules = tuple(first.modules)
        return Baseline(suite, overhead, ignored, modules, allowed, swap.run is not None, swap.fresh_only)

    def _first_run(self, progress: Progress) -> IdentityRun:
        with closing(self._runner.start(self._plan)) as zygote:
            run = self._runner.run(zygote, "tests with coverage", progress, trace=True)
        if run.errors:
            names = ", ".join(where for where, _ in run.errors[:3])
            self._notice(f"{len(run.errors)} test files cannot be imported and are left out: {names}.")
        return run

    def _plain_runs(self, zygote: Zygote, progress: Progress) -> list[IdentityRun]:
        """In other orders, untraced: their times are the baseline."""
        seeds = enumerate(orders(self._identity_runs), start=2)
        return [self._runner.run(zygote, f"tests, run {n}", progress, shuffle=seed) for n, seed in seeds]

    def _try_code_swap(
        self, plan: SessionPlan, fresh: Zygote, trusted: Sequence[str], seconds: float, progress: Progress
    ) -> _CodeSwap:
        """Run the trusted tests forked from the collected suite, together and each alone."""
        with closing(self._runner.start(plan.with_config(collect=True))) as zygote:
            if zygote.greeting["trouble"]:
                self._notice(f"Candidates are judged by fresh imports only: {zygote.greeting['trouble']}.")
                return self._without_code_swap(fresh, trusted, seconds, progress)
            run = self._runner.run(zygote, "tests, collected once", progress, tests=list(trusted), shuffle=0)
            failing = untrusted([run])
            passing = [node for node in trusted if node in run.outcomes and node not in failing]
            alone = failing_alone(zygote, passing, budget(seconds), progress)
        suspects = [node for node in trusted if node in alone or node not in passing]
        if len(suspects) > len(trusted) * MOST_FRESH_ONLY:
            self._notice(f"Candidates are judged by fresh imports only: {len(suspects)} tests need them.")
            return self._without_code_swap(fresh, trusted, seconds, progress)
        really = failing_alone(fresh, suspects, budget(seconds), progress)
        return _CodeSwap(run, frozenset(suspects) - frozenset(really), _order_dependent(really))

    def _without_code_swap(
        self, fresh: Zygote, trusted: Sequence[str], seconds: float, progress: Progress
    ) -> _CodeSwap:
        """The last identity run and the runs alone, by fresh imports."""
        run = self._runner.run(fresh, "tests, shuffled", progress, tests=list(trusted), shuffle=0)
        flaky = untrusted([run])
        alone = failing_alone(fresh, [node for node in trusted if node not in flaky], budget(seconds), progress)
        return _CodeSwap(None, frozenset(), {**flaky, **_order_dependent(alone)})


def ready_plan(
    plan: SessionPlan, ignored: Sequence[str], preload: Sequence[str], sources: Iterable[str]
) -> SessionPlan:
    """The plan for judging: broken test files left out, foreign modules imported and own files compiled beforehand."""
    arguments = [*plan.config["pytest_args"], *(f"--ignore={plan.config['root']}/{path}" for path in ignored)]
    return plan.with_config(pytest_args=arguments, preload=list(preload), sources=sorted(sources))


def _order_dependent(alone: Mapping[str, str]) -> dict[str, str]:
    return {node: f"fails when it runs alone: {message}" for node, message in alone.items()}


def _allowances(runs: Sequence[IdentityRun]) -> Allowances:
    changes = frozenset[str]().union(*(run.changes for run in runs))
    return Allowances(changes, frozenset[tuple[str, str]]().union(*(run.events for run in runs)))


def _none_pass(excluded: dict[str, str]) -> ProjectError:
    first = "; ".join(f"{node} {reason}" for node, reason in list(excluded.items())[:3])
    return ProjectError(
        f"None of the project's {len(excluded)} tests passes in every run: {first}",
        "Make the tests pass with pytest and without network or write access to the project, then open it again.",
    )
