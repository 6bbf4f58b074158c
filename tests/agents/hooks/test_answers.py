"""What each agent is told, byte for byte."""

from __future__ import annotations

import json

import pytest

from tests.agents.payloads import CALL, FAMILY, decoded
from watchgate.agents.base import Adapter, HookAnswer
from watchgate.agents.registry import adapter, closed_template
from watchgate.core.model.events import Lane
from watchgate.core.model.verdicts import Reply, SayAllow, SayDeny, SayNothing

NOTHING = HookAnswer()
EDITED = {"command": "make -n clean"}
PRE_ALLOW = b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'
PRE_EDIT = (
    b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow",'
    b'"updatedInput":{"command":"make -n clean"}}}'
)
PRE_DENY = (
    b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",'
    b'"permissionDecisionReason":"Not \\"here\\"."}}'
)
PRE_STOP = PRE_DENY[:-1] + b',"continue":false,"stopReason":"Not \\"here\\"."}'
ASK_ALLOW = (
    b'{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'
)
ASK_EDIT = (
    b'{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow",'
    b'"updatedInput":{"command":"make -n clean"}}}}'
)
ASK_DENY = (
    b'{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny",'
    b'"message":"Not \\"here\\"."}}}'
)
ASK_STOP = ASK_DENY[:-3] + b',"interrupt":true}}}'
PROMPT_DENY = b'{"decision":"block","reason":"Not \\"here\\"."}'
REASON = 'Not "here".'
ALLOW, EDIT = SayAllow(), SayAllow(input=EDITED)
DENY, STOP = SayDeny(reason=REASON), SayDeny(reason=REASON, stop=True)


def denied(stdout: bytes) -> HookAnswer:
    return HookAnswer(stdout, b'Not "here".\n', 2)


TOLD = [
    ("claude", "PreToolUse", ALLOW, HookAnswer(PRE_ALLOW)),
    ("claude", "PreToolUse", EDIT, HookAnswer(PRE_EDIT)),
    ("claude", "PreToolUse", DENY, denied(PRE_DENY)),
    ("claude", "PreToolUse", STOP, denied(PRE_STOP)),
    ("claude", "PreToolUse", SayNothing(), NOTHING),
    (
        "claude",
        "PreToolUse",
        SayNothing("mind the gap"),
        HookAnswer(
            b'{"hookSpecificOutput":{"hookEventName":"PreToolUse",'
            b'"additionalContext":"mind the gap"}}'
        ),
    ),
    ("claude", "UserPromptSubmit", SayNothing(), NOTHING),
    ("claude", "UserPromptSubmit", DENY, HookAnswer(PROMPT_DENY)),
    ("claude", "PermissionRequest", SayNothing("mind the gap"), NOTHING),
    ("codex", "PreToolUse", SayNothing("mind the gap"), NOTHING),
    ("claude", "PermissionRequest", ALLOW, HookAnswer(ASK_ALLOW)),
    ("claude", "PermissionRequest", EDIT, HookAnswer(ASK_EDIT)),
    ("claude", "PermissionRequest", DENY, HookAnswer(ASK_DENY)),
    ("claude", "PermissionRequest", STOP, HookAnswer(ASK_STOP)),
    ("claude", "PermissionRequest", SayNothing(), NOTHING),
    ("codex", "PreToolUse", ALLOW, NOTHING),
    ("codex", "PreToolUse", EDIT, HookAnswer(PRE_EDIT)),
    ("codex", "PreToolUse", DENY, denied(PRE_DENY)),
    ("codex", "PreToolUse", STOP, denied(PRE_DENY)),
    ("codex", "PreToolUse", SayNothing(), NOTHING),
    ("codex", "PermissionRequest", ALLOW, HookAnswer(ASK_ALLOW)),
    ("codex", "PermissionRequest", DENY, HookAnswer(ASK_DENY)),
    ("codex", "PermissionRequest", STOP, HookAnswer(ASK_DENY)),
    ("codex", "PermissionRequest", SayNothing(), NOTHING),
]


@pytest.mark.parametrize("lane", [Lane.GATE, Lane.GATE_READ, Lane.RELAY])
@pytest.mark.parametrize(("agent", "native", "reply", "answer"), TOLD)
def test_on_every_lane_that_waits(
    agent: str, native: str, reply: Reply, answer: HookAnswer, lane: Lane
) -> None:
    event = decoded(adapter(agent), native, lane=lane, **CALL)

    assert adapter(agent).answer(event, reply) == answer


@pytest.mark.parametrize("reply", [ALLOW, EDIT, DENY, STOP, SayNothing()])
@pytest.mark.parametrize("each", FAMILY.values(), ids=FAMILY)
def test_nothing_where_no_answer_is_read(each: Adapter, reply: Reply) -> None:
    observed = decoded(each, "PreToolUse", lane=Lane.OBSERVE, **CALL)
    not_asked = decoded(each, "Stop", lane=Lane.GATE)

    assert each.answer(observed, reply) == NOTHING
    assert each.answer(not_asked, reply) == NOTHING


@pytest.mark.parametrize(
    ("native", "tool", "code"),
    [("PreToolUse", "apply_patch", 2), ("PermissionRequest", "Bash", 0)],
)
def test_an_edit_that_codex_cannot_be_told_never_runs_the_original(
    native: str, tool: str, code: int
) -> None:
    call = {**CALL, "tool_name": tool}
    event = decoded(adapter("codex"), native, lane=Lane.GATE, **call)

    answer = adapter("codex").answer(event, EDIT)

    assert answer.exit_code == code
    assert b'"deny"' in answer.stdout
    assert b"updatedInput" not in answer.stdout


@pytest.mark.parametrize("reason", ["", " \n", "\ud800"])
@pytest.mark.parametrize("each", FAMILY.values(), ids=FAMILY)
def test_a_denial_always_has_words(each: Adapter, reason: str) -> None:
    event = decoded(each, "PreToolUse", lane=Lane.GATE, **CALL)

    answer = each.answer(event, SayDeny(reason=reason))

    assert json.loads(answer.stdout)["hookSpecificOutput"]["permissionDecisionReason"].strip()
    assert answer.stderr.strip()
    assert answer.exit_code == 2


@pytest.mark.parametrize("each", FAMILY.values(), ids=FAMILY)
def test_the_words_of_a_denial_carry_no_control_bytes(each: Adapter) -> None:
    event = decoded(each, "PreToolUse", lane=Lane.GATE, **CALL)

    answer = each.answer(event, SayDeny(reason="no \x1b[2J\nand why"))

    assert answer.stderr == b"no <U+001B>[2J\nand why\n"


@pytest.mark.parametrize("each", FAMILY.values(), ids=FAMILY)
def test_an_unreadable_payload_is_denied_on_the_gate_alone(each: Adapter) -> None:
    assert each.closed("PreToolUse", Lane.GATE, REASON) == denied(PRE_DENY)
    assert each.closed("", Lane.GATE, REASON) == denied(PRE_DENY)
    assert each.closed("PermissionRequest", Lane.GATE, REASON) == HookAnswer(ASK_DENY)
    for lane in (Lane.GATE_READ, Lane.RELAY, Lane.OBSERVE):
        assert each.closed("PreToolUse", lane, REASON) == NOTHING


@pytest.mark.parametrize("each", FAMILY.values(), ids=FAMILY)
def test_the_clients_own_denial_is_the_same_with_a_place_for_the_reason(each: Adapter) -> None:
    template = closed_template(each, "PreToolUse")

    assert template.count("@") == 1
    assert template.replace("@", "R") == each.closed("PreToolUse", Lane.GATE, "R").stdout.decode()


@pytest.mark.parametrize("tool", ["Bash", "mcp__fs__read"])
def test_cx_b4_the_shape_of_an_answer_follows_the_question_not_the_tool(tool: str) -> None:
    codex = adapter("codex")
    pre, asked = (
        codex.answer(
            decoded(codex, native, lane=Lane.GATE, tool_name=tool, tool_input={"path": "a"}),
            SayDeny("no"),
        )
        for native in ("PreToolUse", "PermissionRequest")
    )
    assert json.loads(pre.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert json.loads(asked.stdout)["hookSpecificOutput"]["decision"]["behavior"] == "deny"
    assert (pre.exit_code, asked.exit_code) == (2, 0)
