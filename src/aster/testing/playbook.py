"""Chooses the answer to a call: what is queued first, then the first rule that fits, then the directive in
the message, then, if nothing was ever scripted, the demo persona.

A scripted server that has no answer says so with an error the client will not retry: a hole in a script is
found at once and never filled with an invented answer.
"""

import inspect
import random
import re
from collections import deque
from collections.abc import Sequence

from aster.testing import demo, directive
from aster.testing.calls import RecordedCall
from aster.testing.script import Answer, CallableRule, Failure, Rule


class Playbook:
    """The script as it stands, and how much of it is used up."""

    def __init__(self, rules: Sequence[Rule | CallableRule] = (), seed: int = 0) -> None:
        self._queue: deque[Answer] = deque()
        self._random = random.Random(seed)
        self._rules: Sequence[Rule | CallableRule] = ()
        self._used: list[int] = []
        self._scripted = False
        self.replace(rules)

    def replace(self, rules: Sequence[Rule | CallableRule], queue: Sequence[Answer] = ()) -> None:
        self._rules = list(rules)
        self._used = [0] * len(rules)
        self._queue = deque(queue)
        self._scripted = bool(rules or queue)

    def enqueue(self, answers: Sequence[Answer]) -> None:
        self._queue.extend(answers)
        self._scripted = True

    @property
    def queued(self) -> int:
        return len(self._queue)

    async def answer(self, call: RecordedCall) -> tuple[Answer, str]:
        """The answer, and the name of what gave it."""
        if self._queue:
            return self._queue.popleft(), "queue"
        for index, rule in enumerate(self._rules):
            answer = self._apply(index, rule, call) if isinstance(rule, Rule) else await _ask(rule, call)
            if answer is not None:
                return answer, f"rule {index}"
        answer = directive.answer(call.conversation)
        if answer is not None:
            return answer, "directive"
        if not self._scripted:
            return demo.answer(call.conversation), "demo"
        said = call.text if len(call.text) <= 200 else call.text[:200] + "…"
        message = f"The script has no answer to {said!r} after {call.round} tool results."
        return Failure(400, "invalid_request", message), "nothing"

    def _apply(self, index: int, rule: Rule, call: RecordedCall) -> Answer | None:
        if rule.times is not None and self._used[index] >= rule.times:
            return None
        if not _fits(rule, call) or (rule.chance < 1 and self._random.random() >= rule.chance):
            return None
        self._used[index] += 1
        return rule.reply


def _fits(rule: Rule, call: RecordedCall) -> bool:
    conversation = call.conversation
    results = conversation.results
    return (
        (rule.round is None or rule.round == len(results))
        and (rule.tool is None or (bool(results) and results[-1].tool == rule.tool))
        and (rule.offers is None or conversation.offer(rule.offers) is not None)
        and _found(rule.model, conversation.model)
        and _found(rule.system, conversation.system)
        and _found(rule.match, conversation.text)
    )


def _found(pattern: str | None, text: str) -> bool:
    return pattern is None or re.search(pattern, text) is not None


async def _ask(rule: CallableRule, call: RecordedCall) -> Answer | None:
    answer = rule(call)
    return await answer if inspect.isawaitable(answer) else answer
