"""Stands for `claude -p` in stream-json: it asks once, and says what it was told."""

from __future__ import annotations

import json
import sys
from typing import Any


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Serves one program to the end of its input."""
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "user":
            send({"type": "system", "subtype": "init", "session_id": "s-1", "cwd": "/tmp"})
            call = {"type": "tool_use", "id": "t1", "name": "Bash"}
            call["input"] = {"command": message["message"]["content"]}  # type: ignore[assignment]
            send({"type": "assistant", "session_id": "s-1", "message": {"content": [call]}})
            asked = {"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "t1"}
            request = {**asked, "input": call["input"]}
            send({"type": "control_request", "request_id": "r-1", "request": request})
        elif message["type"] == "control_response":
            told = message["response"]["response"]
            result = {"type": "result", "session_id": "s-1", "total_cost_usd": 0.5}
            send({**result, "result": json.dumps(told), "usage": {"input_tokens": 1}})


if __name__ == "__main__":
    main()
