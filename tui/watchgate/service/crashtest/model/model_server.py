"""A model on loopback that plays a script, and a proxy that lets nothing out."""

from __future__ import annotations

import json
import sys
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, NamedTuple

from watchgate.service.crashtest.model import model_wires
from watchgate.service.crashtest.model.conversation import (
    Conversation,
    Json,
    ModelScript,
    Reply,
    WireResult,
    next_reply,
)

_LOOK_S: Final = 0.02
"""The longest time until the server notices that it is to end."""


class ScriptedModel:
    """The script being played, and what agents reported to the model.

    `calls` is how many tool calls the model has made, `results` what was told of them in the newest
    request, in the agent's order, and `read` all that it was told there; `offered` are the tools
    that it was offered, each with the JSON schema of its input; `faults` are requests that could
    not be answered.
    """

    def __init__(self) -> None:
        self.url = ""
        self.script: ModelScript = ()
        self.calls = 0
        self.results: tuple[WireResult, ...] = ()
        self.read = ""
        self.offered: dict[str, Json] = {}
        self.faults: list[str] = []

    def answer(self, conversation: Conversation) -> Reply:
        """Returns the next reply; remembers the results that the session reports of its calls."""
        self.offered |= conversation.tools
        if conversation.scripted:
            self.results = conversation.results
            self.read = "\n".join((*conversation.asked, *(each.text for each in self.results)))
        reply = next_reply(self.script, conversation)
        self.calls += len(reply.calls)
        return reply


class ModelWire(NamedTuple):
    """A model API at one path: the functions that read requests and write replies.

    Without `whole` it only ever streams; `end` is written after the last event.
    """

    read: Callable[[Json], Conversation]
    events: Callable[[Reply, str, str], Iterable[Json]]
    whole: Callable[[Reply, str, str], Json] | None = None
    end: str = ""


WIRES: Final = {
    "/v1/messages": ModelWire(
        model_wires.read_anthropic, model_wires.events_anthropic, model_wires.whole_anthropic
    ),
    "/v1/responses": ModelWire(model_wires.read_responses, model_wires.events_responses),
    "/v1/chat/completions": ModelWire(
        model_wires.read_chat,
        model_wires.events_chat,
        model_wires.whole_chat,
        end="data: [DONE]\n\n",
    ),
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ScriptedModel

    # The signature is the base's.
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Prints nothing: the terminal belongs to whoever runs the test."""

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
        path = self.path.partition("?")[0]
        if path == "/v1/messages/count_tokens":
            return self._send_json({"input_tokens": size_bytes // 4}, HTTPStatus.OK)
        if match := model_wires.ASKED.fullmatch(path):
            stream = match[2] == "streamGenerateContent"
            return self._answer_gemini(json.loads(body), match[1], stream=stream)
        if (wire := WIRES.get(path)) is None:
            return self._send_json({"error": {"message": "not found"}}, HTTPStatus.NOT_FOUND)
        reply_id = uuid.uuid4().hex[:16]
        asked = wire.read(json.loads(body))
        reply = self.model.answer(asked)
        if asked.stream or wire.whole is None:
            return self._send_events(wire.events(reply, asked.model, reply_id), wire.end)
        return self._send_json(wire.whole(reply, asked.model, reply_id), HTTPStatus.OK)

    def _answer_gemini(self, body: Json, model: str, *, stream: bool) -> None:
        reply = self.model.answer(model_wires.read_gemini(body, model, stream=stream))
        whole = model_wires.whole_gemini(reply, model, uuid.uuid4().hex[:16])
        if stream:
            return self._send_events([whole], "")
        return self._send_json(whole, HTTPStatus.OK)

    def _send_json(self, body: Json, status: HTTPStatus) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _send_events(self, events: Iterable[Json], end: str) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
        self.wfile.write(end.encode())
        self.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: ScriptedModel) -> None:
        super().__init__(("127.0.0.1", 0), type("Handler", (_Handler,), {"model": model}))
        self.model = model

    # The signature is the base's.
    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002
        """Keeps an error for the test; an agent may hang up in the middle of a reply."""
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, ConnectionError):
            self.model.faults.append(repr(error))


@contextmanager
def running_model() -> Iterator[ScriptedModel]:
    """Yields a model on a free loopback port for as long as the block runs."""
    model = ScriptedModel()
    server = _Server(model)
    model.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(_LOOK_S,), daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
