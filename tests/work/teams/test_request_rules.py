"""What counts as an answer to a request in a team, and when a plan may be handed in: decided from the records alone."""

import pytest
from msgspec.structs import replace

from aster.brain.team_requests import answerable, refused, submittable
from aster.contracts.errors import ErrorCode
from aster.contracts.team_requests import (
    GateStatus,
    PlanGate,
    RequestObstacle,
    RequestStatus,
    TeamAnswer,
    TeamRequest,
)

ASKED = TeamRequest(
    request_id="req-1",
    team_id="team-1",
    kind="plan_approval",
    sender="Ada",
    target="lead",
    member="Ada",
    status="pending",
    content="Dig.",
    work_version=3,
    created_at=1,
)
YES = TeamAnswer(request_id="req-1", type="plan_approval_response", responder="lead", approve=True)


def test_the_one_that_was_asked_answers_the_one_that_asked_once() -> None:
    assert answerable(ASKED, YES) is None
    assert answerable(ASKED, replace(YES, recipient="ada")) is None


@pytest.mark.parametrize(
    ("asked", "answer", "reason"),
    [
        (None, YES, "unknown_request"),
        (ASKED, replace(YES, type="shutdown_response"), "wrong_type"),
        (replace(ASKED, kind="shutdown"), YES, "wrong_type"),
        (ASKED, replace(YES, responder="person"), "wrong_responder"),
        (ASKED, replace(YES, responder="Ada"), "wrong_responder"),
        (ASKED, replace(YES, recipient="Bob"), "wrong_recipient"),
    ],
)
def test_everything_else_does_not_count(
    asked: TeamRequest | None, answer: TeamAnswer, reason: RequestObstacle
) -> None:
    assert answerable(asked, answer) == reason
    error = refused(reason, asked, request="req-1")
    assert error.code is (ErrorCode.NOT_FOUND if asked is None else ErrorCode.TEAM_CONFLICT)
    assert "req-1" in error.message
    assert error.details is not None
    assert error.details["reason"] == reason


@pytest.mark.parametrize("status", ["approved", "rejected", "void"])
def test_an_end_is_for_good(status: RequestStatus) -> None:
    assert answerable(replace(ASKED, status=status), YES) == "already_settled"


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (None, "not_required"),
        ("required", None),
        ("pending", "already_pending"),
        ("approved", "already_approved"),
        ("rejected", None),
    ],
)
def test_a_plan_is_handed_in_when_one_is_wanted(status: GateStatus | None, reason: RequestObstacle | None) -> None:
    gate = (
        None
        if status is None
        else PlanGate(team_id="team-1", member="Ada", task_id="a", status=status, work_version=1)
    )
    assert submittable(gate) == reason
