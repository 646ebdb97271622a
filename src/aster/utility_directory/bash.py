"""The shell, in the sandbox. A command's effect is read from its syntax tree, its outcome from its exit status."""

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.sandbox.backend import Command, Completed
from aster.sandbox.bash_effect import effect_of
from aster.sandbox.permissions import Decision, decide_bash
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

_DESCRIPTION = """\
Run a bash command in a sandbox and return its output and exit status.

It starts in the workspace directory every time: no variables, directories or background processes are kept from one
command to the next, so chain steps with && or put them in a script. Only the workspace can be written to; /tmp is
empty at the start of each command and gone at its end. There is no network. Everything the command has started is
killed when it ends. Long output is shortened in the middle.

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
        ),
    )

    def effect(self, given: Input) -> Effect:
        return effect_of(given["command"])

    def concurrent(self, given: Input) -> bool:
        return self.effect(given) is Effect.PURE

    def decide(self, given: Input, context: ToolContext) -> Decision:
        return decide_bash(given["command"], context.workspace)

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        seconds = min(float(given.get("timeout_seconds", context.limits.bash_seconds)), context.limits.bash_seconds)
        if "\x00" in given["command"]:
            return ToolOutcome.error("Error: the command contains a NUL character.", reason="invalid_input")
        command = Command.shell(given["command"], context.workspace, seconds)
        return _outcome(await context.sandbox.run(command, context.progress), seconds, self.effect(given))


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
    if done.exit_code != 0:
        text = f"Error: command exited with status {done.exit_code}\n{output or '(no output)'}"
        return ToolOutcome.error(text, reason="exit_status", retry_safe=effect.repeatable, data=data)
    return ToolOutcome.text(output or "(no output)", data)
