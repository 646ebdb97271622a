"""`aster memory`: look at what is remembered, add to it, forget, and take all of it along."""

import argparse
import asyncio
import sys
import termios
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeAlias, cast

import msgspec

from aster.cli import hangup
from aster.cli.connection import connected
from aster.cli.exits import Exit
from aster.cli.memory_soul import changes, social, soul
from aster.cli.progress import progress
from aster.cli.screen.clean import clean
from aster.cli.tables import print_table
from aster.client import AsterClient
from aster.client.memory import ForgetPreview, MemoryRecord, MemoryStatistics
from aster.client.whole_file import whole_file
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import encode

Work: TypeAlias = Callable[[AsterClient, argparse.Namespace, bool], Coroutine[Any, Any, int]]

PART = 4_000_000
"""Bytes of records sent at once, so that a bundle of any size gets through."""
_LOOK_SECONDS = 0.5
_MAIN_FIELD = {"fact": "content", "episode": "description", "trait": "value", "chunk": "content"}
"""The field that a memory of a kind mostly is."""


def command(args: argparse.Namespace) -> int:
    return hangup.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    async with connected(args) as client:
        return await _WORK[args.action](client, args, getattr(args, "json", False))


async def _search(client: AsterClient, args: argparse.Namespace, as_json: bool) -> int:
    stores = [args.store] if args.store else []
    found = await client.memory.search(args.query, stores=stores, limit=args.limit)
    if as_json:
        return _json(found)
    if found.notice:
        print(f"aster: {clean(found.notice)}", file=sys.stderr)
    _print_records(found.hits)
    return Exit.OK


async def _list(client: AsterClient, args: argparse.Namespace, as_json: bool) -> int:
    page = await client.memory.list(store=args.store, task_id=args.task, limit=args.limit, superseded=args.all)
    if as_json:
        return _json(page)
    _print_records(page.records)
    if page.next is not None:
        print(f"There are more; --limit shows more than {args.limit}.", file=sys.stderr)
    return Exit.OK


async def _show(client: AsterClient, args: argparse.Namespace, as_json: bool) -> int:
    record = await client.memory.get(args.record)
    versions = await client.memory.history(args.record)
    if as_json:
        return _json({"record": record, "history": versions})
    print(clean(record.text))
    receipt = record.receipt
    where = f"{receipt.task_id}, seq {receipt.first_seq} to {receipt.last_seq}" if receipt.task_id else "no task"
    print(f"{record.kind} {record.id}: {receipt.extractor}, {_time(receipt.created_at)}, {clean(where)}")
    until = f" until {_time(record.valid_until)}" if record.valid_until else ""
    print(
        f"confidence {record.confidence:.2f}, used {receipt.uses} times, valid from {_time(record.valid_from)}{until}"
    )
    for source in receipt.derived_from:
        print(f"derived from {clean(source)}")
    for version in versions:
        if version.id != record.id:
            print(f"version {version.id}: {clean(version.text)}")
    return Exit.OK


async def _add(client: AsterClient, args: argparse.Namespace, as_json: bool) -> int:
    text = sys.stdin.read() if args.text == "-" else args.text
    name = "description" if args.kind == "episode" else "content"
    fields: dict[str, Any] = {name: text}
    if args.kind == "fact":
        fields |= {"subject": args.subject, "predicate": args.predicate}
    done = await client.memory.write(args.kind, fields)
    if as_json:
        return _json(done)
    print(f"{done.action} {done.record.id}")
    return Exit.OK


async def _forget(client: AsterClient, args: argparse.Namespace, as_json: bool) -> int:
    if not args.record and not args.task:
        raise EngineError(ErrorCode.INVALID_REQUEST, "Say which memory, or with --task whose memories.")
    shown = await client.memory.preview(args.record, task_id=args.task)
    if not args.yes and not _agreed(shown):
        return Exit.FAILED
    done = await client.memory.forget(args.record, task_id=args.task, delete_tasks=args.delete_tasks)
    if as_json:
        return _json(done)
    count = len(done.forgotten)
    print(f"Forgot {count} {'memory' if count == 1 else 'memories'}.")
    for task in done.deleted_tasks:
        print(f"Deleted task {clean(task)}.")
    return Exit.OK


async def _export(client: AsterClient, args: argparse.Namespace, as_json: bool) -> int:
    del as_json
    pieces = b"".join([piece async for piece in client.memory.export()])
    if args.file is None:
        print(pieces.decode())
    else:
        with whole_file(args.file, private=True) as file:
            file.write(pieces)
    return Exit.OK


async def _import(client: AsterClient, args: argparse.Namespace, as_json: bool) -> int:
    bundle = _bundle(args.file)
    records = cast("list[Any]", bundle["records"])
    imported = known = sent = 0
    with progress(quiet=as_json) as tell:
        for part in _parts(records):
            done = await client.memory.take_in({**bundle, "records": part})
            imported, known, sent = imported + done.imported, known + done.known, sent + len(part)
            tell("taking in memories", sent, len(records))
    if as_json:
        return _json({"imported": imported, "known": known})
    print(f"Took in {imported} memories; {known} were here already.")
    return Exit.OK


async def _stats(client: AsterClient, args: argparse.Namespace, as_json: bool) -> int:
    found = await client.memory.statistics()
    if args.wait:
        found = await _vectors_made(client, found, quiet=as_json)
    if as_json:
        return _json(found)
    print_table(
        ("store", "memories", "replaced"),
        [(one.store, f"{one.records:,}", f"{one.superseded:,}") for one in found.stores],
    )
    print(
        f"vectors: {found.model or 'none'}, {found.pending:,} to be made"
        + (f" ({clean(found.fault)})" if found.fault else "")
    )
    return Exit.OK


async def _vectors_made(client: AsterClient, found: MemoryStatistics, *, quiet: bool) -> MemoryStatistics:
    """Wait until every memory has its vector, or until it is known why some get none."""
    most = found.pending
    with progress(quiet=quiet) as tell:
        while found.pending and found.fault is None:
            most = max(most, found.pending)
            tell("making vectors", most - found.pending, most)
            await asyncio.sleep(_LOOK_SECONDS)
            found = await client.memory.statistics()
        tell("making vectors", most - found.pending, most)
    return found


async def _correct(client: AsterClient, args: argparse.Namespace, as_json: bool) -> int:
    fields: dict[str, Any] = dict(_pair(text) for text in args.set)
    if args.text is not None:
        record = await client.memory.get(args.record)
        name = _MAIN_FIELD.get(record.kind)
        if name is None:
            raise EngineError(
                ErrorCode.INVALID_REQUEST, f"A {record.kind} has several texts; say which with --set."
            )
        fields[name] = sys.stdin.read() if args.text == "-" else args.text
    if not fields:
        raise EngineError(ErrorCode.INVALID_REQUEST, "Say what is right: a text, or --set FIELD=VALUE.")
    done = await client.memory.correct(args.record, fields)
    if as_json:
        return _json(done)
    print(f"{done.action} {done.record.id}: {clean(done.record.text)}")
    return Exit.OK


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise EngineError(ErrorCode.INVALID_REQUEST, f"{text!r} is not FIELD=VALUE.")
    return name, value


_WORK: dict[str, Work] = {
    "search": _search,
    "list": _list,
    "show": _show,
    "add": _add,
    "forget": _forget,
    "export": _export,
    "import": _import,
    "stats": _stats,
    "correct": _correct,
    "soul": soul,
    "social": social,
    "changes": changes,
}


def _agreed(shown: ForgetPreview) -> bool:
    """Show what would go, and ask the person at the keyboard."""
    for one in shown.records:
        why = "" if one.why == "asked" else f" ({one.why}: {clean(str(one.because))})"
        print(f"{one.id}  {clean(one.text)}{why}")
    for task in shown.tasks:
        print(f"task {clean(task.task_id)} says it too ({task.why}); --delete-tasks deletes it")
    if not sys.stdin.isatty():
        print("Nothing was forgotten; --yes forgets without asking.", file=sys.stderr)
        return False
    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)  # what was typed before it could be read is no answer
    return input(f"Forget these {len(shown.records)}? [y/N] ").strip().lower() in ("y", "yes")


def _bundle(file: Path) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.DecodeError) as error:
        raise EngineError(
            ErrorCode.INVALID_REQUEST, f"{file} cannot be read as an exported memory: {error}."
        ) from None
    if not isinstance(found.get("records"), list):
        raise EngineError(ErrorCode.INVALID_REQUEST, f"{file} is not an exported memory.")
    return found


def _parts(records: list[Any]) -> Iterator[list[Any]]:
    """The records in parts; one empty part when there are none, so that the engine sees the bundle at all."""
    part: list[Any] = []
    size = 0
    for record in records:
        part.append(record)
        size += len(encode(record))
        if size > PART:
            yield part
            part, size = [], 0
    if part or not records:
        yield part


def _print_records(records: tuple[MemoryRecord, ...]) -> None:
    if not records:
        print("Nothing is remembered here.")
        return
    print_table(
        ("memory", "store", "when", "text"),
        [(record.id, record.store, _time(record.event_at), record.text) for record in records],
    )


def _json(value: Any) -> int:
    print(encode(value).decode())
    return Exit.OK


def _time(stamp: str) -> str:
    return stamp[:19].replace("T", " ")
