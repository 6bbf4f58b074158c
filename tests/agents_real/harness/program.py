"""The program under test, driven only through its command line and signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec

from tests.agents_real.harness import npm
from tests.agents_real.harness.packages import Package
from tests.agents_real.harness.waiting import eventually
from watchgate.link.core_socket import call_once
from watchgate.link.protocol import Request, Result
from watchgate.service.crashtest.agent_driver import base_environment
from watchgate.service.crashtest.model.conversation import Json
from watchgate.service.crashtest.throwaway import ThrowawayPlace
from watchgate.service.identity.standing import leader_of
from watchgate.service.system.process_table import ancestors

PROGRAM = Path(sys.executable).with_name("watchgate")
COMMAND_LIMIT_S = 30
PIN = "correct horse"


class Done(msgspec.Struct, frozen=True):
    """How a command ended."""

    exit_code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """Everything it printed."""
        return self.out + self.err


class Held(msgspec.Struct, frozen=True):
    """One line of `watchgate ls --json`."""

    id: str
    agent: str
    session: str
    lane: str
    tool: str
    summary: str
    risk: str
    reason: str
    digest: str
    received_at: str | int
    deadline_s: float


class Watchgate:
    """The command line, run in a place of its own."""

    def __init__(self, place: ThrowawayPlace, packages: Iterable[Package]) -> None:
        self.place = place
        self._environment = {
            **base_environment(place, *(npm.programs(each) for each in packages)),
            "WATCHGATE_RUNTIME_DIR": str(place.runtime),
            "WATCHGATE_STATE_DIR": str(place.state),
            "WATCHGATE_CONFIG": str(place.config),
        }
        self.registered: dict[str, str] = {}
        """What only the tests are given: no agent may have their token."""

    @property
    def environment(self) -> dict[str, str]:
        """What a program of this place is started with."""
        return dict(self._environment)

    def run(self, *arguments: str) -> Done:
        """Runs one command to its end, as the registered program that the tests are."""
        done = subprocess.run(
            [PROGRAM, *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.place.work,
            env={**self._environment, **self.registered},
            stdin=subprocess.DEVNULL,
            timeout=COMMAND_LIMIT_S,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def must(self, *arguments: str) -> str:
        """What a command printed that has to succeed."""
        done = self.run(*arguments)
        assert done.exit_code == 0, f"{arguments} ended {done.exit_code}: {done.text}"
        return done.out

    def spawn(self, *arguments: str, log: Path) -> subprocess.Popen[bytes]:
        """Starts a command that goes on; what it prints goes to the file `log`."""
        with log.open("wb") as out, log.with_suffix(".err").open("wb") as err:
            return subprocess.Popen(
                [PROGRAM, *arguments],
                cwd=self.place.work,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )


class Core:
    """A running `watchgate serve`, and what an operator does with it from a shell."""

    def __init__(self, watchgate: Watchgate) -> None:
        self._watchgate = watchgate
        self._log = watchgate.place.top / "serve.log"
        self._records = watchgate.place.top / "records.log"
        self._process = watchgate.spawn("serve", log=self._log)
        try:
            eventually(self._ready, "the core to be ready")
        except AssertionError:
            self.die()
            raise
        self._introduce()
        self._tail = watchgate.spawn("tail", "--json", "--since", "1h", log=self._records)

    def _introduce(self) -> None:
        """Prove a person to be there, and register the tests' program, before any agent runs."""
        if leader_of(ancestors(os.getpid())) is None:
            # Under nohup or in the background nobody could tell which terminal the tests are.
            os.setsid()
        if not self._watchgate.registered:
            self._ask(Request(id=1, verb="pin", action="set", pin=PIN))
            token = self._watchgate.must("token", "add", "tests", "--risk", "high").strip()
            self._watchgate.registered = {"WATCHGATE_TOKEN": token}
        self._ask(Request(id=1, verb="unlock", pin=PIN))

    def _ask(self, request: Request) -> None:
        answer = call_once(self._watchgate.place.runtime / "control.sock", request)
        assert isinstance(answer, Result), answer

    def _ready(self) -> bool:
        self._must_live()
        line = self._log.read_text().partition("\n")[0]
        return bool(line) and json.loads(line)["ready"] is True

    def _must_live(self) -> None:
        error = self._log.with_suffix(".err").read_text
        assert self._process.poll() is None, f"the core has ended: {error()}"

    def pending(self) -> list[Held]:
        """The requests that wait now."""
        self._must_live()
        lines = self._watchgate.must("ls", "--json").splitlines()
        return [msgspec.json.decode(line, type=Held) for line in lines]

    def holds(self, count: int) -> list[Held]:
        """Waits until this many requests are pending."""

        def so_many() -> list[Held]:
            # A look at what the records tell costs nothing; each `ls` is a program of its own.
            pending = self.pending() if self._waiting() == count else []
            return pending if len(pending) == count else []

        return eventually(so_many, f"{count} pending requests")

    def holds_one(self) -> Held:
        """Waits for the one request that is pending."""
        return self.holds(1)[0]

    def is_empty(self) -> None:
        """Waits until nothing is pending."""
        eventually(lambda: not (self._waiting() or self.pending()), "no pending request")

    def _waiting(self) -> int:
        """How many requests have no decision, as far as the records have come."""
        self._must_live()
        return len(self.records("approval.requested")) - len(self.records("approval.decided"))

    def allow(self, held: Held, *options: str) -> Done:
        """Allow exactly what was shown."""
        return self._watchgate.run("allow", held.id, "--digest", held.digest, *options)

    def deny(self, held: Held, reason: str) -> Done:
        """Deny with a reason."""
        return self._watchgate.run("deny", held.id, "--reason", reason)

    def hand_back(self, held: Held) -> Done:
        """Leaves the call to the agent's own rules."""
        return self._watchgate.run("handback", held.id)

    def records(self, kind: str) -> list[Json]:
        """The records of one kind that have come so far."""
        return [record for record in self.every_record() if record["kind"] == kind]

    def every_record(self) -> list[Json]:
        """The records that have come so far."""
        # The last line may still be half written.
        lines = self._records.read_text().rpartition("\n")[0].splitlines()
        return [json.loads(line) for line in lines]

    def turn_ends(self) -> None:
        """Waits until the agent's turn is over, and with it everything about its calls."""
        eventually(lambda: self.records("turn.end"), "the end of the turn")

    def status(self) -> Json:
        """What `watchgate status` says."""
        status: Json = json.loads(self._watchgate.must("status", "--json"))
        return status

    def record(self, kind: str, request: str) -> Json:
        """Waits for the record of this kind about a request."""

        def about_it() -> list[Json]:
            return [found for found in self.records(kind) if found["request"] == request]

        return eventually(about_it, f"the record {kind} of {request}")[0]

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to the core's process."""
        self._process.send_signal(number)

    def die(self) -> None:
        """Ends the core without a chance to say goodbye."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """Ends the core in the proper way, and at once if that fails."""
        if self._process.poll() is None:
            self._watchgate.run("stop")
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self.die()
        self._tail.kill()
        self._tail.wait()
