"""An editor that speaks the Agent Client Protocol with an agent behind `watchgate acp`."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from tests.agents_real.harness.packages import ACP
from tests.agents_real.harness.program import PROGRAM
from tests.agents_real.harness.waiting import eventually
from watchgate.service.crashtest.agent_driver import AgentDriver
from watchgate.service.crashtest.model.conversation import PROMPT, Json
from watchgate.service.crashtest.throwaway import ThrowawayPlace

PROTOCOL_VERSION = 1
LOGIN = {"gemini": "gemini-api-key"}
"""The agents that take no prompt before the editor has chosen how to log in."""


class Editor:
    """One session; its user answers whatever the editor is asked with one kind of option."""

    def __init__(self, process: subprocess.Popen[str], answers: str) -> None:
        self.asked: list[Json] = []
        self._process = process
        self._answers = answers
        self._results: dict[int, Json] = {}
        self._last = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def call(self, method: str, params: Json) -> Json:
        """The result of one request; fails the test with the agent's error."""
        number = self.start(method, params)
        return self.finish(number)

    def start(self, method: str, params: Json) -> int:
        """Sends a request and returns at once with its number."""
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        return self._last

    def finish(self, number: int) -> Json:
        """Waits for the answer to a request."""
        answer = eventually(
            lambda: self._results.get(number, {}), f"the answer to request {number}"
        )
        assert "error" not in answer, answer
        result: Json = answer.get("result") or {}
        return result

    def _listen(self) -> None:
        for line in _pipe(self._process.stdout):
            message = json.loads(line)
            if message.get("method") == "session/request_permission":
                self.asked.append(message["params"])
                self._choose(message)
            elif "method" not in message:
                self._results[message["id"]] = message

    def _choose(self, request: Json) -> None:
        options = request["params"]["options"]
        chosen = next(option for option in options if option["kind"] == self._answers)
        outcome = {"outcome": "selected", "optionId": chosen["optionId"]}
        self._send({"id": request["id"], "result": {"outcome": outcome}})

    def _send(self, message: Json) -> None:
        pipe = _pipe(self._process.stdin)
        pipe.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        pipe.flush()


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


@contextmanager
def editing(
    agent: AgentDriver, place: ThrowawayPlace, environment: dict[str, str], answers: str
) -> Iterator[tuple[Editor, int]]:
    """An editor whose prompt is under way, and the number of that request.

    `answers` is the kind of option that its user takes when it is asked, such as `reject_once`.
    """
    with (place.top / "agent.log").open("wb") as log:
        process = subprocess.Popen(
            [PROGRAM, "acp", "--", agent.program, *ACP[agent.name]],
            cwd=place.work,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        editor = Editor(process, answers)
        hello = {"protocolVersion": PROTOCOL_VERSION, "clientCapabilities": {}}
        editor.call("initialize", hello)
        if login := LOGIN.get(agent.name):
            editor.call("authenticate", {"methodId": login})
        new = editor.call("session/new", {"cwd": str(place.work), "mcpServers": []})
        prompt = [{"type": "text", "text": PROMPT}]
        yield (
            editor,
            editor.start("session/prompt", {"sessionId": new["sessionId"], "prompt": prompt}),
        )
    finally:
        _pipe(process.stdin).close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _pipe(process.stdout).close()
