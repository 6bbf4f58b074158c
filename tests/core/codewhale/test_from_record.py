from __future__ import annotations

from typing import Any, cast, get_args

import msgspec
import pytest

from tests.core.builders import shell
from watchgate.core import codewhale
from watchgate.core.codewhale import HookEvent, codewhale_frames
from watchgate.core.codewhale.from_record import hook_events
from watchgate.core.model.events import Kind, Tool
from watchgate.core.model.records import (
    CallData,
    CoreData,
    DeadlineData,
    DecisionData,
    Gate,
    NoteData,
    Record,
    RequestData,
    ResultData,
    Word,
)

PUSH = shell("git push")
IDENTITY = {"session": "one", "agent": "claude", "core": "core-a", "seq": 7}


def record(kind: str, data: msgspec.Struct, **fields: Any) -> Record:
    known = {"agent": "claude", "session": "one", "call": "c1", "data": msgspec.to_builtins(data)}
    return Record(v=1, seq=7, core="core-a", at=0, kind=kind, **(known | fields))


def called(
    gate: Gate, *, word: Word | None = None, reason: str = "", kind: str = "tool.pre"
) -> Any:
    data = CallData(
        native="PreToolUse",
        lane="gate",
        tool=PUSH,
        summary="git push",
        gate=gate,
        word=word,
        reason=reason,
        cwd="/srv/app",
    )
    return record(kind, data)


def ended(*, ok: bool, result: str = "", kind: str = "tool.post") -> Record:
    data = ResultData(native="PostToolUse", tool=PUSH, summary="git push", ok=ok, result=result)
    return record(kind, data)


def requested(tool: Tool = PUSH, **more: Any) -> Record:
    fields: dict[str, Any] = {"rule": "shell.push", "reason": "it publishes", **more}
    data = RequestData(
        digest="d" * 64,
        lane="gate",
        native="PreToolUse",
        tool=tool,
        summary="git push",
        risk="high",
        cwd="/srv/app",
        **fields,
    )
    return record("approval.requested", data, request="req-1")


def decided(word: Word, reason: str = "") -> Record:
    data = DecisionData(word=word, by="operator ann", waited_s=1.0, reason=reason)
    return record("approval.decided", data, request="req-1")


def names(found: tuple[HookEvent, ...]) -> list[str]:
    """Each event as CodeWhale's documents name it, `type(phase)` or `generic(frame)`."""
    said = []
    for wire in msgspec.to_builtins(found):
        detail = wire.get("phase") or wire.get("frame", {}).get("event", "")
        said.append(f"{wire['type'].replace('_event_frame', '')}({detail})")
    return said


def payload(event: HookEvent) -> dict[str, Any]:
    assert isinstance(event, codewhale.ToolLifecycle)
    return cast("dict[str, Any]", event.payload)


@pytest.mark.parametrize("gate", ["handback", "allowed", "recorded", "carried"])
def test_cw_16_a_call_that_goes_on_is_told_in_codewhales_order(gate: Gate) -> None:
    assert names(hook_events(called(gate)) + hook_events(ended(ok=True, result="done"))) == [
        "tool_lifecycle(precheck)",
        "generic(tool_call_start)",
        "generic(tool_call_result)",
        "tool_lifecycle(completed)",
    ]


def test_cw_16_a_call_that_failed_ends_with_the_error_and_failed() -> None:
    for failed in (ended(ok=False, result="exit 1"), ended(ok=False, kind="tool.error")):
        assert names(hook_events(failed)) == ["generic(error)", "tool_lifecycle(failed)"]
    assert payload(hook_events(ended(ok=False, result="exit 1"))[1])["error"] == "exit 1"


def test_nothing_says_that_a_call_is_dispatched_since_no_record_does() -> None:
    assert "dispatching" not in str([names(hook_events(called(gate))) for gate in get_args(Gate)])


def test_cw_17_a_call_that_the_policy_forbids_is_denied_with_its_reason() -> None:
    found = hook_events(called("denied", word="denied-by-rule", reason="no force"))
    assert names(found) == [
        "tool_lifecycle(precheck)",
        "approval_lifecycle(denied)",
        "generic(error)",
    ]
    assert found[1] == codewhale.ApprovalLifecycle("c1", "denied", "no force")
    assert payload(found[0])["allow"] is False


def test_cw_18_a_call_that_is_held_is_asked_about_and_never_approved_by_that() -> None:
    found = hook_events(called("held")) + hook_events(requested())
    assert names(found) == [
        "tool_lifecycle(precheck)",
        "approval_lifecycle(requested)",
        "generic(exec_approval_request)",
    ]
    assert payload(found[0])["requires_approval"] is True
    assert found[1] == codewhale.ApprovalLifecycle("req-1", "requested", "it publishes")
    frame = codewhale_frames.known_frame(msgspec.to_builtins(found[2])["frame"])
    assert isinstance(frame, codewhale_frames.ExecApprovalRequest)
    assert (frame.request.approval_id, frame.request.command) == ("req-1", "git push")
    assert (frame.request.cwd, frame.request.matched_rule) == ("/srv/app", "shell.push")


def test_a_request_offers_what_our_operator_is_offered() -> None:
    found = hook_events(
        requested(offered=("allow", "deny", "handback"), scopes=("once", "session"))
    )
    wire = msgspec.to_builtins(found[1])["frame"]["request"]
    assert wire["available_decisions"] == [
        {"type": "approved"},
        {"type": "denied"},
        {"type": "approved_for_session"},
    ]


def test_an_edit_is_asked_about_as_a_patch() -> None:
    edit = Tool("Edit", "Edit", "edit", {"file_path": "a.py"}, "h")
    assert names(hook_events(requested(edit)))[1] == "generic(apply_patch_approval_request)"


def test_a_rule_that_is_unset_is_left_out_of_the_request() -> None:
    found = hook_events(requested(rule=""))
    assert "matched_rule" not in msgspec.to_builtins(found[1])["frame"]["request"]


@pytest.mark.parametrize("word", get_args(Word))
def test_only_an_allow_is_approved_and_only_a_denial_denied(word: Word) -> None:
    (event,) = hook_events(decided(word))
    assert isinstance(event, codewhale.ApprovalLifecycle)
    assert (event.phase == "approved") == word.startswith("allowed-")
    assert (event.phase == "denied") == word.startswith("denied-")
    assert event.phase in {"approved", "denied", word}


def test_a_decision_names_its_reason_or_else_our_word_for_it() -> None:
    assert hook_events(decided("denied-by-operator", "not today")) == (
        codewhale.ApprovalLifecycle("req-1", "denied", "not today"),
    )
    assert hook_events(decided("denied-by-timeout")) == (
        codewhale.ApprovalLifecycle("req-1", "denied", "denied-by-timeout"),
    )


def test_a_deadline_that_passed_or_was_moved_is_no_decision() -> None:
    for kind, phase in (("approval.timeout", "timeout"), ("approval.extended", "extended")):
        found = hook_events(record(kind, DeadlineData(deadline_at=1), request="req-1"))
        assert found == (codewhale.ApprovalLifecycle("req-1", phase),)


def test_a_message_is_a_whole_response() -> None:
    found = hook_events(record("message", NoteData(native="Message", text="hello")))
    assert found == (
        codewhale.ResponseStartEvent("core-a-7"),
        codewhale.ResponseDeltaEvent("core-a-7", "hello"),
        codewhale.ResponseEndEvent("core-a-7"),
    )


@pytest.mark.parametrize(
    ("kind", "frame"),
    [
        ("prompt.submit", {"event": "turn_started", "turn_id": "one"}),
        ("turn.end", {"event": "turn_complete", "turn_id": "one"}),
        ("turn.interrupt", {"event": "turn_aborted", "turn_id": "one", "reason": "words"}),
        ("turn.error", {"event": "error", "response_id": "one", "message": "words"}),
    ],
)
def test_a_turn_is_named_after_its_session(kind: str, frame: dict[str, str]) -> None:
    found = hook_events(record(kind, NoteData(native=kind, text="words")))
    assert found == (codewhale.GenericEventFrame(frame | IDENTITY),)


@pytest.mark.parametrize("kind", ["session.start", "hook.trace", "notice", "of.a.later.version"])
def test_what_codewhale_has_no_name_for_is_the_record_in_a_frame(kind: str) -> None:
    found = hook_events(record(kind, CoreData(what="x"), request="req-1"))
    frame = {"event": kind, **IDENTITY, "call": "c1", "request": "req-1", "data": {"what": "x"}}
    assert found == (codewhale.GenericEventFrame(frame),)


def test_the_second_lane_of_a_call_is_not_a_second_call() -> None:
    joined = called("joined", kind="tool.permission")
    assert names(hook_events(joined)) == ["generic(tool.permission)"]


def test_cw_b13_a_call_keeps_one_id_and_its_events_say_whose_they_are_and_in_which_order() -> None:
    first, started = hook_events(called("recorded"))
    result, last = hook_events(ended(ok=True))
    for each in (first, last):
        assert isinstance(each, codewhale.ToolLifecycle)
        assert each.response_id == "c1"
        assert payload(each).items() >= IDENTITY.items()
    for each in (started, result):
        frame = msgspec.to_builtins(each)["frame"]
        assert frame["response_id"] == "c1"
        assert frame.items() >= IDENTITY.items()


@pytest.mark.parametrize("kind", [*get_args(Kind), "approval.decided", "effect.sent", "policy.on"])
def test_a_record_without_data_is_still_told(kind: str) -> None:
    bare = Record(v=1, seq=1, core="c", at=0, kind=kind)
    for event in hook_events(bare):
        assert msgspec.json.decode(msgspec.json.encode(event), type=HookEvent)
