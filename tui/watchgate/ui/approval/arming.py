"""Arming: the state machine that says when a decision key acts.

Theory of operation. Three things can go wrong where a single key decides: it was typed for another
pane, it was pressed before the request was read, or it meets another request than the one that was
looked at. `Arming` is given every frame, focus, paste and key, each with its time, and answers with
a value; it does nothing by itself and reads no clock.

- A key that is no decision key acts at once (`Pass`); `n` and `y` never act, they name the keys
  that do (`Explain`). Each of them takes back a decision key that still waits.
- A decision key is judged at the moment it was read, against the card that the last frame showed.
  Every key needs a card that does not block it and that was first drawn `REPLACED_S` before. A key
  that may let the call run (`_permits`: allow, allow more, mark, and a handback that runs unasked)
  also needs `DRAWN_S` since that first frame, `FOCUS_S` since the terminal got the focus, and the
  whole text shown once (a `complete` card, or `note_shown`).
- Then it waits for `TYPING_S` (`HeldKey`). Another key within that time means typing: neither
  decides. So does a decision key that follows any other key, a prompt's or a paste within it.
- `due` concludes, once `next_due` has come; where the timer is late by `LATE_S` the loop stalled,
  and it waits again for keys that are queued. A critical request asks for a typed `yes` instead; a
  high or unknown risk and `deny_all` ask for the same key again within `CONFIRM_S`, with no other
  key between; everything else is a `Commit`.
- A new focus takes back what waits and what was asked; another card takes back what was asked, and
  a key that waited for the card before it then only explains.

What must never happen: a call is let run that was not shown in full; a `Commit` names another
request than the one that was drawn when the key was read and still is; a key of a run of typing
decides; one key alone lets a high, unknown or critical risk run. A denial needs no full text, no
focus and no `DRAWN_S`: to refuse must always be easy.

All times are seconds on one monotonic clock; for a key, the moment it was read, not the moment it
is handled.
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
    """A key that does not decide: it does what it is bound to.

    `text` says that it took back a decision key that waited.
    """

    text: str = ""


class HeldKey(msgspec.Struct, frozen=True):
    """A decision key that waits to see whether another key follows."""


class Explain(msgspec.Struct, frozen=True):
    """A key that does nothing; `text` tells the operator why."""

    text: str


class Ask(msgspec.Struct, frozen=True):
    """A decision that takes more: the same key `again`, or a typed `yes` in its own prompt."""

    confirmation: Literal["again", "yes"]
    intent: Intent
    request: str
    text: str
    shown_ms: int


class Commit(msgspec.Struct, frozen=True):
    """A decision by the operator: `intent` on the request that was drawn for `shown_ms`."""

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
    every other key acts at once. `rest` says how to see the whole request, `subject` names what
    a card shows. Without `keys` nothing is decided.
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
        """Returns the time from which `due` answers for the waiting key; None if none waits."""
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
        """Notes that a frame is on the screen, with this request in the dock (or none)."""
        if (card.id if card else None) != self.drawn_id:
            self._drawn_at = now
            self._asked = None
        self._card = card
        if card and card.complete:
            self._shown |= {card.id}

    def note_shown(self, request: str) -> None:
        """Notes that every line of the request was shown, wherever that was."""
        self._shown |= {request}

    def keep(self, requests: set[str]) -> None:
        """Forgets what was shown of every other request."""
        self._shown &= requests

    def focus(self, now: float) -> None:
        """Notes that the terminal got the focus; a key that still waits was not meant for it."""
        self._focus_at = now
        self._press = None
        self._asked = None

    def paste(self, now: float) -> Explain:
        """Notes a paste: nothing in it is a key."""
        self._last_key_at = now
        self._drop()
        return Explain(TYPING)

    def typed(self, now: float) -> None:
        """Notes that a prompt read a key until now: what follows at once is the same typing."""
        self._last_key_at = max(now, self._last_key_at)

    def armed(self, now: float) -> Ask | None:
        """The question that the same key would answer now, on the request that is shown."""
        if self._press or self._asked is None or now - self._asked[1] > CONFIRM_S:
            return None  # a key that waits was the answer, or takes the question back
        return self._asked[0]

    def key(self, name: str, now: float) -> Pass | HeldKey | Explain:
        """Judges one key; only after `Pass` may the caller do what the key is bound to."""
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
        """Returns the effect of the waiting key once no other key followed it."""
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
        """Returns whether this key may let the call run; an edit takes an allow of its own."""
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
