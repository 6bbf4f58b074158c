"""Posts each line to a URL: up to three tries (CW-12), all of them within one deadline."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from urllib.parse import urlsplit

import anyio
import msgspec

from watchgate.core.base.text import safe_text
from watchgate.service.sinks.delivery import DeliveryThread, Done, Undelivered

_HEADERS = {
    "Content-Type": "application/json",
    "User-Agent": "watchgate",
    "Connection": "close",
}
ERROR_CHARS = 200


class WebhookTries(msgspec.Struct, frozen=True):
    """The limits of one request and of all tries of one event, and the pauses between tries."""

    pauses_s: tuple[float, ...] = (0.2, 0.4)
    request_s: float = 10.0
    total_s: float = 15.0


class Webhook:
    """A server; an event that it does not take in time is dropped, the next one gets its turn."""

    at_once = 1
    mend = "mend the server or its url, or remove the sink"

    def __init__(
        self,
        url: str,
        tries: WebhookTries | None = None,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._tries = tries or WebhookTries()
        self._sleep = sleep
        self._post = _Post(url, self._tries.request_s)
        self._thread = DeliveryThread("watchgate webhook sink")

    async def send(self, entries: Sequence[bytes]) -> None:
        """Posts every line of the entries; raises `Undelivered`."""
        for number, entry in enumerate(entries):
            for line in entry.splitlines():
                if why := await self._one(line):
                    raise Undelivered(why, then="drop", sent=number)

    def close(self) -> None:
        """Breaks off what is on its way."""
        self._post.abort()

    async def _one(self, body: bytes) -> str:
        """Posts one event; returns why it was not taken, an empty text when it was."""
        why = ""
        with anyio.move_on_after(self._tries.total_s) as total:
            why = await self._try(body)
            for pause_s in self._tries.pauses_s:
                if not why:
                    break
                await self._sleep(pause_s)
                why = await self._try(body)
        if total.cancelled_caught:
            self._post.abort()
            return f"{why or self._post.unanswered}; given up after {self._tries.total_s:g} s"
        return why

    async def _try(self, body: bytes) -> str:
        with anyio.move_on_after(self._tries.request_s):
            _, why = await self._thread.do(lambda: self._post.run(body))
            return why
        self._post.abort()
        return self._post.unanswered


class _Post:
    """One request at a time, run in a thread and broken off from another."""

    def __init__(self, url: str, timeout_s: float) -> None:
        parts = urlsplit(url)
        self._secure = parts.scheme == "https"
        self._host = parts.hostname or ""
        self._port = parts.port
        self._target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._where = f"{parts.scheme}://{parts.netloc}"
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._open: http.client.HTTPConnection | None = None
        self._given_up = False
        self._context: ssl.SSLContext | None = None
        self.unanswered = f"{self._where} does not answer"

    def run(self, body: bytes) -> Done:
        """Posts the body; every answer but 2xx is a failure, also one that leads elsewhere."""
        connection = self._connection()
        with self._lock:
            self._open, self._given_up = connection, False
        try:
            connection.connect()
            if self._given_up:
                return 0, self.unanswered
            connection.request("POST", self._target, body, _HEADERS)
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException, ValueError) as error:
            words = getattr(error, "strerror", "") or str(error) or type(error).__name__
            # What is no answer in HTTP comes as it is, up to 64 KiB of anything.
            return 0, f"{self._where}: {safe_text(words[:ERROR_CHARS])}"
        finally:
            with self._lock:
                self._open = None
                connection.close()
        return (1, "") if 200 <= status < 300 else (0, f"{self._where} answered {status}")

    def abort(self) -> None:
        """Breaks off the request that is on its way."""
        with self._lock, suppress(OSError):
            # Nothing can break off the search for an address, but nothing is sent after it.
            self._given_up = True
            if self._open is not None and self._open.sock is not None:
                # Past an SSLSocket's own method, which takes its state away from the thread.
                socket.socket.shutdown(self._open.sock, socket.SHUT_RDWR)

    def _connection(self) -> http.client.HTTPConnection:
        host, port, timeout_s = self._host, self._port, self._timeout_s
        if not self._secure:
            return http.client.HTTPConnection(host, port, timeout=timeout_s)
        self._context = self._context or ssl.create_default_context()
        return http.client.HTTPSConnection(host, port, timeout=timeout_s, context=self._context)
