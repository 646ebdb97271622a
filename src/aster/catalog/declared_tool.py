"""A tool that stands for another: what a model gives is turned into a call of the platform's tool, and it is that
call which is validated, judged, run and answered for."""

from typing import Any, TypeAlias, cast

from aster.catalog.template import Template, Unfit
from aster.contracts.tools import ToolDef, ToolOutcome
from aster.utility_directory.tool import Input, Meant, Tool, ToolContext, UnfitInput

Fixed: TypeAlias = Any
"""A fixed argument: a `Template`, a list or an object with templates in it, or any other value as it is."""


class DeclaredTool(Tool):
    source = "catalog"

    def __init__(
        self,
        definition: ToolDef,
        target: Tool,
        fixed: dict[str, Fixed],
        used: frozenset[str],
        defaults: dict[str, Any],
        requires_permission: bool,
    ) -> None:
        self.definition = definition
        self.requires_permission = requires_permission
        self._target = target
        self._fixed = fixed
        self._used = used
        self._defaults = defaults

    def stands_for(self, given: Input) -> Meant:
        values = {**self._defaults, **given}
        passed = {name: value for name, value in given.items() if name not in self._used}
        try:
            fixed = {name: _rendered(value, values) for name, value in self._fixed.items()}
        except Unfit as problem:
            raise UnfitInput(str(problem)) from None
        return Meant(self._target.definition.name, {**passed, **fixed})

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        meant = self.stands_for(given)
        return await self._target.run(meant.input, context)


def _rendered(value: Fixed, given: Input) -> Any:
    if isinstance(value, Template):
        return value.render(given)
    if isinstance(value, list):
        return [_rendered(item, given) for item in cast("list[Fixed]", value)]
    if isinstance(value, dict):
        return {key: _rendered(item, given) for key, item in cast("dict[str, Fixed]", value).items()}
    return value
