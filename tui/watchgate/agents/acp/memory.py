"""The state of one ACP connection: facts of earlier messages that later ones leave out.

An update of a call tells only what is new of it, an answer not what was asked, and neither names
the folder or the mode of its session.

Text that an agent sends piece by piece is gathered into messages.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.agents.acp import allowing_ids
from watchgate.agents.acp.acp_tools import texts, tool_of
from watchgate.agents.proxied import Side
from watchgate.agents.proxied.wrapped import table, word
from watchgate.core.base.bounded import Recent

GATHERED_CHARS: Final = 4_000
_CHUNKS: Final = ("agent_message_chunk", "agent_thought_chunk", "user_message_chunk")


class Chunks:
    """The words of one session's running message; other messages end it."""

    def __init__(self) -> None:
        self._first: dict[str, Any] = {}
        self._kind = ("", "")
        self._words: list[str] = []
        self._chars = 0
        self._ready: list[dict[str, Any]] = []

    def take(self, message: dict[str, Any]) -> bool:
        """Gathers a chunk of text; False for any other message."""
        params = table(message.get("params"))
        update = table(params.get("update"))
        chunk_text = texts([update.get("content")])
        sort = word(update.get("sessionUpdate"))
        if message.get("method") != "session/update" or sort not in _CHUNKS or not chunk_text:
            return False
        kind = (word(params.get("sessionId")), sort)
        if kind != self._kind or self._chars > GATHERED_CHARS:
            self._finish()
            self._first, self._kind = message, kind
        self._words.append(chunk_text)
        self._chars += len(chunk_text)
        return True

    def flush(self) -> list[dict[str, Any]]:
        """Returns the messages that were gathered."""
        self._finish()
        ready, self._ready = self._ready, []
        return ready

    def _finish(self) -> None:
        if not self._words:
            return
        params = table(self._first.get("params"))
        whole = {"type": "text", "text": "".join(self._words)}
        update = {**table(params.get("update")), "content": whole}
        self._ready.append({**self._first, "params": {**params, "update": update}})
        self._first, self._kind, self._words, self._chars = {}, ("", ""), [], 0


MAX_REMEMBERED: Final = 2_000
_UPDATES: Final = ("tool_call", "tool_call_update")


class PendingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request that has no answer yet.

    `allows` are the ids of the options that let `call` run, None for what is no permission.
    """

    method: str = ""
    session: str = ""
    cwd: str = ""
    call: str = ""
    allows: tuple[str, ...] | None = None


_NOTHING: Final = PendingRequest()


class Memory:
    """The newest requests, calls, folders and modes; `cwd` is the folder of a session without."""

    def __init__(self, cwd: str) -> None:
        self._cwd = cwd
        self._asked: Recent[tuple[Side, bytes], PendingRequest] = Recent(MAX_REMEMBERED)
        self._calls: Recent[tuple[str, str], dict[str, Any]] = Recent(MAX_REMEMBERED)
        self._denied: Recent[tuple[str, str], None] = Recent(MAX_REMEMBERED)
        self._folders: Recent[str, str] = Recent(MAX_REMEMBERED)
        self._modes: Recent[str, str] = Recent(MAX_REMEMBERED)

    def folder(self, session: str) -> str:
        """Returns the folder that a session works in."""
        return self._folders.get(session, self._cwd)

    def mode(self, session: str) -> str:
        """Returns the mode that a session is in, empty where none was told."""
        return self._modes.get(session, "")

    def context(
        self, message: dict[str, Any], method: str, side: Side, id: bytes
    ) -> dict[str, Any]:
        """Returns the context from earlier messages, and remembers what this one adds."""
        params = table(message.get("params"))
        session = word(params.get("sessionId"))
        if method and id:
            request = PendingRequest(
                method=method, session=session, cwd=word(params.get("cwd"), 8_192)
            )
            self._asked.renew((side, id), request)
        if not method and id:
            asked = self._asked.pop(("editor" if side == "agent" else "agent", id), _NOTHING)
            return self._answered(message, asked)
        update = table(params.get("update"))
        if (mode := word(update.get("currentModeId"))) and session:
            self._modes.renew(session, mode)
        if word(update.get("sessionUpdate")) in _UPDATES:
            return self._called(session, update)
        return {}

    def note_held(self, method: str, session: str, id: bytes) -> None:
        """Notes a request of the agent's that is not passed on."""
        self._asked.renew(("agent", id), PendingRequest(method=method, session=session))

    def permission(self, method: str, params: dict[str, Any], id: bytes) -> dict[str, Any]:
        """Notes that the agent asks whether a call may run; returns all that is known of it."""
        session, call = word(params.get("sessionId")), table(params.get("toolCall"))
        asked = PendingRequest(
            method=method,
            session=session,
            call=word(call.get("toolCallId")),
            allows=tuple(allowing_ids(params.get("options"))),
        )
        self._asked.renew(("agent", id), asked)
        return self._call(session, call)

    def note_answer(self, id: bytes, result: Any) -> None:
        """Notes the answer to what the agent asked under this id, whoever gave it."""
        self._judged(self._asked.pop(("agent", id), _NOTHING), result)

    def _answered(self, message: dict[str, Any], asked: PendingRequest) -> dict[str, Any]:
        result = table(message.get("result"))
        self._judged(asked, result)
        session = word(result.get("sessionId")) or asked.session
        if session and asked.cwd:
            self._folders.renew(session, asked.cwd)
        if session and (mode := word(table(result.get("modes")).get("currentModeId"))):
            self._modes.renew(session, mode)
        return ({"method": asked.method} if asked.method else {}) | {"session": session}

    def _judged(self, asked: PendingRequest, result: Any) -> None:
        """Remembers a call that was not allowed: that it failed then does not mean that it ran."""
        if asked.allows is None:
            return
        if table(table(result).get("outcome")).get("optionId") not in asked.allows:
            self._denied.renew((asked.session, asked.call), None)

    def _called(self, session: str, update: dict[str, Any]) -> dict[str, Any]:
        key = (session, word(update.get("toolCallId")))
        before = self._calls.get(key)
        call = self._call(session, update)
        if call.get("status") in ("completed", "failed"):
            self._calls.pop(key, None)
        folder = self.folder(session)
        known = before is not None and tool_of(before, folder) == tool_of(call, folder)
        return {"call": call, "known": known, "denied": key in self._denied}

    def _call(self, session: str, fields: dict[str, Any]) -> dict[str, Any]:
        """Returns all that was said of a call; what is said anew replaces what was."""
        key = (session, word(fields.get("toolCallId")))
        if not key[1]:
            return fields  # it cannot be told which call this is, and it must not look like another
        fresh = {name: value for name, value in fields.items() if value is not None}
        before = self._calls.get(key, {})
        if not fresh.get("rawInput", True) and "rawInput" in before:
            del fresh["rawInput"]  # an empty one tells less than what was said before
        call = {**before, **fresh}
        self._calls.renew(key, call)
        return call
