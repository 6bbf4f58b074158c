"""Checks of a handler before it is registered, the same for configuration and manifest.

A handler that could never run, or that sees more than it was granted, is refused with the reason.
"""

from __future__ import annotations

from typing import Final, get_args

from watchgate.core.events import Kind
from watchgate.core.handlers import Handler
from watchgate.core.permissions import missing

KINDS: Final[tuple[str, ...]] = get_args(Kind)
WITH_TOOL: Final = frozenset(
    {"tool.pre", "tool.permission", "tool.permission.resolved", "tool.post", "tool.error"}
)


class RegistrationError(ValueError):
    """Raised for a handler that cannot be registered; the message says what to change."""


def check(handler: Handler) -> None:
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
        lacks = missing(handler.on, handler.permissions)
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
