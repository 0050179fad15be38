"""Records what the packages `codebleu` and `crystalbleu` say of 500 pairs of programs, for the tests of our own.

The packages are in no extra of ours (see core/metrics/codebleu.py), so give it an environment of its own:

    python -m venv ref && ref/bin/pip install nltk setuptools
    ref/bin/pip install --no-deps codebleu==0.7.0 tree-sitter==0.26.1 tree-sitter-python==0.25.0 crystalbleu==0.2
    ref/bin/python scripts/metric_values.py tests/stored/metric-values.json.gz

The package's data flow depends on the order of sets, and so on the process. It is recorded with sets that keep the
order in which things came; how far it strays from that in processes of its own is printed.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import os
import random
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("core/source", "core/metrics", "core/regions", "resources/demo")
PAIRS = 500
HASH_SEEDS = range(6)
EDGES = [
    ("", ""),
    ("", "def f(x):\n    return x\n"),
    ("def f(x):\n    return x\n", ""),
    ("x", "x"),
    ("x", "y"),
    ("x", "def f(x):\n    return x\n"),
    ("return", "pass"),
    ("def f(:\n  return ((", "def f(x):\n    return x\n"),
    ("def f(x):\n    return x\n", "def f(:\n  return (("),
    ("this is no code at all !!", "def test ( ) :\n pass"),
    ("def test():\n    pass", "def test():\n    pass"),
    ("pass", "pass\n"),
    ("import os", "import sys"),
    ("def bar ( x ) :\n    return x", "def foo ( x ) :\n    return x"),
    ("def foo ( x ) :\n    return x * x", "def bar ( x ) :\n    return x"),
    ("# only a comment", "# only a comment"),
    ('"""only a text"""', '"""only a text"""'),
    ("x = 1 if", "x = 1"),
    ("   \n\n  ", "x = 1"),
    ("for a, b in c:\n    a = b\nelse:\n    b = a", "for a, b in c:\n    b = a\nelse:\n    a = b"),
    ("while x:\n    while y:\n        x, y = y, x", "while y:\n    while x:\n        x, y = y, x"),
    ("a = [b for b in c if b]", "a = [c for c in b if c]"),
    ("a: int = 1\nb: str\na += b", "a: int = 2\nb: int\na -= b"),
    ("def f(a, b=1, *c, d=a, **e):\n    return a", "def f(a, b=2, *c, d=b, **e):\n    return b"),
    ("if a:\n    b = 1\nelif c:\n    b = 2\nprint(b)", "if a:\n    b = 1\nelse:\n    b = 2\nprint(b)"),
    ("with open(f) as g:\n    h = g.read()", "with open(g) as f:\n    h = f.read()"),
    ("lambda x: x + y", "lambda y: y + x"),
    ("x = f'{y} and {z}'", "x = f'{z} and {y}'"),
    ("try:\n    a = b\nexcept E as e:\n    a = e", "try:\n    a = b\nexcept E:\n    a = 1"),
    ("if (n := len(a)) > 10:\n    b = n", "n = len(a)\nif n > 10:\n    b = n"),
]


def functions() -> list[str]:
    found = []
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.FunctionDef):
                    text = "\n".join(source.split("\n")[node.lineno - 1 : node.end_lineno])
                    indent = len(text) - len(text.lstrip())
                    lines = [line[indent:] if not line[:indent].strip() else line for line in text.split("\n")]
                    text = "\n".join(lines)
                    if 60 < len(text) < 900 and text.isascii():
                        found.append(text)
    return sorted(set(found))


def changed(text: str, rng: random.Random) -> str:
    lines, how = text.split("\n"), rng.randrange(7)
    at = rng.randrange(len(lines))
    if how == 0:
        return text[: rng.randrange(len(text))]
    if how == 1:
        return "\n".join(lines[:at] + lines[at + 1 :])
    if how == 2:
        return "\n".join([*lines[: at + 1], "    # a remark", *lines[at + 1 :]])
    if how == 3:
        names = sorted({node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)})
        return text.replace(rng.choice(names), "other") if names else text
    if how == 4:
        other = rng.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
        return "\n".join(lines)
    if how == 5:
        return text.replace(" == ", " != ").replace(" + ", " - ").replace("if ", "while ")
    return text.replace("return", "print").replace("(", " ( ").replace(")", " ) ")


def pairs() -> list[tuple[str, str]]:
    rng, known = random.Random(20240), functions()
    found = list(EDGES)
    while len(found) < PAIRS:
        reference = rng.choice(known)
        found.append((rng.choice(known) if rng.random() < 0.3 else changed(reference, rng), reference))
    return found


class Ordered(dict):
    """A set in order of first appearance."""

    def __init__(self, members: Iterable[object] = ()) -> None:
        super().__init__(dict.fromkeys(members))

    def add(self, member: object) -> None:
        self[member] = None


def codebleu_values(found: list[tuple[str, str]], ordered: bool) -> list[dict[str, float]]:
    import logging

    from codebleu import calc_codebleu, dataflow_match
    from codebleu.parser import DFG

    logging.disable()
    if ordered:
        dataflow_match.set = DFG.set = Ordered
    return [calc_codebleu([reference], [candidate], "python") for candidate, reference in found]


def crystalbleu_values(found: list[tuple[str, str]]) -> tuple[list[str], list[float]]:
    import re

    from crystalbleu import corpus_bleu
    from nltk.util import ngrams

    tokens = [[re.findall(r"\w+|[^\w\s]", text) for text in pair] for pair in found]
    counts = Counter(gram for _, words in tokens for order in (1, 2, 3, 4) for gram in ngrams(words, order))
    shared = set(sorted(counts, key=lambda gram: (-counts[gram], gram))[:50])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = [corpus_bleu([[words]], [made], ignoring=shared) for made, words in tokens]
    return sorted(" ".join(gram) for gram in shared), [float(value) for value in values]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    if str(out) == "-":
        json.dump(codebleu_values([tuple(pair) for pair in json.load(sys.stdin)], ordered=False), sys.stdout)
        return
    found = pairs()
    values, (shared, crystal) = codebleu_values(found, ordered=True), crystalbleu_values(found)
    rows = [
        {"candidate": candidate, "reference": reference, "crystalbleu": crystal[at], **values[at]}
        for at, (candidate, reference) in enumerate(found)
    ]
    data = json.dumps({"shared": shared, "pairs": rows}, indent=0, sort_keys=True).encode()
    out.write_bytes(gzip.compress(data, mtime=0))
    apart = [0.0] * len(found)
    for seed in HASH_SEEDS:
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        done = subprocess.run(
            [sys.executable, __file__, "-"], input=json.dumps(found), env=environment, stdout=-1, text=True, check=True
        )
        for at, run in enumerate(json.loads(done.stdout)):
            apart[at] = max(apart[at], abs(run["codebleu"] - values[at]["codebleu"]))
    strayed = sum(each > 1e-6 for each in apart)
    print(f"{len(rows)} pairs; other hash seeds change {strayed} of them, by up to {max(apart):.3f}")


if __name__ == "__main__":
    main()
