"""`aster learning self-play`: how far the agent has come, letting it meet challenges, and ending that."""

import argparse

from aster.cli.screen.clean import one_line
from aster.cli.tables import print_table
from aster.client import AsterClient
from aster.contracts.model import encode


async def self_play(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    if args.what == "begin":
        done = await client.learning.play(cluster=args.cluster, cycles=args.cycles, wait=args.wait)
        if as_json:
            print(encode(done).decode())
        elif not args.wait:
            print("Begun; `aster learning self-play` tells how it goes. It ends when anybody writes a message.")
        else:
            rows = [(one.outcome, one.changeset_id or "", one_line(one.reason, 80)) for one in done.runs]
            print_table(("outcome", "changeset", "why"), rows)
        return
    if args.what == "stop":
        await client.learning.stop_self_play()
        print('{"status":"stopped"}' if as_json else "Stopped.")
        return
    await _show(client, as_json)


async def _show(client: AsterClient, as_json: bool) -> None:
    state = await client.learning.self_play()
    if as_json:
        print(encode(state).decode())
        return
    print("Self-play: running" if state.running else "Self-play: on" if state.enabled else state.problem or "")
    print(f"Spent today: {state.budget.spent_usd:.4f} of {state.budget.limit_usd or 0:g} USD")
    rows = [
        (one.cluster, one.tier, str(one.runs), str(one.wins), str(one.brittle), _how(one.mastered, one.saturated))
        for one in state.clusters
    ]
    print_table(("cluster", "tier", "met", "won at once", "brittle", ""), rows)
    if state.runs:
        print()
        told = [
            (one.at, one.cluster, "solved" if one.passed else "not solved", str(one.attempts), f"{one.score:.2f}")
            for one in state.runs
        ]
        print_table(("when", "cluster", "came to", "tries", "score"), told)


def _how(mastered: bool, saturated: bool) -> str:
    return "mastered" if mastered else "saturated" if saturated else ""
