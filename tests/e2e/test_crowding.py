"""One process that takes all it can stops nobody else: another agent's call, nor a command."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.programs import AGENT, Core, bash, until

RISKY = "git push --force"
ATTACKER = """
import json, resource, socket, sys, time
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
path, how, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
peers = []
HEAD = "watchgate/1 claude gate\\nlength: %d\\nevent: PreToolUse\\n\\n"
for number in range(count):
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(path)
    peers.append(peer)
    if how == "forged":
        call = {"session_id": f"forged-{number}", "hook_event_name": "PreToolUse", "cwd": "/tmp",
                "tool_name": "Bash", "tool_use_id": f"t{number}",
                "tool_input": {"command": "git push --force"}}
        body = json.dumps(call).encode()
        peer.sendall((HEAD % len(body)).encode() + body)
    if how == "unfinished":
        peer.sendall((HEAD % (4 << 20)).encode())
        peer.setblocking(False)
if how == "unfinished":
    # As much as the core takes of each, but never all: the last byte is kept back.
    left = {peer: memoryview(bytes((4 << 20) - 1)) for peer in peers}
    end = time.monotonic() + 5
    while left and time.monotonic() < end:
        for peer, data in list(left.items()):
            try:
                left[peer] = data[peer.send(data):]
            except BlockingIOError:
                continue
            except OSError:
                del left[peer]
print("ready", flush=True)
sys.stdin.read()
"""


@contextmanager
def attacked(core: Core, how: str, count: int) -> Iterator[None]:
    """A process below an agent of its own holds what it can for the block."""
    words = [sys.executable, "-c", ATTACKER, str(core.runtime / "ingest.sock"), how, str(count)]
    attacker = subprocess.Popen(
        [sys.executable, "-c", AGENT, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert attacker.stdout is not None
    try:
        assert attacker.stdout.readline() == b"ready\n"
        yield
    finally:
        attacker.communicate()


def resident_bytes(core: Core) -> int:
    assert core.process is not None
    pages = int(Path(f"/proc/{core.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def held_for(core: Core, session: str) -> list[str]:
    """The ids of the requests of one session."""
    return [each["id"] for each in core.pending(0) if each["session"] == session]


def another_agent_works(core: Core) -> None:
    """A call of another agent is held and denied by a command, as on any day."""
    hook = core.hook("PreToolUse", bash(RISKY, "other-1"))
    mine = str(bash(RISKY, "other-1")["session_id"])
    (request,) = until(lambda: held_for(core, mine), "the other agent's request")
    done = core.cli("deny", request, "--reason", "no")
    assert done.code == 0, done.err
    assert '"deny"' in hook.done().out


@pytest.mark.parametrize(("how", "count"), [("idle", 1_100), ("idle", 3_000), ("forged", 500)])
def test_a_crowd_from_one_process_holds_up_nobody_else(core: Core, how: str, count: int) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1_024, before[1]))  # as a login has it
    try:
        core.start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    with attacked(core, how, count):
        another_agent_works(core)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read in /proc")
def test_unfinished_payloads_take_a_bounded_amount_of_memory(core: Core) -> None:
    core.start()
    before = resident_bytes(core)
    with attacked(core, "unfinished", 400):
        assert resident_bytes(core) - before < 160 * 1024 * 1024
        another_agent_works(core)
