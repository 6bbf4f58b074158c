"""One approval request: who waits for it, where it stands, and how it ended.

What each input does in each status is the table below; statuses without a row absorb everything.
An allow (or an answer) is two steps, because it must be on disk before the agent hears it:
`COMMITTING` refuses every other answer but still ends as silence would when the disk fails, the
deadline passes or the agent goes away first.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

import msgspec

from watchgate.core.base.clock import Instant
from watchgate.core.model.actor import Actor
from watchgate.core.model.events import Event
from watchgate.core.model.records import RequestData, Silence, Word
from watchgate.core.model.standing_grant import GrantRule, Width
from watchgate.core.model.verdicts import Reply, SayDeny, SayNothing

RefusalCode = Literal[
    "unknown_id",
    "already_settled",
    "digest_mismatch",
    "not_offered",
    "too_late",
    "self_approval",
    "locked",
    "wrong_pin",
    "unknown_code",
    "not_armed",
    "bad_request",
]
"""The reason why a decision about a request was not taken."""


class Status(StrEnum):
    """The state of a request; all but the first two are final."""

    PENDING = "pending"
    COMMITTING = "committing"
    ALLOWED = "allowed"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    ELSEWHERE = "elsewhere"
    HANDED_BACK = "handed back"
    EDITED = "edited"


class Input(StrEnum):
    """The things that can happen to a request."""

    ALLOW = "allow"
    DENY = "deny"
    HANDBACK = "handback"
    COMMITTED = "committed"
    FAIL = "fail"
    EXPIRE = "expire"
    HANGUP = "hangup"
    ELSEWHERE = "elsewhere"
    EDIT = "edit"


TRANSITIONS: dict[tuple[Status, Input], Status] = {
    (Status.PENDING, Input.ALLOW): Status.COMMITTING,
    (Status.PENDING, Input.DENY): Status.DENIED,
    (Status.PENDING, Input.HANDBACK): Status.HANDED_BACK,
    (Status.PENDING, Input.EDIT): Status.EDITED,
    (Status.PENDING, Input.FAIL): Status.DENIED,
    (Status.PENDING, Input.EXPIRE): Status.EXPIRED,
    (Status.PENDING, Input.HANGUP): Status.WITHDRAWN,
    (Status.PENDING, Input.ELSEWHERE): Status.ELSEWHERE,
    (Status.COMMITTING, Input.COMMITTED): Status.ALLOWED,
    (Status.COMMITTING, Input.HANDBACK): Status.HANDED_BACK,
    (Status.COMMITTING, Input.FAIL): Status.DENIED,
    (Status.COMMITTING, Input.EXPIRE): Status.EXPIRED,
    (Status.COMMITTING, Input.HANGUP): Status.WITHDRAWN,
    (Status.COMMITTING, Input.ELSEWHERE): Status.ELSEWHERE,
}


class Waiter(msgspec.Struct, frozen=True):
    """One connection that waits for the answer, and what it is told when nobody answers."""

    conn: int
    event: Event
    silence: Silence

    def undecided(self, text: str, *, stop: bool = False) -> Reply:
        """Returns the answer when the request ends undecided: `text`, where that denies."""
        return SayDeny(text, stop=stop) if self.silence == "deny" else SayNothing()


class Settlement(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a request: in which word, by whom, at what moment, after how many seconds."""

    word: Word
    by: str
    at: Instant
    waited_s: float
    reason: str = ""
    scope: str = "once"
    stop: bool = False
    answers: tuple[tuple[str, ...], ...] = ()
    rules: tuple[GrantRule, ...] = ()
    width: Width | None = None
    actor: Actor | None = None


class ApprovalRequest(msgspec.Struct, kw_only=True):
    """One open or settled question; `subject` is the event that asked first.

    `rewritten` says that a handler or an operator changed the call's input: what is shown and
    allowed is the new one, which the agent is told with the allow. `context` is what its handlers
    tell the model.
    """

    id: str
    call: str
    subject: Event
    data: RequestData
    opened: Instant
    deadline_s: float
    waiters: list[Waiter]
    rewritten: bool = False
    context: str = ""
    status: Status = Status.PENDING
    settlement: Settlement | None = None

    @property
    def open(self) -> bool:
        """Returns whether the request can still end in any way."""
        return self.status in (Status.PENDING, Status.COMMITTING)

    @property
    def silence(self) -> Silence:
        """Returns the end that silence brings: a denial while one connection waits for that."""
        closed = any(waiter.silence == "deny" for waiter in self.waiters)
        return "deny" if closed else "handback"

    @property
    def ending(self) -> Settlement:
        """Returns the settlement; only settled requests have one."""
        if self.settlement is None:
            raise ValueError(f"request {self.id} is not settled")
        return self.settlement
