"""A sub-agent's question through a door: the answer ends with it, and the next message answers it."""

from aster.testing import ModelServer, Reply, Rule, Text, ToolCall
from tests.live import Live
from tests.server.doors.chat import ask, message_of, user


async def test_what_a_sub_agent_asks_ends_the_answer_and_is_answered_by_the_next_message(
    engine: Live, model: ModelServer
) -> None:
    model.script(
        [
            Rule(Reply([Text("Blue it is.")]), tool="spawn_agent"),
            Rule(Reply([Text("The person wants blue.")]), tool="ask_user"),
            Rule(Reply([ToolCall("spawn_agent", {"prompt": "find the colour"}, id="s1")]), match="^paint", round=0),
            Rule(Reply([ToolCall("ask_user", {"question": "Which colour?"}, id="q1")]), match="^find", round=0),
        ]
    )
    said = [user("paint it")]
    first = message_of(await ask(engine, said))
    assert "The sub-agent general asks: Which colour?" in first["content"]
    second = message_of(await ask(engine, [*said, first, user("blue")]))
    assert second["content"] == "Blue it is."
    assert (await engine.http.get("/hitl/pending")).json()["pending"] == []
