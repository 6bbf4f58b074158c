"""Lines of other programs: our own form, event streams, and protocols that pass through us."""

from __future__ import annotations

import json
from typing import Any

import anyio
import msgspec

from tests.fuzz.of_frames import NOW
from tests.fuzz.target import Target, demand
from watchgate.agents.acp.acp_wire import AcpWire
from watchgate.agents.claude.stream_json import StreamJsonWire
from watchgate.agents.opencode.feed import Feed, OpenQuestion, answer_request
from watchgate.agents.proxied import Side, Wire
from watchgate.agents.streams.stream_source import Source
from watchgate.core.model.verdicts import SayAllow, SayDeny, SayNothing
from watchgate.service.bridges.permission_tool import McpServer
from watchgate.service.wire.ingest_lines import BadRequest, Line, decode_chunk, line_answer


def ingest_lines(data: bytes) -> None:
    """Whole lines of any sender: each becomes an event, and only a request of ours is answered."""
    source = Source("pid 7", pid=7)
    chunk = data if data.endswith(b"\n") else data + b"\n"
    for event, line in decode_chunk(chunk, NOW, source):
        demand(event.lane.waits <= isinstance(line, Line), "only a line that was read can wait")
        if event.lane.waits and isinstance(line, Line):
            denied = line_answer(line.id, SayDeny("no")).stdout
            said = msgspec.json.decode(denied)
            demand(said["decision"] == "deny" and said["id"] == line.id, "a denial is told as one")
            line_answer(line.id, SayAllow({"a": 1}, "x"))
            line_answer(line.id, SayNothing("x"))
        if isinstance(line, BadRequest):
            line_answer(line.id, SayDeny(line.why))
    for event in source.gone(NOW):
        demand(not event.lane.waits, "nobody is asked about what is over")


def _proxied(wire: Wire, asks: tuple[str, str], data: bytes) -> None:
    """Lines of both sides (`<` an agent's, `>` an editor's); no request passes unanswered."""
    held = []
    for raw in data.split(b"\n"):
        side: Side = "editor" if raw.startswith(b">") else "agent"
        line = raw[1:] + b"\n"
        step = wire.step(line, side)
        if side == "agent" and _asks(line, asks):
            demand(not step.passes, "what asks for permission does not pass unanswered")
        demand(step.passes is False or step.hold is None, "what is held does not pass")
        held += [step.hold] if step.hold is not None else []
        over = {id(each) for each, _ in step.ended}
        held = [each for each in held if id(each) not in over]
        wire.unread(line[:40], side, "too long")
        if len(held) > 2:
            settled = held.pop(0)
            wire.settle(settled, data[:64])
            demand(wire.settle(settled, b"") == b"", "what was settled is settled once")
    wire.rest()
    wire.withdraw()


def _asks(line: bytes, asks: tuple[str, str]) -> bool:
    """Whether the other side's own parser may see a request for permission in this line."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return False
    key, word = asks
    inner = message.get("request") if isinstance(message, dict) and key == "subtype" else message
    about = isinstance(inner, dict) and inner.get(key) == word
    known = key != "subtype" or _sort(message) == "control_request"
    return about and known and bool(_id(message))


def _sort(message: Any) -> object:
    return message.get("type") if isinstance(message, dict) else None


def _id(message: dict[str, Any]) -> bool:
    """Whether it has an id that an answer could name; without one it is no request."""
    found = message.get("id", message.get("request_id"))
    return isinstance(found, str | int) and not isinstance(found, bool) and found != ""


def acp_lines(data: bytes) -> None:
    """The Agent Client Protocol through us."""
    _proxied(AcpWire("agent", "/w"), ("method", "session/request_permission"), data)


def stream_json_lines(data: bytes) -> None:
    """Claude Code's stream-json through us."""
    _proxied(StreamJsonWire("claude", "/w"), ("subtype", "can_use_tool"), data)


def opencode_bus(data: bytes) -> None:
    """Events of an OpenCode server's bus, and what the core answers to its questions."""
    feed = Feed()
    for line in data.split(b"\n"):
        try:
            event = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        for step in feed.take("/w", event if isinstance(event, dict) else {}):
            if isinstance(step, OpenQuestion):
                _answered(step, line)


def _answered(ask: OpenQuestion, told: bytes) -> None:
    try:
        answer = answer_request(ask.observed.native, ask.id, told)
    except (ValueError, RecursionError):
        return
    said = answer[1] if answer is not None else None
    demand(not said or said.get("reply") != "always", "an answer never allows for good")


def mcp_tool(data: bytes) -> None:
    """Lines that Claude Code writes to our MCP server: answered or ignored, by valid JSON."""
    asked: list[Any] = []

    async def approve(message: dict[str, Any]) -> bytes:
        asked.append(message)
        return b'{"content":[]}'

    said = anyio.run(_served, McpServer(approve), data)
    for line in said.splitlines():
        answer = json.loads(line)
        demand(answer["jsonrpc"] == "2.0" and ("result" in answer) != ("error" in answer), "one")


class _Sink:
    """Stands for the writer of answers."""

    broken = False

    def __init__(self) -> None:
        self.said = b""

    async def line(self, line: bytes) -> None:
        self.said += line


async def _served(server: McpServer, data: bytes) -> bytes:
    sink = _Sink()
    for line in data.split(b"\n"):
        await server._message(line, sink)  # type: ignore[arg-type]  # it has the one method used
    return sink.said


def _json(**fields: Any) -> bytes:
    return msgspec.json.encode(fields)


def _lines(*lines: bytes) -> bytes:
    return b"\n".join(lines) + b"\n"


def _ours(**fields: Any) -> bytes:
    return _json(watchgate=1, agent="acp", session="s", **fields)


_ASK_ACP = _json(
    jsonrpc="2.0",
    id=7,
    method="session/request_permission",
    params={
        "sessionId": "s",
        "toolCall": {"toolCallId": "c", "rawInput": {"command": "ls"}},
        "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}],
    },
)
_ASK_CLAUDE = _json(
    type="control_request",
    request_id="r-1",
    request={"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}},
)

STREAMS = {
    "ingest-lines": Target(
        feed=ingest_lines,
        seeds=(
            _lines(
                _ours(kind="tool.pre", tool="sh", input={"command": "ls"}, ask=True, id=4),
                _ours(kind="usage", usage={"input": 3, "output": 4}),
            ),
            _ours(kind="prompt.submit", text="fix it", ask=True, id="a", deadline_s=3.5),
            _lines(_json(watchgate=1, tap="codex", cwd="/w", dropped=3)),
        ),
    ),
    "stream-codewhale": Target(
        feed=ingest_lines,
        seeds=(
            _lines(
                _json(at="2026-11-20T10:00:00Z", event={
                    "type": "generic_event_frame", "frame": {
                        "event": "tool_call_start", "response_id": "t", "tool_name": "exec_shell",
                        "arguments": {"type": "local_shell", "params": {"command": "ls"}},
                    },
                }),
                _json(at="2026-11-20T10:00:01Z", event={
                    "type": "tool_lifecycle", "response_id": "t", "tool_name": "exec_shell",
                    "phase": "completed", "payload": {"ok": True},
                }),
            ),
            _lines(
                _json(schema_version=1, seq=1, event="approval.required", thread_id="t",
                      timestamp="2026-11-20T10:00:00Z",
                      payload={"id": "c", "approval_id": "c", "tool_name": "exec_shell"}),
                _json(schema_version=1, seq=2, event="turn.completed", thread_id="t",
                      payload={"turn": {"id": "u", "status": "completed", "usage": {}}}),
            ),
        ),
    ),
    "stream-codex-exec": Target(
        feed=ingest_lines,
        seeds=(
            _lines(
                _json(type="thread.started", thread_id="t-1"),
                _json(type="turn.started"),
                _json(type="item.started", item={"id": "i", "type": "command_execution",
                                                 "command": "ls", "status": "in_progress"}),
                _json(type="item.completed", item={"id": "i", "type": "command_execution",
                                                   "command": "ls", "exit_code": 0,
                                                   "status": "completed"}),
                _json(type="turn.completed", usage={"input_tokens": 9, "cached_input_tokens": 1,
                                                    "output_tokens": 4}),
            ),
        ),
    ),
    "stream-sandbox": Target(
        feed=ingest_lines,
        seeds=(
            _lines(
                _json(event_id="e", sequence=1, time="2026-11-20T10:00:00Z", session_id="s",
                      type="item.started", synthetic=False, source="agent",
                      data={"item": {"item_id": "i", "kind": "tool_call", "role": "tool",
                                     "status": "in_progress", "content": [
                                         {"type": "tool_call", "name": "bash", "call_id": "c",
                                          "arguments": '{"command":"ls"}'}]}}),
                _json(event_id="f", sequence=2, session_id="s", type="permission.requested",
                      data={"permission_id": "p", "action": "bash", "status": "requested",
                            "metadata": {}}),
            ),
        ),
    ),
    "stream-synaps": Target(
        feed=ingest_lines,
        seeds=(
            _lines(
                _json(jsonrpc="2.0", id=1, method="hook.handle", params={
                    "kind": "before_tool_call", "session_id": "s", "tool_name": "bash",
                    "tool_input": {"command": "ls"}}),
                _json(jsonrpc="2.0", id=1, result={"action": "continue"}),
            ),
        ),
    ),
    "acp-lines": Target(
        feed=acp_lines,
        seeds=(
            _lines(
                b'>{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w"}}',
                b'<{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}',
                b"<" + _ASK_ACP,
                b'>{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}',
            ),
            _lines(
                b'<{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
                b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}}}}',
                b'<{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"mode":"form",'
                b'"message":"?","requestedSchema":{"properties":{"a":{"type":"boolean"}}}}}',
            ),
        ),
    ),
    "stream-json-lines": Target(
        feed=stream_json_lines,
        seeds=(
            _lines(
                b'<{"type":"system","subtype":"init","session_id":"s","cwd":"/w","model":"m"}',
                b"<" + _ASK_CLAUDE,
                b'<{"type":"control_cancel_request","request_id":"r-1"}',
                b'>{"type":"user","message":{"role":"user","content":"hi"}}',
            ),
        ),
    ),
    "opencode-bus": Target(
        feed=opencode_bus,
        seeds=(
            _lines(
                _json(type="session.created", properties={"info": {"id": "s", "directory": "/w"}}),
                _json(type="message.part.updated", properties={"part": {
                    "type": "tool", "sessionID": "s", "callID": "c", "tool": "bash",
                    "state": {"status": "running", "input": {"command": "ls"}}}}),
                _json(type="permission.asked", properties={
                    "id": "p", "sessionID": "s", "permission": "bash", "tool": {"callID": "c"}}),
                _json(type="permission.replied", properties={"requestID": "p", "reply": "reject"}),
            ),
        ),
    ),
    "mcp-tool": Target(
        feed=mcp_tool,
        seeds=(
            _lines(
                _json(jsonrpc="2.0", id=1, method="initialize", params={"protocolVersion": "x"}),
                _json(jsonrpc="2.0", id=2, method="tools/list"),
                _json(jsonrpc="2.0", id=3, method="tools/call", params={
                    "name": "approve", "arguments": {"tool_name": "Bash", "input": {}}}),
                _json(jsonrpc="2.0", method="notifications/cancelled", params={"requestId": 3}),
            ),
        ),
    ),
}  # fmt: skip
