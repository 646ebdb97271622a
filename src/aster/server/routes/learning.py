"""Learning: what it stands at, what it has changed and why, and taking it back; also doing it now."""

from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Response

from aster.brain.learning import Decision
from aster.brain.records import ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.learning import LEARNING_TASK, ChangesetKind, ChangesetStatus, EntryState, TrialStatus
from aster.infra.clock import iso_ms
from aster.learning_centre import report
from aster.server.bodies import LARGEST, warnings
from aster.server.errors import refusals
from aster.server.learning_answers import (
    ChangesetAnswer,
    ChangesetPage,
    DecideBody,
    EntryAnswer,
    EntryPage,
    LearnedAnswer,
    LearnedPage,
    LearningStatus,
    Money,
    Queue,
    RevertBody,
    RevertedAnswer,
    RunAnswer,
    RunBody,
    RunsAnswer,
    TrialAnswer,
    TrialPage,
    UtilityAnswer,
    UtilityDay,
    WorkAnswer,
)
from aster.server.reference import STREAMED
from aster.server.routes.memory import BODY
from aster.server.sse import EventStream, NoEnd
from aster.server.visit import KEYED, Learning, Serving, Visiting

router = APIRouter(prefix="/learning", tags=["learning"], dependencies=KEYED)


Id = Annotated[str, Path(max_length=128)]
Limit = Annotated[int, Query(ge=1, le=200)]
Beyond = Annotated[int | None, Query(ge=1, le=LARGEST, description="`next` of the page before.")]
ASKED = (ErrorCode.INVALID_REQUEST,)


@router.get("", summary="How learning stands", response_model=LearningStatus)
async def learning_status(centre: Learning, engine: Serving, visit: Visiting) -> LearningStatus:
    """What waits, what was done last, when it goes on, and what it has cost today."""
    bench, settings = centre.bench(), engine.settings
    queue = await bench.store.queue(visit.user_id)
    last = {ran.work: RunAnswer.of(ran) for ran in await centre.last(visit.user_id)}
    next_run = await centre.next_run()
    return LearningStatus(
        mode=settings.learning,
        by_itself=centre.by_itself,
        review=settings.lc_review,
        task_id=LEARNING_TASK,
        queue=Queue(
            waiting=queue.waiting,
            claimed=queue.claimed,
            set_aside=queue.set_aside,
            done=queue.done,
            oldest_at=None if queue.oldest_at is None else iso_ms(queue.oldest_at),
        ),
        works=[
            WorkAnswer(
                name=work.name,
                idle_seconds=work.idle_seconds,
                cooldown_seconds=work.cooldown_seconds,
                last=last.get(work.name),
            )
            for work in centre.works.values()
        ],
        next_run_at=None if next_run is None else iso_ms(next_run),
        budget=Money(limit_usd=settings.lc_budget_usd, spent_usd=await bench.spent_usd(visit.user_id)),
    )


@router.post(
    "/run",
    summary="Learn now",
    response_model=RunsAnswer,
    responses={**refusals(*BODY), 202: {"model": RunsAnswer, "description": "It was begun."}},
)
async def learn(body: RunBody, centre: Learning, visit: Visiting, response: Response) -> RunsAnswer:
    """Model calls of learning stand back behind those that answer people, also now."""
    done = await centre.asked(visit.user_id, body.works, wait=body.wait)
    response.headers.update(warnings(body))
    if not body.wait:
        response.status_code = 202
    return RunsAnswer(runs=[RunAnswer.of(ran) for ran in done], task_id=LEARNING_TASK)


@router.get(
    "/events",
    summary="Follow learning as it happens",
    status_code=200,
    response_class=EventStream,
    responses={**refusals(*ASKED), 200: STREAMED},
)
async def learning_events(
    engine: Serving,
    visit: Visiting,
    after_seq: Annotated[int, Query(ge=0, le=LARGEST, description="Everything after this event.")] = 0,
    last_event_id: Annotated[
        int | None, Header(ge=0, le=LARGEST, description="As browsers send it; wins over `after_seq`.")
    ] = None,
) -> Response:
    """What was told on the learning thread, then what is, for as long as somebody reads."""
    key = ThreadKey(visit.user_id, LEARNING_TASK)
    subscription = engine.brain.subscribe(key, after_seq if last_event_id is None else last_event_id)
    return EventStream(engine, LEARNING_TASK, subscription, NoEnd(), {"X-Task-ID": LEARNING_TASK})


@router.get(
    "/changesets",
    summary="List what was learned, change by change",
    response_model=ChangesetPage,
    responses=refusals(*ASKED),
)
async def changesets(
    engine: Serving,
    visit: Visiting,
    status: ChangesetStatus | None = None,
    kind: ChangesetKind | None = None,
    night: Annotated[str | None, Query(pattern=r"^\d{4}-\d{2}-\d{2}$")] = None,
    limit: Limit = 20,
    before: Beyond = None,
) -> ChangesetPage:
    """Newest first."""
    found = await engine.brain.learning.changesets(
        visit.user_id, limit=limit + 1, before=before, status=status, kind=kind, night=night
    )
    more = found[limit - 1].number if len(found) > limit else None
    return ChangesetPage(changesets=[ChangesetAnswer.of(engine.memory, one) for one in found[:limit]], next=more)


@router.get(
    "/changesets/{changeset_id}",
    summary="Show a changeset as a diff",
    response_model=ChangesetAnswer,
    responses=refusals(*ASKED, ErrorCode.NOT_FOUND),
)
async def changeset(changeset_id: Id, engine: Serving, visit: Visiting) -> ChangesetAnswer:
    """Each item with what it takes the place of, the words it rests on, where they stand, and what became of it."""
    found = await engine.brain.learning.changeset(visit.user_id, changeset_id)
    if found is None:
        raise _missing("changeset", changeset_id, "/learning/changesets")
    return ChangesetAnswer.of(engine.memory, found)


@router.post(
    "/changesets/{changeset_id}/{decision}",
    summary="Accept, reject or revert a changeset",
    response_model=ChangesetAnswer,
    responses=refusals(*BODY, ErrorCode.NOT_FOUND),
)
async def decide_changeset(
    changeset_id: Id,
    decision: Decision,
    body: DecideBody,
    centre: Learning,
    engine: Serving,
    visit: Visiting,
    response: Response,
) -> ChangesetAnswer:
    """`revert` leaves memory as it was before, but for what somebody has changed since: such items are `kept`."""
    done = await centre.decide(visit.user_id, changeset_id, decision, body.places)
    response.headers.update(warnings(body))
    return ChangesetAnswer.of(engine.memory, done)


@router.post(
    "/revert",
    summary="Take back everything learned in a night",
    response_model=RevertedAnswer,
    responses=refusals(*BODY),
)
async def revert_night(
    body: RevertBody, centre: Learning, engine: Serving, visit: Visiting, response: Response
) -> RevertedAnswer:
    """Changeset by changeset, the newest first; what somebody has changed since is kept and told."""
    done = await centre.revert_night(visit.user_id, body.night)
    response.headers.update(warnings(body))
    return RevertedAnswer(night=body.night, changesets=[ChangesetAnswer.of(engine.memory, one) for one in done])


@router.get(
    "/trials", summary="List trials of learned things", response_model=TrialPage, responses=refusals(*ASKED)
)
async def learning_trials(
    engine: Serving,
    visit: Visiting,
    status: TrialStatus | None = None,
    limit: Limit = 50,
    before: Beyond = None,
) -> TrialPage:
    """Newest first, without their runs."""
    found = await engine.brain.learning.trials(visit.user_id, limit=limit + 1, status=status, before=before)
    more = found[limit - 1].number if len(found) > limit else None
    return TrialPage(trials=[TrialAnswer.of(one) for one in found[:limit]], next=more)


@router.get(
    "/trials/{trial_id}",
    summary="Show a trial with its runs",
    response_model=TrialAnswer,
    responses=refusals(*ASKED, ErrorCode.NOT_FOUND),
)
async def learning_trial(trial_id: Id, engine: Serving, visit: Visiting) -> TrialAnswer:
    """Every recorded turn it was tried on, with and without it, with the scores."""
    found = await engine.brain.learning.trial(visit.user_id, trial_id)
    if found is None:
        raise _missing("trial", trial_id, "/learning/trials")
    return TrialAnswer.of(found)


@router.get(
    "/learned",
    summary="What was learned about you, and from where",
    response_model=LearnedPage,
    responses=refusals(*ASKED),
)
async def learned_about(centre: Learning, visit: Visiting, limit: Limit = 50, before: Beyond = None) -> LearnedPage:
    """Newest first, a page of changesets at a time."""
    found, more = await report.learned(centre.engine, visit.user_id, limit, before)
    now = centre.bench().now()
    return LearnedPage(learned=[LearnedAnswer.of(one, now) for one in found], next=more)


@router.get(
    "/utility", summary="What learning was good for", response_model=UtilityAnswer, responses=refusals(*ASKED)
)
async def learning_utility(
    centre: Learning, visit: Visiting, days: Annotated[int, Query(ge=1, le=366)] = 30
) -> UtilityAnswer:
    """Day by day: what was learned, promoted and retired, how often it was used, what was said of it."""
    found = await report.utility(centre.engine, visit.user_id, days, centre.bench().now())
    return UtilityAnswer(days=[UtilityDay.model_validate(day._asdict()) for day in found])


@router.get(
    "/journal",
    summary="What happened and is learned from",
    response_model=EntryPage,
    responses=refusals(*ASKED),
)
async def learning_journal(
    engine: Serving, visit: Visiting, state: EntryState | None = None, limit: Limit = 50, before: Beyond = None
) -> EntryPage:
    """Newest first. What could not be learned from after several tries is `set_aside`."""
    found = await engine.brain.learning.entries(visit.user_id, limit=limit + 1, before=before, state=state)
    more = found[limit - 1].number if len(found) > limit else None
    return EntryPage(entries=[EntryAnswer.of(one) for one in found[:limit]], next=more)


@router.post(
    "/journal/{number}/requeue",
    summary="Let something that was set aside be tried again",
    response_model=EntryAnswer,
    responses=refusals(*ASKED, ErrorCode.NOT_FOUND),
)
async def requeue_entry(
    number: Annotated[int, Path(ge=1, le=LARGEST)], engine: Serving, visit: Visiting
) -> EntryAnswer:
    """It waits with the others then, as if nobody had tried."""
    store = engine.brain.learning
    if not await store.requeue(visit.user_id, number):
        raise _missing("entry that was set aside,", str(number), "/learning/journal?state=set_aside")
    (entry,) = await store.entries(visit.user_id, limit=1, before=number + 1)
    return EntryAnswer.of(entry)


def _missing(what: str, name: str, where: str) -> EngineError:
    return EngineError(ErrorCode.NOT_FOUND, f"There is no {what} {name!r}. GET {where} lists them.")
