"""One standing grant: the calls that it answers, its agent and session, and its end.

- A rule of a standing grant: it lets through one command by its words, or one tool. Written as
  text, a rule is the words as a shell would quote them; ` *` behind them says that further
  arguments may follow: `npm run build *`, `WebFetch docs.python.org`, `Edit *`.
- The width of a grant: the calls that it answers besides the one it was given with. `exact` is that
  call alone, `program` its programs with their subcommands and further arguments that stay in the
  folder, `folder` every command there that the same rules of the policy, or the rules of ordinary
  work, ask about.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from typing import Final, Literal, get_args

import msgspec

from watchgate.core.model.actor import Actor

_MORE = "*"


class GrantRule(msgspec.Struct, frozen=True, omit_defaults=True):
    """Commands that begin with these words, of the tool that is called so by its agent.

    Without `more` they are all the words of it. Where a tool has no words, its own name is the
    first, a fetched host the second. `number` is the part of the text that it was made for.
    """

    words: tuple[str, ...]
    more: bool = False
    tool: str = ""
    number: int = 0

    @property
    def text(self) -> str:
        """Returns the rule as a person reads and edits it."""
        return shlex.join(self.words) + (f" {_MORE}" if self.more else "")

    def covers(self, words: tuple[str, ...]) -> bool:
        """Returns whether a command of these words is one of those that it lets through."""
        head = words[: len(self.words)]
        return bool(self.words) and head == self.words and (self.more or len(head) == len(words))


def read_rule(text: str) -> tuple[tuple[str, ...], bool]:
    """Reads a rule's text; returns its words, and whether more may follow.

    Raises `ValueError` that says what is wrong.
    """
    try:
        words = shlex.split(text)
    except ValueError as fault:
        raise ValueError(f"{text!r} cannot be read: {fault}") from None
    more = text.rstrip().endswith(f" {_MORE}")
    if more:
        words.pop()
    if not words:
        raise ValueError(f"{text!r} names no program: begin with one, such as `npm run build *`")
    return tuple(words), more


Width = Literal["exact", "program", "folder"]

WIDTHS: tuple[Width, ...] = get_args(Width)

_LEADS_OUT: Final = re.compile(
    r"(?:^|[^\w.+%-])[/~]"  # from the root or a home, also behind `--to=`, and every address
    r"|^-\w+/"  # the same behind a letter: -C/srv
    r"|(?:^|[^\w.])\.\.(?:[^\w.]|$)|^-\w*\.\.|\\"
    r"|^[^/@]+@[^/:]+:"  # user@host:path
    r"|^[\w-]+(?:\.[\w-]+)+:[^:\d]"  # host:path
    # Another repository, account or machine.
    r"|^(?:-R|--(?:repo|repository|profile|endpoint(?:-url)?|host|hostname|server|registry"
    r"|context|kube-context|cluster))(?:=|$)"
    r"|\$"
)


def width_of(scope: str, chosen: Width | None) -> Width:
    """Returns the width of an allow where none was chosen: wide only where it is for good."""
    return chosen or ("program" if scope == "always" else "exact")


def stay_inside(words: Iterable[str]) -> bool:
    """Returns whether no word of a command can name a place outside its folder, by its text."""
    return not any(_LEADS_OUT.search(word) for word in words)


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
