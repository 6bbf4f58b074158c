"""The formats of other programs' event streams, told apart by the shape of a line alone.

SynapsCLI's extension protocol is a stream here: its JSON-RPC requests, one a line, only watched. An
extension that answers is `watchgate.synaps_extension`; its events come as hook frames.
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
    """Returns whether a line is a message of SynapsCLI's extension protocol."""
    return "jsonrpc" in fields


def read(fields: Fields, source: Source, at: Instant) -> list[Event]:
    """Returns the events of one message of SynapsCLI."""
    method, params = word(fields, "method"), table(fields, "params")
    source.session = name(params, "session_id") or source.session
    line = Heard(source, at, agent=AGENT, session=source.session)
    if method == "hook.handle":
        kind, body = meant(params)
        line.add(kind, word(params, "kind"), body)
    else:
        line.add_text("notice", method or "answer", rest(fields, ("jsonrpc", "method")))
    return line.events
