"""Every reader of asked-for calls: what it finds, and that nothing in a file can raise."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.service.usage import disk
from watchgate.agents.transcripts import CALL_READERS
from watchgate.agents.transcripts.opencode_transcript import OpenCodeCalls, OpenCodeSession
from watchgate.core.lookback.transcript_call import TranscriptCall
from watchgate.core.tools import tool_input


def lines(*objects: Any) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in objects)


def read(agent: str, *objects: Any, cwd: str = "") -> list[TranscriptCall]:
    return CALL_READERS[agent]("the-file", cwd).read(lines(*objects))


def commands(found: list[TranscriptCall]) -> list[str | None]:
    return [tool_input.command(each.tool) for each in found]


def test_a_call_of_claude_with_who_asked_where_and_when() -> None:
    line = disk.claude_line("make", isSidechain=True)
    (asked,) = read("claude", {"type": "user", "permissionMode": "bypassPermissions"}, line)
    assert (asked.agent, asked.session, asked.cwd) == ("claude", "claude-1", "/srv/app")
    assert (asked.at_us, asked.side, asked.alone) == (disk.NOON_US, True, True)
    assert (asked.tool.cls, asked.tool.input) == ("shell", {"command": "make"})


def test_what_a_progress_line_of_claude_repeats_is_no_call() -> None:
    line = disk.claude_line("make")
    assert read("claude", {"type": "progress", "data": {"message": line}}) == []


def test_a_line_of_claude_without_a_session_belongs_to_its_file() -> None:
    (asked,) = read("claude", disk.claude_line("make", sessionId=None, timestamp=None))
    assert (asked.session, asked.at_us) == ("the-file", 0)


@pytest.mark.parametrize("command", [["bash", "-lc", "make x"], "make x"])
def test_a_command_of_codex_is_the_text_and_runs_in_its_own_folder(command: Any) -> None:
    (asked,) = read("codex", disk.codex_meta(cwd="/srv/app"), disk.codex_line(command))
    assert (asked.session, asked.cwd) == ("codex-1", "/srv/lib")
    assert (asked.tool.name, asked.tool.input) == ("Bash", {"command": "make x"})


def test_other_calls_of_codex() -> None:
    patch = {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch"}
    local = {"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls", "-l"]}}
    other = {"type": "function_call", "name": "mcp__hub__merge", "arguments": '{"pr": 3}'}
    wrong = {"type": "function_call", "name": "plan", "arguments": "{"}
    items = [{"type": "response_item", "payload": each} for each in (patch, local, other, wrong)]
    found = read("codex", *items)
    assert [each.tool.cls for each in found] == ["edit", "shell", "mcp", "other"]
    assert found[3].tool.input == {"input": "{"}


def test_a_sub_agent_of_codex_belongs_to_its_parent_and_the_first_meta_counts() -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "codex-0"}}}
    turn = {"type": "turn_context", "payload": {"cwd": "/srv/x", "approval_policy": "never"}}
    meta, copied = disk.codex_meta(source=source), disk.codex_meta(id="other")
    (asked,) = read("codex", meta, copied, turn, disk.codex_line(["ls"]))
    assert (asked.session, asked.side, asked.alone) == ("codex-0", True, True)


def test_a_message_of_gemini_that_is_written_again_asks_once() -> None:
    message = disk.gemini_message("make")
    start = {"sessionId": "gemini-1", "kind": "subagent"}
    (asked,) = read("gemini", start, message, message, cwd="/srv/app")
    assert (asked.session, asked.side, asked.cwd) == ("gemini-1", True, "/srv/app")
    assert (asked.tool.name, asked.tool.cls, asked.at_us) == ("Bash", "shell", disk.NOON_US)


def test_an_older_chat_of_gemini_is_one_object() -> None:
    chat = {"sessionId": "old", "messages": [disk.gemini_message("make")]}
    for written in (json.dumps(chat), json.dumps(chat, indent=2)):
        reader = CALL_READERS["gemini"]("the-file", "")
        assert [each.session for each in reader.read(written.encode())] == ["old"]
        assert reader.unreadable == 0
    torn = CALL_READERS["gemini"]("the-file", "")
    assert torn.read(json.dumps(chat, indent=2)[:-9].encode()) == []
    assert torn.unreadable == 1


def test_a_call_of_qwen() -> None:
    (asked,) = read("qwen", disk.qwen_line("make"))
    assert (asked.session, asked.cwd, asked.tool.name) == ("qwen-1", "/srv/app", "Bash")
    assert commands([asked]) == ["make"]


def test_a_part_of_opencode_belongs_to_the_session_that_a_sub_agent_works_for() -> None:
    reader = OpenCodeCalls({"ses_2": OpenCodeSession("/srv/app", "ses_1")})
    part = json.dumps(disk.opencode_part("make")).encode()
    (asked,) = reader.read(part, "ses_2", 5)
    assert (asked.session, asked.side, asked.cwd) == ("ses_1", True, "/srv/app")
    assert (asked.at_us, asked.tool.name) == (disk.NOON_US, "Bash")
    assert reader.read(b'{"type": "text"}') == []
    assert reader.read(b'{"type": ') == []
    assert reader.unreadable == 1


@pytest.mark.parametrize("agent", CALL_READERS)
def test_a_line_that_is_torn_is_counted_and_the_next_one_is_read(agent: str) -> None:
    good = {
        "claude": disk.claude_line("make"),
        "codex": disk.codex_line(["make"]),
        "gemini": disk.gemini_message("make"),
        "qwen": disk.qwen_line("make"),
    }[agent]
    reader = CALL_READERS[agent]("the-file", "")
    found = reader.read(lines(good)[:-20] + b"\n[1]\n\n  \n" + lines(good))
    assert (len(found), reader.unreadable) == (1, 2)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda part: (
        st.lists(part, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "type payload message content input name id call_id arguments toolCalls timestamp"
                " parts functionCall args tool state callID $set messages cwd source action"
                " sessionId session_meta command workdir".split()
            ),
            part
            | st.sampled_from(
                "assistant gemini tool_use response_item function_call shell tool session_meta"
                " local_shell_call custom_tool_call turn_context".split()
            ),
            max_size=6,
        )
    ),
    max_leaves=20,
)


@pytest.mark.parametrize("agent", [*CALL_READERS, "opencode"])
@given(objects=st.lists(JSON, max_size=5), junk=st.binary(max_size=20))
def test_nothing_in_a_file_raises(agent: str, objects: list[Any], junk: bytes) -> None:
    if agent == "opencode":
        for each in objects:
            OpenCodeCalls().read(json.dumps(each).encode() + junk)
        return
    for asked in CALL_READERS[agent]("the-file", "").read(lines(*objects) + junk):
        assert isinstance(asked.tool.input, dict)
        assert asked.key
