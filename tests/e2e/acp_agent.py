"""An ACP agent that asks for permission when it is prompted, and says what it was told."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

OPTIONS = [
    {"optionId": "a-always", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "a-mode", "name": "Allow once and switch to auto mode", "kind": "allow_once"},
    {"optionId": "a-once", "name": "Allow", "kind": "allow_once"},
    {"optionId": "r-once", "name": "Reject", "kind": "reject_once"},
]


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(session: str, **fields: Any) -> None:
    send({"method": "session/update", "params": {"sessionId": session, "update": fields}})


def main() -> None:
    """Serves one editor to the end of its input."""
    prompt: Any = None
    for line in sys.stdin:
        message = json.loads(line)
        params = message.get("params", {})
        match message.get("method"):
            case "session/new":
                send({"id": message["id"], "result": {"sessionId": "sess-1"}})
            case "session/prompt":
                prompt = message["id"]
                command = params["prompt"][0]["text"]
                call = {"toolCallId": "c1", "title": "shell", "kind": "execute"}
                raw = {"rawInput": {"command": command}}
                update("sess-1", sessionUpdate="tool_call", status="pending", **call, **raw)
                ask = {"sessionId": "sess-1", "toolCall": {**call, **raw}, "options": OPTIONS}
                send({"id": "ask-1", "method": "session/request_permission", "params": ask})
            case "die":
                os._exit(7)
            case None if message.get("id") == "ask-1":
                told = message["result"]["outcome"]
                chunk = {"type": "text", "text": json.dumps(told)}
                ran = told.get("optionId") == "a-once"
                status = "completed" if ran else "failed"
                update("sess-1", sessionUpdate="tool_call_update", toolCallId="c1", status=status)
                update("sess-1", sessionUpdate="agent_message_chunk", content=chunk)
                reason = "cancelled" if told["outcome"] == "cancelled" else "end_turn"
                used = {"inputTokens": 10, "outputTokens": 2}
                send({"id": prompt, "result": {"stopReason": reason, "usage": used}})
    sys.exit(3)


if __name__ == "__main__":
    main()
