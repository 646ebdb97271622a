"""An agent that works for another is never wider than that one, whatever its own definition says."""

from aster.contracts.agents import Agent, Parent
from aster.contracts.turn import TurnRequest
from aster.engine_core.agents.profile import chain_of, child_profile, narrower, profile_of
from aster.engine_core.agents.reach import permits
from aster.infra.settings import Settings


def agent(name: str, **more: object) -> Agent:
    return Agent(name=name, description="d", system_prompt=f"You are {name}.", **more)  # type: ignore[arg-type]


def parent(request: TurnRequest, depth: int = 1) -> Parent:
    return Parent(
        task_id="t",
        turn_id="turn",
        tool_call_id="c",
        home_task_id="t",
        root_turn_id="turn",
        depth=depth,
        agents=chain_of(request),
    )


def test_the_more_careful_mode_holds() -> None:
    assert narrower("default", None) == "default"
    assert narrower("default", "bypass") == "default"
    assert narrower("bypass", "auto") == "auto"
    assert narrower("plan", "auto") == "plan"


def test_limits_add_up_from_level_to_level() -> None:
    settings = Settings.model_validate({"subagent_max_turns": 30, "subagent_depth": 2})
    top = TurnRequest(
        agent=profile_of(agent("lead", tools=("read_*", "bash"), disallowed_tools=("web_*",), max_turns=9))
    )
    child = child_profile(agent("coder", tools=("*",), max_turns=50), top, parent(top), settings)
    assert (child.label, child.max_turns) == ("lead/coder", 9)
    assert permits(child, "bash")
    assert not permits(child, "web_fetch")
    assert not permits(child, "write_file")
    assert "spawn_agent" not in child.without
    below = TurnRequest(agent=child, parent=parent(top))
    last = child_profile(None, below, parent(below, depth=2), settings)
    assert (last.label, last.name) == ("lead/coder/general", "general")
    assert not permits(last, "spawn_agent")
    assert not permits(last, "write_file")
    assert "spawn_agent" in last.without


def test_an_unnamed_child_has_the_tools_of_its_caller() -> None:
    request = TurnRequest()
    child = child_profile(None, request, parent(request), Settings.model_validate({}))
    assert (child.label, child.within, child.max_turns) == ("main/general", (), 30)
    assert "all it gets" in " ".join(child.prompt.split())
