"""Recorded hook calls of the released agents all decode, where such recordings are at hand."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from watchgate.agents.base import Intake
from watchgate.agents.registry import adapter
from watchgate.core.clock import Instant
from watchgate.core.events import Lane

FILES = [
    ("claude", "claude-code.jsonl"),
    ("claude", "captured-claude.jsonl"),
    ("codex", "codex-cli.jsonl"),
    ("codex", "captured-codex.jsonl"),
]
SAMPLES = Path(
    os.environ.get("SAMPLES_DIR", Path(__file__).resolve().parents[2].parent / "shared" / "samples")
)


def hook_calls(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        payload = json.loads(line)["payload"]
        if payload and "hook_event_name" in payload:
            yield payload


@pytest.mark.parametrize(("agent", "name"), FILES)
def test_every_recorded_call_decodes(agent: str, name: str) -> None:
    if not (SAMPLES / name).exists():
        pytest.skip("no recordings here (SAMPLES_DIR names their directory)")
    calls = list(hook_calls(SAMPLES / name))
    assert calls

    for payload in calls:
        raw = json.dumps(payload).encode()
        event = adapter(agent).decode(raw, Intake(lane=Lane.OBSERVE, at=Instant(0, 0.0)))

        assert event.native == payload["hook_event_name"]
        assert event.session == payload["session_id"]
        assert event.kind != "unknown"
