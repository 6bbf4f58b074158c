"""While a text made to take long is judged, others are answered within 100 ms.

What a machine does besides must not come into it. So what counts is the processor time that the
core's loop takes between a question and its answer: threads beside it give way to it. Of several
texts that one counts in whose time the answers came soonest. The text and the other question come
from two agents, as one agent's calls are taken in their order.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.programs import AGENT, WAIT_S, Core, bash

LIMIT_S = 0.1
ROUNDS = 3
KIB = 1024
MOST_BYTES = 4 * 1024 * KIB - 4 * KIB
JSON = '{"a":"b","c":[1,2,{"d":"e"}]},'

Text = Callable[[int], dict[str, Any]]
"""A call whose text is another for each number."""


def shell(text: Callable[[int], str]) -> Text:
    return lambda number: bash(text(number), session=f"hostile-{number}")


def write(size_bytes: int) -> Text:
    def made(number: int) -> dict[str, Any]:
        given = {"file_path": f"/tmp/{number}.txt", "content": "eyJa-" * (size_bytes // 5)}
        return {**bash("", session=f"hostile-{number}"), "tool_name": "Write", "tool_input": given}

    return made


def tokens(size_bytes: int) -> Text:
    return shell(lambda n: "echo " + "eyJa-" * (size_bytes // 5 - n))


HOSTILE: dict[str, Text] = {
    "sed of 600 newlines": shell(lambda n: "sed '" + "\n" * (600 + n) + "' f"),
    "sed of 1,000 newlines": shell(lambda n: "sed '" + "\n" * (1_000 + n) + "' f"),
    "sed of 1,600 blanks": shell(lambda n: "sed '" + " " * (1_600 + n) + "' f"),
    "sed of 9,000 tabs": shell(lambda n: "sed '" + "\t" * (9_000 + n) + "' f"),
    "3 kB of compact JSON": shell(lambda n: f"curl -X POST http://h:{n}/ -d '{JSON * 100}'"),
    "6 kB of compact JSON": shell(lambda n: f"curl -X POST http://h:{n}/ -d '{JSON * 200}'"),
    "200 kB of compact JSON": shell(lambda n: f"curl -X POST http://h:{n}/ -d '{JSON * 6_800}'"),
    "an awk of many prints": shell(lambda n: "awk '{" + "print $1; " * (1_000 + n) + "}' f"),
    "2,000 slashes": shell(lambda n: "curl -X POST http://h" + "/" * (2_000 + n)),
    "50 kB of tokens": tokens(50_000),
    "100 kB of tokens": tokens(100_000),
    "200 kB of tokens": tokens(200_000),
    "1 MB of tokens": tokens(1_000_000),
    "4 MiB of tokens": tokens(MOST_BYTES),
    "4 MiB of words": shell(lambda n: f"cat <<{n}\n" + "some words and more\n" * 190_000 + f"{n}"),
    "a file of 100 kB": write(100_000),
    "a file of 1 MB": write(1_000_000),
    "a file of 4 MiB": write(MOST_BYTES),
}


def frame(call: dict[str, Any], lane: str, event: str) -> bytes:
    body = json.dumps({"hook_event_name": event, **call}).encode()
    return f"watchgate/1 claude {lane}\nlength: {len(body)}\nevent: {event}\n\n".encode() + body


def line(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def _own(call: dict[str, Any]) -> dict[str, Any]:
    cls = "shell" if call["tool_name"] == "Bash" else "write"
    told = {"agent": "claude", "session": call["session_id"], "call_id": "call-1"}
    return told | {
        "kind": "tool.pre",
        "tool": call["tool_name"],
        "tool_class": cls,
        "input": call["tool_input"],
    }


def _codex(call: dict[str, Any]) -> bytes:
    item = {"id": "item_1", "type": "command_execution", "status": "in_progress"}
    item |= {"command": call["tool_input"].get("command", "")}
    started = {"type": "thread.started", "thread_id": call["session_id"]}
    return line(started) + line({"type": "item.started", "item": item})


WAYS: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "a gate": lambda call: frame(call, "gate", "PreToolUse"),
    "an observed call": lambda call: frame(call, "observe", "PreToolUse"),
    "a result": lambda call: frame({**call, "tool_response": {}}, "observe", "PostToolUse"),
    "a request in a line": lambda call: line({"watchgate": 1, **_own(call), "ask": True, "id": 1}),
    "a line": lambda call: line({"watchgate": 1, **_own(call)}),
    "a stream of Codex": _codex,
}
EACH_WAY = ("sed of 9,000 tabs", "200 kB of compact JSON", "1 MB of tokens", "4 MiB of words")
"""Texts that are tried on each way, as that on which most of them come is much the longest."""


def connected(core: Core) -> socket.socket:
    peer = socket.socket(socket.AF_UNIX)
    peer.settimeout(WAIT_S)
    peer.connect(str(core.runtime / "ingest.sock"))
    return peer


def asked(core: Core, call: dict[str, Any]) -> socket.socket:
    """A gate's frame, as a hook sends it; the answer is for whoever reads it."""
    peer = connected(core)
    peer.sendall(frame(call, "gate", "PreToolUse"))
    return peer


ASKING = """
import socket, sys
for line in sys.stdin:
    path, frame = line.split(" ", 1)
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(path)
    peer.sendall(bytes.fromhex(frame))
    print(peer.recv(4096).hex(), flush=True)
    peer.close()
"""


class OtherAgent:
    """An agent of its own that asks about `ls` whenever it is told to."""

    def __init__(self, core: Core) -> None:
        self._path = core.runtime / "ingest.sock"
        self._process = subprocess.Popen(
            [sys.executable, "-c", AGENT, sys.executable, "-c", ASKING],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ls(self, session: str) -> None:
        """Asks, and is answered."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        call = frame(bash("ls", session=session), "gate", "PreToolUse")
        self._process.stdin.write(f"{self._path} {call.hex()}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline().strip()

    def end(self) -> None:
        self._process.communicate()


@pytest.fixture
def other(core: Core) -> Iterator[OtherAgent]:
    """An agent that asked before any other."""
    core.configure('profile = "strict"\n')
    core.start()
    agent = OtherAgent(core)
    agent.ls("before")
    yield agent
    agent.end()


def processor_s(core: Core) -> float:
    """Processor time that the core's loop has taken so far, in seconds."""
    assert core.process is not None
    pid = core.process.pid
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e9


def is_taken(core: Core, session: str) -> bool:
    """Whether there is a record of the session's call."""
    sessions = core._told("list", what="sessions")["sessions"]
    return any(each["session"] == session for each in sessions)


def probed(core: Core, other: OtherAgent, sent: bytes, session: str) -> float:
    """The longest that anybody waited until the call was taken, in seconds."""
    worst_s, probes = 0.0, 0
    with connected(core) as peer:
        peer.sendall(sent)
        over, until_s = False, time.monotonic() + WAIT_S
        while not over:
            assert time.monotonic() < until_s, "never taken"
            probes += 1
            began_s = processor_s(core)
            other.ls(f"other-{probes % 20}")
            asked_s = processor_s(core)
            over = is_taken(core, session)
            worst_s = max(worst_s, asked_s - began_s, processor_s(core) - asked_s)
    return worst_s


CASES = [(way, text) for text in HOSTILE for way in WAYS if way == "a gate" or text in EACH_WAY]


@pytest.mark.skipif(sys.platform != "linux", reason="processor time is read in /proc")
@pytest.mark.parametrize(("way", "text"), CASES)
def test_another_agent_and_an_operator_are_answered_while_it_is_judged(
    core: Core, other: OtherAgent, way: str, text: str
) -> None:
    calls = [HOSTILE[text](number) for number in range(ROUNDS)]
    waits_s = [probed(core, other, WAYS[way](call), call["session_id"]) for call in calls]
    assert min(waits_s) < LIMIT_S, waits_s
