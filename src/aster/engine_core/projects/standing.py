"""A project and the turn that works for it: stopping that, and answering what it asks."""

from aster.brain.records import HitlRecord, ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.projects import Project
from aster.engine_core.coordinator import Coordinator
from aster.engine_core.orders import HitlReply
from aster.engine_core.services import Services


async def question(services: Services, project: Project) -> HitlRecord | None:
    """What a person has to answer before a project goes on."""
    if project.advance is None or project.status != "NEEDS_USER":
        return None
    waiting = await services.brain.pending_requests(project.user_id, project.advance.task_id)
    return next(iter(waiting), None)


async def pause(services: Services, coordinator: Coordinator, project: Project, *, now: bool) -> Project:
    """Let nothing more begin; with `now`, stop what works on it too."""
    desk = services.projects.person(project.user_id)
    paused = await desk.set(project.project_id, "PAUSED", "A person has paused it.")
    if now and project.advance is not None:
        await coordinator.stop(ThreadKey(project.user_id, project.advance.task_id), "cancelled")
        paused = await desk.get(project.project_id)
    return paused


async def resume(
    services: Services, coordinator: Coordinator, project: Project, answer: str | None, by: str
) -> Project:
    """Let it go on; what it asks is answered first."""
    desk, asked = services.projects.person(project.user_id), await question(services, project)
    if asked is not None:
        if answer is None:
            message = f"It waits for an answer: {asked.question} Send it as `answer`, or to /hitl/respond."
            details = {"reason": "needs_user", "request_id": asked.request_id}
            raise EngineError(ErrorCode.WORK_CONFLICT, message, details)
        reply = HitlReply(answer=answer, request_id=asked.request_id, resolved_by=by)
        await coordinator.answer(project.user_id, reply)
        return await desk.get(project.project_id)
    if answer is not None:
        message = "Nothing of the project waits for an answer. Leave `answer` out to let it go on."
        raise EngineError(ErrorCode.HITL_NOT_PENDING, message)
    return await desk.set(project.project_id, "ACTIVE")
