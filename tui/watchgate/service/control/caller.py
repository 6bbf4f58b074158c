"""A client of the control socket, with its proofs and its name in records.

- Sampling of records for a console when far more happens than anyone can read. A call is passed on
  whole or not at all, so that no row stays "running" for want of its end. What a person has to
  decide or must not miss is always passed on, and calls of high or critical risk are. Calls have an
  allowance of their own: no stream of text takes it up. The console fetches what was left out once
  it is quiet.
- The bounded queue to one console: observations may be skipped, approvals never.
"""

from __future__ import annotations

import getpass
import os
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec

from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.actor import MAX_LINKS, Actor, ProcessLink
from watchgate.core.model.records import Record
from watchgate.core.presence.proof import Proof
from watchgate.link.protocol import Push, Request
from watchgate.service.identity.ancestry import terminal_name
from watchgate.service.identity.presence import Presences
from watchgate.service.system.process_table import Proc

CALLS_PER_WINDOW = 30
OTHERS_PER_WINDOW = 30
WINDOW_US = 100_000
REMEMBERED = 20_000
_ALWAYS = (
    *("approval.", "console.", "effect.", "grant.", "policy.", "prompt.", "session.", "turn."),
    "usage",
)
_BEGINS = frozenset({"tool.pre", "tool.permission"})
_ENDS = frozenset({"tool.post", "tool.error"})
_UNDECIDED = frozenset({"handback", "recorded"})
_GRAVE = frozenset({"high", "critical"})

Key = tuple[str | None, str | None, str]


class RecordSampler:
    """Passes at most so many calls that nobody was asked about in each tenth of a second.

    The records' own times count. The window is a console's tick, so that its picture keeps moving.
    `others` limits what belongs to no call: pieces of an answer, notices.
    """

    def __init__(self, *, calls: int = CALLS_PER_WINDOW, others: int = OTHERS_PER_WINDOW) -> None:
        self._calls = _Allowance(calls)
        self._others = _Allowance(others)
        self._passed: set[Key] = set()
        self._spared: set[Key] = set()

    def passes(self, record: Record) -> bool:
        """Returns whether the console gets this record."""
        kind = record.kind
        if kind.startswith(_ALWAYS):
            return True
        if record.call is None:
            return self._others.spend(record.at)
        key = (record.agent, record.session, record.call)
        if kind in _BEGINS and _is_never_spared(record):
            self._spared.discard(key)
            self._remember(self._passed, key)
            return True
        known = key in self._passed
        if not known and key not in self._spared:
            known = self._calls.spend(record.at)
            self._remember(self._passed if known else self._spared, key)
        if kind in _ENDS:
            self._passed.discard(key)
            self._spared.discard(key)
        return known

    def _remember(self, keys: set[Key], key: Key) -> None:
        if len(keys) >= REMEMBERED:
            keys.clear()
        keys.add(key)


class _Allowance:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._window = 0
        self._spent = 0

    def spend(self, at: int) -> bool:
        """Takes one of this window's, if any is left (`at`: UTC µs)."""
        window = at // WINDOW_US
        if window != self._window:
            self._window, self._spent = window, 0
        self._spent += 1
        return self._spent <= self._limit


def _is_never_spared(record: Record) -> bool:
    data = record.data
    return data.get("gate") not in _UNDECIDED or data.get("risk") in _GRAVE


LIMIT_BYTES = 8 * 1024 * 1024
_NEVER_SKIPPED = ("approval.", "effect.", "grant.", "policy.")


class Outbox:
    """Lines for one connection, in order; skipped records become a gap line."""

    def __init__(self, *, limit_bytes: int = LIMIT_BYTES) -> None:
        self.sampler: RecordSampler | None = None
        self._lines: deque[bytes] = deque()
        self._size_bytes = 0
        self._limit_bytes = limit_bytes
        self._gap: tuple[int, int] | None = None
        self._filled = anyio.Event()
        self._taken = anyio.Event()
        self._ended = False

    def put(self, line: bytes) -> None:
        """Adds a line that must arrive."""
        self._lines.append(line)
        self._size_bytes += len(line)
        self._filled.set()

    def offer(self, record: Record) -> None:
        """Adds a record, or counts it into the gap when sampled out or the console is too slow."""
        spare = self._size_bytes < self._limit_bytes
        spared = self.sampler is not None and not self.sampler.passes(record)
        if spared or (not spare and not record.kind.startswith(_NEVER_SKIPPED)):
            first = self._gap[0] if self._gap else record.seq
            self._gap = (first, record.seq)
            return
        self._close_gap()
        self.put(msgspec.json.encode(Push(record=record)) + b"\n")

    def skip(self, first: int, last: int) -> None:
        """Adds a gap line: these records are not sent and have to be fetched with `history`."""
        self.put(msgspec.json.encode(Push(gap=(first, last))) + b"\n")

    async def take(self) -> bytes:
        """Returns everything that waits, as soon as there is anything."""
        while not self._lines:
            self._filled = anyio.Event()
            await self._filled.wait()
        self._close_gap()
        data = b"".join(self._lines)
        self._lines.clear()
        self._size_bytes = 0
        self._taken.set()
        return data

    def end(self) -> None:
        """Notes that nothing more is sent."""
        self._ended = True
        self._taken.set()

    async def room(self) -> bool:
        """Waits until there is room for an answer; False when nothing more is sent."""
        while self._size_bytes >= self._limit_bytes and not self._ended:
            self._taken = anyio.Event()
            await self._taken.wait()
        return not self._ended

    def _close_gap(self) -> None:
        if self._gap is not None:
            gap, self._gap = self._gap, None
            self.skip(*gap)


class Caller:
    """One control client: its process, its proofs and its queue of lines.

    `console` is set once it attached as one, behind which somebody decides.

    Args:
        number: Counts the clients of this core.
        pid: The peer's process.
        chain: The process and its ancestors.
        outbox: The lines to send.
        presences: Standing and proof of clients.
    """

    def __init__(
        self,
        *,
        number: int,
        pid: int,
        chain: tuple[Proc, ...],
        outbox: Outbox,
        presences: Presences,
    ) -> None:
        self.number = number
        self.pid = pid
        self.chain = chain
        self.outbox = outbox
        self.console = False
        self._presences = presences

    def proof(self, request: str | None = None) -> Proof:
        """Returns its proof by now, towards the askers of this request or else all agents."""
        return self._presences.proof(self.chain, request)

    @property
    def may_be_a_persons(self) -> bool:
        """Returns whether a person may sit behind it.

        One that was set adrift and not unlocked has none.
        """
        if self.proof().is_proven:
            return True
        standing = self._presences.standing_of(self.chain)
        return standing.standing != "below" and not standing.adopted

    def name(self, signed: str | None, proof: Proof | None = None, program: str = "") -> str:
        """Returns the signature of its decisions: an operator's only where that is proven.

        `program` is a registered one's name, where its token decided; it may sign for somebody.
        """
        if program:
            return f"program {program} (token)" + (f", signed {signed}" if signed else "")
        proof = proof or self.proof()
        if not proof.is_proven:
            return f"somebody (pid {self.pid}, unproven)"
        place = f"console {self.number}" if self.console else f"pid {self.pid}"
        return f"operator {signed or user()} ({place}, {proof.standing})"

    def actor(self, proof: Proof | None = None, program: str = "") -> Actor:
        """Returns the process as a record names it."""
        proof = proof or self.proof()
        own = self.chain[0] if self.chain else None
        proven = proof.standing if proof.is_proven else "unproven"
        return Actor(
            pid=self.pid,
            uid=os.getuid(),
            name=own.comm if own else "",
            tty=terminal_name(own.tty) if own else "",
            chain=tuple(
                ProcessLink(each.pid, each.start, each.comm) for each in self.chain[:MAX_LINKS]
            ),
            standing=f"token {program}" if program else proven,
        )


def user() -> str:
    """Returns the owner of this core; in a container its number may have no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


Do = Callable[[Request, Caller], Awaitable[dict[str, Any]]]
"""Carries one verb out; raises `Refused` and changes nothing where it will not."""


def operator_only(caller: Caller) -> Proof:
    """Returns the caller's proof; raises `Refused` for one that may work for an agent."""
    proof = caller.proof()
    if bar := proof.bar_to_operate():
        raise Refused(*bar)
    return proof


def named_request(request: Request) -> str:
    """Returns the request's id; raises `Refused` where none is named."""
    if not request.request:
        raise Refused("bad_request", f"{request.verb} needs the id of a request")
    return request.request
