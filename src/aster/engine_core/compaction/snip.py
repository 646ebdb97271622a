"""The second rung: old turns go, whole, and the digest says so. The opening and the newest messages stay.

Only turns before the present one are taken, oldest first, and no more of them than needed.
"""

from collections.abc import Sequence
from itertools import accumulate

from aster.contracts.messages import Message
from aster.engine_core.compaction.shape import Weigh, answers, by_person, earlier_cut

HEAD = 3
TAIL = 47


def snipped(
    messages: Sequence[Message], upto: int, weigh: Weigh, target: int
) -> tuple[list[Message], list[Message]]:
    """The messages that stay and those that go, down to `target` tokens; nothing from `upto` on is taken."""
    first = head_end(messages)
    last = min(len(messages) - TAIL, upto)
    cuts = [at for at in range(first + 1, last + 1) if not answers(messages[at])]
    if not cuts or len(messages) <= HEAD + TAIL:
        return list(messages), []
    turns = [at for at in cuts if by_person(messages[at])] or cuts
    freed = list(accumulate(map(weigh, messages[first : turns[-1]]), initial=0))
    needed = sum(map(weigh, messages)) - target
    cut = next((at for at in turns if freed[at - first] >= needed), turns[-1])
    return [*messages[:first], *messages[cut:]], list(messages[first:cut])


def head_end(messages: Sequence[Message]) -> int:
    """Where the opening of a conversation ends: behind the digest, if there is one already."""
    digest = next((at for at, message in enumerate(messages) if message.digest is not None), None)
    return earlier_cut(messages, HEAD) if digest is None else digest + 1
