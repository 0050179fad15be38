"""Addresses with changing parts: recognising them and writing them."""

import re
from collections.abc import Mapping
from urllib.parse import quote, unquote

HOLE = re.compile(r"\{(\w+)(?::(\w+))?\}")
PATTERNS = {"text": r"[^/]+", "int": r"-?\d+", "slug": r"[a-z0-9]+(?:-[a-z0-9]+)*"}
REST = r".+"

Value = str | int


class Template:
    """An address such as '/users/{id:int}/files/{path:rest}'.

    A part is 'text' unless it says otherwise: any characters but a slash.
    'rest' takes slashes too and must come last.
    """

    def __init__(self, template: str) -> None:
        self.template = template
        self.kinds: dict[str, str] = {}
        pattern = ""
        position = 0
        for hole in HOLE.finditer(template):
            name, kind = hole[1], hole[2] or "text"
            if name in self.kinds:
                raise ValueError(f"{name} appears twice in {template}")
            if kind == "rest" and hole.end() < len(template):
                raise ValueError(f"{name} must come last in {template}")
            if kind != "rest" and kind not in PATTERNS:
                raise ValueError(f"unknown kind {kind} in {template}")
            self.kinds[name] = kind
            pattern += re.escape(template[position : hole.start()])
            pattern += f"({PATTERNS.get(kind, REST)})"
            position = hole.end()
        self._pattern = re.compile(pattern + re.escape(template[position:]))

    def match(self, path: str) -> dict[str, Value] | None:
        """Return the values of the parts, or None if the address is another one."""
        found = self._pattern.fullmatch(path)
        if found is None:
            return None
        values: dict[str, Value] = {}
        for (name, kind), raw in zip(self.kinds.items(), found.groups(), strict=True):
            values[name] = int(raw) if kind == "int" else unquote(raw)
        return values

    def build(self, **values: Value) -> str:
        """Write an address; values without a part in it become its query.

        Every part needs a value that `match` would give back.
        """
        missing = [name for name in self.kinds if name not in values]
        if missing:
            raise ValueError("no value for " + ", ".join(missing))

        def fill(hole: re.Match[str]) -> str:
            safe = "/" if hole[2] == "rest" else ""
            return quote(str(values[hole[1]]), safe=safe)

        path = HOLE.sub(fill, self.template)
        parts = {name: values[name] for name in self.kinds}
        if self.match(path) != parts:
            raise ValueError(f"{parts} does not fit {self.template}")
        return path + _query({n: v for n, v in values.items() if n not in parts})

    def rank(self) -> tuple[int, ...]:
        """Return a sort key: exact addresses first, then the pickier ones."""
        strict = ["exact", "int", "slug", "text", "rest"]
        key = []
        for segment in self.template.strip("/").split("/"):
            hole = HOLE.search(segment)
            kind = (hole[2] or "text") if hole else "exact"
            key.append(strict.index(kind))
        return tuple(key)


class Router:
    """Finds out which of several named templates an address follows."""

    def __init__(self, templates: Mapping[str, str]) -> None:
        named = [(name, Template(text)) for name, text in templates.items()]
        self._routes = sorted(named, key=lambda route: route[1].rank())

    def find(self, address: str) -> tuple[str, dict[str, Value]]:
        """Return the name of the strictest template that fits, and its values.

        A query and a slash at the end make no difference.
        """
        path = address.partition("?")[0]
        path = path.rstrip("/") or "/"
        for name, template in self._routes:
            values = template.match(path)
            if values is not None:
                return name, values
        raise LookupError(f"nothing at {path}")


def _query(values: Mapping[str, Value]) -> str:
    pairs = [f"{quote(name)}={quote(str(values[name]))}" for name in sorted(values)]
    return "?" + "&".join(pairs) if pairs else ""
