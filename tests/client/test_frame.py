from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.client.fake_core import (
    PATIENCE_S,
    Frame,
    answering,
    command,
    listening,
    run,
)
from watchgate import client

pytestmark = pytest.mark.usefixtures("each_client")

ALLOWED = (
    "TMUX_PANE ZELLIJ_PANE_ID KITTY_WINDOW_ID WEZTERM_PANE SSH_TTY TERM_PROGRAM CLAUDECODE"
    " CLAUDE_PID CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_SESSION_ATTENDED COPILOT_CLI"
    " GEMINI_SESSION_ID QWEN_CODE_SESSION_ID CURSOR_VERSION"
).split()


@pytest.fixture
def path(runtime_dir: Path) -> Path:
    return runtime_dir / "ingest.sock"


def sent(words: list[str], path: Path, payload: bytes, env: dict[str, str] | None = None) -> Frame:
    with listening(path, answering(b"0 0 0\n")) as frames:
        assert run(words, payload, env).returncode == 0
        return frames.get(timeout=PATIENCE_S)


@pytest.mark.parametrize("lane", ["gate", "gate-read", "relay"])
def test_the_header_names_agent_lane_length_event_and_what_is_left_of_the_deadline(
    path: Path, lane: str
) -> None:
    frame = sent(command(path, lane, "PreToolUse", "60"), path, b'{"tool":"Bash"}')
    *lines, deadline = frame.header
    assert lines == [f"watchgate/1 claude {lane}", "length: 15", "event: PreToolUse"]
    assert 50_000 < int(deadline.removeprefix("deadline_ms: ")) <= 60_000
    assert frame.payload == b'{"tool":"Bash"}'


def test_an_observer_names_no_deadline(path: Path) -> None:
    frame = sent(command(path, "observe", "Stop"), path, b"")
    assert frame == (["watchgate/1 claude observe", "length: 0", "event: Stop"], b"")


def test_a_dash_is_no_event(path: Path) -> None:
    frame = sent(command(path, "observe", "-"), path, b"x")
    assert frame.header == ["watchgate/1 claude observe", "length: 1"]


def test_the_deadline_may_be_a_fraction(path: Path) -> None:
    frame = sent(command(path, "gate", "E", "30.5"), path, b"x")
    assert 20_000 < int(frame.header[-1].removeprefix("deadline_ms: ")) <= 30_500


def test_the_payload_is_forwarded_unparsed(path: Path) -> None:
    payload = bytes(range(256)) * 3 + b"\n\nlength: 5\n"
    assert sent(command(path, "gate"), path, payload).payload == payload


@pytest.mark.parametrize("lane", ["gate", "relay"])
def test_a_payload_of_just_the_limit_arrives_whole(path: Path, lane: str) -> None:
    payload = b"0123456789abcdef" * (client.PAYLOAD_LIMIT_BYTES // 16)
    assert sent(command(path, lane), path, payload).payload == payload


def test_of_the_environment_only_the_allowed_names_are_sent(path: Path) -> None:
    others = {"ANTHROPIC_API_KEY": "sk-secret", "PATH": "/bin", "TMUX": "x", "TERM": "xterm"}
    env = {name: f"value of {name}" for name in ALLOWED} | others
    frame = sent(command(path, "gate"), path, b"{}", env)
    lines = [line for line in frame.header if line.startswith("env.")]
    assert lines == [f"env.{name}: value of {name}" for name in ALLOWED]
    assert not re.search("secret|/bin|xterm", "\n".join(frame.header))


@pytest.mark.parametrize("value", ["two\nlines", "tab\t", "\x1b[0m", "\x7f", "x" * 257, "é"])
def test_a_value_that_is_not_one_short_line_of_ascii_is_left_out(path: Path, value: str) -> None:
    env = {"TMUX_PANE": value, "CLAUDECODE": "1"}
    frame = sent(command(path, "observe", "-"), path, b"", env)
    assert frame.header == ["watchgate/1 claude observe", "length: 0", "env.CLAUDECODE: 1"]


def test_an_observer_of_too_much_leaves_a_mark_and_no_payload(path: Path) -> None:
    size_bytes = client.PAYLOAD_LIMIT_BYTES + 1
    frame = sent(command(path, "observe", "-"), path, b"x" * size_bytes)
    lines = ["watchgate/1 claude observe", "length: 0", f"dropped: {size_bytes}"]
    assert frame == (lines, b"")


def test_the_client_reads_nothing_of_its_environment_but_that(path: Path) -> None:
    env = {"WATCHGATE_RUNTIME_DIR": "/nowhere", "PYTHONPATH": "/nowhere", "PYTHONSTARTUP": "/no"}
    assert sent(command(path, "gate"), path, b"x", env).payload == b"x"
