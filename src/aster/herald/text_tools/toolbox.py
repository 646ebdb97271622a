"""The offered tools, as the parser needs them: which names are calls, and what their parameters look like.

Only an offered name makes a call. A name may be written a little differently (`functions.x`, other case, `-` for
`_`) when exactly one offered tool can be meant; it is never guessed by likeness.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from aster.contracts.tools import ToolDef
from aster.herald.text_tools.values import properties_of, types_of

_PREFIXES = ("functions.", "function.", "tools.", "tool.", "default_api.", "default.")


class Toolbox:
    """Names and schemas. Without any tool it is `unnamed`: every name counts, no schema is known."""

    def __init__(self, tools: Iterable[ToolDef]) -> None:
        self._schemas = {tool.name: tool.input_schema for tool in tools}
        self._properties = {name: properties_of(schema) for name, schema in self._schemas.items()}
        self._types: dict[tuple[str, str], set[str]] = {}
        self.unnamed = not self._schemas
        self._alike: dict[str, str] | None = None

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
        return name if self.unnamed else self._like(_bare(name))

    def _like(self, bare: str) -> str | None:
        """The one tool whose name differs by case and punctuation alone."""
        if self._alike is None:
            alike: dict[str, list[str]] = {}
            for name in self._schemas:
                alike.setdefault(_bare(name), []).append(name)
            self._alike = {key: names[0] for key, names in alike.items() if len(names) == 1}
        return self._alike.get(bare)

    def schema(self, name: str) -> Mapping[str, Any]:
        return self._schemas.get(name, {})

    def properties(self, name: str) -> Mapping[str, Any]:
        """The parameters of a tool and their schemas."""
        return self._properties.get(name, {})

    def types(self, name: str, key: str) -> set[str]:
        """Every type a parameter of a tool may have; empty when its schema does not say."""
        known = self._types.get((name, key))
        if known is None:
            schema = self.properties(name).get(key)
            known = types_of(schema, self.schema(name))
            if schema is not None:
                self._types[name, key] = known
        return known

    def fitting(self, keys: Iterable[str]) -> str | None:
        """The tool that takes most of these arguments, for dialects in which a call may have lost its name.

        The only tool there is fits anything; of several, none is guessed at if two fit alike.
        """
        if len(self._schemas) == 1:
            return next(iter(self._schemas))
        wanted = set(keys)
        fits = sorted(((len(wanted & self.properties(name).keys()), name) for name in self._schemas), reverse=True)
        (most, best), (second, _) = fits[:2] if len(fits) > 1 else ((0, ""), (0, ""))
        return best if most > second else None


def _bare(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())
