"""The real programs: a core in its own process, hook clients, and the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from watchgate import client
from watchgate.agents.registry import adapter, closed_template
from watchgate.link.control_lines import LinkError
from watchgate.service.identity.standing import leader_of
from watchgate.service.system.process_table import ancestors

if TYPE_CHECKING:
    from watchgate.link.protocol import Verb

T = TypeVar("T")
WAIT_S = 60.0
PIN = "correct horse"
# Hook clients run below a process of their own that stands for the agent: what runs below an agent
# may not allow its calls, and the tests' own command line would be below pytest like the clients.
AGENT = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"


def until(
    look: Callable[[], T | None], what: str, *, every_s: float = 0.02, within_s: float = WAIT_S
) -> T:
    """What `look` finds, as soon as it finds anything; a dear look is taken less often."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(every_s)
    raise AssertionError(f"not seen in {within_s:.0f} s: {what}")


class Finished:
    """How a command ended."""

    def __init__(self, code: int, out: bytes, err: bytes) -> None:
        self.code = code
        self.out = out.decode()
        self.err = err.decode()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


class Core:
    """`watchgate serve`, and everything that one does to it."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.hooks: list[Hook] = []
        self.proves = True
        self._token = ""
        self.runtime = Path(os.environ["WATCHGATE_RUNTIME_DIR"])

    def configure(self, text: str) -> None:
        path = Path(os.environ["WATCHGATE_CONFIG"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def start(self, *args: str) -> dict[str, Any]:
        """Serves; where it `proves`, the tests' terminal is unlocked and their program known."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "watchgate", "serve", *args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(self.process.communicate()[1].decode())
        ready: dict[str, Any] = json.loads(line)
        if self.proves:
            self.prove()
        return ready

    def prove(self) -> None:
        """Prove a person to be there, as one does before any agent runs."""
        if leader_of(ancestors(os.getpid())) is None:
            # Under nohup or in the background nobody could tell which terminal the tests are.
            os.setsid()
        if not self._told("presence")["pin"]:
            self._told("pin", action="set", pin=PIN)
            added = self._told("token", action="add", name="tests", risk="high")
            self._token = added["token"]
        self._told("unlock", pin=PIN)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def end(self) -> None:
        self.kill()
        for hook in self.hooks:
            hook.end()

    def cli(self, *args: str) -> Finished:
        done = subprocess.run(
            [sys.executable, "-m", "watchgate", *args],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            env={**os.environ, **self.registered},
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    @property
    def registered(self) -> dict[str, str]:
        """The variables by which a program of the tests' is a registered one."""
        return {"WATCHGATE_TOKEN": self._token} if self._token else {}

    def token_file(self, path: Path) -> Path:
        """The same token as a file for `--token-file`, for whoever gets hold of it."""
        path.touch(0o600)
        path.write_text(self._token)
        return path

    def client(
        self, event: str, *, lane: str = "gate", agent: str = "claude", deadline_s: float = 60
    ) -> list[str]:
        """The command that an agent's settings name."""
        template = closed_template(adapter(agent), event) if lane == "gate" else ""
        return [
            getattr(sys, "_base_executable", sys.executable),
            "-I",
            "-S",
            client.__file__,
            str(self.runtime / "ingest.sock"),
            agent,
            lane,
            event,
            str(deadline_s),
            template,
        ]

    def hook(
        self,
        event: str,
        payload: dict[str, Any] | bytes,
        *,
        lane: str = "gate",
        agent: str = "claude",
        deadline_s: float = 60,
        shell: bool = False,
    ) -> Hook:
        argv = self.client(event, lane=lane, agent=agent, deadline_s=deadline_s)
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        if shell:
            argv = ["/bin/sh", "-c", '"$@"; exit $?', "sh", *argv]
        self.hooks.append(Hook([sys.executable, "-c", AGENT, *argv], raw))
        return self.hooks[-1]

    def pending(self, count: int = 1) -> list[dict[str, Any]]:
        """The requests that wait, as soon as there are so many."""

        def look() -> list[dict[str, Any]] | None:
            found = self.requests()
            return found if found is not None and len(found) == count else None

        # A command each time that it looks would take most of what a test takes.
        return until(look, f"{count} pending") if count else self.cli("ls", "--json").lines

    def requests(self) -> list[dict[str, Any]] | None:
        """The requests that wait now; None where the core does not answer."""
        try:
            found: list[dict[str, Any]] = self._told("list", what="requests")["requests"]
        except LinkError:
            return None
        return found

    def allow(self, request: dict[str, Any], *more: str) -> Finished:
        return self.cli("allow", request["id"], "--digest", request["digest"], *more)

    def records(self) -> list[dict[str, Any]]:
        """Everything recorded so far."""
        found: list[dict[str, Any]] = self._told("history", from_seq=1)["records"]
        return found

    def _told(self, verb: Verb, **more: Any) -> dict[str, Any]:
        """What the core answers to one request."""
        import msgspec

        from watchgate.link.core_socket import call_once
        from watchgate.link.protocol import Request, Result

        answer = call_once(self.runtime / "control.sock", Request(id=1, verb=verb, **more))
        assert isinstance(answer, Result), answer
        found: dict[str, Any] = msgspec.to_builtins(answer.ok)
        return found

    def looked_at(self, command: str, cwd: Path) -> tuple[Hook, dict[str, Any], list[Any]]:
        """A call that is held, its request, and what was found out about it.

        A look is cut after a moment: where the machine was too busy for it, the call is sent again.
        """
        for number in range(20):
            # Of a session of its own: one that tries denied calls again is paused.
            call = bash(command, session=f"look-{number}", cwd=str(cwd))
            hook = self.hook("PreToolUse", call)
            (request,) = self.pending()
            found = until(partial(self._facts_of, request["id"]), "a look")
            if not found.get("cut"):
                return hook, request, found["facts"]
            self.cli("deny", request["id"])
            hook.done()
        raise AssertionError("every look was cut")

    def _facts_of(self, request: str) -> dict[str, Any] | None:
        records = (r for r in self.records() if r["kind"] == "approval.facts")
        return next((r["data"] for r in records if r["request"] == request), None)

    def seen(self, kind: str) -> dict[str, Any]:
        """The newest record of a kind, as soon as there is one."""
        return until(
            lambda: next((r for r in reversed(self.records()) if r["kind"] == kind), None), kind
        )


class Hook:
    """One hook client at work."""

    def __init__(self, argv: list[str], payload: bytes) -> None:
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(payload)
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.stdin = None

    @property
    def below(self) -> int:
        """The pid of what the stand-in for the agent started."""
        pid = self.process.pid
        return int(until(lambda: _children(pid), "a child")[0])

    def end(self) -> None:
        """Kills what is left of it, and reads what it left."""
        if self.process.stdout is not None and not self.process.stdout.closed:
            self.process.kill()
            self.process.communicate()

    @property
    def waits(self) -> bool:
        return self.process.poll() is None

    def done(self) -> Finished:
        out, err = self.process.communicate(timeout=60)
        return Finished(self.process.returncode, out, err)


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def bash(
    command: str, call: str | None = "call-1", session: str = "s1", **more: Any
) -> dict[str, Any]:
    """A shell call of Claude Code's, before it runs."""
    fields: dict[str, Any] = {
        "session_id": session,
        "cwd": "/tmp",
        "permission_mode": "default",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        **more,
    }
    return fields if call is None else {**fields, "tool_use_id": call}
