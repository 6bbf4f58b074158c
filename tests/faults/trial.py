"""One fault on every lane at once: ask, harm, strike, decide, and look at what the agents got."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from tests.e2e.programs import until
from tests.faults.agent import CLAUDE, Asked, call, entry, read
from tests.faults.words import Fault, Gets, When
from tests.faults.world import PYTHON, World
from tests.terminal import Terminal
from watchgate.client import REASONS
from watchgate.service.setup.forms.guarded_command import HookClient, hook_command

LONG_S, SHORT_S = 600, 1
LATE = REASONS[TimeoutError]
WAITING = ("gate", "gate-read", "relay")


class Trial:
    """A fault and its world. A harm may change what the agents' hooks are, before they ask."""

    def __init__(self, fault: Fault, world: World) -> None:
        self.fault = fault
        self.world = world
        self.name = fault.slug
        self.python = PYTHON
        self.script = world.paths.client
        self.native: Path | None = None
        self.socket = world.paths.ingest_socket
        self.before: list[str] = []
        """What the hook is started by."""
        self.payload: Callable[[bytes], bytes] = bytes
        self.mark = "plain"
        self.keeps_open = False
        self.deaf = False
        self.console: Terminal | None = None
        self.hooks: dict[str, Asked] = {}
        self._last = world.newest()
        self._made: list[Asked] = []

    def run(self) -> None:
        """The whole of it; what is wrong fails."""
        with ExitStack() as closing:
            closing.callback(self.end)
            with self.fault.harm(self):
                for lane in WAITING:
                    self.hooks[lane] = self.ask(lane)
                if self.fault.strike:
                    self._strike(self.fault.strike)
                if "observe" not in self.hooks:
                    self.hooks["observe"] = self.ask("observe")
                for lane, (gets, when) in self.fault.cells.items():
                    self._lane(lane, gets, when)
                self._as_strict_has_it()
                self._patience()
            self._evidence()

    def ask(
        self, lane: str, *, profile: str = "guard", deadline_s: int = 0, name: str = ""
    ) -> Asked:
        """Starts a lane's hook as an agent does."""
        late = self.fault.cells[lane][1] is When.DEADLINE
        client = HookClient(
            python=Path(self.python),
            script=self.script,
            ingest_socket=self.socket,
            deadline_s=deadline_s or self.fault.deadline_s or (SHORT_S if late else LONG_S),
            native=self.native,
        )
        argv = shlex.split(hook_command(CLAUDE, entry(lane), client, profile))
        asked = Asked(
            [*self.before, *argv],
            self.payload(self.whole(name or lane, lane)),
            keep_open=self.keeps_open,
            deaf=self.deaf,
        )
        self._made.append(asked)
        return asked

    def whole(self, name: str, lane: str = "") -> bytes:
        """The call of an agent, as JSON."""
        return json.dumps(call(lane or name, self.session(name), self.mark)).encode()

    def session(self, lane: str) -> str:
        """The session of a lane's agent."""
        return f"{self.name}-{lane}"

    def is_held(self, lane: str) -> None:
        """Returns once the core holds a lane's call."""
        until(lambda: self.world.held(self.session(lane)), f"{lane} held")

    def _strike(self, strike: Callable[[Trial], None]) -> None:
        if not self.keeps_open:
            for lane in WAITING:
                self.is_held(lane)
        else:
            self.hooks["observe"] = self.ask("observe")
        strike(self)

    def _lane(self, lane: str, gets: Gets, when: When) -> None:
        hook = self.hooks[lane]
        if when is When.DECIDED:
            self.is_held(lane)
            assert hook.waits
            self._deny(lane)
        done = hook.done()
        got, told = read(lane, done), done.out + done.err
        if lane == "observe":
            return
        if gets is Gets.HELD:
            assert got is Gets.DENIED
            assert "decided so" in told, "by you, and not by the fault"
        else:
            assert got is gets, f"{lane}: {got} {told}"
        if gets is Gets.DENIED:
            assert self.fault.because in told, told
            assert (LATE in told) == (when is When.DEADLINE), told

    def _deny(self, lane: str) -> None:
        request = self.world.held(self.session(lane))
        assert request is not None
        said = self.world.ask("decide", request=request["id"], decision="deny", reason="decided so")
        assert "refused" not in said, said

    def _as_strict_has_it(self) -> None:
        """Under `strict` a hook that has to answer by itself closes gate-read as well."""
        own = self.fault.because in REASONS.values() or "hook client" in self.fault.because
        if self.fault.gate_read is Gets.NO_OPINION and own and not self.fault.strike:
            done = self.ask("gate-read", profile="strict", name="strict").done()
            assert read("gate-read", done) is Gets.DENIED
            assert self.fault.because in done.err

    def _patience(self) -> None:
        """What is said to come at the deadline does not come sooner."""
        if self.fault.when is not When.DEADLINE or self.fault.strike:
            return
        patient = [self.ask(lane, deadline_s=LONG_S, name=f"{lane}-more") for lane in WAITING]
        self.ask("gate", deadline_s=SHORT_S, name="gate-again").done()
        assert all(each.waits for each in patient)

    def _evidence(self) -> None:
        self.end()
        if self.fault.observe is Gets.RECORDED:
            session = self.session("observe")
            until(lambda: self.world.saw(session, self._last), "its record")
        elif self.fault.observe is Gets.UNREAD:
            until(lambda: self.world.saw_unread("UserPromptSubmit", self._last), "its record")
        else:
            seen = self.world.saw(self.session("observe"), self._last)
            assert not seen or self.fault.observe is Gets.PERHAPS

    def end(self) -> None:
        """Leaves nothing of it but the core."""
        if self.console is not None and self.console.process.poll() is None:
            self.console.process.kill()
        for each in self._made:
            each.end()
