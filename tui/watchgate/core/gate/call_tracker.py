"""The open tool calls, and the events that belong to each: by ids where agents give them.

Agents leave the call id out of their permission events, send two gate events of different names
for one call, and some give no id at all. So an event without an id that is known is matched by
session, sub-agent, tool and the hash of what will run, to a call that had no event of its name yet;
among equal calls, one that was let go explains the event better than one that waits or was denied.
A decision binds to its call: whatever else asks about exactly that call gets the same answer, until
the call or the turn ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from watchgate.core.base.bounded import Recent
from watchgate.core.model.events import Event, Lane, Tool
from watchgate.core.model.verdicts import Reply
from watchgate.core.tools.summary import summary
from watchgate.core.tools.tool_input import command

OPEN_CALLS_MAX = 2_000
CALL_SESSIONS_MAX = 2_000
ENDED_CALLS_MAX = 32
ALL_ENDED_CALLS_MAX = 2_000
"""Over all sessions: a late event of a stream or a hook comes soon after its call's end."""
SUMMARY_CHARS = 500

Decided = Literal["allow", "deny", "handback"]
Id = tuple[str, str]
"""The name of a numbering, empty for that of hooks, and the agent's id of a call in it."""


def ref_of(event: Event, tool: Tool, call: TrackedCall | None) -> str:
    """Returns the name of a call in records; a result may be the only event of a call."""
    return (call.ref if call is not None else tool.call_id) or f"~{event.at.wall_us}"


class CarriedDecision(msgspec.Struct, frozen=True):
    """An operator's decision on a call, for the lane that has not asked yet."""

    request: str
    reply: Reply


class TrackedCall(msgspec.Struct, kw_only=True, gc=False):
    """One tool call that has begun and not ended, as far as events report it.

    `natives` are the agent's names of the events that reported it, `ids` the ids that they gave it;
    `asked` says that one was its permission event, `waited` that the agent waited for an answer on
    one, `gated` that this was on a gate, `left` that it went away before the answer, and
    `handed_on` that it asks on its relay what a gate had answered. `request` names the newest
    request about it, `open_dispatches` counts the dispatches whose outcome a client waits for,
    `over` says that the agent is past it, `ran` that it reported a result, and `changed` is the
    word for the input that was allowed in place of its own (edited, rewritten). Of the tool's input
    only the hash and a short summary (empty when it is long) are held: an input may be megabytes,
    and calls may never end; and in `patches`, whether it is a shell command with a patch in it,
    which a stream reports as an edit.
    """

    ref: str
    agent: str
    session: str
    sub: str | None
    cwd: str
    tool: Tool
    natives: tuple[str, ...] = ()
    ids: tuple[Id, ...] = ()
    summary: str = ""
    asked: bool = False
    waited: bool = False
    gated: bool = False
    left: bool = False
    handed_on: bool = False
    open_dispatches: int = 0
    over: bool = False
    ran: bool = False
    patches: bool = False
    changed: str = ""
    request: str | None = None
    decided: Decided | None = None
    carried: CarriedDecision | None = None

    @property
    def passed(self) -> bool:
        """Returns whether a gate answered before the agent went on."""
        answered = self.decided is not None or self.handed_on
        return self.gated and answered and not self.left


class _SessionCalls:
    """The open calls of one session: by reference, by an id, and by the hash of their input.

    An id is held after the end of its call until its own numbering has reported that end.
    `all_ended` are the calls of every session that ended last, each with its session.
    """

    def __init__(self, all_ended: deque[tuple[_SessionCalls, TrackedCall]]) -> None:
        self.open: dict[str, TrackedCall] = {}
        self.ids: Recent[Id, TrackedCall] = Recent(2 * OPEN_CALLS_MAX)
        self.equal: dict[str, list[TrackedCall]] = {}
        self.ended: deque[TrackedCall] = deque(maxlen=ENDED_CALLS_MAX)
        self._all_ended = all_ended

    def name(self, call: TrackedCall, key: Id) -> None:
        """Adds an id by which the call is known from now on."""
        call.ids = (*call.ids, key) if call.ids else (key,)
        self.ids[key] = call

    def add(self, call: TrackedCall) -> None:
        """Takes in a new call; it replaces one of the same reference with another input."""
        before = self.open.pop(call.ref, None)
        if before is None and len(self.open) >= OPEN_CALLS_MAX:
            before = self.open.pop(next(iter(self.open)))
        if before is not None:
            self._unfile(before)
            for key in before.ids:
                self.ids.pop(key, None)
        self.open[call.ref] = call
        self._file(call)

    def rewrite(self, call: TrackedCall, tool: Tool) -> None:
        """Changes the input that a call is about."""
        self._unfile(call)
        call.tool = msgspec.structs.replace(tool, input={})
        call.summary = ""
        call.patches = tool.cls == "shell" and _holds_a_patch(tool)
        self._file(call)

    def close(self, call: TrackedCall, numbering: str | None) -> None:
        """Closes a call, as reported by ids of this numbering; None: all of its ids are over."""
        call.over = True
        del self.open[call.ref]
        self._unfile(call)
        for key in call.ids:
            if numbering is None or key[0] == numbering:
                self.ids.pop(key, None)
        self.ended.append(call)
        self._all_ended.append((self, call))
        if len(self._all_ended) > ALL_ENDED_CALLS_MAX:
            session, oldest = self._all_ended.popleft()
            session.forget(oldest)

    def forget(self, call: TrackedCall) -> None:
        """Forgets a call that ended long ago: no event that comes now is about it."""
        for key in call.ids:
            if self.ids.get(key) is call:
                del self.ids[key]
        if self.ended and self.ended[0] is call:
            self.ended.popleft()

    def _file(self, call: TrackedCall) -> None:
        equal = self.equal.get(call.tool.input_hash)
        if equal is None:
            self.equal[call.tool.input_hash] = [call]
        else:
            equal.append(call)

    def _unfile(self, call: TrackedCall) -> None:
        equal = self.equal[call.tool.input_hash]
        if len(equal) == 1:
            del self.equal[call.tool.input_hash]
        else:
            equal.remove(call)


class CallTracker:
    """The open calls of every session."""

    def __init__(self) -> None:
        self._sessions: dict[tuple[str, str], _SessionCalls] = {}
        self._all_ended: deque[tuple[_SessionCalls, TrackedCall]] = deque()
        self._made = 0

    def begin(self, event: Event, tool: Tool) -> TrackedCall:
        """Returns the call that this event opens, or the open one of which it is the next lane."""
        mine = self._session(event)
        key = (event.numbering, tool.call_id) if tool.call_id else None
        known = mine.ids.get(key) if key is not None else None
        ref: str | None = None
        if known is None:
            known = _next_lane(mine, event, tool)
            if known is not None and key is not None:
                mine.name(known, key)
        elif known.over or not (known.cwd == event.cwd and _same(known, event, tool)):
            # Rewritten since: whatever was decided was about another call (AP-13).
            ref, known = (None if known.over else known.ref), None
        if known is None:
            known = self._made_of(event, tool, ref)
            mine.add(known)
            if key is not None:
                mine.name(known, key)
        elif event.native not in known.natives:
            known.natives = (*known.natives, event.native)
        if event.kind == "tool.permission":
            known.asked = True
        if event.lane is not Lane.OBSERVE:
            known.waited = True
            known.gated = known.gated or event.lane is not Lane.RELAY
        return known

    def end(self, event: Event, tool: Tool) -> TrackedCall | None:
        """Closes and returns the open call that this event ends; None when none had begun."""
        call = self.find_open(event, tool)
        if call is not None:
            self._sessions[event.agent, event.session].close(call, event.numbering)
        return call

    def find_open(self, event: Event, tool: Tool) -> TrackedCall | None:
        """Returns the open call that this event is about; None when none had begun."""
        mine = self._sessions.get((event.agent, event.session))
        if mine is None:
            return None
        call = mine.ids.get((event.numbering, tool.call_id)) if tool.call_id else None
        if call is None or call.over:
            equal = mine.equal.get(tool.input_hash, ())
            call = _likeliest((each for each in equal if _fits(each, event, tool)), _ran_rank)
        return call

    def find_ended(self, event: Event, tool: Tool) -> TrackedCall | None:
        """Returns the call that was over before this event reported its end; None for any other."""
        mine = self._sessions.get((event.agent, event.session))
        key = (event.numbering, tool.call_id or "")
        if mine is None:
            return None
        call = mine.ids.get(key)
        if call is None:
            # Hooks that are configured twice tell everything twice; others come after the turn.
            return next((each for each in mine.ended if key in each.ids), None)
        if not call.over:
            return None
        del mine.ids[key]
        return call

    def of_session(self, agent: str, session: str) -> list[TrackedCall]:
        """Returns the open calls of a session, the oldest first."""
        mine = self._sessions.get((agent, session))
        return [] if mine is None else list(mine.open.values())

    def open_or_ended(self, agent: str, session: str) -> list[TrackedCall]:
        """Returns the open calls of a session and those that ended last: a stream may be late."""
        mine = self._sessions.get((agent, session))
        return [] if mine is None else [*mine.open.values(), *mine.ended]

    def get(self, event: Event, ref: str) -> TrackedCall | None:
        """Returns the open call with this reference in the event's session; else None."""
        mine = self._sessions.get((event.agent, event.session))
        return None if mine is None else mine.open.get(ref)

    def rewrite(self, call: TrackedCall, tool: Tool) -> None:
        """Changes the input that a call will run with, which its result will report."""
        self._sessions[call.agent, call.session].rewrite(call, tool)

    def drop(self, call: TrackedCall) -> None:
        """Forgets a call that is over."""
        self._sessions[call.agent, call.session].close(call, None)

    def _session(self, event: Event) -> _SessionCalls:
        key = event.agent, event.session
        mine = self._sessions.get(key)
        if mine is None:
            if len(self._sessions) >= CALL_SESSIONS_MAX:
                quiet = (each for each, session in self._sessions.items() if not session.open)
                del self._sessions[next(quiet, next(iter(self._sessions)))]
            mine = self._sessions[key] = _SessionCalls(self._all_ended)
        return mine

    def _made_of(self, event: Event, tool: Tool, ref: str | None) -> TrackedCall:
        ref = ref or tool.call_id
        if not ref:
            self._made += 1
            ref = f"~{self._made}"
        return TrackedCall(
            ref=ref,
            agent=event.agent,
            session=event.session,
            sub=event.sub_id,
            cwd=event.cwd,
            tool=msgspec.structs.replace(tool, input={}),
            natives=(event.native,),
            patches=tool.cls == "shell" and _holds_a_patch(tool),
        )


def summarized(call: TrackedCall | None, event: Event, tool: Tool) -> str:
    """Returns the line for the tool call of this event, made once while the call is open."""
    known = call is not None and call.cwd == event.cwd and call.tool.input_hash == tool.input_hash
    if call is None or not known:
        return summary(tool, event.cwd)
    if call.summary:
        return call.summary
    line = summary(tool, event.cwd)
    if len(line) <= SUMMARY_CHARS:
        call.summary = line
    return line


def _holds_a_patch(tool: Tool) -> bool:
    """Returns whether Codex takes a shell command for a patch, under either of its names."""
    text = command(tool) or ""
    return "apply_patch" in text or "applypatch" in text


def _same(call: TrackedCall, event: Event, tool: Tool) -> bool:
    """Returns whether the call is about exactly what this event is about."""
    return (
        call.tool.input_hash == tool.input_hash
        and call.sub == event.sub_id
        and call.tool.cls == tool.cls
        and call.tool.name == tool.name
    )


def _fits(call: TrackedCall, event: Event, tool: Tool) -> bool:
    """Returns whether the event can belong to the call: equal, and no id says otherwise."""
    if not _same(call, event, tool):
        return False
    return not tool.call_id or all(numbering != event.numbering for numbering, _ in call.ids)


def _next_lane(mine: _SessionCalls, event: Event, tool: Tool) -> TrackedCall | None:
    """Returns the equal call that had no event of this name yet; else None.

    A stream's event may come after the call's end, as it is read from a pipe.
    """
    equal = mine.equal.get(tool.input_hash, ())
    if not equal and not event.numbering:
        return None
    rank = _asks_rank if event.lane.waits or event.kind == "tool.permission" else _ran_rank
    # A call that ended explains it better than an equal one that cannot have run.
    fitting = (
        call
        for call in ((*mine.ended, *equal) if event.numbering else equal)
        if event.native not in call.natives and call.cwd == event.cwd and _fits(call, event, tool)
    )
    likeliest = _likeliest(fitting, rank)
    if likeliest is not None:
        return likeliest
    if event.numbering and tool.cls == "edit":
        return _likeliest((c for c in (*mine.open.values(), *mine.ended) if _edits(c, event)), rank)
    return None


def _edits(call: TrackedCall, event: Event) -> bool:
    """Returns whether a stream's edit may be this call.

    A stream reports the files of a patch and not the patch.
    """
    is_named = any(numbering == event.numbering for numbering, _ in call.ids)
    return call.tool.cls == "edit" and call.sub == event.sub_id and not is_named


def _likeliest(
    calls: Iterable[TrackedCall], rank: Callable[[TrackedCall], int]
) -> TrackedCall | None:
    """Returns the likeliest call of an event without an id, the newest of its rank."""
    equal = list(calls)
    return min(reversed(equal), key=rank) if equal else None


def _ran_rank(call: TrackedCall) -> int:
    """Ranks a call by how likely it ran, from 0.

    Allowed calls run first, then those that nobody held; one whose gate still waits cannot have
    run.
    """
    if call.decided is None:
        return 4 if call.waited and not call.asked else 2 if call.waited else 1
    return {"allow": 0, "handback": 1, "deny": 3}[call.decided]


def _asks_rank(call: TrackedCall) -> int:
    """Ranks a call by how likely the agent asks about it, from -1.

    It asks about a call that was handed to it rather than one that it may run. So what was allowed
    for one call never answers for its twin.
    """
    return -1 if call.decided == "handback" else _ran_rank(call)
