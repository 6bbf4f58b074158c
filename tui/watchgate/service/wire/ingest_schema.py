"""The description of `ingest.sock` for its clients, as one JSON document.

The document is the JSON Schema of our own lines; `hookFrame` and `replies` beside it add what a
schema cannot express: header lines, the bytes after them, and the answers.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from watchgate.core.model.events import Lane
from watchgate.service.wire.framing import MAGIC, MAX_HEADER_BYTES, MAX_PAYLOAD_BYTES
from watchgate.service.wire.ingest_lines import ASKS, Line

_LANES = {
    Lane.GATE: "waits for a decision; silence, a fault and a dead core deny",
    Lane.GATE_READ: "as gate, for tools that only read; silence and faults hand back, but deny"
    " under the profile strict",
    Lane.RELAY: "waits for a decision where the agent asks a person by itself; silence hands back",
    Lane.OBSERVE: "nothing is answered; close when the frame is sent",
}
_HEADERS = (
    ("length", True, "bytes of payload after the blank line"),
    ("event", False, "the agent's own name of the event, where the payload does not say it"),
    ("deadline_ms", False, "how long you wait for the answer; the core decides before"),
    ("dropped", False, "bytes of a payload over the limit, sent without it: length is 0 then"),
    ("off", False, "1: the off switch was found in force, and nobody waits"),
    ("proxy", False, "1: the agent runs below you, not above you"),
    ("env.NAME", False, "a variable that names the terminal or the agent; never a secret"),
)
_EXAMPLE_PAYLOAD = (
    '{"hook_event_name":"PreToolUse","session_id":"s1","cwd":"/srv/app","tool_name":"Bash",'
    '"tool_input":{"command":"make deploy"}}'
)
_EXAMPLE_DENIAL = '{"decision":"deny"}'


class LineReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """The one line that answers a line with `ask`.

    `input` takes the place of the call's own, `context` is for the model.
    """

    id: str | int | None
    decision: Literal["allow", "deny", "handback"]
    reason: str = ""
    input: dict[str, Any] | None = None
    context: str = ""


def ingest_schema() -> dict[str, Any]:
    """Returns the document."""
    (line, reply), definitions = msgspec.json.schema_components(
        (Line, LineReply), ref_template="#/$defs/{name}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ingest.sock",
        "description": "A Unix stream socket in the runtime directory (`watchgate config path`),"
        " for processes of the same user. The first byte of a connection chooses its form:"
        " `{` begins JSON lines, of which this is the schema; anything else a hook frame.",
        **line,
        "replies": {
            "to": f"a line with `ask` and a kind of {' or '.join(ASKS)}; no other is answered",
            "form": "one JSON line, in the order in which they are decided: match them by `id`",
            "schema": reply,
        },
        "hookFrame": _hook_frame(),
        "limits": {
            "header_bytes": MAX_HEADER_BYTES,
            "payload_bytes": MAX_PAYLOAD_BYTES,
            "line_bytes": MAX_PAYLOAD_BYTES,
            "longer": "is dropped and leaves a record that says so; on the gate lane it is denied",
        },
        "$defs": definitions,
    }


def _hook_frame() -> dict[str, Any]:
    return {
        "description": "One question of an agent's hook, and its answer. Header lines of ASCII,"
        " each ended by one newline, a blank line, then the payload as the agent wrote it.",
        "firstLine": f"{MAGIC} AGENT LANE",
        "agent": "a name of `watchgate agent ls`",
        "lanes": {str(lane): meaning for lane, meaning in _LANES.items()},
        "headers": [
            {"name": name, "required": required, "line": f"{name}: VALUE", "value": value}
            for name, required, value in _HEADERS
        ],
        "answer": {
            "firstLine": "EXIT STDOUT_BYTES STDERR_BYTES",
            "description": "Three decimal numbers, a space between, and a newline; then so many"
            " bytes for stdout, then so many for stderr, then the end of the stream. Write them out"
            " as they are and exit with EXIT: they are in the agent's own words.",
            "example": f"2 {len(_EXAMPLE_DENIAL)} 9\n{_EXAMPLE_DENIAL}Not now.\n",
        },
        "rules": [
            "The lanes that wait keep the connection open both ways until the answer is there.",
            "Fewer bytes of payload than `length` are answered as a fault.",
            "To hang up after the payload withdraws the question.",
            "Deny by yourself on the gate without an answer in time, or with another than this.",
        ],
        "example": f"{MAGIC} claude gate\nlength: {len(_EXAMPLE_PAYLOAD)}\nevent: PreToolUse\n"
        f"deadline_ms: 60000\n\n{_EXAMPLE_PAYLOAD}",
    }
