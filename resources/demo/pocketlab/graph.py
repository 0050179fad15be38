"""Routes and orders in a network of named places."""

import heapq
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping


class CycleError(ValueError):
    """Tasks that wait for one another."""


class Network:
    """Places joined by ways of some length, in one direction or both."""

    def __init__(self) -> None:
        self._ways: dict[str, dict[str, float]] = defaultdict(dict)

    def connect(self, a: str, b: str, length: float, one_way: bool = False) -> None:
        """Add a way; of two between the same places the shorter one stays."""
        if length < 0:
            raise ValueError("a way cannot have a negative length")
        for start, end in [(a, b)] if one_way else [(a, b), (b, a)]:
            known = self._ways[start].get(end, length)
            self._ways[start][end] = min(known, length)
        self._ways.setdefault(b, {})

    def places(self) -> list[str]:
        """List all places by name."""
        return sorted(self._ways)

    def route(self, start: str, goal: str) -> tuple[float, list[str]]:
        """Return the length of the best route and the places on it.

        Among routes of equal length the one with fewer places wins, then the
        one whose names come first in the alphabet.
        """
        for place in (start, goal):
            if place not in self._ways:
                raise KeyError(place)
        queue: list[tuple[float, int, list[str]]] = [(0, 1, [start])]
        done: set[str] = set()
        while queue:
            length, places, path = heapq.heappop(queue)
            here = path[-1]
            if here == goal:
                return length, path
            if here in done:
                continue
            done.add(here)
            for end, way in self._ways[here].items():
                heapq.heappush(queue, (length + way, places + 1, [*path, end]))
        raise LookupError(f"no way from {start} to {goal}")

    def within(self, start: str, steps: int) -> dict[str, int]:
        """Return every place at most so many ways off, with how many it takes."""
        found = {start: 0}
        queue = deque([start])
        while queue:
            here = queue.popleft()
            if found[here] == steps:
                break
            for end in self._ways[here]:
                if end not in found:
                    found[end] = found[here] + 1
                    queue.append(end)
        return found

    def islands(self) -> list[list[str]]:
        """Group places that a way joins in either direction.

        Names in a group are in order; the largest group comes first, equal
        ones by their first name.
        """
        leader = {place: place for place in self._ways}

        def find(place: str) -> str:
            return place if leader[place] == place else find(leader[place])

        for start, ends in self._ways.items():
            for end in ends:
                leader[find(end)] = find(start)
        groups: dict[str, list[str]] = defaultdict(list)
        for place in self.places():
            groups[find(place)].append(place)
        return sorted(groups.values(), key=lambda group: (-len(group), group[0]))


def work_order(needs: Mapping[str, Iterable[str]]) -> list[str]:
    """Put tasks in an order in which each comes after all that it needs.

    Whenever several tasks are ready, the first in the alphabet is next. A need
    that is no task of its own is one without needs.
    """
    waiting = {task: set(before) for task, before in needs.items()}
    for task in set().union(*waiting.values()):
        waiting.setdefault(task, set())
    ready = [task for task, before in waiting.items() if not before]
    heapq.heapify(ready)
    order: list[str] = []
    while ready:
        task = heapq.heappop(ready)
        order.append(task)
        del waiting[task]
        for other, before in waiting.items():
            if task in before:
                before.remove(task)
                if not before:
                    heapq.heappush(ready, other)
    if waiting:
        raise CycleError("going round in circles: " + ", ".join(sorted(waiting)))
    return order
