"""A skill's instructions, when the model wants them: by the name in the catalogue, never by a path."""

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.sandbox.backend import Sandbox
from aster.sandbox.paths import Workspace
from aster.skills import shown
from aster.skills.shelf import Shelf
from aster.skills.skill import Skill, one_line
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

_SHOWN_NAMES = 100


class LoadSkill(Tool):
    untrusted_output = False
    definition = ToolDef(
        name="load_skill",
        description=(
            "Show the instructions of a skill from the catalogue, and where its files are. Load a skill before work of"
            " its kind, then follow it."
        ),
        input_schema=input_schema(
            ("name",),
            name={"type": "string", "maxLength": 128, "description": "The skill's name in the catalogue."},
            file={"type": "string", "maxLength": 256, "description": "Show this one of its files instead."},
        ),
    )

    def __init__(self, shelf: Shelf | None = None) -> None:
        self._shelf = shelf

    def effect(self, given: Input) -> Effect:
        return Effect.PURE

    def concurrent(self, given: Input) -> bool:
        return True

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        known = (
            {}
            if self._shelf is None
            else await known_to(self._shelf, context.user_id, context.sandbox, context.workspace)
        )
        skill = known.get(given["name"])
        if self._shelf is None or skill is None or not skill.offered:
            return unknown(given["name"], known)
        if given.get("file"):
            return _file(skill, given["file"])
        place = skill.place
        if place is None and (skill.files or skill.acquired is not None):
            place = str(await self._shelf.place(context.user_id, skill))
        return ToolOutcome.text(shown.whole(skill, place), {"skill": skill.name, "source": skill.source})


async def known_to(shelf: Shelf, user_id: str, sandbox: Sandbox, workspace: Workspace) -> dict[str, Skill]:
    """Every skill that a user has in a workspace; what lies there hides nothing."""
    near = {skill.name: skill for skill in await shelf.nearby(sandbox, workspace)}
    return {**near, **await shelf.of(user_id)}


def unknown(name: str, known: dict[str, Skill]) -> ToolOutcome:
    names = sorted(skill.name for skill in known.values() if skill.offered)
    listed = ", ".join(names[:_SHOWN_NAMES]) or "there are none"
    text = f"Unknown skill: {one_line(name, 80)}. The skills are: {listed}."
    return ToolOutcome.error(text, reason="unknown_skill")


def _file(skill: Skill, name: str) -> ToolOutcome:
    data = skill.files.get(name)
    if data is None:
        where = f" They lie in {skill.place}: use read_file." if skill.place is not None else ""
        listed = ", ".join(sorted(skill.files)) or "none"
        text = f"The skill {skill.name} has no file {one_line(name, 80)!r}. Its files: {listed}.{where}"
        return ToolOutcome.error(text, reason="unknown_file")
    try:
        return ToolOutcome.text(data.decode("utf-8"), {"skill": skill.name, "file": name})
    except UnicodeDecodeError:
        text = f"{name} is no text ({len(data):,} bytes). Commands can read it where load_skill says."
        return ToolOutcome.error(text, reason="not_text")
