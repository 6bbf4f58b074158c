"""sandbox-agent's lifecycle hooks: no stdin, the event in variables, only the exit code counts.

Source of the wire format: rivet-dev/sandbox-agent, pull request 45. A message that no variable can
carry is left out there by a failing start; here `SANDBOX_MESSAGE_OMITTED` says why it is missing.
"""

from __future__ import annotations

from typing import Final

from watchgate.core.dispatch.hooks.hook_exchange import HookInput, HookProtocol
from watchgate.core.dispatch.hooks.hook_texts import environment, event_text
from watchgate.core.model.events import Event
from watchgate.core.model.verdicts import Defer, Report

EVENTS: Final = {
    "session.start": "session_start",
    "session.end": "session_end",
    "prompt.submit": "message_start",
    "turn.end": "message_end",
}
MESSAGE_BYTES: Final = 8_192


def ask(event: Event, _handler_id: str) -> HookInput:
    """Builds the session's names, and at the start of a message its text."""
    hook_type = EVENTS.get(event.kind, event.kind.replace(".", "_"))
    return HookInput(
        None,
        environment(
            {
                "SANDBOX_SESSION_ID": event.session,
                "SANDBOX_AGENT": event.agent,
                "SANDBOX_AGENT_MODE": event.mode or "",
                "SANDBOX_HOOK_TYPE": hook_type,
                "SANDBOX_MESSAGE": event_text(event) if hook_type == "message_start" else None,
            },
            MESSAGE_BYTES,
        ),
    )


def read(_stdout: str, _event: Event) -> Report:
    """Returns no opinion: these hooks do not answer."""
    return Report(verdict=Defer())


SANDBOX_ENV: Final = HookProtocol(
    name="sandbox-env",
    ask=ask,
    read=read,
    events=EVENTS,
    exits={0: "pass", "other": "fail"},
    stdout_cap_bytes=64 * 1024,
    stderr_cap_bytes=64 * 1024,
)
