"""Stock that is bought in lots, promised to orders, and shipped oldest first."""

from collections import defaultdict
from dataclasses import dataclass


class StockError(ValueError):
    """More was asked for than there is."""


@dataclass
class Lot:
    """Pieces bought together, each at the same cost in cents."""

    pieces: int
    cost: int


@dataclass(frozen=True)
class Rule:
    """When to buy more of an article: what is left at least, and a pack's size."""

    minimum: int
    pack: int


class Warehouse:
    """Keeps account of lots and of promises for every article."""

    def __init__(self) -> None:
        self._lots: dict[str, list[Lot]] = defaultdict(list)
        self._promised: dict[str, dict[str, int]] = defaultdict(dict)
        self._rules: dict[str, Rule] = {}

    def receive(self, article: str, pieces: int, cost: int) -> None:
        """Put pieces on the shelf; they join the last lot if they cost the same."""
        if pieces <= 0:
            raise ValueError("a lot needs at least one piece")
        lots = self._lots[article]
        if lots and lots[-1].cost == cost:
            lots[-1].pieces += pieces
        else:
            lots.append(Lot(pieces, cost))

    def on_hand(self, article: str) -> int:
        """Count the pieces on the shelf, promised ones included."""
        return sum(lot.pieces for lot in self._lots[article])

    def free(self, article: str) -> int:
        """Count the pieces that nobody was promised."""
        promised = sum(order.get(article, 0) for order in self._promised.values())
        return self.on_hand(article) - promised

    def promise(self, order: str, wanted: dict[str, int]) -> None:
        """Set pieces aside for an order: all that it wants, or nothing.

        What the order was promised before stays promised.
        """
        short = [name for name in sorted(wanted) if wanted[name] > self.free(name)]
        if short:
            raise StockError("not enough of " + ", ".join(short))
        for article, pieces in wanted.items():
            before = self._promised[order].get(article, 0)
            self._promised[order][article] = before + pieces

    def release(self, order: str) -> None:
        """Take back all that an order was promised."""
        self._promised.pop(order, None)

    def ship(self, order: str) -> int:
        """Send off what an order was promised; return what it had cost us.

        An order without promises is a KeyError.
        """
        promised = self._promised.pop(order)
        return sum(self._remove(name, pieces) for name, pieces in promised.items())

    def write_off(self, article: str, pieces: int) -> int:
        """Remove broken pieces, never promised ones; return what they had cost."""
        if pieces > self.free(article):
            raise StockError(f"not enough of {article}")
        return self._remove(article, pieces)

    def value(self) -> int:
        """Return what everything on the shelf has cost."""
        lots = [lot for lots in self._lots.values() for lot in lots]
        return sum(lot.pieces * lot.cost for lot in lots)

    def set_rule(self, article: str, minimum: int, pack: int) -> None:
        """Say when to buy more of an article, and in which quantities."""
        self._rules[article] = Rule(minimum, pack)

    def to_buy(self) -> dict[str, int]:
        """Return how many pieces of which article to buy, the scarcest first.

        An article is bought when fewer pieces are free than the minimum, in
        whole packs, up to the minimum at least. The scarcest has the smallest
        share of its minimum free; equals go by name.
        """
        scarce = []
        for article, rule in self._rules.items():
            free = self.free(article)
            if free < rule.minimum:
                packs = -((free - rule.minimum) // rule.pack)
                scarce.append((free / rule.minimum, article, packs * rule.pack))
        return {article: pieces for _, article, pieces in sorted(scarce)}

    def _remove(self, article: str, pieces: int) -> int:
        cost = 0
        lots = self._lots[article]
        for lot in lots:
            taken = min(lot.pieces, pieces)
            lot.pieces -= taken
            pieces -= taken
            cost += taken * lot.cost
        self._lots[article] = [lot for lot in lots if lot.pieces]
        return cost
