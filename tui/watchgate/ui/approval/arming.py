"""Arming: the state machine that says when a decision key acts.

Theory of operation. Three things can go wrong when a single key decides: it was typed for another
pane, it was pressed before the request was read, and it meets another request than the one that
was looked at. `Arming` is given every frame, focus, key and moment, and answers with a value; it
does nothing by itself and reads no clock.

- `drawn(card)` begins the time of a request: a key acts `DRAWN_S` after the first frame that shows
  it, `FOCUS_S` after the terminal got the focus, and never on a request that replaced another one
  less than `REPLACED_S` before.
- A key first waits (`Held`): if another key follows within `TYPING_S`, both were typing and
  neither decides. `due` hands out the key once that time is over, and `next_due` says when to ask.
- An allow takes the whole text: `complete` cards and `shown_whole` say what was shown. High and
  unknown risks take the same key again within `CONFIRM_S`, critical ones a typed `yes`.
- `Commit` carries the id of the request that was drawn when the key was read, so that what comes
  later cannot be decided by it.

What must never happen: an allow of a request that was not shown in full, a decision on another
request than the drawn one, a decision by keys that were typing. Denials are armed like allows but
need no full text. All times are seconds on one monotonic clock; for a key, the moment it was read,
not the moment it is handled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

Intent = Literal[
    "allow",
    "allow_more",
    "deny",
    "deny_all",
    "reply",
    "deny_stop",
    "edit",
    "handback",
    "more_time",
    "mark",
]

DECISION_KEYS: dict[str, Intent] = {
    "a": "allow",
    "A": "allow_more",
    "d": "deny",
    "D": "deny_all",
    "r": "reply",
    "X": "deny_stop",
    "e": "edit",
    "b": "handback",
    "t": "more_time",
    "space": "mark",
}
DRAWN_S = 0.6
FOCUS_S = 0.5
TYPING_S = 0.25
REPLACED_S = 0.3
CONFIRM_S = 5.0
LATE_S = 0.1
QUEUED_S = 0.03
"""So long after a key was handled another one that was read soon after it may still be queued."""

TYPING = "that looked like typing, nothing was decided"


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """The request that a frame showed, as far as the decision keys care.

    `complete` says that its whole text is visible in that frame; `runs_unasked` that a handback
    lets it run; `blocked` why a key cannot decide it now, in words for the operator.
    """

    id: str
    risk: str
    complete: bool = False
    runs_unasked: bool = False
    blocked: Mapping[Intent, str] = {}

    @property
    def twice(self) -> bool:
        """Returns whether an allow takes the same key again; an unknown risk counts as high."""
        return self.risk not in ("low", "medium", "critical")


class Pass(msgspec.Struct, frozen=True):
    """Not a decision key: it does what it is bound to.

    `text` tells the operator that it took a decision key back which waited.
    """

    text: str = ""


class HeldKey(msgspec.Struct, frozen=True):
    """A decision key that waits to see whether another key follows."""


class Explain(msgspec.Struct, frozen=True):
    """Nothing happens, and the operator is told why."""

    text: str


class Ask(msgspec.Struct, frozen=True):
    """The decision wants more: the same key `again`, or a typed `yes` in its own prompt."""

    confirmation: Literal["again", "yes"]
    intent: Intent
    request: str
    text: str
    shown_ms: int


class Commit(msgspec.Struct, frozen=True):
    """The operator decided: `intent` on the request that was drawn for `shown_ms`."""

    intent: Intent
    request: str
    shown_ms: int
    confirmed: bool = False


class _Press(msgspec.Struct, frozen=True):
    name: str
    intent: Intent
    at: float
    due: float
    card: Card | None
    refusal: str | None


class Arming:
    """Decides for every key whether it acts, waits, or only gets an explanation.

    The caller reports each frame with `drawn`, every key with `key` before it acts on it, and calls
    `due` when `next_due` has come. Keys typed into a prompt of its own are not reported, but that
    it was left is (`typed`). A decision key close to any other key is typing and decides nothing;
    every other key acts at once. `rest` tells how to see all of what an allow is about, `subject`
    what a card shows. Without `keys` nothing is decided.
    """

    def __init__(
        self,
        keys: Mapping[str, Intent] = DECISION_KEYS,
        rest: str = "v opens it",
        subject: str = "this request",
    ) -> None:
        self._rest, self._subject = rest, subject
        self._keys = keys
        self._card: Card | None = None
        self._drawn_at = float("-inf")
        self._focus_at = float("-inf")
        self._shown: frozenset[str] = frozenset()
        self._last_key_at = float("-inf")
        self._press: _Press | None = None
        self._asked: tuple[Ask, float] | None = None

    @property
    def next_due(self) -> float | None:
        """Returns when `due` has something to say, if anything waits."""
        return self._press.due if self._press else None

    @property
    def drawn_id(self) -> str | None:
        """The request that the last frame showed."""
        return self._card.id if self._card else None

    @property
    def shown_in_full(self) -> frozenset[str]:
        """The requests that were shown in full."""
        return self._shown

    def drawn(self, card: Card | None, now: float) -> None:
        """A frame is on the screen, with this request in the dock (or none)."""
        if (card.id if card else None) != self.drawn_id:
            self._drawn_at = now
            self._asked = None
        self._card = card
        if card and card.complete:
            self._shown |= {card.id}

    def note_shown(self, request: str) -> None:
        """Every line of the request was shown, wherever that was."""
        self._shown |= {request}

    def keep(self, requests: set[str]) -> None:
        """Forget what was shown of every other request."""
        self._shown &= requests

    def focus(self, now: float) -> None:
        """The terminal got the focus; a key that still waits was not meant for this."""
        self._focus_at = now
        self._press = None
        self._asked = None

    def paste(self, now: float) -> Explain:
        """Text was pasted: nothing in it is a key."""
        self._last_key_at = now
        self._drop()
        return Explain(TYPING)

    def typed(self, now: float) -> None:
        """Something else read a key until now: what follows at once belongs to the same typing."""
        self._last_key_at = max(now, self._last_key_at)

    def armed(self, now: float) -> Ask | None:
        """The question that the same key would answer now, on the request that is shown."""
        if self._press or self._asked is None or now - self._asked[1] > CONFIRM_S:
            return None  # a key that waits was the answer, or takes the question back
        return self._asked[0]

    def key(self, name: str, now: float) -> Pass | HeldKey | Explain:
        """Judge one key; only after `Pass` may the caller do what the key is bound to."""
        intent = self._keys.get(name)
        in_run = now - self._last_key_at < TYPING_S
        self._last_key_at = max(now, self._last_key_at)
        if intent is None:
            waited = self._press is not None
            self._drop()  # the same key again, and none between
            if name in ("n", "y"):
                return Explain(TYPING if waited else self._hint())
            return Pass(TYPING if waited else "")
        if in_run:
            self._drop()
            return Explain(TYPING)
        self._press = self._judge(name, intent, now)
        return HeldKey()

    def due(self, now: float) -> Commit | Ask | Explain | None:
        """Returns what the waiting key does once no other key followed it."""
        press = self._press
        if press is None or now < press.due:
            return None
        if now - press.due > LATE_S:
            # A late timer means that the loop stalled, and keys read meanwhile are still queued.
            self._press = msgspec.structs.replace(press, due=now + LATE_S / 2)
            return None
        self._press = None
        asked, self._asked = self._asked, None
        if press.refusal is not None:
            return Explain(press.refusal)
        if press.card is None or press.card.id != self.drawn_id:
            return Explain("the request changed, nothing was decided")
        return self._conclude(press, press.card, asked, now)

    def _conclude(
        self, press: _Press, card: Card, asked: tuple[Ask, float] | None, now: float
    ) -> Commit | Ask:
        shown_ms = round((press.at - self._drawn_at) * 1000)
        if self._permits(press.intent, card) and card.risk == "critical":
            return Ask("yes", press.intent, card.id, "type yes to allow it", shown_ms)
        if press.intent == "deny_all" or (self._permits(press.intent, card) and card.twice):
            again = asked is not None and press.at - asked[1] <= CONFIRM_S
            if not again or asked is None or asked[0].intent != press.intent:
                ask = Ask("again", press.intent, card.id, _again(press), shown_ms)
                self._asked = (ask, now)
                return ask
            return Commit(press.intent, card.id, shown_ms, confirmed=True)
        return Commit(press.intent, card.id, shown_ms)

    def _judge(self, name: str, intent: Intent, now: float) -> _Press:
        refusal = self._refuse(intent, now)
        if refusal is None and self._card and self._permits(intent, self._card):
            refusal = self._refuse_allow(self._card, now)
        return _Press(name, intent, now, now + TYPING_S, self._card, refusal)

    def _refuse(self, intent: Intent, now: float) -> str | None:
        if self._card is None:
            return "nothing is pending"
        if now - self._drawn_at < REPLACED_S:
            return f"not yet: {self._subject} has only just appeared"
        return self._card.blocked.get(intent)

    def _refuse_allow(self, card: Card, now: float) -> str | None:
        if now - self._drawn_at < DRAWN_S:
            return f"not yet: {self._subject} has only just appeared"
        if now - self._focus_at < FOCUS_S:
            return "not yet: this terminal has only just got the focus"
        if card.id not in self._shown:
            return f"not all of it was on the screen yet: {self._rest}"
        return None

    def _permits(self, intent: Intent, card: Card) -> bool:
        """Tell whether this key may let the call run; an edit wants an allow of its own."""
        if intent == "handback":
            return card.runs_unasked
        return intent in ("allow", "allow_more", "mark")

    def _drop(self) -> None:
        self._press = None
        self._asked = None

    def _hint(self) -> str:
        if not self._keys:
            return "a replay: no key decides here"
        names = {intent: key for key, intent in self._keys.items()}
        return f"{names.get('allow', 'a')} allows, {names.get('deny', 'd')} denies"


def _again(press: _Press) -> str:
    words = {
        "allow": "allows it",
        "allow_more": "opens the rule",
        "mark": "marks it",
        "handback": "lets the agent run it",
        "deny_all": "denies all",
    }
    return f"{press.name} again {words[press.intent]}"
