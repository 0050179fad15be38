"""Things that pass through stages, by rules about who may move them and when."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

Facts = dict[str, object]


class MoveError(ValueError):
    """A move that the rules do not allow."""


@dataclass(frozen=True)
class Move:
    """A named step from some stages to another, for those with one of the roles."""

    name: str
    sources: tuple[str, ...]
    target: str
    roles: frozenset[str] = frozenset()
    allowed: Callable[[Facts], bool] = lambda facts: True


@dataclass
class Case:
    """One thing on its way: where it is, what is known of it, and its past."""

    stage: str
    facts: Facts = field(default_factory=dict)
    history: list[tuple[str, str, str]] = field(default_factory=list)


class Workflow:
    """The stages and the moves between them; moves are tried in the given order."""

    def __init__(self, first: str, moves: Iterable[Move]) -> None:
        self.first = first
        self._moves = list(moves)
        stages = [first]
        for move in self._moves:
            stages.extend([*move.sources, move.target])
        self.stages = list(dict.fromkeys(stages))

    def start(self, **facts: object) -> Case:
        """Open a case at the first stage."""
        return Case(self.first, facts)

    def choices(self, case: Case, role: str) -> list[str]:
        """List the names of the moves that somebody in a role can make now."""
        moves = [move for move in self._moves if case.stage in move.sources]
        possible = [move for move in moves if self._obstacle(move, case, role) is None]
        return list(dict.fromkeys(move.name for move in possible))

    def move(self, case: Case, name: str, role: str) -> str:
        """Make the first move of that name that is possible; return the new stage.

        If none is, the error tells what stood in the way of the last one tried.
        """
        named = [move for move in self._moves if move.name == name]
        obstacle: str | None = f"there is no move {name!r}"
        for move in named:
            obstacle = self._obstacle(move, case, role)
            if obstacle is None:
                case.history.append((case.stage, name, role))
                case.stage = move.target
                return case.stage
        raise MoveError(obstacle)

    def undo(self, case: Case, role: str) -> str:
        """Go back one step, which only the role that made it may do."""
        if not case.history:
            raise MoveError("nothing has happened yet")
        stage, name, maker = case.history[-1]
        if maker != role:
            raise MoveError(f"{name!r} was done by {maker}")
        case.history.pop()
        case.stage = stage
        return stage

    def final_stages(self) -> list[str]:
        """List the stages that no move leaves."""
        left = {source for move in self._moves for source in move.sources}
        return [stage for stage in self.stages if stage not in left]

    def unreachable(self) -> list[str]:
        """List the stages that no case can ever come to, whatever its facts."""
        reached = {self.first}
        # Every round reaches a new stage or is the last that matters.
        for _ in self.stages:
            for move in self._moves:
                if reached.intersection(move.sources):
                    reached.add(move.target)
        return [stage for stage in self.stages if stage not in reached]

    @staticmethod
    def _obstacle(move: Move, case: Case, role: str) -> str | None:
        if case.stage not in move.sources:
            return f"{move.name!r} is not possible in stage {case.stage!r}"
        if move.roles and role not in move.roles:
            return f"{move.name!r} needs one of: {', '.join(sorted(move.roles))}"
        if not move.allowed(case.facts):
            return f"{move.name!r} is not allowed as things stand"
        return None
