"""`aster project`: work over many turns, its items, what came of them, and how far it goes by itself."""

import argparse

from aster.cli.actions import Work, act
from aster.cli.screen.clean import clean, one_line
from aster.cli.tables import print_table
from aster.client import AsterClient
from aster.client.projects import Budget, ProjectEntry, ProjectItem
from aster.contracts.model import Contract, encode, to_builtins
from aster.contracts.work import WorkDraft

WIDTH = 70
SHOWN_CHARS = 2000


def command(args: argparse.Namespace) -> int:
    return act(args, _WORK)


async def _list(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    page = await client.projects.list(status=args.status, limit=args.limit)
    if as_json:
        print(encode(page).decode())
        return
    rows = [
        (one.project_id, one.status, f"{one.items.completed}/{_all(one)}", one_line(one.title, WIDTH))
        for one in page.projects
    ]
    print_table(("id", "status", "done", "what"), rows)


async def _new(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    made = await client.projects.create(
        args.title, brief=args.brief or "", notes=args.notes or "", budget=_budget(args) or None
    )
    _tell(made, as_json)


async def _edit(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    given = _budget(args)
    budget: Budget | None = None
    if given:
        before = await client.projects.get(args.project)
        budget = {**to_builtins(before.budget), **given}  # type: ignore[typeddict-item]
    changed = await client.projects.edit(
        args.project, title=args.title, brief=args.brief, notes=args.notes, budget=budget
    )
    _tell(changed, as_json)


async def _add(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    drafts = [
        WorkDraft(subject=subject, name=f"n{at}", blocked_by=(f"n{at - 1}",) if at and not args.together else ())
        for at, subject in enumerate(args.subjects)
    ]
    made = await client.projects.add(args.project, drafts, parent_id=args.part_of)
    if as_json:
        print(encode(made).decode())
        return
    for item in made:
        print(f"{item.item_id} {one_line(item.subject, WIDTH)}")


async def _show(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    project = await client.projects.get(args.project)
    items = await client.projects.items(args.project)
    artifacts = (await client.projects.artifacts(args.project)).artifacts
    if as_json:
        print(encode({"project": project, "items": items, "artifacts": artifacts}).decode())
        return
    _tell(project, as_json)
    for text in (project.brief, project.notes):
        if text:
            print(f"\n{clean(text)}")
    print()
    for item in items:
        print(f"{'  ' * item.depth}{item.item_id} [{_state(item)}] {one_line(item.subject, WIDTH)}")
    for one in reversed(artifacts):
        print(f"\n{one.kind}: {one_line(one.name, WIDTH)}\n{clean(one.content[:SHOWN_CHARS])}")


async def _advance(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    begun = await client.projects.advance(args.project, until=args.until)
    print(encode(begun).decode() if as_json else f"{begun.item_id} is worked on in the task {begun.task_id}.")


async def _pause(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    _tell(await client.projects.pause(args.project, now=args.now), as_json)


async def _resume(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    _tell(await client.projects.resume(args.project, answer=args.answer), as_json)


async def _switch(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    _tell(await client.projects.switch(args.project, args.task), as_json)


async def _exit(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    _tell(await client.projects.exit(args.project, args.task), as_json)


async def _delete(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    gone = await client.projects.delete(args.project, hard=args.hard)
    if args.hard and not as_json:
        print(f"Deleted {gone.project_id}.")
        return
    _tell(gone, as_json)


def _budget(args: argparse.Namespace) -> Budget:
    given = {"steps": args.steps, "seconds": args.seconds, "tool_calls": args.tool_calls, "usd": args.usd}
    budget: Budget = {}
    budget.update({name: value for name, value in given.items() if value is not None})  # type: ignore[typeddict-item]
    return budget


def _tell(one: Contract, as_json: bool) -> None:
    if as_json or not isinstance(one, ProjectEntry):
        print(encode(one).decode())
        return
    print(f"{one.project_id} [{one.status}] {one_line(one.title, WIDTH)}")
    if one.reason:
        print(clean(one.reason))
    if one.question is not None:
        options = f" ({', '.join(one.question.options)})" if one.question.options else ""
        print(f"asks: {clean(one.question.question)}{clean(options)}")


def _all(one: ProjectEntry) -> int:
    return one.items.pending + one.items.in_progress + one.items.completed


def _state(item: ProjectItem) -> str:
    if item.status == "pending":
        return "ready" if item.ready else f"waits for {len(item.waiting_for)}"
    return item.status


_WORK: dict[str, Work] = {
    "list": _list,
    "new": _new,
    "edit": _edit,
    "add": _add,
    "show": _show,
    "advance": _advance,
    "pause": _pause,
    "resume": _resume,
    "switch": _switch,
    "exit": _exit,
    "delete": _delete,
}
