"""Which events belong to one tool call: ids where agents give them, else a multiset.

Agents leave the call id out of their permission events and add descriptions to one of the two, so
events without an id are matched by session, sub-agent, tool and the hash of what will run;
among equal calls, one that was let go explains the event better than one that waits or was denied.
A decision binds to its call: whatever else asks about exactly that call is told the same, until the
call or the turn ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from watchgate.core.events import Event, Tool
from watchgate.core.summary import summary
from watchgate.core.verdicts import Reply

OPEN_KEPT = 2_000
SESSIONS_KEPT = 2_000
SUMMARY_CHARS = 500

Decided = Literal["allow", "deny", "handback"]


class Carried(msgspec.Struct, frozen=True):
    """An operator's decision on a call, for the lane that has not asked yet."""

    request: str
    reply: Reply


class Call(msgspec.Struct, kw_only=True, gc=False):
    """One tool call that has begun and not ended, as far as events tell.

    `asked` says that its permission event came, `request` names the newest request about it,
    `heard` counts the hearings whose outcome a client waits for, `over` says that the agent is past
    it. Of the tool's input only the hash and a short summary (empty when it is long) are kept: an
    input may be megabytes, and calls may never end.
    """

    ref: str
    agent: str
    session: str
    sub: str | None
    cwd: str
    tool: Tool
    summary: str = ""
    asked: bool = False
    heard: int = 0
    over: bool = False
    request: str | None = None
    decided: Decided | None = None
    carried: Carried | None = None


class Calls:
    """The open calls of every session."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], dict[str, Call]] = {}
        self._made = 0

    def begin(self, event: Event, tool: Tool) -> Call:
        """The call that this event opens, or the open one whose next lane it is."""
        mine = self._open.setdefault((event.agent, event.session), {})
        asks = event.kind in ("tool.permission", "question")
        known = mine.get(tool.call_id) if tool.call_id else None
        if known is not None and not (known.cwd == event.cwd and _same(known, event, tool)):
            known = None  # rewritten since: whatever was decided was about another call (AP-13)
        elif known is None and asks:
            known = _likeliest(
                (
                    call
                    for call in mine.values()
                    if not call.asked and call.cwd == event.cwd and _fits(call, event, tool)
                ),
                _asks_rank,
            )
        if known is not None:
            known.asked = known.asked or asks
            return known
        if tool.call_id is None:
            self._made += 1
        call = Call(
            ref=tool.call_id or f"~{self._made}",
            agent=event.agent,
            session=event.session,
            sub=event.sub_id,
            cwd=event.cwd,
            tool=msgspec.structs.replace(tool, input={}),
            asked=asks,
        )
        mine[call.ref] = call
        if len(mine) > OPEN_KEPT:
            del mine[next(iter(mine))]
        if len(self._open) > SESSIONS_KEPT:
            del self._open[next(iter(self._open))]
        return call

    def end(self, event: Event, tool: Tool) -> Call | None:
        """The open call that this event ends, no longer open; None when none was seen to begin."""
        mine = self._open.get((event.agent, event.session), {})
        call = mine.get(tool.call_id) if tool.call_id else None
        if call is None:
            call = _likeliest((c for c in mine.values() if _fits(c, event, tool)), _ran_rank)
        if call is not None:
            self.drop(call)
        return call

    def of(self, agent: str, session: str) -> list[Call]:
        """The open calls of a session, the oldest first."""
        return list(self._open.get((agent, session), {}).values())

    def get(self, event: Event, ref: str) -> Call | None:
        """The open call with this reference in the event's session."""
        return self._open.get((event.agent, event.session), {}).get(ref)

    def drop(self, call: Call) -> None:
        """Forget a call that is over."""
        call.over = True
        mine = self._open[call.agent, call.session]
        del mine[call.ref]
        if not mine:
            del self._open[call.agent, call.session]


def summarized(call: Call | None, event: Event, tool: Tool) -> str:
    """The line that stands for the tool call of this event, made once while the call is open."""
    known = call is not None and call.cwd == event.cwd and call.tool.input_hash == tool.input_hash
    if call is None or not known:
        return summary(tool, event.cwd)
    if call.summary:
        return call.summary
    line = summary(tool, event.cwd)
    if len(line) <= SUMMARY_CHARS:
        call.summary = line
    return line


def _same(call: Call, event: Event, tool: Tool) -> bool:
    """Whether the call is about exactly what this event is about."""
    return (
        call.sub == event.sub_id
        and call.tool.cls == tool.cls
        and call.tool.native_name == tool.native_name
        and call.tool.input_hash == tool.input_hash
    )


def _fits(call: Call, event: Event, tool: Tool) -> bool:
    """Whether the event can belong to the call: equal, and not told apart by an id."""
    apart = None not in (call.tool.call_id, tool.call_id) and call.tool.call_id != tool.call_id
    return _same(call, event, tool) and not apart


def _likeliest(calls: Iterable[Call], rank: Callable[[Call], int]) -> Call | None:
    """The equal call that an event without an id most likely belongs to, the newest of its rank."""
    return min(reversed(list(calls)), key=rank, default=None)


def _ran_rank(call: Call) -> int:
    """Allowed calls run first, then those handed back; one whose gate still waits cannot have."""
    if call.decided is None:
        return 2 if call.asked else 4
    return {"allow": 0, "handback": 1, "deny": 3}[call.decided]


def _asks_rank(call: Call) -> int:
    """An agent asks for a call that was handed to it rather than for one that it may run.

    So what was allowed for one call never answers for its twin.
    """
    return -1 if call.decided == "handback" else _ran_rank(call)
