"""The requests that were marked, listed before they are allowed together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from watchgate.core.base.amounts import plural
from watchgate.core.base.text import safe_text
from watchgate.core.model.views import PendingView
from watchgate.ui.approval.arming import Card, Commit, Intent
from watchgate.ui.base.formats import covered, cut_front, home, short_id, width
from watchgate.ui.keys.keymap import Hint
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.base.request_words import chip
from watchgate.ui.widgets.prompts.prompt import hint
from watchgate.ui.widgets.prompts.sheet_prompt import SheetPrompt

FOLDER_CELLS = 24


class BatchPrompt(SheetPrompt):
    """Exactly those that were marked; one that is settled meanwhile leaves, none ever joins."""

    DEFAULT_CSS = "BatchPrompt { height: 3; }"

    def __init__(
        self,
        views: Sequence[PendingView],
        keys: Mapping[str, Intent],
        now_s: Callable[[], float],
        home_dir: str = "",
    ) -> None:
        super().__init__(keys, now_s)
        self._views = tuple(views)
        self._home = home_dir

    @property
    def hints(self) -> Sequence[Hint]:
        together = f"allow these {len(self._views)}"
        return self.deciding or (
            hint(self.names["allow"], together),
            hint("Esc", "not now"),
        )

    def keep(self, pending: Mapping[str, PendingView]) -> None:
        left = tuple(view for view in self._views if view.id in pending)
        if left == self._views:
            return
        gone = len(self._views) - len(left)
        self._views = left
        if not left:
            self.settled()
        else:
            self.notice = f"{plural(gone, 'request')} settled meanwhile and left the list"
            self.fit_rows()

    def sheet(self, cells: int) -> list[StyledLine]:
        line = self.line().add("  ")
        if self._views:
            chip(line, self._views[0].data.risk)
        line.add("  allow together, once each: ").add(
            plural(len(self._views), "request"), bold=True
        )
        return [line, *(self._request(view, cells) for view in self._views)]

    def offer(self) -> Card | None:
        if not self._views:
            return None
        name = " ".join(view.id for view in self._views)
        deny, deny_all = self.names["deny"], key_for("deny_all")
        words = f"{deny} denies one request: Esc, then {deny}; {deny_all} denies all"
        why: dict[Intent, str] = {"deny": words}
        return Card(id=name, risk=self._views[0].data.risk, blocked=why)

    def decide(self, commit: Commit) -> None:
        decisions = (
            (Commit("allow", view.id, commit.shown_ms, commit.confirmed), view)
            for view in self._views
        )
        self.post_message(self.Decided(tuple(decisions)))

    def _request(self, view: PendingView, cells: int) -> StyledLine:
        line = self.line().add(f"  {short_id(view.id)}  ", "dim")
        line.fit(safe_text(view.label[:80]), 16, bold=True).to(26)
        folder = cut_front(home(safe_text(view.data.cwd), self._home), FOLDER_CELLS)
        line.right(f"{folder} ", "dim")
        room = cells - line.left_cells - width(folder) - 3
        return line.fit(covered(view.data.summary), room)
