"""A session that floods its operator is paused: what would be held is denied, with the reason."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.core.builders import START, permission, pre, shell
from tests.core.world import World
from watchgate.core.gate.rate_limit import (
    PAUSE_S,
    PENDING_MAX,
    QUEUED_A_MINUTE,
    RETRIES_DENIED,
    RateLimiter,
)
from watchgate.core.model.requests import ApprovalRequest
from watchgate.core.model.verdicts import SayAllow, SayDeny, SayNothing

ONE = ("claude", "s1")


def test_one_request_too_many_pauses_the_session_for_a_while() -> None:
    pacing = RateLimiter()
    assert pacing.count_request(*ONE, PENDING_MAX - 1, START) is None
    pause = pacing.count_request(*ONE, PENDING_MAX, START)
    assert pause is not None
    assert f"{PENDING_MAX} of its calls wait" in pause.why
    assert pacing.paused(*ONE, START.plus(PAUSE_S - 1)) == pause
    assert pacing.paused(*ONE, START.plus(PAUSE_S)) is None


def test_another_session_is_not_paused_with_it() -> None:
    pacing = RateLimiter()
    pacing.count_request(*ONE, PENDING_MAX, START)
    assert pacing.paused("claude", "s2", START) is None
    assert pacing.paused("codex", "s1", START) is None


def test_requests_that_queue_faster_than_one_reads_pause_the_session() -> None:
    pacing = RateLimiter()
    for number in range(QUEUED_A_MINUTE):
        assert pacing.count_request(*ONE, 1, START.plus(number)) is None
    pause = pacing.count_request(*ONE, 1, START.plus(59))
    assert pause is not None
    assert "within a minute" in pause.why


def test_requests_that_are_decided_one_by_one_never_pause_it_however_fast() -> None:
    pacing = RateLimiter()
    for number in range(10 * QUEUED_A_MINUTE):
        assert pacing.count_request(*ONE, 0, START.plus(number / 100)) is None


def test_denied_retries_in_a_row_pause_it_unless_an_allow_came_between_them() -> None:
    pacing = RateLimiter()
    for _ in range(RETRIES_DENIED - 1):
        assert pacing.count_decision(*ONE, allowed=False, retry=True, now=START) is None
    pacing.count_decision(*ONE, allowed=True, retry=False, now=START)
    for _ in range(RETRIES_DENIED - 1):
        assert pacing.count_decision(*ONE, allowed=False, retry=True, now=START) is None
    assert pacing.count_decision(*ONE, allowed=False, retry=True, now=START) is not None


def test_an_allow_ends_a_pause() -> None:
    pacing = RateLimiter()
    pacing.count_request(*ONE, PENDING_MAX, START)
    pacing.count_decision(*ONE, allowed=True, retry=False, now=START)
    assert pacing.paused(*ONE, START) is None


@given(st.lists(st.tuples(st.integers(0, 2 * PENDING_MAX), st.floats(0, 30)), max_size=60))
def test_a_pause_always_ends_within_its_time(steps: list[tuple[int, float]]) -> None:
    pacing, now = RateLimiter(), START
    for pending, seconds in steps:
        now = now.plus(seconds)
        pacing.count_request(*ONE, pending, now)
    assert pacing.paused(*ONE, now.plus(PAUSE_S)) is None


def flood(world: World) -> list[ApprovalRequest]:
    return [world.ask(pre(shell(f"high {n}", f"c{n}")), n) for n in range(PENDING_MAX)]


def test_what_is_too_much_is_denied_at_once_and_says_why() -> None:
    world = World()
    flood(world)
    world.send(pre(shell("high more", "cx")), 900)
    said = world.reply(900)
    assert isinstance(said, SayDeny)
    assert f"{PENDING_MAX} of its calls wait for an operator already" in said.reason
    assert "Do not try another way" in said.reason
    (paused,) = world.all("policy.paused")
    assert paused.data["until"] == world.now.plus(PAUSE_S).wall_us
    assert world.all("tool.pre")[-1].data["word"] == "denied-paused"


def test_what_waits_already_still_waits() -> None:
    world = World()
    first = flood(world)[0]
    world.send(pre(shell("high more", "cx")), 900)
    world.allow(first)
    assert world.reply(0) == SayAllow()


def retried(world: World) -> None:
    """An agent that goes on trying what was denied."""
    for number in range(RETRIES_DENIED + 1):
        asked = world.ask(pre(shell(f"high ./x {number}", f"c{number}")), number)
        world.decide(asked, "deny")


def test_in_a_pause_nobody_is_asked_and_after_it_somebody_is_again() -> None:
    world = World(retries=True)
    retried(world)
    world.send(pre(shell("high again", "cx")), 900)
    assert isinstance(world.reply(900), SayDeny)
    assert len(world.all("policy.paused")) == 1
    world.advance(PAUSE_S)
    world.ask(pre(shell("high later", "cy")), 901)


def test_what_no_rule_holds_runs_in_a_pause_as_ever() -> None:
    world = World(retries=True)
    retried(world)
    world.send(pre(shell("low x", "cx")), 900)
    assert world.reply(900) == SayNothing()


def test_on_a_relay_the_agent_asks_by_itself_in_a_pause() -> None:
    world = World(retries=True)
    retried(world)
    world.send(permission(shell("high x", "cx")), 900)
    assert world.reply(900) == SayNothing()


def test_denials_of_different_things_pause_nothing() -> None:
    world = World()
    for number in range(3 * RETRIES_DENIED):
        world.decide(world.ask(pre(shell(f"high {number}", f"c{number}")), number), "deny")
    assert not world.all("policy.paused")


def test_timeouts_are_no_denials_by_a_person_and_pause_nothing() -> None:
    world = World(timeout_s=10, retries=True)
    for number in range(2 * RETRIES_DENIED):
        world.ask(pre(shell(f"high {number}", f"c{number}")), number)
        world.advance(11)
    assert not world.all("policy.paused")
