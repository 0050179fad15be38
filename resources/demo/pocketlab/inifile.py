"""Settings files with sections, references between them and typed answers."""

import re
from collections.abc import Mapping

COMMENT = re.compile(r"(^|\s)[#;].*$")
REFERENCE = re.compile(r"\$\{(?:(\w+):)?(\w+)\}")
TRUTHS = {
    "yes": True,
    "on": True,
    "true": True,
    "no": False,
    "off": False,
    "false": False,
}
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


class SettingsError(ValueError):
    """A settings file that cannot be understood."""


class Settings:
    """Values by section and name, as a file gives them.

    Names before the first section belong to 'general', which every other
    section falls back on.
    """

    def __init__(self, sections: Mapping[str, Mapping[str, str]]) -> None:
        self._sections = {name: dict(values) for name, values in sections.items()}

    @classmethod
    def parse(cls, text: str) -> "Settings":
        """Read a file's text.

        An indented line goes on with the value before it. A name given twice
        in one section is an error, a section opened twice is not.
        """
        sections: dict[str, dict[str, str]] = {"general": {}}
        section = sections["general"]
        name = ""
        for number, raw in enumerate(text.splitlines(), start=1):
            line = COMMENT.sub("", raw).rstrip()
            if not line:
                continue
            if line[0].isspace():
                if not name:
                    raise SettingsError(f"line {number}: nothing to go on with")
                section[name] = f"{section[name]} {line.strip()}".strip()
            elif line.startswith("["):
                if not line.endswith("]"):
                    raise SettingsError(f"line {number}: the section lacks a ]")
                section = sections.setdefault(line[1:-1].strip().lower(), {})
                name = ""
            else:
                name, sign, value = (part.strip() for part in line.partition("="))
                name = name.lower()
                if not sign or not name:
                    raise SettingsError(f"line {number}: expected name = value")
                if name in section:
                    raise SettingsError(f"line {number}: {name} is given twice")
                section[name] = value
        return cls(sections)

    def sections(self) -> list[str]:
        """List the sections in the order of the file."""
        return list(self._sections)

    def text(self, section: str, name: str) -> str:
        """Return a value with all references in it resolved."""
        return self._resolve(section, name, ())

    def flag(self, section: str, name: str) -> bool:
        """Return a value that is a yes or a no, in one of its spellings."""
        answer = TRUTHS.get(self.text(section, name).lower())
        if answer is None:
            raise SettingsError(f"{section}.{name} must be yes or no")
        return answer

    def seconds(self, section: str, name: str) -> int:
        """Return a duration such as '90', '5m' or '1h 30m' in seconds."""
        total = 0
        for part in self.text(section, name).split():
            match = re.fullmatch(r"(\d+)([smhd]?)", part)
            if match is None:
                raise SettingsError(f"{section}.{name}: no duration: {part}")
            total += int(match[1]) * UNITS[match[2]]
        return total

    def items(self, section: str, name: str) -> list[str]:
        """Return the parts of a value between commas, without empty ones."""
        parts = self.text(section, name).split(",")
        return [part.strip() for part in parts if part.strip()]

    def _resolve(self, section: str, name: str, above: tuple[str, ...]) -> str:
        place = f"{section}.{name}"
        if place in above:
            raise SettingsError("circular: " + " -> ".join([*above, place]))
        for candidate in (section, "general"):
            value = self._sections.get(candidate, {}).get(name)
            if value is not None:
                break
        else:
            raise SettingsError(f"{place} is not set")

        def replacement(match: re.Match[str]) -> str:
            return self._resolve(match[1] or section, match[2], (*above, place))

        return REFERENCE.sub(replacement, value)
