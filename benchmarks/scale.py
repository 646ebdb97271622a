"""How much of everything: the counts of a full run and of a quick one, in one place."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    first_tokens: int
    slow_turns: int
    stream_tokens: int
    fast_streams: int
    appended_events: int
    replayed_events: int
    replays: int
    load_seconds: float
    load_levels: tuple[int, ...]
    tool_loops: int
    commands: int
    history_turns: tuple[int, ...]
    open_streams: int
    stream_seconds: int
    starts: int
    parsed_streams: int
    imports: int
    suspended_turns: int
    cluster_seconds: float
    cluster_clients: int
    takeovers: int
    tail_tokens: int
    learning_rounds: int
    learning_turns: int
    journalled_turns: int


FULL = Scale(
    first_tokens=20,
    slow_turns=6,
    stream_tokens=5000,
    fast_streams=6,
    appended_events=50_000,
    replayed_events=20_000,
    replays=4,
    load_seconds=5.0,
    load_levels=(1, 16, 64, 256),
    tool_loops=9,
    commands=40,
    history_turns=(1, 50, 200),
    open_streams=256,
    stream_seconds=30,
    starts=5,
    parsed_streams=15,
    imports=7,
    suspended_turns=10_000,
    cluster_seconds=8.0,
    cluster_clients=48,
    takeovers=8,
    tail_tokens=500,
    learning_rounds=5,
    learning_turns=16,
    journalled_turns=200,
)

QUICK = Scale(
    first_tokens=6,
    slow_turns=2,
    stream_tokens=5000,
    fast_streams=2,
    appended_events=10_000,
    replayed_events=5_000,
    replays=2,
    load_seconds=0.8,
    load_levels=(1, 16, 64, 256),
    tool_loops=3,
    commands=10,
    history_turns=(1, 20),
    open_streams=256,
    stream_seconds=5,
    starts=2,
    parsed_streams=5,
    imports=3,
    suspended_turns=500,
    cluster_seconds=1.5,
    cluster_clients=24,
    takeovers=2,
    tail_tokens=100,
    learning_rounds=2,
    learning_turns=8,
    journalled_turns=30,
)
