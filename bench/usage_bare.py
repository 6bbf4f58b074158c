"""The least that counting usage can take: each line of all transcripts into a typed value.

`python bench/usage_bare.py FOLDER` does so for `FOLDER/claude` and `FOLDER/codex`, prints how many
lines have usage, and imports nothing but msgspec. The values have those fields that a counter of
tokens and money needs; nothing is done with them.
"""

from __future__ import annotations

import os
import sys

import msgspec


class CacheCreation(msgspec.Struct, gc=False):
    ephemeral_5m_input_tokens: int = 0
    ephemeral_1h_input_tokens: int = 0


class ServerTools(msgspec.Struct, gc=False):
    web_search_requests: int = 0


class Usage(msgspec.Struct, gc=False):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation: CacheCreation | None = None
    server_tool_use: ServerTools | None = None


class Message(msgspec.Struct, gc=False):
    id: str | None = None
    model: str | None = None
    usage: Usage | None = None


class ClaudeLine(msgspec.Struct, gc=False, rename="camel"):
    type: str = ""
    timestamp: str | None = None
    session_id: str | None = None
    request_id: str | None = None
    is_sidechain: bool = False
    message: Message | None = None


class Tokens(msgspec.Struct, gc=False):
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_output_tokens: int = 0
    total_tokens: int = 0


class Info(msgspec.Struct, gc=False):
    total_token_usage: Tokens | None = None
    last_token_usage: Tokens | None = None


class Payload(msgspec.Struct, gc=False):
    type: str = ""
    id: str | None = None
    model: str | None = None
    info: Info | None = None


class CodexLine(msgspec.Struct, gc=False):
    type: str = ""
    timestamp: str = ""
    payload: Payload | None = None


def bare(folder: str) -> int:
    """Decodes each line of all transcripts; the number of those with usage."""
    found = 0
    claude = msgspec.json.Decoder(ClaudeLine).decode
    for path in transcripts(f"{folder}/claude"):
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib would be another import
            for line in file:
                message = claude(line).message
                found += message is not None and message.usage is not None
    codex = msgspec.json.Decoder(CodexLine).decode
    for path in transcripts(f"{folder}/codex"):
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            for line in file:
                payload = codex(line).payload
                found += payload is not None and payload.info is not None
    return found


def transcripts(folder: str) -> list[str]:
    """The files of lines below a folder."""
    return sorted(
        f"{below}/{name}"
        for below, _, names in os.walk(folder)
        for name in names
        if name.endswith(".jsonl")
    )


if __name__ == "__main__":
    print(bare(sys.argv[1]))
