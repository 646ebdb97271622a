"""The estimate against real tokenizers: `token_counts.json` holds texts of every kind and how many tokens those of five
model families make of them."""

import base64
import struct
from pathlib import Path
from statistics import median

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aster.contracts.blocks import (
    AudioBlock,
    Base64Source,
    ContentBlock,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UrlSource,
)
from aster.contracts.llm import ModelRequest
from aster.contracts.messages import Message
from aster.contracts.tools import ToolDef
from aster.herald.tokens import (
    DOCUMENT_TOKENS,
    IMAGE_TOKENS,
    PAGE_TOKENS,
    content_tokens,
    frame_tokens,
    message_tokens,
    text_tokens,
    tools_tokens,
)


class Sample(msgspec.Struct):
    kind: str
    counts: dict[str, int]
    text: str


SAMPLES = msgspec.json.decode((Path(__file__).parent / "token_counts.json").read_bytes(), type=list[Sample])


def tokens(*blocks: ContentBlock) -> int:
    return content_tokens(blocks)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.kind)
def test_it_is_within_15_per_cent_of_what_tokenizers_make_of_a_text(sample: Sample) -> None:
    assert text_tokens(sample.text) == pytest.approx(median(sample.counts.values()), rel=0.15)


def test_it_is_within_15_per_cent_of_every_tokenizer_on_prose_and_code() -> None:
    for sample in SAMPLES:
        if sample.kind in ("prose", "code"):
            for name, count in sample.counts.items():
                assert text_tokens(sample.text) == pytest.approx(count, rel=0.15), (sample.kind, name)


@given(st.text(max_size=300), st.text(max_size=300))
def test_no_text_is_less_than_nothing_and_more_text_is_more_tokens(one: str, other: str) -> None:
    assert text_tokens(one) >= (1 if one else 0)
    assert text_tokens(one + "\n" + other) >= max(text_tokens(one), text_tokens(other)) - 4


@pytest.mark.parametrize("text", ["A" * 4000, "-" * 4000, "7" * 4000, " " * 4000, "\n" * 4000])
def test_a_run_of_one_character_is_still_something(text: str) -> None:
    assert text_tokens(text) >= 150


def test_a_surrogate_does_not_stop_it() -> None:
    assert text_tokens("a \ud83d b") > 0


def test_calls_results_and_schemas_count() -> None:
    call = ToolUseBlock(id="c1", name="read_file", input={"path": "a/b.txt"})
    assert tokens(call) > text_tokens('{"path":"a/b.txt"}')
    result = ToolResultBlock(tool_use_id="c1", content=(TextBlock(text="word " * 400),))
    assert tokens(result) > text_tokens("word " * 400)
    assert tokens(ThinkingBlock(text="hm " * 100, encrypted="x" * 400)) >= text_tokens("hm " * 100) + 100
    tool = ToolDef(name="t", description="Does it.", input_schema={"type": "object", "properties": {"a" * 50: {}}})
    assert tools_tokens((tool, tool)) == 2 * tools_tokens((tool,)) > 20
    request = ModelRequest(model="m", system="You are kind.", messages=(), tools=(tool,))
    bare = msgspec.structs.replace(request, tools=())
    assert frame_tokens(request) == frame_tokens(bare) + tools_tokens((tool,))
    formed = msgspec.structs.replace(bare, output_schema={"type": "object", "required": ["answer"]})
    assert frame_tokens(formed) > frame_tokens(bare)


def png(width: int, height: int) -> ImageBlock:
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + bytes(40)
    return ImageBlock(source=Base64Source(media_type="image/png", data=base64.b64encode(head).decode()))


def test_an_image_costs_by_its_size_and_no_more_than_the_most() -> None:
    assert tokens(png(750, 100)) == 100
    assert tokens(png(4000, 3000)) == IMAGE_TOKENS
    assert tokens(ImageBlock(source=UrlSource(url="https://example.org/a.png"))) == IMAGE_TOKENS
    broken = ImageBlock(source=Base64Source(media_type="image/png", data="not base64!"))
    assert tokens(broken) == IMAGE_TOKENS


def document(data: bytes, media_type: str = "application/pdf") -> DocumentBlock:
    return DocumentBlock(source=Base64Source(media_type=media_type, data=base64.b64encode(data).decode()))


def test_a_pdf_costs_by_the_page_and_a_text_by_its_words() -> None:
    pages = b"%PDF-1.4 /Type /Pages /Count 3" + b" /Type /Page /Parent 1" * 3
    assert tokens(document(pages)) == 3 * PAGE_TOKENS
    assert tokens(document(b"%PDF-1.7" + bytes(70_000))) == 3 * PAGE_TOKENS
    assert tokens(document(b"word " * 100, "text/plain")) == text_tokens("word " * 100)
    assert tokens(DocumentBlock(source=UrlSource(url="https://example.org/a.pdf"))) == DOCUMENT_TOKENS


def test_sound_costs_by_its_length() -> None:
    sound = AudioBlock(source=Base64Source(media_type="audio/mp3", data="A" * 400_000))
    assert tokens(sound) == 600


def test_a_message_has_a_frame() -> None:
    message = Message(role="user", content=(TextBlock(text="hello"),))
    assert message_tokens(message) > text_tokens("hello")
