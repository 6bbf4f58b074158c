"""Every adapter: a payload of any form, and what the agent is told about whatever it meant."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from tests.fuzz.of_frames import NOW
from tests.fuzz.target import Target, demand
from watchgate.agents.base import Adapter, DecodeError, HookAnswer, Intake
from watchgate.agents.claude.other_messages import CAN_USE_TOOL, PROMPT_TOOL
from watchgate.agents.registry import ADAPTERS
from watchgate.core.model.events import Event, Lane
from watchgate.core.model.verdicts import Reply, SayAllow, SayAnswer, SayDeny, SayNothing

ODD_WORDS = 'no "@" \x1b[2J\n\u202e\ud800 \U0001f980'
DENIALS: tuple[Reply, ...] = (SayDeny("no"), SayDeny(ODD_WORDS), SayDeny("", stop=True))
_LANES = (Lane.GATE, Lane.RELAY, Lane.OBSERVE)
_BEYOND = {"claude": (CAN_USE_TOOL, PROMPT_TOOL), "kimi": ("wire:HookRequest",)}
"""What comes on other ways than by hooks."""
_EXITS = (0, 2)
_ROOM_BYTES = 16_384
_GROWTH = 12
"""What an answer may take for each byte of the payload, which may be quoted and escaped in it."""


def natives(agent: Adapter) -> tuple[str, ...]:
    """No name, as for payloads that name their event, and those of all that waits."""
    named = [entry.event for entry in agent.entries("guard") if entry.lane.waits]
    return ("", *dict.fromkeys(named), *_BEYOND.get(agent.name, ()))


def adapter(agent: Adapter, data: bytes) -> None:
    """One payload on every lane and under every name; refused only where it is so by all."""
    refusal: DecodeError | None = None
    taken = False
    for native in natives(agent):
        for lane in _LANES:
            intake = Intake(lane=lane, at=NOW, native=native, deadline_s=9.0)
            try:
                event = agent.decode(data, intake)
            except DecodeError as fault:
                demand(str(fault), "a refusal says why")
                refusal = fault
                continue
            taken = True
            _told(agent, event, len(data))
    if refusal is not None and not taken:
        raise refusal


def _told(agent: Adapter, event: Event, size_bytes: int) -> None:
    demand(event.lane.waits or not event.can.deny, "nobody is told anything who does not wait")
    own = event.tool.input if event.tool is not None else {}
    allowed = agent.answer(event, SayAllow())
    handed_back = agent.answer(event, SayNothing())
    others = [agent.answer(event, SayAllow(input={**own, "x": 1}, context=ODD_WORDS))]
    # Where nobody else can be asked, handing back is itself a denial.
    none = agent.closed(event.native, Lane.GATE, "")
    others += [agent.answer(event, SayNothing(ODD_WORDS)), none]
    answers = tuple(("x",) for _ in getattr(event.body, "questions", ()))
    others.append(agent.answer(event, SayAnswer(answers)))
    for reply in DENIALS:
        denied = agent.answer(event, reply)
        others.append(denied)
        if event.lane.waits and event.can.deny:
            demand(denied != allowed, "a denial is no allow")
            heard = denied != handed_back or handed_back == none
            demand(denied != HookAnswer() and heard, "nor silence")
    for answer in (allowed, handed_back, *others):
        _sound(answer, size_bytes)


def _sound(answer: HookAnswer, size_bytes: int) -> None:
    demand(answer.exit_code in _EXITS, "exits with what the guard around a hook lets pass")
    told_bytes = len(answer.stdout) + len(answer.stderr)
    demand(told_bytes <= _ROOM_BYTES + _GROWTH * size_bytes, "an answer is bounded")
    answer.stdout.decode()
    answer.stderr.decode()


def _seed(**fields: Any) -> bytes:
    return msgspec.json.encode(fields)


def _hook(event: str, tool: str, **given: Any) -> bytes:
    """A call in the form that most agents have taken over from Claude Code."""
    return _seed(
        hook_event_name=event,
        session_id="s-1",
        cwd="/srv/app",
        tool_name=tool,
        tool_input=given,
        tool_use_id="t-1",
        permission_mode="default",
    )


SEEDS: dict[str, tuple[bytes, ...]] = {
    "claude": (
        _hook("PreToolUse", "Bash", command="make"),
        _hook("PermissionRequest", "Edit", file_path="/a", old_string="x", new_string="y"),
        _hook("PreToolUse", "AskUserQuestion", questions=[
            {"question": "Which?", "header": "One", "options": [{"label": "a", "description": ""}]}
        ]),
        _seed(
            hook_event_name="Elicitation", session_id="s", cwd="/", mcp_server_name="m",
            message="?", mode="form", requested_schema={"properties": {"a": {"type": "string"}}},
        ),
        _seed(
            watchgate=1, agent="claude", cwd="/w",
            message={
                "type": "control_request", "request_id": "r",
                "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"a": "ls"}},
            },
            **{"from": "agent"},
        ),
        _seed(
            session_id="s", cwd="/", model={"id": "m"}, cost={"total_cost_usd": 1.5},
            context_window={"total_input_tokens": 9, "context_window_size": 100},
            rate_limits={"five_hour": {"used_percentage": 3.5, "resets_at": 1_795_000_000}},
        ),
    ),
    "codex": (
        _hook("PreToolUse", "Bash", command="make"),
        _seed(
            method="item/commandExecution/requestApproval", id=4,
            params={"threadId": "t", "turnId": "u", "itemId": "i", "command": "ls", "cwd": "/"},
        ),
        _seed(
            session_id="s", cwd="/", triggered_at="2026-11-20T10:00:00Z",
            hook_event={
                "event_type": "after_tool_use", "turn_id": "t", "call_id": "c",
                "tool_name": "shell",
                "tool_kind": "local_shell", "executed": True, "success": True, "duration_ms": 3,
                "mutating": True, "sandbox": "none", "sandbox_policy": "x", "output_preview": "",
                "tool_input": {"input_type": "local_shell", "params": {"command": ["ls"]}},
            },
        ),
    ),
    "copilot": (
        _seed(
            sessionId="s", timestamp=1_795_000_000_000, cwd="/w", toolName="bash",
            toolArgs={"command": "make"},
        ),
        _seed(sessionId="s", cwd="/w", toolName="bash", toolArgs='{"command":"ls"}'),
    ),
    "gemini": (
        _hook("BeforeTool", "run_shell_command", command="make"),
        _seed(
            hook_event_name="AfterModel", session_id="s", cwd="/w",
            llm_request={"model": "g", "messages": []},
            llm_response={"usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 12}},
        ),
    ),
    "qwen": (_hook("PreToolUse", "run_shell_command", command="make"),),
    "opencode": (
        _seed(
            hook="tool.execute.before", output={"args": {"command": "make"}},
            input={"tool": "bash", "sessionID": "s", "callID": "c"},
        ),
        _seed(
            type="permission.asked", watchgate={"directory": "/w"},
            properties={
                "id": "p", "sessionID": "s", "permission": "bash", "patterns": ["ls"],
                "tool": {"messageID": "m", "callID": "c"}, "metadata": {},
            },
        ),
    ),
    "cursor": (
        _seed(
            hook_event_name="beforeShellExecution", conversation_id="c", generation_id="g",
            command="make", cwd="/w", workspace_roots=["/w"],
        ),
        _seed(
            hook_event_name="beforeMCPExecution", conversation_id="c", tool_name="q",
            tool_input='{"q":1}', workspace_roots=[],
        ),
    ),
    "goose": (
        _seed(event="PreToolUse", session_id="s", tool_name="developer__shell",
              tool_input={"command": "make"}, working_dir="/w", tool_call_id="c"),
    ),
    "kimi": (
        _hook("PreToolUse", "Shell", command="make"),
        _seed(id="h", subscription_id="s", event="PreToolUse", target="Shell",
              input_data={"session_id": "m", "cwd": "/w", "tool_input": {"command": "make"}}),
    ),
    "crush": (
        _seed(event="PreToolUse", session_id="s", cwd="/w", tool_name="bash",
              tool_input={"command": "make"}),
    ),
    "kiro": (_hook("preToolUse", "execute_bash", command="make"),),
    "droid": (_hook("PreToolUse", "Execute", command="make"),),
    "cline": (
        _seed(hookName="PreToolUse", taskId="l", workspaceRoots=["/w"],
              preToolUse={"toolName": "execute_command", "parameters": {"command": "make"}}),
        _seed(hookName="tool_call", taskId="l", workspaceRoots=["/w"],
              tool_call={"id": "c", "name": "run_commands", "input": {"commands": ["make"]}}),
    ),
    "windsurf": (
        _seed(agent_action_name="pre_run_command", trajectory_id="t", execution_id="e",
              tool_info={"command_line": "make", "cwd": "/w"}),
        _seed(agent_action_name="pre_write_code", trajectory_id="t",
              tool_info={"file_path": "/a", "edits": [{"old_string": "x", "new_string": "y"}]}),
    ),
    "vscode": (_hook("PreToolUse", "run_in_terminal", command="make"),),
    "acp": (
        _seed(
            watchgate=1, agent="a", cwd="/w", context={"session": "s"},
            message={
                "jsonrpc": "2.0", "id": 1, "method": "session/request_permission",
                "params": {
                    "sessionId": "s", "toolCall": {"toolCallId": "c", "kind": "execute",
                                                   "rawInput": {"command": "ls"}},
                    "options": [
                        {"optionId": "y", "name": "Yes", "kind": "allow_once"},
                        {"optionId": "n", "name": "No", "kind": "reject_once"},
                    ],
                },
            },
            **{"from": "agent"},
        ),
        _seed(
            jsonrpc="2.0", method="session/update",
            params={"sessionId": "s", "update": {"sessionUpdate": "tool_call", "toolCallId": "c",
                                                 "title": "ls", "kind": "execute"}},
        ),
    ),
    "synaps": (
        _seed(kind="before_tool_call", session_id="s", cwd="/w", tool_name="bash",
              tool_runtime_name="bash", tool_input={"command": "make"}),
        _seed(kind="after_tool_call", session_id="s", tool_name="bash", tool_input={},
              tool_output="done"),
    ),
}  # fmt: skip

ADAPTER_TARGETS = {
    f"adapter-{name}": Target(
        feed=partial(adapter, agent), refusals=(DecodeError,), seeds=SEEDS.get(name, ())
    )
    for name, agent in ADAPTERS.items()
}
