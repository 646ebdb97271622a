"""`aster replay`: run a recorded turn again without side effects, and say how it differs."""

import argparse

from aster.cli import hangup
from aster.cli.connection import connected
from aster.cli.exits import Exit
from aster.cli.screen.clean import clean, one_line
from aster.cli.tables import print_table
from aster.contracts.model import encode
from aster.contracts.replay import ReplayArm, ReplayReport

SHOWN_CHARS = 200


def command(args: argparse.Namespace) -> int:
    return hangup.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    async with connected(args) as client:
        found = await client.replays.run(
            args.task,
            turn_id=args.turn,
            from_seq=args.from_seq,
            model=args.model,
            instructions=args.instructions,
            agent=args.agent,
            memory=args.memory,
            without=tuple(args.without),
            unrecorded=args.unrecorded,
            max_usd=args.max_usd,
        )
    if getattr(args, "json", False):
        print(encode(found).decode())
    else:
        _show(found)
    return Exit.OK if found.same else Exit.FAILED


def _show(found: ReplayReport) -> None:
    then, now = found.recorded, found.replayed
    print_table(("", "recorded", "replayed"), [(name, _cell(then, name), _cell(now, name)) for name in _ROWS])
    where = f"from model call {found.from_step}, seq {found.from_seq}; the replay is {found.replay_task_id}"
    print(f"\n{where}")
    if found.same:
        print("The same calls, the same answer.")
        return
    if (other := found.divergence) is not None:
        print(f"It differs at model call {other.step}: {other.kind} (seq {other.source_seq or '-'}).")
        print(f"  recorded: {one_line(encode(other.recorded).decode(), SHOWN_CHARS)}")
        print(f"  replayed: {one_line(encode(other.replayed).decode(), SHOWN_CHARS)}")
    if found.diff:
        print(f"\n{clean(found.diff)}")


_ROWS = ("model", "status", "steps", "calls", "tool_errors", "unrecorded", "tokens", "cost", "model time")


def _cell(arm: ReplayArm, name: str) -> str:
    match name:
        case "tokens":
            return f"{arm.input_tokens} + {arm.output_tokens}"
        case "cost":
            return f"${arm.cost_usd:.4f}"
        case "model time":
            return f"{arm.model_ms / 1000:.2f} s"
        case "status":
            return f"{arm.status} ({arm.error or arm.stop_reason or '-'})"
        case _:
            return str(getattr(arm, name))
