"""`aster skills`: look at skills, bring a folder of your own to the engine, take one away."""

import argparse
from pathlib import Path
from typing import Any

from aster.cli.actions import Work, act
from aster.cli.screen.clean import clean
from aster.cli.tables import print_table
from aster.client import AsterClient
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import encode


def command(args: argparse.Namespace) -> int:
    return act(args, _WORK)


async def _list(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    page = await client.skills.list()
    if as_json:
        print(encode(page).decode())
        return
    rows = [(one.name, one.origin, one.category, f"{one.confidence:g}", one.description) for one in page.skills]
    print_table(("name", "written by", "category", "confidence", "what for"), rows)


async def _show(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    found = await client.skills.get(args.name)
    if as_json:
        print(encode(found).decode())
        return
    print(f"{clean(found.name)} ({found.origin}): {clean(found.description)}")
    if found.files:
        print(f"files: {clean(', '.join(found.files))}")
    if (found.composed or {}).get("mode") == "parallel":
        print("makes all its calls at once:")
    for step in (found.composed or {}).get("steps", ()):
        when = f" (when {clean(encode(step['when']).decode())})" if step.get("when") else ""
        print(f"calls {clean(str(step['tool']))}: {clean(encode(step['input']).decode())}{when}")
    if found.prompt_template:
        print(f"\n{clean(found.prompt_template)}")


async def _add(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    """Read a folder with a SKILL.md as the engine would, and give it to the engine."""
    skill = _read(args.folder)
    scripts: dict[str, str] = {}
    for name, data in skill.files.items():
        try:
            scripts[name] = data.decode("utf-8")
        except UnicodeDecodeError:
            raise EngineError(
                ErrorCode.INVALID_REQUEST, f"{name} is no text; such files need a folder in CATALOG_DIR/skills."
            ) from None
    made = await client.skills.create(
        skill.name,
        prompt=skill.body,
        description=skill.description,
        category=skill.category,
        capabilities=skill.capabilities,
        scripts=scripts,
    )
    print(encode(made).decode() if as_json else f"Added {made.name}.")


async def _approve(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    found = await client.skills.approve(args.name)
    print(encode(found).decode() if as_json else f"Approved {found.name}.")


async def _delete(client: AsterClient, args: argparse.Namespace, as_json: bool) -> None:
    gone = await client.skills.delete(args.name)
    print(encode(gone).decode() if as_json else f"Deleted {gone.name}.")


def _read(folder: Path) -> Any:
    from aster.skills import folders

    try:
        return folders.one(folder)
    except folders.Wrong as wrong:
        raise EngineError(ErrorCode.INVALID_REQUEST, f"{folder} is no skill: {wrong}.") from None


_WORK: dict[str, Work] = {"list": _list, "show": _show, "add": _add, "approve": _approve, "delete": _delete}
