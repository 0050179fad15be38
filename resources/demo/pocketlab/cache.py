"""A memory of bounded size that forgets what nobody asks for."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


@dataclass
class Counts:
    """What a cache has seen so far."""

    hits: int = 0
    misses: int = 0
    evicted: int = 0

    @property
    def hit_rate(self) -> float:
        """Share of questions that were answered, 0 before the first one."""
        asked = self.hits + self.misses
        return self.hits / asked if asked else 0.0


class Cache(Generic[K, V]):
    """Keeps the most recently used entries, each for a limited time.

    `clock` tells the time in seconds. An entry is too old once exactly
    `lifetime` seconds have passed since it was stored; being read does not
    make it any younger.
    """

    def __init__(self, room: int, lifetime: float, clock: Callable[[], float]) -> None:
        if room < 1:
            raise ValueError("a cache needs room for at least one entry")
        self.counts = Counts()
        self._room = room
        self._lifetime = lifetime
        self._clock = clock
        self._entries: OrderedDict[K, tuple[float, V]] = OrderedDict()

    def __len__(self) -> int:
        self._drop_old()
        return len(self._entries)

    def put(self, key: K, value: V) -> None:
        """Store a value, at the cost of another if there is no room left."""
        self._entries.pop(key, None)
        self._entries[key] = (self._clock(), value)
        if len(self._entries) <= self._room:
            return
        if self._drop_old() == 0:
            self._entries.popitem(last=False)
            self.counts.evicted += 1

    def get(self, key: K, default: V | None = None) -> V | None:
        """Return a value and count the question as a hit or a miss."""
        stored, value = self._entries.get(key, (None, None))
        if stored is None or self._too_old(stored):
            self.counts.misses += 1
            self._entries.pop(key, None)
            return default
        self.counts.hits += 1
        self._entries.move_to_end(key)
        return value

    def get_or_make(self, key: K, make: Callable[[K], V]) -> V:
        """Return a value that is made first if need be, and stored unless it is None."""
        found = self.get(key)
        if found is not None:
            return found
        made = make(key)
        if made is not None:
            self.put(key, made)
        return made

    def forget(self, wanted: Callable[[K], bool]) -> int:
        """Remove every entry whose key is wanted, and say how many there were."""
        self._drop_old()
        unwanted = [key for key in self._entries if wanted(key)]
        for key in unwanted:
            del self._entries[key]
        return len(unwanted)

    def keys(self) -> list[K]:
        """List the keys of all fresh entries, the next to be evicted first."""
        self._drop_old()
        return list(self._entries)

    def _too_old(self, stored: float) -> bool:
        return self._clock() - stored >= self._lifetime

    def _drop_old(self) -> int:
        entries = self._entries.items()
        old = [key for key, (stored, _) in entries if self._too_old(stored)]
        for key in old:
            del self._entries[key]
        return len(old)
