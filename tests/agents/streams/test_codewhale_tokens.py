"""The tokens that CodeWhale's outbox tells of."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.agents.streams.lines import read
from watchgate.core.model.events import Usage


@pytest.mark.parametrize(
    ("event", "kind", "more"),
    [
        ("message_submit", "prompt.submit", {"total_tokens": 1_250}),
        ("turn_end", "turn.end", {"total_tokens": 1_250}),
        ("turn_end", "turn.end", {"totals": {"session_tokens": 1_250}}),
    ],
)
def test_the_outbox_has_the_tokens_of_the_conversation(
    event: str, kind: str, more: dict[str, Any]
) -> None:
    """Nobody says how many of them were read, written or cached, so nothing is made up."""
    line = {"schema_version": 1, "seq": 1, "event": event, "session_id": "s", "model": "m", **more}
    usage, then = read(line)

    assert (usage.kind, usage.native) == ("usage", f"{event}/usage")
    assert usage.body == Usage(total=1_250, model="m", counts="total")
    assert then.kind == kind


def test_tokens_that_are_split_are_not_told_once_more_as_a_sum() -> None:
    used = {"input_tokens": 9, "output_tokens": 3}
    line = {"schema_version": 1, "seq": 1, "event": "turn_end", "session_id": "s", "usage": used}
    usage, _ = read(line | {"total_tokens": 12})

    assert usage.body == Usage(input=9, output=3, cached_within=True)


def test_the_outbox_has_the_tokens_of_a_turn() -> None:
    used = {"input_tokens": 9, "output_tokens": 3, "prompt_cache_hit_tokens": 5}
    line = {"schema_version": 1, "seq": 1, "event": "turn_end", "session_id": "s", "usage": used}
    usage, end = read(line)
    counted = Usage(input=9, output=3, cache_read=5, cached_within=True)
    assert (usage.body, usage.session) == (counted, "s")
    named, _ = read(line | {"usage": used | {"reasoning_tokens": 2}, "model": "deepseek-v4"})
    assert named.body == msgspec.structs.replace(counted, reasoning=2, model="deepseek-v4")
    assert end.kind == "turn.end"
