"""Programs, and forms in which real models and servers wrap the right answer; shared by tests of reading."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass

SHAPES = {
    "one": "def {n}(x):\n    return x + 1",
    "typed": "def {n}(x: int, *, y: str = '') -> dict[str, int]:\n    return {{y: x}}",
    "helper": "def helper(x):\n    return x\n\n\ndef {n}(x):\n    return helper(x)",
    "imports": "import re\nfrom os import path\n\n\ndef {n}(x):\n    return re.escape(path.basename(x))",
    "loop": "def {n}(values):\n    best = None\n    for value in values:\n        if best is None or value > best:\n"
    "            best = value\n    return best",
    "docstring": 'def {n}(x):\n    """Add one.\n\n    >>> {n}(1)\n    2\n    """\n    return x + 1',
    "comments": "def {n}(x):\n    # first\n    y = x  # then\n    # last\n    return y",
    "class": "class Box:\n    def {n}(self, x):\n        self.x = x\n        return self\n\n\n"
    "def {n}(x):\n    return Box()",
    "decorated": "import functools\n\n\n@functools.cache\ndef {n}(x):\n    return x * 2",
    "async": "async def {n}(x):\n    async with x:\n        return await x.get()",
    "tabs": "def {n}(x):\n\tif x:\n\t\treturn 1\n\treturn 2",
    "lambda": "LIMIT = 3\n{n} = None\n\n\ndef {n}(x):\n    return (lambda y: y < LIMIT)(x)",
    "raise": "def {n}(x):\n    try:\n        return int(x)\n    except ValueError as error:\n"
    "        raise TypeError('no') from error",
    "match": "def {n}(x):\n    match x:\n        case 1:\n            return 'one'\n"
    "        case _:\n            return ''",
    "yield": "def {n}(x):\n    yield from x\n    yield 1",
    "one line": "def {n}(x): return x",
    "nested": "def {n}(x):\n    def inner(y):\n        return y + x\n\n    return inner",
    "text": 'def {n}(x):\n    return f"""Dear {{x}},\n\nbest\n  wishes"""',
    "long": "def {n}(x):\n    total = 0\n" + "    total += x\n" * 30 + "    return total",
    "walrus": "def {n}(x):\n    if (y := x % 7) > 3:\n        return y\n    return not y",
    # Code that holds the very marks that are looked for.
    "think mark": 'def {n}(text):\n    return text.split("</think>")[-1].removeprefix("<think>")',
    "think marks": "OPEN, CLOSE = '<think>', '</think>'\n\n\ndef {n}(text):\n    return OPEN + text + CLOSE",
    "think template": 'PROMPT = """\n<think>\n{{}}\n</think>\n"""\n\n\ndef {n}(x):\n    return PROMPT.format(x)',
    "fence doc": 'def {n}(x):\n    """Add one.\n\n    ```\n    {n}(1)\n    ```\n    """\n    return x + 1',
    "fence tagged": 'def {n}(x):\n    """Add one.\n\n    ```python\n    {n}(1)\n    ```\n    """\n    return x + 1',
    "fence margin": '"""Adds.\n\n```python\n{n}(1)\n```\n"""\n\n\ndef {n}(x):\n    return x + 1',
    "fence text": 'def {n}(code):\n    return "```python\\n" + code + "\\n```"',
    "fence line": "def {n}(code):\n    return f'''\n```\n{{code}}\n```\n'''",
    "tilde": "def {n}(x):\n    return ~~~x",
    "harmony": 'def {n}(text):\n    return text.split("<|channel|>final<|message|>")[-1]',
}
NAME = "asked"
PROGRAMS = {name: shape.format(n=NAME) for name, shape in SHAPES.items()}

_HMM = "We need a function. Maybe:\n\n```python\ndef asked(draft):\n    return 'a draft, no answer'\n```\n\nNo, wait."


def _fence(code: str) -> str:
    return f"```python\n{code}\n```"


def _longer(code: str) -> str:
    return f"`````py\n{code}\n`````"


def _nested(code: str, sign: str) -> str:
    return f"1. {sign}Here:\n\n{textwrap.indent(_fence(code), '   ', lambda line: True)}\n\n2. Done."


def _quoted(code: str) -> str:
    return "So:\n\n" + "\n".join(f"> {line}".rstrip() for line in _fence(code).split("\n"))


Wrap = Callable[[str], str]
BARE: Mapping[str, Wrap] = {
    "bare": lambda c: c,
    "newlines": lambda c: f"\n\n{c}\n\n",
    "sentence": lambda c: f"Here is the code:\n\n{c}\n",
    "sentences": lambda c: f"Sure, here is the function you want:\n\n{c}\n\nThis function does what was asked.",
    "windows": lambda c: _fence(c).replace("\n", "\r\n"),
}
"""Forms without a fence around the code, and what has to do with lines."""
FENCED: Mapping[str, Wrap] = {
    "fence": _fence,
    "no tag": lambda c: f"```\n{c}\n```",
    "short tag": lambda c: f"```py\n{c}\n```",
    "odd tag": lambda c: f"```python3.11\n{c}\n```",
    "capital tag": lambda c: f"```Python\n{c}\n```",
    "attributes": lambda c: f'```python title="a.py" linenums=1\n{c}\n```',
    "braces": lambda c: f"```{{.python}}\n{c}\n```",
    "tildes": lambda c: f"~~~python\n{c}\n~~~",
    "bare tildes": lambda c: f"~~~\n{c}\n~~~",
    "longer": _longer,
    "prose before": lambda c: f"Here is the code:\n\n{_fence(c)}",
    "prose, no tag": lambda c: f"Here is the code:\n```\n{c}\n```\n",
    "prose around": lambda c: f"Sure!\n\n{_fence(c)}\n\nIt's `asked(x)` that you call.",
    "indented": lambda c: "Here:\n" + textwrap.indent(_fence(c), "  ", lambda line: True),
    "in a list": lambda c: _nested(c, ""),
    "in a bold list": lambda c: _nested(c, "**Answer.** "),
    "quoted": _quoted,
    "unclosed": lambda c: f"```python\n{c}",
    "unclosed after prose": lambda c: f"Here is the code:\n```python\n{c}\n",
    "usage after": lambda c: f"{_fence(c)}\n\nUsage:\n\n```python\nprint(asked(3))\n```",
    "long usage after": lambda c: f"{_fence(c)}\n\nTests:\n\n```python\n{'assert asked(3)' * 99}\n```\n",
    "shell before": lambda c: f"```bash\n{'pip install it && ' * 99}true\n```\n\nThen\n\n{_fence(c)}",
    "mid-line": lambda c: f"The original was ```python x = 1``` so the replacement is ```python\n{c}\n```",
    "glued end": lambda c: f"```python\n{c}```",
    "two the same": lambda c: f"{_fence(c)}\n\nAgain, whole:\n\n{_fence(c)}",
}
THOUGHTS: Mapping[str, Wrap] = {
    "think": lambda c: f"<think>\n{_HMM}\n</think>\n\n{_fence(c)}",
    "think, bare": lambda c: f"<think>\n{_HMM}\n</think>\n\n{c}",
    "think, empty": lambda c: f"<think>\n\n</think>\n\n{_fence(c)}",
    "think, one line": lambda c: f"<think>Easy.</think>{_fence(c)}",
    "think, quoted mark": lambda c: f'<think>\nA "</think>" ends me, `</think>` too.\n{_HMM}</think>\n{_fence(c)}',
    "think, twice": lambda c: f"<think>Hm.</think>\n<think>\n{_HMM}\n</think>\n{_fence(c)}",
    "think, unopened": lambda c: f"{_HMM}\n</think>\n\n{_fence(c)}",
    "think, unopened, glued": lambda c: f"Easy enough.</think>\n\nHere it is:\n\n{_fence(c)}",
    "think, after a word": lambda c: f"Let me see.\n<think>\n{_HMM}\n</think>\n{_fence(c)}",
    "thinking": lambda c: f"<thinking>\n{_HMM}\n</thinking>\n\n{_fence(c)}",
    "THINK": lambda c: f"[THINK]{_HMM}[/THINK]{_fence(c)}",
    "seed": lambda c: f"<seed:think>\n{_HMM}\n</seed:think>\n{_fence(c)}",
    "kimi": lambda c: f"◁think▷{_HMM}◁/think▷{_fence(c)}",
    "gemma": lambda c: f"<|channel>thought\n{_HMM}<channel|>{_fence(c)}",
    "harmony": lambda c: (
        f"<|channel|>analysis<|message|>{_HMM}<|end|><|start|>assistant<|channel|>final<|message|>{_fence(c)}"
    ),
    "harmony, whole": lambda c: (
        f"<|start|>assistant<|channel|>analysis<|message|>{_HMM}<|end|><|start|>assistant"
        f"<|channel|>final<|message|>{c}<|return|>"
    ),
    "harmony, bare words": lambda c: f"analysis{_HMM}assistantfinal{_fence(c)}",
    "granite": lambda c: f"Here is my thought process:\n{_HMM}\n\nHere is my response:\n{_fence(c)}",
    "answer": lambda c: f"<think>\n{_HMM}\n</think>\n<answer>\n{_fence(c)}\n</answer>",
    "end mark": lambda c: f"{_fence(c)}<|im_end|>",
    "llama": lambda c: f"[PYTHON]\n{c}\n[/PYTHON]",
}
FORMS: Mapping[str, Wrap] = {**BARE, **FENCED, **THOUGHTS}

CUT = {
    "think": "<think>\nWell, ",
    "unfinished draft": f"<think>\n{_HMM}\nOr ",
    "THINK": "[THINK]Well, ",
    "harmony": f"<|channel|>analysis<|message|>{_HMM}",
    "seed": "<seed:think>Well",
}
"""Thoughts that were cut at their limit."""


@dataclass(frozen=True)
class Sent:
    """What a server sends of one answer: its content, or parts of it, and what stands apart."""

    content: object
    apart: Mapping[str, object]
    text: str
    thoughts: str


APART: Mapping[str, Callable[[str], Sent]] = {
    "reasoning_content": lambda c: Sent(c, {"reasoning_content": _HMM}, c, _HMM),
    "reasoning": lambda c: Sent(c, {"reasoning": _HMM}, c, _HMM),
    "parts": lambda c: Sent([{"type": "text", "text": c[:9]}, {"type": "text", "text": c[9:]}], {}, c, ""),
    "thinking parts": lambda c: Sent(
        [{"type": "thinking", "thinking": [{"type": "text", "text": _HMM}]}, {"type": "text", "text": c}], {}, c, _HMM
    ),
    "null and thoughts": lambda c: Sent(None, {"reasoning_content": _HMM}, "", _HMM),
}
"""Forms that only a server's message has."""
