"""The OpenAI chat completions wire: requests read, replies written whole or as a stream.

- The Anthropic Messages wire: requests read, replies written whole or as server-sent events.
- The Gemini API wire: requests read, replies written as one response object. A stream of this wire
  may consist of a single event, which is the whole response.
- The OpenAI Responses wire: requests read, replies written as server-sent events.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from watchgate.service.crashtest.model.conversation import (
    Conversation,
    Json,
    ModelMessage,
    Reply,
    WireResult,
    plain_text,
)

ANTHROPIC_USAGE = {
    "input_tokens": 1200,
    "output_tokens": 40,
    "cache_read_input_tokens": 9000,
    "cache_creation_input_tokens": 300,
}


def read_anthropic(body: Json) -> Conversation:
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
        "usage": ANTHROPIC_USAGE,
    }


def _anthropic_stop(reply: Reply) -> str:
    return "tool_use" if reply.calls else "end_turn"


def whole_anthropic(reply: Reply, model: str, reply_id: str) -> Json:
    """Returns the reply to a request that did not ask for a stream."""
    return _message(model, reply_id, _blocks(reply), _anthropic_stop(reply))


def events_anthropic(reply: Reply, model: str, reply_id: str) -> Iterator[Json]:
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
    stop = {"stop_reason": _anthropic_stop(reply), "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": ANTHROPIC_USAGE}
    yield {"type": "message_stop"}


ASKED = re.compile(r"/v1(?:beta|alpha)?/models/([^:/]+):(generateContent|streamGenerateContent)")
GEMINI_USAGE = {
    "promptTokenCount": 10200,
    "cachedContentTokenCount": 9000,
    "candidatesTokenCount": 40,
    "totalTokenCount": 10240,
}


def read_gemini(body: Json, model: str, *, stream: bool) -> Conversation:
    """Reads the conversation in the body of a request to a model's `generateContent`."""
    replies: list[ModelMessage] = []
    asked: list[str] = []
    results: list[WireResult] = []
    for content in body.get("contents") or ():
        parts = content.get("parts") or ()
        text = "".join(part.get("text", "") for part in parts)
        if content.get("role") == "model":
            replies.append(ModelMessage(text, sum("functionCall" in part for part in parts)))
            continue
        asked.append(text)
        results.extend(
            _result(part["functionResponse"]) for part in parts if "functionResponse" in part
        )
    return Conversation(
        model=model,
        stream=stream,
        tools={
            function["name"]: function.get("parametersJsonSchema")
            or function.get("parameters")
            or {}
            for tool in body.get("tools") or ()
            for function in tool.get("functionDeclarations") or ()
        },
        replies=tuple(replies),
        asked=tuple(asked),
        results=tuple(results),
    )


def _result(response: Json) -> WireResult:
    fields = response.get("response") or {}
    return WireResult(response.get("id", ""), "\n".join(str(value) for value in fields.values()))


def whole_gemini(reply: Reply, model: str, reply_id: str) -> Json:
    """Returns the reply as the one response object."""
    calls: list[Json] = [
        {"functionCall": {"id": f"call_{call.id}", "name": call.tool, "args": call.arguments}}
        for call in reply.calls
    ]
    candidate = {
        "index": 0,
        "content": {"role": "model", "parts": [{"text": reply.text}, *calls]},
        "finishReason": "STOP",
    }
    return {
        "candidates": [candidate],
        "usageMetadata": GEMINI_USAGE,
        "modelVersion": model,
        "responseId": reply_id,
    }


RESPONSES_USAGE = {
    "input_tokens": 10200,
    "input_tokens_details": {"cached_tokens": 9000},
    "output_tokens": 40,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 10240,
}


def read_responses(body: Json) -> Conversation:
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


def events_responses(reply: Reply, model: str, reply_id: str) -> Iterator[Json]:
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
    finished = {**response, "status": "completed", "output": items, "usage": RESPONSES_USAGE}
    yield {"type": "response.completed", "response": finished}


CHAT_USAGE = {
    "prompt_tokens": 10200,
    "completion_tokens": 40,
    "total_tokens": 10240,
    "prompt_tokens_details": {"cached_tokens": 9000},
}


def read_chat(body: Json) -> Conversation:
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


def _chat_stop(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


def whole_chat(reply: Reply, model: str, reply_id: str) -> Json:
    """Returns the reply to a request that did not ask for a stream."""
    message: Json = {"role": "assistant", "content": reply.text}
    if reply.calls:
        message["tool_calls"] = _calls(reply)
    return {
        "id": f"chatcmpl-{reply_id}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": _chat_stop(reply)}],
        "usage": CHAT_USAGE,
    }


def events_chat(reply: Reply, model: str, reply_id: str) -> Iterator[Json]:
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
    yield {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": _chat_stop(reply)}]}
    yield {**chunk, "choices": [], "usage": CHAT_USAGE}
