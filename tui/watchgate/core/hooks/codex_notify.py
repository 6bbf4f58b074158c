"""The codex fork's legacy `notify`: a program that gets its event as the last argument.

Other users of the machine can read arguments in the process list, so a protocol with its payload on
stdin is the better choice. Source of the form: codex `notify` (kebab-case JSON), whose one event is
`agent-turn-complete`; other kinds are sent under their own names.
"""

from __future__ import annotations

from typing import Final

import msgspec

from watchgate.core.events import Event
from watchgate.core.hooks.bodies import words
from watchgate.core.hooks.exchange import Exchange, Protocol
from watchgate.core.verdicts import Allow, Report

EVENTS: Final = {"turn.end": "agent-turn-complete"}
ARGUMENT_CAP_BYTES: Final = 64 << 10
"""Half of what Linux takes for one argument."""

MESSAGE_CAP_CHARS: Final = 32_000


def ask(event: Event, _handler_id: str) -> Exchange:
    """Builds the event as the last argument, and no stdin."""
    return Exchange(stdin=None, env={}, argv=(payload(event).decode(),))


def read(_stdout: str, _event: Event) -> Report:
    """Returns that the event may go on: nobody reads what such a program writes."""
    return Report(verdict=Allow())


def payload(event: Event) -> bytes:
    """Encodes the event as `notify` programs know it; cuts a long message until all of it fits."""
    text = words(event)[:MESSAGE_CAP_CHARS] if event.kind in EVENTS else ""
    encoded = _encode(event, text)
    while text and len(encoded) > ARGUMENT_CAP_BYTES:
        text = text[: len(text) // 2]
        encoded = _encode(event, text)
    return encoded


def _encode(event: Event, message: str) -> bytes:
    return msgspec.json.encode(
        {
            "type": EVENTS.get(event.kind, event.kind.replace(".", "-")),
            "thread-id": event.session,
            "turn-id": event.turn or "",
            "cwd": event.cwd,
            "client": event.agent,
            "input-messages": [],
            "last-assistant-message": message or None,
        }
    )


CODEX_NOTIFY: Final = Protocol(
    name="codex-notify",
    ask=ask,
    read=read,
    events=EVENTS,
    exits={"other": "proceed"},
    reads_output=False,
    stdout_cap_bytes=0,
    stderr_cap_bytes=0,
)
