"""The tools models can call here: the platform's, and those the operator declared."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from aster.contracts.tools import Utility
from aster.server.visit import KEYED, Serving, Visiting
from aster.utility_directory.tool import Tool

router = APIRouter(prefix="/tools", tags=["tools"], dependencies=KEYED)


class ToolDefinition(BaseModel):
    """What a model is told about a tool."""

    name: str
    description: str
    input_schema: dict[str, Any] = Field(description="JSON Schema of its input.")


class ToolEntry(BaseModel):
    definition: ToolDefinition
    source: str = Field(
        description="`platform`, `catalog` for a tool the operator declared, `mcp` for one of a connected server."
    )
    requires_permission: bool = Field(description="Whether a person is asked before every call.")

    @classmethod
    def of(cls, tool: Utility) -> "ToolEntry":
        definition = tool.definition
        return cls(
            definition=ToolDefinition(
                name=definition.name, description=definition.description, input_schema=definition.input_schema
            ),
            source=tool.source,
            requires_permission=tool.requires_permission,
        )


class ToolList(BaseModel):
    tools: list[ToolEntry] = Field(description="In the order models see them.")


def listed(tools: tuple[Tool, ...]) -> ToolList:
    found = (
        Utility(definition=tool.definition, source=tool.source, requires_permission=tool.requires_permission)
        for tool in tools
    )
    return ToolList(tools=[ToolEntry.of(tool) for tool in found])


@router.get("", summary="List the tools models can call", response_model=ToolList)
async def tools(engine: Serving, visit: Visiting) -> ToolList:
    """Each with its definition as models see it, also of the servers you are connected to."""
    return listed(await engine.tools_of(visit.user_id))
