"""The OpenAI Responses wire: requests read, replies written as server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from watchgate.service.crashtest.model.conversation import (
    Conversation,
    Json,
    ModelMessage,
    Reply,
    WireResult,
    plain_text,
)

USAGE = {
    "input_tokens": 10200,
    "input_tokens_details": {"cached_tokens": 9000},
    "output_tokens": 40,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 10240,
}


def read(body: Json) -> Conversation:
    """Reads the conversation in the body of `POST /v1/responses`.

    The wire lists a model answer's text and calls as items in a row; they are put together again.
    """
    replies: list[ModelMessage] = []
    asked: list[str] = []
    results: list[WireResult] = []
    answering = False
    for item in body.get("input") or ():
        kind = item.get("type", "message")
        by_model = kind.endswith("_call") or item.get("role") == "assistant"
        if by_model:
            before = replies.pop() if answering else ModelMessage("", 0)
            text = plain_text(item.get("content")) if kind == "message" else ""
            replies.append(ModelMessage(before.text + text, before.calls + (kind != "message")))
        elif kind.endswith("_output"):
            results.append(WireResult(item["call_id"], plain_text(item.get("output"))))
        elif item.get("role") in ("user", "developer"):
            asked.append(plain_text(item.get("content")))
        answering = by_model or (answering and kind == "reasoning")
    return Conversation(
        model=body.get("model", ""),
        stream=bool(body.get("stream")),
        tools=dict(_tools(body.get("tools") or ())),
        replies=tuple(replies),
        asked=tuple(asked),
        results=tuple(results),
    )


def _tools(offered: Iterable[Json], space: str = "") -> Iterator[tuple[str, Json]]:
    """Yields the offered tools, each with its schema; one of the provider's own goes by its type.

    One of a namespace is called by both names in one, as hooks call it.
    """
    for tool in offered:
        name = tool.get("name") or tool["type"]
        if tool["type"] == "namespace":
            yield from _tools(tool.get("tools") or (), name)
        else:
            yield space + name, tool.get("parameters") or {}


def _items(reply: Reply, reply_id: str) -> list[Json]:
    text: Json = {
        "type": "message",
        "id": f"msg_{reply_id}",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": reply.text, "annotations": []}],
    }
    return [text] + [
        {
            "type": "function_call",
            "id": f"fc_{call.id}",
            "call_id": f"call_{call.id}",
            "name": call.tool,
            "arguments": json.dumps(call.arguments),
            "status": "completed",
        }
        for call in reply.calls
    ]


def events(reply: Reply, model: str, reply_id: str) -> Iterator[Json]:
    """Yields the reply as the events of a stream, in order and numbered."""
    for number, event in enumerate(_unnumbered(reply, model, reply_id)):
        yield {**event, "sequence_number": number}


def _unnumbered(reply: Reply, model: str, reply_id: str) -> Iterator[Json]:
    response = {"id": f"resp_{reply_id}", "object": "response", "model": model, "created_at": 0}
    items = _items(reply, reply_id)
    yield {
        "type": "response.created",
        "response": {**response, "status": "in_progress", "output": []},
    }
    for index, item in enumerate(items):
        begun = {**item, "status": "in_progress"}
        if item["type"] == "message":
            begun["content"] = []
        yield {"type": "response.output_item.added", "output_index": index, "item": begun}
        if item["type"] == "message":
            yield {
                "type": "response.output_text.delta",
                "output_index": index,
                "content_index": 0,
                "item_id": item["id"],
                "delta": reply.text,
            }
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    finished = {**response, "status": "completed", "output": items, "usage": USAGE}
    yield {"type": "response.completed", "response": finished}
