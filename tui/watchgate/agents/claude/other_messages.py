"""The messages of Claude Code outside its hooks: permission requests, streams, status lines.

Our proxy (`watchgate stream-json`), our MCP tool (`watchgate permission-prompt`) and our status
line (`watchgate statusline`) send it on, the first two wrapped (see `wrapped`).
Wire format: Claude Code 2.1, `--output-format stream-json`, `--permission-prompt-tool` and the
status line's standard input.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.agents.base import DecodeError, HookAnswer, Intake
from watchgate.agents.claude import claude_questions, claude_status, stream
from watchgate.agents.hooks.event_bodies import Classes, describe_tool
from watchgate.agents.proxied.wrapped import WrappedMessage, table, unwrap, word
from watchgate.core.model.events import Body, Can, Event, Kind, Sub, Tool, ToolCall
from watchgate.core.model.verdicts import Reply, SayAllow, SayAnswer, SayDeny

CAN_USE_TOOL: Final = "can_use_tool"
PROMPT_TOOL: Final = "--permission-prompt-tool"
NO_SESSION: Final = "no session named"
NOBODY: Final = (
    "watchgate: nobody decided on this call, and in print mode nobody else can be asked. It is"
    " denied; this is not a refusal by a person. Do not try another way; stop and report."
)
_ASKS: Final = (CAN_USE_TOOL, PROMPT_TOOL)
_NOTHING = HookAnswer()
_CAN = Can(allow=True, deny=True, modify=True)


class MessageEvent(Event, frozen=True, kw_only=True, gc=False):
    """An event with what its answer needs: the id of a control request, or the line to show."""

    request: str = ""
    shown: str = ""


def is_message(native: str) -> bool:
    """Returns whether an event of this name comes from no hook."""
    return _sort(native) in _NATIVES


def can(native: str) -> Can:
    """Returns the replies that can be told to such a message."""
    return _CAN if _sort(native) in _ASKS else Can()


def decode(payload: bytes, intake: Intake, agent: str, classes: Classes) -> Event:
    """Returns the event of one message; raises `DecodeError`."""
    wrapped = unwrap(payload)
    sort, message = _sort(intake.native), wrapped.message
    request = ""
    sub: Sub | None = None
    kind: Kind
    body: Body
    if sort in _ASKS:
        request, asked = _asked(message)
        tool = describe_tool(*_call(asked), classes)
        kind = "question" if tool.cls in ("question", "plan") else "tool.permission"
        body = claude_questions.asked(ToolCall(tool))
        sub = Sub(named) if (named := word(asked.get("agent_id"))) else None
    elif sort == claude_status.STATUS_LINE:
        kind, body = "usage", claude_status.status_usage(message)
    else:
        kind, body = stream.meaning(wrapped, classes)
    return MessageEvent(
        kind=kind,
        native=intake.native,
        agent=agent,
        session=_session(wrapped),
        lane=intake.lane,
        at=intake.at,
        body=body,
        sub=sub,
        cwd=wrapped.cwd or word(message.get("cwd"), 8_192),
        mode=word(wrapped.context.get("mode")) or None,
        autonomous=sort == PROMPT_TOOL,
        can=_able(sort, body) if intake.lane.waits else Can(),
        deadline_s=intake.deadline_s if intake.lane.waits else None,
        env=intake.env,
        request=request,
        shown=claude_status.status_text(message) if sort == claude_status.STATUS_LINE else "",
    )


def answer(event: Event, reply: Reply) -> HookAnswer:
    """Returns the answer as whoever asked reads it; the MCP tool always gives one."""
    if not isinstance(event, MessageEvent):
        return _NOTHING
    sort = _sort(event.native)
    if sort == claude_status.STATUS_LINE and event.lane.waits:
        return HookAnswer(stdout=f"{event.shown}\n".encode())
    if not event.lane.waits or sort not in _ASKS or event.tool is None:
        return _NOTHING
    match reply:
        case SayAllow(input=args):
            decision = _allowed(event.tool, args)
        case SayAnswer(answers=answers):
            decision = _allowed(event.tool, claude_questions.answered(event.tool.input, answers))
        case SayDeny(reason=reason):
            decision = _denied(reason)
        case _ if sort == PROMPT_TOOL:
            decision = _denied(NOBODY)
        case _:
            return _NOTHING
    if sort == PROMPT_TOOL:
        return _content(decision)
    response = {"subtype": "success", "request_id": event.request, "response": decision}
    return _encode({"type": "control_response", "response": response})


def closed(native: str, reason: str) -> HookAnswer:
    """Returns a denial from the MCP tool; nothing from whoever can hand the question on."""
    return _content(_denied(reason)) if _sort(native) == PROMPT_TOOL else _NOTHING


_NATIVES: Final = frozenset((*_ASKS, claude_status.STATUS_LINE, *stream.TYPES))


def _sort(native: str) -> str:
    return native.partition(" ")[0]


def _able(sort: str, body: Body) -> Can:
    if sort not in _ASKS or not isinstance(body, ToolCall):
        return Can()
    if body.tool.cls == "question":
        return Can(deny=True, answer=bool(body.questions))
    return Can(allow=True, deny=True) if body.tool.cls == "plan" else _CAN


def _asked(message: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Returns the id and the fields of a request for permission, in either of its two wrappings."""
    if message.get("type") == "control_request":
        asked = table(message.get("request"))
        if asked.get("subtype") != CAN_USE_TOOL:
            raise DecodeError("a control request that asks for no permission")
        return word(message.get("request_id")), asked
    return "", table(table(message.get("params")).get("arguments"))


def _call(asked: dict[str, Any]) -> tuple[str, dict[str, Any], str | None]:
    name, args = word(asked.get("tool_name")), asked.get("input")
    if not name or not isinstance(args, dict):
        raise DecodeError("the request does not name its tool and input (tool_name, input)")
    return name, args, word(asked.get("tool_use_id")) or None


def _session(wrapped: WrappedMessage) -> str:
    named = (wrapped.message.get("session_id"), wrapped.context.get("session"))
    return next((id for each in named if (id := word(each))), NO_SESSION)


def _allowed(tool: Tool, args: dict[str, Any] | None) -> dict[str, Any]:
    return {"behavior": "allow", "updatedInput": tool.input if args is None else args}


def _denied(reason: str) -> dict[str, Any]:
    spoken = reason.encode("utf-8", "replace").decode()
    return {"behavior": "deny", "message": spoken if spoken.strip() else NOBODY}


def _content(decision: dict[str, Any]) -> HookAnswer:
    words = msgspec.json.encode(decision).decode()
    return _encode({"content": [{"type": "text", "text": words}]})


def _encode(response: dict[str, Any]) -> HookAnswer:
    return HookAnswer(stdout=msgspec.json.encode(response))
