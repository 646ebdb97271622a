"""Answers and evidence for the checks, without a turn around them."""

from aster.contracts.blocks import TextBlock, ToolResultBlock, ToolUseBlock
from aster.contracts.messages import Message
from aster.contracts.turn import ToolRun
from aster.engine_core.verifying.evidence import Case, Exhibit


def bash(text: str, command: str = "./run", code: int = 0, call_id: str = "c1") -> Exhibit:
    """A command and what it wrote."""
    run = ToolRun(call_id=call_id, tool="bash", error="exit_status" if code else None, exit_code=code)
    shown = f"Error: command exited with status {code}\n{text}" if code else text
    return Exhibit(call_id, "bash", {"command": command}, shown, run)


def tool(text: str, name: str = "read_file", error: str | None = None, call_id: str = "c1") -> Exhibit:
    """Any other tool."""
    return Exhibit(call_id, name, {"path": "notes"}, text, ToolRun(call_id=call_id, tool=name, error=error))


def case(answer: str, *exhibits: Exhibit, question: str = "What does it say?") -> Case:
    told = [Message(role="user", content=(TextBlock(text=question),))]
    for one in exhibits:
        told += [
            Message(role="assistant", content=(ToolUseBlock(id=one.call_id, name=one.tool, input=one.input),)),
            Message(
                role="user",
                content=(ToolResultBlock(tool_use_id=one.call_id, content=(TextBlock(text=one.text),)),),
            ),
        ]
    return Case(answer, exhibits, question, tuple(told))
