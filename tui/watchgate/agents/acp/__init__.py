"""The Agent Client Protocol: messages between an editor and any agent that speaks it.

Messages that our proxy wraps come in, events and the rest of a response, `{"result": ...}`, go out.
The kind of a permission option decides what it means; one for always, or one that changes a mode
beside, is never taken. It imports proxied, hooks, forms, and the core's model and base.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, Final

import msgspec

from watchgate.agents.acp import acp_events
from watchgate.agents.base import HookAnswer, HookEntry, Intake, Setup
from watchgate.agents.forms import values
from watchgate.agents.proxied.wrapped import WrappedMessage, items, table, unwrap, word
from watchgate.core.model.events import Can, Event, Lane, OwnRules, ToolCall
from watchgate.core.model.verdicts import Reply, SayAllow, SayAnswer, SayDeny

_MORE_THAN_ONCE = re.compile(
    r"mode|always|switch|session|auto|yolo|bypass|every|again|without|\ball\b|forever|permanent"
    r"|remember|trust|for .{0,9}project|accept.?edits",
    re.IGNORECASE,
)


class PermissionOptions(msgspec.Struct, frozen=True):
    """The ids of the options that allow and deny this one call; empty where there is none."""

    allow: str = ""
    deny: str = ""


def options_of(offered: Any) -> PermissionOptions:
    """Returns the options of a permission request that allow and deny the call."""
    known = items(offered)
    return PermissionOptions(allow=_plain(known, "allow_once"), deny=_plain(known, "reject_once"))


def _plain(offered: Iterable[dict[str, Any]], kind: str) -> str:
    """Returns the id of the first option of a kind that does nothing beyond it.

    An id is what the agent acts on, so a doubtful name or id is enough to pass an option over, and
    one that several options have may mean any of them.
    """
    known = list(offered)
    times = Counter(word(option.get("optionId")) for option in known)
    for option in known:
        id, name = word(option.get("optionId")), word(option.get("name"))
        plain = times[id] == 1 and not _MORE_THAN_ONCE.search(f"{id} {name}")
        if option.get("kind") == kind and id and plain:
            return id
    return ""


def allowing_ids(offered: Any) -> list[str]:
    """Returns the ids of all options that let the call run."""
    kinds = ("allow_once", "allow_always")
    return [word(each.get("optionId")) for each in items(offered) if each.get("kind") in kinds]


NAME: Final = "acp"
NO_SESSION: Final = "no session named"
_NOTHING = HookAnswer()
CANCELLED: Final = {"outcome": {"outcome": "cancelled"}}


class AcpEvent(Event, frozen=True, kw_only=True, gc=False):
    """An event with the options of its permission request, one of which is the answer."""

    options: PermissionOptions = PermissionOptions()


class AcpAdapter:
    """The adapter of every agent that is driven over ACP; `agent` in a message says which it is."""

    name: Final = NAME
    title: Final = "an ACP agent"
    short_title: Final = "the agent"
    experimental: Final = False
    setup: Final[Setup | None] = None
    kinds: Final = acp_events.SENT
    own_rules: Final = MappingProxyType[str, OwnRules]({})

    def can(self, native: str) -> Can:
        """Returns the most that an agent can be told; each request's own options decide."""
        if native == acp_events.PERMISSION:
            return Can(allow=True, deny=True)
        return Can(deny=True, answer=True) if native == acp_events.ELICITATION else Can()

    def decode(self, payload: bytes, intake: Intake) -> Event:
        """Returns the event of one message; raises `DecodeError`."""
        wrapped = unwrap(payload)
        native = acp_events.native_of(wrapped, intake.native)
        kind, body = acp_events.meaning(wrapped, native)
        params = table(wrapped.message.get("params"))
        options = options_of(params.get("options"))
        return AcpEvent(
            kind=kind,
            native=native[:512] or "a message without a method",
            agent=self.name,
            session=_session(wrapped),
            lane=intake.lane,
            at=intake.at,
            body=body,
            cwd=wrapped.cwd,
            mode=word(wrapped.context.get("mode")) or None,
            can=_able(native, options, body) if intake.lane.waits else Can(),
            deadline_s=intake.deadline_s if intake.lane.waits else None,
            env=intake.env,
            options=options,
        )

    def answer(self, event: Event, reply: Reply) -> HookAnswer:
        """Returns the result that means this reply; nothing where the editor is to be asked."""
        if not event.lane.waits or not isinstance(event, AcpEvent):
            return _NOTHING
        if event.native == acp_events.PERMISSION:
            return _chosen(event.options, reply)
        if event.native == acp_events.ELICITATION:
            return _filled(event, reply)
        return _NOTHING

    def closed(self, native: str, lane: Lane, reason: str) -> HookAnswer:
        """Returns a cancelled outcome on the gate, nothing on the lanes that hand back."""
        return _encode_result(CANCELLED) if lane is Lane.GATE else _NOTHING

    def entries(self, profile: str) -> tuple[HookEntry, ...]:
        """Returns no hooks: the editor is told to start the agent through `watchgate acp`."""
        return ()


def _able(native: str, options: PermissionOptions, body: object) -> Can:
    if native == acp_events.PERMISSION:
        return Can(allow=bool(options.allow), deny=True)
    if native == acp_events.ELICITATION and isinstance(body, ToolCall):
        return Can(deny=True, answer=bool(body.questions))
    return Can()


def _chosen(options: PermissionOptions, reply: Reply) -> HookAnswer:
    match reply:
        case SayAllow(input=None) if options.allow:
            return _selected(options.allow)
        case SayAllow(input=None):
            return _NOTHING
        case SayAllow() | SayDeny():
            # An edited input cannot be told, and must not run as it was.
            return _selected(options.deny) if options.deny else _encode_result(CANCELLED)
        case _:
            return _NOTHING


def _filled(event: Event, reply: Reply) -> HookAnswer:
    match reply:
        case SayAnswer(answers=answers) if isinstance(event.body, ToolCall):
            filled = values(event.body.questions, answers)
            return _encode_result({"action": "accept", "content": filled})
        case SayDeny():
            return _encode_result({"action": "decline"})
        case _:
            return _NOTHING


def _session(wrapped: WrappedMessage) -> str:
    params, result = (table(wrapped.message.get(key)) for key in ("params", "result"))
    named = (params.get("sessionId"), result.get("sessionId"), wrapped.context.get("session"))
    return next((id for each in named if (id := word(each))), NO_SESSION)


def _selected(option: str) -> HookAnswer:
    return _encode_result({"outcome": {"outcome": "selected", "optionId": option}})


def _encode_result(result: dict[str, Any]) -> HookAnswer:
    return HookAnswer(stdout=msgspec.json.encode({"result": result}))


ADAPTER: Final = AcpAdapter()
