"""The account of a model call: its manifest, and the alert when the provider's cache did not serve it.

Both are written with the call's end, in one commit with its usage; the next prompt is compared with this one.
"""

from aster.contracts.events import CacheHitRatioAlert, ContextManifest, Event
from aster.contracts.llm import ModelRequest, TokenUsage
from aster.engine_core.context import cache_monitor
from aster.engine_core.context.manifest import Moved, Parts, entries_of, manifest_of, moved_since
from aster.engine_core.context.prompt import Prompt
from aster.engine_core.context.tokens import window_of
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.herald.profiles import profile_of


def accounted(
    turn: Turn, services: Services, request: ModelRequest, step: int, used: TokenUsage | None = None
) -> list[Event]:
    """What is to be written of a call: of one that was answered with what it used, of another without."""
    state, before = turn.state, turn.prompt
    own = len(state.messages) - state.covered
    parts = Parts(turn.layers, request, min(own, len(request.messages)), state.follows_turn_id)
    entries = entries_of(parts)
    moved = None if before is None else moved_since(before, parts, entries)
    spent = used or TokenUsage()
    manifest = manifest_of(
        parts,
        entries,
        step=step,
        window=window_of(request.model, services.settings),
        shown=turn.shown,
        used=spent,
        moved=moved,
    )
    turn.shown = entries
    events: list[Event] = [manifest]
    if used is not None and (told := _watched(turn, services, request, manifest, spent, moved)) is not None:
        events.append(told)
    if used is not None and used.input_total:
        prompt = Prompt(
            turn_id=turn.turn_id,
            model=request.model,
            entries=entries,
            estimated=manifest.total_tokens,
            counted=used.input_total,
            cached=used.cache_read,
            written=used.cache_write,
            at_ms=services.now(),
        )
        turn.prompt, turn.anchor = prompt, prompt.anchor
        services.prompts.keep(turn.key, prompt)
    return events


def _watched(
    turn: Turn,
    services: Services,
    request: ModelRequest,
    manifest: ContextManifest,
    used: TokenUsage,
    moved: Moved | None,
) -> CacheHitRatioAlert | None:
    if not services.settings.cache_hit_monitor_enabled:
        return None
    compacted = any(message.digest is not None for message in request.messages)
    miss = cache_monitor.missed(turn.prompt, request.model, used, moved, services.now(), compacted=compacted)
    if miss is None:
        return None
    services.raven.cache_missed(miss.cause, miss.tokens)
    price = profile_of(request.model).price(services.budgets.today().name)
    told = cache_monitor.alert(miss, manifest.step, request.model, moved, price)
    if told is not None:
        services.raven.note(
            "cache_hit_ratio_alert",
            "warning",
            f"{miss.tokens} tokens were not read from the provider's cache: {_why(moved)}.",
            moved_block=told.moved_block,
            source=told.source,
            ratio=told.ratio,
            expected=told.expected,
            cost_usd=told.cost_usd,
        )
    return told


def _why(moved: Moved | None) -> str:
    return "the prompt had not changed" if moved is None else f"`{moved.block}` has changed ({moved.source})"
