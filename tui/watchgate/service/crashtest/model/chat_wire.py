"""The OpenAI chat completions wire: requests read, replies written whole or as a stream."""

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
    "prompt_tokens": 10200,
    "completion_tokens": 40,
    "total_tokens": 10240,
    "prompt_tokens_details": {"cached_tokens": 9000},
}


def read(body: Json) -> Conversation:
    """Reads the conversation in the body of `POST /v1/chat/completions`."""
    replies: list[ModelMessage] = []
    asked: list[str] = []
    results: list[WireResult] = []
    for message in body["messages"]:
        text = plain_text(message.get("content"))
        match message["role"]:
            case "assistant":
                replies.append(ModelMessage(text, len(message.get("tool_calls") or ())))
            case "tool":
                results.append(WireResult(message["tool_call_id"], text))
            case "user":
                asked.append(text)
    return Conversation(
        model=body.get("model", ""),
        stream=bool(body.get("stream")),
        tools={
            tool["function"]["name"]: tool["function"].get("parameters") or {}
            for tool in body.get("tools") or ()
        },
        replies=tuple(replies),
        asked=tuple(asked),
        results=tuple(results),
    )


def _calls(reply: Reply) -> list[Json]:
    return [
        {
            "id": f"call_{call.id}",
            "type": "function",
            "function": {"name": call.tool, "arguments": json.dumps(call.arguments)},
        }
        for call in reply.calls
    ]


def _stop(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


def whole(reply: Reply, model: str, reply_id: str) -> Json:
    """Returns the reply to a request that did not ask for a stream."""
    message: Json = {"role": "assistant", "content": reply.text}
    if reply.calls:
        message["tool_calls"] = _calls(reply)
    return {
        "id": f"chatcmpl-{reply_id}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": _stop(reply)}],
        "usage": USAGE,
    }


def events(reply: Reply, model: str, reply_id: str) -> Iterator[Json]:
    """Yields the reply as the chunks of a stream, in order; the wire ends them with `[DONE]`."""
    chunk: Json = {
        "id": f"chatcmpl-{reply_id}",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": model,
    }
    calls = [{**call, "index": index} for index, call in enumerate(_calls(reply))]
    deltas: list[Json] = [
        {"role": "assistant", "content": reply.text},
        *({"tool_calls": [call]} for call in calls),
    ]
    for delta in deltas:
        yield {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": _stop(reply)}]}
    yield {**chunk, "choices": [], "usage": USAGE}
