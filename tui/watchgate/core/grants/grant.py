"""One standing grant: the calls that it answers, its agent and session, and its end."""

from __future__ import annotations

import msgspec

from watchgate.core.grants.rule import GrantRule
from watchgate.core.grants.width import Width
from watchgate.core.presence.actor import Actor

UNUSED_US = 30 * 86_400 * 1_000_000
"""Time in µs after which a grant for good ends that is not used."""


class GrantView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A grant as it is shown, recorded and, where it is for good, stored; its id is the request's.

    `given_at`, `used_at` and `until_at` are UTC µs, the last 0 where no clock ends it. `rules` are
    what it lets through in the folder `folder`, if the policy finds nothing but `answers`; with the
    `width` "folder" there are none. Without rules and width it answers exactly the call of the
    request, `summary`. A grant for good without a width is of an earlier version.
    """

    id: str
    scope: str
    agent: str
    session: str
    folder: str
    tool: str
    summary: str
    by: str
    given_at: int
    rules: tuple[GrantRule, ...] = ()
    answers: tuple[str, ...] = ()
    width: Width | None = None
    hits: int = 0
    used_at: int = 0
    until_at: int = 0


class Grant(msgspec.Struct, kw_only=True):
    """A grant in force: its view, and what is never shown.

    `digest` is that of the exact call, `turn` the turn that it was given in, `until_s` when it ends
    on the monotonic clock.
    """

    view: GrantView
    digest: str = ""
    turn: str | None = None
    until_s: float | None = None

    @property
    def id(self) -> str:
        """Returns the id of the request that it was given with."""
        return self.view.id

    @property
    def by(self) -> str:
        """Returns its giver, in words."""
        return self.view.by

    @property
    def always(self) -> bool:
        """Returns whether it is for good."""
        return self.view.scope == "always"

    @property
    def wide(self) -> bool:
        """Returns whether it is held to rules, and not to the exact call."""
        return self.always or self.view.width is not None

    def used(self, at_us: int) -> None:
        """Counts a use, which makes a grant for good last longer."""
        until = at_us + UNUSED_US if self.always else self.view.until_at
        self.view = msgspec.structs.replace(
            self.view, hits=self.view.hits + 1, used_at=at_us, until_at=until
        )


class GrantUsedData(msgspec.Struct, frozen=True, kw_only=True):
    """`grant.used`: a call was let through by a grant, for the `hits`th time."""

    grant: str
    hits: int
    used_at: int
    until_at: int


class GrantOverData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`grant.revoked`, `grant.expired`: a grant answers nothing more.

    `by` is the person who took it back, from the process `actor`.
    """

    grant: str
    why: str
    by: str = ""
    actor: Actor | None = None
