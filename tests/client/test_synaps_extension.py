"""The extension as SynapsCLI runs it: frames in, one answer each, closed by itself."""

from __future__ import annotations

import ast
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.client.fake_core import (
    PATIENCE_S,
    PYTHON,
    SCRIPT,
    SlowLook,
    answering,
    hanging_up_after,
    listening,
)
from watchgate import client, synaps_extension
from watchgate.core.dispatch.extensions.extension_frames import FrameReader, encode_frame
from watchgate.service.setup.hook_client import with_checksum

SOURCE = SCRIPT.with_name("synaps_extension.py")
CALL = {
    "kind": "before_tool_call",
    "tool_name": "bash",
    "tool_runtime_name": "bash",
    "tool_input": {"command": "ls"},
    "tool_output": None,
    "message": None,
    "session_id": None,
    "transcript": None,
    "data": None,
}
PASS = b'{"action":"continue"}'


class Synaps:
    """A SynapsCLI of a few lines: it starts the extension and waits for each answer."""

    def __init__(
        self, folder: Path, path: Path, lane: str, budget_s: str = "4.5", *, damaged: str = ""
    ) -> None:
        (folder / "watchgate_client.py").write_bytes(with_checksum(SCRIPT.read_bytes()))
        source = SOURCE.read_text()
        assert source.count("= 4.5, ") == 1, "the budget of a call in the extension"
        shorter = source.replace("= 4.5, ", f"= {budget_s}, ")
        (folder / "watchgate_synaps.py").write_bytes(with_checksum(shorter.encode()))
        if damaged:
            content = (folder / damaged).read_bytes()
            (folder / damaged).write_bytes(content.replace(b"BUDGET_S", b"BUDGET_T"))
        self.frames = FrameReader()
        self.number = 0
        self.process = subprocess.Popen(
            [PYTHON, "-I", "-S", "watchgate_synaps.py", str(path), lane],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def say(self, raw: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(raw)
        self.process.stdin.flush()

    def heard(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        while True:
            data = os.read(self.process.stdout.fileno(), 65536)
            assert data, "the extension ended"
            for body in self.frames.feed(data):
                said: dict[str, Any] = json.loads(body)
                return said

    def call(self, method: str, params: Any = None) -> dict[str, Any]:
        self.number += 1
        request = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.say(encode_frame(json.dumps(request).encode()))
        answer = self.heard()
        assert answer["id"] == self.number
        return answer

    def hook(self, **fields: Any) -> dict[str, Any]:
        result: dict[str, Any] = self.call("hook.handle", {**CALL, **fields})["result"]
        return result


@pytest.fixture
def path(runtime_dir: Path) -> Path:
    return runtime_dir / "ingest.sock"


@pytest.fixture
def synaps(tmp_path: Path, path: Path) -> Iterator[Synaps]:
    made = Synaps(tmp_path, path, "gate")
    yield made
    made.process.kill()
    made.process.communicate()


@pytest.fixture
def hasty(tmp_path: Path, path: Path) -> Iterator[Synaps]:
    """One that gives the core less time."""
    made = Synaps(tmp_path, path, "gate", "0.3")
    yield made
    made.process.kill()
    made.process.communicate()


def told(result: bytes, code: int = 0) -> bytes:
    return b"%d %d 0\n%b" % (code, len(result), result)


def test_it_initialises_and_ends_when_told_to(synaps: Synaps) -> None:
    version = {"synaps_version": "0.1.4", "extension_protocol_version": 1, "config": {}}
    assert synaps.call("initialize", version)["result"]["protocol_version"] == 1
    synaps.call("shutdown")
    assert synaps.process.wait(PATIENCE_S) == 0


def test_a_call_goes_to_the_core_as_a_frame_and_its_answer_comes_back(
    synaps: Synaps, path: Path
) -> None:
    with listening(path, answering(told(b'{"action":"modify","input":{"command":"true"}}'))) as got:
        assert synaps.hook() == {"action": "modify", "input": {"command": "true"}}
        sent = got.get(timeout=PATIENCE_S)
    assert sent.header[0] == "watchgate/1 synaps gate"
    deadline = next(line for line in sent.header if line.startswith("deadline_ms: "))
    assert 0 < int(deadline[13:]) <= 4_500, "before SynapsCLI goes on without us"
    payload = json.loads(sent.payload)
    assert payload["tool_input"] == {"command": "ls"}
    assert payload["session_id"].startswith(f"pid {os.getpid()} at ")


def test_a_session_keeps_the_name_that_it_began_with(synaps: Synaps, path: Path) -> None:
    with listening(path, answering(told(PASS))) as got:
        synaps.hook(kind="on_session_start", session_id="s-9", tool_name=None)
        assert got.get(timeout=PATIENCE_S).header[0] == "watchgate/1 synaps observe"
        synaps.hook()
        assert json.loads(got.get(timeout=PATIENCE_S).payload)["session_id"] == "s-9"


def test_what_was_slow_before_it_reached_the_core_is_told_all_the_same(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SlowLook()
    for module in (client, synaps_extension):
        monkeypatch.setattr(module, "time", slow)
    monkeypatch.setattr(client, "demand_own", slow.demand_own)
    monkeypatch.setattr(synaps_extension, "GATE_BUDGET_S", 60)
    extension = synaps_extension.Extension(str(path), "gate")
    with listening(path, answering(b"")) as got:
        assert extension.handle({**CALL, "kind": "after_tool_call"}) == {"action": "continue"}
        assert got.get(timeout=PATIENCE_S).header[0] == "watchgate/1 synaps observe"


def test_without_a_core_a_call_is_blocked_and_the_rest_goes_on(synaps: Synaps) -> None:
    result = synaps.hook()
    assert result["action"] == "block"
    assert "watchgate serve" in result["reason"]
    assert "not a refusal by a person" in result["reason"]
    for kind in ("after_tool_call", "before_message", "on_session_end"):
        assert synaps.hook(kind=kind) == {"action": "continue"}


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"garbage\n",
        b"0 2 0\n[]",
        b"0 2 0\n{}",
        told(PASS, code=2),
        b"0 99 0\n{",
    ],
)
def test_an_answer_of_another_form_blocks(synaps: Synaps, path: Path, answer: bytes) -> None:
    with listening(path, hanging_up_after(answer)):
        assert synaps.hook()["action"] == "block"


def test_a_core_that_does_not_answer_in_time_blocks_before_synaps_goes_on(
    hasty: Synaps, path: Path
) -> None:
    with listening(path, answering(b"")):
        result = hasty.hook()
    assert result["action"] == "block"
    assert "deadline" in result["reason"]


def test_the_way_out_is_honoured(synaps: Synaps, path: Path) -> None:
    switch = path.with_name("off")
    switch.touch(mode=0o600)
    switch.write_text("99999999999\n")
    assert synaps.hook() == {"action": "continue"}


@pytest.mark.parametrize("file", ["watchgate_client.py", "watchgate_synaps.py"])
@pytest.mark.parametrize("lane", ["gate", "observe"])
def test_damaged_files_block_every_call_where_anything_is_held(
    tmp_path: Path, path: Path, file: str, lane: str
) -> None:
    synaps = Synaps(tmp_path, path, lane, damaged=file)
    try:
        with listening(path, answering(told(PASS))) as frames:
            result = synaps.hook()
            assert synaps.hook(kind="on_session_end") == {"action": "continue"}
            assert frames.empty()
    finally:
        synaps.process.kill()
        synaps.process.communicate()

    assert result["action"] == ("block" if lane == "gate" else "continue")
    assert ("Run watchgate install synaps" in result.get("reason", "")) is (lane == "gate")


def test_what_it_does_not_know_is_answered_and_costs_nothing(synaps: Synaps) -> None:
    assert synaps.call("tool.call", {})["error"]["code"] == -32601
    synaps.say(encode_frame(b'{"jsonrpc":"2.0","method":"notes.added"}'))
    assert synaps.hook(kind="on_session_end") == {"action": "continue"}
    assert synaps.call("hook.handle", None)["result"]["action"] == "block"


@pytest.mark.parametrize(
    "params",
    [b'{"a":' * 100_000 + b"1" + b"}" * 100_000, b"[" * 100_000, b'{"torn', b"\xff"],
    ids=["deep", "deeper", "torn", "not text"],
)
def test_a_call_that_cannot_be_read_is_blocked_under_its_number(
    synaps: Synaps, params: bytes
) -> None:
    synaps.say(
        encode_frame(b'{"jsonrpc":"2.0","id":7,"method":"hook.handle","params":%b}' % params)
    )
    answer = synaps.heard()
    assert (answer["id"], answer["result"]["action"]) == (7, "block")
    assert synaps.hook(kind="on_session_end") == {"action": "continue"}, "it goes on"


def test_headers_are_read_in_any_case_and_with_others_beside(synaps: Synaps) -> None:
    body = b'{"jsonrpc":"2.0","id":9,"method":"initialize"}'
    synaps.say(b"Content-Type: x\r\ncontent-LENGTH: %d\r\n\r\n%b" % (len(body), body))
    assert synaps.heard()["id"] == 9


def test_it_is_written_for_python_3_8_and_needs_no_package() -> None:
    tree = ast.parse(SOURCE.read_text(), feature_version=(3, 8))
    plain = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    assert plain == {"binascii", "json", "os", "re", "socket", "sys", "time", "types"}
