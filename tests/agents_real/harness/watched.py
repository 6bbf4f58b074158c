"""One session of an agent, seen from its own terminal and from a console beside it."""

from __future__ import annotations

import re
from contextlib import ExitStack

import msgspec

from tests.agents_real.harness.modes import Mode
from tests.agents_real.harness.program import PROGRAM, Core, Held, Watchgate
from tests.agents_real.harness.session import AnySession
from tests.agents_real.harness.tmux import Terminal, terminal
from tests.agents_real.harness.waiting import eventually
from watchgate.agents.registry import agent_titles
from watchgate.core.history.call_history import fold_history
from watchgate.core.history.history_row import HistoryRow
from watchgate.core.model.records import Record

THERE = "needs you there"
CURSOR = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"
UNWRITTEN = "Read-only file system"
"""How a command of a sandbox that lets none write says that it ran."""


class Watched:
    """The session in one mode; `screen` is the agent's own, `console` is open until one leaves."""

    screen: Terminal
    console: Terminal

    def __init__(self, mode: Mode, agent: AnySession, core: Core, watchgate: Watchgate) -> None:
        self.mode = mode
        self.agent = agent
        self.core = core
        self._watchgate = watchgate
        self._consoles = ExitStack()
        self._answers = 0

    def watch(self) -> None:
        """Opens a console: with it somebody is there to answer."""
        surroundings = self._watchgate.environment | {"TERM": "xterm-256color"}
        opened = terminal(self._watchgate.place, [str(PROGRAM)], surroundings)
        self.console = self._consoles.enter_context(opened)
        self.console.wait_for("Nothing has passed through it|without a gate|last min")

    def leave(self) -> None:
        """Closes the console."""
        self._consoles.close()

    def begin(self, screen: Terminal) -> None:
        """Takes the agent's screen, and answers what it asks at its start in this mode."""
        self.screen = screen
        self.console.press("Down")  # a key says that somebody is at the console
        if self.mode.opening is not None:
            question, (first, *others) = self.mode.opening
            self.screen.wait_for(question)
            self.screen.press_until(first, f"{CURSOR} {question}")
            self.screen.press(*others)

    def held(self) -> Held:
        """The next call that waits, as the console says of its session."""
        held = self.core.holds_one()
        self.console.wait_for(r"waiting \d")
        self._answers = len(self.agent.results)
        return held

    def promise(self) -> str:
        """What the card says of an allow, behind the agent's name."""
        self.console.press("Enter")
        self.console.wait_for("after allow")
        said = re.search(r"after allow +(.*?) *$", self.console.screen(), re.MULTILINE)
        self.console.press("Escape")
        self.console.wait_for("last min +cost")
        assert said is not None
        return said[1].removeprefix(f"{agent_titles()[self.mode.agent]} ")

    def outcome(self, word: str) -> str:
        """What the agent does by itself with the call that was held, which writes this word."""

        def found() -> str:
            if word in self.agent.evidence:
                return "ran"
            if self.screen.shows(self.mode.asks) and self.console.shows(THERE):
                return "asked"
            answers = self.agent.results[self._answers :]
            if not answers:
                return ""
            return "ran" if UNWRITTEN in "".join(answers) else "refused"

        return eventually(found, f"what {self.mode.id} does with {word}")

    def edit(self, held: Held, command: str) -> None:
        """Allow another command in its place; where the gate takes none, allow the call itself."""
        with_it = ("--digest", held.digest, "--command", command)
        done = self._watchgate.run("allow", held.id, *with_it)
        assert (done.exit_code == 0) is self.mode.edits, done.text
        if not self.mode.edits:
            assert "cannot be told another input" in done.err
            self.core.allow(held)
            self.outcome("asked")
            self.let_end("asked")

    def say_yes(self, word: str) -> None:
        """Allow the call in the agent's own dialog, which then begins to write its word."""
        *chosen, last = self.mode.yes
        for key in chosen:
            self.screen.press_until(key, f"{CURSOR} Yes")
        self.screen.press_till(last, lambda: word in self.agent.evidence, word)

    def say_yes_before_the_gate(self, word: str) -> None:
        """Allow the call in the dialog that comes before the gate, where it then waits."""
        waiting = len(self.core.records("approval.requested"))
        self.screen.wait_for(f"echo {word}")

        def held() -> bool:
            return len(self.core.records("approval.requested")) > waiting

        self.screen.press_till(self.mode.yes[-1], held, word)

    def let_end(self, word: str) -> None:
        """Lets a command that goes on come to its end."""
        (self.agent.place.work / word).touch()

    def ran_ms(self, row: HistoryRow) -> float:
        """How long the call ran at most: from the newest decision on it to its result."""
        own = [each for each in self.core.every_record() if each["call"] == row.call]
        decided = [each["at"] for each in own if each["kind"] == "approval.decided"]
        ended = [each["at"] for each in own if each["kind"] in ("tool.post", "tool.error")]
        return float(ended[-1] - decided[-1]) / 1000 + 1

    def rows(self) -> list[HistoryRow]:
        """The calls as the History shows them."""
        return fold_history(
            [msgspec.convert(each, Record) for each in self.core.every_record()], 100
        )
