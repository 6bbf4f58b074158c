"""Handlers: what is run for an event, in which role, and what a failure of it means.

- Permissions: what a handler must have been granted to see each kind of event. The names are those
  of SynapsCLI's extension protocol 1 (its contract file). This is the one place that checks them,
  for a manifest and for a registration alike. Checks of a handler before it is registered, the same
  for configuration and manifest. A handler that could never run, or that sees more than it was
  granted, is refused with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, get_args

import msgspec

from watchgate.core.dispatch.handler_matchers import ANY, Matcher
from watchgate.core.model.events import Kind

Permission = Literal[
    "tools.intercept",
    "tools.override",
    "privacy.llm_content",
    "session.lifecycle",
    "tools.register",
    "providers.register",
    "memory.read",
    "memory.write",
    "audio.input",
    "audio.output",
]
PERMISSIONS: Final[tuple[str, ...]] = get_args(Permission)
RESERVED: Final = frozenset({"tools.override"})

_PERMISSION_OF: Final[dict[str, Permission]] = {
    "tool": "tools.intercept",
    "prompt": "privacy.llm_content",
    "message": "privacy.llm_content",
    "compact": "privacy.llm_content",
    "turn": "privacy.llm_content",
    "question": "privacy.llm_content",
    "model": "privacy.llm_content",
}


def permission_for(kind: str) -> Permission:
    """Returns the permission that seeing events of this canonical kind takes."""
    return _PERMISSION_OF.get(kind.partition(".")[0], "session.lifecycle")


def missing_permission(
    kinds: Iterable[str], granted: Iterable[str]
) -> tuple[str, Permission] | None:
    """Returns the first kind whose permission was not granted, with that permission; else None."""
    have = frozenset(granted)
    return next(
        (
            (kind, permission_for(kind))
            for kind in sorted(kinds)
            if permission_for(kind) not in have
        ),
        None,
    )


Role = Literal["gate", "observer", "sink"]
OnFailure = Literal["closed", "open"]
HandlerKind = Literal["callable", "command", "extension", "policy"]


class Handler(msgspec.Struct, frozen=True, kw_only=True):
    """One registered handler; the runner that runs it is looked up by `id`.

    `on` are canonical kinds. Lower `priority` runs first. Gates decide; observers never end a
    chain and nobody waits for them. A gate's failure is closed and an observer's open unless
    `on_failure` says otherwise. `timeout_s` None is the dispatch policy's own. `permissions` None
    means that the user's own configuration vouches for the handler. `once` runs it once a session.
    """

    id: str
    on: frozenset[str]
    role: Role = "gate"
    kind: HandlerKind = "callable"
    priority: int = 100
    match: Matcher = ANY
    timeout_s: float | None = None
    on_failure: OnFailure | None = None
    continue_on_failure: bool | None = None
    permissions: frozenset[Permission] | None = None
    once: bool = False
    disabled: bool = False


KINDS: Final[tuple[str, ...]] = get_args(Kind)
WITH_TOOL: Final = frozenset(
    {"tool.pre", "tool.permission", "tool.permission.resolved", "tool.post", "tool.error"}
)


class RegistrationError(ValueError):
    """Raised for a handler that cannot be registered; the message says what to change."""


def check_handler(handler: Handler) -> None:
    """Raises `RegistrationError` for a handler that must not be registered."""
    if not handler.on:
        raise RegistrationError(f"handler {handler.id} names no event: add on = [...]")
    if unknown := sorted(handler.on.difference(KINDS)):
        raise RegistrationError(
            f"handler {handler.id}: there is no event {unknown[0]!r};"
            f" use one of {', '.join(sorted(KINDS))}"
        )
    if handler.timeout_s is not None and handler.timeout_s <= 0:
        raise RegistrationError(
            f"handler {handler.id}: timeout_s = {handler.timeout_s:g} would fail every call;"
            " give more than 0 seconds, or leave it out"
        )
    if handler.permissions is not None:
        lacks = missing_permission(handler.on, handler.permissions)
        if lacks is not None:
            kind, permission = lacks
            raise RegistrationError(
                f"{handler.id} has no permission {permission} for {kind}: grant it in"
                f" [[extension]] permissions, or take the hook out of its manifest"
            )
    elsewhere = sorted(handler.on - WITH_TOOL)
    if handler.match.about_tools and elsewhere:
        raise RegistrationError(
            f"handler {handler.id}: a match on tools never fits {elsewhere[0]}, which has none;"
            " take the tool condition or the event out"
        )
