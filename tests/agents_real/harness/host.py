"""A program that drives `claude -p` in stream-json behind `watchgate stream-json`."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from tests.agents_real.harness.program import PROGRAM
from tests.agents_real.harness.waiting import eventually
from watchgate.service.crashtest.agent_drivers import ClaudeCodeDriver
from watchgate.service.crashtest.model.conversation import PROMPT, Json
from watchgate.service.crashtest.throwaway import ThrowawayPlace

DRIVEN = (
    *("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"),
    *("--permission-prompt-tool", "stdio"),
)


class Host:
    """One run; its user answers whatever the host is asked with the same word."""

    def __init__(self, process: subprocess.Popen[str], answer: Json) -> None:
        self.asked: list[Json] = []
        self._process = process
        self._answer = answer
        self._results: list[Json] = []
        threading.Thread(target=self._listen, daemon=True).start()
        self._send({"type": "user", "message": {"role": "user", "content": PROMPT}})

    def finish(self) -> Json:
        """Waits for the result of the prompt."""
        return eventually(lambda: self._results, "the result of the prompt")[0]

    def _listen(self) -> None:
        for line in _pipe(self._process.stdout):
            message = json.loads(line)
            if message["type"] == "control_request":
                self.asked.append(message["request"])
                self._respond(message["request_id"])
            elif message["type"] == "result":
                self._results.append(message)

    def _respond(self, request: str) -> None:
        response = {"subtype": "success", "request_id": request, "response": self._answer}
        self._send({"type": "control_response", "response": response})

    def _send(self, message: Json) -> None:
        pipe = _pipe(self._process.stdin)
        pipe.write(json.dumps(message) + "\n")
        pipe.flush()


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


@contextmanager
def hosting(
    claude: ClaudeCodeDriver, place: ThrowawayPlace, environment: dict[str, str], answer: Json
) -> Iterator[Host]:
    """A host whose prompt is under way; `answer` is what its user says to every question."""
    with (place.top / "agent.log").open("wb") as log:
        process = subprocess.Popen(
            [PROGRAM, "stream-json", "--", claude.program, *DRIVEN],
            cwd=place.work,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        yield Host(process, answer)
    finally:
        _pipe(process.stdin).close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _pipe(process.stdout).close()
