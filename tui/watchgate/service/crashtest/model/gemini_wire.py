"""The Gemini API wire: requests read, replies written as one response object.

A stream of this wire may consist of a single event, which is the whole response.
"""

from __future__ import annotations

import re

from watchgate.service.crashtest.model.conversation import (
    Conversation,
    Json,
    ModelMessage,
    Reply,
    WireResult,
)

ASKED = re.compile(r"/v1(?:beta|alpha)?/models/([^:/]+):(generateContent|streamGenerateContent)")
USAGE = {
    "promptTokenCount": 10200,
    "cachedContentTokenCount": 9000,
    "candidatesTokenCount": 40,
    "totalTokenCount": 10240,
}


def read(body: Json, model: str, *, stream: bool) -> Conversation:
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


def whole(reply: Reply, model: str, reply_id: str) -> Json:
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
        "usageMetadata": USAGE,
        "modelVersion": model,
        "responseId": reply_id,
    }
