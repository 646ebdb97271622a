"""Sampling profiles and thinking: how freely a model may choose its words and how long it thinks, by what is asked.

Sampling is for models one runs oneself; a hosted model's own defaults are better than ours and are left alone. A
step after the first, or one that is not mere talk, is a working step and is sampled soberly. Thinking is asked for
where the provider has it, when the words deserve it or the client says `super_thinking`.
"""

from msgspec.structs import replace

from aster.contracts.llm import ModelRequest
from aster.contracts.model import Contract
from aster.engine_core.intent import CREATIVE, PRECISE, Intent, intent_of
from aster.herald.profiles import profile_of

SUPER_THINKING = 8192
EXTENDED_THINKING = 4096


class Sampling(Contract):
    temperature: float
    top_p: float
    top_k: int
    presence_penalty: float = 0.0


GENERAL = Sampling(temperature=1.0, top_p=0.95, top_k=20, presence_penalty=1.5)
FACTUAL = Sampling(temperature=0.0, top_p=1.0, top_k=1)
BALANCED = Sampling(temperature=0.6, top_p=0.95, top_k=20)
FREE = Sampling(temperature=0.8, top_p=0.95, top_k=40, presence_penalty=0.3)
STRICT = Sampling(temperature=0.3, top_p=0.9, top_k=10)


def choose(intent: Intent, first_step: bool) -> Sampling:
    """The profile for the next model call."""
    if intent.conversational and first_step:
        return FACTUAL if intent.factual else GENERAL
    if not intent.coding:
        return BALANCED
    creative, precise = len(intent.words & CREATIVE), len(intent.words & PRECISE)
    if creative > precise:
        return FREE
    return STRICT if precise > creative else BALANCED


def tuned(request: ModelRequest, said: str, *, first_step: bool, super_thinking: bool) -> ModelRequest:
    """A model call with what fits the person's words: how freely to choose, and how long to think."""
    intent, profile = intent_of(said), profile_of(request.model)
    if super_thinking:
        request = replace(request, thinking_budget=SUPER_THINKING)
    elif profile.thinking != "none" and intent.deserves_thought:
        request = replace(request, thinking_budget=EXTENDED_THINKING)
    if profile.known:
        return request
    sampling = choose(intent, first_step)
    return replace(
        request,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        top_k=sampling.top_k,
        presence_penalty=sampling.presence_penalty,
    )
