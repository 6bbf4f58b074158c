"""A recording decided again: nothing differs but what another policy decides otherwise."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.core.builders import SAYS_ALL, other, permission, post, pre, shell
from tests.service.replaying.recorded import RecordedWorld, RulesAgain
from watchgate.agents.registry import ADAPTERS
from watchgate.core.chain.hash_chain import START, Chain
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.model.assessment import Assessment, Finding
from watchgate.core.model.events import Event
from watchgate.core.model.large_inputs import Holders, has_reference, resolved
from watchgate.core.model.records import Draft, Record, is_session_event
from watchgate.core.model.verdicts import Block, Defer, Modify, Report, Verdict
from watchgate.core.secrets.redact import Content, journal_json
from watchgate.demo import demo_play
from watchgate.demo.demo_play import CONFIG, play
from watchgate.demo.demo_script import HOME
from watchgate.service.policies.policy_files import shipped
from watchgate.service.replaying.inferred_inputs import ReplayGate
from watchgate.service.replaying.recorded_run import NEVER, RecordedRun
from watchgate.service.replaying.replay_comparison import ReplayResult, decide_again

GUARD = Handler(id="guard", on=frozenset({"tool.pre"}), timeout_s=3)
LOG = Handler(id="log", on=frozenset({"tool.pre"}), role="observer", timeout_s=30)


class Stricter(RulesAgain):
    """The same rules, but what pushes is denied."""

    def assess(self, event: Event) -> Assessment | None:
        command = "" if event.tool is None else str(event.tool.input.get("command"))
        if not command.endswith(" push"):
            return super().assess(event)
        return Assessment("deny", "high", (Finding("no.push", "no pushes", "high", None),))


def demo(records: list[Record]) -> ReplayResult:
    own = (f"{HOME}/.config/watchgate",)

    def judge() -> ReplayGate:
        return ReplayGate(CONFIG.profile, lambda _cwd: shipped(), home=HOME, own=own)

    return decide_again(records, CONFIG, judge, demo_play.HANDLERS, ADAPTERS)


def journalled(records: list[Record], content: Content) -> list[Record]:
    kept = [
        msgspec.structs.replace(
            each, data=msgspec.json.decode(journal_json(msgspec.to_builtins(each.data), content))
        )
        for each in records
    ]
    return msgspec.json.decode(msgspec.json.encode(kept), type=list[Record])


@pytest.mark.parametrize("content", ["commands", "full"])
@pytest.mark.parametrize("decision", ["allow", "deny", "handback", None])
def test_the_demo_is_decided_as_it_was(content: Content, decision: str | None) -> None:
    asked = [r.call or "" for r in play(60) if r.kind == "approval.requested"]
    assert len(asked) == 2
    answers = dict.fromkeys(asked, (3.0, decision)) if decision else {}
    again = demo(journalled(play(200, answers), content))
    assert again.differences == ()
    assert again.decided > 50
    assert again.left_out == {}


def test_each_session_alone_is_decided_as_it_was() -> None:
    records = journalled(play(60), "commands")
    sessions = {record.session for record in records if is_session_event(record)}
    assert len(sessions) == 4
    for session in sessions:
        again = demo([record for record in records if record.session == session])
        assert again.differences == ()
        assert again.decided > 0


def test_what_was_not_kept_is_counted_and_never_a_difference() -> None:
    again = demo(journalled(play(60), "none"))
    assert again.differences == ()
    assert again.left_out["its content was not kept"] >= 26


def test_a_covered_secret_is_counted() -> None:
    world = RecordedWorld()
    world.send(pre(shell("high x --token ghp_" + "a1B2" * 9, "c1")), 1)
    again = world.again(journalled(world.kept(), "commands"))
    assert (again.differences, again.decided) == ((), 0)
    assert again.left_out == {"a secret in it was covered": 1}


def test_a_stricter_policy_differs_in_exactly_what_it_denies() -> None:
    world = RecordedWorld()
    for conn, command in enumerate(("low ls", "medium push", "low push", "high x"), 1):
        tool = shell(command, f"c{conn}")
        world.send(pre(tool, can=SAYS_ALL), conn)
        for request in list(world.broker.open.values()):
            world.decide(request, "allow")
            world.commit()
        world.send(post(tool))
    again = world.again(rules=Stricter)
    assert again.decided == 4
    assert [each.summary for each in again.differences] == ["medium push", "low push"]
    first = again.differences[0]
    assert (first.agent, first.session, first.tool, first.call) == ("claude", "one", "Bash", "c2")
    assert first.recorded["gate"] != first.again["gate"] == "denied"
    assert first.again["word"] == "denied-by-rule"
    assert {"gate", "word", "rule", "reason", "trace"} <= set(first.differs)


def test_a_policy_that_asks_where_nobody_was_asked_gets_no_answer() -> None:
    world = RecordedWorld("guard")
    world.send(pre(shell("low ls", "c1")), 1)
    (only,) = world.again(profile="strict").differences
    assert only.recorded["gate"] == "handback"
    assert only.again["gate"] == "held"
    assert "word" not in only.again


def test_handlers_say_what_they_said_then() -> None:
    world = RecordedWorld(handlers=(GUARD,))
    verdicts: tuple[Verdict, ...] = (Block("no"), Defer(), Modify({"command": "low y"}))
    for conn, verdict in enumerate(verdicts, 1):
        world.send(pre(shell("low x", f"c{conn}")), conn)
        world.says("guard", verdict)
    again = world.again()
    assert (again.differences, again.decided, again.left_out) == ((), 3, {})


def test_a_handler_that_was_not_there_cannot_be_asked_now() -> None:
    world = RecordedWorld()
    world.send(pre(shell("low x", "c1")), 1)
    again = world.again(handlers=(GUARD,))
    assert again.differences == ()
    assert again.left_out == {"what a handler said of it was not recorded": 1}


def test_what_the_agent_sent_is_decoded_again_where_it_was_kept() -> None:
    world = RecordedWorld()
    payload: dict[str, Any] = {
        "session_id": "one",
        "cwd": "/home/u/app",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "high x"},
        "tool_use_id": "c1",
    }
    raw = msgspec.json.encode(payload).decode()
    world.send(msgspec.structs.replace(pre(shell("high x", "c1")), raw=raw), 1)
    assert world.again().differences == ()
    forged = raw.replace("high x", "low x")
    records = [
        msgspec.structs.replace(each, data={**each.data, "raw": forged})
        if each.kind == "tool.pre"
        else each
        for each in world.kept()
    ]
    (only,) = world.again(records).differences
    assert "risk" in only.differs


def test_an_observer_that_speaks_late_takes_no_grant_back() -> None:
    """What stood around a call is read off its outcome once, when it is decided."""
    both = frozenset({"tool.permission"})
    guard, log = (msgspec.structs.replace(each, on=both) for each in (GUARD, LOG))
    world = RecordedWorld(handlers=(guard, log))
    world.send(permission(shell("medium x", "c1")), 1)
    world.says("guard", Defer())
    world.allow(world.broker.open[world.broker.of_conn(1) or ""], scope="15m")
    first = world.asked[1]
    world.send(permission(shell("medium x", "c2"), races=False), 2)
    world.do(world.engine.on_report(first.dispatch_id, "log", Report(verdict=Defer()), world.now))
    world.says("guard", Defer())
    world.says("log", Defer())
    again = world.again()
    assert (again.differences, again.decided, again.left_out) == ((), 2, {})


def test_an_allow_that_never_reached_the_disk_is_never_told() -> None:
    world = RecordedWorld()
    written = world.ask(pre(shell("high x", "c1")), 1)
    world.allow(written)
    unwritten = world.ask(pre(shell("high y", "c2")), 2)
    world.decide(unwritten, "allow")
    recording = RecordedRun(world.kept(), ADAPTERS)
    assert recording.was_committed_by(written.id, NEVER)
    assert not recording.was_committed_by(unwritten.id, NEVER)


def test_calls_that_share_a_dispatch_which_the_recording_cuts_off_are_left_out_together() -> None:
    world = RecordedWorld("strict", handlers=(GUARD, LOG))
    for conn in (1, 2):
        world.send(pre(shell("medium x", "c1")), conn)
    world.advance(4)
    again = world.again([r for r in world.kept() if r.kind != "hook.trace"])
    assert (again.differences, again.decided) == ((), 0)
    assert sum(again.left_out.values()) == 2


def test_a_core_that_stops_over_an_allow_and_a_dispatch_says_why_as_it_did() -> None:
    world = RecordedWorld("strict", handlers=(GUARD, LOG))
    world.decide(world.ask_through("medium x", 1), "allow")
    world.send(pre(shell("medium y", "c2")), 2)
    world.do(world.engine.close_all("denied-core-stopped", "it was so", world.now))
    assert world.again().differences == ()


def test_a_gate_that_left_while_its_dialog_waited_is_not_waited_for() -> None:
    world = RecordedWorld()
    world.send(permission(shell("allow x", "c1")), 1)
    world.send(pre(shell("allow x", "c1"), can=SAYS_ALL, deadline_s=60.0), 2)
    world.hang_up(2)
    world.send(other("prompt.submit"))
    assert world.records[-1].data["word"] == "answered-elsewhere"
    assert world.again().differences == ()


def test_what_was_purged_is_counted() -> None:
    world = RecordedWorld(handlers=(GUARD,))
    world.send(pre(shell("low x", "c1")), 1)
    world.says("guard", Defer())
    purged = [msgspec.structs.replace(each, data={}) for each in world.kept()]
    again = world.again(purged)
    assert (again.differences, again.decided) == ((), 0)
    assert again.left_out == {"its content was not kept": 1}


@pytest.mark.parametrize("content", ["commands", "full"])
def test_a_large_call_that_is_stored_once_is_decided_as_it_was(content: Content) -> None:
    world = RecordedWorld()
    world.send(pre(shell("high " + "x" * 100_000, "c1")), 1)
    kept = stored(world.kept(), content)
    assert [each.kind for each in kept if has_reference(each.data)] == ["approval.requested"]
    by_number = {each.seq: each for each in kept}
    read = [
        msgspec.structs.replace(each, data=resolved(each, by_number.get))
        if has_reference(each.data)
        else each
        for each in kept
    ]
    for records in (read, kept):
        again = world.again(records)
        assert (again.differences, again.decided, again.left_out) == ((), 1, {})


def test_one_whose_input_is_gone_is_counted() -> None:
    world = RecordedWorld()
    world.send(pre(shell("high " + "x" * 100_000, "c1")), 1)
    gone = [
        msgspec.structs.replace(each, data={}) if each.kind == "tool.pre" else each
        for each in stored(world.kept(), "commands")
    ]
    again = world.again(gone)
    assert (again.differences, again.decided) == ((), 0)


def stored(records: list[Record], content: Content) -> list[Record]:
    """The records as a journal stores them, each large input once."""
    chain = Chain("core", START, lambda data: journal_json(data, content), Holders())
    fields = Draft.__struct_fields__
    drafts = (Draft(**{name: getattr(each, name) for name in fields}) for each in records)
    return [chain.seal(draft)[1].record() for draft in drafts]
