"""The transcripts of agents: their places, and readers of the tool calls in them.

`CALL_READERS` read whole files, for a look back at what agents wanted to do. OpenCode's parts are
rows or files of their own, and not among them: see `OpenCodeCalls`. The reader of calls that ran
follows one file, for the calls that no hook reported.
"""

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
    """A place of one agent's files: `pattern` below `root`, as `pathlib.Path.glob` takes it."""

    agent: str
    root: str
    pattern: str
    form: Form


def transcript_places(env: Mapping[str, str], home: str) -> tuple[TranscriptPlace, ...]:
    """Returns every place that the environment names, else the usual one below `home`.

    OpenCode's older store keeps the calls of a message beside it, in files of their own.
    """
    transcripts = []
    for place in places(env, home):
        root, form = place.root, place.form
        if place.agent not in _READ:
            continue
        if root.endswith(_MESSAGES):
            parts = root.removesuffix(_MESSAGES) + _PARTS
            transcripts.append(TranscriptPlace(place.agent, parts, place.pattern, "part"))
        else:
            transcripts.append(TranscriptPlace(place.agent, root, place.pattern, form))
    return tuple(transcripts)
