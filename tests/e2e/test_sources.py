"""Five systems report to one real core, each in its own format and its own way in."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.programs import AGENT, Core, until
from watchgate.core.dispatch.extensions.extension_frames import FrameReader, encode_frame

WAIT_S = 60.0
RISKY = "git push --force"
EXEC: list[dict[str, Any]] = [
    {"type": "thread.started", "thread_id": "0199a213"},
    {"type": "turn.started"},
    {
        "type": "item.started",
        "item": {
            "id": "item_1",
            "type": "command_execution",
            "command": RISKY,
            "exit_code": None,
            "status": "in_progress",
        },
    },
    {
        "type": "item.completed",
        "item": {
            "id": "item_1",
            "type": "command_execution",
            "command": RISKY,
            "aggregated_output": "rejected",
            "exit_code": 1,
            "status": "completed",
        },
    },
    {"type": "item.completed", "item": {"id": "item_2", "type": "hologram", "beam": "blue"}},
    {"type": "turn.completed", "usage": {"input_tokens": 9, "output_tokens": 3}},
]
ONE_LINE_SINK = """
import json, socket, sys
for event in json.loads(sys.argv[2]):
    with socket.socket(socket.AF_UNIX) as sink:
        sink.connect(sys.argv[1])
        line = {"at": "2026-05-31T11:19:28.100000001+00:00", "event": event}
        sink.sendall(json.dumps(line).encode() + b"\\n")
sys.stdin.read()
"""
"""Goes on after its last event, as the agent does: who it was can then be asked."""


def lines(events: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def tap(agent: str, given: bytes) -> bytes:
    done = subprocess.run(
        [sys.executable, "-m", "watchgate", "tap", agent],
        input=given,
        capture_output=True,
        timeout=WAIT_S,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def recorded(core: Core, agent: str, count: int) -> list[dict[str, Any]]:
    """The records of an agent, as soon as there are so many."""

    def look() -> list[dict[str, Any]] | None:
        found = [record for record in core.records() if record["agent"] == agent]
        return found if len(found) >= count else None

    return until(look, f"{count} records of {agent}")


def test_sd_b9_a_tapped_run_is_recorded_line_by_line_and_copied_unchanged(running: Core) -> None:
    assert tap("codex", lines(EXEC)) == lines(EXEC)
    told = recorded(running, "codex", 10)
    assert (told[-1]["kind"], told[-1]["data"]["state"]) == ("policy.inferred", "gone")
    assert "stream" in told[-1]["data"]["why"]
    told.pop()
    alarms = [record for record in told if record["kind"].endswith(".ungated")]
    assert [record["kind"] for record in alarms] == ["effect.ungated", "policy.ungated"]
    causes = {record["data"]["cause"] for record in alarms}
    assert causes == {"untrusted"}, "its calls run, and no hook was heard"
    found = [record for record in told if record not in alarms]
    assert [record["data"]["native"] for record in found] == [
        "thread.started",
        "turn.started",
        "item.started/command_execution",
        "item.completed/command_execution",
        "item.completed/hologram",
        "turn.completed/usage",
        "turn.completed",
    ]
    assert {record["session"] for record in found} == {"0199a213"}
    call, ended = found[2], found[3]
    assert call["data"]["risk"] in ("high", "critical"), "what only ran is judged too"
    assert call["call"] == ended["call"]
    assert (ended["kind"], ended["data"]["ok"]) == ("tool.error", False)


def test_two_runs_of_one_thread_are_two_calls(running: Core) -> None:
    tap("codex", lines(EXEC))
    tap("codex", lines(EXEC))
    calls = {r["call"] for r in recorded(running, "codex", 17) if r["kind"] == "tool.pre"}
    assert len(calls) == 2


def test_cw_8_cw_16_a_codewhale_whose_sink_is_our_socket_is_one_session(running: Core) -> None:
    call = {"response_id": "tool-1", "tool_name": "exec_shell"}
    events = [
        {
            "type": "tool_lifecycle",
            **call,
            "phase": "precheck",
            "payload": {"command": RISKY, "cwd": "/srv/app"},
        },
        {
            "type": "generic_event_frame",
            "frame": {"event": "tool_call_start", **call, "arguments": {}},
        },
        {"type": "tool_lifecycle", **call, "phase": "dispatching", "payload": None},
        {
            "type": "generic_event_frame",
            "frame": {"event": "tool_call_result", **call, "output": {"body": "x"}},
        },
        {"type": "tool_lifecycle", **call, "phase": "completed", "payload": {"ok": True}},
    ]
    path = running.runtime / "ingest.sock"
    sink = [sys.executable, "-c", ONE_LINE_SINK, str(path), json.dumps(events)]
    with subprocess.Popen(sink, stdin=subprocess.PIPE) as agent:
        found = recorded(running, "codewhale", 6)
        agent.communicate(timeout=WAIT_S)
    assert agent.returncode == 0
    assert [record["kind"] for record in found] == [
        "session.change",
        "tool.pre",
        "notice",
        "notice",
        "tool.post",
        "notice",
    ]
    (session,) = {record["session"] for record in found}
    assert session.startswith("pid "), "a guess, and shown as one"
    assert "guessed" in found[0]["data"]["detail"]
    assert found[1]["data"]["summary"] == RISKY


def test_sandbox_agents_events_come_by_socket_and_by_tap(running: Core) -> None:
    def event(session: str) -> dict[str, Any]:
        return {
            "event_id": "evt_1",
            "sequence": 1,
            "time": "2026-01-30T21:49:00Z",
            "session_id": session,
            "source": "daemon",
            "synthetic": True,
            "type": "session.started",
            "data": {"metadata": {"cwd": "/srv/app"}},
        }

    with socket.socket(socket.AF_UNIX) as sender:
        sender.connect(str(running.runtime / "ingest.sock"))
        sender.sendall(lines([event("s1")]))
    tap("sandbox-agent", lines([event("s2")]))
    found = recorded(running, "sandbox-agent", 2)
    assert {record["session"] for record in found} == {"s1", "s2"}


@pytest.mark.parametrize("form", ["v1", "v2"])
def test_a_fork_of_codex_whose_hooks_run_our_client_is_held_and_denied(
    running: Core, form: str
) -> None:
    outer = {"session_id": "b5f6", "cwd": "/tmp", "triggered_at": "2026-02-07T20:04:41Z"}
    if form == "v1":
        argv = json.dumps({"command": ["git", "push", "--force"]})
        call = {"event_type": "pre_tool_use", "tool_name": "shell", "tool_input": argv}
        payload: dict[str, Any] = {**outer, "hook_event": call}
    else:
        name = {"hook_event_name": "PreToolUse", "event_type": "PreToolUse"}
        tool = {"tool_name": "Bash", "tool_input": {"command": RISKY}}
        payload = {**outer, **name, **tool, "permission_mode": "on-request"}
    hook = running.hook("-", payload, agent="codex")
    (request,) = running.pending()
    assert (request["agent"], request["session"], request["summary"]) == ("codex", "b5f6", RISKY)
    running.cli("deny", request["id"], "--reason", "not on Friday")
    done = hook.done()
    assert done.code == 2
    assert "not on Friday" in done.err
    assert json.loads(done.out)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_synaps_with_our_plugin_blocks_what_nobody_allowed(running: Core) -> None:
    assert running.cli("install", "synaps").code == 0
    folder = Path(os.environ["HOME"]) / ".synaps-cli" / "plugins" / "watchgate"
    extension = json.loads((folder / ".synaps-plugin" / "plugin.json").read_bytes())["extension"]
    frames = FrameReader()
    with subprocess.Popen(
        [sys.executable, "-c", AGENT, extension["command"], *extension["args"]],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as synaps:
        assert synaps.stdin is not None
        assert synaps.stdout is not None

        def hook(number: int, kind: str, **fields: Any) -> dict[str, Any]:
            request = {"jsonrpc": "2.0", "id": number, "method": "hook.handle"}
            body = json.dumps({**request, "params": {"kind": kind, **fields}}).encode()
            assert synaps.stdin is not None
            assert synaps.stdout is not None
            synaps.stdin.write(encode_frame(body))
            synaps.stdin.flush()
            while True:
                for answer in frames.feed(os.read(synaps.stdout.fileno(), 65536)):
                    said: dict[str, Any] = json.loads(answer)["result"]
                    return said

        shell = {"tool_name": "bash", "tool_runtime_name": "bash"}
        hook(1, "on_session_start", session_id="s-9")
        safe = hook(2, "before_tool_call", **shell, tool_input={"command": "ls"})
        risky = hook(3, "before_tool_call", **shell, tool_input={"command": RISKY})
        synaps.stdin.close()
        assert synaps.wait(WAIT_S) == 0
    assert safe == {"action": "continue"}
    assert risky["action"] == "block"
    found = recorded(running, "synaps", 3)
    assert {record["session"] for record in found} == {"s-9"}
    assert found[0]["kind"] == "session.start"
    assert running.cli("uninstall", "synaps").code == 0
    assert not folder.exists()
