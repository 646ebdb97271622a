"""What each protocol makes of media: as they are, as text, or as a line that says what was there."""

import base64
import json
from typing import Any

import pytest

from aster.contracts.blocks import (
    AudioBlock,
    Base64Source,
    DocumentBlock,
    FileBlock,
    ImageBlock,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UrlSource,
    VideoBlock,
)
from aster.herald.endpoint import Endpoint
from aster.herald.failure import FailureKind
from aster.herald.protocols import PROTOCOLS
from aster.herald.protocols.media import unread
from tests.herald.asking import asking, assistant, png, user

DATA = base64.b64encode(b"bytes").decode()
URL = "https://example.org/file"
PDF = DocumentBlock(
    source=Base64Source(media_type="application/pdf", data=DATA), title="a.pdf", text="What it says"
)
SCAN = DocumentBlock(source=Base64Source(media_type="application/pdf", data=DATA))
JSON = DocumentBlock(
    source=Base64Source(media_type="application/json", data=base64.b64encode(b'{"a": 1}').decode())
)
WAV = AudioBlock(source=Base64Source(media_type="audio/wav", data=DATA))
OGG = AudioBlock(source=Base64Source(media_type="audio/ogg", data=DATA))
CLIP = VideoBlock(source=Base64Source(media_type="video/mp4", data=DATA))
FAR_CLIP = VideoBlock(source=UrlSource(url=f"{URL}.mov"))

ENDPOINTS = {
    "anthropic": Endpoint.anthropic("k", base_url="http://127.0.0.1:1"),
    "openai_chat": Endpoint.openai_compatible("http://127.0.0.1:1", "m"),
    "openai_responses": Endpoint.openai_compatible("http://127.0.0.1:1", "m", api="responses"),
    "gemini": Endpoint.gemini("k", base_url="http://127.0.0.1:1"),
}


def sent(protocol: str, model: str, block: FileBlock) -> dict[str, Any]:
    """The part of the request that a block became."""
    endpoint = ENDPOINTS[protocol]
    body = json.loads(PROTOCOLS[endpoint.protocol].encode(asking(user("Look:", block), model=model), endpoint).body)
    match protocol:
        case "gemini":
            return body["contents"][0]["parts"][1]
        case "openai_responses":
            return body["input"][0]["content"][1]
        case _:
            return body["messages"][0]["content"][1]


def text_in(part: dict[str, Any]) -> str:
    assert set(part) <= {"type", "text", "cache_control"}
    return part["text"]


@pytest.mark.parametrize(
    ("protocol", "model", "expected"),
    [
        ("anthropic", "claude-sonnet-5-5", "document"),
        ("openai_responses", "gpt-5.6", "input_file"),
        ("gemini", "gemini-3.8-flash", None),
    ],
)
def test_a_pdf_goes_as_a_file_where_files_are_read(protocol: str, model: str, expected: str | None) -> None:
    part = sent(protocol, model, PDF)
    assert part.get("type") == expected
    assert DATA in json.dumps(part)
    assert "What it says" not in json.dumps(part)


@pytest.mark.parametrize(("protocol", "model"), [("openai_chat", "gpt-4o"), ("openai_responses", "gpt-audio")])
def test_a_pdf_goes_as_its_text_elsewhere(protocol: str, model: str) -> None:
    assert text_in(sent(protocol, model, PDF)) == "Document “a.pdf”:\nWhat it says"


def test_a_pdf_without_text_goes_as_a_file_unless_that_is_known_to_fail() -> None:
    assert sent("openai_chat", "gpt-4o", SCAN)["type"] == "file"
    assert text_in(sent("openai_chat", "gpt-audio", SCAN)) == unread(SCAN)


@pytest.mark.parametrize("protocol", list(ENDPOINTS))
def test_a_document_of_json_is_text(protocol: str) -> None:
    assert '{\\"a\\": 1}' in json.dumps(sent(protocol, "m", JSON))


def test_sound_and_video_where_they_are_heard_and_seen() -> None:
    assert sent("gemini", "gemini-3.8-flash", OGG) == {"inlineData": {"mimeType": "audio/ogg", "data": DATA}}
    assert sent("gemini", "gemini-2.5-pro", CLIP) == {"inlineData": {"mimeType": "video/mp4", "data": DATA}}
    far = {"fileData": {"mimeType": "video/quicktime", "fileUri": f"{URL}.mov"}}
    assert sent("gemini", "gemini-3.8-flash", FAR_CLIP) == far
    heard = {"type": "input_audio", "input_audio": {"data": DATA, "format": "wav"}}
    assert sent("openai_chat", "gpt-4o-audio-preview", WAV) == heard


@pytest.mark.parametrize(
    ("protocol", "model", "block"),
    [
        ("anthropic", "claude-sonnet-5-5", WAV),
        ("anthropic", "claude-sonnet-5-5", CLIP),
        ("openai_chat", "gpt-4o", WAV),
        ("openai_chat", "gpt-audio", OGG),
        ("openai_chat", "gpt-audio", CLIP),
        ("openai_responses", "gpt-5.6", WAV),
        ("openai_responses", "gpt-5.6", FAR_CLIP),
        ("gemini", "unheard-of", WAV),
        ("openai_chat", "o3-mini", png()),
    ],
)
def test_what_cannot_be_shown_is_said(protocol: str, model: str, block: FileBlock) -> None:
    said = text_in(sent(protocol, model, block))
    assert said == unread(block)
    assert "cannot be shown" in said


def test_a_picture_of_a_tool_is_not_shown_to_the_blind() -> None:
    result = ToolResultBlock(tool_use_id="c", content=(TextBlock(text="see"), png()))
    endpoint = ENDPOINTS["openai_chat"]
    request = asking("go", assistant(ToolUseBlock(id="c", name="t", input={})), user(result), model="o3-mini")
    body = json.loads(PROTOCOLS["openai_chat"].encode(request, endpoint).body)
    assert body["messages"][-1]["content"] == f"see\n{unread(png())}"


def test_an_address_is_named() -> None:
    assert f"({URL}.mov)" in unread(FAR_CLIP)
    assert "“a.pdf”" in unread(PDF)
    assert unread(ImageBlock(source=UrlSource(url=URL))).startswith("[An image was attached here (https")


@pytest.mark.parametrize(
    ("said", "kinds"),
    [
        ("image input is not supported - hint: provide the mmproj", {"image"}),
        ("This model does not support image input", {"image"}),
        ("At most 0 image(s) may be provided in one prompt.", {"image"}),
        ("Invalid base64 image data", {"image"}),
        ("Multimodal input is not supported", set[str]()),
        ("Unsupported PDF version", {"document"}),
    ],
)
def test_servers_without_a_code_say_it_in_words(said: str, kinds: set[str]) -> None:
    failure = PROTOCOLS["openai_chat"].failure(400, {}, json.dumps({"error": {"message": said}}).encode())
    assert failure.kind is FailureKind.REFUSED_MEDIA
    assert failure.media_kinds == kinds


def test_other_refusals_are_not_about_media() -> None:
    for said in ("Invalid value for 'messages'.", "the file_search tool is unknown", "Streaming is not supported"):
        failure = PROTOCOLS["openai_chat"].failure(400, {}, json.dumps({"error": {"message": said}}).encode())
        assert (failure.kind, failure.media_kinds) == (FailureKind.BAD_REQUEST, frozenset())
