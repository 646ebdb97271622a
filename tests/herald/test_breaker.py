"""The circuit: three strikes, a minute of rest, one call that decides."""

from aster.herald.breaker import PROBING_SECONDS, Breaker


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def fail(breaker: Breaker, times: int = 1) -> None:
    for _ in range(times):
        breaker.failed(breaker.admit())


def opened(clock: Clock) -> Breaker:
    breaker = Breaker(clock)
    fail(breaker, 3)
    return breaker


def test_three_failures_in_a_row_open_it() -> None:
    breaker = Breaker(Clock())
    fail(breaker, 2)
    assert (breaker.state, breaker.wait()) == ("closed", 0.0)
    fail(breaker)
    assert (breaker.state, breaker.wait()) == ("open", 60.0)


def test_a_success_in_between_starts_the_count_anew() -> None:
    breaker = Breaker(Clock())
    fail(breaker, 2)
    breaker.succeeded(breaker.admit())
    fail(breaker, 2)
    assert (breaker.state, breaker.failures) == ("closed", 2)


def test_what_says_nothing_about_the_endpoint_changes_nothing() -> None:
    breaker = Breaker(Clock())
    fail(breaker, 2)
    breaker.dismissed(breaker.admit())
    assert (breaker.state, breaker.failures) == ("closed", 2)


def test_after_a_minute_exactly_one_call_is_let_through() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 59.9
    assert breaker.wait() > 0
    clock.now += 0.1
    assert (breaker.wait(), breaker.state) == (0.0, "open")
    assert breaker.admit()
    assert (breaker.wait(), breaker.state) == (PROBING_SECONDS, "half_open")


def test_the_one_call_closes_it() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 60
    breaker.succeeded(breaker.admit())
    assert (breaker.state, breaker.failures, breaker.wait()) == ("closed", 0, 0.0)


def test_the_one_call_keeps_it_open_for_another_minute() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 60
    fail(breaker)
    assert (breaker.state, breaker.wait()) == ("open", 60.0)


def test_a_call_that_is_given_up_leaves_the_place_to_the_next() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 60
    breaker.dismissed(breaker.admit())
    assert breaker.wait() == 0.0
    assert breaker.admit()


def test_calls_from_before_it_opened_decide_nothing() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    early = [breaker.admit() for _ in range(5)]
    for probe in early[:3]:
        breaker.failed(probe)
    clock.now += 30
    breaker.failed(early[3])
    assert breaker.wait() == 30.0
    breaker.succeeded(early[4])
    assert breaker.state == "open"
    clock.now += 30
    assert breaker.admit()
    breaker.failed(early[3])
    breaker.succeeded(early[4])
    breaker.dismissed(early[4])
    assert breaker.state == "half_open"
