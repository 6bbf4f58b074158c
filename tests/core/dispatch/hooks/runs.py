"""Runs of hook commands as they end, each with only what a test says about it."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.core.builders import pre
from watchgate.core.dispatch.hooks.hook_exchange import HookExit
from watchgate.core.dispatch.hooks.hook_protocols import PROTOCOLS
from watchgate.core.dispatch.presets import ProtocolName
from watchgate.core.model.events import Event, Tool, ToolCall
from watchgate.core.model.verdicts import Report, Verdict


def ended(
    stdout: str | bytes | dict[str, Any] = "",
    exit_code: int | None = 0,
    stderr: str | bytes = "",
    *,
    signal: str = "",
    stdout_size: int | None = None,
) -> HookExit:
    """One run; its outputs are complete unless a size says otherwise."""
    out = msgspec.json.encode(stdout) if isinstance(stdout, dict) else _bytes(stdout)
    err = _bytes(stderr)
    size = len(out) if stdout_size is None else stdout_size
    return HookExit(exit_code, signal, out, err, size, len(err))


def report(name: ProtocolName, run: HookExit, event: Event | None = None) -> Report:
    """What a run means under a protocol, for a shell call unless another event is given."""
    return PROTOCOLS[name].report(run, event or pre())


def verdict(name: ProtocolName, run: HookExit, event: Event | None = None) -> Verdict:
    """The verdict of that."""
    return report(name, run, event).verdict


def told(name: ProtocolName, event: Event) -> dict[str, Any]:
    """The JSON object that a command reads."""
    stdin = PROTOCOLS[name].exchange(event, "guard").stdin
    assert stdin is not None
    decoded = msgspec.json.decode(stdin)
    assert isinstance(decoded, dict)
    return decoded


def env(name: ProtocolName, event: Event) -> dict[str, str]:
    """The variables that a command gets from its protocol."""
    return PROTOCOLS[name].exchange(event, "guard").env


def calling(native_name: str, given: dict[str, Any], cls: Any = "other") -> Event:
    """A call of this tool with this input, about to run."""
    return pre(Tool(native_name, native_name, cls, given, "hash", "c1"))


def tool_call(event: Event) -> Tool:
    """The event's call."""
    assert isinstance(event.body, ToolCall)
    return event.body.tool


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text
