"""Which programs can do nothing but compute."""

from __future__ import annotations

import ast

import pytest

from rtc_inspector.core.oracle.inside.bench import confined

COMPUTES = {
    "loop": "def f(a):\n    s = 0\n    for x in a:\n        s += x * 2\n    return s",
    "comprehensions": "def f(a):\n    return {k: [y for y in v if y] for k, v in sorted(a.items())}",
    "modules": "import math, heapq as h\nfrom collections import Counter\ndef f(a):\n    h.heapify(a)\n    "
    "return math.sqrt(len(Counter(a).most_common(1)))",
    "annotations": "from typing import List, Optional\ndef f(a: List[int], b: Optional[str]) -> int:\n    return 1",
    "generator": "def f(n):\n    def g():\n        yield from range(n)\n    return list(g())",
    "errors": "def f(a):\n    try: return int(a)\n    except (ValueError, TypeError) as e: raise ValueError(e.args)",
    "type asked": "def f(a):\n    return type(a) == int or type(a).__name__ == 'str' or type(a) is not list",
    "recursion": "def f(n):\n    return n * f(n - 1) if n else 1",
    "caches": "from functools import lru_cache\n@lru_cache(maxsize=None)\ndef f(n):\n    return n",
    "texts": "def f(a):\n    return '{:>3} {}'.format(a, 1) + f'{a!r:>{3}}' + '%s' % a",
    "regular expression": "import re\ndef f(a):\n    m = re.match(r'(a)', a)\n    return m.group(1) if m else a",
    "main": "def f(a):\n    return a\nif __name__ == '__main__':\n    print(f(1))",
    "global": "n = 0\ndef f(a):\n    global n\n    n += 1\n    return n",
}
REACHES = {
    "other module": "import os\ndef f(a):\n    return a",
    "part of a module": "import collections.abc\ndef f(a):\n    return a",
    "module of a module": "import collections\ndef f(a):\n    return collections.abc",
    "relative import": "from . import p_0001",
    "star import": "from math import *",
    "neighbour": "import problems.p_0002",
    "module in hand": "import math\ndef f(a):\n    a.append(math)",
    "module by two names": "import math as m\nimport cmath as m\ndef f(a):\n    return m.sin(a)",
    "module for builtins": "import random as __builtins__",
    "module's name bound": "import math\ndef f(math):\n    return math.pop()",
    "attribute set": "def f(a):\n    a.x = 1",
    "attribute deleted": "def f(a):\n    del a.x",
    "attribute of a module set": "import math\nmath.sqrt = len",
    "attribute in a loop": "import random\nfor random.choice in [len]: pass",
    "underscore": "def f(a):\n    return a.__class__",
    "frames": "def f(a):\n    g = (x for x in a)\n    return g.gi_frame.f_back",
    "attribute by format": "def f(a):\n    return '{0.gi_frame}'.format(a)",
    "attribute by nested format": "def f(a):\n    return '{:{0.x}}'.format(a)",
    "format in a variable": "def f(a, t):\n    return t.format(a)",
    "format in hand": "def f(a):\n    return map(str.format, a)",
    "builtin": "def f(a):\n    return getattr(a, 'x')",
    "builtin by shadow": "def f(a):\n    if a:\n        open = 1\n    return g(a)\ndef g(a):\n    return open(a)",
    "builtins": "def f(a):\n    return __builtins__",
    "class": "class A:\n    def __eq__(self, other):\n        return True",
    "class by type": "def f(a):\n    return type('A', (), {})",
    "class by type in hand": "def f(a):\n    t = type(int)\n    return t('A', (), {})",
    "class by type called": "def f(a):\n    return type(a)('A', (), {})",
    "class by a tuple": "from collections import namedtuple\nP = namedtuple('P', 'x')",
    "wrapping": "from functools import update_wrapper, wraps",
    "attribute by operator": "from operator import attrgetter",
    "exit": "def f(a):\n    raise SystemExit",
    "interrupt": "def f(a):\n    raise KeyboardInterrupt",
    "input": "def f(a):\n    return input()",
    "with": "def f(a):\n    with a:\n        pass",
    "coroutine": "async def f(a):\n    return a",
    "double underscore": "def f(__a):\n    return __a",
}  # fmt: skip


@pytest.mark.parametrize("name", COMPUTES)
def test_a_program_that_only_computes_is_confined(name: str) -> None:
    assert confined(ast.parse(COMPUTES[name]))


@pytest.mark.parametrize("name", REACHES)
def test_a_program_that_could_reach_further_is_not(name: str) -> None:
    assert not confined(ast.parse(REACHES[name]))
