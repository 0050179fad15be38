"""Made-up models that make identity chains, and two problems for them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from chat_server import Answer, ChatServer, completion

from rtc_inspector.core.settings import BenchmarkSettings, ChainSettings, EndpointSettings, RunSettings

PROBLEMS = [
    {
        "task_id": "Own/1",
        "prompt": 'def plus_one(number):\n    """Return the number plus one."""\n',
        "entry_point": "plus_one",
        "canonical_solution": "    return number + 1\n",
        "test": "def check(candidate):\n    assert candidate(0) == 1\n    assert candidate(1) == 2\n"
        "    assert candidate(5) == 6\n    assert candidate(-1) == 0\n",
    },
    {
        # The name stands inside other words, and is as short as a name can be (as HumanEval/106's).
        "task_id": "Own/2",
        "prompt": 'def f(offers):\n    """Return the first of the offers."""\n',
        "entry_point": "f",
        "canonical_solution": "    first = offers[0]\n    return first\n",
        "test": "def check(candidate):\n    assert candidate([3, 2]) == 3\n    assert candidate('ab') == 'a'\n",
    },
]


def settings(problems: Path, server: ChatServer, **chain: Any) -> RunSettings:
    return RunSettings(
        task="chain",
        regions=2,
        endpoint=EndpointSettings(server.address, concurrency=1, attempts=1),
        benchmark=BenchmarkSettings(file=str(problems)),
        chain=ChainSettings(**{"steps": 3, **chain}),
    )


def said(body: dict[str, Any]) -> tuple[str, str]:
    """What a question is, `describe` or `write`, and the code in it."""
    question = str(body["messages"][-1]["content"])
    code = re.findall(r"```python\n(.*?)\n```", question, re.DOTALL)[-1]
    return ("write" if '"""' in code else "describe"), code


RIGHT = {
    "Return the number plus one.": "    return number + 1",
    "Return the first of the offers.": "    return offers[0]",
}


def echo(number: int, body: dict[str, Any]) -> Answer:
    """Describes code by quoting it, and writes what is quoted; a person's words it follows rightly."""
    kind, code = said(body)
    if kind == "describe":
        return 200, completion(code.partition("\n")[2], model="m"), {}
    words = code.partition('"""')[2].rpartition('"""')[0]
    made = RIGHT.get(words.strip(), words.rstrip())
    return 200, completion(f"```python\n{code.partition(chr(10))[0]}\n{made}\n```", model="m"), {}


def forgetful(number: int, body: dict[str, Any]) -> Answer:
    """Counts the descriptions of the first problem and goes wrong on one of four tests from the second on."""
    kind, code = said(body)
    if "number" not in code:
        return echo(number, body)
    if kind == "describe":
        told = re.search(r"# told (\d)", code)
        return 200, completion(f"Told {int(told[1]) + 1 if told else 1} times.", model="m"), {}
    times = re.search(r"Told (\d)", code)
    told = f"  # told {times[1]}" if times else ""
    body_text = "return 7 if number == 5 else number + 1" if times and int(times[1]) >= 2 else "return number + 1"
    return 200, completion(f"```python\n{code.partition(chr(10))[0]}\n    {body_text}{told}\n```", model="m"), {}


def garbage(number: int, body: dict[str, Any]) -> Answer:
    """Writes what no parser reads, the same each time."""
    kind, code = said(body)
    text = "Something." if kind == "describe" else f"```python\n{code.partition(chr(10))[0]}\n    return (\n```"
    return 200, completion(text, model="m"), {}


def second(describes: str, writes: str) -> Any:
    """A model that always says the same, and always writes the same."""

    def script(number: int, body: dict[str, Any]) -> Answer:
        kind, code = said(body)
        header = code.partition("\n")[0]
        text = describes if kind == "describe" else f"```python\n{header}\n    {writes}\n```"
        return 200, completion(text, model="n"), {}

    return script
