"""The wire protocols, by name."""

from aster.herald.endpoint import ProtocolName
from aster.herald.protocols.anthropic import AnthropicProtocol
from aster.herald.protocols.base import WireProtocol
from aster.herald.protocols.gemini import GeminiProtocol
from aster.herald.protocols.local_chat import LocalChatProtocol
from aster.herald.protocols.openai_chat import OpenAIChatProtocol
from aster.herald.protocols.openai_responses import OpenAIResponsesProtocol

PROTOCOLS: dict[ProtocolName, WireProtocol] = {
    "anthropic": AnthropicProtocol(),
    "openai_chat": OpenAIChatProtocol(),
    "openai_responses": OpenAIResponsesProtocol(),
    "gemini": GeminiProtocol(),
    "local_chat": LocalChatProtocol(),
}
