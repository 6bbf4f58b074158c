"""The known sessions, each living one with a label of its own; the quietest are dropped first."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from itertools import count
from typing import Any

import msgspec

from watchgate.core.model.records import Record
from watchgate.core.model.session_view import SessionView, SubView
from watchgate.core.model.sessions import SessionState, after
from watchgate.core.secrets.redact import redact
from watchgate.core.state.hosts import host_among
from watchgate.core.usage.session_usage import nano

MAX_SESSIONS = 2_000
PROCESS = "pid "
"""The beginning of the id of a session of which only the process is known."""
MAX_SUBS = 24
MAX_WAITS = 50
MAX_ASKED = 50
LABEL_CHARS = 64
ID_CHARS = 4
TITLE_CHARS = 80
READ_CHARS = 2_000
MINUTE_S = 60

Key = tuple[str, str]
_SUB_ENDS = frozenset({"agent.stop", "session.end"})
_ALL_ANSWERED = frozenset(
    """prompt.submit turn.end turn.error turn.interrupt session.start session.end tool.batch
    message model.request""".split()
)
"""Kinds of events after which an agent asks nobody any more: it went on, or its turn is over."""
_ANSWERED = frozenset({"tool.post", "tool.error", "tool.permission.resolved"})
"""Kinds of events after which it asks about their call no more."""
_UNNAMED_ANSWERED = _ANSWERED | {"tool.pre"}


def session_key(record: Record) -> Key:
    """Returns agent and id of the session that a record is about."""
    return record.agent or "", record.session or ""


class SessionViews:
    """Every session by agent and id; over `max_sessions` of them, quiet ones are dropped.

    `hosts` are the names of the machines, which the labels of their sessions begin with.
    """

    def __init__(
        self,
        views: Iterable[SessionView] = (),
        *,
        max_sessions: int = MAX_SESSIONS,
        hosts: Container[str] = (),
    ) -> None:
        self.views = {(view.agent, view.session): view for view in views}
        self._max_sessions = max_sessions
        self._hosts = hosts
        self._labels = {
            view.label for view in self.views.values() if view.state is not SessionState.GONE
        }

    def touch(self, record: Record, ran: int = 0, passed: int = 0) -> None:
        """Takes in what every record of a session says, whatever else it is about.

        `ran` calls more have run by it, `passed` of them past a gate.
        """
        key, data = session_key(record), record.data
        view = self.views.get(key)
        cwd, mode, model = data.get("cwd"), data.get("mode"), data.get("model")
        if view is None:
            view = self._new(key, cwd if isinstance(cwd, str) else "", record.at)
        changes: dict[str, Any] = {"seen_at": record.at}
        state = after(view.state, record.kind)
        if ran:
            changes["ran"], changes["passed"] = view.ran + ran, view.passed + passed
        if record.sub is not None:
            changes["subs"] = _with(view.subs, record)
            # A sub-agent at work says that its session is; its end tells nothing of the session.
            state = state if state is SessionState.WORKING else view.state
        begins = record.kind == "prompt.submit" and record.sub is None
        if state is not view.state or begins:
            changes["state"], changes["since"], changes["why"] = state, record.at, ""
        # A journal that was changed from outside may hold anything.
        changes |= self._named(view, state, cwd if isinstance(cwd, str) else "")
        if record.kind == "prompt.submit" and not view.title and record.sub is None:
            changes["title"] = _title(data.get("text"))
        if view.asks_there:
            changes["asks_there"] = _still_asked(view.asks_there, record)
        if isinstance(mode, str):
            changes["mode"], changes["autonomous"] = mode, data.get("autonomous") is True
        if isinstance(model, str):
            changes["model"] = model
        self.views[key] = msgspec.structs.replace(view, **changes)

    def edit(self, key: Key, **changes: Any) -> None:
        """Changes a known session; nothing once it was dropped."""
        view = self.views.get(key)
        if view is not None:
            self.views[key] = msgspec.structs.replace(view, **changes)

    def ask(self, key: Key, change: int) -> None:
        """Counts one open request of the session more, or one less."""
        view = self.views.get(key)
        if view is not None:
            self.edit(key, pending=max(0, view.pending + change))

    def asks_there(self, key: Key, call: str) -> None:
        """Notes that the agent asks about a call in its own terminal (empty: it names none)."""
        view = self.views.get(key)
        if view is not None and call not in view.asks_there:
            self.edit(key, asks_there=(*view.asks_there[1 - MAX_ASKED :], call))

    def asked_no_more(self, key: Key, call: str) -> None:
        """Notes that the agent no longer asks in its terminal about a call, nor a nameless one."""
        view = self.views.get(key)
        if view is not None and view.asks_there:
            self.edit(key, asks_there=_without(view.asks_there, call, ""))

    def answered(self, key: Key, waited_s: float, *, allowed: bool) -> None:
        """Counts an operator's answer to one of its requests after so many seconds."""
        view = self.views.get(key)
        if view is not None:
            waits = (*view.waits[1 - MAX_WAITS :], waited_s)
            self.edit(key, answered=view.answered + 1, allowed=view.allowed + allowed, waits=waits)
            if allowed:
                self.edit(key, paused_until=0, paused_why="")  # an allow ends a pause

    def paused(self, record: Record) -> None:
        """Notes that the session asked too much: until then none of its calls is held."""
        until, why = int(record.data["until"]), str(record.data["why"])
        self.edit(session_key(record), paused_until=until, paused_why=why)

    def called(self, record: Record) -> None:
        """Counts one call of the session more, and of its sub-agent where it is one's."""
        key, sub = session_key(record), record.sub
        view = self.views[key]
        changes: dict[str, Any] = {"calls": view.calls + 1}
        changes["recent"] = _counted(view.recent, record.at // 1_000_000)
        if sub is not None:
            changes["subs"] = tuple(
                msgspec.structs.replace(each, calls=each.calls + 1) if each.id == sub else each
                for each in view.subs
            )
        self.edit(key, **changes)

    def note_gate(self, record: Record, *, gated: bool) -> None:
        """Notes that a call came on a gate, or on another lane: one gate is enough."""
        key = session_key(record)
        known = self.views[key].gated
        if gated and not known:
            self.edit(key, gated=True, cause="")
        elif known is None:
            self.edit(key, gated=False)

    def passed_by(self, record: Record) -> None:
        """Takes back a call that counted as one past a gate: it ran before the gate's answer."""
        key = session_key(record)
        self.edit(key, passed=max(0, self.views[key].passed - 1))

    def not_gated(self, record: Record) -> None:
        """Notes that the session asks no gate, and the likely cause."""
        self.edit(session_key(record), gated=False, cause=str(record.data["why"]))

    def inferred(self, record: Record) -> None:
        """Takes over a state that no event reported, with what it was inferred from."""
        state, why = SessionState(record.data["state"]), str(record.data["why"])
        key = session_key(record)
        view = self.views.get(key)
        if view is None:
            return
        changes = self._named(view, state, "")
        self.edit(key, state=state, since=record.at, why=why, **changes)
        if state is SessionState.GONE and view.session.startswith(PROCESS) and not view.calls:
            del self.views[key]  # a process that is over, or known by its session now

    def turn_over(self, record: Record) -> None:
        """Notes the end of the session's turn, and with it of what hid its calls."""
        self.edit(session_key(record), hidden_by="", turn_over_at=record.at)

    def used(self, record: Record) -> None:
        """Takes over what the session has cost so far, in dollars."""
        cost = record.data.get("total_cost_usd")
        if nano(cost) is not None:
            self.edit(session_key(record), cost_usd=cost)

    def start_over(self) -> None:
        """Marks all living sessions unknown: a new core is asked by none of them."""
        for key, view in self.views.items():
            state = view.state if view.state is SessionState.GONE else SessionState.UNKNOWN
            self.views[key] = msgspec.structs.replace(
                view, state=state, pending=0, hidden_by="", left_at=0, asks_there=(), subs=()
            )

    def _new(self, key: Key, cwd: str, at: int) -> SessionView:
        if len(self.views) >= self._max_sessions:
            self._let_go()
        label, host = self._label(key, cwd), host_among(self._hosts, key[1])
        return SessionView(agent=key[0], session=key[1], label=label, since=at, cwd=cwd, host=host)

    def _named(self, view: SessionView, state: SessionState, cwd: str) -> dict[str, Any]:
        """Returns the changes of a session's name by its new state and the folder that it reports.

        One that has ended gives its name back, and may come again under another one.
        """
        key = (view.agent, view.session)
        lived, lives = view.state is not SessionState.GONE, state is not SessionState.GONE
        tells_folder = cwd != "" and not view.cwd
        if lived and (tells_folder or not lives):
            self._labels.discard(view.label)
        changes = {"cwd": cwd} if tells_folder else {}
        if tells_folder or (lives and not lived):
            changes["label"] = label = self._label(key, cwd if tells_folder else view.cwd)
            if not lives:
                self._labels.discard(label)
        return changes

    def _label(self, key: Key, cwd: str) -> str:
        host = host_among(self._hosts, key[1])
        id = key[1].removeprefix(f"{host}/") if host else key[1]
        base = (cwd.rstrip("/").rpartition("/")[2] or id[:8])[:LABEL_CHARS]
        base = f"{host}:{base}" if host else base
        label = next(each for each in _labels(base, id) if each not in self._labels)
        self._labels.add(label)
        return label

    def _let_go(self) -> None:
        """Drops a quarter of the quiet sessions at once: looking for them takes a while."""
        quiet = sorted((v for v in self.views.values() if not v.pending), key=_staleness)
        for view in quiet[: max(1, self._max_sessions // 4)]:
            del self.views[view.agent, view.session]
            if view.state is not SessionState.GONE:
                self._labels.discard(view.label)


def _labels(base: str, id: str) -> Iterator[str]:
    """Yields the labels that a session may have: its folder's name, then that with its id begun.

    So it has the same one in a core that starts later and in the history.
    """
    yield base
    beginning = "".join(each for each in id.removeprefix(PROCESS) if each.isalnum())
    for chars in range(ID_CHARS, max(len(beginning), ID_CHARS) + 1):
        yield f"{base}~{beginning[:chars]}"
    for number in count(2):
        yield f"{base}~{beginning}-{number}"


def _title(text: object) -> str:
    """Returns the first words of the first prompt, their secrets covered."""
    if not isinstance(text, str):
        return ""
    # A secret that is cut is no longer known for one.
    return " ".join(redact(text[:READ_CHARS]).split())[:TITLE_CHARS]


def _counted(recent: tuple[tuple[int, int], ...], second: int) -> tuple[tuple[int, int], ...]:
    """Returns the last minute's calls by second with one more, which may be a little late."""
    if recent and second <= recent[-1][0] < second + MINUTE_S:
        last, count = recent[-1]
        return (*recent[:-1], (last, count + 1))
    # What lies further ahead was counted before the clock was set back.
    return (*(each for each in recent if second - MINUTE_S < each[0] < second), (second, 1))


def _still_asked(calls: tuple[str, ...], record: Record) -> tuple[str, ...]:
    """Returns the calls that an agent asks about in its own terminal after this record."""
    if record.kind in _ALL_ANSWERED and record.sub is None:
        return ()
    if record.kind in _ANSWERED:
        calls = _without(calls, record.call or "")
    return _without(calls, "") if record.kind in _UNNAMED_ANSWERED else calls


def _without(calls: tuple[str, ...], *answered: str) -> tuple[str, ...]:
    return tuple(call for call in calls if call not in answered)


def _staleness(view: SessionView) -> tuple[bool, int]:
    return view.state is not SessionState.GONE, view.seen_at


def _with(subs: tuple[SubView, ...], record: Record) -> tuple[SubView, ...]:
    """Returns the sub-agents after a record of one; a new one may replace one that ended."""
    id, sub_data = record.sub or "", record.data.get("sub")
    known = next((sub for sub in subs if sub.id == id), None)
    sub = known or SubView(id=id, since=record.at)
    state = SessionState.GONE if record.kind in _SUB_ENDS else after(sub.state, record.kind)
    kind = sub_data.get("type") if isinstance(sub_data, dict) else None
    changes: dict[str, Any] = {}
    if state is not sub.state:
        changes["state"], changes["since"] = state, record.at
    if isinstance(kind, str) and kind and kind != sub.type:
        changes["type"] = kind[:LABEL_CHARS]
    if not changes and known is not None:
        return subs
    fresh = msgspec.structs.replace(sub, **changes)
    if known is not None:
        return tuple(fresh if each is known else each for each in subs)
    if len(subs) >= MAX_SUBS:
        ended = next((each for each in subs if each.state is SessionState.GONE), subs[0])
        subs = tuple(each for each in subs if each is not ended)
    return (*subs, fresh)
