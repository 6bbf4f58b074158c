"""SynapsCLI's extension protocol as a stream: its JSON-RPC requests, one a line, only watched.

An extension that answers is `watchgate.synaps_extension`; its events come as hook frames.
"""

from __future__ import annotations

from typing import Final

from watchgate.agents.streams.fields import Fields, name, rest, table, word
from watchgate.agents.streams.heard import Heard
from watchgate.agents.streams.source import Source
from watchgate.agents.synaps import NAME, meant
from watchgate.core.clock import Instant
from watchgate.core.events import Event

AGENT: Final = NAME


def fits(fields: Fields) -> bool:
    """Whether a line is a message of that protocol."""
    return "jsonrpc" in fields


def read(fields: Fields, source: Source, at: Instant) -> list[Event]:
    """The events of one line."""
    method, params = word(fields, "method"), table(fields, "params")
    source.session = name(params, "session_id") or source.session
    heard = Heard(source, at, agent=AGENT, session=source.session)
    if method == "hook.handle":
        kind, body = meant(params)
        heard.say(kind, word(params, "kind"), body)
    else:
        heard.words("notice", method or "answer", rest(fields, ("jsonrpc", "method")))
    return heard.events
