"""What users bring and make: servers and connections, skills, agents and their sub-agents."""

from aster.brain.agents import AgentRow, SubagentEndRow, SubagentRow, SubagentToldRow
from aster.brain.assets import ActionsRow, ConnectionRow, LoginRow, Sealed, ServerRow
from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.brain.skills import SkillRow
from aster.contracts.events import Phase, ThreadLifecycle, Usage
from tests.brain.thread import KEY, begin, end, made

OTHER = ThreadKey("bob", "task-1")


def connection(user_id: str = "ada", credentials: bytes | None = b"sealed") -> ConnectionRow:
    return made(ConnectionRow, f"{user_id}-ref", user_id, "wiki", "connected", b"[]", 1, 1, credentials)


async def test_connections_are_changed_by_whoever_knows_them(brain: Brain) -> None:
    server, actions = made(ServerRow, "ada", "wiki", b"{}", 1), made(ActionsRow, "ada", "wiki", b"[]", 1)
    await brain.put(server, connection(), connection("bob", None), actions)
    assert await brain.servers("ada") == [server]
    assert await brain.connections("ada") == [connection()]
    assert await brain.actions("ada") == [actions]
    assert await brain.servers("bob") == await brain.actions("bob") == []
    assert sorted(await brain.connected_users()) == ["ada", "bob"]
    assert await brain.sealed("", 5) == [Sealed("ada", "ada-ref", b"sealed")]
    assert not await brain.swap_connection(connection(credentials=b"new"), b"other")
    assert await brain.swap_connection(connection(credentials=b"new"), b"sealed")
    assert await brain.swap_connection(connection("bob", b"his"), None)
    assert not await brain.reseal(Sealed("ada", "ada-ref", b"sealed"), b"x")
    assert await brain.reseal(Sealed("ada", "ada-ref", b"new"), b"resealed")
    assert [each.credentials for each in await brain.sealed("", 5)] == [b"resealed", b"his"]
    assert await brain.drop_connection("ada", "wiki")
    assert not await brain.drop_connection("ada", "wiki")
    assert await brain.servers("ada") == await brain.actions("ada") == await brain.connections("ada") == []


async def test_a_login_is_taken_once(brain: Brain) -> None:
    row = made(LoginRow, "hash", "ada", "wiki", b"secret", 1, 100)
    await brain.keep_login(row, 2)
    assert await brain.logins("ada", "wiki", 50) == [row]
    assert await brain.logins("bob", "wiki", 50) == []
    assert await brain.take_login("hash", 50, "bob") is None
    assert await brain.take_login("hash", 50, None) == row
    assert await brain.take_login("hash", 50, "ada") is None
    await brain.keep_login(made(LoginRow, "old", "ada", "wiki", b"", 1, 3), 2)
    await brain.keep_login(row, 4)
    assert await brain.logins("ada", "wiki", 0) == [row]


async def test_skills_and_agents_are_their_users(brain: Brain) -> None:
    skill, agent = made(SkillRow, "ada", "cook", "custom", b"{}", 1, 1), made(AgentRow, "ada", "chef", b"{}", 1)
    await brain.put(skill, agent)
    assert (await brain.skills("ada"), await brain.agents("ada")) == ([skill], [agent])
    assert await brain.skills("bob") == await brain.agents("bob") == []
    assert not await brain.drop_skill("bob", "cook")
    assert not await brain.drop_agent("bob", "chef")
    assert await brain.drop_skill("ada", "cook")
    assert await brain.drop_agent("ada", "chef")


def child(number: int, *, background: bool = False) -> SubagentRow:
    return made(
        SubagentRow,
        f"child-{number}",
        "turn-1",
        "turn-1",
        f"c{number}",
        f"child-task-{number}",
        "general",
        background,
        b"{}",
        5,
    )


async def test_sub_agents_are_followed_from_their_beginning_to_their_end(brain: Brain) -> None:
    await begin(brain)
    await brain.append(KEY, "turn-1", [], rows=[child(1), child(2, background=True)])
    first = await brain.subagent("ada", "child-1")
    assert first is not None
    assert (first.task_id, first.status, bool(first.background), first.parent_status) == (
        "task-1",
        "running",
        False,
        "running",
    )
    assert await brain.subagent("bob", "child-1") is None
    assert [each.child_turn_id for each in await brain.subagents("ada", "turn-1")] == ["child-1", "child-2"]
    assert [each.child_turn_id for each in await brain.subagents_of(KEY)] == ["child-1", "child-2"]
    assert [each.child_turn_id for each in await brain.subagents_running()] == ["child-1", "child-2"]
    assert await brain.subagents("bob", "turn-1") == await brain.subagents_of(OTHER) == []
    assert await brain.waits("ada", "turn-1")
    request = {"parent": {"task_id": "task-1", "home_task_id": "task-1"}, "agent": {"label": "general"}}
    theirs = ThreadKey("ada", "child-task-1")
    spent = Usage(
        step=1, message_id="m", model="m", stop_reason="end_turn", input_tokens=1, output_tokens=1, cost_usd=0.25
    )
    await brain.append(theirs, "child-1", [ThreadLifecycle(phase=Phase.STARTED, request=request), spent])
    assert await brain.offspring(KEY, "turn-1") == (2, 0.25)
    assert await brain.offspring(OTHER, "turn-1") == (0, 0.0)
    assert [task.task_id for task in await brain.threads("ada", limit=5, parent="task-1")] == ["child-task-1"]
    await end(brain, theirs, "child-1")
    await brain.append(KEY, "turn-1", [], rows=[made(SubagentEndRow, "child-1", "completed", "done", 9)])
    await brain.append(KEY, "turn-1", [], rows=[made(SubagentEndRow, "child-2", "completed", "too", 9)])
    assert not await brain.waits("ada", "turn-1")
    assert await brain.subagents_untold_threads() == [KEY]
    await brain.append(KEY, "turn-1", [], rows=[made(SubagentToldRow, "child-2", 10)])
    assert await brain.subagents_untold_threads() == await brain.subagents_running() == []
    ended = await brain.subagent("ada", "child-1")
    assert ended is not None
    assert (ended.result, ended.child_status) == ("done", "completed")
