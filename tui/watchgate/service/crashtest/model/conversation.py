"""The scripted model's side of a conversation, whatever wire the agent speaks.

The model keeps no state: how far a script has been played is read from the history that the agent
sends along with every request.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import msgspec

Json = dict[str, Any]

MARKER = "scripted work"
PROMPT = f"Please do the {MARKER}."
FINAL_TEXT = "Finished: the script is over."

DESCRIBED: Json = {"description": "a scripted command"}
SHELLS: dict[str, tuple[str, Json]] = {
    "Bash": ("command", {}),
    "bash": ("command", DESCRIBED),
    "run_shell_command": ("command", {**DESCRIBED, "is_background": False}),
    "exec_command": ("cmd", {}),
    "shell_command": ("command", {}),
}
"""The tools that run a shell command line: the argument that carries it, and others they need."""


class Shell(msgspec.Struct, frozen=True):
    """Runs a command line with whichever shell tool the agent offers."""

    command: str
    extra: Json = {}


class ToolUse(msgspec.Struct, frozen=True):
    """Calls a tool by the agent's own name for it."""

    tool: str
    arguments: Json


class Turn(msgspec.Struct, frozen=True):
    """One answer of the model: a text, and tool calls if any."""

    text: str
    calls: tuple[Shell | ToolUse, ...] = ()


ModelScript = tuple[Turn, ...]


class WireResult(msgspec.Struct, frozen=True):
    """The result of one call, as the agent reports it to the model."""

    call_id: str
    text: str


class ModelMessage(msgspec.Struct, frozen=True):
    """An earlier answer of the model, as the agent repeats it."""

    text: str
    calls: int


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """One model request: the messages so far, and the tools offered with their JSON schemas."""

    model: str
    stream: bool
    tools: dict[str, Json]
    replies: tuple[ModelMessage, ...]
    asked: tuple[str, ...]
    results: tuple[WireResult, ...]

    @property
    def scripted(self) -> bool:
        """Returns whether this is the session itself; agents also ask for titles and summaries."""
        return bool(self.tools) and any(MARKER in text for text in self.asked)


class WireCall(msgspec.Struct, frozen=True):
    """A tool call ready for the wire."""

    id: str
    tool: str
    arguments: Json


class Reply(msgspec.Struct, frozen=True):
    """The model's answer to one request."""

    text: str
    calls: tuple[WireCall, ...] = ()


def next_reply(script: ModelScript, conversation: Conversation) -> Reply:
    """Returns the script's next turn, or its end; "ok" where it is not the session itself."""
    if not conversation.scripted:
        return Reply("ok")
    texts = {turn.text for turn in script}
    played = sum(1 for reply in conversation.replies if reply.calls or reply.text.strip() in texts)
    if played >= len(script):
        return Reply(FINAL_TEXT)
    turn = script[played]
    calls = tuple(
        WireCall(f"{played:02d}_{number}", *_concrete(call, conversation.tools))
        for number, call in enumerate(turn.calls)
    )
    return Reply(turn.text, calls)


def _concrete(call: Shell | ToolUse, tools: Container[str]) -> tuple[str, Json]:
    if isinstance(call, ToolUse):
        return call.tool, call.arguments
    for tool, (argument, others) in SHELLS.items():
        if tool in tools:
            return tool, {argument: call.command, **others, **call.extra}
    raise LookupError(f"the agent offers no shell tool, only {tools}")


def plain_text(content: object) -> str:
    """Returns the text in a message's content, which is a string, a block or a list of blocks."""
    match content:
        case str():
            return content
        case list():
            return "\n".join(plain_text(part) for part in content)
        case {"text": inner} | {"content": inner} | {"output": inner}:
            return plain_text(inner)
    return ""
