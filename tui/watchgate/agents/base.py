"""The interface of an agent adapter: bytes to an event, a reply to bytes, hooks to install."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

import msgspec

from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Can, Event, Lane, OwnRules
from watchgate.core.model.verdicts import Reply

_CANNOT = Can()


class Intake(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about a payload before it is decoded, from the frame's header lines."""

    lane: Lane
    at: Instant
    native: str = ""
    deadline_s: float | None = None
    env: dict[str, str] = {}


def awaited(
    event: Event, intake: Intake, can: Mapping[str, Can], own_rules: OwnRules | None = None
) -> Event:
    """Adds to the event what only matters where somebody waits: its time limit and its `can`.

    Most events are only observed, and a call with more than 15 named arguments is far slower.
    """
    if not intake.lane.waits:
        return event
    able = can.get(event.native, _CANNOT)
    return msgspec.structs.replace(
        event, can=able, deadline_s=intake.deadline_s, own_rules=own_rules
    )


def in_mode(rules: Mapping[str, OwnRules], mode: str | None) -> OwnRules | None:
    """Returns the agent's own rules in a mode; the empty name holds those of any other mode."""
    return rules.get(mode or "") or rules.get("")


class HookAnswer(msgspec.Struct, frozen=True):
    """Exactly what the hook client prints and how it exits."""

    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int = 0


class DecodeError(ValueError):
    """The payload is none of this agent's; the message says what is wrong with it."""


class HookEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One hook to install: the agent's event, the lane it is put on, and its limits in seconds."""

    event: str
    lane: Lane
    matcher: str | None = None
    timeout_s: int
    status_message: str | None = None


Form = Literal["groups", "flat", "copilot", "crush", "kimi", "kiro", "scripts", "plugin"]
"""The form in which an agent writes its hooks down; `service/setup` has one editor for each.

`groups`: JSON, `hooks.<Event>[]` of `{matcher?, hooks: [{type, command, timeout}]}`. `flat`: JSON,
`hooks.<Event>[]` of `{command, timeout, matcher?}`. `copilot`, `crush`, `kiro`: their own JSON.
`kimi`: TOML, `[[hooks]]`. `scripts`: a folder with one executable named after each event.
`plugin`: a folder of our own among the agent's plugins.
"""


class Silencers(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The settings of an agent that silence its hooks: files, and each key with its value.

    Files are below the agent's own directory (`home`), the project, or anywhere (`system`); a key
    within an object is written with a dot. `dotenv` are files of variables that the agent loads
    from its working folder, from those above it, or from the user's home.
    """

    home: tuple[str, ...]
    project: tuple[str, ...]
    keys: dict[str, tuple[bool, str]]
    system: tuple[str, ...] = ()
    dotenv: tuple[str, ...] = ()


ALL_OFF = "switches all hooks off"


class Setup(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The place of an agent's hooks, and the form in which one of them is written there.

    `user` is the file (or folder) for one user, `~` being the home directory; where the agent's
    `variable` is set, that replaces the first folder below `~`. `project` is the file of one
    project that stays uncommitted; without one, project scope is refused with `no_project`.
    `owned` says that the whole file is ours. `unit` is that of timeouts, under `timeout_key`; an
    empty one writes none. `comments` says that the agent reads JSON with comments. `status_line` is
    the key of a command whose output the agent shows; ours is set where there is none. `manifests`
    are further JSON files of ours, by their paths from the file's folder. `each` are keys of every
    entry, `closing` the keys that make the agent itself fail closed, written on entries that deny;
    `beside` what must stand at the top of the file. `also_loads` names the agents whose hooks this
    one runs too. `process` are the names of its program, `hooks_off` the arguments with which it
    runs no hooks, `silencers` the settings that do so, `hookless` its tools of which no hook ever
    tells. `must_trust` says that it skips hooks which nobody has looked through, without a word,
    `trusts_by_place` that hooks which moved in the file must be trusted again. `live` says that an
    open session takes up a change of its hooks by itself, within seconds. `after` tells the user
    what is left to do.
    """

    form: Form
    user: str
    variable: str = ""
    project: str = ""
    no_project: str = ""
    owned: bool = False
    unit: Literal["s", "ms"] = "s"
    timeout_key: str = "timeout"
    status_key: str = ""
    comments: bool = False
    status_line: str = ""
    manifests: dict[str, dict[str, Any]] = {}
    each: dict[str, Any] = {}
    closing: dict[str, Any] = {}
    extra: dict[str, Any] = msgspec.field(name="beside", default_factory=dict)
    also_loads: tuple[str, ...] = ()
    process: tuple[str, ...] = ()
    hooks_off: tuple[str, ...] = ()
    must_trust: bool = False
    hookless: tuple[str, ...] = ()
    silencers: Silencers | None = None
    trusts_by_place: bool = False
    live: bool = False
    after: str = ""


class Adapter(Protocol):
    """One agent's protocol, pure: no I/O and no clock."""

    @property
    def name(self) -> str:
        """The word used on the command line and in every record."""
        ...

    @property
    def title(self) -> str:
        """The name that a person reads in a sentence."""
        ...

    @property
    def experimental(self) -> bool:
        """Returns whether it was built from documents alone, never run against the agent itself."""
        ...

    @property
    def setup(self) -> Setup | None:
        """The place where its hooks are installed; None for an agent that needs no installation."""
        ...

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of events that its hooks ever send."""
        ...

    @property
    def own_rules(self) -> Mapping[str, OwnRules]:
        """Returns the agent's own rules for a call of its gate, by mode, the usual one first.

        Under the empty name: in any mode that is not named, and where payloads tell none. Where
        nothing is said, it follows from what the agent can be told and from its modes.
        """
        ...

    def can(self, native: str) -> Can:
        """Returns the replies that the agent can be told to this event of its own."""
        ...

    def decode(self, payload: bytes, intake: Intake) -> Event:
        """Returns the event that this payload means; raises `DecodeError`."""
        ...

    def answer(self, event: Event, reply: Reply) -> HookAnswer:
        """Returns the exact bytes that tell the agent this reply to this event."""
        ...

    def closed(self, native: str, lane: Lane, reason: str) -> HookAnswer:
        """Returns the denial of an undecodable payload; nothing on lanes that hand back."""
        ...

    def entries(self, profile: str) -> tuple[HookEntry, ...]:
        """Returns the hooks that a profile installs, in the order in which they are written."""
        ...
