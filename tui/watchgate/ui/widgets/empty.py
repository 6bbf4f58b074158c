"""The designed empty states: what is so, what is safe, and the one next key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from watchgate.core.text import safe_text
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.options import FoundAgent
from watchgate.ui.widgets.pane import Line, Pane

Kind = Literal["connecting", "no-core", "no-session", "no-call", "left-out", "no-match"]


def install_line(agents: Sequence[FoundAgent]) -> str:
    """The command that connects what was found on this machine."""
    names = [agent.name for agent in agents]
    return f"watchgate install {' '.join(names)}" if names else "watchgate install claude"


class Empty(Pane):
    """Stands where the table would, while there is nothing to put into it."""

    DEFAULT_CSS = "Empty { height: 1fr; }"

    def __init__(self, agents: Sequence[FoundAgent], *, demo: bool) -> None:
        super().__init__()
        self._agents = agents
        self._demo = demo
        self._kind: Kind = "connecting"
        self._filter = ""

    def show(self, kind: Kind, *, words: str = "") -> None:
        """Show one of the states; `words` is the filter of `no-match`."""
        if (kind, words) != (self._kind, self._filter):
            self._kind, self._filter = kind, words
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        airy = rows >= 18
        if self._kind == "no-session":
            return self._first_run(airy=airy)
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

    def _title(self, text: str) -> Line:
        return self.line().add(f"  {safe_text(text)}", bold=True)

    def _first_run(self, *, airy: bool) -> list[Line]:
        blank = [self.line()]
        gap = blank * (2 if airy else 1)
        lines = [
            *gap,
            self._title("No agent is connected yet."),
            self.line().add("  The gate is ready. Nothing has passed through it.", "dim"),
            *gap,
        ]
        if not self._demo:
            lines += [
                self._offer(key_for("demo"), "play the demo").add(
                    "   two minutes, its own data, touches nothing", "dim"
                ),
                *blank,
            ]
        found = "   found on this machine:" if self._agents else "   none was found; for instance:"
        lines += [self._offer(key_for("install"), "connect an agent").add(found, "dim"), *blank]
        lines += self._found()
        lines += [
            *blank,
            self.line().add(
                "  It appears here with its next tool call; no restart of this screen.", "dim"
            ),
        ]
        return lines

    def _offer(self, key: str, what: str) -> Line:
        return self.line().add("  ").add(f"{key}  ", "accent", bold=True).add(what, bold=True)

    def _found(self) -> list[Line]:
        known = self._agents
        lines = [
            self.line()
            .add(f"     {safe_text(agent.name)}")
            .to(15)
            .add(safe_text(agent.version), "dim")
            .to(25)
            .add(f"watchgate install {agent.name}", bold=True)
            for agent in known or (FoundAgent("claude"),)
        ]
        if len(known) > 1:
            all_line = self.line().add("     all of them").to(25)
            all_line.add(install_line(known), bold=True)
            lines.append(all_line)
        lines.append(self.line().to(25).add("--dry-run shows the diff first", "dim"))
        return lines
