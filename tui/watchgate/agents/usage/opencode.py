"""OpenCode's messages: what each answer of the model used, and what OpenCode says that it cost.

Wire format: the messages of OpenCode 1.18 as its database holds them (`message(id, session_id,
data)`), one line each `{"id", "session_id", "data"}`; and `storage/message/<session>/<id>.json` of
older versions, one object a file. A message is written again while it streams.
"""

from __future__ import annotations

import hashlib

import msgspec

from watchgate.agents.usage.base import FileFacts
from watchgate.agents.usage.opencode_messages import (
    MESSAGES,
    ROWS,
    Message,
    call_of,
    loose,
    loose_row,
)
from watchgate.agents.usage.reading import Reading, key_of, parts_of
from watchgate.agents.usage.typed_lines import typed_lines
from watchgate.core.ledger.call import UsageCall


class OpenCodeReader(Reading):
    """Reads the messages of one database, or the one message of a file.

    A fork of a session holds its messages once more under new ids and with the same times, so a
    call is named by when it was made, by which model, and by what it used.
    """

    def __init__(self, path: str) -> None:
        *folders, stem = parts_of(path)
        self._rows = not path.endswith(".json")
        session = "" if self._rows else (folders or [""])[-1]
        super().__init__(FileFacts(session=session))
        self._id = "" if self._rows else stem
        self._names: dict[str, str] = {}
        self._alike: dict[tuple[str, str], dict[str, int]] = {}
        self._copies: dict[str, dict[str, UsageCall]] = {}
        self._standing: dict[str, UsageCall] = {}
        self._facts: dict[str, FileFacts] = {}

    def read(self, chunk: bytes) -> None:
        """Takes some rows in, or the text of one message."""
        if not self._rows:
            # A line break in JSON is nothing but space, so that a file is one line as well.
            messages, bad = typed_lines(MESSAGES, chunk.replace(b"\n", b" "), loose)
            for each in messages:
                self._message(each, self._id, self.facts.session)
        else:
            rows, bad = typed_lines(ROWS, chunk, loose_row)
            for row in rows:
                self._message(row.data, row.id, row.session_id, row.parent_id or "")
        self.unreadable += bad

    def facts_of(self, session: str) -> FileFacts | None:
        """Returns the facts of one session from its messages."""
        return self._facts.get(session)

    def _message(self, message: Message, message_id: str, session: str, parent: str = "") -> None:
        message_id, session = message.id or message_id, message.session or session
        if message.role != "assistant" or message.tokens is None:
            return
        if not message_id or not session:
            self.unreadable += 1
            return
        call = call_of(message)
        if not call.tokens and not call.reported:
            return
        named = self._name(call, message_id, session)
        # A session of its own that another one began is that one's sub-agent.
        sub = session if parent else ""
        call = msgspec.structs.replace(
            call, id=named, request=named, session=parent or session, side=bool(sub), sub=sub
        )
        before = self._names.get(message_id, named)
        if before != named:
            self._copies[before].pop(message_id, None)
            self._settle(before)
        self._names[message_id] = named
        self._copies.setdefault(named, {})[message_id] = call
        self._settle(named)
        if not sub:
            self._context(message, call)

    def _settle(self, named: str) -> None:
        """Reports a call for the message that was first: ids of messages grow with the time."""
        copies, was = self._copies[named], self._standing.pop(named, None)
        call = copies[min(copies)] if copies else None
        if was is not None and (call is None or key_of(call) != key_of(was)):
            self.drop(was)
        if call is not None:
            self._standing[named] = call
            self.tell(call)

    def _name(self, call: UsageCall, message_id: str, session: str) -> str:
        """Returns one name for a message and its clones, others within one session."""
        figures = f"{call.at_us} {call.provider} {call.model} {call.input} {call.output}"
        figures += f" {call.cache_read} {call.cache_5m} {call.reasoning}"
        named = hashlib.blake2b(figures.encode(errors="replace"), digest_size=16).hexdigest()
        alike = self._alike.setdefault((session, named), {})
        place = alike.setdefault(message_id, len(alike))
        return f"{named}-{place}" if place else named

    def _context(self, message: Message, call: UsageCall) -> None:
        cwd = (message.path.cwd if message.path else None) or ""
        facts = self._facts.setdefault(call.session, FileFacts(session=call.session))
        if not self._rows:
            self.facts = facts
        facts.cwd = facts.cwd or cwd
        facts.context_used = call.tokens
