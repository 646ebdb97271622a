"""A model server for tests, demos, chaos runs and benchmarks: a script that speaks real wire formats.

It answers `POST /v1/messages` (Anthropic), `POST /v1/chat/completions` and `POST /v1/responses` (OpenAI) and
`POST /v1beta/models/{model}:generateContent` (Gemini), streaming or not, over loopback, records every call, and
misbehaves exactly as told. It is never a mock: the client under test
opens a socket and parses what a provider would send.

::

    async with ModelServer([Rule(Reply([Text("done")]), round=1)]) as server:
        server.enqueue(Reply([Thinking("hm"), ToolCall("bash", {"command": "ls"})]), Failure(529))
        ...                                     # base URL: server.url, for OpenAI server.url + "/v1"
        await server.wait_calls(2)
        assert server.calls[0].text == "list the files"

An answer is looked for in this order: what was enqueued; the first `Rule` (or function of the recorded call)
that fits; the directive in the message (`aster.testing.directive`); the demo persona (`aster.testing.demo`),
if nothing was ever scripted. `Stall`, `Hold`, `Cut`, `Malformed` and `StreamError` among the parts of a `Reply`
are its faults; `Hold` and `ModelServer.release` stop a stream at an exact place without a clock. A script is
data, so it may be a JSON file: ``python -m aster.testing --script FILE`` serves it as a process, with
`GET /_calls`, `POST /_script`, `POST /_reset` and `POST /_release?name=` for those who cannot call methods.
"""

from aster.testing.calls import RecordedCall
from aster.testing.conversation import Conversation, Offer, Result
from aster.testing.script import (
    Answer,
    CallableRule,
    Cut,
    ErrorKind,
    Failure,
    Fault,
    Hold,
    Malformed,
    Part,
    Ping,
    RedactedThinking,
    Reply,
    Rule,
    Script,
    Stall,
    StopReason,
    StreamError,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from aster.testing.server import ModelServer

__all__ = [
    "Answer",
    "CallableRule",
    "Conversation",
    "Cut",
    "ErrorKind",
    "Failure",
    "Fault",
    "Hold",
    "Malformed",
    "ModelServer",
    "Offer",
    "Part",
    "Ping",
    "RecordedCall",
    "RedactedThinking",
    "Reply",
    "Result",
    "Rule",
    "Script",
    "Stall",
    "StopReason",
    "StreamError",
    "Text",
    "Thinking",
    "ToolCall",
    "Usage",
]
