"""A prompt that shows what an allow would let happen: its keys are armed like those of the dock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from textual import events
from textual.message import Message
from textual.strip import Strip

from watchgate.core.base.amounts import plural
from watchgate.core.model.views import PendingView
from watchgate.ui.approval.arming import QUEUED_S, Card, Commit, Explain, HeldKey, Intent
from watchgate.ui.approval.consent import Consent
from watchgate.ui.approval.decision_requests import PLAIN, DecisionTerms
from watchgate.ui.approval.typed_yes import WORD
from watchgate.ui.approval.unshown_lines import Unshown
from watchgate.ui.base.terminal_shape import TerminalShape
from watchgate.ui.keys.keymap import Hint, name_of, read_at
from watchgate.ui.keys.shown_keys import action_of, key_for
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.prompts.prompt import GONE, Prompt, hint

_SCROLLS = {"down": 1, "up": -1}
_PAGES = {"page_down": 1, "page_up": -1}
TINY: dict[Intent, str] = {"allow": "to allow you must see the whole request: 60 by 16 cells"}


class SheetPrompt(Prompt):
    """Lines that are scrolled where they are many, and a last one for a notice.

    Subclasses give the lines, the card that an allow is about and what it is sent as. While they
    are `typing`, keys go to their text instead. `keys` are those that allow and deny, `now_s` the
    clock that keys are timed with.
    """

    DEFAULT_CSS = "SheetPrompt { height: 2; }"

    @dataclass
    class Decided(Message):
        """These were decided on these terms, each as it was shown."""

        decisions: tuple[tuple[Commit, PendingView], ...]
        terms: DecisionTerms = PLAIN

    class Left(Message):
        """Nothing was decided."""

    def __init__(self, keys: Mapping[str, Intent], now_s: Callable[[], float]) -> None:
        super().__init__()
        self.names = {intent: name for name, intent in reversed(list(keys.items()))}
        self.notice = ""
        self._consent = Consent(keys)
        self._now_s = now_s
        self._gone = False
        self._offset = 0
        self._window = (0, 0)
        self._unshown = Unshown()
        self._reported: Card | None = None

    @property
    def typing(self) -> bool:
        """True while keys go to a text."""
        return False

    def sheet(self, cells: int) -> list[StyledLine]:
        """Returns the lines at a width."""
        raise NotImplementedError

    def offer(self) -> Card | None:
        """Returns the card that an allow would be about; its id names all that is shown."""
        raise NotImplementedError

    def decide(self, commit: Commit) -> None:
        """Carries out that the operator allowed what is shown, or denied the request."""
        raise NotImplementedError

    def press(self, name: str) -> None:
        """Handles any other key."""

    def type(self, name: str, event: events.Key) -> None:
        """Takes a key into the text."""

    def cursor_line(self, cells: int) -> int | None:
        """Returns the line that has to be in view, if any."""
        return None

    @property
    def deciding(self) -> Sequence[Hint]:
        """The hints of the keys that decide, while those are read."""
        if self._consent.typed is not None:
            return (hint(WORD, "allow"), hint("Esc", "not now"))
        return ()

    def settled(self) -> None:
        if not self._gone:
            self._gone, self.notice = True, GONE
            self.redraw()

    def focused(self, now_s: float) -> None:
        self._consent.focus(now_s)

    def on_mount(self) -> None:
        self.fit_rows()

    def on_resize(self) -> None:
        self.fit_rows()

    def fit_rows(self) -> None:
        """Sets the height to the lines, as far as there is room for them, and draws them."""
        lines = len(self.sheet(self.app.size.width))
        self.styles.height = max(2, min(lines + 1, self.room))
        self._drawn = None
        self.refresh()

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        name = name_of(event)
        self.notice = GONE if self._gone else ""
        leaves = name == "escape" and not self.typing and self._consent.typed is None
        if name == "ctrl+c" or leaves or (self._gone and name == "escape"):
            self.post_message(self.Left())
        elif self._gone:
            return
        elif self.typing:
            self.type(name, event)
        else:
            self._judge(name, read_at(event, self._now_s()))
        self.redraw()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        if not self._gone and not self.typing:
            self.notice = self._consent.paste(self._now_s()).text
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        lines = self.sheet(cells)
        room = max(1, rows - 1)
        cursor = self.cursor_line(cells)
        if cursor is not None:
            self._offset = min(max(self._offset, cursor - room + 1), cursor)
        self._offset = max(0, min(self._offset, len(lines) - room))
        self._window = (self._offset, min(len(lines), self._offset + room))
        offer = self.offer()
        self._unshown.lay_out((offer and offer.id, cells, len(lines)), range(len(lines)))
        return [*lines[self._offset : self._offset + room], self._foot(cells, len(lines))]

    def render_line(self, y: int) -> Strip:
        """Returns the line `y`; only what is really painted counts as shown."""
        strip = super().render_line(y)
        self._unshown.show(*self._window)
        card = None if self.typing or self._gone else self.offer()
        if card is not None:
            blocked = (
                {**card.blocked, **TINY} if TerminalShape(*self.app.size).tiny else card.blocked
            )
            card = msgspec.structs.replace(card, complete=self._unshown.all_shown, blocked=blocked)
        if card != self._reported:
            self._reported = card
            self._consent.drawn(card, self._now_s())
        return strip

    def scroll(self, lines: int) -> None:
        """Scrolls; what comes into view then is painted, even where it looks the same."""
        self._offset += lines
        self._drawn = None
        self.refresh()

    def deny(self, commit: Commit, view: PendingView) -> None:
        """Denies the request that the prompt is about."""
        self.post_message(self.Decided(((Commit("deny", view.id, commit.shown_ms), view),)))

    def _judge(self, name: str, at_s: float) -> None:
        verdict = self._consent.key(name, at_s)
        if isinstance(verdict, Explain):
            self.notice = verdict.text
        elif isinstance(verdict, HeldKey):
            self._wait()
        elif (action := action_of(name)) in _SCROLLS:
            self.scroll(_SCROLLS[action])
        elif action in _PAGES:
            self.scroll(_PAGES[action] * max(1, self.size.height - 2))
        else:
            self.press(name)

    def _wait(self) -> None:
        due = self._consent.next_due
        if due is not None:
            self.set_timer(max(QUEUED_S, due - self._now_s()), self._due)

    def _due(self) -> None:
        answer = self._consent.due(self._now_s())
        if isinstance(answer, Commit) and not self._gone:
            self.decide(answer)
        elif isinstance(answer, Explain):
            self.notice = answer.text
            self.redraw()
        else:
            self._wait()

    def _foot(self, cells: int, count: int) -> StyledLine:
        line = self.line().add("  ")
        below = count - self._window[1]
        if below > 0:
            line.right(f"+{plural(below, 'line')}  ", "dim").right(
                key_for("down"), "accent", bold=True
            )
            line.right(" down ", "dim")
        typed = self._consent.typed
        if typed is not None:
            line.add(f" {typed}", on="bg", bold=True)
            line.add("_".ljust(len(WORD) + 2 - len(typed)), "accent", on="bg", bold=True)
            line.add("  ")
        return line.fit(self.notice, cells - line.left_cells - line.right_cells - 1, bold=True)
