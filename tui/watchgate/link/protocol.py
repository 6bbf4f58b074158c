"""The control protocol: JSON lines both ways over `control.sock` or `watchgate stdio`.

The core speaks first with a `Hello`. A client sends requests that carry an id of its own; each gets
exactly one `Result` or `Refusal` with that id. After `attach` the core also sends `Push` lines:
every record, in order, or the gap that a slow reader has to fetch with `history`.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from watchgate.core.model import requests
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.records import BudgetData, Record
from watchgate.core.model.session_view import SessionView
from watchgate.core.model.standing_grant import GrantRule, GrantView, Width
from watchgate.core.model.views import GateView, PendingView, Settled, Totals
from watchgate.core.policy.rules.profiles import Profile
from watchgate.core.presence.proof import Standing, TokenRisk
from watchgate.core.state.traces import TraceView
from watchgate.core.usage.usage_fold import UsageSnapshot

SCHEMA = 1
"""The version of the protocol: adding to it does not change the number."""

Scope = Literal["once", "turn", "session", "15m", "always"]
Verb = Literal[
    "hello",
    "attach",
    "list",
    "show",
    "preview",
    "propose",
    "decide",
    "extend",
    "grants",
    "revoke",
    "policy",
    "search",
    "history",
    "purge",
    "off",
    "on",
    "profile",
    "config",
    "stop",
    "presence",
    "unlock",
    "pin",
    "token",
]
What = Literal["requests", "sessions", "agents", "records", "calls"]
Action = Literal["show", "reload", "set", "remove", "add", "ls", "revoke", "off"]
RefusalCode = Literal[requests.RefusalCode, "failed"]


class Hello(msgspec.Struct, frozen=True, kw_only=True):
    """The core's first line: version, id, boot time (UTC µs), newest record, profile, schema."""

    watchgate: str
    core: str
    boot: int
    seq: int
    profile: str
    schema: int = SCHEMA


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One request; which fields count depends on the verb.

    `decide`: `request` (id or unique prefix of 4 or more), `digest`, `decision`, and optionally
    `reason`, `scope`, `stop`, `as_` (a name to sign with), `shown_ms` (how long the request had
    been drawn; an allow under 600 is refused as `not_armed`), `confirmed` (the second key or typed
    word that high and critical want), `answers` (with the decision `answer`: for each question the
    chosen labels or the person's words), `input` (the call as an operator edited it, with the
    digest that `preview` answered), `width` (with a scope but `once`: how much is allowed; without,
    `program` for `always` and else `exact`) and `rules` (with the width `program`: the proposed
    rules as they were edited; none = as proposed). `preview`: `request`, `input`. `propose`:
    `request`, `rules`, `width`.
    `revoke`: `grant` (id or unique prefix). `policy`, `config`: `action`. `attach`: `from_seq`,
    `observer` (records alone: nobody looks who could decide, so it is no console). `list`: `what`.
    `show`: `request`. `extend`: `request`, `seconds`. `history`: `from_seq`, `to_seq`.
    `search`: `filter`, `limit`, and `what`: the newest `records` (all but for the two others) of
    those from `from_seq` to `to_seq`, or the `calls` that began before record `before`, or those
    that changed since `from_seq`. `off`: `seconds` (0 = until reboot). `profile`: `profile`.
    """

    id: int
    verb: Verb
    request: str | None = None
    digest: str | None = None
    decision: Literal["allow", "deny", "handback", "answer"] | None = None
    reason: str | None = None
    scope: Scope = "once"
    stop: bool = False
    input: dict[str, Any] | None = None
    as_: str | None = msgspec.field(default=None, name="as")
    shown_ms: int | None = None
    confirmed: bool = False
    answers: tuple[tuple[str, ...], ...] = ()
    rules: tuple[GrantRule, ...] = ()
    width: Width | None = None
    grant: str | None = None
    action: Action = "show"
    agent: str | None = None
    session: str | None = None
    from_seq: int | None = None
    observer: bool = False
    to_seq: int | None = None
    what: What = "requests"
    before: int | None = None
    seconds: int | None = None
    profile: Profile | None = None
    filter: str | None = None
    limit: int = 100
    pin: str | None = None
    current: str | None = None
    code: str | None = None
    challenge: bool = False
    signature: str | None = None
    key: str | None = None
    key_file: str | None = None
    token: str | None = None
    name: str | None = None
    risk: TokenRisk = "medium"


class Result(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer to a request that was carried out."""

    id: int
    ok: dict[str, Any] = {}


class Refusal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer to a request that was not: nothing changed.

    `message` is fit to be read; `by`, `at` (UTC µs) and `word` say how a settled request ended.
    `wait_s` is for how many seconds no PIN is taken after too many wrong ones.
    """

    id: int
    refused: RefusalCode
    message: str
    by: str | None = None
    at: int | None = None
    word: str | None = None
    wait_s: int | None = None


class Presence(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to `presence` and `unlock`: what this process may do, and by which proof.

    `clear`, and what was unlocked (`pin`, `code`, `key`), may decide. `locked` and `adrift` may
    after `unlock`, `below` never; `why` says in one sentence why not. `pin` says that one is set,
    `key` that a security key is; `tty` is the terminal ("pts/3"; empty: none).
    """

    standing: Standing
    why: str = ""
    pin: bool = False
    key: bool = False
    tty: str = ""

    @property
    def proven(self) -> bool:
        """Tells whether it may let calls run."""
        return self.standing in ("clear", "pin", "code", "key")


class Code(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to an `unlock` with nothing: what a clear terminal has to confirm, and how soon.

    A clear terminal is answered with a `Presence` instead.
    """

    code: str
    seconds: int


class Challenge(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to an `unlock` with `challenge`: the text that the security key has to sign.

    `key_file` is the public key's path where it was set; `seconds` for how long it is good.
    """

    challenge: str
    seconds: int
    key_file: str


class Unlocked(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to an `unlock` with a code: the other terminal, and the process that leads it."""

    unlocked: str
    leader: str


class TokenRow(msgspec.Struct, frozen=True, kw_only=True):
    """A registered program: `token ls` answers with `tokens`, a list of these.

    `token add` answers with one and the `token` itself, which is told only then.
    """

    name: str
    risk: TokenRisk
    added_at: int


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a console needs to draw its first picture: the state after record `seq`.

    `now` is the core's wall clock (UTC µs), so that a console on another machine counts down right.
    `titles` are the agents' names in a sentence, by their short names.
    """

    seq: int
    core: str
    now: int
    gate: GateView
    sessions: tuple[SessionView, ...] = ()
    pending: tuple[PendingView, ...] = ()
    grants: tuple[GrantView, ...] = ()
    totals: Totals = Totals()
    usage: UsageSnapshot = UsageSnapshot()
    budgets: dict[str, BudgetData] = {}
    settled: tuple[Settled, ...] = ()
    rows: tuple[CallRow, ...] = ()
    traces: tuple[TraceView, ...] = ()
    titles: dict[str, str] = {}


class Push(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line that nobody asked for: a record, or the range of records that was skipped."""

    record: Record | None = None
    gap: tuple[int, int] | None = None
    closed: str | None = None


Line = dict[str, Any]
