"""The part of a request's input that its summary does not show."""

from __future__ import annotations

import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.amounts import count
from watchgate.core.base.text import safe_text
from watchgate.core.model.events import Tool, ToolClass
from watchgate.core.model.records import RequestData
from watchgate.core.tools import tool_input
from watchgate.core.tools.summary import shown_text, summary, uncut_fields
from watchgate.ui.base.ascii_only import remembered, spelled
from watchgate.ui.base.formats import covered

_SHORT = 200


_SHOWN_FIELDS: dict[ToolClass, tuple[str, ...]] = {
    "fetch": ("url", "uri", "query"),
    "agent": ("description",),
    "plan": ("plan",),
}
"""The field of a tool's input that the text of its call may be."""


_SAYS_NOTHING = ("description", "timeout", "timeout_ms")
"""Fields that change nothing of a shell command; another tool may be given nothing else."""


class RemainingInput(msgspec.Struct, frozen=True):
    """The input that the shown text leaves out, in one line; `whole` when nothing is missing."""

    text: str
    whole: bool


def _fields_of_command(tool: Tool) -> frozenset[str]:
    """Returns the fields that the command shows whole; none that sets more than words."""
    if tool_input.command(tool) is None:
        return frozenset()
    given = {name: tool.input[name] for name in tool_input.COMMANDS & tool.input.keys()}
    words = {name: value if isinstance(value, list) else [value] for name, value in given.items()}
    return frozenset(
        name for name, each in words.items() if all(isinstance(word, str) for word in each)
    )


def _shown_fields(tool: Tool, shown: str) -> frozenset[str]:
    """Returns the fields of the input of which the shown text leaves nothing out.

    Words that only happen to stand in that text as well show nothing of their field.
    """
    given = {name: value for name, value in tool.input.items() if isinstance(value, str)}
    if tool.cls == "shell":
        idle = {name for name, value in given.items() if not value}
        return _fields_of_command(tool).union(idle, _SAYS_NOTHING)
    if tool.cls in ("edit", "read"):
        named = (*tool_input.PATH_KEYS, *(("pattern",) if tool.cls == "read" else ()))
        return frozenset(
            name for name, value in given.items() if not value or (name in named and value in shown)
        )
    if tool.cls in ("mcp", "other"):
        return uncut_fields(tool) if shown == summary(tool) else frozenset()
    own = _SHOWN_FIELDS.get(tool.cls, ())
    return frozenset(name for name in own if given.get(name) == shown)


@remembered(maxsize=32)
def _rest(raw: bytes, shown_fields: frozenset[str], bare: bool) -> RemainingInput:
    parts: list[str] = []
    whole = True
    for name, value in decoding.decode(raw, dict[str, msgspec.Raw]).items():
        text = bytes(value)
        if name in shown_fields:
            continue
        if len(text) > _SHORT:
            parts.append(f"{name}: {count(len(text))} bytes")
            whole = False
        else:
            parts.append(f"{name}={text.decode()}")
    line = "  ".join(parts)
    return RemainingInput(spelled(safe_text(line)) if bare else covered(line), whole)


def remaining_input(data: RequestData, *, bare: bool = False) -> RemainingInput:
    """Returns the rest of the tool's input."""
    if data.asks == "question":
        # Its questions are drawn from what was read of the input.
        return RemainingInput("", whole=True)
    shown = shown_text(data.tool, data.summary)
    return _rest(msgspec.json.encode(data.tool.input), _shown_fields(data.tool, shown), bare)
