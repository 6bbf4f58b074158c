"""A stand-in for Claude Code: it asks the model for work, and obeys a hook in a way of its own.

Copied, with its temper as the last line, to where a program of that name is looked for. It reads
the hook from the settings in its home, runs the call that the model asks for unless the hook stops
it, and tells the model.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

PROMPT = {"role": "user", "content": sys.argv[2] if len(sys.argv) > 2 else ""}
TOOLS = [{"name": "Bash"}]


def asked(*messages: dict[str, Any]) -> Any:
    """What the model answers."""
    body = json.dumps({"model": "m", "tools": TOOLS, "messages": [PROMPT, *messages]}).encode()
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    with urllib.request.urlopen(urllib.request.Request(url, body)) as answer:
        return json.load(answer)["content"]


def hook() -> dict[str, Any] | None:
    """The hook before a call, as the settings in the home have it."""
    file = Path.home() / ".claude" / "settings.json"
    hooks = json.loads(file.read_text())["hooks"] if file.exists() else {}
    return hooks["PreToolUse"][0]["hooks"][0] if hooks.get("PreToolUse") else None


def objection(command: str, limit_s: float, *, closed: bool) -> str:
    """Why the call must not run; `closed` counts every failure of the hook as a denial."""
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            input="{}",
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "the hook hangs" if closed else ""
    if done.returncode == 2:
        return done.stderr or "no reason"
    try:
        said = json.loads(done.stdout)["hookSpecificOutput"]["permissionDecisionReason"]
    except (ValueError, KeyError, TypeError):
        return "the hook failed" if closed else ""
    return str(said) if done.returncode == 0 or closed else ""


def run(temper: str) -> None:
    """One session; a temper is `open`, `closed`, `deaf` (to hooks), `idle`, `unwilling`, `mute`."""
    if "--version" in sys.argv:
        sys.stdout.write("9.8.7 (stand-in)\n")
        return
    if temper == "idle":
        sys.exit("no \x1b[31mcredit\x1b[0m")
    said = asked()
    call = said[-1]
    found = None if temper == "deaf" else hook()
    why = "never" if temper == "unwilling" else ""
    if found:
        why = objection(found["command"], found["timeout"], closed=temper == "closed")
    if not why:
        subprocess.run(["/bin/sh", "-c", call["input"]["command"]], check=False)
    if temper == "mute":
        return
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": why or "done"}
    asked({"role": "assistant", "content": said}, {"role": "user", "content": [result]})
