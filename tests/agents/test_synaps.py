"""SynapsCLI's hook events, and the results that it is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from watchgate.agents.base import DecodeError, Intake
from watchgate.agents.synaps import EVENTS, NO_SESSION, SynapsAdapter
from watchgate.core.base.clock import Instant
from watchgate.core.dispatch.extensions.extension_hooks import HOOKS, read_verdict
from watchgate.core.model.events import Event, Lane, Text, ToolResult
from watchgate.core.model.verdicts import (
    Allow,
    Block,
    Inject,
    Modify,
    Reply,
    SayAllow,
    SayDeny,
    SayNothing,
    Verdict,
)

SYNAPS = SynapsAdapter()


def params(kind: str, **fields: Any) -> dict[str, Any]:
    """A hook event: what does not apply is null, never left out."""
    names = "tool_name tool_runtime_name tool_input tool_output message session_id transcript data"
    return {"kind": kind, **dict.fromkeys(names.split()), **fields}


def decoded(given: dict[str, Any], lane: Lane = Lane.GATE) -> Event:
    intake = Intake(lane=lane, at=Instant(1_000, 1.0), deadline_s=4.5)
    return SYNAPS.decode(json.dumps(given).encode(), intake)


CALL = params(
    "before_tool_call", tool_name="bash", tool_runtime_name="bash", tool_input={"command": "ls"}
)


def test_every_hook_is_the_kind_that_extensions_know_it_as() -> None:
    assert set(EVENTS) == set(HOOKS)
    for name, (kind, _) in EVENTS.items():
        assert kind in HOOKS[name].on


def test_a_call_is_known_by_both_of_its_names() -> None:
    given = {"tool_name": "fs_read", "tool_runtime_name": "fs:read", "tool_input": {"path": "a"}}
    tool = decoded(params("before_tool_call", **given)).tool
    assert tool is not None
    assert (tool.native_name, tool.name) == ("fs_read", "fs:read")


def test_nobody_else_asks_so_a_call_that_is_handed_back_runs() -> None:
    event = decoded(CALL)
    assert event.runs_unasked
    assert not event.autonomous, "a person sits in front of it"
    assert event.can.allow
    assert event.can.deny
    assert event.can.modify


def test_the_whole_request_is_read_like_its_params() -> None:
    request = {"jsonrpc": "2.0", "id": 2, "method": "hook.handle", "params": CALL}
    assert decoded(request) == decoded(CALL)


def test_what_names_no_session_says_so() -> None:
    assert decoded(CALL).session == NO_SESSION
    assert decoded({**CALL, "session_id": "s-9", "cwd": "/srv/app"}).session == "s-9"
    assert decoded({**CALL, "cwd": "/srv/app"}).cwd == "/srv/app"


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (params("before_message", message="hello"), "prompt.submit"),
        (params("on_message_complete", message="hi"), "message"),
        (params("on_compaction", data={"message_count": 3}), "compact.post"),
        (params("on_session_start", session_id="s"), "session.start"),
        (params("on_session_end", session_id="s", transcript=[]), "session.end"),
        (params("on_moonrise", data={"phase": "full"}), "notice"),
    ],
)
def test_every_hook_is_told(given: dict[str, Any], kind: str) -> None:
    assert decoded(given, Lane.OBSERVE).kind == kind


def test_a_result_is_the_calls_output() -> None:
    event = decoded({**CALL, "kind": "after_tool_call", "tool_output": "a.py"}, Lane.OBSERVE)
    assert isinstance(event.body, ToolResult)
    assert event.body.text == "a.py"
    assert event.body.tool == decoded(CALL).tool


@pytest.mark.parametrize("raw", [b"", b"[]", b"{}", b'{"kind":"before_tool_call"}', b"\xff"])
def test_what_is_no_hook_event_is_refused(raw: bytes) -> None:
    with pytest.raises(DecodeError):
        SYNAPS.decode(raw, Intake(lane=Lane.GATE, at=Instant(1_000, 1.0)))


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        (SayAllow(), Allow()),
        (SayAllow(input={"command": "true"}), Modify({"command": "true"}, "rewritten by us")),
        (SayDeny(reason="outside"), Block("outside")),
        (SayNothing(), Allow()),
    ],
)
def test_synaps_reads_an_answer_as_it_was_meant(reply: Reply, read: Verdict) -> None:
    answer = SYNAPS.answer(decoded(CALL), reply)
    assert read_verdict(json.loads(answer.stdout), "us") == read


def test_text_for_the_model_goes_with_a_message() -> None:
    event = decoded(params("before_message", message="hello"), Lane.RELAY)
    answer = SYNAPS.answer(event, SayNothing(context="It is Friday."))
    assert read_verdict(json.loads(answer.stdout), "us") == Inject("It is Friday.")
    assert event.body == Text("hello")


@pytest.mark.parametrize("reason", ["", " \n", "\ud800"])
def test_a_denial_always_has_words(reason: str) -> None:
    answer = SYNAPS.answer(decoded(CALL), SayDeny(reason=reason))
    assert json.loads(answer.stdout)["reason"].strip()
    assert (answer.exit_code, bool(answer.stderr.strip())) == (2, True)


def test_an_unreadable_payload_is_blocked_on_the_gate_alone() -> None:
    assert json.loads(SYNAPS.closed("", Lane.GATE, "why").stdout)["action"] == "block"
    for lane in (Lane.GATE_READ, Lane.RELAY, Lane.OBSERVE):
        assert SYNAPS.closed("", lane, "why").stdout == b""


def test_nothing_is_said_to_what_is_only_watched() -> None:
    assert SYNAPS.answer(decoded(CALL, Lane.OBSERVE), SayDeny(reason="no")).stdout == b""


def test_watch_gates_nothing_and_the_others_the_call_alone() -> None:
    for profile, lane in (("watch", Lane.OBSERVE), ("guard", Lane.GATE), ("strict", Lane.GATE)):
        lanes = {entry.event: entry.lane for entry in SYNAPS.entries(profile)}
        assert lanes.pop("before_tool_call") is lane
        assert set(lanes.values()) == {Lane.OBSERVE}
    with pytest.raises(ValueError, match="watch, guard, strict"):
        SYNAPS.entries("lax")
