"""A model on loopback that plays a script, and a proxy that lets nothing out."""

from __future__ import annotations

import json
import sys
import threading
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.agents_real.harness import anthropic_wire, responses_wire
from tests.agents_real.harness.conversation import (
    Conversation,
    Json,
    Reply,
    Script,
    ToolResult,
    next_reply,
)


class Model:
    """The script being played, and what agents told the model.

    `results` are those of the newest request, in the agent's order; `faults` are requests that
    could not be answered.
    """

    def __init__(self) -> None:
        self.url = ""
        self.script: Script = ()
        self.results: tuple[ToolResult, ...] = ()
        self.faults: list[str] = []

    def answer(self, conversation: Conversation) -> Reply:
        """The next reply; what the session proper says of its calls is remembered."""
        if conversation.scripted:
            self.results = conversation.results
        return next_reply(self.script, conversation)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: the terminal belongs to the test runner."""

    def do_CONNECT(self) -> None:
        self._send_json({"error": "this proxy reaches nothing"}, HTTPStatus.FORBIDDEN)

    def do_HEAD(self) -> None:
        self._send_json({}, HTTPStatus.OK)

    def do_GET(self) -> None:
        if not self.path.startswith("/"):
            return self.do_CONNECT()
        return self._send_json({"error": {"message": "not found"}}, HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        size_bytes = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size_bytes)
        if not self.path.startswith("/"):
            return self.do_CONNECT()
        reply_id = uuid.uuid4().hex[:16]
        match self.path.partition("?")[0]:
            case "/v1/messages":
                asked = anthropic_wire.read(json.loads(body))
                reply = self.model.answer(asked)
                if not asked.stream:
                    whole = anthropic_wire.whole(reply, asked.model, reply_id)
                    return self._send_json(whole, HTTPStatus.OK)
                return self._send_events(anthropic_wire.events(reply, asked.model, reply_id))
            case "/v1/responses":
                asked = responses_wire.read(json.loads(body))
                reply = self.model.answer(asked)
                return self._send_events(responses_wire.events(reply, asked.model, reply_id))
            case "/v1/messages/count_tokens":
                return self._send_json({"input_tokens": size_bytes // 4}, HTTPStatus.OK)
        return self._send_json({"error": {"message": "not found"}}, HTTPStatus.NOT_FOUND)

    def _send_json(self, body: Json, status: HTTPStatus) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _send_events(self, events: Iterable[Json]) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in events:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        self.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: Model) -> None:
        super().__init__(("127.0.0.1", 0), type("Handler", (_Handler,), {"model": model}))
        self.model = model

    def handle_error(self, request: object, client_address: object) -> None:
        """Keep what went wrong for the test; an agent may hang up in the middle of a reply."""
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, ConnectionError):
            self.model.faults.append(repr(error))


@contextmanager
def running_model() -> Iterator[Model]:
    """A model on a free loopback port for as long as the block runs."""
    model = Model()
    server = _Server(model)
    model.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
