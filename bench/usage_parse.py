"""Reading usage out of transcripts against a bare typed pass over each line of the same bytes.

Without `--home` the transcripts are made up: most bytes are what tools returned, and about one line
in three tells usage. With it, all `*.jsonl` below `HOME/claude` and `HOME/codex` are read.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from bench.figures import Beside, Figure, interleaved_medians, report
from watchgate.agents.usage.usage_readers import READERS

LIMIT = 1.1
SLICE_BYTES = 8 * 1024 * 1024
AT = "2026-11-02T09:%02d:%02d.%03dZ"


class _Usage(msgspec.Struct, gc=False):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0


class _Message(msgspec.Struct, gc=False):
    id: str | None = None
    model: str | None = None
    usage: _Usage | None = None


class ClaudeLine(msgspec.Struct, gc=False, rename="camel"):
    type: str
    session_id: str | None = None
    timestamp: str | None = None
    request_id: str | None = None
    message: _Message | None = None


class _Amount(msgspec.Struct, gc=False):
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_output_tokens: int = 0


class _Info(msgspec.Struct, gc=False):
    total_token_usage: _Amount | None = None
    last_token_usage: _Amount | None = None


class _Payload(msgspec.Struct, gc=False):
    type: str | None = None
    model: str | None = None
    info: _Info | None = None


class CodexLine(msgspec.Struct, gc=False):
    type: str
    timestamp: str | None = None
    payload: _Payload | None = None


BARE: dict[str, type[Any]] = {"claude": ClaudeLine, "codex": CodexLine}


def moments() -> Iterator[str]:
    for number in itertools.count():
        yield AT % (number // 60_000 % 60, number // 1_000 % 60, number % 1_000)


def blobs(dice: random.Random) -> Callable[[], str]:
    """What a tool returned: 2 to 20 KiB of text that JSON has to escape."""
    parts = [f'def f{n}(x):\n    return x + {n}  # "quoted" \\ path é\n' * 30 for n in range(64)]
    return lambda: "".join(dice.choices(parts, k=dice.randint(1, 10)))


def claude_lines(dice: random.Random) -> Iterator[dict[str, Any]]:
    """Two blocks of one response, and what the tool returned."""
    blob, at = blobs(dice), moments()
    head = {"isSidechain": False, "cwd": "/src/demo", "sessionId": "5f", "version": "2.1.240"}
    for number in itertools.count():
        usage = {
            "input_tokens": dice.randint(1, 900),
            "cache_creation_input_tokens": dice.randint(0, 9_000),
            "cache_read_input_tokens": dice.randint(0, 60_000),
            "output_tokens": dice.randint(20, 3_000),
            "service_tier": "standard",
        }
        blocks: tuple[dict[str, Any], ...] = (
            {"type": "text", "text": blob()[:600]},
            {"type": "tool_use", "id": f"toolu_{number}", "name": "Read", "input": {"path": "/a"}},
        )
        for block in blocks:
            stop = "tool_use" if block["type"] == "tool_use" else None
            said: dict[str, Any] = {"id": f"msg_{number:024}", "model": "claude-opus-5-5"}
            said |= {"content": [block], "stop_reason": stop, "usage": usage}
            line = {"type": "assistant", "uuid": f"{number:036}", "timestamp": next(at)}
            yield {**head, **line, "message": said, "requestId": f"req_{number:024}"}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": blob()}
        line = {"type": "user", "uuid": f"{number:036}", "timestamp": next(at)}
        yield {**head, **line, "message": {"role": "user", "content": [result]}}


def codex_lines(dice: random.Random) -> Iterator[dict[str, Any]]:
    """A tool call, what it returned, and the totals."""
    blob, at = blobs(dice), moments()
    yield {"timestamp": next(at), "type": "session_meta", "payload": {"id": "5f", "cwd": "/src"}}
    yield {"timestamp": next(at), "type": "turn_context", "payload": {"model": "gpt-6.1-sol"}}
    names = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
    total = dict.fromkeys(names, 0)
    for number in itertools.count():
        read, written = dice.randint(2_000, 90_000), dice.randint(50, 4_000)
        last = dict(zip(names, (read, read // 2, written, written // 3), strict=True))
        total = {name: total[name] + last[name] for name in names}
        call = {"type": "function_call", "name": "shell", "call_id": f"call_{number}"}
        result = {"type": "function_call_output", "call_id": f"call_{number}", "output": blob()}
        info = {"total_token_usage": total, "last_token_usage": last}
        counted = {"type": "token_count", "info": info, "rate_limits": None}
        for kind, payload in zip(
            ("response_item", "response_item", "event_msg"), (call, result, counted), strict=True
        ):
            yield {"timestamp": next(at), "type": kind, "payload": payload}


def made(agent: str, size: int) -> list[bytes]:
    """Made-up transcripts of so many bytes, cut into slices of whole lines."""
    feed = {"claude": claude_lines, "codex": codex_lines}[agent](random.Random(7))
    slices: list[bytes] = []
    while size > 0:
        lines, held = [], 0
        while held < min(SLICE_BYTES, size):
            lines.append(json.dumps(next(feed), separators=(",", ":")).encode() + b"\n")
            held += len(lines[-1])
        slices.append(b"".join(lines))
        size -= held
    return slices


def found(home: Path, agent: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((home / agent).rglob("*.jsonl"))]


def bare_s(agent: str, slices: list[bytes]) -> float:
    """CPU seconds of decoding each line by itself."""
    decode = msgspec.json.Decoder(BARE[agent]).decode
    start_s = time.process_time()
    for chunk in slices:
        for line in chunk.split(b"\n"):
            if line:
                decode(line)
    return time.process_time() - start_s


def read_s(agent: str, slices: list[bytes]) -> float:
    """CPU seconds of a reader from bytes to calls."""
    start_s = time.process_time()
    calls = 0
    for number, chunk in enumerate(slices):
        reader = READERS[agent](f"/{agent}/{number}.jsonl")
        reader.read(chunk)
        calls += len(reader.take())
        assert not reader.unreadable
    took_s = time.process_time() - start_s
    assert calls
    return took_s


def figures(home: Path | None, mib: int, runs: int) -> Iterator[Figure]:
    for agent in BARE:
        slices = found(home, agent) if home else made(agent, mib * 1024 * 1024)
        cases = [partial(bare_s, agent, slices), partial(read_s, agent, slices)]
        bare, read = interleaved_medians(cases, runs)
        size = sum(map(len, slices)) / 1024 / 1024
        yield Figure(
            f"usage of {agent} transcripts, CPU",
            read * 1e3,
            "ms",
            Beside("each line into a typed value", bare * 1e3),
            LIMIT,
            f"{size / read:,.0f} MiB/s; {size:.0f} MiB, medians of {runs}",
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--mib", type=int, default=64)
    parser.add_argument("--home", type=Path, help="a folder with claude/ and codex/ transcripts")
    given = parser.parse_args()
    return report(figures(given.home, given.mib, given.runs))


if __name__ == "__main__":
    sys.exit(main())
