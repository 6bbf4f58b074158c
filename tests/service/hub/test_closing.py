from __future__ import annotations

from watchgate.agents.base import HookAnswer
from watchgate.agents.registry import ADAPTERS
from watchgate.core.model.events import Lane
from watchgate.service.hub.hook_frames import deny_on_failure
from watchgate.service.wire.framing import FrameHead


def closed(lane: Lane, *, agent: str = "claude", strict: bool = False) -> HookAnswer | None:
    head = FrameHead(agent=agent, lane=lane, length=0, native="PreToolUse")
    return deny_on_failure(head, "it broke", adapters=ADAPTERS, strict=strict)


def test_a_gate_is_denied_in_the_agents_own_words() -> None:
    answer = closed(Lane.GATE)
    assert answer is not None
    assert b'"permissionDecision":"deny"' in answer.stdout
    assert b"it broke" in answer.stdout
    assert (answer.exit_code, b"not a refusal by a person" in answer.stderr) == (2, True)


def test_the_other_lanes_that_wait_are_handed_back() -> None:
    assert closed(Lane.GATE_READ) == HookAnswer()
    assert closed(Lane.RELAY) == HookAnswer()


def test_strict_closes_reads_as_well() -> None:
    assert closed(Lane.GATE_READ, strict=True) == closed(Lane.GATE)
    assert closed(Lane.RELAY, strict=True) == HookAnswer()


def test_an_observer_is_told_nothing() -> None:
    assert closed(Lane.OBSERVE) is None


def test_without_an_adapter_the_gate_is_denied_by_exit_code_and_reason() -> None:
    unknown = closed(Lane.GATE, agent="hal")
    headless = deny_on_failure(None, "it broke", adapters=ADAPTERS, strict=False)
    assert unknown == headless
    assert unknown is not None
    assert (unknown.stdout, unknown.exit_code) == (b"", 2)
    assert closed(Lane.RELAY, agent="hal") == HookAnswer()
