"""The typed `yes` that allows a critical request: a state machine next to `Arming`, same clock.

Commands read it without a console: nothing here may import textual.
"""

from __future__ import annotations

import msgspec

from watchgate.ui.approval.arming import FOCUS_S, LATE_S, TYPING, TYPING_S, Ask, Commit, Explain

WORD = "yes"
BY_HAND_S = 0.03


class PromptClosed(msgspec.Struct, frozen=True):
    """The end of a prompt that the operator left; nothing was decided."""


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
        """Returns the time from which `due` answers for the waiting key; None if none waits."""
        return self._due_at

    def focus(self, now: float) -> None:
        """Notes that the terminal got the focus: what was typed before was not meant for this."""
        self.typed, self._due_at, self._focus_at = "", None, now

    def paste(self, now: float) -> Explain:
        """Notes a paste: it is not a word that somebody typed."""
        self._last_key_at = now
        return self._refuse("a paste does not count, type yes by hand")

    def key(self, name: str, now: float) -> PromptClosed | Explain | None:
        """Takes one key; the text typed so far is in `typed`."""
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
