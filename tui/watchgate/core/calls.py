"""Which events belong to one tool call: ids where agents give them, else a multiset.

Agents leave the call id out of their permission events, send two gate events of different names
for one call, and some give no id at all. So an event without an id that is known is matched by
session, sub-agent, tool and the hash of what will run, to a call that had no event of its name yet;
among equal calls, one that was let go explains the event better than one that waits or was denied.
A decision binds to its call: whatever else asks about exactly that call is told the same, until the
call or the turn ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from watchgate.core.events import Event, Lane, Tool
from watchgate.core.recent import Recent
from watchgate.core.summary import summary
from watchgate.core.tool_input import command
from watchgate.core.verdicts import Reply

OPEN_KEPT = 2_000
SESSIONS_KEPT = 2_000
ENDED_KEPT = 32
ALL_ENDED_KEPT = 2_000
"""Over all sessions: what a stream or a hook tells late comes soon after a call's end."""
SUMMARY_CHARS = 500

Decided = Literal["allow", "deny", "handback"]
Id = tuple[str, str]
"""An agent's id of a call, and before it whose numbering that is: hooks' is the empty one."""


def ref_of(event: Event, tool: Tool, call: Call | None) -> str:
    """The name of a call in records; a result may be all that is ever heard of one."""
    return (call.ref if call is not None else tool.call_id) or f"~{event.at.wall_us}"


class Carried(msgspec.Struct, frozen=True):
    """An operator's decision on a call, for the lane that has not asked yet."""

    request: str
    reply: Reply


class Call(msgspec.Struct, kw_only=True, gc=False):
    """One tool call that has begun and not ended, as far as events tell.

    `natives` are the agent's names of the events that told of it, `ids` the ids that they gave it;
    `asked` says that one was its permission event, `waited` that the agent waited for an answer on
    one, `gated` that this was on a gate, `left` that it went away before the answer, and
    `handed_on` that it asks on its relay what a gate had answered. `request` names the newest
    request about it, `heard` counts the hearings whose outcome a client waits for, `over` says that
    the agent is past it, `ran` that it told of a result, and `changed` is the word for the input
    that was allowed in place of its own (edited, rewritten). Of the tool's input only the hash and
    a short summary (empty when it is long) are kept: an input may be megabytes, and calls may never
    end; and in `patches`, whether it is a shell command with a patch in it, which a stream tells as
    an edit.
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
    heard: int = 0
    over: bool = False
    ran: bool = False
    patches: bool = False
    changed: str = ""
    request: str | None = None
    decided: Decided | None = None
    carried: Carried | None = None

    @property
    def passed(self) -> bool:
        """Whether a gate answered before the agent went on."""
        answered = self.decided is not None or self.handed_on
        return self.gated and answered and not self.left


class _Session:
    """The open calls of one session: by reference, by an id, and by the hash of their input.

    An id is kept after the end of its call as long as its own numbering has not told of that end.
    `all_ended` are the calls of every session that ended last, each with its session.
    """

    def __init__(self, all_ended: deque[tuple[_Session, Call]]) -> None:
        self.open: dict[str, Call] = {}
        self.ids: Recent[Id, Call] = Recent(2 * OPEN_KEPT)
        self.equal: dict[str, list[Call]] = {}
        self.ended: deque[Call] = deque(maxlen=ENDED_KEPT)
        self._all_ended = all_ended

    def name(self, call: Call, key: Id) -> None:
        """Know the call by this id from now on."""
        call.ids = (*call.ids, key) if call.ids else (key,)
        self.ids[key] = call

    def add(self, call: Call) -> None:
        """Take in a new call; one of the same reference was about another input."""
        before = self.open.pop(call.ref, None)
        if before is None and len(self.open) >= OPEN_KEPT:
            before = self.open.pop(next(iter(self.open)))
        if before is not None:
            self._unfile(before)
            for key in before.ids:
                self.ids.pop(key, None)
        self.open[call.ref] = call
        self._file(call)

    def rewrite(self, call: Call, tool: Tool) -> None:
        """The call is about another input from now on."""
        self._unfile(call)
        call.tool = msgspec.structs.replace(tool, input={})
        call.summary = ""
        call.patches = tool.cls == "shell" and _holds_a_patch(tool)
        self._file(call)

    def close(self, call: Call, numbering: str | None) -> None:
        """Close a call, as told by ids of this numbering; None: all of them are over."""
        call.over = True
        del self.open[call.ref]
        self._unfile(call)
        for key in call.ids:
            if numbering is None or key[0] == numbering:
                self.ids.pop(key, None)
        self.ended.append(call)
        self._all_ended.append((self, call))
        if len(self._all_ended) > ALL_ENDED_KEPT:
            session, oldest = self._all_ended.popleft()
            session.forget(oldest)

    def forget(self, call: Call) -> None:
        """A call ended long ago: nothing that is told now is about it."""
        for key in call.ids:
            if self.ids.get(key) is call:
                del self.ids[key]
        if self.ended and self.ended[0] is call:
            self.ended.popleft()

    def _file(self, call: Call) -> None:
        equal = self.equal.get(call.tool.input_hash)
        if equal is None:
            self.equal[call.tool.input_hash] = [call]
        else:
            equal.append(call)

    def _unfile(self, call: Call) -> None:
        equal = self.equal[call.tool.input_hash]
        if len(equal) == 1:
            del self.equal[call.tool.input_hash]
        else:
            equal.remove(call)


class Calls:
    """The open calls of every session."""

    def __init__(self) -> None:
        self._sessions: dict[tuple[str, str], _Session] = {}
        self._all_ended: deque[tuple[_Session, Call]] = deque()
        self._made = 0

    def begin(self, event: Event, tool: Tool) -> Call:
        """The call that this event opens, or the open one whose next lane it is."""
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

    def end(self, event: Event, tool: Tool) -> Call | None:
        """The open call that this event ends, no longer open; None when none was seen to begin."""
        call = self.told_of(event, tool)
        if call is not None:
            self._sessions[event.agent, event.session].close(call, event.numbering)
        return call

    def told_of(self, event: Event, tool: Tool) -> Call | None:
        """The open call that this event tells of; None when none was seen to begin."""
        mine = self._sessions.get((event.agent, event.session))
        if mine is None:
            return None
        call = mine.ids.get((event.numbering, tool.call_id)) if tool.call_id else None
        if call is None or call.over:
            equal = mine.equal.get(tool.input_hash, ())
            call = _likeliest((each for each in equal if _fits(each, event, tool)), _ran_rank)
        return call

    def again(self, event: Event, tool: Tool) -> Call | None:
        """The call that was over before this event told of its end; None for any other."""
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

    def of(self, agent: str, session: str) -> list[Call]:
        """The open calls of a session, the oldest first."""
        mine = self._sessions.get((agent, session))
        return [] if mine is None else list(mine.open.values())

    def near(self, agent: str, session: str) -> list[Call]:
        """The open calls of a session and those that ended last: a stream may tell of them late."""
        mine = self._sessions.get((agent, session))
        return [] if mine is None else [*mine.open.values(), *mine.ended]

    def get(self, event: Event, ref: str) -> Call | None:
        """The open call with this reference in the event's session."""
        mine = self._sessions.get((event.agent, event.session))
        return None if mine is None else mine.open.get(ref)

    def rewrite(self, call: Call, tool: Tool) -> None:
        """The call will run with another input, which its result will tell."""
        self._sessions[call.agent, call.session].rewrite(call, tool)

    def drop(self, call: Call) -> None:
        """Forget a call that is over."""
        self._sessions[call.agent, call.session].close(call, None)

    def _session(self, event: Event) -> _Session:
        key = event.agent, event.session
        mine = self._sessions.get(key)
        if mine is None:
            if len(self._sessions) >= SESSIONS_KEPT:
                quiet = (each for each, session in self._sessions.items() if not session.open)
                del self._sessions[next(quiet, next(iter(self._sessions)))]
            mine = self._sessions[key] = _Session(self._all_ended)
        return mine

    def _made_of(self, event: Event, tool: Tool, ref: str | None) -> Call:
        ref = ref or tool.call_id
        if not ref:
            self._made += 1
            ref = f"~{self._made}"
        return Call(
            ref=ref,
            agent=event.agent,
            session=event.session,
            sub=event.sub_id,
            cwd=event.cwd,
            tool=msgspec.structs.replace(tool, input={}),
            natives=(event.native,),
            patches=tool.cls == "shell" and _holds_a_patch(tool),
        )


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


def _holds_a_patch(tool: Tool) -> bool:
    """Whether a shell command is one that Codex takes for a patch, under either of its names."""
    text = command(tool) or ""
    return "apply_patch" in text or "applypatch" in text


def _same(call: Call, event: Event, tool: Tool) -> bool:
    """Whether the call is about exactly what this event is about."""
    return (
        call.tool.input_hash == tool.input_hash
        and call.sub == event.sub_id
        and call.tool.cls == tool.cls
        and call.tool.name == tool.name
    )


def _fits(call: Call, event: Event, tool: Tool) -> bool:
    """Whether the event can belong to the call: equal, and not told apart by an id."""
    if not _same(call, event, tool):
        return False
    return not tool.call_id or all(numbering != event.numbering for numbering, _ in call.ids)


def _next_lane(mine: _Session, event: Event, tool: Tool) -> Call | None:
    """The equal call that had no event of this name yet.

    What a stream tells may come after the call's end, as it is read from a pipe.
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
    found = _likeliest(fitting, rank)
    if found is not None:
        return found
    if event.numbering and tool.cls == "edit":
        return _likeliest((c for c in (*mine.open.values(), *mine.ended) if _edits(c, event)), rank)
    return None


def _edits(call: Call, event: Event) -> bool:
    """Whether a stream's edit may be this one: it tells the files of a patch and not the patch."""
    told = any(numbering == event.numbering for numbering, _ in call.ids)
    return call.tool.cls == "edit" and call.sub == event.sub_id and not told


def _likeliest(calls: Iterable[Call], rank: Callable[[Call], int]) -> Call | None:
    """The equal call that an event without an id most likely belongs to, the newest of its rank."""
    equal = list(calls)
    return min(reversed(equal), key=rank) if equal else None


def _ran_rank(call: Call) -> int:
    """Allowed calls run first, then those that nobody held; a gate that still waits cannot have."""
    if call.decided is None:
        return 4 if call.waited and not call.asked else 2 if call.waited else 1
    return {"allow": 0, "handback": 1, "deny": 3}[call.decided]


def _asks_rank(call: Call) -> int:
    """An agent asks for a call that was handed to it rather than for one that it may run.

    So what was allowed for one call never answers for its twin.
    """
    return -1 if call.decided == "handback" else _ran_rank(call)
