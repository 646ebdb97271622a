"""`aster permissions`: see what decides on tool calls, try calls and rules, give permissions and take them back.

`test` needs no engine: it judges calls in a directory as an engine would in a workspace, with the operator's rules
and catalog and without anybody's grants, unless it is told to ask the engine.
"""

import argparse
import sys
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeAlias, cast

import msgspec

from aster.catalog.catalog import Catalog
from aster.cli import hangup
from aster.cli.connection import connected
from aster.cli.exits import Exit
from aster.cli.options import settings_of
from aster.cli.screen.clean import clean, one_line
from aster.cli.tables import print_table
from aster.client import AsterClient
from aster.client.permissions import Backtest, Decided, GrantRecord
from aster.contracts.model import Contract, encode
from aster.contracts.tools import Effect
from aster.sandbox.declared import Told, govern_declared
from aster.sandbox.offers import offer
from aster.sandbox.paths import Workspace
from aster.sandbox.permissions import decide
from aster.sandbox.policy import Policy, govern
from aster.sandbox.rule_file import RuleFile
from aster.utility_directory.platform_registry import Registry, platform_tools
from aster.utility_directory.tool import UnfitInput

_SCRATCH = Path("/tmp")  # noqa: S108 - what a sandboxed command finds there is its own
_Work: TypeAlias = Callable[[AsterClient, argparse.Namespace, bool], Coroutine[Any, Any, None]]


class Asked(Contract):
    """A call to think through."""

    tool: str
    input: dict[str, Any]


def command(args: argparse.Namespace) -> int:
    if args.action == "test" and not args.engine:
        return _test_here(args)
    return hangup.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    async with connected(args) as client:
        await _WORK[args.action](client, args, getattr(args, "json", False))
    return Exit.OK


async def _list(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    found = await client.permissions.list()
    if as_json:
        print(encode(found).decode())
        return
    print(f"mode {found.mode}; unattended turns {found.unattended_policy}")
    rules = [
        (f"rule {rule.id}", rule.behavior, rule.tool, rule.pattern, "everywhere", "", "") for rule in found.rules
    ]
    print_table(("id", "decision", "tool", "pattern", "where", "until", "used"), [*rules, *map(_row, found.grants)])


def _row(grant: GrantRecord) -> tuple[str, ...]:
    where, until = grant.task_id or grant.scope, (grant.expires_at or "")[:16].replace("T", " ")
    return grant.grant_id, grant.behavior, grant.tool, grant.pattern, where, until, str(grant.uses)


async def _add(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    made = await client.permissions.grant(
        args.tool,
        args.pattern,
        behavior=args.behavior,
        scope=args.scope,
        task_id=args.task,
        expires_in_seconds=args.expires,
    )
    print(encode(made).decode() if as_json else made.grant_id)


async def _revoke(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    gone = await client.permissions.revoke(args.grant)
    print(encode(gone).decode() if as_json else f"Revoked {gone.grant_id}.")


async def _backtest(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    found = await client.permissions.backtest(args.tool, args.pattern, args.behavior)
    print(encode(found).decode() if as_json else _report(found))


def _report(found: Backtest) -> str:
    would, then = found.would, found.then
    allowed = f"It would have allowed {would.get('allow', 0)}, of which you denied {found.would_allow_denied}"
    denied = f"denied {would.get('deny', 0)}, of which {found.would_deny_approved} ran or were approved"
    past = f"{then.get('approved', 0)} were approved, {then.get('denied', 0)} denied"
    lines = [
        f"{found.matched} of {found.calls} recorded calls fit; {found.changed} would be decided otherwise.",
        f"{allowed}; asked about {would.get('ask', 0)}; {denied}.",
        f"Then: {then.get('ran', 0)} ran at once, {past}, {then.get('unanswered', 0)} never answered.",
    ]
    for example in found.examples:
        call = example.call
        said = call.input.get("command") or call.input.get("path") or encode(call.input).decode()
        what = f"{one_line(call.tool, 80)}: {one_line(str(said), 80)}"
        lines.append(f"  {example.now:>5} -> {example.proposed:<5} ({call.then}) {what}")
    return "\n".join(lines)


async def _test_there(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    for asked in _asked(args.call, args.tool):
        if isinstance(asked, str):
            _print_wrong(asked)
            continue
        decided = await client.permissions.test(asked.tool, asked.input, task_id=args.task, mode=args.mode)
        _print_decision(decided, as_json or args.call == "-")


def _test_here(args: argparse.Namespace) -> int:
    settings = settings_of(args)
    rules = RuleFile(args.rules or settings.permission_rules_path).rules
    root = Path(args.workspace or ".").resolve()
    if not root.is_dir():
        print(f"aster permissions: {root} is not a directory.", file=sys.stderr)
        return Exit.USAGE
    workspace = Workspace((root,), root, scratch=_SCRATCH)
    policy = Policy(mode=args.mode or settings.permission_mode, rules=rules)
    registry = Catalog(settings, platform_tools()).load()
    wrong = 0
    for asked in _asked(args.call, args.tool):
        if isinstance(asked, str):
            _print_wrong(asked)
            wrong += 1
        else:
            decided = _decided(asked, policy, workspace, registry)
            _print_decision(decided, getattr(args, "json", False) or args.call == "-")
    return Exit.FAILED if wrong else Exit.OK


def _decided(asked: Asked, policy: Policy, workspace: Workspace, registry: Registry) -> Decided:
    try:
        meant = _meant(asked, registry)
    except UnfitInput as problem:
        return Decided(
            behavior="deny", reason=f"Invalid input for {asked.tool}: {problem}.", decided_by="validation"
        )
    call = meant or asked
    judgement, effect = decide(call.tool, call.input, workspace), _effect(registry, call)
    if meant is None:
        decision = govern(policy, call.tool, call.input, effect, judgement, workspace)
    else:
        told = Told(asked.tool, asked.input, every_time=_every_time(registry, asked.tool))
        decision = govern_declared(policy, call.tool, call.input, effect, judgement, workspace, told)
    return Decided(
        behavior=decision.behavior,
        reason=decision.reason,
        effects=decision.effects,
        decided_by=decision.decided_by,
        offer=offer(call.tool, call.input, decision, workspace) if decision.behavior == "ask" else None,
    )


def _meant(asked: Asked, registry: Registry) -> Asked | None:
    """The platform's call that a call of a declared tool stands for."""
    registered = registry.get(asked.tool)
    if registered is None or registered.tool.source == "platform":
        return None
    if complaints := registered.validate(asked.input):
        raise UnfitInput("; ".join(complaints))
    meant = registered.tool.stands_for(asked.input)
    return None if meant is None else Asked(tool=meant.tool, input=meant.input)


def _every_time(registry: Registry, tool: str) -> bool:
    registered = registry.get(tool)
    return registered is not None and registered.tool.requires_permission


def _effect(registry: Registry, asked: Asked) -> Effect:
    """What a call does to the world; of a tool that is not known here, or lacks its arguments, the worst."""
    registered = registry.get(asked.tool)
    if registered is None or registered.validate(asked.input):
        return Effect.IRREVERSIBLE
    return Effect.PURE if registered.tool.own_notes else registered.tool.effect(asked.input)


def _asked(call: str, tool: str) -> Iterator[Asked | str]:
    """The call on the command line, or one per line of standard input; what is no call is what is wrong with it."""
    if call != "-":
        yield _call(call, tool) if call.lstrip().startswith("{") else Asked(tool=tool, input=_input(tool, call))
        return
    for line in sys.stdin:
        if line.strip():
            yield _call(line, tool)


def _call(line: str, tool: str) -> Asked | str:
    try:
        said: Any = msgspec.json.decode(line)
    except msgspec.DecodeError as error:
        return f"not JSON: {error}"
    if isinstance(said, str):
        return Asked(tool=tool, input=_input(tool, said))
    if not isinstance(said, dict):
        return 'write {"tool": "bash", "input": {"command": "..."}}'
    fields = cast("dict[str, Any]", said)
    name: Any = fields.get("tool") or fields.get("name") or tool
    given: Any = fields.get("input", fields.get("arguments"))
    if given is None:
        given = {key: value for key, value in fields.items() if key in ("command", "path", "url", "content")}
    elif isinstance(given, str):
        given = _input(str(name), given)
    if not isinstance(name, str) or not isinstance(given, dict) or (name == "bash" and "command" not in given):
        return 'write {"tool": "bash", "input": {"command": "..."}}'
    return Asked(tool=name, input=cast("dict[str, Any]", given))


def _input(tool: str, text: str) -> dict[str, Any]:
    return {"command": text} if tool == "bash" else {"path": text}


def _print_decision(decided: Decided, as_json: bool) -> None:
    if as_json:
        said: dict[str, Any] = {
            "behavior": decided.behavior,
            "reason": decided.reason,
            "effects": decided.effects,
            "decided_by": decided.decided_by,
        }
        print(encode(said | ({"offer": decided.offer} if decided.offer else {})).decode(), flush=True)
        return
    print(f"{decided.behavior} ({decided.decided_by})")
    if decided.reason:
        print(f"  {clean(decided.reason)}")
    if decided.offer is not None:
        print(f"  always would store: {clean(decided.offer.tool)}: {clean(decided.offer.pattern)}")


def _print_wrong(problem: str) -> None:
    print(encode({"error": problem}).decode(), flush=True)


_WORK: dict[str, _Work] = {
    "list": _list,
    "add": _add,
    "revoke": _revoke,
    "backtest": _backtest,
    "test": _test_there,
}
