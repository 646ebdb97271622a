"""What a model call may cost before it is made, and what one that was cut off is taken to have used.

It errs on the dear side: tokens are counted from bytes, nothing is taken to be cached unless the provider said so,
and an answer not yet begun is taken to be as long as it may be. A model without a price has no estimate.
"""

from collections.abc import Iterable

import msgspec

from aster.contracts.blocks import (
    AudioBlock,
    Base64Source,
    ContentBlock,
    DocumentBlock,
    ImageBlock,
    ToolResultBlock,
    UrlSource,
    VideoBlock,
)
from aster.contracts.llm import ModelRequest, TokenUsage
from aster.contracts.model import encode
from aster.herald.profiles import output_limit, profile_of
from aster.herald.protocols.base import SoFar

BYTES_PER_TOKEN = 3
IMAGE_TOKENS = 2_000
DOCUMENT_TOKENS = 20_000
DOCUMENT_BYTES_PER_TOKEN = 10
RECORDING_BYTES_PER_TOKEN = 100


def most_usd(request: ModelRequest, day: str) -> float | None:
    """The most a call may cost on this day (UTC), or None when its model's price is not known."""
    price = profile_of(request.model).price(day)
    if price is None:
        return None
    tokens = input_tokens(request)
    output = output_limit(request.model, request.max_tokens, request.thinking_budget)
    return max(
        price.of(TokenUsage(input=tokens, output=output)), price.of(TokenUsage(cache_write=tokens, output=output))
    )


def cut_off_usage(request: ModelRequest, so_far: SoFar) -> TokenUsage:
    """The tokens of a call that was cut off: the provider's own count where there is one, what came beyond it."""
    said = so_far.usage
    output = max(said.output, -(-so_far.characters // BYTES_PER_TOKEN))
    if said.input_total:
        return msgspec.structs.replace(said, output=output)
    return TokenUsage(input=input_tokens(request), output=output)


def input_tokens(request: ModelRequest) -> int:
    """How many tokens a request is, counted generously."""
    frame = len(request.system.encode()) + len(encode(request.tools))
    if request.output_schema is not None:
        frame += len(encode(request.output_schema))
    content = (_tokens(message.content) for message in request.messages)
    return frame // BYTES_PER_TOKEN + sum(content) + 4 * len(request.messages)


def _tokens(blocks: Iterable[ContentBlock]) -> int:
    total = 0
    for block in blocks:
        match block:
            case ImageBlock():
                total += IMAGE_TOKENS
            case DocumentBlock(source=Base64Source(data=data)):
                total += len(data) // DOCUMENT_BYTES_PER_TOKEN
            case DocumentBlock() | AudioBlock(source=UrlSource()) | VideoBlock(source=UrlSource()):
                total += DOCUMENT_TOKENS
            case AudioBlock(source=Base64Source(data=data)) | VideoBlock(source=Base64Source(data=data)):
                total += len(data) // RECORDING_BYTES_PER_TOKEN
            case ToolResultBlock():
                total += _tokens(block.content)
            case _:
                total += len(encode(block)) // BYTES_PER_TOKEN + 1
    return total
