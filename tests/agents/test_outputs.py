"""Every answer of every table has the shape that its agent accepts, and none allows by itself."""

from __future__ import annotations

import itertools
import json

import msgspec
import pytest

from tests.agents.hooked import ALLOW, DENY, HANDBACK, NOW, REASON, STOP, edited
from tests.agents.output_shapes import OUTPUTS
from watchgate.agents.base import HookAnswer
from watchgate.agents.registry import adapter
from watchgate.agents.table.adapter import TableAdapter
from watchgate.core.model.events import Event, Lane, Text, Tool, ToolCall
from watchgate.core.model.verdicts import SayNothing

AGENTS = (
    "copilot",
    "gemini",
    "qwen",
    "cursor",
    "goose",
    "kimi",
    "crush",
    "kiro",
    "droid",
    "cline",
    "windsurf",
    "vscode",
)
REPLIES = (ALLOW, edited(command="ls"), edited(), DENY, STOP, HANDBACK, SayNothing("mind the gap"))


def table(name: str) -> TableAdapter:
    found = adapter(name)
    assert isinstance(found, TableAdapter)
    return found


def answered(name: str) -> list[str]:
    events = table(name).table.events
    return [native for native, rule in events.items() if rule.answers and native != QUERY]


def merges(name: str, native: str) -> bool:
    answers = table(name).table.events[native].answers
    return answers is not None and answers.merges


QUERY = "interaction_query"
ANSWERED = [(name, native) for name in AGENTS for native in answered(name)]


def event(name: str, native: str, lane: Lane = Lane.GATE) -> Event:
    tool = Tool("Bash", "x", "shell", {"command": "make"}, "h")
    kind = table(name).table.events[native].kind
    body = ToolCall(tool) if kind.startswith("tool.") else Text("do it")
    return Event(
        kind=kind, native=native, agent=name, session="s", lane=lane, at=NOW, body=body, cwd="/w"
    )


@pytest.mark.parametrize(("name", "native"), ANSWERED)
def test_every_answer_has_the_shape_of_its_event(name: str, native: str) -> None:
    for reply in REPLIES:
        answer = adapter(name).answer(event(name, native), reply)

        if answer.stdout:
            msgspec.json.decode(answer.stdout, type=OUTPUTS[name, native], strict=True)
        assert answer.exit_code in (0, 2), "the guard takes any other status for a failure"
        assert answer.exit_code == 0 or answer.stderr, "an exit status without words lets it run"


@pytest.mark.parametrize(("name", "native"), ANSWERED)
def test_an_edit_is_told_or_denied_but_never_runs_the_call_as_it_was(
    name: str, native: str
) -> None:
    answer = adapter(name).answer(event(name, native), edited(command="ls"))

    told = b'{"command":"ls"}' in answer.stdout
    assert told == adapter(name).can(native).modify
    assert told or is_denial(answer)


@pytest.mark.parametrize(
    ("name", "native"),
    [(name, native) for name, native in ANSWERED if merges(name, native)],
)
def test_an_edit_that_drops_a_field_is_denied_where_the_agent_would_put_it_back(
    name: str, native: str
) -> None:
    assert is_denial(adapter(name).answer(event(name, native), edited(other="x")))


@pytest.mark.parametrize(("name", "native"), ANSWERED)
def test_a_denial_says_why(name: str, native: str) -> None:
    for reply in (DENY, STOP):
        answer = adapter(name).answer(event(name, native), reply)

        assert is_denial(answer)
        assert REASON in answer.stderr.decode() + json.dumps(spoken(answer)).replace('\\"', '"')


@pytest.mark.parametrize(("name", "native"), ANSWERED)
def test_only_cursor_says_allow_to_hand_back_and_nobody_says_ask(name: str, native: str) -> None:
    for reply in REPLIES:
        answer = adapter(name).answer(event(name, native), reply)
        assert b'"ask"' not in answer.stdout
        assert b'"review"' not in answer.stdout
        if isinstance(reply, SayNothing) and (name, native) != ("cursor", "beforeSubmitPrompt"):
            assert (b'"allow"' in answer.stdout) == (name == "cursor")


@pytest.mark.parametrize(("name", "native"), ANSWERED)
def test_an_observed_event_is_told_nothing(name: str, native: str) -> None:
    for reply in REPLIES:
        assert adapter(name).answer(event(name, native, Lane.OBSERVE), reply) == HookAnswer()


@pytest.mark.parametrize("name", AGENTS)
def test_a_gate_that_cannot_decide_denies(name: str) -> None:
    gates = {each.event for each in adapter(name).entries("guard") if each.lane is Lane.GATE}

    for native in (*gates, "", "OfNextYear"):
        answer = adapter(name).closed(native, Lane.GATE, REASON)
        assert is_denial(answer), native
        template = adapter(name).closed(native, Lane.GATE, "@").stdout
        assert template.count(b"@") <= 1, "the client puts its reason in one place"


@pytest.mark.parametrize("name", AGENTS)
def test_a_failure_on_a_lane_that_hands_back_denies_nothing(name: str) -> None:
    for lane, native in itertools.product((Lane.GATE_READ, Lane.RELAY), answered(name)):
        assert not is_denial(adapter(name).closed(native, lane, REASON))


def is_denial(answer: HookAnswer) -> bool:
    words = spoken(answer)
    flat = json.dumps(words)
    said = any(
        part in flat
        for part in (
            '"deny"',
            '"block"',
            '"cancel": true',
            '"halt": true',
            '"continue": false',
        )
    )
    return said or (answer.exit_code == 2 and bool(answer.stderr))


def spoken(answer: HookAnswer) -> object:
    return json.loads(answer.stdout) if answer.stdout else None
