"""What a typed line means; what is not clearly a yes is none."""

import pytest

from aster.cli.questions import Reply, hint, put, understand
from aster.contracts.events import HitlRequest
from aster.contracts.permissions import GrantOffer

PERMISSION = HitlRequest(
    request_id="h", kind="permission", question="May it?", tool="bash", input={"command": "rm x\x1b[2J"}
)
OFFERED = HitlRequest(
    request_id="h",
    kind="permission",
    question="May it?",
    offer=GrantOffer(tool="bash", pattern="git push *"),
)
QUESTION = HitlRequest(request_id="h", kind="question", question="Which?", options=("red", "blue"))
DOUBT = HitlRequest(request_id="h", kind="in_doubt", question="Did it?", options=("done", "again", "skip"))
LOGIN = HitlRequest(request_id="h", kind="login", question="Log in", options=("done", "no"))
PLAN = HitlRequest(request_id="h", kind="plan_approval", question="May Ada go on?", options=("yes", "no"))
BUDGET = HitlRequest(request_id="h", kind="budget", question="Go on?", input={"scope": "task"})


@pytest.mark.parametrize(
    ("request_", "line", "reply"),
    [
        (PERMISSION, "y", Reply("yes")),
        (PLAN, "y", Reply("yes")),
        (PLAN, "yes, slowly", Reply("yes", "slowly")),
        (PLAN, "tests first", Reply("no", "tests first")),
        (LOGIN, "done", Reply("done")),
        (LOGIN, "y", Reply("done")),
        (LOGIN, "no, later", Reply("no", "later")),
        (LOGIN, "what?", None),
        (PERMISSION, "Yes, but only once", Reply("yes", "but only once")),
        (PERMISSION, "n", Reply("no")),
        (PERMISSION, "no use trash instead", Reply("no", "use trash instead")),
        (PERMISSION, "use trash", Reply("no", "use trash")),
        (PERMISSION, "yesterday I did", Reply("no", "yesterday I did")),
        (PERMISSION, "  ", None),
        (PERMISSION, "always", None),
        (OFFERED, "a", Reply("always task")),
        (OFFERED, "Always everywhere", Reply("always everywhere")),
        (OFFERED, "always this agent, thanks", Reply("always task", "this agent, thanks")),
        (OFFERED, "always this agent thanks", Reply("always agent", "thanks")),
        (OFFERED, "a for this task", Reply("always task")),
        (OFFERED, "a for 2h", Reply("always task", None, 7200)),
        (
            OFFERED,
            "a everywhere for 30 minutes while I am here",
            Reply("always everywhere", "while I am here", 1800),
        ),
        (OFFERED, "always agent for 3d", Reply("always agent", None, 259_200)),
        (OFFERED, "always for 3 months", None),
        (OFFERED, "always for now", None),
        (QUESTION, "2", Reply("blue")),
        (QUESTION, "3", Reply("3")),
        (QUESTION, "green", Reply("green")),
        (QUESTION, "", None),
        (DOUBT, "again", Reply("again")),
        (DOUBT, "skip it was late", Reply("skip", "it was late")),
        (DOUBT, "perhaps", None),
        (BUDGET, "Y", Reply("yes")),
        (BUDGET, "no, it is enough", Reply("no", "it is enough")),
        (BUDGET, "perhaps", None),
    ],
)
def test_lines_are_understood(request_: HitlRequest, line: str, reply: Reply | None) -> None:
    assert understand(request_, line) == reply


def test_questions_are_put_with_what_they_are_about() -> None:
    assert put(PERMISSION) == "? May it?\n  rm x␛[2J"
    assert put(QUESTION).splitlines()[1:] == ["  1. red", "  2. blue"]
    assert "done, again, skip" in hint(DOUBT)
    assert "[y]es" in hint(PERMISSION)
    assert "[a]lways" not in hint(PERMISSION)
    assert "[a]lways" in hint(OFFERED)
    assert put(OFFERED).endswith("(always: bash: git push *)")
    assert put(BUDGET) == "? Go on?"
    assert hint(BUDGET) == "[y]es or [n]o: "
    assert hint(QUESTION).startswith("number")
