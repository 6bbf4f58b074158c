"""The banners with the alarm's bar: core lost, gate switched off, a file of the gate changed."""

from __future__ import annotations

import msgspec

from watchgate.core.text import safe_text
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.pane import Line, Pane


class OffView(msgspec.Struct, frozen=True, kw_only=True):
    """The switched off gate: by whom, until when in words, and what has run since, by risk."""

    by: str = ""
    until: str = ""
    high: int = 0
    critical: int = 0


class OffBanner(Pane):
    """Three lines with the alarm's bar."""

    DEFAULT_CSS = "OffBanner { height: 3; }"

    ground = "s1"

    def __init__(self) -> None:
        super().__init__()
        self._view = OffView()

    def show(self, view: OffView) -> None:
        """Shows who switched the gate off and what ran since."""
        if view != self._view:
            self._view = view
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        view = self._view
        by = f" by {safe_text(view.by)}" if view.by else ""
        return [
            self._line().add(f"Switched off{by}, {view.until}", bold=True),
            self._line().add("Calls run by each agent's own rules. They are still recorded here."),
            self._line()
            .add(_ran(view.high, view.critical))
            .add(key_for("gate_on"), "accent", bold=True)
            .add(" switches the gate on now", bold=True),
        ]

    def _line(self) -> Line:
        return self.line().add(" ", on="alarm").add(" ")


def _ran(high: int, critical: int) -> str:
    parts = [f"{high} HIGH"] * bool(high) + [f"{critical} CRITICAL"] * bool(critical)
    return f"{' and '.join(parts)} ran since then.   " if parts else ""
