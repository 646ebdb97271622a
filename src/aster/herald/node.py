"""A node: one model at one endpoint, with its circuit and its limits.

Whatever is known of it is known once: pools that name the same node share it, its connections and its state.
"""

from hashlib import sha256

from aster.contracts.events import CircuitState
from aster.herald.breaker import Breaker
from aster.herald.endpoint import Endpoint
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.gateway import Herald
from aster.herald.quota import Quota


class Node:
    """Asks its endpoint through `herald`, unless `refusal` says that it is of no use now."""

    def __init__(self, herald: Herald, breaker: Breaker, quota: Quota) -> None:
        self.herald = herald
        self.breaker = breaker
        self.quota = quota
        self._fault = FailureKind.PROVIDER

    @property
    def endpoint(self) -> Endpoint:
        return self.herald.endpoint

    @property
    def model(self) -> str:
        return self.herald.endpoint.model

    @property
    def name(self) -> str:
        """What people know it by."""
        return f"{self.endpoint.name}/{self.model}"

    def refusal(self) -> HeraldError | None:
        """Why a call should not even be sent, and how long that will last."""
        limited = self.quota.wait()
        if limited:
            said = f"the limit of {self.name} is used up for another {limited:.0f} s; nothing was sent"
            return HeraldError(FailureKind.RATE_LIMITED, said, retry_after=limited)
        rest = self.breaker.wait()
        if rest:
            said = f"{self.name} failed {self.breaker.failures} times in a row and is left alone; nothing was sent"
            return HeraldError(self._fault, said, retry_after=rest, resting=True)
        return None

    def blame(self, error: HeraldError) -> None:
        """Remember what went wrong: while the circuit is open, it is said again."""
        self._fault = error.kind

    def circuit(self) -> CircuitState:
        """The circuit as it stands, as an event."""
        rest = self.breaker.wait() if self.breaker.state == "open" else None
        return CircuitState(
            endpoint=self.name,
            state=self.breaker.state,
            failures=self.breaker.failures,
            retry_after_ms=None if rest is None else round(rest * 1000),
        )


def account(endpoint: Endpoint) -> str:
    """Whose limits they are: the place and the key, of which nothing can be read back."""
    mark = sha256((endpoint.key or "").encode()).hexdigest()[:12]
    return f"{endpoint.base_url}#{mark}"
