"""The empty states of the Monitor: the situation, what is safe, and the next key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from watchgate.core.base.amounts import plural
from watchgate.core.base.text import safe_text
from watchgate.core.model.agent_state import AgentState, install_command
from watchgate.core.model.session_view import SessionView
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.view_model.overview import live_sessions
from watchgate.ui.view_model.view_model import ViewModel
from watchgate.ui.widgets.base.pane import Pane, StyledLine

SESSIONS_SHOWN = 4
AGENTS_SHOWN = 6
MonitorEmptyKind = Literal["connecting", "no-core", "no-session", "no-call", "left-out", "no-match"]


class MonitorEmpty(Pane):
    """A text in the place of the table, while there is nothing to put into it."""

    DEFAULT_CSS = "MonitorEmpty { height: 1fr; }"

    def __init__(self, *, demo: bool) -> None:
        super().__init__()
        self._demo = demo
        self._kind: MonitorEmptyKind = "connecting"
        self._filter = ""
        self._agents: Sequence[AgentState] = ()
        self._not_gated: Sequence[SessionView] = ()

    def show(
        self, kind: MonitorEmptyKind, moment: ViewModel | None = None, *, words: str = ""
    ) -> None:
        """Shows one of the states; `words` is the filter of `no-match`.

        The `moment` has the agents of this machine, and the sessions that run without a gate.
        """
        agents = moment.agents if moment is not None else ()
        live = live_sessions(moment.state) if moment is not None else ()
        ungated = tuple(view for view in live if view.gated is False)
        before = (self._kind, self._filter, self._agents, self._not_gated)
        if (kind, words, agents, ungated) != before:
            self._kind, self._filter, self._agents, self._not_gated = kind, words, agents, ungated
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        airy = rows >= 18
        if self._kind == "no-session":
            return self._first_run(cells, airy=airy)
        title, then = {
            "connecting": ("Attaching to the core.", "Nothing is shown before its first picture."),
            "no-core": ("No core answers.", "What that means for agents is told below."),
            "no-call": ("A session is connected.", "Its first tool call appears here."),
            "left-out": (
                "More happened than can be shown.",
                "The calls appear here when it is quiet.",
            ),
            "no-match": (
                f"No call matches {self._filter}",
                f"{key_for('back')} clears the filter.",
            ),
        }[self._kind]
        blank = [self.line()] * (2 if airy else 1)
        return [*blank, self._title(title), self.line().add(f"  {then}", "dim")]

    def _title(self, text: str) -> StyledLine:
        return self.line().add(f"  {safe_text(text)}", bold=True)

    def _first_run(self, cells: int, *, airy: bool) -> list[StyledLine]:
        blank = [self.line()]
        gap = blank * (2 if airy and not self._not_gated else 1)
        lines = [*gap, *(self._ungated(cells) if self._not_gated else self._ready()), *gap]
        if not self._demo:
            lines += [
                self._offer(key_for("demo"), "play the demo").add(
                    "   two minutes, its own data, touches nothing", "dim"
                ),
                *blank,
            ]
        here = "   on this machine:" if self._agents else "   for instance:"
        lines += [self._offer(key_for("install"), "connect an agent").add(here, "dim"), *blank]
        lines += self._states(cells)
        lines += [
            *blank,
            self.line().add(
                "  It appears here with its next tool call; no restart of this screen.", "dim"
            ),
        ]
        return lines

    def _ready(self) -> list[StyledLine]:
        ready = any(each.ready for each in self._agents)
        title = "No call has come yet." if ready else "No agent is connected yet."
        then = "  The gate is ready. Nothing has passed through it."
        return [self._title(title), self.line().add(then, "dim")]

    def _ungated(self, cells: int) -> list[StyledLine]:
        """Lists the sessions that run without our hooks, and why as far as is known."""
        ungated = self._not_gated
        verb, they = ("runs", "it does") if len(ungated) == 1 else ("run", "they do")
        lines = [
            self._title(f"{plural(len(ungated), 'session')} {verb} without a gate."),
            self.line().add(f"  What {they} is neither held nor shown here.", "dim"),
        ]
        for view in ungated[:SESSIONS_SHOWN]:
            line = self.line().to(5).fit(safe_text(view.label), 12, bold=True).to(18)
            line.fit(safe_text(view.agent), 9).to(28)
            why = view.cause.partition(": ")[2] or view.cause
            lines.append(line.fit(safe_text(why), max(cells - 29, 0), "dim"))
        if len(ungated) > SESSIONS_SHOWN:
            lines.append(self.line().add(f"     {len(ungated) - SESSIONS_SHOWN} more", "dim"))
        return lines

    def _offer(self, key: str, what: str) -> StyledLine:
        return self.line().add("  ").add(f"{key}  ", "accent", bold=True).add(what, bold=True)

    def _states(self, cells: int) -> list[StyledLine]:
        """Lists the agents that are here with their states, and the command for the others."""
        here = [each for each in self._agents if each.is_present or each.installed]
        lines = []
        for each in here[:AGENTS_SHOWN]:
            name = f"{each.host}:{each.agent}" if each.host else each.agent
            line = self.line().to(5).fit(safe_text(name), 11).to(17)
            line.add(each.hooks, "dim").to(36)
            lines.append(line.fit(safe_text(each.next), max(cells - 37, 0), bold=not each.ready))
        wanting = [each for each in here if each.wants_install and not each.host]
        if len(wanting) > 1 or not here:
            which = "all of them" if here else "claude"
            command = install_command(self._agents)
            line = self.line().add(f"     {which}").to(36)
            lines.append(line.fit(command, max(cells - 37, 0), bold=True))
        if wanting or not here:
            lines.append(self.line().to(36).add("--dry-run shows the diff first", "dim"))
        return lines
