"""The offered tools, as the parser needs them: which names are calls, and what their parameters look like.

Only an offered name makes a call. A name may be written a little differently (`functions.x`, other case, `-` for
`_`) when exactly one offered tool can be meant; it is never guessed by likeness.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from aster.contracts.tools import ToolDef
from aster.herald.text_tools.values import properties_of

_PREFIXES = ("functions.", "function.", "tools.", "tool.", "default_api.", "default.")


class Toolbox:
    """Names and schemas. Without any tool it is `unnamed`: every name counts, no schema is known."""

    def __init__(self, tools: Iterable[ToolDef]) -> None:
        self._schemas = {tool.name: tool.input_schema for tool in tools}
        self.unnamed = not self._schemas
        alike: dict[str, list[str]] = {}
        for name in self._schemas:
            alike.setdefault(_bare(name), []).append(name)
        self._alike = {bare: names[0] for bare, names in alike.items() if len(names) == 1}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._schemas)

    def resolve(self, name: str) -> str | None:
        """The offered tool that is meant, or None."""
        name = name.strip()
        if not name or name in self._schemas:
            return name or None
        for prefix in _PREFIXES:
            if name.startswith(prefix):
                return self.resolve(name[len(prefix) :])
        return name if self.unnamed else self._alike.get(_bare(name))

    def schema(self, name: str) -> Mapping[str, Any]:
        return self._schemas.get(name, {})

    def properties(self, name: str) -> Mapping[str, Any]:
        """The parameters of a tool and their schemas."""
        return properties_of(self.schema(name))

    def fitting(self, keys: Iterable[str]) -> str | None:
        """The one tool that takes all these arguments, for dialects in which a call may have lost its name."""
        wanted = set(keys)
        if not wanted:
            return None
        found = [name for name in self._schemas if wanted <= self.properties(name).keys()]
        return found[0] if len(found) == 1 else None


def _bare(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())
