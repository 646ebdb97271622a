"""What model calls were shown, as a client sees it."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from aster.contracts.events import ContextManifest
from aster.contracts.events.context import ManifestEntry
from aster.engine_core.context.reading import Comparison


class ContextBlock(BaseModel):
    """A part of a prompt."""

    block: str = Field(description="`system`, `rules`, `instructions`, `soul`, `tools`, `history`, `memory`, …")
    source: str = Field(description="Where it comes from.")
    hash: str = Field(description="The same while its text is; of messages, while all before it are too.")
    tokens: int = Field(description="Estimated.")
    messages: int = Field(description="How many messages it is made of.")

    @classmethod
    def of(cls, entry: ManifestEntry) -> "ContextBlock":
        return cls(
            block=entry.block, source=entry.source, hash=entry.hash, tokens=entry.tokens, messages=entry.messages
        )


class ContextCall(BaseModel):
    """One model call."""

    call: int = Field(description="The seq of its `context_manifest` event, by which it is asked for.")
    turn_id: str | None
    step: int
    at: str
    model: str
    total_tokens: int = Field(description="Estimated before the call.")
    window: int | None = Field(description="What prompt and answer may be together.")
    input_tokens: int = Field(description="As the provider counted them; 0 for a call without an answer.")
    cached_tokens: int = Field(description="Of these, read from the provider's cache.")
    written_tokens: int = Field(description="Of these, put into the cache.")
    moved: str | None = Field(description="The first block that was not what it was in the call before.")
    moved_source: str | None

    @classmethod
    def of(cls, manifest: ContextManifest) -> "ContextCall":
        return cls.model_validate(_call(manifest))


class ContextCallDetail(ContextCall):
    blocks: list[ContextBlock] = Field(description="In the order of the prompt.")

    @classmethod
    def of(cls, manifest: ContextManifest) -> "ContextCallDetail":
        blocks = [ContextBlock.of(entry) for entry in manifest.entries]
        return cls.model_validate({**_call(manifest), "blocks": blocks})


class ContextPage(BaseModel):
    calls: list[ContextCall] = Field(description="Newest first.")
    next: int | None = Field(description="Give it as `before` to go on; null at the end.")


class ContextChange(BaseModel):
    """A block in both calls; null where it was not there."""

    change: Literal["same", "changed", "grown", "added", "removed"]
    before: ContextBlock | None
    after: ContextBlock | None


class ContextMoved(BaseModel):
    block: str
    source: str


class ContextDiff(BaseModel):
    """Two calls side by side."""

    before: ContextCall
    after: ContextCall
    moved: ContextMoved | None = Field(
        description="The first block of the earlier prompt that the later one does not begin with; null if it does."
    )
    blocks: list[ContextChange]

    @classmethod
    def of(cls, compared: Comparison) -> "ContextDiff":
        return cls(
            before=ContextCall.of(compared.before),
            after=ContextCall.of(compared.after),
            moved=ContextMoved(block=compared.moved.block, source=compared.moved.source)
            if compared.moved
            else None,
            blocks=[
                ContextChange(
                    change=one.change,
                    before=ContextBlock.of(one.before) if one.before else None,
                    after=ContextBlock.of(one.after) if one.after else None,
                )
                for one in compared.blocks
            ],
        )


def _call(manifest: ContextManifest) -> dict[str, Any]:
    """The fields of a call; those at their default are written too."""
    names = (
        "turn_id",
        "step",
        "model",
        "total_tokens",
        "window",
        "input_tokens",
        "cached_tokens",
        "written_tokens",
    )
    fields = {name: getattr(manifest, name) for name in (*names, "moved", "moved_source")}
    return fields | {"call": manifest.seq, "at": manifest.timestamp}
