"""What several replicas on PostgreSQL cost and give, beside the same engine on SQLite in the same run.

Everything shares this machine: engines, database, model server and load generator. The shares of the processor are
figures of their own, because on few cores more replicas take it from each other.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import monotonic

from benchmarks.client import Refused, Take
from benchmarks.figures import Figure, percentile
from benchmarks.prompt import WrongAnswer, say
from benchmarks.replicas import Stage, family_seconds, replicated_stage
from benchmarks.scale import Scale
from benchmarks.subjects import Aster, is_end, kind_of, text_of

WORDS = 50
AT_ONCE = 4
RATE = 50.0
SLICES = 4
STREAMS = 64
_COMMITS = "SELECT xact_commit FROM pg_stat_database WHERE datname = 'aster'"
_WAL = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"
_ROWS = "SELECT count(*) FROM thread_events"
_SIZE = "SELECT pg_database_size('aster')"
_CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'aster' AND usename = 'aster'"


async def replicated(directory: Path, scale: Scale) -> list[Figure]:
    async with replicated_stage(directory) as on:
        return [
            *await _idle(on, scale),
            *await _cost(on, scale),
            *await _throughput(on, scale),
            *await _streams(on, scale),
            *await _tail(on, scale),
            *await _takeover(on, scale),
        ]


async def _idle(on: Stage, scale: Scale) -> list[Figure]:
    """What a replica that has nothing to do asks of itself and of the database."""
    before, commits, began = on.processor(), await on.number(_COMMITS), monotonic()
    await asyncio.sleep(scale.cluster_seconds)
    seconds = monotonic() - began
    asked = (await on.number(_COMMITS) - commits) / seconds / len(on.replicas)
    used = {name: 100 * (now - before[name]) / seconds for name, now in on.processor().items()}
    return [
        _figure("a replica with nothing to do: transactions", "per second", asked),
        _figure("a replica with nothing to do: processor share", "% of a core", used["replica 3"]),
        _figure(
            "a replica with nothing to do: the database's processor share for it",
            "% of a core",
            used["database"] / len(on.replicas),
        ),
    ]


async def _cost(on: Stage, scale: Scale) -> list[Figure]:
    """Processor time of a turn on PostgreSQL and on SQLite, in alternating slices, and what the database gets."""
    spent = {"replica": 0.0, "alone": 0.0, "database": 0.0}
    done = {"replica": 0, "alone": 0}
    growth = dict.fromkeys((_COMMITS, _WAL, _ROWS, _SIZE), 0.0)
    for _ in range(SLICES):
        before = {query: await on.number(query) for query in growth}
        database, engine = family_seconds(on.database.pid), on.replicas[0].server.cpu_seconds()
        done["replica"] += await _load(on, on.replicas[:1], AT_ONCE, scale.cluster_seconds / SLICES)
        spent["replica"] += on.replicas[0].server.cpu_seconds() - engine
        spent["database"] += family_seconds(on.database.pid) - database
        for query in growth:
            growth[query] += await on.number(query) - before[query]
        engine = on.alone.server.cpu_seconds()
        done["alone"] += await _load(on, [on.alone], AT_ONCE, scale.cluster_seconds / SLICES)
        spent["alone"] += on.alone.server.cpu_seconds() - engine
    turns = done["replica"]
    return [
        _figure(
            f"turn of {WORDS} tokens, engine's processor time (beside: SQLite)",
            "ms",
            1000 * spent["replica"] / turns,
            1000 * spent["alone"] / done["alone"],
        ),
        _figure("the same, the database's processor time", "ms", 1000 * spent["database"] / turns),
        _figure("the same, transactions", "per turn", growth[_COMMITS] / turns),
        _figure("the same, rows of events", "per turn", growth[_ROWS] / turns),
        _figure("the same, write-ahead log", "kB", growth[_WAL] / turns / 1000),
        _figure("the same, growth of the database", "kB", growth[_SIZE] / turns / 1000),
        _figure("connections of a replica", "connections", await on.number(_CONNECTIONS) / len(on.replicas)),
        _figure("memory of a replica (beside: SQLite)", "MB", *_memory(on)),
    ]


def _memory(on: Stage) -> tuple[float, float]:
    return on.replicas[0].server.megabytes(), on.alone.server.megabytes()


async def _throughput(on: Stage, scale: Scale) -> list[Figure]:
    """As many turns as fit, on one replica and on all, and who used the processor for them."""
    rates: list[float] = []
    shares: list[dict[str, float]] = []
    for subjects in (on.replicas[:1], on.replicas):
        before, began = on.processor(), monotonic()
        turns = await _load(on, subjects, scale.cluster_clients, scale.cluster_seconds)
        seconds = monotonic() - began
        rates.append(turns / seconds)
        shares.append({name: 100 * (now - before[name]) / seconds for name, now in on.processor().items()})
    one, many = shares
    title = f"{len(on.replicas)} replicas, {scale.cluster_clients} clients (beside: one replica)"
    return [
        _figure(f"{title}: turns of {WORDS} tokens", "turns/s", rates[1], rates[0]),
        *(_figure(f"{title}: processor share of {name}", "% of a core", many[name], one[name]) for name in many),
    ]


async def _streams(on: Stage, scale: Scale) -> list[Figure]:
    """Many answers at the pace of a model at once: what a token costs, on PostgreSQL and on SQLite."""
    engine: list[float] = []
    rate = database = log = 0.0
    for subject in (on.replicas[0], on.alone):
        words = round(RATE * scale.cluster_seconds)
        before, commits, wal = subject.server.cpu_seconds(), await on.number(_COMMITS), await on.number(_WAL)
        theirs, began = family_seconds(on.database.pid), monotonic()
        await asyncio.gather(*(on.turn(subject, say(words, rate=RATE)) for _ in range(STREAMS)))
        tokens = words * STREAMS
        engine.append(1e6 * (subject.server.cpu_seconds() - before) / tokens)
        if subject is not on.alone:
            rate = (await on.number(_COMMITS) - commits) / (monotonic() - began)
            database = 1e6 * (family_seconds(on.database.pid) - theirs) / tokens
            log = (await on.number(_WAL) - wal) / tokens
    many = f"{STREAMS} streams of {RATE:g}/s on one replica"
    return [
        _figure(f"{many}: engine's processor time of a token (beside: SQLite)", "µs", *engine),
        _figure(f"{many}: the database's processor time of a token", "µs", database),
        _figure(f"{many}: transactions", "per second", rate),
        _figure(f"{many}: write-ahead log of a token", "bytes", log),
    ]


async def _load(on: Stage, subjects: Sequence[Aster], clients: int, seconds: float) -> int:
    """A closed loop over the subjects; how many turns it made."""
    done = 0
    until = monotonic() + seconds

    async def client(subject: Aster) -> None:
        nonlocal done
        while monotonic() < until:
            await on.turn(subject, say(WORDS))
            done += 1

    async with asyncio.TaskGroup() as group:
        for number in range(clients):
            group.create_task(client(subjects[number % len(subjects)]))
    return done


async def _tail(on: Stage, scale: Scale) -> list[Figure]:
    """How much later a token arrives at a client of another replica than at one of the replica that runs the turn."""
    here, there, _ = on.replicas
    prompt = say(scale.tail_tokens, rate=RATE)
    turn = asyncio.create_task(here.turn(prompt, "cluster-tail"))
    pieces: list[tuple[float, str]] = []

    def take(event: bytes, at: float) -> bool:
        if kind_of(event) == b"text_delta":
            pieces.append((at, text_of(event)))
        return is_end(event)

    await _follow(there, "cluster-tail", take)
    said = (await turn).pieces
    prompt.check("".join(text for _, text in pieces))
    delays = [1000 * (theirs - ours) for ours, theirs in zip(_arrivals(said), _arrivals(pieces), strict=True)]
    name = f"token at {RATE:g}/s seen through another replica: later by"
    return [
        _figure(f"{name}, median", "ms", median(delays)),
        _figure(f"{name}, p99", "ms", percentile(delays, 0.99)),
    ]


def _arrivals(pieces: list[tuple[float, str]]) -> list[float]:
    """When each character came; pieces may be merged differently on two connections."""
    return [at for at, text in pieces for _ in text]


async def _takeover(on: Stage, scale: Scale) -> list[Figure]:
    """From the death of a replica to the moment at which a client sees another one go on with the turn."""
    times = [await _taken_over(on, number) for number in range(scale.takeovers)]
    name = f"turn of a killed replica goes on after ({scale.takeovers} kills)"
    return [
        _figure(f"{name}, median", "s", median(times)),
        _figure(f"{name}, slowest", "s", max(times)),
    ]


async def _taken_over(on: Stage, number: int) -> float:
    watcher, victim, _ = on.replicas
    task = f"cluster-takeover-{number}"
    begun, resumed = asyncio.Event(), 0.0
    running = asyncio.create_task(victim.turn(say(300, rate=RATE * 2), task))

    def take(event: bytes, at: float) -> bool:
        nonlocal resumed
        match kind_of(event):
            case b"text_delta":
                begun.set()
            case b"recovery":
                resumed = at
            case _:
                pass
        return is_end(event)

    watching = asyncio.create_task(_follow(watcher, task, take))
    await begun.wait()
    killed = monotonic()
    await victim.server.kill()
    await asyncio.gather(running, return_exceptions=True)
    await watching
    await victim.server.start()
    if not resumed:
        raise WrongAnswer("the turn ended without another replica taking it over")
    return resumed - killed


async def _follow(subject: Aster, task: str, take: Take) -> None:
    """Read a task's thread through this replica, from its beginning, until `take` has seen enough."""
    while True:
        try:
            await subject.server.client.get(f"/execute/replay?task_id={task}&after_seq=0", take)
            return
        except Refused:
            await asyncio.sleep(0.01)  # the task has not begun yet


def _figure(name: str, unit: str, value: float, beside: float | None = None) -> Figure:
    return Figure("cluster", name, unit, value, beside)
