"""Messages are stored as rows or files, and one of a model is a call."""

from __future__ import annotations

from decimal import Decimal, DecimalException
from typing import Annotated, Any, Final

import msgspec

from watchgate.agents.usage.reading import millis, picked
from watchgate.agents.usage.typed_lines import Count, Unusable, text_of
from watchgate.core import decoding
from watchgate.core.ledger.call import PICO, UsageCall

MAX_USD: Final = 1_000_000

_Millis = Annotated[float, msgspec.Meta(ge=0, le=1e14)]


class _Cache(msgspec.Struct, gc=False):
    read: Count | None = None
    write: Count | None = None


class _Tokens(msgspec.Struct):
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


class _Time(msgspec.Struct, gc=False):
    created: _Millis | None = None


class _Path(msgspec.Struct, gc=False):
    cwd: str | None = None


class Message(msgspec.Struct):
    """One message of a session; those of a model tell tokens, in files also their own ids."""

    id: str | None = None
    session: str | None = msgspec.field(default=None, name="sessionID")
    role: str | None = None
    parent: str | None = msgspec.field(default=None, name="parentID")
    model: str | None = msgspec.field(default=None, name="modelID")
    provider: str | None = msgspec.field(default=None, name="providerID")
    time: _Time | None = None
    path: _Path | None = None
    cost: Decimal | None = None
    tokens: _Tokens | None = None


class Row(msgspec.Struct):
    """One row of the database; `parent_id` is the session that began its session."""

    id: str
    session_id: str
    data: Message
    parent_id: str | None = None


MESSAGES = decoding.decoder(Message)
ROWS = decoding.decoder(Row)
_NEEDED = ("id", "sessionID", "role", "modelID", "providerID", "time", "tokens")


def loose(value: Any) -> Message | None:
    """Returns a message of another shape, with what matters of it."""
    if not isinstance(value, dict) or value.get("tokens") is None:
        return None
    try:
        return decoding.convert(picked(value, *_NEEDED), Message)
    except msgspec.ValidationError as fault:
        raise Unusable(str(fault)) from fault


def loose_row(value: Any) -> Row | None:
    """Returns a row with such a message."""
    message = loose(value.get("data")) if isinstance(value, dict) else None
    if message is None:
        return None
    named = [text_of(value.get(key)) for key in ("id", "session_id", "parent_id")]
    return Row(id=named[0], session_id=named[1], data=message, parent_id=named[2])


def call_of(message: Message) -> UsageCall:
    """Returns the use and cost of a message; its session and id are left to the reader."""
    tokens = message.tokens or _Tokens()
    cache, time = tokens.cache or _Cache(), message.time or _Time()
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
