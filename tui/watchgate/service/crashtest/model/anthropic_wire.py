"""The Anthropic Messages wire: requests read, replies written whole or as server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterator

from watchgate.service.crashtest.model.conversation import (
    Conversation,
    Json,
    ModelMessage,
    Reply,
    WireResult,
    plain_text,
)

USAGE = {
    "input_tokens": 1200,
    "output_tokens": 40,
    "cache_read_input_tokens": 9000,
    "cache_creation_input_tokens": 300,
}


def read(body: Json) -> Conversation:
    """Reads the conversation in the body of `POST /v1/messages`."""
    replies: list[ModelMessage] = []
    asked: list[str] = []
    results: list[WireResult] = []
    for message in body.get("messages", []):
        content = message["content"]
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        if message["role"] == "assistant":
            text = plain_text([block for block in blocks if block["type"] == "text"])
            replies.append(ModelMessage(text, sum(block["type"] == "tool_use" for block in blocks)))
            continue
        for block in blocks:
            if block["type"] == "tool_result":
                text = plain_text(block.get("content"))
                results.append(WireResult(block["tool_use_id"], text))
            elif block["type"] == "text":
                asked.append(block["text"])
    return Conversation(
        model=body.get("model", ""),
        stream=bool(body.get("stream")),
        tools={tool["name"]: tool.get("input_schema") or {} for tool in body.get("tools") or ()},
        replies=tuple(replies),
        asked=tuple(asked),
        results=tuple(results),
    )


def _blocks(reply: Reply) -> list[Json]:
    text: list[Json] = [{"type": "text", "text": reply.text}]
    return text + [
        {"type": "tool_use", "id": f"toolu_{call.id}", "name": call.tool, "input": call.arguments}
        for call in reply.calls
    ]


def _message(model: str, reply_id: str, content: list[Json], stop: str | None) -> Json:
    return {
        "id": f"msg_{reply_id}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": USAGE,
    }


def _stop(reply: Reply) -> str:
    return "tool_use" if reply.calls else "end_turn"


def whole(reply: Reply, model: str, reply_id: str) -> Json:
    """Returns the reply to a request that did not ask for a stream."""
    return _message(model, reply_id, _blocks(reply), _stop(reply))


def events(reply: Reply, model: str, reply_id: str) -> Iterator[Json]:
    """Yields the reply as the events of a stream, in order."""
    yield {"type": "message_start", "message": _message(model, reply_id, [], None)}
    for index, block in enumerate(_blocks(reply)):
        if block["type"] == "text":
            start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": _stop(reply), "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": USAGE}
    yield {"type": "message_stop"}
