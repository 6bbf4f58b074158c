"""The grant that a request would lead to, before anybody gives it."""

from __future__ import annotations

import msgspec

from watchgate.core.grants.grant import GrantView
from watchgate.core.grants.proposal import rules_of
from watchgate.core.grants.rule import GrantRule
from watchgate.core.grants.width import Width
from watchgate.core.requests import Request


def exact(request: Request, scope: str) -> GrantView:
    """Returns the grant for exactly this call, before anybody gives it."""
    event, data = request.subject, request.data
    return GrantView(
        id=request.id,
        scope=scope,
        agent=event.agent,
        session=event.session,
        folder=data.cwd,
        tool=data.tool.native_name,
        summary=data.summary,
        by="",
        given_at=0,
    )


def candidate(
    request: Request,
    edited: tuple[GrantRule, ...] = (),
    *,
    scope: str = "always",
    width: Width = "program",
) -> GrantView:
    """Returns the grant of these rules, else of those that the width has, before anybody gives it.

    It is held to rules, but for one of a single call that is not for good.

    Raises `ValueError` as `rules_of` does.
    """
    data = request.data
    if width == "exact" and scope != "always":
        return exact(request, scope)
    shown = sorted({each.rule for each in data.findings if each.decision != "allow"})
    return msgspec.structs.replace(
        exact(request, scope),
        rules=rules_of(data, edited, width),
        answers=tuple(shown),
        width=width,
    )
