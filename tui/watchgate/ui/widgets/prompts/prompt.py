"""The base of the prompts above the dock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.events import Key
from textual.message import Message
from textual.widget import Widget

from watchgate.core.model.views import PendingView
from watchgate.ui.keys.keymap import Hint, again, name_of
from watchgate.ui.widgets.base.pane import Pane

LEAVES = ("escape", "ctrl+c")
"""The keys that leave a prompt."""

GONE = "it was settled meanwhile, nothing is decided here: Esc leaves"


class KeyPassed(Message):
    """A key that was read after a prompt was over, and before the prompt was gone.

    It comes behind what the prompt reports, so that it counts as typed right after that.
    """

    def __init__(self, key: Key) -> None:
        super().__init__()
        self.key = again(key)


class Prompt(Pane, can_focus=True):
    """Reads keys of its own until it is left; `request` is the one that it is about, if any."""

    ground = "s2"
    request = ""
    reads_ahead = False
    """It takes keys that were read before it was drawn, as none of them lets a call run."""

    passes_keys = False
    """Every key but the one that leaves it does what it does without the prompt."""

    @property
    def hints(self) -> Sequence[Hint]:
        """The hints of the keys that can be pressed while it is open."""
        raise NotImplementedError

    def wants(self, key: Key) -> bool:
        """Returns whether a key is for this prompt, wherever the focus is."""
        return not self.passes_keys or name_of(key) in LEAVES

    @property
    def room(self) -> int:
        """The rows that it may take: half of the screen, but never those of dock and footer."""
        rows, place = self.app.size.height, self.parent
        if not isinstance(place, Widget) or place.id != "prompt":
            return rows // 2
        around = [each for each in place.siblings if each.display]
        others = sum(1 if each.id == "body" else each.outer_size.height for each in around)
        return min(rows // 2, rows - others)

    def keep(self, pending: Mapping[str, PendingView]) -> None:
        """Takes the requests that are still open; the prompt stays, whatever became of its own.

        If it closed by itself, what is typed next would go to keys that decide.
        """
        if self.request and self.request not in pending:
            self.settled()

    def focused(self, now_s: float) -> None:
        """Handles the focus that the terminal gets: keys right after that are not for this."""

    def shown(self) -> None:
        """Handles a new moment that was drawn on the prompt's screen."""

    def settled(self) -> None:
        """Handles the end of its request by somebody else; the prompt stays until it is left."""


def hint(key: str, label: str) -> Hint:
    """Returns a hint of a prompt: a key that it reads always acts."""
    return Hint(key, label, enabled=True)
