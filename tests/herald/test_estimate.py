"""The most a call may cost: more than it will, never less, and nothing when no price is known. And what one that
was cut off is taken to have used."""

import pytest

from aster.contracts.blocks import Base64Source, DocumentBlock, ImageBlock, TextBlock, ToolResultBlock, UrlSource
from aster.contracts.llm import ModelRequest, TokenUsage
from aster.contracts.messages import Message
from aster.herald.estimate import DOCUMENT_TOKENS, IMAGE_TOKENS, cut_off_usage, input_tokens, most_usd
from aster.herald.protocols.base import SoFar

DAY = "2026-11-15"


def request(*blocks: object, model: str = "gpt-4o", max_tokens: int = 1000, system: str = "") -> ModelRequest:
    message = Message(role="user", content=blocks)  # type: ignore[arg-type]
    return ModelRequest(model=model, system=system, messages=(message,), max_tokens=max_tokens)


def test_the_answer_is_taken_to_be_as_long_as_it_may_be() -> None:
    short, long = request(max_tokens=1000), request(max_tokens=2000)
    assert (most_usd(long, DAY) or 0) - (most_usd(short, DAY) or 0) == pytest.approx(0.01)


def test_it_is_more_than_real_text_costs() -> None:
    words = "The quick brown fox jumps over the lazy dog. " * 100
    assert input_tokens(request(TextBlock(text=words), system=words)) > 2 * 100 * 10


def test_every_kind_of_content_counts() -> None:
    base = input_tokens(request())
    image = ImageBlock(source=Base64Source(media_type="image/png", data="A" * 100_000))
    assert input_tokens(request(image)) == base + IMAGE_TOKENS
    assert input_tokens(request(ToolResultBlock(tool_use_id="c", content=(image,)))) == base + IMAGE_TOKENS
    document = DocumentBlock(source=Base64Source(media_type="application/pdf", data="A" * 100_000))
    assert input_tokens(request(document)) == base + 10_000
    assert input_tokens(request(DocumentBlock(source=UrlSource(url="u")))) == base + DOCUMENT_TOKENS


def test_the_dearest_bucket_counts() -> None:
    cached = most_usd(request(TextBlock(text="x" * 3_000_000), model="claude-opus-5", max_tokens=1), DAY)
    assert cached == pytest.approx(6.25, rel=0.01)


def test_no_price_no_estimate() -> None:
    assert most_usd(request(model="somebodys-model"), DAY) is None


def test_a_call_that_was_cut_counts_what_went_out_and_came_in() -> None:
    asked = request(TextBlock(text="x" * 300))
    used = cut_off_usage(asked, SoFar(characters=31))
    assert used == TokenUsage(input=input_tokens(asked), output=11)


def test_what_the_provider_said_of_a_cut_call_counts() -> None:
    said = TokenUsage(input=7, cache_read=5, output=1)
    asked = request(TextBlock(text="x" * 300))
    assert cut_off_usage(asked, SoFar(said, 31)) == TokenUsage(input=7, cache_read=5, output=11)
    assert cut_off_usage(asked, SoFar(TokenUsage(input=7, output=40), 31)).output == 40
