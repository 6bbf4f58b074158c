"""OpenCode: its plugin hooks and bus events, and what our plugin and stream client are told.

OpenCode runs no hook commands. Our plugin asks before each tool call, and answers permissions and
questions over OpenCode's own HTTP interface; the stream client does the latter for a server
without the plugin. The answers here are read by those two: `{"decision", "args"?, "reason"?}` for
a call, else the body to post.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.agents.base import HookAnswer, HookEntry, Intake, Setup, awaited, in_mode
from watchgate.agents.hooks import LONGEST_TIMEOUT_S, OBSERVER_TIMEOUT_S
from watchgate.agents.hooks.answers import on_stderr, spoken
from watchgate.agents.opencode.opencode_events import ASKED, BEFORE, QUESTION, meaning
from watchgate.agents.opencode.opencode_payload import READS, read_payload
from watchgate.core.model.events import Can, Event, Kind, Lane, OwnRules
from watchgate.core.model.verdicts import Reply, SayAllow, SayAnswer, SayDeny
from watchgate.core.policy.rules.profiles import PROFILES

OBSERVED: Final = (
    "tool.execute.after",
    "chat.message",
    "session.created",
    "session.updated",
    "session.deleted",
    "session.idle",
    "session.error",
    "session.compacted",
    "message.updated",
    "message.part.updated",
    "permission.replied",
    "question.replied",
    "question.rejected",
    "todo.updated",
    "command.executed",
    "file.edited",
    "lsp.client.diagnostics",
)
_NO_EDIT = (
    "The edited call was not run: OpenCode cannot be told another input. Deny it with a reason."
)
_CAN: Final = {
    BEFORE: Can(allow=True, deny=True, modify=True),
    ASKED: Can(allow=True, deny=True, stop=True),
    QUESTION: Can(deny=True, answer=True),
}
HEADLESS: Final = "headless"
OWN_RULES: Final = {
    "": OwnRules("runs", "runs-or-asks"),
    # `opencode run` asks nobody: what its configuration would have asked it refuses.
    HEADLESS: OwnRules("runs-or-refuses", "runs-or-refuses"),
}
_KINDS: Final[frozenset[Kind]] = frozenset(
    (
        "session.start",
        "session.end",
        "prompt.submit",
        "turn.end",
        "turn.error",
        "turn.interrupt",
        "tool.pre",
        "tool.permission",
        "tool.permission.resolved",
        "tool.post",
        "tool.error",
        "agent.start",
        "agent.stop",
        "compact.post",
        "notice",
        "question",
        "message",
        "usage",
    )
)


class OpenCodeAdapter:
    """The adapter of OpenCode."""

    name: Final = "opencode"
    title: Final = "OpenCode"
    experimental: Final = False
    setup: Final = Setup(
        form="plugin",
        user="~/.config/opencode/plugin/watchgate.js",
        variable="XDG_CONFIG_HOME",
        owned=True,
        process=("opencode",),
        no_project="a plugin in a project would run this machine's paths: use --scope user",
    )
    kinds: Final[frozenset[str]] = frozenset(_KINDS)

    own_rules: Final = OWN_RULES

    def can(self, native: str) -> Can:
        """Returns the replies that OpenCode can be told to one of its events."""
        return _CAN.get(native, Can())

    def decode(self, payload: bytes, intake: Intake) -> Event:
        """Returns the event of one payload; raises `DecodeError`.

        A sub-agent runs in a session of its own, and is shown under the one that it works for.
        """
        sent = read_payload(payload, intake)
        kind, body = meaning(sent)
        event = Event(
            kind=kind,
            native=sent.name,
            agent=self.name,
            session=sent.parent or sent.session,
            lane=intake.lane,
            at=intake.at,
            body=body,
            sub=sent.sub,
            cwd=sent.cwd,
            autonomous=sent.known.headless,
            races_dialog=sent.name in (ASKED, QUESTION),
            # OpenCode asks nobody unless its own configuration says so, which no event tells.
            runs_unasked=sent.name == BEFORE,
            env=intake.env,
        )
        mode = HEADLESS if sent.known.headless else None
        rules = in_mode(OWN_RULES, mode) if sent.name == BEFORE else None
        return awaited(event, intake, _CAN, rules)

    def answer(self, event: Event, reply: Reply) -> HookAnswer:
        """Returns the answer that our plugin or stream client carries out; empty for none."""
        if not event.lane.waits or event.native not in _CAN:
            return HookAnswer()
        return _ANSWERS[event.native](reply)

    def closed(self, native: str, lane: Lane, reason: str) -> HookAnswer:
        """Returns a denial on the gate, nothing on the lanes that hand back."""
        return _denial(reason) if lane is Lane.GATE else HookAnswer()

    def entries(self, profile: str) -> tuple[HookEntry, ...]:
        """Returns the hooks that our plugin forwards; raises `ValueError` for an unknown profile.

        The matcher names the tools of its lane; the entry without one is for all others.
        """
        if profile not in PROFILES:
            raise ValueError(f"unknown profile {profile!r}: use one of {', '.join(PROFILES)}")
        return (
            *_before(profile),
            HookEntry(event=ASKED, lane=Lane.RELAY, timeout_s=LONGEST_TIMEOUT_S),
            HookEntry(event=QUESTION, lane=Lane.RELAY, timeout_s=LONGEST_TIMEOUT_S),
            *(
                HookEntry(event=event, lane=Lane.OBSERVE, timeout_s=OBSERVER_TIMEOUT_S)
                for event in OBSERVED
            ),
        )


def _before(profile: str) -> tuple[HookEntry, ...]:
    if profile == "watch":
        return (HookEntry(event=BEFORE, lane=Lane.OBSERVE, timeout_s=OBSERVER_TIMEOUT_S),)
    reads = "|".join(READS)
    return (
        HookEntry(event=BEFORE, lane=Lane.GATE, timeout_s=LONGEST_TIMEOUT_S),
        HookEntry(event=BEFORE, lane=Lane.GATE_READ, matcher=reads, timeout_s=LONGEST_TIMEOUT_S),
    )


def _about_call(reply: Reply) -> HookAnswer:
    match reply:
        case SayAllow(input=None):
            return _encode_answer({"decision": "allow"})
        case SayAllow(input=args, context=words):
            extra = {"context": spoken(words)} if words else {}
            return _encode_answer({"decision": "allow", "args": args, **extra})
        case SayDeny(reason=reason):
            return _denial(reason)
    return HookAnswer()


def _about_permission(reply: Reply) -> HookAnswer:
    match reply:
        case SayAllow(input=None):
            return _encode_answer({"reply": "once"})
        case SayAllow():
            return _encode_answer({"reply": "reject", "message": _NO_EDIT})
        case SayDeny(stop=True):
            # OpenCode ends the turn on a refusal that says nothing.
            return _encode_answer({"reply": "reject"})
        case SayDeny(reason=reason):
            return _encode_answer({"reply": "reject", "message": spoken(reason)})
    return HookAnswer()


def _about_question(reply: Reply) -> HookAnswer:
    match reply:
        case SayAnswer(answers=answers):
            return _encode_answer({"answers": answers})
        case SayDeny():
            return _encode_answer({"reject": True})
    return HookAnswer()


def _encode_answer(answer: dict[str, Any]) -> HookAnswer:
    return HookAnswer(stdout=msgspec.json.encode(answer))


def _denial(reason: str) -> HookAnswer:
    reason = spoken(reason)
    body = msgspec.json.encode({"decision": "deny", "reason": reason})
    return HookAnswer(stdout=body, stderr=on_stderr(reason), exit_code=2)


_ANSWERS: Final = {BEFORE: _about_call, ASKED: _about_permission, QUESTION: _about_question}


ADAPTER: Final = OpenCodeAdapter()
