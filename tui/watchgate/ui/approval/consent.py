"""The decision keys of prompts that show what they would allow: armed like those of the dock.

The shown rule or batch may be graver than the request it came from, so its own risk says how it is
allowed: one key, the same key twice, or a typed `yes`. Times are seconds on the keys' clock.
"""

from __future__ import annotations

from collections.abc import Mapping

from watchgate.ui.approval.arming import (
    Arming,
    Ask,
    Card,
    Commit,
    Explain,
    HeldKey,
    Intent,
    Pass,
)
from watchgate.ui.approval.typed_yes import PromptClosed, TypedYes
from watchgate.ui.keys.shown_keys import key_for


class Consent:
    """Judges keys against the card that the prompt last drew; `keys` maps names to intents."""

    def __init__(self, keys: Mapping[str, Intent]) -> None:
        self._arming = Arming(keys, f"{key_for('down')} shows the rest", "this choice")
        self._deny = next((name for name, intent in keys.items() if intent == "deny"), "")
        self._yes: TypedYes | None = None

    @property
    def typed(self) -> str | None:
        """Returns the part of the `yes` typed so far; None while none is asked for."""
        return self._yes.typed if self._yes else None

    @property
    def next_due(self) -> float | None:
        """Returns the time from which `due` answers for the waiting key; None if none waits."""
        return self._yes.next_due if self._yes else self._arming.next_due

    def drawn(self, card: Card | None, now: float) -> None:
        """Notes that the prompt is painted with this card (or with nothing to allow)."""
        if self._yes and (card is None or card.id != self._yes.ask.request):
            self._yes = None
        self._arming.drawn(card, now)

    def focus(self, now: float) -> None:
        """Notes that the terminal got the focus."""
        self._arming.focus(now)
        if self._yes:
            self._yes.focus(now)

    def paste(self, now: float) -> Explain:
        """Notes a paste: nothing in it is a key."""
        return self._yes.paste(now) if self._yes else self._arming.paste(now)

    def key(self, name: str, now: float) -> Pass | HeldKey | Explain:
        """Judges one key; after `Pass` the prompt may do what the key is for."""
        if self._yes is None:
            return self._arming.key(name, now)
        answer = self._yes.key(name, now)
        if isinstance(answer, PromptClosed):
            self._yes = None
            return Explain("nothing was decided")
        return answer or HeldKey()

    def due(self, now: float) -> Commit | Explain | None:
        """Returns the effect of the waiting key once no other key followed it."""
        if self._yes is not None:
            return self._yes.due(now, self._arming.drawn_id)
        answer = self._arming.due(now)
        if not isinstance(answer, Ask):
            return answer
        if answer.confirmation == "yes":
            self._yes = TypedYes(answer, self._deny)
        return Explain(answer.text)
