from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.service.desk import Desk, payload
from watchgate.agents.base import HookAnswer, Intake
from watchgate.agents.claude import ClaudeAdapter
from watchgate.core.model.events import Event, Lane
from watchgate.core.model.verdicts import Reply, SayAllow
from watchgate.service.hub.hub import Hub
from watchgate.service.hub.interfaces import PendingReply
from watchgate.service.system.process_table import Proc
from watchgate.service.wire.framing import FrameHead

AGENT = Proc(40, "400", "claude", ("claude",))
GATE = FrameHead(agent="claude", lane=Lane.GATE, length=0, native="PreToolUse")


def denied(conn: PendingReply) -> str:
    """Why the gate was answered closed."""
    assert conn.answer is not None
    assert conn.answer.exit_code == 2
    said = json.loads(conn.answer.stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert conn.answer.stderr.decode().strip() == said["permissionDecisionReason"]
    reason: str = said["permissionDecisionReason"]
    return reason


def test_an_allow_is_told_only_once_it_is_on_disk() -> None:
    desk = Desk()
    conn = desk.send("high")
    assert conn.answer is None
    desk.decide(conn, "allow")
    assert conn.answer is None
    desk.paper.written()
    assert conn.answer is not None
    assert b'"allow"' in conn.answer.stdout
    assert "approval.decided" in [row.kind for row in desk.paper.rows]


@pytest.mark.parametrize("ok", [True, False])
def test_a_decision_has_precedence_until_the_disk_has_answered(ok: bool) -> None:
    desk = Desk()
    conn = desk.send("high")
    assert not desk.hub.deciding
    desk.decide(conn, "allow")
    assert desk.hub.deciding
    desk.paper.written(ok=ok)
    assert not desk.hub.deciding


def test_an_allow_that_the_disk_refuses_is_a_denial() -> None:
    desk = Desk()
    conn = desk.send("high")
    desk.decide(conn, "allow")
    desk.hub.engine.status.journal_lost = "the disk is full"
    desk.paper.written(ok=False)
    assert "the disk is full" in denied(conn)
    assert desk.last("effect.undelivered")["word"] == "denied-no-journal"


@pytest.mark.parametrize("decision", ["deny", "handback"])
def test_what_is_no_allow_waits_for_no_disk(decision: str) -> None:
    desk = Desk()
    conn = desk.send("high")
    desk.decide(conn, decision)
    assert conn.answer is not None
    assert desk.paper.asked == []


def test_an_answer_that_was_written_is_recorded_as_sent() -> None:
    desk = Desk()
    conn = desk.send("high")
    desk.decide(conn, "deny")
    assert desk.hub.unanswered
    desk.hub.delivered(conn, ok=True)
    assert desk.last("effect.sent")["word"] == "denied-by-operator"
    assert not desk.hub.unanswered


def test_ap_14_an_answer_that_found_nobody_is_recorded_as_undelivered() -> None:
    desk = Desk()
    conn = desk.send("high")
    desk.decide(conn, "deny")
    desk.hub.delivered(conn, ok=False)
    assert desk.last("effect.undelivered")["what"] == "the client was gone"


def test_observers_are_recorded_and_never_answered() -> None:
    desk = Desk()
    conn = desk.send("high", Lane.OBSERVE, event="Stop")
    assert conn.answer is None
    assert desk.kinds() == ["turn.end"]


def test_what_was_observed_before_a_question_is_recorded_before_it() -> None:
    desk = Desk()
    desk.moments = []
    desk.send("high", Lane.OBSERVE, event="Stop", call="c0")
    assert desk.kinds() == [], "it waits a moment for company"
    desk.send("high")
    assert desk.kinds()[:2] == ["turn.end", "tool.pre"]


def test_what_was_observed_before_a_deadline_ends_what_it_answers() -> None:
    desk = Desk()
    desk.moments = []
    conn = desk.send("high", Lane.RELAY, event="PermissionRequest")
    desk.send("high", Lane.OBSERVE, event="PostToolUse")
    desk.clock.advance(3_600)
    desk.hub.expire_due()
    assert desk.last("approval.decided")["word"] == "answered-elsewhere"
    assert conn.answer is not None


@pytest.mark.parametrize(
    ("happen", "kinds"),
    [
        (lambda hub, conn: hub.hung_up(conn), []),
        (lambda hub, conn: hub.delivered(conn, ok=True), []),
        (lambda hub, conn: hub.failed("KeyError", conn), ["notice"]),
        (lambda hub, _conn: hub.oversized_line(9, 7), ["notice"]),
        (lambda hub, _conn: hub.journal_state("the disk is full"), ["policy.journal"]),
    ],
    ids=["a hang-up", "a delivery", "a fault", "an oversized line", "the loss of the journal"],
)
def test_what_was_observed_goes_before_whatever_happens_next(
    happen: Callable[[Hub, PendingReply], None], kinds: list[str]
) -> None:
    desk = Desk()
    desk.moments = []
    conn = desk.send("high", Lane.RELAY, event="PermissionRequest")
    asked = len(desk.kinds())
    desk.send("high", Lane.OBSERVE, event="PostToolUse")
    happen(desk.hub, conn)
    assert desk.kinds()[asked:] == ["tool.post", "approval.decided", *kinds]
    assert desk.last("approval.decided")["word"] == "answered-elsewhere"


def test_an_allow_is_not_told_for_a_call_that_was_seen_to_run_before_the_disk_had_it() -> None:
    desk = Desk()
    desk.moments = []
    conn = desk.send("high", Lane.RELAY, event="PermissionRequest")
    desk.decide(conn, "allow")
    desk.send("high", Lane.OBSERVE, event="PostToolUse")
    desk.paper.written()
    assert desk.last("effect.undelivered")["word"] == "answered-elsewhere"
    assert conn.answer == HookAnswer()


def test_observed_hooks_that_cannot_be_read_are_kept_among_the_others() -> None:
    desk = Desk()
    desk.moments = []
    desk.send("a", Lane.OBSERVE, event="Stop")
    head = FrameHead(agent="claude", lane=Lane.OBSERVE, length=2, native="Stop")
    desk.hub.frame(head, b"[]", desk.conn())
    desk.send("b", Lane.OBSERVE, event="Stop")
    desk.moments.pop()()
    assert desk.kinds() == ["turn.end", "unknown", "turn.end"]


def test_a_fault_of_ours_over_an_observed_hook_takes_no_other_with_it() -> None:
    desk = Desk(adapters={"claude": ClaudeAdapter(), "codex": Deaf()})
    desk.moments = []
    desk.send("a", Lane.OBSERVE, event="Stop")
    head = FrameHead(agent="codex", lane=Lane.OBSERVE, length=2, native="Stop")
    desk.hub.frame(head, b"{}", desk.conn())
    desk.send("b", Lane.OBSERVE, event="Stop")
    desk.moments.pop()()
    assert desk.kinds() == ["notice", "turn.end", "turn.end"]
    assert "RuntimeError" in desk.last("notice")["detail"]


def test_ap_4_a_client_that_leaves_withdraws_its_request() -> None:
    desk = Desk()
    conn = desk.send("high")
    desk.hub.hung_up(conn)
    assert desk.last("approval.decided")["word"] == "withdrawn"
    assert conn.answer is None


def test_silence_denies_at_the_deadline_and_says_that_it_was_silence() -> None:
    desk = Desk(unattended_timeout_s=60)
    conn = desk.send("high")
    desk.clock.advance(59)
    desk.hub.expire_due()
    assert conn.answer is None
    desk.clock.advance(2)
    desk.hub.expire_due()
    assert "Nobody answered" in denied(conn)
    assert desk.kinds()[-2:] == ["approval.timeout", "approval.decided"]


def test_the_clients_own_deadline_shortens_the_wait() -> None:
    desk = Desk()
    conn = desk.send("high", deadline_s=20.0)
    desk.clock.advance(16)
    desk.hub.expire_due()
    assert denied(conn)


def test_every_record_reaches_the_journal_the_state_and_the_consoles() -> None:
    desk = Desk()
    desk.send("high")
    assert [row.seq for row in desk.paper.rows] == [r.seq for r in desk.console.records]
    assert desk.hub.recorder.state.seq == desk.paper.rows[-1].seq
    assert len(desk.hub.recorder.state.pending) == 1


@pytest.mark.parametrize(
    ("lane", "profile", "closed"),
    [
        (Lane.GATE, "guard", True),
        (Lane.GATE_READ, "guard", False),
        (Lane.GATE_READ, "strict", True),
        (Lane.RELAY, "strict", False),
    ],
)
def test_an_unreadable_payload_is_kept_and_answered_as_its_lane_fails(
    lane: Lane, profile: Any, closed: bool
) -> None:
    desk = Desk(profile)
    conn = desk.conn()
    head = FrameHead(agent="claude", lane=lane, length=3, native="PreToolUse")
    desk.hub.frame(head, b"{no", conn)
    assert desk.last("unknown")["undecoded"] == "{no"
    if closed:
        assert "unreadable payload" in denied(conn)
    else:
        assert conn.answer == HookAnswer()


@pytest.mark.parametrize("event", ["PreToolUseOfNextYear", "PostToolUse", "Stop"])
def test_an_event_on_the_gate_that_asks_about_no_call_is_kept_and_closed(event: str) -> None:
    desk = Desk()
    conn = desk.conn()
    desk.hub.frame(GATE, payload("high", event), conn)
    assert event in desk.last("unknown")["undecoded"]
    assert f"{event} came on the gate lane" in denied(conn)


def test_an_unknown_agent_is_denied_in_no_ones_words() -> None:
    desk = Desk()
    conn = desk.conn()
    desk.hub.frame(FrameHead(agent="hal", lane=Lane.GATE, length=2), b"{}", conn)
    assert conn.answer is not None
    assert (conn.answer.stdout, conn.answer.exit_code) == (b"", 2)
    assert b"unknown agent 'hal'" in conn.answer.stderr


def test_an_input_nested_too_deeply_is_denied_before_it_is_encoded_again() -> None:
    desk = Desk()
    conn = desk.conn()
    nested = b'{"a":' * 400 + b"1" + b"}" * 400
    raw = payload("x").replace(b'{"command":"x"}', nested)
    desk.hub.frame(GATE, raw, conn)
    assert "nested" in denied(conn)


def test_a_lost_journal_closes_what_waits_and_says_when_it_is_back() -> None:
    desk = Desk()
    conn = desk.send("high")
    desk.hub.journal_state("the disk is full")
    assert "the disk is full" in denied(conn)
    assert desk.last("approval.decided")["word"] == "denied-no-journal"
    assert denied(desk.send("make", call="c2"))
    desk.hub.journal_state("")
    assert desk.last("policy.journal")["detail"] == "ok"
    assert desk.send("make", call="c3").answer == HookAnswer()


def test_without_room_observations_are_counted_and_gates_still_asked() -> None:
    desk = Desk()
    desk.paper.room = 10
    before = desk.hub.recorder.state.seq
    desk.send("ls", Lane.OBSERVE, event="PostToolUse")
    assert desk.hub.recorder.state.seq == before
    assert desk.send("high", call="c2").answer is None
    desk.paper.room = 50_000
    desk.hub.journal_state("slow")
    desk.hub.journal_state("")
    assert "1 observed events were not recorded" in desk.last("policy.journal")["what"]


def test_what_a_slow_disk_left_no_room_for_is_told_although_the_journal_was_never_lost() -> None:
    desk = Desk()
    desk.paper.room = 10
    desk.send("ls", Lane.OBSERVE, event="PostToolUse")
    desk.hub.journal_state("")
    assert "policy.journal" not in desk.kinds(), "not while there is no room yet"
    desk.paper.room = 50_000
    desk.hub.journal_state("")
    told = desk.last("policy.journal")
    assert (told["what"], told["detail"]) == (
        "1 observed events were not recorded meanwhile",
        "ok",
    )
    desk.hub.journal_state("")
    assert desk.kinds().count("policy.journal") == 1


def test_a_fault_of_ours_ends_the_request_closed_and_is_on_record() -> None:
    desk = Desk()
    conn = desk.send("high")
    desk.hub.failed("ValueError at engine.py:1", conn, GATE)
    assert "internal error (ValueError at engine.py:1)" in denied(conn)
    assert desk.last("notice")["native"] == "internal.error"
    assert desk.last("approval.decided")["word"] == "denied-failure"
    assert desk.hub.recorder.state.pending == {}
    assert not desk.hub.unanswered


def test_a_fault_of_ours_over_one_connection_leaves_the_call_to_the_other() -> None:
    desk = Desk()
    first, second = desk.send("high"), desk.send("high")
    desk.hub.failed("ValueError", first, GATE)
    assert denied(first)
    assert second.answer is None
    desk.decide(second, "deny")
    assert denied(second)


def test_a_fault_of_ours_after_an_allow_undoes_it() -> None:
    desk = Desk()
    conn = desk.send("high")
    desk.decide(conn, "allow")
    desk.hub.failed("ValueError", conn, GATE)
    desk.paper.written()
    assert denied(conn)
    assert desk.last("effect.undelivered")["word"] == "denied-failure"


class Tongueless(ClaudeAdapter):
    """An adapter whose answers fail."""

    def answer(self, event: Event, reply: Reply) -> HookAnswer:
        raise KeyError("no words")


def test_an_answer_that_cannot_be_put_into_words_is_the_closed_one() -> None:
    desk = Desk(adapters={"claude": Tongueless()})
    conn = desk.send("high")
    other = desk.send("high", call="c2")
    desk.decide(conn, "allow")
    desk.paper.written()
    assert "internal error (KeyError" in denied(conn)
    assert desk.last("effect.undelivered")["word"] == "denied-failure"
    desk.hub.delivered(conn, ok=True)
    assert "effect.sent" not in desk.kinds(), "nobody was told of the allow"
    assert other.answer is None


def test_the_agent_above_a_client_is_known_while_its_request_waits_and_after() -> None:
    desk = Desk()
    desk.agents[7] = AGENT
    conn = desk.send("high")
    (request,) = desk.hub.recorder.state.pending
    assert desk.hub.recorder.state.pending[request].data.agent_pid == AGENT.pid
    assert (AGENT,) in desk.hub.askers.known(request)
    desk.decide(conn, "deny")
    assert desk.hub.askers.agents_of(request) == set(), "settled: nothing is kept for it"
    assert desk.hub.askers.known() == ((AGENT,),)


def test_a_request_that_a_grant_answers_leaves_nothing_behind() -> None:
    desk = Desk()
    desk.agents[7] = AGENT
    first = desk.send("medium", Lane.RELAY, event="PermissionRequest", call=None)
    desk.decide(first, "allow", scope="session")
    desk.paper.written()
    desk.send("medium", Lane.OBSERVE, event="PostToolUse", call=None)
    again = desk.send("medium", Lane.RELAY, event="PermissionRequest", call="c9")
    (waiting,) = desk.hub.engine.broker.open
    assert desk.hub.askers.known(waiting) == ((AGENT,),), "for want of anybody, closed to all"
    assert desk.hub.askers.agents_of(waiting) == set()
    desk.paper.written()
    assert again.answer is not None


class Deaf(ClaudeAdapter):
    def decode(self, payload: bytes, intake: Intake) -> Event:
        raise RuntimeError("a bug")


def test_a_frame_raises_our_own_faults_to_its_connection() -> None:
    desk = Desk(adapters={"claude": Deaf()})
    with pytest.raises(RuntimeError):
        desk.send("high")


def test_a_reply_to_a_connection_that_is_gone_is_dropped() -> None:
    desk = Desk()
    conn = desk.send("high")
    desk.hub.hung_up(conn)
    desk.hub._send(conn.number, None, SayAllow(), None)  # type: ignore[arg-type]
    assert conn.answer is None
