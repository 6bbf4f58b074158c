"""The answers that a table describes, as bytes; and those of Claude Code's hook protocol."""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.agents.base import Answer
from watchgate.agents.hooks.answers import on_stderr, spoken
from watchgate.agents.table import Answers, Told
from watchgate.core.events import Can, Event
from watchgate.core.verdicts import Reply, SayAllow, SayDeny, SayNothing

REASON, INPUT, CONTEXT, EVENT = "{reason}", "{input}", "{context}", "{event}"

_NO_EDIT = (
    "The edited call was not run: {title} cannot be told another input. Deny it with a reason."
)
_NO_DROP = (
    "The edited call was not run: {title} would put back what the edit left out ({keys})."
    " Set it to another value, or deny the call with a reason."
)
_LEFT_OUT = object()


def able(answers: Answers | None) -> Can:
    """Returns which replies can be told at all."""
    if answers is None:
        return Can()
    return Can(
        allow=answers.allow is not None,
        deny=answers.deny is not None,
        modify=answers.modify is not None,
        stop=answers.stop is not None,
    )


def told(answers: Answers, event: Event, reply: Reply, title: str) -> Answer:
    """Returns the answer to one event; where it cannot be told, never the call as it was."""
    native = event.native
    match reply:
        case SayAllow(input=None, context=words) if answers.allow:
            return said(answers.allow, native, context=words)
        case SayAllow(input=dict() as args, context=words):
            dropped = _dropped(event, args) if answers.merges else []
            if answers.modify and not dropped:
                return said(answers.modify, native, args=args, context=words)
            if answers.deny:
                why = _NO_DROP if dropped else _NO_EDIT
                reason = why.format(title=title, keys=", ".join(dropped))
                return said(answers.deny, native, reason=reason)
        case SayDeny(reason=reason, stop=True) if answers.stop:
            return said(answers.stop, native, reason=reason)
        case SayDeny(reason=reason) if answers.deny:
            return said(answers.deny, native, reason=reason)
        case SayNothing(context=words) if words and answers.context:
            return said(answers.context, native, context=words)
    return said(answers.nothing, native)


def said(
    what: Told,
    native: str,
    *,
    reason: str = "",
    args: dict[str, Any] | None = None,
    context: str = "",
) -> Answer:
    """Returns the exact bytes, with the reason never empty: agents ignore a denial without one.

    Args:
        what: the output that the table describes.
        native: the agent's name of the event.
        reason: the words for `{reason}`.
        args: the value of `{input}`.
        context: the words for `{context}`; where empty, its key is left out.
    """
    reason = spoken(reason)
    values = {
        REASON: reason,
        INPUT: args,
        CONTEXT: spoken(context) if context else _LEFT_OUT,
        EVENT: native,
    }
    stdout = _filled(what.stdout, values)
    stderr = reason if what.stderr == REASON else what.stderr
    return Answer(
        stdout=b"" if stdout is None or stdout is _LEFT_OUT else msgspec.json.encode(stdout),
        stderr=on_stderr(stderr) if stderr else b"",
        exit_code=what.exit,
    )


def _dropped(event: Event, args: dict[str, Any]) -> list[str]:
    return [key for key in event.tool.input if key not in args] if event.tool else []


def _filled(shape: Any, values: dict[str, Any]) -> Any:
    if isinstance(shape, str):
        return values.get(shape, shape)
    if isinstance(shape, dict):
        filled = {key: _filled(value, values) for key, value in shape.items()}
        return {key: value for key, value in filled.items() if value is not _LEFT_OUT}
    if isinstance(shape, list | tuple):
        return [each for item in shape if (each := _filled(item, values)) is not _LEFT_OUT]
    return shape
