"""Recorded payloads of all agents decode and can be answered, where such recordings are at hand.

Every line of a file is read by the adapter of the file's agent, told the event's name as a hook's
command tells it. The files of failed hooks hold no payloads.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from watchgate.agents.base import HookAnswer, Intake
from watchgate.agents.registry import adapter
from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Event, Lane
from watchgate.core.model.verdicts import Reply, SayAllow, SayDeny, SayNothing

FILES = {
    "claude-code.jsonl": "claude",
    "captured-claude.jsonl": "claude",
    "codex-cli.jsonl": "codex",
    "captured-codex.jsonl": "codex",
    "copilot-cli.jsonl": "copilot",
    "captured-copilot.jsonl": "copilot",
    "gemini-cli.jsonl": "gemini",
    "captured-gemini.jsonl": "gemini",
    "qwen-code.jsonl": "qwen",
    "captured-qwen.jsonl": "qwen",
    "opencode.jsonl": "opencode",
    "captured-opencode.jsonl": "opencode",
    "cursor.jsonl": "cursor",
    "goose.jsonl": "goose",
    "kimi-cli.jsonl": "kimi",
    "crush.jsonl": "crush",
    "kiro-q.jsonl": "kiro",
    "factory-droid.jsonl": "droid",
    "cline.jsonl": "cline",
    "windsurf.jsonl": "windsurf",
    "acp.jsonl": "acp",
}
SAMPLES = Path(
    os.environ.get("SAMPLES_DIR", Path(__file__).resolve().parents[2].parent / "shared" / "samples")
)
CALLS = ("tool.pre", "tool.permission", "tool.permission.resolved", "tool.post", "tool.error")
ASKS = ("tool.pre", "tool.permission", "question")


def lines(name: str) -> Iterator[dict[str, Any]]:
    """The lines with a payload; some only tell that an event comes without one."""
    if not (SAMPLES / name).exists():
        pytest.skip("no recordings here (SAMPLES_DIR names their directory)")
    for line in (SAMPLES / name).read_text(encoding="utf-8").splitlines():
        fields = json.loads(line)
        if fields["payload"]:
            yield fields


def event_of(name: str, line: dict[str, Any], lane: Lane = Lane.OBSERVE) -> Event:
    raw = json.dumps(line["payload"]).encode()
    intake = Intake(lane=lane, at=Instant(0, 0.0), native=line["event"])
    return adapter(FILES[name]).decode(raw, intake)


@pytest.mark.parametrize("name", FILES)
def test_every_recorded_payload_decodes(name: str) -> None:
    for line in lines(name):
        event = event_of(name, line)

        assert event.kind != "unknown", line["event"]
        assert event.agent == FILES[name]
        assert event.session, line["event"]
        if event.kind in CALLS:
            assert event.tool is not None, line["event"]
            assert event.tool.native_name


@pytest.mark.parametrize("name", FILES)
def test_what_asks_gets_an_answer_that_the_agent_knows(name: str) -> None:
    for line in lines(name):
        schema = line.get("expected_output_schema")
        if not schema:
            continue
        for lane in (Lane.GATE, Lane.RELAY):
            event = event_of(name, line, lane)
            if event.kind not in ASKS:
                continue
            changed = dict(event.tool.input) if event.tool else {}
            for reply in (
                SayAllow(),
                SayAllow(input=changed),
                SayDeny("No."),
                SayDeny("No.", stop=True),
                SayNothing(),
            ):
                answer = adapter(FILES[name]).answer(event, reply)
                assert known(answer, schema, reply), (line["event"], reply, answer)


def known(answer: HookAnswer, schema: dict[str, Any], reply: Reply) -> bool:
    """Whether a recording's own description of answers covers this one."""
    if isinstance(reply, SayDeny) and not answer.stdout:
        # Words alone: then the exit status denies, or nothing can be told at all.
        return answer.exit_code == 2 or answer == HookAnswer()
    if not answer.stdout:
        return answer.exit_code in (0, 2)
    shapes = [shape for each in schema.values() if isinstance(shape := written(each), dict)]
    # OpenCode's plugin is our own, and what it is to do stands there in words alone.
    return not shapes or fits(json.loads(answer.stdout), shapes)


def written(shape: Any) -> Any:
    """A shape, also one that stands as JSON in words that say where it is sent."""
    if isinstance(shape, str) and "{" in shape:
        start = shape.rindex(" {") + 1 if " {" in shape else shape.index("{")
        return json.loads(shape[start:])
    return shape


def fits(value: Any, shapes: list[Any]) -> bool:
    """Whether each part of a value is described by one of the shapes."""
    if isinstance(value, dict):
        described = [shape for shape in shapes if isinstance(shape, dict)]
        if any(shape in ("object", "object?") for shape in shapes):
            return True
        return all(
            key in ("continue", "stopReason", "jsonrpc", "id")
            or fits(part, [shape[k] for shape in described for k in shape if k == key])
            for key, part in value.items()
        )
    if isinstance(value, list):
        items = [item for shape in shapes if isinstance(shape, list) for item in shape]
        return all(fits(each, items) for each in value)
    return any(_is(value, shape) for shape in shapes)


def _is(value: Any, shape: Any) -> bool:
    if isinstance(shape, str) and isinstance(value, str):
        word = shape.removesuffix("?")
        free = word in ("string", "non-empty string", "same")
        free = free or word.startswith(("{", "one of "))
        return free or value == shape
    if isinstance(value, bool):
        return shape in ("bool?", value)
    return bool(value == shape)
