"""The docked request on the Approvals screen, which reports to the arming when it is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import msgspec
from textual.message import Message
from textual.strip import Strip

from watchgate.core.model.views import PendingView
from watchgate.ui.approval.arming import Card, Intent
from watchgate.ui.base.theme import Palette
from watchgate.ui.view_model.view_model import ViewModel
from watchgate.ui.widgets.request.request_detail import Detail

_GROUNDS = ("bg", "s1", "s2", "sel", "add_ground", "del_ground")
_NEVER = Card(id="", risk="")
"""The last reported card while that is not known."""


class WholeRequest(Detail):
    """Shows the request in place of the dock, so decision keys are checked against it.

    Every line of it has to have been on the screen (`AllShown`) before something allows it.
    """

    class Drawn(Message):
        """A frame shows this request now, or none."""

        def __init__(self, card: Card | None) -> None:
            super().__init__()
            self.card = card

    def __init__(self) -> None:
        super().__init__(down="page_down", payload=True)
        self._blocked: Mapping[Intent, str] = {}
        self._reported: Card | None = _NEVER

    @property
    def inks(self) -> Palette:
        """The palette in use; of a lost core every text is in one grey."""
        return faded(super().inks) if self.stale else super().inks

    def take(self, moment: ViewModel, place: str) -> None:
        """Shows the docked request of this moment, at its `place` in the queue."""
        if moment.link.lost != self.stale:
            self.stale = moment.link.lost
            self._drawn = None
            self.refresh()
        self._blocked, self._home = moment.blocked, moment.home
        self.show_request(
            moment.docked,
            moment.state,
            moment.now_us,
            was_all_shown=not moment.context.partly_shown,
            place=place,
            bare=moment.bare,
            reveal=moment.reveal,
        )
        if self._card() != self._reported:
            # Another card may look the same: it is reported when it was painted, so paint it.
            self.refresh()

    def again(self) -> None:
        """Reports the card when it is painted next: something else may have reported another."""
        self._reported = _NEVER
        self.refresh()

    def none(self) -> None:
        """Reports that no request is shown."""
        if self._reported is not None:
            self._reported = None
            self.call_next(self._report, None)

    def render_line(self, y: int) -> Strip:
        """Returns the line `y`; only what is really painted counts as shown."""
        strip = super().render_line(y)
        card = self._card()
        if card is not None and card != self._reported:
            self._reported = card
            self.call_next(self._report, card)
        return strip

    def _card(self) -> Card | None:
        view = self._subject
        if not isinstance(view, PendingView):
            return None
        return Card(
            id=view.id,
            risk=view.data.risk,
            runs_unasked=view.data.runs_unasked,
            blocked=self._blocked,
        )

    def _report(self, card: Card | None) -> None:
        # A message made while the screen paints would count as the screen's own, and end there.
        self.post_message(self.Drawn(card))


@lru_cache(maxsize=8)
def faded(palette: Palette) -> Palette:
    """Returns the palette with all its inks in the one of stale rows; the grounds stay."""
    colors = {
        token: color if token in _GROUNDS else palette.colors["off"]
        for token, color in palette.colors.items()
    }
    return msgspec.structs.replace(palette, name=f"{palette.name}-stale", colors=colors)
