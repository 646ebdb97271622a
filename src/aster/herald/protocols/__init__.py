"""The wire protocols, by name."""

from aster.herald.endpoint import ProtocolName
from aster.herald.protocols.anthropic import AnthropicProtocol
from aster.herald.protocols.base import WireProtocol
from aster.herald.protocols.openai_chat import OpenAIChatProtocol

PROTOCOLS: dict[ProtocolName, WireProtocol] = {
    "anthropic": AnthropicProtocol(),
    "openai_chat": OpenAIChatProtocol(),
}
