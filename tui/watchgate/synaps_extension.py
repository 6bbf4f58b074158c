"""SynapsCLI's extension process: its hook calls from stdin to the core, results back to stdout.

    python -I -S synaps_extension.py INGEST_SOCKET GATE_LANE

Lies beside a copy of the hook client, whose way to the core it takes, and needs Python 3.8 and no
package. SynapsCLI lets an event pass when an extension is slower than 5 s or gone, so a tool call
that the core did not let through by then is blocked here, with the reason; whatever else happens,
each call gets an answer. Both files end in a checksum; where one is damaged, every call is blocked.
Hooks that cannot prevent anything are told to the core and never waited for. GATE_LANE is gate, or
observe where nothing is to be held.
"""

from __future__ import annotations

import binascii
import json
import os
import re
import socket
import sys
import time
import types
from typing import Any, BinaryIO


def whole(path: str) -> bytes:
    """A file's content without the checksum behind it; raises `ValueError` if that is another."""
    with open(path, "rb") as file:  # noqa: PTH123 - no pathlib
        content, _, checksum = file.read().rpartition(b"\n# ")
    if checksum != b"%08x" % binascii.crc32(content):
        raise ValueError(path)
    return content


def find_client() -> Any:
    """The hook client: beside this file where it runs by itself, else in the package.

    None where it or this file is not whole.
    """
    if __name__ != "__main__":
        return __import__("watchgate.client").client
    try:
        whole(__file__)
        source = whole((__file__.rpartition("/")[0] or ".") + "/watchgate_client.py")
    except (OSError, ValueError):
        return None
    # Not imported, as an import believes whatever bytecode lies there.
    module = types.ModuleType("watchgate_client")
    exec(source, module.__dict__)  # noqa: S102 - the client that lies beside this
    return module


client = find_client()
BEFORE = "before_tool_call"
GATE_BUDGET_S, FRAME_LIMIT_BYTES, HEADER_LIMIT_BYTES = 4.5, 4 << 20, 1024
STARTED = time.strftime("%H:%M:%S")
NUMBER = re.compile(rb'"id"\s*:\s*("[^"\\]*"|\d+)')
FAULTS = (
    OSError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
DAMAGED = "plugin is damaged. Run watchgate install synaps, then start SynapsCLI again."
STOP = "This is not a refusal by a person. Do not try another way; stop and report."
UNREADABLE = "could not read what SynapsCLI sent. Look for a newer version of watchgate."


def read_frame(stream: BinaryIO) -> bytes | None:
    """The body of the next message; None at the end of the stream, ValueError for a broken one."""
    length = None
    while True:
        line = stream.readline(HEADER_LIMIT_BYTES + 1)
        if not line:
            return None
        if len(line) > HEADER_LIMIT_BYTES:
            raise ValueError
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
        if not line.strip() and length is not None:
            break
    if not 0 <= length <= FRAME_LIMIT_BYTES:
        raise ValueError
    body = stream.read(length)
    return body if len(body) == length else None


def write_frame(stream: BinaryIO, message: dict[str, Any]) -> None:
    """One message, whole."""
    body = json.dumps(message).encode()
    stream.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    stream.flush()


def exchange(path: str, lane: str, lines: str, params: dict[str, Any], until: float) -> Any:
    """Exit code and stdout of the core's answer; an observer waits for none.

    Args:
        path: The core's socket.
        lane: How the event may be answered.
        lines: Further header lines of the frame.
        params: The event as SynapsCLI sent it.
        until: The deadline on `client.CLOCK`, in seconds.
    """
    payload = json.dumps(params).encode()
    lines = f"watchgate/1 synaps {lane}\nlength: {len(payload)}\n{lines}"
    if lane != "observe":
        left_s = until - time.clock_gettime(client.CLOCK)
        lines += f"deadline_ms: {left_s * 1000:.0f}\n"
    frame = lines.encode("ascii", "replace") + b"\n" + payload
    client.demand_own(path, 0o170000, 0o140000)
    with socket.socket(socket.AF_UNIX) as core:
        core.settimeout(client.step_s(until))
        core.connect(path)
        if lane == "observe":
            until = time.clock_gettime(client.CLOCK) + client.OBSERVER_BUDGET_S
        while frame:
            frame = frame[client.move(core, "send", frame, until) :]
        if lane == "observe":
            return 0, b""
        data, buffer = b"", bytearray(65536)
        while b"\n" not in data and len(data) < 32:
            data += buffer[: client.move(core, "recv_into", buffer, until)]
        line, body = data.split(b"\n", 1)
        code, size, _ = map(int, line.split(b" "))
        while len(body) < size <= client.ANSWER_LIMIT_BYTES:
            body += buffer[: client.move(core, "recv_into", buffer, until)]
    return code, body[:size]


class Extension:
    """One session's process: which session it is, and where its core listens."""

    def __init__(self, path: str, gate_lane: str) -> None:
        self.path, self.gate_lane = path, gate_lane
        self.session = f"pid {client.PARENT} at {STARTED}"
        try:
            self.cwd = os.readlink(f"/proc/{client.PARENT}/cwd")
        except OSError:
            self.cwd = ""

    def handle(self, params: dict[str, Any]) -> dict[str, Any]:
        """The result for one hook: a tool call is blocked unless the core lets it through."""
        kind = params.get("kind")
        self.session = params.get("session_id") or self.session
        lane, lines = self.gate_lane if kind == BEFORE else "observe", f"event: {kind}\n"
        if client.is_off(self.path.rpartition("/")[0] + "/off"):
            lane, lines = "observe", lines + "off: 1\n"
        payload = dict(params, session_id=self.session, cwd=self.cwd)
        until = time.clock_gettime(client.CLOCK) + GATE_BUDGET_S
        try:
            code, out = exchange(self.path, lane, lines, payload, until)
            if lane == "observe":
                return {"action": "continue"}
            result: dict[str, Any] = json.loads(out)
            if result["action"] != "block" and code != 0:
                raise ValueError
            return result
        except FAULTS as fault:
            return {"action": "continue"} if lane == "observe" else blocked(reason_of(fault))


def reason_of(fault: BaseException) -> str:
    """Returns the fault that stopped the question, in the hook client's words, with the mend."""
    kinds = client.REASONS.items()
    return next((text for kind, text in kinds if isinstance(fault, kind)), UNREADABLE)


def blocked(reason: str) -> dict[str, Any]:
    """The result that keeps a tool call from running."""
    return {"action": "block", "reason": f"watchgate {reason} {STOP}"}


class Damaged:
    """Stands in the place of an extension whose files are not whole."""

    def __init__(self, gate_lane: str) -> None:
        self.gates = gate_lane != "observe"

    def handle(self, params: dict[str, Any]) -> dict[str, Any]:
        """The result for one hook: whatever could be blocked is."""
        held = self.gates and params.get("kind") == BEFORE
        return blocked(DAMAGED) if held else {"action": "continue"}


def answer(extension: Extension | Damaged, message: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the answer to a request; None where nothing is read, and for the end."""
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        result: dict[str, Any] = {"protocol_version": 1, "capabilities": {}}
    elif method == "hook.handle":
        params = message.get("params")
        result = extension.handle(params) if isinstance(params, dict) else blocked(UNREADABLE)
    elif method == "shutdown":
        result = {}
    else:
        fault = {"code": -32601, "message": f"watchgate has no method {method}"}
        return None if number is None else {"jsonrpc": "2.0", "id": number, "error": fault}
    return None if number is None else {"jsonrpc": "2.0", "id": number, "result": result}


def unread(body: bytes) -> dict[str, Any]:
    """The answer to a message that cannot be read: a block, as it may be about a tool call."""
    length = NUMBER.search(body)
    try:
        number = json.loads(length.group(1)) if length else None
    except FAULTS:
        number = None
    return {"jsonrpc": "2.0", "id": number, "result": blocked(UNREADABLE)}


def main() -> None:
    """Answers until stdin ends or `shutdown`; nothing can follow a broken frame, so it ends too."""
    path, gate_lane = sys.argv[1:3]
    extension = Extension(path, gate_lane) if client else Damaged(gate_lane)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while True:
        body = read_frame(source)
        if body is None:
            return
        try:
            message = json.loads(body)
        except FAULTS:
            message = None
        if not isinstance(message, dict):
            write_frame(sink, unread(body))
            continue
        reply = answer(extension, message)
        if reply is not None:
            write_frame(sink, reply)
        if message.get("method") == "shutdown":
            return


if __name__ == "__main__":
    main()
