"""What an agent reaches: patterns, what is taken away, and what is the same thing by another name."""

import pytest

from aster.contracts.agents import Profile
from aster.engine_core.agents.reach import permits


def profile(*within: tuple[str, ...], without: tuple[str, ...] = ()) -> Profile:
    return Profile(name="a", label="a", within=within, without=without)


@pytest.mark.parametrize(
    ("agent", "tool", "may"),
    [
        (None, "bash", True),
        (profile(), "bash", True),
        (profile(("read_*", "grep")), "read_file", True),
        (profile(("read_*", "grep")), "bash", False),
        (profile(("*",), ("read_file",)), "read_file", True),
        (profile(("*",), ("read_file",)), "grep", False),
        (profile(("github.*",), without=("github.delete_*",)), "github.delete_repo", False),
        (profile(("READ_FILE",)), "read_file", False),
        (profile(()), "read_file", False),
        (profile(without=("bash",)), "use_skill", False),
        (profile(without=("bash",)), "create_skill", False),
        (profile(without=("bash",)), "load_skill", True),
        (profile(("use_skill",)), "use_skill", True),
        (profile(("github.*",)), "call_tool", True),
        (profile(("read_file",)), "call_tool", False),
    ],
)
def test_a_tool_is_within_reach_or_not(agent: Profile | None, tool: str, may: bool) -> None:
    assert permits(agent, tool) is may
