"""The Python SDK for programs without an event loop, and for notebooks: what `AsterClient` does, called from threads.

Nothing is implemented here: every line names the method of the async client that is called through the portal. Any
number of threads may share a client; each iterates the streams it opened.
"""

from types import TracebackType
from typing import Self

from aster.client.agents import AgentsClient
from aster.client.assets import AssetsClient
from aster.client.blocking import Call, Part, Stream
from aster.client.client import AsterClient
from aster.client.context import ContextClient
from aster.client.feedback import FeedbackClient
from aster.client.files import FilesClient
from aster.client.follow import OnWait
from aster.client.goals import GoalsClient
from aster.client.learning import LearningClient
from aster.client.memory import MemoryClient
from aster.client.permissions import PermissionsClient
from aster.client.portal import Portal
from aster.client.projects import ProjectsClient
from aster.client.replays import ReplaysClient
from aster.client.runtime import RuntimeClient
from aster.client.schedules import SchedulesClient
from aster.client.skills import SkillsClient
from aster.client.teams import TeamsClient
from aster.client.usage import UsageClient
from aster.client.work import WorkClient
from aster.client.workflows import WorkflowsClient
from aster.client.worktrees import WorktreesClient


class Permissions(Part[PermissionsClient]):
    """See `PermissionsClient`."""

    list = Call(PermissionsClient.list)
    grant = Call(PermissionsClient.grant)
    revoke = Call(PermissionsClient.revoke)
    test = Call(PermissionsClient.test)
    backtest = Call(PermissionsClient.backtest)


class Memory(Part[MemoryClient]):
    """See `MemoryClient`."""

    search = Call(MemoryClient.search)
    search_store = Call(MemoryClient.search_store)
    list = Call(MemoryClient.list)
    get = Call(MemoryClient.get)
    receipt = Call(MemoryClient.receipt)
    history = Call(MemoryClient.history)
    write = Call(MemoryClient.write)
    correct = Call(MemoryClient.correct)
    mark = Call(MemoryClient.mark)
    preview = Call(MemoryClient.preview)
    forget = Call(MemoryClient.forget)
    wipe = Call(MemoryClient.wipe)
    soul = Call(MemoryClient.soul)
    soul_history = Call(MemoryClient.soul_history)
    change_soul = Call(MemoryClient.change_soul)
    statistics = Call(MemoryClient.statistics)
    contradictions = Call(MemoryClient.contradictions)
    social_paths = Call(MemoryClient.social_paths)
    add_document = Call(MemoryClient.add_document)
    documents = Call(MemoryClient.documents)
    working = Call(MemoryClient.working)
    export = Stream(MemoryClient.export)
    take_in = Call(MemoryClient.take_in)


class Context(Part[ContextClient]):
    """See `ContextClient`."""

    calls = Call(ContextClient.calls)
    call = Call(ContextClient.call)
    diff = Call(ContextClient.diff)


class Assets(Part[AssetsClient]):
    """See `AssetsClient`."""

    servers = Call(AssetsClient.servers)
    connections = Call(AssetsClient.connections)
    connect = Call(AssetsClient.connect)
    actions = Call(AssetsClient.actions)
    contents = Call(AssetsClient.contents)
    login = Call(AssetsClient.login)
    wait_login = Call(AssetsClient.wait_login)
    finish_login = Call(AssetsClient.finish_login)
    rotate_key = Call(AssetsClient.rotate_key)
    disconnect = Call(AssetsClient.disconnect)


class Learning(Part[LearningClient]):
    """See `LearningClient`."""

    status = Call(LearningClient.status)
    run = Call(LearningClient.run)
    changesets = Call(LearningClient.changesets)
    changeset = Call(LearningClient.changeset)
    decide = Call(LearningClient.decide)
    revert_night = Call(LearningClient.revert_night)
    trials = Call(LearningClient.trials)
    trial = Call(LearningClient.trial)
    learned = Call(LearningClient.learned)
    utility = Call(LearningClient.utility)
    journal = Call(LearningClient.journal)
    requeue = Call(LearningClient.requeue)
    events = Stream(LearningClient.events)
    self_play = Call(LearningClient.self_play)
    play = Call(LearningClient.play)
    stop_self_play = Call(LearningClient.stop_self_play)


class Work(Part[WorkClient]):
    """See `WorkClient`."""

    boards = Call(WorkClient.boards)
    create = Call(WorkClient.create)
    list = Call(WorkClient.list)
    get = Call(WorkClient.get)
    edit = Call(WorkClient.edit)
    link = Call(WorkClient.link)
    claim = Call(WorkClient.claim)
    claim_next = Call(WorkClient.claim_next)
    complete = Call(WorkClient.complete)
    release = Call(WorkClient.release)
    reopen = Call(WorkClient.reopen)
    delete = Call(WorkClient.delete)
    history = Call(WorkClient.history)


class Teams(Part[TeamsClient]):
    """See `TeamsClient`."""

    create = Call(TeamsClient.create)
    list = Call(TeamsClient.list)
    get = Call(TeamsClient.get)
    add_members = Call(TeamsClient.add_members)
    stop = Call(TeamsClient.stop)
    stop_member = Call(TeamsClient.stop_member)
    shutdown = Call(TeamsClient.shutdown)
    mail = Call(TeamsClient.mail)
    say = Call(TeamsClient.say)
    plans = Call(TeamsClient.plans)
    ask_plan = Call(TeamsClient.ask_plan)
    requests = Call(TeamsClient.requests)
    request = Call(TeamsClient.request)
    answer = Call(TeamsClient.answer)


class Feedback(Part[FeedbackClient]):
    """See `FeedbackClient`."""

    give = Call(FeedbackClient.give)
    list = Call(FeedbackClient.list)
    take_back = Call(FeedbackClient.take_back)


class Skills(Part[SkillsClient]):
    """See `SkillsClient`."""

    list = Call(SkillsClient.list)
    get = Call(SkillsClient.get)
    create = Call(SkillsClient.create)
    update = Call(SkillsClient.update)
    approve = Call(SkillsClient.approve)
    delete = Call(SkillsClient.delete)


class Workflows(Part[WorkflowsClient]):
    """See `WorkflowsClient`."""

    list = Call(WorkflowsClient.list)
    start = Call(WorkflowsClient.start)
    runs = Call(WorkflowsClient.runs)
    get = Call(WorkflowsClient.get)
    resume = Call(WorkflowsClient.resume)
    cancel = Call(WorkflowsClient.cancel)


class Goals(Part[GoalsClient]):
    """See `GoalsClient`."""

    get = Call(GoalsClient.get)
    put = Call(GoalsClient.put)
    clear = Call(GoalsClient.clear)


class Agents(Part[AgentsClient]):
    """See `AgentsClient`."""

    list = Call(AgentsClient.list)
    put = Call(AgentsClient.put)
    delete = Call(AgentsClient.delete)


class Files(Part[FilesClient]):
    """See `FilesClient`."""

    upload = Call(FilesClient.upload)
    write = Call(FilesClient.write)
    read = Call(FilesClient.read)
    download = Call(FilesClient.download)
    pack = Call(FilesClient.pack)
    unpack = Call(FilesClient.unpack)


class Usage(Part[UsageClient]):
    """See `UsageClient`."""

    report = Call(UsageClient.report)
    budgets = Call(UsageClient.budgets)
    set_budget = Call(UsageClient.set_budget)
    drop_budget = Call(UsageClient.drop_budget)


class Replays(Part[ReplaysClient]):
    """See `ReplaysClient`."""

    run = Call(ReplaysClient.run)
    report = Call(ReplaysClient.report)
    list = Call(ReplaysClient.list)
    recording = Call(ReplaysClient.recording)


class Schedules(Part[SchedulesClient]):
    """See `SchedulesClient`."""

    create = Call(SchedulesClient.create)
    edit = Call(SchedulesClient.edit)
    preview = Call(SchedulesClient.preview)
    list = Call(SchedulesClient.list)
    get = Call(SchedulesClient.get)
    cancel = Call(SchedulesClient.cancel)
    pause = Call(SchedulesClient.pause)
    resume = Call(SchedulesClient.resume)
    run = Call(SchedulesClient.run)
    occurrences = Call(SchedulesClient.occurrences)


class Runtime(Part[RuntimeClient]):
    """See `RuntimeClient`."""

    list = Call(RuntimeClient.list)
    get = Call(RuntimeClient.get)
    output = Call(RuntimeClient.output)
    follow = Stream(RuntimeClient.follow)
    kill = Call(RuntimeClient.kill)


class Projects(Part[ProjectsClient]):
    """See `ProjectsClient`."""

    create = Call(ProjectsClient.create)
    list = Call(ProjectsClient.list)
    get = Call(ProjectsClient.get)
    edit = Call(ProjectsClient.edit)
    delete = Call(ProjectsClient.delete)
    switch = Call(ProjectsClient.switch)
    exit = Call(ProjectsClient.exit)
    pause = Call(ProjectsClient.pause)
    resume = Call(ProjectsClient.resume)
    advance = Call(ProjectsClient.advance)
    advances = Call(ProjectsClient.advances)
    items = Call(ProjectsClient.items)
    add = Call(ProjectsClient.add)
    artifacts = Call(ProjectsClient.artifacts)
    keep = Call(ProjectsClient.keep)
    events = Call(ProjectsClient.events)
    log = Call(ProjectsClient.log)


class Worktrees(Part[WorktreesClient]):
    """See `WorktreesClient`."""

    create = Call(WorktreesClient.create)
    list = Call(WorktreesClient.list)
    get = Call(WorktreesClient.get)
    keep = Call(WorktreesClient.keep)
    remove = Call(WorktreesClient.remove)


class SyncAsterClient(Part[AsterClient]):
    """An engine, as with `AsterClient`: `with SyncAsterClient(url, key) as client`. `on_wait` and `on_request` are
    called in the thread that waits, so they may block, ask a person, and use the client.

    What runs on the engine goes on when a stream is left or Ctrl-C ends it; `cancel` stops it, `replay` comes back.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        patience: float = 60.0,
        silence: float = 45.0,
        on_wait: OnWait | None = None,
    ) -> None:
        inner = AsterClient(url, key, patience=patience, silence=silence, on_wait=on_wait)
        portal = Portal(inner.close)
        super().__init__(inner, portal)
        self.permissions = Permissions(inner.permissions, portal)
        self.memory = Memory(inner.memory, portal)
        self.context = Context(inner.context, portal)
        self.assets = Assets(inner.assets, portal)
        self.feedback = Feedback(inner.feedback, portal)
        self.learning = Learning(inner.learning, portal)
        self.work = Work(inner.work, portal)
        self.teams = Teams(inner.teams, portal)
        self.workflows = Workflows(inner.workflows, portal)
        self.worktrees = Worktrees(inner.worktrees, portal)
        self.goals = Goals(inner.goals, portal)
        self.skills = Skills(inner.skills, portal)
        self.agents = Agents(inner.agents, portal)
        self.files = Files(inner.files, portal)
        self.usage = Usage(inner.usage, portal)
        self.replays = Replays(inner.replays, portal)
        self.schedules = Schedules(inner.schedules, portal)
        self.projects = Projects(inner.projects, portal)
        self.runtime = Runtime(inner.runtime, portal)

    @property
    def url(self) -> str:
        return self._inner.url

    def close(self) -> None:
        """End everything that is under way, and the thread it runs on."""
        self._portal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    execute = Stream(AsterClient.execute)
    ask = Call(AsterClient.ask)
    replay = Stream(AsterClient.replay)
    watch = Stream(AsterClient.watch)
    cancel = Call(AsterClient.cancel)
    respond = Call(AsterClient.respond)
    pending = Call(AsterClient.pending)
    tasks = Call(AsterClient.tasks)
    task = Call(AsterClient.task)
    events = Call(AsterClient.events)
    thread = Stream(AsterClient.thread)
    rename = Call(AsterClient.rename)
    fork = Call(AsterClient.fork)
    plan = Call(AsterClient.plan)
    uncertainties = Call(AsterClient.uncertainties)
    recurring_uncertainties = Call(AsterClient.recurring_uncertainties)
    trajectory = Call(AsterClient.trajectory)
    artifacts = Call(AsterClient.artifacts)
    artifact = Call(AsterClient.artifact)
    undo = Call(AsterClient.undo)
    rpc = Call(AsterClient.rpc)
    compact = Call(AsterClient.compact)
    delete = Call(AsterClient.delete)
    health = Call(AsterClient.health)
    about = Call(AsterClient.about)
    replicas = Call(AsterClient.replicas)
    tools = Call(AsterClient.tools)
    metrics = Call(AsterClient.metrics)
    reload_catalog = Call(AsterClient.reload_catalog)
