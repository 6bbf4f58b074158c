"""OpenCode's tools, and the call that a permission or a question of OpenCode is about."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.agents.hooks.tools import describe
from watchgate.agents.opencode.payload import Fields, Known, Payload, mapping, string
from watchgate.core.events import Choice, Question, Tool, ToolClass

CLASSES: Final[dict[str, ToolClass]] = {
    "bash": "shell",
    "read": "read",
    "grep": "read",
    "glob": "read",
    "list": "read",
    "lsp": "read",
    "write": "edit",
    "edit": "edit",
    "multiedit": "edit",
    "patch": "edit",
    "apply_patch": "edit",
    "webfetch": "fetch",
    "websearch": "fetch",
    "codesearch": "fetch",
    "task": "agent",
    "question": "question",
}
"""MCP tools go by `<server>_<tool>`, which nothing tells from a plugin's own: they are `other`."""

NAMES: Final = {
    "bash": "Bash",
    "read": "Read",
    "grep": "Grep",
    "glob": "Glob",
    "list": "LS",
    "write": "Write",
    "edit": "Edit",
    "multiedit": "MultiEdit",
    "patch": "Edit",
    "apply_patch": "Edit",
    "webfetch": "WebFetch",
    "websearch": "WebSearch",
    "task": "Task",
}
READS: Final = tuple(name for name, cls in CLASSES.items() if cls == "read")
QUESTION: Final = "question"


def tool(name: str, args: Fields, call_id: str) -> Tool:
    """Returns the canonical tool of a call, by the name that every rule knows it by."""
    described = describe(name, dict(args), call_id or None, CLASSES)
    shown = NAMES.get(name)
    return described if shown is None else msgspec.structs.replace(described, name=shown)


def asked(payload: Payload) -> Tool:
    """Returns the call that `permission.asked` is about.

    The event itself gives only what OpenCode shows: a command, or a diff. Where a forwarder knows
    the call, its own input stands, so that both lanes of the call are about the same thing.
    """
    props, known = payload.properties, payload.known
    call_id = string(mapping(props.get("tool")), "callID")
    if known.tool and known.input is not None:
        return tool(known.tool, known.input, call_id)
    name, args = string(props, "permission"), dict(mapping(props.get("metadata")))
    patterns = [each for each in _list(props.get("patterns")) if isinstance(each, str)]
    if name == "bash" and "command" not in args and patterns:
        # One for each command of the line: what is judged must be all of them.
        args["command"] = "\n".join(patterns)
    if name not in CLASSES and isinstance(args.get("command"), str):
        # A command that would leave the project asks under another name.
        name = "bash"
    return tool(name or "permission", args or {"patterns": patterns}, call_id)


def resolved(known: Known) -> Tool | None:
    """Returns the call that a forwarder says was allowed or refused, where it knows which one."""
    if not known.tool or known.input is None:
        return None
    return tool(known.tool, known.input, known.call_id)


def question(payload: Payload) -> tuple[Tool, tuple[Question, ...]]:
    """Returns the call of the question tool, and what it asks a person."""
    props = payload.properties
    listed = _list(props.get("questions"))
    call_id = string(mapping(props.get("tool")), "callID")
    asks = tuple(_question(each) for each in listed if isinstance(each, dict))
    return tool(QUESTION, {"questions": listed}, call_id), asks


def _question(fields: Fields) -> Question:
    return Question(
        text=string(fields, "question"),
        header=string(fields, "header"),
        choices=tuple(
            Choice(label=string(each, "label"), description=string(each, "description"))
            for each in _list(fields.get("options"))
            if isinstance(each, dict) and string(each, "label")
        ),
        multiple=fields.get("multiple") is True,
        free_text=fields.get("custom") is not False,
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
