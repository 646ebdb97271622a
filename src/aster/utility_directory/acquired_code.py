"""Running code that the agent wrote for itself: in the sandbox, with its input as one argument, as bash would be let.

It is judged by the same analysis and the same rules as the same code given to bash, so that what bash is denied is
denied here, and what a rule asks about there is asked about here. An approval is for the code as it was.
"""

import asyncio
import hashlib
import shlex
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from aster.contracts.tools import Effect
from aster.sandbox.backend import Command, Completed
from aster.sandbox.permissions import Decision, decide_bash
from aster.sandbox.policy import govern
from aster.skills.shelf import Shelf
from aster.utility_directory.tool import ToolContext

SHELL: Final = "bash"
FILE: Final = "skill.py"
INPUT_BYTES: Final = 100_000
SECONDS: Final = 60.0


def judged(code: str, context: ToolContext) -> Decision:
    """What is to be said about running this code; what bash is allowed beyond the judgement is not allowed here."""
    command = f"python3 -c {shlex.quote(code)}"
    judgement = decide_bash(command, context.workspace)
    given = {"command": command}
    governed = govern(context.policy, SHELL, given, Effect.IRREVERSIBLE, judgement, context.workspace)
    own = governed.behavior == "allow" or governed.decided_by == "mode:auto"
    decision = judgement if own else governed
    return msgspec.structs.replace(decision, pin=pin(code))


def pin(code: str) -> str:
    """What an approval of this code is for, and of no other."""
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()[:32]


async def run(shelf: Shelf, name: str, code: str, payload: Mapping[str, Any], context: ToolContext) -> Completed:
    """What the code does with this input."""
    place = await asyncio.to_thread(shelf.copies.place, context.user_id, name, {FILE: code.encode()})
    argument = msgspec.json.encode(payload).decode()
    command = Command(
        ("/usr/bin/env", "python3", "-I", "-B", str(place / FILE), argument),
        context.workspace,
        timeout_seconds=min(SECONDS, context.limits.bash_seconds),
        readable=shelf.copies.readable(context.user_id),
    )
    return await context.sandbox.run(command, context.progress)


def succeeded(done: Completed) -> bool:
    return done.exit_code == 0 and not done.timed_out and done.exceeded is None


def said(done: Completed) -> str:
    """What a run said, with what it complained of."""
    output = done.stdout.strip()
    if done.stderr.strip():
        output = f"{output}\n[stderr]\n{done.stderr.strip()}".strip()
    return output or "(no output)"


def fits(payload: Mapping[str, Any]) -> bool:
    return len(msgspec.json.encode(payload)) <= INPUT_BYTES
