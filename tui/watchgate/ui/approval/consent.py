"""The deciding keys of a prompt that shows what it would allow: armed like those of the dock.

What is shown there may be graver than the request it came from, so its own risk says how it is
allowed: one key, the same key twice, or a typed `yes`. Times are seconds on the keys' clock.

The typed `yes` that allows a critical request: a state machine beside `arming`, same clock.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from watchgate.ui.approval.arming import (
    FOCUS_S,
    LATE_S,
    TYPING,
    TYPING_S,
    Arming,
    Ask,
    Card,
    Commit,
    Explain,
    HeldKey,
    Intent,
    Pass,
)
from watchgate.ui.keys.shown_keys import key_for

WORD = "yes"
BY_HAND_S = 0.03


class PromptClosed(msgspec.Struct, frozen=True):
    """The operator left the prompt; nothing was decided."""


class TypedYes:
    """Reads `yes` typed by hand, for one request; the key `deny` denies and Esc leaves.

    A paste, letters that come faster than a hand types or right after the terminal got the focus,
    and text that only contains the word are refused. It counts when nothing follows for a moment.
    """

    def __init__(self, ask: Ask, deny: str = "d") -> None:
        self.ask = ask
        self._deny_key = deny
        self.typed = ""
        self._deny = False
        self._last_key_at = float("-inf")
        self._burst = False
        self._due_at: float | None = None
        self._focus_at = float("-inf")

    @property
    def next_due(self) -> float | None:
        """Returns when `due` has something to say, if anything waits."""
        return self._due_at

    def focus(self, now: float) -> None:
        """The terminal got the focus: what was typed before was not meant for this."""
        self.typed, self._due_at, self._focus_at = "", None, now

    def paste(self, now: float) -> Explain:
        """Text was pasted: it is not a word that somebody typed."""
        self._last_key_at = now
        return self._refuse("a paste does not count, type yes by hand")

    def key(self, name: str, now: float) -> PromptClosed | Explain | None:
        """Take one key; the text typed so far is in `typed`."""
        gap = now - self._last_key_at
        self._last_key_at = max(now, self._last_key_at)
        waited, self._due_at = self._due_at is not None, None
        if name == "escape":
            return PromptClosed()
        if gap >= TYPING_S:
            self._burst = False
        elif self._burst or waited:
            return self._refuse(TYPING)
        elif gap < BY_HAND_S:
            return self._refuse("too fast for a hand, type yes")
        return self._take(name, now, alone=gap >= TYPING_S)

    def _take(self, name: str, now: float, *, alone: bool) -> Explain | None:
        self._deny = name == self._deny_key and alone and not self.typed
        if name == "backspace":
            self.typed = self.typed[:-1]
        elif not self._deny and now - self._focus_at < FOCUS_S:
            return self._refuse("not yet: this terminal has only just got the focus")
        elif not self._deny and name != WORD[len(self.typed) : len(self.typed) + 1]:
            return self._refuse(f"only yes allows it; {self._deny_key} denies, Esc leaves")
        elif not self._deny:
            self.typed += name
        if self._deny or self.typed == WORD:
            self._due_at = now + TYPING_S
        return None

    def due(self, now: float, drawn_id: str | None) -> Commit | Explain | None:
        """The decision, once no other key followed; `drawn_id` is what the last frame showed."""
        if self._due_at is None or now < self._due_at:
            return None
        if now - self._due_at > LATE_S:
            # A late timer means that the loop stalled, and keys read meanwhile are still queued.
            self._due_at = now + LATE_S / 2
            return None
        self._due_at = None
        self.typed = ""
        if drawn_id != self.ask.request:
            return Explain("the request changed, nothing was decided")
        if self._deny:
            return Commit("deny", self.ask.request, self.ask.shown_ms)
        return Commit(self.ask.intent, self.ask.request, self.ask.shown_ms, confirmed=True)

    def _refuse(self, why: str) -> Explain:
        self.typed = ""
        self._burst = True
        return Explain(why)


class Consent:
    """Judges keys against the card that the prompt last drew; `keys` maps names to intents."""

    def __init__(self, keys: Mapping[str, Intent]) -> None:
        self._arming = Arming(keys, f"{key_for('down')} shows the rest", "this choice")
        self._deny = next((name for name, intent in keys.items() if intent == "deny"), "")
        self._yes: TypedYes | None = None

    @property
    def typed(self) -> str | None:
        """Returns what was typed of the `yes`; None while none is asked for."""
        return self._yes.typed if self._yes else None

    @property
    def next_due(self) -> float | None:
        """Returns when `due` has something to say, if anything waits."""
        return self._yes.next_due if self._yes else self._arming.next_due

    def drawn(self, card: Card | None, now: float) -> None:
        """The prompt is painted with this card (or with nothing that could be allowed)."""
        if self._yes and (card is None or card.id != self._yes.ask.request):
            self._yes = None
        self._arming.drawn(card, now)

    def focus(self, now: float) -> None:
        """The terminal got the focus."""
        self._arming.focus(now)
        if self._yes:
            self._yes.focus(now)

    def paste(self, now: float) -> Explain:
        """Text was pasted: nothing in it is a key."""
        return self._yes.paste(now) if self._yes else self._arming.paste(now)

    def key(self, name: str, now: float) -> Pass | HeldKey | Explain:
        """Judge one key; after `Pass` the prompt may do what the key is for."""
        if self._yes is None:
            return self._arming.key(name, now)
        answer = self._yes.key(name, now)
        if isinstance(answer, PromptClosed):
            self._yes = None
            return Explain("nothing was decided")
        return answer or HeldKey()

    def due(self, now: float) -> Commit | Explain | None:
        """Returns what the waiting key does, once no other key followed it."""
        if self._yes is not None:
            return self._yes.due(now, self._arming.drawn_id)
        answer = self._arming.due(now)
        if not isinstance(answer, Ask):
            return answer
        if answer.confirmation == "yes":
            self._yes = TypedYes(answer, self._deny)
        return Explain(answer.text)
