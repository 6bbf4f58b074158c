"""What one sender's lines leave out, kept within bounds."""

from __future__ import annotations

from watchgate.agents.streams.stream_source import MAX_INPUT_BYTES, OpenCall, SourceSession
from watchgate.core.model.events import Tool


def tool(size: int) -> Tool:
    return Tool("shell", "shell", "shell", {"command": "x" * size}, "hash")


def test_the_input_of_an_open_call_is_kept_only_while_it_is_short() -> None:
    seen = SourceSession("codewhale", "one", guessed=True)
    seen.open("a", OpenCall(tool(100)))
    seen.open("b", OpenCall(tool(MAX_INPUT_BYTES)))
    seen.ask("c", tool(MAX_INPUT_BYTES))
    assert seen.calls["a"].tool.input
    assert (seen.calls["b"].tool.input, seen.calls["b"].tool.input_hash) == ({}, "hash")
    assert seen.asked["c"].input == {}
