"""A recording decided again: nothing differs but what another policy decides otherwise."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.core.builders import SAYS_ALL, post, pre, shell
from tests.service.replaying.recorded import RecordedWorld, RulesAgain
from watchgate.agents.registry import ADAPTERS
from watchgate.core.events import Event
from watchgate.core.handlers import Handler
from watchgate.core.policy.assessment import Assessment, Finding
from watchgate.core.records import Record
from watchgate.core.redact import Content, journal_json
from watchgate.core.verdicts import Block, Defer, Modify, Verdict
from watchgate.demo import hooks
from watchgate.demo.play import CONFIG, play
from watchgate.demo.script import HOME
from watchgate.service.policy.shipped import shipped
from watchgate.service.replaying.again import Again, decide_again
from watchgate.service.replaying.judge import Judge

GUARD = Handler(id="guard", on=frozenset({"tool.pre"}), timeout_s=3)


class Stricter(RulesAgain):
    """The same rules, but what pushes is denied."""

    def assess(self, event: Event) -> Assessment | None:
        command = "" if event.tool is None else str(event.tool.input.get("command"))
        if not command.endswith(" push"):
            return super().assess(event)
        return Assessment("deny", "high", (Finding("no.push", "no pushes", "high", None),))


def demo(records: list[Record]) -> Again:
    own = (f"{HOME}/.config/watchgate",)

    def judge() -> Judge:
        return Judge(CONFIG.profile, lambda _cwd: shipped(), home=HOME, own=own)

    return decide_again(records, CONFIG, judge, hooks.HANDLERS, ADAPTERS)


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
    sessions = {record.session for record in records if record.session}
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
