"""A console's widgets full of hostile text, for a pseudo-terminal to watch."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.ui.requests import NOW, pending, row
from tests.ui.widgets_app import Stage
from watchgate.core.model.assessment import Finding
from watchgate.core.model.events import OwnRules, Tool
from watchgate.core.model.records import Fact
from watchgate.core.model.views import Settled
from watchgate.core.state.state import State
from watchgate.ui.approval.arming import Ask, Commit
from watchgate.ui.widgets.calls.call_table import RingTable
from watchgate.ui.widgets.dock import Dock
from watchgate.ui.widgets.dock_lines import DockView
from watchgate.ui.widgets.prompts.confirm_prompts import YesPrompt
from watchgate.ui.widgets.prompts.filter_bar import FilterBar
from watchgate.ui.widgets.prompts.typed_prompts import ReplyPrompt
from watchgate.ui.widgets.request.request_detail import Detail

HOSTILE = (
    "\x1b]0;pwned\x07"
    "\x1b[2J\x1b[31mred"
    "\x1b]52;c;cHduZWQ=\x1b\\"
    "\x1bP+q544e\x1b\\"
    "\x9b31m\x9d0;pwned\x9c\x90"
    "\r\n\x08\x7f\x00"
    "\u202eevil\u202c\u2066\u2069\u061c\u200e\u200f"
    "\u200b\u2060\ufeff\u2028\u2029\ud800"
    "\U000e0041\ufe0f\u3164"
    "[bold red]markup[/]"
)

SENDABLE = HOSTILE.replace("\ud800", "")
"""Without the one character that JSON cannot carry."""


class Hostile(Stage):
    """Every widget that shows text from outside, all of it hostile; leaves soon after a paste."""

    def __init__(self) -> None:
        self.table, self.dock, self.detail = RingTable(), Dock(), Detail(home=HOSTILE)
        self.idle = Dock()
        self.view = pending(
            "ls " + HOSTILE,
            agent=HOSTILE,
            label=HOSTILE,
            risk="high",
            rule=HOSTILE,
            reason=HOSTILE,
            findings=(Finding(HOSTILE, HOSTILE, "high", (0, 9), suggest=HOSTILE),),
            raised=HOSTILE,
            before={"new_string": SENDABLE},
            cwd="/" + HOSTILE,
            mode=HOSTILE,
            native=HOSTILE,
            own_rules=OwnRules("confined", "runs-or-asks"),
            runs_unasked=True,
            tool=Tool(HOSTILE, HOSTILE, "edit", {"new_string": SENDABLE, "x": SENDABLE[:20]}, ""),
        )
        self.view = msgspec.structs.replace(self.view, facts=(Fact(HOSTILE, grave=True),))
        reply = ReplyPrompt(Commit("reply", self.view.id, 0), self.view)
        yes = YesPrompt(Ask("yes", "allow", self.view.id, "", 0), "means", lambda: None)
        self.bar = FilterBar()
        super().__init__(self.table, self.detail, reply, yes, self.bar, self.dock, self.idle)

    def on_mount(self) -> None:
        state = State()
        facts: dict[str, Any] = {"label": HOSTILE, "tool": HOSTILE, "stage": "failed"}
        for number in range(4):
            state.rows.append(row(number, summary=HOSTILE * (number + 1), **facts))
        state.rows.append(row(7, glyph=HOSTILE, stage=HOSTILE))
        state.rows.append(row(8, stage=HOSTILE, alarm=True))
        state.rows.append(row(9, summary=HOSTILE, label=HOSTILE, stage="RAN ALTERED", alarm=True))
        self.table.show(state, NOW)
        self.detail.show_request(self.view, state, NOW)
        self.dock.show(DockView(now_us=NOW, pending=self.view, count=2))
        last = Settled(
            request=self.view.id,
            at=NOW,
            word="denied-by-operator",
            by=HOSTILE,
            label=HOSTILE,
            tool=HOSTILE,
            summary=HOSTILE,
            waited_s=1.0,
        )
        self.idle.show(DockView(now_us=NOW, last=last))
        self.bar.focus()
        self.set_timer(20.0, self.exit)

    def on_filter_bar_changed(self, message: FilterBar.Changed) -> None:
        self.set_timer(0.3, self.exit)


if __name__ == "__main__":
    Hostile().run()
