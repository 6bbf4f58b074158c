"""Records Codex's trust in its hooks, as its own terminal interface does after asking the user."""

from __future__ import annotations

import json
import subprocess
from types import TracebackType
from typing import IO, Any, Self

from watchgate.service.crashtest.agent_drivers import CodexDriver
from watchgate.service.crashtest.model.conversation import Json
from watchgate.service.crashtest.throwaway import ThrowawayPlace

NOWHERE = "http://127.0.0.1:9"


class _AppServer:
    """Codex's app-server on a pipe: one request at a time."""

    def __init__(self, codex: CodexDriver, place: ThrowawayPlace) -> None:
        self._process = subprocess.Popen(
            [codex.program, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=codex.whole_environment(place, NOWHERE),
            cwd=place.work,
            text=True,
        )
        self._id = 0

    def __enter__(self) -> Self:
        client = {"name": "watchgate-tests", "title": "watchgate-tests", "version": "0"}
        self.call("initialize", {"clientInfo": client})
        self._send({"method": "initialized"})
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pipe(self._process.stdin).close()
        self._process.wait(10)
        self._pipe(self._process.stdout).close()

    def call(self, method: str, params: Json) -> Any:
        """The result of one request; raises `RuntimeError` with the server's error."""
        self._id += 1
        self._send({"id": self._id, "method": method, "params": params})
        for line in self._pipe(self._process.stdout):
            answer = json.loads(line)
            if answer.get("id") != self._id:
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            return answer["result"]
        raise RuntimeError(f"{method}: the app-server ended")

    def _send(self, message: Json) -> None:
        pipe = self._pipe(self._process.stdin)
        pipe.write(json.dumps(message) + "\n")
        pipe.flush()

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None
        return pipe


def trust_hooks(codex: CodexDriver, place: ThrowawayPlace) -> dict[str, str]:
    """Trust every hook that Codex finds, and answer the trust state of each by its key."""
    where = {"cwds": [str(place.work)]}
    with _AppServer(codex, place) as server:
        found = _hooks(server.call("hooks/list", where))
        state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in found}
        edit = {"keyPath": "hooks.state", "mergeStrategy": "upsert", "value": state}
        server.call("config/batchWrite", {"reloadUserConfig": True, "edits": [edit]})
        after = _hooks(server.call("hooks/list", where))
    return {hook["key"]: hook["trustStatus"] for hook in after}


def _hooks(listed: Json) -> list[Json]:
    return [hook for layer in listed["data"] for hook in layer["hooks"]]
