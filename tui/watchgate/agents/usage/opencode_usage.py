"""OpenCode's messages: what each answer of the model used, and what OpenCode says that it cost.

Wire format: the messages of OpenCode 1.18 as its database holds them (`message(id, session_id,
data)`), one line each `{"id", "session_id", "data"}`; and `storage/message/<session>/<id>.json` of
older versions, one object a file. A message is written again while it streams.

Messages are stored as rows or files, and one of a model is a call.
"""

from __future__ import annotations

import hashlib
from decimal import Decimal, DecimalException
from typing import Annotated, Any, Final

import msgspec

from watchgate.agents.usage import FileFacts
from watchgate.agents.usage.reader_base import (
    CallBuffer,
    Count,
    Unusable,
    key_of,
    millis,
    parts_of,
    picked,
    text_of,
)
from watchgate.core.base import decoding
from watchgate.core.usage.usage_calls import PICO, UsageCall

MAX_USD: Final = 1_000_000

_Millis = Annotated[float, msgspec.Meta(ge=0, le=1e14)]


class _Cache(msgspec.Struct, gc=False):
    read: Count | None = None
    write: Count | None = None


class _StoredTokens(msgspec.Struct):
    """Counts: `input` excludes cached tokens; only old versions have `reasoning` in `output`."""

    input: Count | None = None
    output: Count | None = None
    reasoning: Count | None = None
    cache: _Cache | None = None
    total: Count | None = None

    @property
    def written(self) -> int:
        """All that the model wrote, with its reasoning once."""
        output, reasoning = self.output or 0, self.reasoning or 0
        cache = self.cache or _Cache()
        others = (self.input or 0) + (cache.read or 0) + (cache.write or 0)
        within = reasoning <= output and self.total == others + output
        return output if within else output + reasoning


class _StoredTime(msgspec.Struct, gc=False):
    created: _Millis | None = None


class _Path(msgspec.Struct, gc=False):
    cwd: str | None = None


class StoredMessage(msgspec.Struct):
    """One message of a session; those of a model tell tokens, in files also their own ids."""

    id: str | None = None
    session: str | None = msgspec.field(default=None, name="sessionID")
    role: str | None = None
    parent: str | None = msgspec.field(default=None, name="parentID")
    model: str | None = msgspec.field(default=None, name="modelID")
    provider: str | None = msgspec.field(default=None, name="providerID")
    time: _StoredTime | None = None
    path: _Path | None = None
    cost: Decimal | None = None
    tokens: _StoredTokens | None = None


class MessageRow(msgspec.Struct):
    """One row of the database; `parent_id` is the session that began its session."""

    id: str
    session_id: str
    data: StoredMessage
    parent_id: str | None = None


MESSAGES = decoding.decoder(StoredMessage)
ROWS = decoding.decoder(MessageRow)
_NEEDED = ("id", "sessionID", "role", "modelID", "providerID", "time", "tokens")


def loose_message(value: Any) -> StoredMessage | None:
    """Returns a message of another shape, with what matters of it."""
    if not isinstance(value, dict) or value.get("tokens") is None:
        return None
    try:
        return decoding.convert(picked(value, *_NEEDED), StoredMessage)
    except msgspec.ValidationError as fault:
        raise Unusable(str(fault)) from fault


def loose_row(value: Any) -> MessageRow | None:
    """Returns a row with such a message."""
    message = loose_message(value.get("data")) if isinstance(value, dict) else None
    if message is None:
        return None
    named = [text_of(value.get(key)) for key in ("id", "session_id", "parent_id")]
    return MessageRow(id=named[0], session_id=named[1], data=message, parent_id=named[2])


def call_of(message: StoredMessage) -> UsageCall:
    """Returns the use and cost of a message; its session and id are left to the reader."""
    tokens = message.tokens or _StoredTokens()
    cache, time = tokens.cache or _Cache(), message.time or _StoredTime()
    written = tokens.written
    return UsageCall(
        id="",
        at_us=millis(time.created) or 0,
        session="",
        model=message.model or "",
        input=tokens.input or 0,
        output=written,
        cache_read=cache.read or 0,
        cache_5m=cache.write or 0,
        reasoning=min(tokens.reasoning or 0, written),
        provider=message.provider or "",
        reported=_pico(message.cost),
        turn=message.parent or "",
    )


def _pico(usd: Decimal | None) -> int | None:
    """Returns the cost in pico-dollars, exactly as it is written.

    None for 0, which is also what OpenCode writes under a subscription and where it has no price.
    """
    try:
        if usd is None or not 0 < usd <= MAX_USD:
            return None
        return round(usd * PICO)
    except DecimalException:
        return None


class OpenCodeReader(CallBuffer):
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
            for each in self.typed(MESSAGES, chunk.replace(b"\n", b" "), loose_message):
                self._message(each, self._id, self.facts.session)
        else:
            for row in self.typed(ROWS, chunk, loose_row):
                self._message(row.data, row.id, row.session_id, row.parent_id or "")

    def facts_of(self, session: str) -> FileFacts | None:
        """Returns the facts of one session from its messages."""
        return self._facts.get(session)

    def _message(
        self, message: StoredMessage, message_id: str, session: str, parent: str = ""
    ) -> None:
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

    def _context(self, message: StoredMessage, call: UsageCall) -> None:
        cwd = (message.path.cwd if message.path else None) or ""
        facts = self._facts.setdefault(call.session, FileFacts(session=call.session))
        if not self._rows:
            self.facts = facts
        facts.cwd = facts.cwd or cwd
        facts.context_used = call.tokens
