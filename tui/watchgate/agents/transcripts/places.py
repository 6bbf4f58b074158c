"""Where the transcripts of agents lie: where they also write down what they used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from watchgate.agents.usage.places import places

Form = Literal["lines", "whole", "part", "rows"]
"""Lines of JSON, one JSON object, one object for each call, or a database."""

_MESSAGES: Final = "/storage/message"
_PARTS: Final = "/storage/part"
_READ: Final = frozenset(("claude", "codex", "gemini", "qwen", "opencode"))


class TranscriptPlace(msgspec.Struct, frozen=True):
    """Where files of one agent lie: `pattern` below `root`, as `pathlib.Path.glob` takes it."""

    agent: str
    root: str
    pattern: str
    form: Form


def transcript_places(env: Mapping[str, str], home: str) -> tuple[TranscriptPlace, ...]:
    """Every place that the environment names, else the usual one below `home`.

    OpenCode's older store keeps the calls of a message beside it, in files of their own.
    """
    found = []
    for place in places(env, home):
        root, form = place.root, place.form
        if place.agent not in _READ:
            continue
        if root.endswith(_MESSAGES):
            parts = root.removesuffix(_MESSAGES) + _PARTS
            found.append(TranscriptPlace(place.agent, parts, place.pattern, "part"))
        else:
            found.append(TranscriptPlace(place.agent, root, place.pattern, form))
    return tuple(found)
