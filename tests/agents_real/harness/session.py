"""One agent in one place: scripted, started, and asked what came of it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from tests.agents_real.harness.interactive import INTERACTIVE
from tests.agents_real.harness.tmux import Terminal, terminal
from tests.agents_real.harness.waiting import eventually
from watchgate.service.crashtest.agent_driver import AgentDriver
from watchgate.service.crashtest.model.conversation import Shell, Turn
from watchgate.service.crashtest.model.model_server import ScriptedModel
from watchgate.service.crashtest.throwaway import ThrowawayPlace

EVIDENCE = "out.txt"
RISKY = f"git push --force; echo ran >> {EVIDENCE}"
"""A command that leaves evidence; it is risky by its words and harmless in an empty directory."""

A_co = TypeVar("A_co", bound=AgentDriver, covariant=True)


def one_call(command: str = RISKY) -> Turn:
    """A turn in which the model calls one shell command."""
    return Turn("I will run a command.", (Shell(command),))


class Session(Generic[A_co]):
    """An agent that is configured and ready to be started; `interactive` are its arguments then."""

    def __init__(self, agent: A_co, place: ThrowawayPlace, model: ScriptedModel) -> None:
        self.agent = agent
        self.place = place
        self.interactive = INTERACTIVE[agent.name]
        self._model = model
        self.beside: dict[str, str] = {}
        self._process: subprocess.Popen[bytes] | None = None
        agent.configure(place, model.url)

    @property
    def results(self) -> list[str]:
        """What the model has been told about its calls, in the agent's order."""
        return [result.text for result in self._model.results]

    @property
    def told(self) -> str:
        """The same as one text."""
        return "\n".join(self.results)

    @property
    def read(self) -> str:
        """All that the model was given to read with its newest answer about a call."""
        return self._model.read

    @property
    def evidence(self) -> str:
        """What the commands have left behind; empty when none ran."""
        file = self.place.work / EVIDENCE
        return file.read_text() if file.exists() else ""

    def start(self, *turns: Turn, options: tuple[str, ...] = ()) -> None:
        """Starts the agent without a terminal, with further options, and returns at once."""
        self._model.script = turns
        with (self.place.top / "agent.log").open("wb") as log:
            self._process = subprocess.Popen(
                [self.agent.program, *self.agent.headless(self.place), *options],
                cwd=self.place.work,
                env=self.agent.whole_environment(self.place, self._model.url),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def finish(self) -> None:
        """Waits until the agent has ended by itself."""
        process = self._process
        assert process is not None, "the agent was not started"
        try:
            eventually(lambda: process.poll() is not None, "the end of the agent")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.output()}") from None
        assert not self._model.faults, self._model.faults

    def play(self, *turns: Turn) -> None:
        """Starts the agent and waits for its end."""
        self.start(*turns)
        self.finish()

    def output(self) -> str:
        """All that the agent printed in its run without a terminal."""
        return (self.place.top / "agent.log").read_text(errors="replace")

    @contextmanager
    def on_a_terminal(self, *turns: Turn) -> Iterator[Terminal]:
        """The agent's own screen, for as long as the block runs."""
        self._model.script = turns
        environment = self.agent.whole_environment(self.place, self._model.url)
        argv = [str(self.agent.program), *self.interactive]
        with terminal(self.place, argv, environment | self.beside) as opened:
            yield opened

    def close(self) -> None:
        """Ends the agent and everything that it started."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


AnySession = Session[AgentDriver]
