"""Assemble: everything a model call needs, in an order that keeps the beginning byte-stable.

Order: system prompt, soul, tools | history | the messages of this turn, the first with what memory had for it. Nothing
volatile stands before the history, so a provider's prompt cache holds from turn to turn.
"""

from aster.contracts.blocks import text_of
from aster.contracts.llm import ModelRequest
from aster.engine_core.boundary import RULE, SHORT_RULE, Boundary
from aster.engine_core.casting import model_of, role_of
from aster.engine_core.history import spoken
from aster.engine_core.sampling import tuned
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.herald.endpoint import Endpoint
from aster.infra.settings import Settings

STOCK_PROMPT = """\
You are Aster, a capable and careful assistant with tools.

Work on the person's request until it is done, then answer. Use a tool when it tells you more than you know; read
before you change, and check what you did. Files and commands live in a sandboxed workspace; relative paths start
there. When a tool fails, read the error and try another way instead of repeating the same call. When you need a
decision or a fact only the person has, ask with the `ask_user` tool.

Answer in Markdown, briefly and plainly. Say what you did and what you could not do. Do not claim what you have
not seen."""


def instructions(endpoint: Endpoint, settings: Settings) -> str:
    """What every conversation begins with; whoever wrote it, it says what marked text is."""
    told = settings.system_prompt or endpoint.stock_prompt or STOCK_PROMPT
    if endpoint.protocol == "local_chat":
        return f"{told} {SHORT_RULE}"
    return f"{told}\n\n{RULE}"


def _with_soul(told: str, soul: str) -> str:
    return f"{told}\n\n{soul}" if soul else told


def assemble(turn: Turn, services: Services) -> ModelRequest:
    """The next model call of a turn."""
    settings, state = services.settings, turn.state
    said_before = (*turn.history, *state.messages)
    turn.boundary = turn.boundary or Boundary.of(said_before[0].id or turn.turn_id)
    messages = turn.boundary.messages(said_before)
    request = ModelRequest(
        model=model_of(state, settings),
        system=_with_soul(instructions(services.herald.endpoint, settings), turn.soul),
        messages=messages,
        tools=services.tools.registry.definitions,
        max_tokens=state.max_tokens or settings.max_tokens,
        cache_upto=len(messages),
        request_id=turn.request_id,
        turn_id=turn.turn_id,
        firm=state.lasting_effects,
        role=role_of(state, settings),
        endpoint=state.endpoint,
    )
    said = next((text_of(message.content) for message in reversed(state.messages) if spoken(message)), "")
    return tuned(
        services.herald.assigned(request),
        said,
        first_step=state.model_calls == 0,
        super_thinking=state.request.super_thinking,
    )
