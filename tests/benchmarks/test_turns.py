"""The client and the checks on what it got, with a real model server behind them."""

import pytest
from benchmarks.client import Client, Refused
from benchmarks.prompt import Prompt, WrongAnswer, call, say
from benchmarks.rows.memory import token_delays
from benchmarks.servers import Server
from benchmarks.stage import Model
from benchmarks.subjects import PlainProxy, Turn, data_of, kind_of

from aster.testing import ModelServer


@pytest.fixture
async def server(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Server:
    return Server("model", [], model.port, tmp_path_factory.mktemp("model"), {})


async def test_a_turn_is_read_whole_and_its_call_is_found(server: Server) -> None:
    prompt, other = say(300), say(5)
    subject, model = PlainProxy(server), Model(server)
    await subject.turn(other)
    turn = await subject.turn(prompt)
    (made,) = await model.calls_of(prompt)
    assert turn.text.startswith("w000001 w000002 ")
    assert turn.sent <= made.arrived <= made.began <= turn.first <= turn.ended
    await model.forget()
    assert await model.calls() == []
    server.client.close()


async def test_a_tool_loop_makes_a_call_for_each_round_and_one_more(server: Server) -> None:
    prompt = call("read_file", {"path": "note.txt"}, rounds=3)
    turn = await PlainProxy(server).turn(prompt)
    assert turn.tool_results == 3
    assert len(await Model(server).calls_of(prompt)) == 4
    server.client.close()


async def test_a_task_is_sent_whole_every_time(server: Server, model: ModelServer) -> None:
    subject = PlainProxy(server)
    for _ in range(3):
        await subject.turn(say(2), "task")
    assert [len(made.body["messages"]) for made in model.calls] == [1, 3, 5]
    server.client.close()


async def test_an_answer_that_is_not_what_was_asked_for_is_noticed(server: Server) -> None:
    asked = say(10)
    with pytest.raises(WrongAnswer, match="80 characters in place of 88"):
        await PlainProxy(server).turn(Prompt(asked.text, asked.mark, 11))
    server.client.close()


async def test_an_error_is_told_with_what_the_server_said(model: ModelServer) -> None:
    client = Client(model.port)
    with pytest.raises(Refused, match="404"):
        await client.get("/nowhere")
    client.close()


async def test_a_stream_can_be_left_in_the_middle(server: Server, model: ModelServer) -> None:
    seen: list[bytes] = []

    def take(event: bytes, at: float) -> bool:
        seen.append(event)
        return len(seen) == 2

    body = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"[[text=1000 rate=20]]"}]}'
    await server.client.post("/v1/chat/completions", body, take)
    assert len(seen) == 2
    (made,) = await model.wait_calls(1, ended=True)
    assert made.disconnected


def test_an_event_of_aster_is_taken_apart() -> None:
    event = b'id: 7\nevent: text_delta\ndata: {"type":"text_delta","text":"x"}'
    assert kind_of(event) == b"text_delta"
    assert data_of(event) == b'{"type":"text_delta","text":"x"}'


def test_the_delay_of_a_token_is_counted_from_when_it_was_due() -> None:
    turn = Turn(pieces=[(10.0, "w000001 "), (10.5, "w000002 w00"), (10.6, "0003 ")])
    assert token_delays(turn, 10.0, 10.0) == pytest.approx([0.0, 400.0, 400.0])
