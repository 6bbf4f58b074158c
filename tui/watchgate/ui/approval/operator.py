"""The operator's decisions: from keys, through arming and the prompts it asks for, to the core."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Protocol, get_args

import anyio

from watchgate.core.base.amounts import plural
from watchgate.core.model.views import PendingView
from watchgate.link.control_lines import ControlAnswer, CoreLost
from watchgate.link.protocol import Refusal, Request
from watchgate.ui.approval.arming import (
    QUEUED_S,
    Arming,
    Ask,
    Card,
    Commit,
    Explain,
    HeldKey,
    Intent,
    Pass,
)
from watchgate.ui.approval.decision_requests import (
    PLAIN,
    DecisionTerms,
    answered,
    request,
)
from watchgate.ui.approval.marking import Marks, in_short
from watchgate.ui.keys.keymap import Keymap
from watchgate.ui.source.core_bridge import Bridge

INTENTS: tuple[Intent, ...] = get_args(Intent)


OPENED_FIRST: tuple[Intent, ...] = ("allow", "allow_more", "mark")
"""Intents that open a request of which only the head is shown, instead of acting on it."""


def deciding_keys(keymap: Keymap, intents: Sequence[Intent] = INTENTS) -> dict[str, Intent]:
    """The keys of these intents, as the configuration has them."""
    return {name: intent for intent in intents for name in keymap[intent].keys}


class OperatorView(Protocol):
    """The part of the screen that the operator's keys need."""

    def say(self, text: str, *, docked: bool = False) -> None:
        """Shows the operator a sentence; about the `docked` request, as long as it is docked."""
        ...

    def ask_yes(self, ask: Ask, view: PendingView) -> None:
        """Opens the prompt that reads a typed yes."""
        ...

    def ask_reply(self, commit: Commit, view: PendingView) -> None:
        """Opens the prompt that reads the reply to the model for a denial."""
        ...

    def ask_answer(self, commit: Commit, view: PendingView) -> None:
        """Opens the prompt that reads the answers to an agent's questions."""
        ...

    def ask_grant(self, view: PendingView) -> None:
        """Opens the prompt that allows more than once."""
        ...

    def ask_edit(self, view: PendingView) -> None:
        """Opens the editor of a call."""
        ...

    def ask_batch(self, views: Sequence[PendingView]) -> None:
        """Opens the list of what is to be allowed together."""
        ...

    def ask_unlock(self, request: str) -> None:
        """Opens what unlocks this terminal, about a request that it may not allow."""
        ...

    def why_not(self, intent: Intent) -> str | None:
        """Returns the reason a decision key does nothing on this screen now; None if it acts."""
        ...

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        """Calls something after a while."""
        ...

    def open_request(self) -> bool:
        """Opens the whole request where only its head is shown; returns whether that was needed."""
        ...

    def start(self, work: Callable[[], Coroutine[None, None, None]]) -> object:
        """Runs something in the background."""
        ...


class Operator:
    """Holds the arming of the decision keys and carries out what they commit to.

    Args:
        front: The screen that it speaks through.
        bridge: The way to the core.
        keymap: The keys as the configuration makes them.
        now_s: The monotonic clock in seconds that keys are timed with.
        replay: True in a replay, where no key decides.
    """

    def __init__(
        self,
        front: OperatorView,
        bridge: Bridge,
        keymap: Keymap,
        now_s: Callable[[], float],
        *,
        replay: bool = False,
    ) -> None:
        keys = {} if replay else deciding_keys(keymap)
        self.bridge = bridge
        self.marks = Marks()
        self._front = front
        self._now_s = now_s
        self._keymap = keymap
        self._arming = Arming(keys, f"{keymap['view'].shown} opens it")
        self._last: Intent | None = None
        self._handled_s = float("-inf")
        self._opened: str | None = None
        self._intents = keys

    def drawn(self, card: Card | None) -> None:
        """Notes that a frame shows this request in the dock."""
        self._arming.drawn(card, self._now_s())

    @property
    def drawn_id(self) -> str | None:
        """The request that the last frame showed."""
        return self._arming.drawn_id

    @property
    def shown_in_full(self) -> frozenset[str]:
        """The requests that were shown in full."""
        return self._arming.shown_in_full

    def was_shown(self, request_id: str) -> bool:
        """Returns whether the whole text of a request was shown."""
        return request_id in self._arming.shown_in_full

    def shown_whole(self, request_id: str) -> None:
        """Notes that every line of a request was shown."""
        self._arming.note_shown(request_id)
        if self._opened == request_id == self.drawn_id:
            self._opened = None
            self._say(self._keys_now())

    def keep(self, pending: Mapping[str, PendingView]) -> None:
        """Forgets what was shown of requests that are settled, and their marks."""
        self._arming.keep(set(pending))
        self.marks.keep(pending)

    def focused(self) -> None:
        """Notes that the terminal got the focus."""
        self._arming.focus(self._now_s())

    def pasted(self) -> None:
        """Notes that something was pasted into the terminal."""
        self._say(self._arming.paste(self._now_s()).text)

    def typed(self) -> None:
        """Notes that a key went to a prompt, which it closed."""
        self._arming.typed(self._now_s())

    @property
    def armed(self) -> str:
        """Returns the effect of the same key again on the shown request, "" for none."""
        ask = self._arming.armed(self._now_s())
        if ask is None or ask.confirmation != "again":
            return ""
        if ask.intent != "deny_all":
            return ask.text
        pending = self.bridge.state.pending.values()
        if len(pending) == 1:
            return f"{ask.text.removesuffix(' all')} the only request"
        sessions = len({(view.agent, view.session) for view in pending})
        return f"{ask.text} {plural(len(pending), 'request')}, in {plural(sessions, 'session')}"

    def press(self, name: str, at_s: float) -> bool:
        """Judges a key read at `at_s`; returns whether the caller may do what it is bound to."""
        meaning = self._arming.key(name, at_s)
        if isinstance(meaning, (Pass, Explain)) and meaning.text:
            self._say(meaning.text)
        if isinstance(meaning, Pass):
            return True
        if isinstance(meaning, HeldKey):
            self._last, self._handled_s = self._intents.get(name), self._now_s()
            self._wait()
        return False

    def due(self) -> None:
        """Carries out the key that waited, if its time has come."""
        due = self._arming.next_due
        if due is None or self._now_s() - self._handled_s < QUEUED_S:
            return
        answer = self._arming.due(self._now_s())
        if answer is None:
            if self._arming.next_due is not None and self._arming.next_due != due:
                self._wait()
            return
        reason = self._front.why_not(self._last) if self._last else None
        if reason is not None:
            self._say(reason)
        elif self._last in OPENED_FIRST and self._front.open_request():
            self._say(self._keys_now())
            self._opened = self.drawn_id
        elif isinstance(answer, Explain):
            self._say(answer.text)
        elif isinstance(answer, Ask):
            self._ask(answer)
        else:
            self.commit(answer)

    def commit(self, commit: Commit) -> None:
        """Does what was decided, about the request that was on the screen."""
        if commit.intent == "deny_all":
            views = list(self.bridge.state.pending.values())
            self._front.start(lambda: self._deny_all(commit, views))
            return
        view = self.bridge.state.pending.get(commit.request)
        if view is None:
            self._front.say("it was settled before the key was read, nothing was decided")
        elif commit.intent == "reply":
            self._front.ask_reply(commit, view)
        elif commit.intent == "allow_more":
            self._front.ask_grant(view)
        elif commit.intent == "edit":
            self._front.ask_edit(view)
        elif commit.intent == "mark":
            self._say(self.marks.toggle(view))
        elif commit.intent == "allow" and view.data.asks == "question":
            self._front.ask_answer(commit, view)
        elif commit.intent == "allow" and (together := self.marks.together(view.id)):
            self._front.ask_batch(together)
        else:
            self.send(commit, view)

    def send(self, commit: Commit, view: PendingView, terms: DecisionTerms = PLAIN) -> None:
        """Sends a decision to the core and shows the operator its outcome."""
        self.send_all(((commit, view),), terms)

    def send_all(
        self, decisions: Sequence[tuple[Commit, PendingView]], terms: DecisionTerms = PLAIN
    ) -> None:
        """Sends decisions in their order; refusals are shown first."""
        sent = [request(commit, view, 0, terms) for commit, view in decisions]
        self._front.start(lambda: self._send_all(sent))

    def _say(self, text: str) -> None:
        """Shows a sentence about the docked request."""
        self._front.say(text, docked=True)

    def _keys_now(self) -> str:
        """Returns the effect of the allow and deny keys on the request that was opened."""
        view = self.bridge.state.pending.get(self.drawn_id or "")
        asks = view.data.asks if view else "approval"
        does = {"question": "answers", "plan": "approves"}.get(asks, "allows")
        when = "" if self.was_shown(self.drawn_id or "") else " once all was shown"
        allow, deny = (self._keymap[intent].shown for intent in ("allow", "deny"))
        return f"{allow} {does}{when}, {deny} {'declines' if asks == 'question' else 'denies'}"

    def _ask(self, ask: Ask) -> None:
        view = self.bridge.state.pending.get(ask.request)
        if ask.confirmation == "yes" and view is not None:
            self._front.ask_yes(ask, view)  # what wants the same key again is told while it does

    def _wait(self) -> None:
        due = self._arming.next_due
        if due is not None:
            at_s = max(due, self._handled_s + QUEUED_S)
            self._front.later(max(0.0, at_s - self._now_s()), self.due)

    async def _send_all(self, several: Sequence[Request]) -> None:
        """Sends several requests at once: a core that hangs or is lost keeps none of the others."""
        answers: dict[int, ControlAnswer] = {}
        lost: dict[str, None] = {}

        async def send(place: int, sent: Request) -> None:
            try:
                answers[place] = await self.bridge.ask(sent)
            except CoreLost as gone:
                lost[f"{gone}; whether it was decided is not known"] = None

        async with anyio.create_task_group() as tasks:
            for place, sent in enumerate(several):
                tasks.start_soon(send, place, sent)
        refused: list[str] = []
        done: list[str] = []
        locked: list[str] = []
        for place, answer in sorted(answers.items()):
            if isinstance(answer, Refusal) and answer.refused == "locked":
                locked.append(several[place].request or "")
                continue  # the prompt that opens says why, and what to do
            messages = refused if isinstance(answer, Refusal) else done
            messages.append(answered(several[place], answer, self.bridge.now_us()))
        if message := "; ".join((*refused, *lost, *in_short(done))):
            self._front.say(message)
        if locked:
            self._front.ask_unlock(locked[0])

    async def _deny_all(self, commit: Commit, views: list[PendingView]) -> None:
        each = [(Commit("deny", view.id, commit.shown_ms), view) for view in views]
        await self._send_all([request(deny, view, 0) for deny, view in each])
