"""The shell, in the sandbox, before the turn's eyes or behind its back.

A command's effect is read from its syntax tree, its outcome from its exit status. A background command is decided
like any other before it starts, and what became of its start is never guessed at after a crash.
"""

from dataclasses import replace

from aster.brain.records import ThreadKey
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.sandbox.backend import Command, Completed
from aster.sandbox.bash_effect import effect_of
from aster.sandbox.bash_imports import imported_tool, may_run_python
from aster.sandbox.permissions import Decision, decide_bash
from aster.utility_directory.background import DESCRIPTION_CHARS, Begun, TooMany, runtime_task_id
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

TOOL_IMPORT = (
    "Not run: the Python code imports `{name}`, which is a tool of yours and no module. Call the tool `{name}` instead,"
    " and give the code what it returned, in a file for example."
)
KEPT_STDOUT_BYTES = 4_000_000
KEPT_STDERR_BYTES = 1_000_000

_DESCRIPTION = """\
Run a bash command in a sandbox and return its output and exit status.

It starts in the workspace directory every time: no variables, directories or background processes are kept from one
command to the next, so chain steps with && or put them in a script. Only the workspace and $TMPDIR can be written
to; $TMPDIR is empty at the start of each command and gone at its end. There is no network, except to the hosts the
operator allows if $http_proxy is set: use http:// addresses there where a key is needed, it is added on the way.
Everything the command has started is killed when it ends. Long output is shortened in the middle and kept whole as
an artifact.

For a server, a watcher or anything that takes minutes, set run_in_background: it returns at once with an id. Read
on with bash_output, end it with bash_kill; do not put & behind a command instead. You are told when it has ended.
It goes on when the turn ends or is cancelled, and ends with the task or the engine.

Prefer read_file, write_file, edit_file, glob and grep for files. Deleting or overwriting larger things asks a
person first."""


class Bash(Tool):
    definition = ToolDef(
        name="bash",
        description=_DESCRIPTION,
        input_schema=input_schema(
            ("command",),
            command={"type": "string", "minLength": 1, "description": "The bash script to run."},
            timeout_seconds={
                "type": "number",
                "exclusiveMinimum": 0,
                "description": "Stop the command after this many seconds; the engine's own limit still holds.",
            },
            description={"type": "string", "description": "What the command is for, in a few words, for people."},
            run_in_background={
                "type": "boolean",
                "description": "True to go on at once while the command runs; it has a longer time limit then.",
            },
            wake={
                "type": "boolean",
                "description": "With run_in_background: go on by yourself when it has ended and nobody has spoken.",
            },
        ),
    )

    def effect(self, given: Input) -> Effect:
        return effect_of(given["command"])

    def concurrent(self, given: Input) -> bool:
        return self.effect(given) is Effect.PURE

    def decide(self, given: Input, context: ToolContext) -> Decision:
        return decide_bash(given["command"], context.workspace)

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        mistaken = await _mistaken(given["command"], context)
        if mistaken is not None:
            return ToolOutcome.error(
                TOOL_IMPORT.format(name=mistaken), reason="tool_import", data={"tool": mistaken}
            )
        if given.get("run_in_background"):
            return await _start(given, context)
        seconds = min(float(given.get("timeout_seconds", context.limits.bash_seconds)), context.limits.bash_seconds)
        if "\x00" in given["command"]:
            return ToolOutcome.error("Error: the command contains a NUL character.", reason="invalid_input")
        command = replace(
            Command.shell(given["command"], context.workspace, seconds),
            stdout_bytes=KEPT_STDOUT_BYTES,
            stderr_bytes=KEPT_STDERR_BYTES,
            readable=context.readable,
        )
        return _outcome(await context.sandbox.run(command, context.progress), seconds, self.effect(given))

    async def check(self, given: Input, context: ToolContext) -> ToolOutcome | None:
        """A background command is on the thread before it runs, so its fate is known."""
        if not given.get("run_in_background") or context.background is None:
            return None
        name = runtime_task_id(context.idempotency_key)
        known = await context.background.record(ThreadKey(context.user_id, context.task_id), name)
        if known is None:
            text = "Error: the engine stopped before the command was started. Start it again if it is still wanted."
            return ToolOutcome.error(text, reason="not_started")
        if context.background.elsewhere.runs(known):
            text = f"Started in the background as {name}, on another replica. bash_output shows what it says."
            return ToolOutcome.text(text, {"id": name, "status": "running"})
        text = (
            f"Error: the command was started as {name} and ended with the engine, which stopped meanwhile. How far"
            " it got is unknown: look before you start it again."
        )
        return ToolOutcome.error(text, reason=known.status, data={"id": name, "status": known.status})


async def _mistaken(command: str, context: ToolContext) -> str | None:
    """The tool that the command's Python code takes for a module; the files it names are read as the sandbox would."""
    if not may_run_python(command):
        return None
    return await context.sandbox.files.call(imported_tool, command, context.tools, context.workspace)


async def _start(given: Input, context: ToolContext) -> ToolOutcome:
    script, name, background = given["command"], runtime_task_id(context.idempotency_key), context.background
    if background is None:
        return ToolOutcome.error("Error: there are no background commands here.", reason="no_background")
    if "\x00" in script:
        return ToolOutcome.error("Error: the command contains a NUL character.", reason="invalid_input")
    wake = bool(given.get("wake"))
    if wake and not context.wakeable:
        text = "Error: only the agent that answers the person can be woken. Wait for the command with bash_output."
        return ToolOutcome.error(text, reason="permission_denied")
    item = None if context.work is None else await context.work.mine()
    seconds = min(float(given.get("timeout_seconds", background.most_seconds)), background.most_seconds)
    begun = Begun(
        key=ThreadKey(context.user_id, context.task_id),
        runtime_task_id=name,
        turn_id=context.turn_id,
        tool_call_id=context.tool_call_id,
        description=" ".join((given.get("description") or script).split())[:DESCRIPTION_CHARS],
        wake=wake,
        work_item=None if item is None else item.item_id,
    )
    try:
        command = replace(Command.shell(script, context.workspace, seconds), readable=context.readable)
        await background.start(begun, context.sandbox, command)
    except TooMany:
        text = (
            f"Error: {background.most_commands} background commands may run at once, and there is no room for"
            " another. End one with bash_kill, or wait for one with bash_output."
        )
        return ToolOutcome.error(text, reason="background_limit")
    text = (
        f"Started in the background as {name}, for at most {seconds:g} seconds. bash_output with id {name} shows"
        " what it says (wait_seconds waits for it), bash_kill ends it. You will be told when it has ended"
        f"{', also when nobody speaks: end your turn if there is nothing else to do' if wake else ''}."
    )
    return ToolOutcome.text(text, {"id": name, "status": "running"})


def _outcome(done: Completed, seconds: float, effect: Effect) -> ToolOutcome:
    output = done.stdout.rstrip("\n")
    if done.stderr.strip():
        output = f"{output}\n[stderr]\n{done.stderr.rstrip()}".lstrip("\n")
    data = {
        "exit_code": done.exit_code,
        "timed_out": done.timed_out,
        "truncated": done.truncated,
        "signal": done.signal,
    }
    if done.timed_out:
        text = f"Error: Timeout ({seconds:g}s). The command and all it started were killed.\n{output}".rstrip()
        return ToolOutcome.error(text, reason="timeout", retry_safe=effect.repeatable, data=data)
    if done.exceeded is not None:
        return ToolOutcome.error(f"Error: {output}", reason="limit_exceeded", data=data)
    if done.exit_code != 0:
        text = f"Error: command exited with status {done.exit_code}\n{output or '(no output)'}"
        return ToolOutcome.error(text, reason="exit_status", retry_safe=effect.repeatable, data=data)
    return ToolOutcome.text(output or "(no output)", data)
