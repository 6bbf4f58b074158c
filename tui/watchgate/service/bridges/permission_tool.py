"""Our MCP server on standard input and output: one tool, which asks an operator for permission.

Claude Code calls it in print mode (`--permission-prompt-tool`), where nobody else can be asked. So
whatever fails here is a denial. The protocol's part of it is small: requests are answered, and the
rest is ignored; a library for it would be larger than all else that starts here.
Wire format: MCP over stdio (JSON-RPC 2.0, one message a line), versions 2024-11-05 to 2025-11-25.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Any, Final

import anyio
import msgspec

from watchgate import __version__
from watchgate.agents.base import Adapter
from watchgate.agents.claude.other_messages import PROMPT_TOOL
from watchgate.agents.proxied import ObservedMessage
from watchgate.agents.proxied.wrapped import WrappedMessage, table, word, wrap
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.model.events import Lane
from watchgate.service.bridges.core_client import IngestClient, Unanswered
from watchgate.service.bridges.pipes import PipeWriter, read
from watchgate.service.system.line_cutting import LineCutter

TOOL: Final = "approve"
LINE_LIMIT_BYTES: Final = 8 * 1024 * 1024
_VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
_TOOLS: Final = [
    {
        "name": TOOL,
        "description": "Asks a person whether a tool call of this session may run.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "tool_name": {"type": "string"},
                "input": {"type": "object"},
                "tool_use_id": {"type": "string"},
            },
            "required": ["tool_name", "input"],
        },
    }
]

Approve = Callable[[dict[str, Any]], Awaitable[bytes]]
"""Makes the result of a call of the tool, as JSON, from the whole request."""


class McpServer:
    """Serves one client until it leaves; calls run beside each other."""

    def __init__(self, approve: Approve) -> None:
        self._approve = approve
        self._calls: dict[Any, anyio.CancelScope] = {}

    async def serve(self, source: int, sink: int) -> None:
        """Answers the requests of one descriptor on the other, until its end."""
        out, lines = PipeWriter(sink), LineCutter(LINE_LIMIT_BYTES)
        async with anyio.create_task_group() as tasks:
            while not out.broken and (data := await read(source)):
                for piece in lines.feed(data):
                    if piece.whole:
                        tasks.start_soon(self._message, piece.data, out)
            tasks.cancel_scope.cancel()

    async def _message(self, line: bytes, out: PipeWriter) -> None:
        try:
            message = table(msgspec.json.decode(line))
        except JSON_FAULTS:
            return
        method, id = message.get("method"), message.get("id")
        if method == "notifications/cancelled":
            cancelled = table(message.get("params")).get("requestId")
            scope = self._calls.get(cancelled) if isinstance(cancelled, str | int) else None
            if scope is not None:
                scope.cancel()
        elif isinstance(method, str) and isinstance(id, str | int):
            outcome = await self._answer(method, id, message)
            if outcome is not None:
                response = {"jsonrpc": "2.0", "id": id, **outcome}
                await out.line(msgspec.json.encode(response) + b"\n")

    async def _answer(
        self, method: str, id: str | int, message: dict[str, Any]
    ) -> dict[str, Any] | None:
        params = table(message.get("params"))
        match method:
            case "initialize":
                wanted = word(params.get("protocolVersion"))
                return {"result": _hello(wanted if wanted in _VERSIONS else _VERSIONS[0])}
            case "ping":
                return {"result": {}}
            case "tools/list":
                return {"result": {"tools": _TOOLS}}
            case "tools/call" if params.get("name") == TOOL:
                with anyio.CancelScope() as scope:
                    self._calls[id] = scope
                    try:
                        return {"result": msgspec.Raw(await self._approve(message))}
                    finally:
                        self._calls.pop(id, None)
                return None
            case "tools/call":
                return {"error": {"code": -32602, "message": f"the only tool is {TOOL}"}}
            case _:
                return {"error": {"code": -32601, "message": "Method not found"}}


def _hello(version: str) -> dict[str, Any]:
    return {
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "watchgate", "version": __version__},
    }


SESSION_VARIABLE = "CLAUDE_CODE_SESSION_ID"
"""Claude Code 2.1.329 sets it for the MCP servers that it starts."""


async def serve(
    core: IngestClient, claude: Adapter, deadline_s: float, folder: Callable[[], str]
) -> None:
    """Serves the tool on standard input and output; `folder` is where Claude Code works."""

    async def approve(message: dict[str, Any]) -> bytes:
        context = {"session": os.environ.get(SESSION_VARIABLE, "")}
        wrapped = wrap(WrappedMessage(cwd=folder(), context=context, message=message))
        try:
            answer = await core.ask(ObservedMessage(PROMPT_TOOL, wrapped), Lane.GATE, deadline_s)
        except Unanswered as why:
            reason = f"watchgate: {why}. The call is denied; this is not a refusal by a person."
            return claude.closed(PROMPT_TOOL, Lane.GATE, reason).stdout
        return answer or claude.closed(PROMPT_TOOL, Lane.GATE, "").stdout

    await McpServer(approve).serve(0, 1)
