"""Text that an agent sends piece by piece is gathered into messages."""

from __future__ import annotations

from typing import Any, Final

from watchgate.agents.acp.tools import texts
from watchgate.agents.proxied.wrapped import table, word

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
