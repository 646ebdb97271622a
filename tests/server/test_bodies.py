"""What a client may say, and what is said about the rest."""

import base64
from typing import Any

import pytest
from pydantic import ValidationError

from aster.contracts.blocks import Base64Source, DocumentBlock, ImageBlock, TextBlock, UrlSource
from aster.engine_core.orders import OnBusy
from aster.server.bodies import ExecuteBody, ForkBody, RespondBody, warnings
from aster.server.errors import field_name

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()


def execute(**fields: Any) -> ExecuteBody:
    return ExecuteBody.model_validate({"message": "hi", "task_id": "t1", **fields})


def problems(kind: type[Any], **fields: Any) -> dict[str, str]:
    with pytest.raises(ValidationError) as refused:
        kind.model_validate(fields)
    return {field_name(dict(item)): item["msg"] for item in refused.value.errors()}


def image(source: dict[str, Any]) -> dict[str, Any]:
    return {"type": "image", "source": source}


def test_a_plain_message_becomes_an_order() -> None:
    order = execute(direct=True, on_busy="steer").order("req-1")
    assert (order.task_id, order.message, order.direct, order.on_busy) == ("t1", "hi", True, OnBusy.STEER)
    assert order.request_id == "req-1"


def test_media_becomes_blocks() -> None:
    inline = {"type": "base64", "media_type": "image/png", "data": PNG}
    body = execute(
        message="",
        media=[
            image(inline),
            image({"type": "url", "url": "https://pictures.example/a.png"}),
            {"type": "document", "source": {**inline, "media_type": "application/pdf"}, "title": "Report"},
            {"type": "text", "text": "more"},
        ],
    )
    assert body.order("r").media == (
        ImageBlock(source=Base64Source(media_type="image/png", data=PNG)),
        ImageBlock(source=UrlSource(url="https://pictures.example/a.png")),
        DocumentBlock(source=Base64Source(media_type="application/pdf", data=PNG), title="Report"),
        TextBlock(text="more"),
    )


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"task_id": ""}, "task_id"),
        ({"task_id": "   "}, "task_id"),
        ({"task_id": "x" * 257}, "task_id"),
        ({"task_id": "a\nb"}, "task_id"),
        ({"task_id": "a\x00b"}, "task_id"),
        ({"task_id": 7}, "task_id"),
        ({"message": ""}, "message"),
        ({"message": " \n"}, "message"),
        ({"message": None}, "message"),
        ({"direct": "yes"}, "direct"),
        ({"direct": 1}, "direct"),
        ({"on_busy": "never"}, "on_busy"),
        ({"edit_message_id": "m1", "retry_message_id": "m2"}, "edit_message_id"),
        ({"media": {}}, "media"),
        ({"media": [{"type": "hologram"}]}, "media.0"),
        ({"media": [image({"type": "base64", "media_type": "image/png", "data": "???"})]}, "media.0.source.data"),
        ({"media": [image({"type": "base64", "media_type": "image/png", "data": ""})]}, "media.0.source.data"),
        ({"media": [image({"type": "base64", "media_type": "image/tiff", "data": PNG})]}, "media.0.source"),
        ({"media": [image({"type": "url", "url": "file:///etc/passwd"})]}, "media.0.source.url"),
        ({"media": [image({"type": "url", "url": "http://[bad"})]}, "media.0.source.url"),
        ({"media": [{"type": "text", "text": "x"}] * 101}, "media"),
    ],
)
def test_a_wrong_field_is_named(fields: dict[str, Any], field: str) -> None:
    assert list(problems(ExecuteBody, **{"message": "hi", "task_id": "t1", **fields})) == [field]


@pytest.mark.parametrize("task_id", ["x" * 256, "a b", "Ünïcode 🌟", "a/b?c#d%e", '"quoted"'])
def test_any_printable_text_names_a_task(task_id: str) -> None:
    assert execute(task_id=task_id).task_id == task_id


def test_text_that_is_no_unicode_is_made_whole() -> None:
    assert execute(message="lone \ud800 pair \ud83c\udf1f").message == "lone � pair 🌟"


def test_an_earlier_message_is_run_again_without_a_new_one() -> None:
    assert execute(message="", retry_message_id="msg-1").order("r").retry_message_id == "msg-1"


def test_an_answer_has_to_be_addressed() -> None:
    assert list(problems(RespondBody, answer="yes")) == ["request_id"]
    assert list(problems(RespondBody, answer="", task_id="t1")) == ["answer"]


@pytest.mark.parametrize("seq", [0, -1, "3", 2.5, True, 2**60])
def test_a_fork_needs_a_real_place(seq: Any) -> None:
    assert list(problems(ForkBody, seq=seq)) == ["seq"]


def test_unknown_fields_are_named_wherever_they_are() -> None:
    body = execute(
        context={"files": []}, media=[{"type": "text", "text": "x", "colour": "red"}], **{"sch\u00f6n,\n": 1}
    )
    assert warnings(body) == {"X-Aster-Warning": "unknown fields ignored: context, sch?n??, media.0.colour"}


def test_a_flood_of_unknown_fields_is_counted_not_repeated() -> None:
    said = warnings(execute(**{f"field{number}": 1 for number in range(25)}))["X-Aster-Warning"]
    assert said.endswith("field19 and 5 more")


def test_a_known_body_is_not_warned_about() -> None:
    assert warnings(execute()) == {}
