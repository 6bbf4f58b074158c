"""A client of one OpenCode server: reports its events to the core, and brings answers back.

For a server without our plugin. It gets every call but can hold none; OpenCode's own questions are
put to the core, and the first answer counts, OpenCode's own dialog being open all the while.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any, Final

import anyio
import msgspec
from anyio.abc import TaskGroup

from watchgate.agents.opencode.feed import (
    Feed,
    FeedStep,
    OpenQuestion,
    QuestionOver,
    RecordStep,
    answer_request,
)
from watchgate.agents.opencode.opencode_events import ASKED, QUESTION
from watchgate.agents.opencode.opencode_payload import Fields, mapping, string
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.model.events import Lane
from watchgate.service.bridges.core_client import EventForwarder, IngestClient, Unanswered
from watchgate.service.bridges.opencode_server import (
    EventStreamError,
    OpenCodeServer,
    ServerRefused,
    ServerUnreachable,
)

PLUGIN: Final = "/watchgate.js"
PAUSES_S: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
_EVENTS: Final = "/global/event"
_PENDING: Final = {"/permission": ASKED, "/question": QUESTION}
_HTTP_NOT_FOUND: Final = 404


class NothingToFollow(Exception):
    """There is nothing to follow there; the message says why and what to do."""


class OpenCodeClient:
    """The client of one server.

    Args:
        server: The server.
        core: The way to the core.
        say: Shows the user the state of the connection.
        deadline_s: The longest wait for an answer of the core.
        sleep: Waits between tries.
    """

    def __init__(
        self,
        server: OpenCodeServer,
        core: IngestClient,
        say: Callable[[str], None],
        deadline_s: float,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._server = server
        self._core = core
        self._say = say
        self._deadline_s = deadline_s
        self._sleep = sleep
        self._teller = EventForwarder(core)
        self._feed = Feed()
        self._asking: dict[str, tuple[str, anyio.CancelScope]] = {}

    async def run(self) -> None:
        """Follows the server until cancelled; raises `NothingToFollow`."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._teller.run)
            failures = 0
            while True:
                try:
                    async with aclosing(self._server.events(_EVENTS)) as events:
                        async for data in events:
                            failures = 0
                            await self._on_event(data, tasks)
                    why = f"{self._server.where} ended the stream"
                except (ServerUnreachable, EventStreamError) as fault:
                    why = str(fault)
                except ServerRefused as refusal:
                    raise NothingToFollow(_refused(refusal)) from refusal
                if not failures:
                    self._say(f"{why}; trying again until it answers")
                await self._sleep(PAUSES_S[min(failures, len(PAUSES_S) - 1)])
                failures += 1

    async def _on_event(self, data: bytes, tasks: TaskGroup) -> None:
        try:
            wrapped = msgspec.json.decode(data)
        except JSON_FAULTS:
            return
        event = mapping(mapping(wrapped).get("payload"))
        if string(event, "type") == "server.connected":
            await self._connected(tasks)
            return
        for step in self._feed.take(string(wrapped, "directory"), event):
            self._do(step, tasks)

    def _do(self, step: FeedStep, tasks: TaskGroup) -> None:
        match step:
            case RecordStep(observed=observed):
                self._teller.add(observed)
            case OpenQuestion():
                tasks.start_soon(self._ask, step)
            case QuestionOver(id=id, session=session):
                for each, (owner, scope) in list(self._asking.items()):
                    if each == id or (session and owner == session):
                        scope.cancel()

    async def _connected(self, tasks: TaskGroup) -> None:
        """Learns the sessions and questions that were there before.

        A question of ours that is no longer pending was answered meanwhile.
        """
        own = string(await self._look("/path"), "directory")
        config = mapping(await self._look("/config"))
        plugins = config.get("plugin")
        if any(str(each).endswith(PLUGIN) for each in plugins or ()):
            raise NothingToFollow(
                f"{self._server.where} runs watchgate's plugin, which reports everything itself:"
                " no tap is needed there"
            )
        sessions = [mapping(each) for each in await self._look("/session") or ()]
        for info in sessions:
            self._feed.learn(info)
        self._say(f"following {self._server.where}")
        pending: set[str] = set()
        folders = dict.fromkeys((own, *(string(info, "directory") for info in sessions)))
        for folder in filter(None, folders):
            for path, name in _PENDING.items():
                for question in await self._look(path, directory=folder) or ():
                    pending.add(string(mapping(question), "id"))
                    await self._pending(folder, name, mapping(question), tasks)
        for id, (_, scope) in list(self._asking.items()):
            if id not in pending:
                scope.cancel()

    async def _pending(self, folder: str, name: str, question: Fields, tasks: TaskGroup) -> None:
        """Takes a question that was there before us, after the call that it is about."""
        about = mapping(question.get("tool"))
        session, message = string(question, "sessionID"), string(about, "messageID")
        if message:
            whole = mapping(
                await self._look(f"/session/{session}/message/{message}", directory=folder)
            )
            parts = [mapping(each) for each in whole.get("parts") or ()]
            for part in parts:
                if string(part, "callID") == string(about, "callID"):
                    self._take(folder, "message.part.updated", {"part": part}, tasks)
        self._take(folder, name, question, tasks)

    def _take(self, folder: str, name: str, props: Fields, tasks: TaskGroup) -> None:
        for step in self._feed.take(folder, {"type": name, "properties": props}):
            self._do(step, tasks)

    async def _look(self, path: str, **query: str) -> Any:
        """Returns the content of a path; None where this server does not know it."""
        try:
            return await self._server.get(path, **query)
        except ServerRefused as refusal:
            if refusal.status != _HTTP_NOT_FOUND:
                raise
            return None

    async def _ask(self, ask: OpenQuestion) -> None:
        name = ask.observed.native
        with anyio.CancelScope() as scope:
            self._asking[ask.id] = (ask.session, scope)
            try:
                await self._teller.caught_up()
                answer_text = await self._core.ask(ask.observed, Lane.RELAY, self._deadline_s)
                answer = answer_request(name, ask.id, answer_text)
                if answer is not None:
                    path, body = answer
                    await self._server.post(path, body, directory=ask.directory)
            except Unanswered as none:
                self._say(f"{name} is left to OpenCode's own dialog: {none}")
            except (ValueError, ServerUnreachable, ServerRefused) as fault:
                if not (isinstance(fault, ServerRefused) and fault.status == _HTTP_NOT_FOUND):
                    self._say(f"an answer to {name} did not reach OpenCode: {fault}")
            finally:
                del self._asking[ask.id]


def _refused(refusal: ServerRefused) -> str:
    if refusal.status in (401, 403):
        return (
            "the server wants a password: set OPENCODE_SERVER_PASSWORD as it was set for"
            " `opencode serve` (and OPENCODE_SERVER_USERNAME where that was set)"
        )
    return f"that is no OpenCode server of a version that is understood: {refusal}"
