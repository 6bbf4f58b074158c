from __future__ import annotations

from typing import Any, get_args

import msgspec

from tests.core.builders import other, post, pre
from watchgate.core.dispatch.extensions.extension_hooks import (
    HOOK_OF,
    OUTPUT_LIMIT_BYTES,
    hook_params,
)
from watchgate.core.model.events import Event, Kind, SessionChange, Text, Tool, ToolResult

READ = Tool("fs:read", "fs_read", "mcp", {"path": "a.py"}, "")
NULLS: dict[str, Any] = {
    "tool_name": None,
    "tool_runtime_name": None,
    "tool_input": None,
    "tool_output": None,
    "message": None,
    "session_id": None,
    "transcript": None,
    "data": None,
}


def wire(event: Event) -> Any:
    return msgspec.json.decode(msgspec.json.encode(hook_params(event)))


def said(kind: Kind, body: Any) -> Any:
    return wire(msgspec.structs.replace(other(kind), body=body))


def test_a_tool_call_is_told_with_every_field_and_null_where_none_applies() -> None:
    assert msgspec.json.encode(hook_params(pre(READ))) == (
        b'{"kind":"before_tool_call","tool_name":"fs_read","tool_runtime_name":"fs:read",'
        b'"tool_input":{"path":"a.py"},"tool_output":null,"message":null,"session_id":null,'
        b'"transcript":null,"data":null}'
    )


def test_a_result_has_its_output_whether_it_went_well_or_not() -> None:
    for ok, kind in ((True, "tool.post"), (False, "tool.error")):
        body = ToolResult(READ, ok=ok, text="done")
        told = said(kind, body)  # type: ignore[arg-type]
        assert (told["kind"], told["tool_output"]) == ("after_tool_call", "done")
        assert told["tool_input"] == {"path": "a.py"}


def test_sy_17_a_larger_output_is_cut_at_a_character_and_marked_with_its_size() -> None:
    text = "x" + "ü" * OUTPUT_LIMIT_BYTES
    output = said("tool.post", ToolResult(READ, ok=True, text=text))["tool_output"]
    kept, mark, size = output.partition("... [cut, ")
    assert kept == "x" + "ü" * (OUTPUT_LIMIT_BYTES // 2 - 1)
    assert mark
    assert size == f"{len(text.encode())} bytes in total]"
    whole = "y" * OUTPUT_LIMIT_BYTES
    assert said("tool.post", ToolResult(READ, ok=True, text=whole))["tool_output"] == whole


def test_a_prompt_and_a_message_are_told_as_text() -> None:
    assert said("prompt.submit", Text("hi")) == {**NULLS, "kind": "before_message", "message": "hi"}
    told = said("message", Text("hi"))
    assert (told["kind"], told["message"]) == ("on_message_complete", "hi")
    assert told["data"] == {"content_block_count": None, "has_tool_use": None}


def test_a_compaction_names_the_session_and_its_cause() -> None:
    told = said("compact.post", SessionChange("auto", "the summary"))
    assert (told["message"], told["session_id"]) == ("the summary", "one")
    assert told["data"] == {
        "old_session_id": "one",
        "new_session_id": "one",
        "message_count": None,
        "source": "auto",
    }


def test_a_session_is_told_by_its_id() -> None:
    started = said("session.start", SessionChange("startup"))
    assert started == {**NULLS, "kind": "on_session_start", "session_id": "one"}
    assert said("session.end", SessionChange("exit"))["kind"] == "on_session_end"


def test_an_event_without_a_hook_is_not_told() -> None:
    for kind in set(get_args(Kind)) - set(HOOK_OF):
        assert hook_params(other(kind)) is None
    assert hook_params(post()) is not None
