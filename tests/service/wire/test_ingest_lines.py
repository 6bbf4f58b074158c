from __future__ import annotations

import msgspec
import pytest

from watchgate.agents.streams.stream_source import Source
from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Event, Lane, ToolCall, ToolResult, Unknown, Usage
from watchgate.core.model.session_view import SessionView
from watchgate.core.model.sessions import SessionState
from watchgate.core.model.usage_records import Limit
from watchgate.core.model.verdicts import SayAllow, SayDeny, SayNothing
from watchgate.core.state.session_views import SessionViews
from watchgate.core.state.state import State
from watchgate.core.tools.tool_input import input_hash
from watchgate.service.wire.ingest_lines import decode_chunk, line_answer, session_ends

AT = Instant(1_000, 1.0)


def _line(**fields: object) -> bytes:
    return msgspec.json.encode({"watchgate": 1, "agent": "acp", "session": "s", **fields}) + b"\n"


def test_a_tool_call_and_its_result_become_events_of_one_call() -> None:
    chunk = _line(kind="tool.pre", tool="sh", tool_class="shell", input={"command": "ls"}) + _line(
        kind="tool.post", tool="sh", tool_class="shell", input={"command": "ls"}, took_ms=4
    )
    (call, _), (result, _) = decode_chunk(chunk, AT, Source("pid 7"))
    assert isinstance(call.body, ToolCall)
    assert isinstance(result.body, ToolResult)
    assert call.lane is Lane.OBSERVE
    assert call.body.tool.input_hash == result.body.tool.input_hash
    # The same digest as of any agent's call: what is edited or replayed is held against it.
    assert call.body.tool.input_hash == input_hash({"command": "ls"}, "shell")


@pytest.mark.parametrize("edits", [True, False])
def test_a_call_is_edited_only_for_who_says_that_it_runs_the_edited_input(edits: bool) -> None:
    asks = _line(kind="tool.pre", tool="sh", input={}, ask=True, id=4, edits=edits)
    ((event, _),) = decode_chunk(asks, AT, Source("pid 7"))
    assert event.can.modify is edits


def test_only_a_request_waits_for_an_answer() -> None:
    chunk = _line(kind="tool.pre", tool="sh", input={}, ask=True, id=4, deadline_s=9.0)
    ((event, line),) = decode_chunk(chunk, AT, Source("pid 7"))
    assert event.lane is Lane.GATE
    assert event.deadline_s == 9.0
    assert event.can.allow
    assert line is not None
    assert line.id == 4


def test_names_that_are_kept_for_long_are_bounded() -> None:
    for field in ("agent", "session", "tool", "call_id", "cwd"):
        fields = {"kind": "tool.pre", "ask": True, "id": 4, field: "x" * 10_000}
        ((event, line),) = decode_chunk(_line(**fields), AT, Source("pid 7"))
        assert isinstance(event.body, Unknown)
        assert line is not None
        assert line.id == 4, "it is answered closed"


def test_usage_is_taken_as_reported() -> None:
    chunk = _line(kind="usage", usage={"type": "usage", "total_cost_usd": 0.25})
    ((event, _),) = decode_chunk(chunk, AT, Source("pid 7"))
    assert event.body == Usage(total_cost_usd=0.25)


def test_usage_may_be_a_sum_that_nobody_splits_and_tell_limits() -> None:
    limits = [{"name": "five_hour", "used_percent": 42, "resets_at": 5_000_000}]
    chunk = _line(kind="usage", usage={"type": "usage", "total": 900, "limits": limits})
    ((event, _),) = decode_chunk(chunk, AT, Source("pid 7"))
    limit = Limit(name="five_hour", used_percent=42, resets_at=5_000_000)
    assert event.body == Usage(total=900, limits=(limit,))


def test_a_line_of_another_shape_is_kept_raw_and_its_neighbours_are_decoded() -> None:
    chunk = _line(kind="prompt.submit", text="a") + b'{"at":1,"event":{}}\n\n{"torn'
    kinds = [event.kind for event, _ in decode_chunk(chunk, AT, Source("pid 7"))]
    assert kinds == ["prompt.submit", "unknown", "unknown"]
    raw = decode_chunk(chunk, AT, Source("pid 7"))[1][0]
    assert raw.session == "pid 7"
    assert isinstance(raw.body, Unknown)
    assert raw.body.text == '{"at":1,"event":{}}'


def test_replies_name_the_request() -> None:
    assert msgspec.json.decode(line_answer(4, SayAllow()).stdout) == {"id": 4, "decision": "allow"}
    assert msgspec.json.decode(line_answer("x", SayDeny("no")).stdout) == {
        "id": "x",
        "decision": "deny",
        "reason": "no",
    }
    assert msgspec.json.decode(line_answer(1, SayNothing()).stdout)["decision"] == "handback"


CODEX = b'{"type":"thread.started","thread_id":"t1"}\n'
WHALE = b'{"at":"2026-05-31T11:19:28+00:00","event":{"type":"response_end","response_id":"r"}}\n'


def decoded(chunk: bytes, source: Source | None = None) -> list[Event]:
    return [event for event, _ in decode_chunk(chunk, AT, source or Source("pid 7"))]


def test_lines_of_several_programs_are_read_side_by_side() -> None:
    source = Source("pid 7 at 10:00:00", pid=7)
    events = decoded(CODEX + _line(kind="prompt.submit", text="a") + WHALE, source)
    assert [(event.agent, event.kind) for event in events] == [
        ("codex", "session.start"),
        ("acp", "prompt.submit"),
        ("codewhale", "model.response"),
    ]


def test_a_line_without_a_session_is_told_of_as_a_guess_the_first_time_only() -> None:
    source = Source("pid 7 at 10:00:00", pid=7)
    first, second = decoded(WHALE, source), decoded(WHALE, source)
    assert [event.native for event in first] == ["session.guessed", "response_end"]
    assert [event.native for event in second] == ["response_end"]
    assert {event.session for event in first + second} == {"pid 7 at 10:00:00"}


def test_what_is_no_json_in_a_tapped_stream_is_that_agents() -> None:
    source = Source("pid 7")
    assert decoded(b'{"watchgate":1,"tap":"codex"}\n', source) == []
    (event,) = decoded(b"Reading prompt from stdin...\n", source)
    assert (event.kind, event.agent, event.session) == ("unknown", "codex", "pid 7")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"type":"thread.started","thread_id":"' + b"x" * 600 + b'"}', "over 512 characters"),
        (
            b'{"type":"item.started","item":{"id":"i","type":"mcp_tool_call","arguments":'
            + b'{"a":' * 300
            + b"1"
            + b"}" * 300
            + b"}}",
            "nested over",
        ),
        (b'{"type":"turn.started"', "truncated"),
    ],
)
def test_a_line_that_breaks_its_format_is_kept_raw_with_the_reason(line: bytes, why: str) -> None:
    (event,) = decoded(line)
    assert isinstance(event.body, Unknown)
    assert why in event.body.why


def test_our_own_lines_are_ours_in_any_order_of_their_keys() -> None:
    line = b'{"kind":"message","agent":"acp","session":"s","text":"hi","watchgate":1}\n'
    assert [event.kind for event in decoded(line)] == ["message"]


RUN = b'{"type":"thread.started","thread_id":"t1"}\n{"type":"turn.started"}\n'


def over(*said: bytes, state: State) -> list[tuple[str | None, str, object]]:
    """What is taken to be over when this stream has ended, of sessions that a core knows so."""
    source = Source("pid 7")
    for chunk in said:
        list(decode_chunk(chunk, AT, source))
    return [
        (draft.session, draft.kind, draft.data.state) for draft in session_ends(source, state, AT)
    ]


def knowing(session: str, state: SessionState) -> State:
    known = State(max_rows=1)
    view = SessionView(agent="codex", session=session, label="app", state=state)
    known.session_views = SessionViews([view])
    return known


def test_a_run_that_was_tapped_is_over_with_its_stream_though_no_line_said_so() -> None:
    tapped = b'{"watchgate":1,"tap":"codex"}\n'
    working = knowing("t1", SessionState.WORKING)
    assert over(tapped, RUN, state=working) == [("t1", "policy.inferred", "gone")]
    assert over(tapped, RUN, state=knowing("t1", SessionState.GONE)) == [], "it said so itself"
    assert over(RUN, state=working) == [], "whoever sends lines may go on in another connection"
