"""The answers that a table describes, as bytes; and those of Claude Code's hook protocol."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.agents.base import HookAnswer
from watchgate.agents.hooks.answers import PERMISSION, PRE_TOOL, on_stderr, spoken
from watchgate.agents.table import EventAnswers, HookOutput
from watchgate.core.model.events import Can, Event
from watchgate.core.model.verdicts import Reply, SayAllow, SayDeny, SayNothing

REASON, INPUT, CONTEXT, EVENT = "{reason}", "{input}", "{context}", "{event}"

_NO_EDIT = (
    "The edited call was not run: {title} cannot be told another input. Deny it with a reason."
)
_NO_DROP = (
    "The edited call was not run: {title} would put back what the edit left out ({keys})."
    " Set it to another value, or deny the call with a reason."
)
_LEFT_OUT = object()


def possible_replies(answers: EventAnswers | None) -> Can:
    """Returns the replies that these answers can put into words."""
    if answers is None:
        return Can()
    return Can(
        allow=answers.allow is not None,
        deny=answers.deny is not None,
        modify=answers.modify is not None,
        stop=answers.stop is not None,
    )


def encode_reply(answers: EventAnswers, event: Event, reply: Reply, title: str) -> HookAnswer:
    """Returns the answer to one event; where it cannot be told, never the call as it was."""
    native = event.native
    match reply:
        case SayAllow(input=None, context=words) if answers.allow:
            return encode_output(answers.allow, native, context=words)
        case SayAllow(input=dict() as args, context=words):
            dropped = _dropped(event, args) if answers.merges else []
            if answers.modify and not dropped:
                return encode_output(answers.modify, native, args=args, context=words)
            if answers.deny:
                why = _NO_DROP if dropped else _NO_EDIT
                reason = why.format(title=title, keys=", ".join(dropped))
                return encode_output(answers.deny, native, reason=reason)
        case SayDeny(reason=reason, stop=True) if answers.stop:
            return encode_output(answers.stop, native, reason=reason)
        case SayDeny(reason=reason) if answers.deny:
            return encode_output(answers.deny, native, reason=reason)
        case SayNothing(context=words) if words and answers.context:
            return encode_output(answers.context, native, context=words)
    return encode_output(answers.nothing, native)


def encode_output(
    what: HookOutput,
    native: str,
    *,
    reason: str = "",
    args: dict[str, Any] | None = None,
    context: str = "",
) -> HookAnswer:
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
    return HookAnswer(
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


ON_STDERR: Final = HookOutput(stderr=REASON, exit=2)
"""The denial of agents that read no JSON beside an exit status."""


def _before(decision: str, **more: str) -> dict[str, Any]:
    output = {"hookEventName": PRE_TOOL, "permissionDecision": decision, **more}
    return {"hookSpecificOutput": output}


def _asked(decision: dict[str, Any]) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": PERMISSION, "decision": decision}}


PRE_DENY: Final = HookOutput(
    stdout=_before("deny", permissionDecisionReason=REASON), stderr=REASON, exit=2
)
PRE_ALLOW: Final = HookOutput(stdout=_before("allow"))
PRE_ANSWERS: Final = EventAnswers(deny=PRE_DENY, allow=PRE_ALLOW)
PRE_MODIFY: Final = HookOutput(stdout=_before("allow", updatedInput="{input}"))
PRE_STOP: Final = HookOutput(stdout={**PRE_DENY.stdout, "continue": False, "stopReason": REASON})
"""Exit 0: these agents read no JSON beside exit 2, and then the turn would go on."""

PERMISSION_ANSWERS: Final = EventAnswers(
    deny=HookOutput(stdout=_asked({"behavior": "deny", "message": REASON})),
    allow=HookOutput(stdout=_asked({"behavior": "allow"})),
    modify=HookOutput(stdout=_asked({"behavior": "allow", "updatedInput": "{input}"})),
    stop=HookOutput(stdout=_asked({"behavior": "deny", "message": REASON, "interrupt": True})),
)
