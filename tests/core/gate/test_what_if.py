from __future__ import annotations

from typing import Any

import msgspec
import pytest

from watchgate.core.gate.policy_gate import PolicyGate
from watchgate.core.gate.raised_risk import RETRY
from watchgate.core.gate.what_if import Change, WhatIf, what_if
from watchgate.core.model.events import Tool
from watchgate.core.model.records import CallData, DecisionData, Record
from watchgate.core.policy.rules.load import load
from watchgate.core.policy.rules.policy import Policy
from watchgate.core.policy.rules.profiles import Profile
from watchgate.core.tools.tool_input import input_hash
from watchgate.core.usage.budget import RULE as BUDGET

POLICY = """
version = 1

[[rule]]
id = "t.no-push"
decision = "deny"
reason = "Nobody pushes from here"
command = { program = "git", sub = "push" }

[[rule]]
id = "t.deploy"
decision = "ask"
risk = "high"
reason = "Changes what users see"
command = { program = "deploy" }

[[rule]]
id = "t.list"
decision = "allow"
command = { program = "ls", flags = [] }
"""


def gate(profile: Profile = "guard") -> PolicyGate:
    policy = Policy.of((load(POLICY, "new.toml", "user"),))
    return PolicyGate(profile, lambda _cwd: policy, home="/home/u", own=())


def called(command: str, gate: str, kind: str = "tool.pre", **data: Any) -> Record:
    args = {"command": command}
    tool = Tool("Bash", "Bash", "shell", args, input_hash(args, "shell"))
    given = {"native": "PreToolUse", "lane": "gate", "tool": tool, "summary": command, "gate": gate}
    call = CallData(**{**given, "cwd": "/home/u/app", **data})
    return Record(
        v=1,
        seq=1,
        core="c",
        at=1_000_000,
        kind=kind,
        agent="claude",
        session="s",
        request="r1",
        data=msgspec.to_builtins(call),
    )


def judged(*records: Record, profile: Profile = "guard") -> WhatIf:
    return what_if(records, gate(profile))


def only(found: WhatIf) -> Change:
    (change,) = found.changes
    return change


def test_a_call_that_would_now_be_denied_is_a_change_with_its_rule() -> None:
    change = only(judged(called("git push", "handback", risk="medium", rule="git.push")))
    assert (change.was.does, change.was.rule) == ("handback", "git.push")
    assert (change.would.does, change.would.rule) == ("deny", "t.no-push")
    assert change.would.reason == "Nobody pushes from here"


@pytest.mark.parametrize(
    ("command", "did", "profile"),
    [
        ("git push", "denied", "guard"),
        ("deploy", "held", "guard"),
        ("deploy", "carried", "guard"),
        ("deploy", "joined", "guard"),
        ("deploy", "allowed", "guard"),
        ("ls", "handback", "guard"),
        ("ls", "recorded", "guard"),
        ("git push", "recorded", "watch"),
        ("make", "held", "strict"),
    ],
)
def test_what_would_be_done_with_again_is_no_change(
    command: str, did: str, profile: Profile
) -> None:
    found = judged(called(command, did), profile=profile)
    assert (found.changes, found.judged) == ((), 1)


def test_how_its_request_ended_is_told_with_the_change() -> None:
    said = DecisionData(word="allowed-by-operator", by="operator", waited_s=2.0)
    decided = Record(
        v=1, seq=2, core="c", at=2, kind="approval.decided", request="r1",
        data=msgspec.to_builtins(said),
    )  # fmt: skip
    change = only(judged(called("git push", "held"), decided))
    assert (change.was.does, change.ended) == ("hold", "allowed-by-operator")


def test_a_history_that_was_only_watched_tells_what_would_have_been_held_or_denied() -> None:
    found = judged(
        called("git push", "recorded", lane="observe"),
        called("deploy", "recorded", lane="observe"),
        called("ls", "recorded", lane="observe"),
    )
    assert [each.would.does for each in found.changes] == ["deny", "hold"]


def test_where_the_agent_asks_a_hold_stays_a_hold() -> None:
    assert judged(called("ls", "held", "tool.permission", lane="relay")).changes == ()


def test_an_agent_that_asks_for_every_call_is_judged_as_at_the_gate() -> None:
    found = judged(called("ls", "handback", "tool.permission"))
    assert (found.changes, found.judged) == ((), 1)


def test_an_autonomous_session_is_held_where_no_rule_speaks() -> None:
    assert only(judged(called("make", "handback", autonomous=True))).would.does == "hold"
    assert judged(called("make", "handback")).changes == ()


def test_a_call_whose_input_was_redacted_or_dropped_is_counted_and_not_judged() -> None:
    whole = called("git push", "handback")
    data = {**whole.data, "tool": {**whole.data["tool"], "input": {"command": "git <gone>"}}}
    found = judged(msgspec.structs.replace(whole, data=data))
    assert (found.changes, found.judged, found.not_kept) == ((), 0, 1)
    unreadable = msgspec.structs.replace(whole, data={"tool": 1})
    assert judged(unreadable).not_kept == 1


@pytest.mark.parametrize(
    "given",
    [
        {"rule": "handler no-force-push", "word": "denied-by-rule"},
        {"word": "denied-failure"},
        {"word": "denied-no-journal"},
        {"rule": RETRY},
        {"rule": BUDGET},
    ],
)
def test_what_the_rules_did_not_decide_is_counted_and_not_compared(given: dict[str, Any]) -> None:
    found = judged(called("ls", "denied", **given))
    assert (found.changes, found.judged, found.not_rules) == ((), 0, 1)


def test_other_records_are_no_calls() -> None:
    other = msgspec.structs.replace(called("git push", "held"), kind="tool.post")
    assert judged(other) == WhatIf((), 0, 0, 0)
