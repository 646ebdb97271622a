"""Skills over the wire: those the engine has, and those of the caller's own."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from aster.client.wire import Wire
from aster.contracts.model import Contract


class SkillSummary(Contract):
    """A skill in a list; `source` is `platform`, or `custom` for one of the caller's own."""

    name: str
    description: str
    source: str
    category: str = ""
    confidence: float = 1.0
    origin: str = ""
    status: str | None = None


class SkillPage(Contract):
    skills: tuple[SkillSummary, ...]


class SkillDetail(SkillSummary):
    """A skill, whole."""

    prompt_template: str = ""
    scripts: dict[str, str] = {}
    files: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] = ()
    acquired: dict[str, Any] | None = None
    composed: dict[str, Any] | None = None


class SkillGone(Contract):
    status: str
    name: str


class SkillsClient:
    """The routes under `/skills`."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def list(self) -> SkillPage:
        return await self._wire.ask(SkillPage, "GET", "/skills")

    async def get(self, name: str) -> SkillDetail:
        return await self._wire.ask(SkillDetail, "GET", _path(name))

    async def create(
        self,
        name: str,
        *,
        prompt: str = "",
        description: str = "",
        category: str = "",
        capabilities: Sequence[str] = (),
        scripts: Mapping[str, str] | None = None,
    ) -> SkillDetail:
        """Make a skill of the caller's own, of instructions or scripts or both."""
        body = {
            "name": name,
            "prompt": prompt,
            "description": description,
            "category": category,
            "capabilities": list(capabilities),
            "scripts": dict(scripts or {}),
        }
        return await self._wire.ask(SkillDetail, "POST", "/skills/create", body=body)

    async def update(self, name: str, **changes: Any) -> SkillDetail:
        """Change some of its fields: `prompt`, `description`, `category`, `capabilities`, `scripts`."""
        return await self._wire.ask(SkillDetail, "PUT", _path(name), body=changes)

    async def approve(self, name: str) -> SkillDetail:
        """Let the agent use calls of tools that it proposed."""
        return await self._wire.ask(SkillDetail, "POST", f"{_path(name)}/approve")

    async def delete(self, name: str) -> SkillGone:
        return await self._wire.ask(SkillGone, "DELETE", _path(name))


def _path(name: str) -> str:
    return f"/skills/{quote(name, safe='')}"
