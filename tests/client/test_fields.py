"""What the SDK knows of an answer is all that the engine says there, and nothing that it never does."""

import pytest
from pydantic import BaseModel

from aster.client import goals, learning, work, workflows
from aster.contracts.model import Contract
from aster.server import learning_answers, work_answers
from aster.server.routes import goals as goal_routes
from aster.server.routes import self_play
from aster.server.routes import workflows as workflow_routes

SAME: list[tuple[type[Contract], type[BaseModel]]] = [
    (learning.LearningRun, learning_answers.RunAnswer),
    (learning.LearningQueue, learning_answers.Queue),
    (learning.LearningState, learning_answers.LearningStatus),
    (learning.LearnedChange, learning_answers.ChangesetAnswer),
    (learning.TrialSummary, learning_answers.TrialAnswer),
    (learning.LearnedRecord, learning_answers.LearnedAnswer),
    (learning.UtilityDay, learning_answers.UtilityDay),
    (learning.JournalEntry, learning_answers.EntryAnswer),
    (learning.ClusterStanding, self_play.ClusterAnswer),
    (learning.PlayedChallenge, self_play.PlayedAnswer),
    (learning.SelfPlayState, self_play.SelfPlayAnswer),
    (work.WorkEntry, work_answers.WorkItemAnswer),
    (work.WorkStory, work_answers.Change),
    (workflows.RunEntry, workflow_routes.WorkflowRunAnswer),
    (workflows.RunCall, workflow_routes.CallAnswer),
    (goals.GoalEntry, goal_routes.GoalAnswer),
]


@pytest.mark.parametrize(("known", "said"), SAME, ids=lambda one: one.__name__)
def test_the_fields_are_the_same(known: type[Contract], said: type[BaseModel]) -> None:
    assert set(known.__struct_fields__) == set(said.model_fields)
