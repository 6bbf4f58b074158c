"""What a table's agent is told, byte for byte, and what can never be told by accident."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agents.tables import DENY, HAL, TABLE, decoded, intake
from watchgate.agents.base import DecodeError, HookAnswer
from watchgate.agents.registry import closed_exit, closed_template
from watchgate.agents.table import EventAnswers, EventRule, HookOutput, Table
from watchgate.agents.table.adapter import TableAdapter
from watchgate.core.model.events import Lane
from watchgate.core.model.verdicts import Reply, SayAllow, SayAnswer, SayDeny, SayNothing

CALL: dict[str, Any] = {"call": {"name": "sh", "args": {"command": "ls"}}}
NOTHING = HookAnswer()
NO_EDIT = "The edited call was not run: HAL cannot be told another input. Deny it with a reason."
DENIED = HookAnswer(b'{"verdict":"no","why":"Not \\"here\\"."}', b'Not "here".\n', 2)
REASON = 'Not "here".'


@pytest.mark.parametrize("lane", [Lane.GATE, Lane.GATE_READ, Lane.RELAY])
@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (SayAllow(), HookAnswer(b'{"verdict":"yes"}')),
        (SayAllow(context="mind"), HookAnswer(b'{"verdict":"yes","note":"mind"}')),
        (SayAllow({"command": "id"}), HookAnswer(b'{"verdict":"yes","args":{"command":"id"}}')),
        (SayAllow({}), HookAnswer(b'{"verdict":"yes","args":{}}')),
        (SayDeny(REASON), DENIED),
        (SayDeny("no", stop=True), HookAnswer(b'{"verdict":"halt","why":"no"}', exit_code=2)),
        (SayNothing(), NOTHING),
        (SayNothing("mind"), HookAnswer(b'{"on":"before","note":"mind"}')),
        (SayAnswer((("yes",),)), NOTHING),
    ],
)
def test_an_event_that_can_be_told_all(reply: Reply, told: HookAnswer, lane: Lane) -> None:
    assert HAL.answer(decoded("before", lane=lane, **CALL), reply) == told


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (SayAllow(), NOTHING),
        (SayAllow({"command": "id"}), HookAnswer(stderr=f"{NO_EDIT}\n".encode(), exit_code=2)),
        (SayDeny("no", stop=True), HookAnswer(stderr=b"no\n", exit_code=2)),
        (SayNothing("mind"), NOTHING),
    ],
)
def test_an_event_that_can_only_be_denied(reply: Reply, told: HookAnswer) -> None:
    assert HAL.answer(decoded("shell", run={"line": "ls"}), reply) == told


def test_an_edit_that_an_agent_would_not_take_in_whole_is_denied() -> None:
    merging = EventAnswers(modify=HookOutput(stdout={"over": "{input}"}), deny=DENY, merges=True)
    table = Table(name="x", title="X", events={"a": EventRule(kind="tool.pre", answers=merging)})
    call = b'{"hook_event_name":"a","session_id":"s","tool_name":"t","tool_input":{"p":1,"q":2}}'
    event = TableAdapter(table).decode(call, intake())

    whole = TableAdapter(table).answer(event, SayAllow({"p": 3, "q": 2}))
    less = TableAdapter(table).answer(event, SayAllow({"p": 3}))

    assert whole.stdout == b'{"over":{"p":3,"q":2}}'
    assert (less.exit_code, b"(q)" in less.stdout) == (2, True)


@pytest.mark.parametrize("reply", [SayAllow(), SayAllow({}), SayDeny("no"), SayNothing("mind")])
def test_nothing_where_no_answer_is_read(reply: Reply) -> None:
    assert HAL.answer(decoded("before", lane=Lane.OBSERVE, **CALL), reply) == NOTHING
    assert HAL.answer(decoded("after", **CALL), reply) == NOTHING
    assert HAL.answer(decoded("of next year"), reply) == NOTHING


def test_a_question_is_never_told_an_allow() -> None:
    answers = EventAnswers(
        allow=HookOutput(stdout="yes"), deny=HookOutput(stdout={"no": "{reason}"})
    )
    asking = TableAdapter(
        Table(name="x", title="X", events={"form": EventRule(kind="question", answers=answers)})
    )
    event = asking.decode(b'{"hook_event_name":"form","session_id":"s"}', intake(Lane.RELAY))

    assert asking.answer(event, SayAllow()) == NOTHING
    assert asking.answer(event, SayDeny("no")) == HookAnswer(b'{"no":"no"}')


@pytest.mark.parametrize("reason", ["", " \n", "\ud800"])
def test_a_denial_always_has_words(reason: str) -> None:
    told = HAL.answer(decoded("before", **CALL), SayDeny(reason))

    assert msgspec.json.decode(told.stdout)["why"].strip()
    assert told.stderr.strip()


def test_the_words_of_a_denial_carry_no_control_bytes() -> None:
    told = HAL.answer(decoded("before", **CALL), SayDeny("no \x1b[2J\nand why"))

    assert told.stderr == b"no <U+001B>[2J\nand why\n"
    assert b"\x1b" not in told.stdout


def test_words_that_look_like_a_place_stay_words() -> None:
    told = HAL.answer(decoded("before", **CALL), SayAllow({"command": "{reason}"}))

    assert told.stdout == b'{"verdict":"yes","args":{"command":"{reason}"}}'


@pytest.mark.parametrize("native", ["before", "", "of next year", "after", "began"])
def test_an_unreadable_payload_is_denied_on_the_gate_alone(native: str) -> None:
    assert HAL.closed(native, Lane.GATE, REASON) == DENIED
    for lane in (Lane.GATE_READ, Lane.RELAY, Lane.OBSERVE):
        assert HAL.closed(native, lane, REASON) == NOTHING


def test_an_agent_that_says_how_an_event_is_denied_is_denied_so() -> None:
    assert HAL.closed("shell", Lane.GATE, "no") == HookAnswer(stderr=b"no\n", exit_code=2)


def test_a_table_without_any_denial_still_ends_closed() -> None:
    mute = TableAdapter(Table(name="x", title="X", events={"a": EventRule(kind="tool.pre")}))

    assert mute.closed("a", Lane.GATE, "no") == HookAnswer(stderr=b"no\n", exit_code=2)


@pytest.mark.parametrize("native", ["before", "asks", "shell", ""])
def test_the_clients_own_denial_is_the_same_with_a_place_for_the_reason(native: str) -> None:
    template = closed_template(HAL, native)
    closed = HAL.closed(native, Lane.GATE, "R")

    assert template.replace("@", "R", 1).encode() == closed.stdout
    assert closed_exit(HAL, native) == closed.exit_code


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
parts = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from([*TABLE.events, "of next year"]) | json_values,
        "ship": st.fixed_dictionaries({"id": st.text(max_size=9)}) | json_values,
        "roots": st.lists(st.text()) | json_values,
        "call": st.fixed_dictionaries(
            {"name": st.sampled_from([*TABLE.classes, "mcp__a__b"]) | json_values},
            optional={"args": json_values, "id": json_values},
        ),
        "tool_calls": json_values,
        "run": json_values,
        "info": json_values,
        "tokens": json_values,
        "duration_ms": json_values,
        "status": json_values,
        "out": json_values,
        "fault": json_values,
        "permission_mode": json_values,
    },
)
replies = st.one_of(
    st.builds(
        SayAllow,
        input=st.none() | st.dictionaries(st.text(), st.text()),
        context=st.text(),
    ),
    st.builds(SayDeny, reason=st.text(), stop=st.booleans()),
    st.builds(SayNothing, context=st.text()),
    st.just(SayAnswer((("yes",),))),
)


def _encoded(payload: Any) -> bytes:
    try:
        return msgspec.json.encode(payload)
    except (UnicodeEncodeError, OverflowError):
        return b"{}"


@given(parts | json_values, st.sampled_from(Lane), replies)
def test_any_payload_decodes_or_says_why_not_and_only_an_allow_allows(
    payload: Any, lane: Lane, reply: Reply
) -> None:
    try:
        event = HAL.decode(_encoded(payload), intake(lane))
    except DecodeError:
        return
    msgspec.json.encode(event)
    told = HAL.answer(event, reply)
    if not isinstance(reply, SayAllow):
        assert b'"yes"' not in told.stdout
    if isinstance(reply, SayDeny) and event.can.deny:
        assert told.exit_code == 2
        assert told.stdout or told.stderr.strip()


@given(st.binary())
def test_any_bytes_decode_or_say_why_not(payload: bytes) -> None:
    with suppress(DecodeError):
        HAL.decode(payload, intake())
