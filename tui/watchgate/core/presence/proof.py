"""Proof of a person behind a client, held against what it asks."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

Standing = Literal["clear", "pin", "code", "key", "locked", "adrift", "below"]
TokenRisk = Literal["medium", "high"]

PROVEN: Final = frozenset({"clear", "pin", "code", "key"})
MODEST: Final = frozenset({"low", "medium"})
"""The risks that may be allowed from a locked terminal while no PIN or key is set."""

NOT_YOURS = "this command runs below an agent that asks, or nobody can tell what started it"
IN_YOURS = (
    "in a terminal window of your own that was open before the agent was started, or in one that "
    "your PIN unlocked"
)
"""The places where an operator may do what was refused for `NOT_YOURS`."""

_WITH_PIN = (
    "enter your PIN (watchgate unlock), or use a terminal window that was open before the agent"
)
_WITH_KEY = (
    "touch your security key (watchgate unlock --key), or use a terminal window that was open "
    "before the agent"
)
_WITHOUT_PIN = (
    "use a terminal window that was open before the agent, or set a PIN with watchgate pin set "
    "from such a window or while no agent runs"
)

Bar = tuple[Literal["self_approval", "locked"], str]
"""A refusal: its code, and a sentence that says how to get on."""


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """The standing of a client (`why` not better), and of its terminal, if it has one.

    `pin` and `key` say that a PIN, a security key is set. `program` is the risk up to which a
    registered one may allow, where one decides.
    """

    standing: Standing = "clear"
    why: str = ""
    pin: bool = False
    key: bool = False
    tty: bool = True
    program: TokenRisk | None = None

    @property
    def is_proven(self) -> bool:
        """Tells whether it is a person's."""
        return self.standing in PROVEN

    def token_covers(self, risk: str, scope: str) -> bool:
        """Tells whether a registered program may allow this by itself."""
        able = self.program is not None and self.standing != "below"
        modest = risk in MODEST or (risk == "high" and self.program == "high")
        return able and modest and scope == "once"

    def bar_to_operate(self, doing: str = "do it") -> Bar | None:
        """Returns the reason it may not do what only a person may; None where it may."""
        if self.is_proven:
            return None
        if self.standing == "below":
            return "self_approval", f"{NOT_YOURS}: {doing} {IN_YOURS}"
        without = _WITH_KEY if self.key else _WITHOUT_PIN
        return "locked", f"{self.why}: {_WITH_PIN if self.pin else without}"

    def bar_to_allow(self, risk: str, scope: str = "once") -> Bar | None:
        """Returns the reason it may not allow a call of this risk so long; None where it may."""
        if self.token_covers(risk, scope):
            return None
        unguarded = self.standing == "locked" and not (self.pin or self.key)
        if unguarded and risk in MODEST and scope == "once":
            return None
        return self.bar_to_operate("it may only deny, decide")
