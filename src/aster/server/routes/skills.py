"""Skills: those the engine has for everybody, and those a user wrote, which that user alone may change."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, Field

from aster.contracts.errors import ErrorCode
from aster.contracts.model import to_builtins
from aster.server.bodies import warnings
from aster.server.errors import refusals
from aster.server.media import Part, Text
from aster.server.routes.memory import BODY
from aster.server.visit import KEYED, Learning, Serving, Visiting
from aster.skills.drafts import MOST_TAGS, Draft
from aster.skills.skill import BODY_CHARS, DESCRIPTION_CHARS, MOST_FILES, NAME_CHARS, Skill, Source

router = APIRouter(prefix="/skills", tags=["skills"], dependencies=KEYED)

SkillName = Annotated[str, Path(description="The skill's name.", max_length=128)]
_TEXT_CHARS = 1_000_000


class SkillEntry(BaseModel):
    name: str
    description: str
    source: Literal["platform", "custom"] = Field(description="`custom` for one of your own, which you may change.")
    category: str
    confidence: float = Field(description="How far it may be relied on, from 0 to 1.")
    origin: Source = Field(
        description="Who wrote it: `platform`, `operator`, you (`custom`) or your agent (`acquired`, `composed`)."
    )
    status: Literal["active", "degraded", "retired", "proposed", "approved"] | None = Field(
        description="How one that your agent wrote stands; null for any other."
    )

    @classmethod
    def of(cls, skill: Skill) -> "SkillEntry":
        return cls(
            name=skill.name,
            description=skill.description,
            source=_source(skill),
            category=skill.category,
            confidence=skill.confidence,
            origin=skill.source,
            status=(part := skill.acquired or skill.composed) and part.status,
        )


class SkillList(BaseModel):
    skills: list[SkillEntry] = Field(description="In the order of their names.")


class AcquiredAnswer(BaseModel):
    """What your agent wrote, and how it has done."""

    version: int
    status: Literal["active", "degraded", "retired"]
    uses: int
    failures: int = Field(description="In a row, up to now.")
    parameters_schema: dict[str, Any]
    test_payload: dict[str, Any] = Field(description="The input it was tested with before it was kept.")


class StepAnswer(BaseModel):
    tool: str
    input: dict[str, Any]
    save_as: str
    optional: bool
    when: dict[str, str] | None = Field(None, description="What has to hold for it to be made.")


class ComposedAnswer(BaseModel):
    """Calls of tools that your agent proposed; it can use them once you approve."""

    status: Literal["proposed", "approved", "degraded", "retired"]
    parameters: list[str]
    steps: list[StepAnswer]
    mode: Literal["sequential", "parallel"] = Field("sequential", description="`parallel`: all calls at once.")
    uses: int = 0
    failures: int = Field(0, description="In a row, up to now.")


class SkillAnswer(SkillEntry):
    """A skill, whole."""

    prompt_template: str
    scripts: dict[str, str] = Field(description="Its files that are text, by name.")
    files: list[str] = Field(description="The names of all its files.")
    capabilities: list[str]
    allowed_tools: list[str] = Field(description="What it asks for; asking gives it nothing.")
    acquired: AcquiredAnswer | None = None
    composed: ComposedAnswer | None = None

    @classmethod
    def of(cls, skill: Skill) -> "SkillAnswer":
        files = {"skill.py": skill.acquired.code.encode()} if skill.acquired is not None else skill.files
        texts = {name: _text(data) for name, data in files.items()}
        return cls(
            **SkillEntry.of(skill).model_dump(),
            prompt_template=skill.body,
            scripts={name: text for name, text in texts.items() if text is not None},
            files=sorted(files),
            capabilities=list(skill.capabilities),
            allowed_tools=list(skill.tools),
            acquired=_acquired(skill),
            composed=_composed(skill),
        )


class CreateSkillBody(Part):
    """A skill of your own; it has a `prompt` or `scripts`, or both."""

    name: Text = Field(max_length=NAME_CHARS, description="Lowercase letters and digits, joined by hyphens.")
    description: Text = Field("", max_length=DESCRIPTION_CHARS, description="What it is for and when to use it.")
    category: Text = ""
    prompt: Text = Field("", max_length=BODY_CHARS, description="Its instructions; `{{name}}` takes a parameter.")
    capabilities: list[Text] = Field(default_factory=list[str], max_length=MOST_TAGS)
    scripts: dict[str, Annotated[Text, Field(max_length=_TEXT_CHARS)]] = Field(
        default_factory=dict[str, str],
        max_length=MOST_FILES,
        description="Files by name; commands in the sandbox can read them.",
    )

    def draft(self) -> Draft:
        return Draft(
            name=self.name,
            description=self.description,
            category=self.category,
            prompt=self.prompt,
            capabilities=tuple(self.capabilities),
            scripts=self.scripts,
        )


class UpdateSkillBody(Part):
    """What is left out stays as it is."""

    description: Text | None = Field(None, max_length=DESCRIPTION_CHARS)
    category: Text | None = None
    prompt: Text | None = Field(None, max_length=BODY_CHARS)
    capabilities: list[Text] | None = Field(None, max_length=MOST_TAGS)
    scripts: dict[str, Annotated[Text, Field(max_length=_TEXT_CHARS)]] | None = Field(None, max_length=MOST_FILES)

    def changes(self) -> dict[str, object]:
        given = {name: getattr(self, name) for name in UpdateSkillBody.model_fields}
        found = {name: value for name, value in given.items() if value is not None}
        return {**found, **({"capabilities": tuple(self.capabilities)} if self.capabilities is not None else {})}


class SkillDeleted(BaseModel):
    status: Literal["deleted"] = "deleted"
    name: str


@router.get("", summary="List skills", response_model=SkillList, responses=refusals())
async def skills(engine: Serving, visit: Visiting) -> SkillList:
    """Those everybody has and your own. Skills that lie in a workspace are not listed here."""
    found = await engine.skills.of(visit.user_id)
    return SkillList(skills=[SkillEntry.of(found[name]) for name in sorted(found)])


@router.get(
    "/{name}",
    summary="One skill, whole",
    response_model=SkillAnswer,
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def skill(name: SkillName, engine: Serving, visit: Visiting) -> SkillAnswer:
    """Its instructions and its files."""
    return SkillAnswer.of(await engine.skills.find(visit.user_id, name))


@router.post("/create", summary="Create a skill of your own", response_model=SkillAnswer, responses=refusals(*BODY))
async def create_skill(body: CreateSkillBody, engine: Serving, visit: Visiting, response: Response) -> SkillAnswer:
    """Turns know it from the next one on. It travels with an exported memory."""
    made = await engine.skills.create(visit.user_id, body.draft())
    response.headers.update(warnings(body))
    return SkillAnswer.of(made)


@router.post(
    "/{name}/approve",
    summary="Approve a composed skill",
    response_model=SkillAnswer,
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def approve_skill(name: SkillName, engine: Serving, centre: Learning, visit: Visiting) -> SkillAnswer:
    """Your agent can use it from its next turn on. Each of its calls is decided like any other all the same; a new
    proposal of the same name has to be approved anew."""
    await engine.skills.approve(visit.user_id, name)
    await centre.settled(visit.user_id, name, "accept")
    return SkillAnswer.of(await engine.skills.find(visit.user_id, name))


@router.put(
    "/{name}",
    summary="Change a skill of your own",
    response_model=SkillAnswer,
    responses=refusals(*BODY, ErrorCode.NOT_FOUND, ErrorCode.PERMISSION_DENIED),
)
async def update_skill(
    name: SkillName, body: UpdateSkillBody, engine: Serving, visit: Visiting, response: Response
) -> SkillAnswer:
    """Its name stays; a skill of another name is another skill."""
    changed = await engine.skills.update(visit.user_id, name, body.changes())
    response.headers.update(warnings(body))
    return SkillAnswer.of(changed)


@router.delete(
    "/{name}",
    summary="Delete a skill of your own",
    response_model=SkillDeleted,
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.PERMISSION_DENIED, ErrorCode.INVALID_REQUEST),
)
async def delete_skill(name: SkillName, engine: Serving, centre: Learning, visit: Visiting) -> SkillDeleted:
    """Also one that your agent wrote."""
    await engine.skills.delete(visit.user_id, name)
    await centre.settled(visit.user_id, name, "reject")
    return SkillDeleted(name=name)


def _source(skill: Skill) -> Literal["platform", "custom"]:
    return "platform" if skill.source in ("platform", "operator") else "custom"


def _text(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _composed(skill: Skill) -> ComposedAnswer | None:
    found = skill.composed
    if found is None:
        return None
    steps = [
        StepAnswer(
            tool=step.tool,
            input=step.input,
            save_as=step.save_as,
            optional=step.optional,
            when=None if step.when is None else to_builtins(step.when),
        )
        for step in found.steps
    ]
    return ComposedAnswer(
        status=found.status,
        parameters=list(found.parameters),
        steps=steps,
        mode=found.mode,
        uses=found.uses,
        failures=found.failures,
    )


def _acquired(skill: Skill) -> AcquiredAnswer | None:
    found = skill.acquired
    if found is None:
        return None
    return AcquiredAnswer(
        version=found.version,
        status=found.status,
        uses=found.uses,
        failures=found.failures,
        parameters_schema=found.parameters,
        test_payload=found.test_payload,
    )
