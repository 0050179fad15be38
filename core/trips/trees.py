"""What trees of chains and of directives say: the chain with its first break, and programs with their summaries.

Apart from the trips since analyses and the window read them too, and should not load a parser for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rtc_inspector.core.generation import Role
from rtc_inspector.core.metrics import output_match
from rtc_inspector.core.store.rows import SampleRow, Tree
from rtc_inspector.core.types import Form, Outcome

TOM = "tom"
CROSSED = 1  # index of the samples with which a chain is crossed; its own have 0


def chain_of(tree: Tree) -> list[SampleRow]:
    """Return the whole samples of a chain from its first words on, each made from the one before."""
    chain: list[SampleRow] = []
    parent = None
    while True:
        following = [row for row in tree.samples if row.parent_id == parent and row.index == 0 and not row.error]
        if not following:
            return chain
        chain.append(following[0])
        parent = following[0].id


def parses(code: SampleRow) -> bool:
    """Return whether a program that was judged could be read at all."""
    return code.verdict is None or code.verdict.outcome != Outcome.SYNTAX_ERROR


def none_parses(codes: Sequence[SampleRow]) -> bool:
    """Return whether none of the programs of a chain parses, so that nothing can be said of their meaning."""
    return not any(parses(code) for code in codes)


def first_break(chain: Sequence[SampleRow]) -> tuple[SampleRow, SampleRow, SampleRow] | None:
    """Return the program before the first step that changed the meaning, its words, and the program after it."""
    for before, words, after in zip(chain[1::2], chain[2::2], chain[3::2], strict=False):
        tom = tom_of(after)
        if tom is None:
            return None
        if tom < 1.0:
            return before, words, after
    return None


def crossed(tree: Tree, role: str, parent: int) -> SampleRow | None:
    """Return the sample that crosses a chain below `parent`, or None before it is made."""
    return next((row for row in tree.whole(role) if row.parent_id == parent and row.index == CROSSED), None)


def crossing(tree: Tree, chain: Sequence[SampleRow]) -> tuple[SampleRow, SampleRow] | None:
    """Return the two programs of a chain that was crossed: the second model's, and the first model's from its words."""
    broken = first_break(chain)
    theirs = crossed(tree, Role.FORWARD, broken[0].id) if broken else None
    read = crossed(tree, Role.BACKWARD, broken[1].id) if broken else None
    written = crossed(tree, Role.BACKWARD, theirs.id) if theirs else None
    return (read, written) if read and written else None


def lost_in(tree: Tree, chain: Sequence[SampleRow]) -> output_match.Lost | None:
    """Return which pass lost the meaning at the first break; None unless the chain was crossed there and judged."""
    programs = crossing(tree, chain)
    toms = [tom_of(row) for row in programs] if programs else []
    return None if not toms or toms[0] is None or toms[1] is None else output_match.lost_in(toms[0], toms[1])


def remarks(samples: Sequence[SampleRow]) -> Mapping[int, str]:
    """Return by sample what is to be said of it: that no program parses, or that the meaning was lost in it."""
    tree = Tree(samples)
    chain = chain_of(tree)
    codes = [row for row in chain if row.form == Form.CODE]
    if codes and none_parses(codes):
        return {codes[0].id: "None of the programs of this chain parses: that they are alike says nothing."}
    broken, lost = first_break(chain), lost_in(tree, chain)
    if broken is None or lost is None:
        return {}
    _, words, after = broken
    toms = [tom_of(row) or 0.0 for row in crossing(tree, chain) or ()]
    read, written = (
        "comes back to the program before" if tom == 1.0 else f"does not come back (TOM {tom:.2f})" for tom in toms
    )
    shown = words if lost is output_match.Lost.WORDS else after
    return {
        shown.id: f"The meaning was lost {_PLACES[lost]}: the second model {read} from these words, "
        f"and the first model {written} from the second model's words."
    }


_PLACES = {
    output_match.Lost.WORDS: "in this description",
    output_match.Lost.CODE: "in this program",
    output_match.Lost.BETWEEN: "between the words and this program",
    output_match.Lost.BOTH: "here, in neither pass alone",
}


def tom_of(row: SampleRow) -> float | None:
    """Return TOM of a program with the one before it, or before the break; None where it is not known."""
    return next((value for name, _, value in row.pairs if name == TOM), None)


# ---- directives

COSINE = "cosine"  # the score of a summary against the item's own words; of a program the mean over its summaries


@dataclass(frozen=True, slots=True)
class Program:
    """Equal programs of one directive, and the summaries of one of them."""

    rows: tuple[SampleRow, ...]  # their samples, as they were drawn
    summaries: tuple[SampleRow, ...]  # of whichever of them was summarised, by index

    @property
    def cosines(self) -> list[float]:
        return [row.scores[COSINE] for row in self.summaries if COSINE in row.scores]

    @property
    def cosine(self) -> float | None:
        """Return the mean over its summaries; None where none of them has a cosine."""
        return sum(self.cosines) / len(self.cosines) if self.cosines else None

    @property
    def passes(self) -> bool | None:
        """Return whether it passes all tests; None before it is judged, and where nothing judges it."""
        return next((row.passes for row in self.rows if row.passes is not None), None)

    def similar(self, threshold: float) -> bool | None:
        """Return whether it is taken to mean the directive; None before it is summarised.

        A program without code, and one whose summaries say nothing, do not mean it.
        """
        if not self.summaries and self.rows[0].text.strip():
            return None
        return self.cosine is not None and self.cosine >= threshold


def programs(samples: Sequence[SampleRow]) -> list[Program]:
    """Return the programs of an item with their summaries, each once, in the order they were drawn."""
    groups: dict[str, list[SampleRow]] = {}
    summaries: dict[int | None, list[SampleRow]] = {}
    for row in sorted(samples, key=lambda row: (row.index, row.id)):
        if row.error:
            continue
        if row.role == Role.SOLVE:
            groups.setdefault("\n".join(line.rstrip() for line in row.text.splitlines()), []).append(row)
        elif row.role == Role.FORWARD:
            summaries.setdefault(row.parent_id, []).append(row)
    return [Program(tuple(g), tuple(s for row in g for s in summaries.get(row.id, ()))) for g in groups.values()]
