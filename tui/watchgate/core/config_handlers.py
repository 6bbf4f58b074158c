"""The configuration's `[dispatch]`, `[[handler]]`, `[[extension]]` and `[[sink]]`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from watchgate.core.handlers import OnFailure
from watchgate.core.permissions import Permission
from watchgate.core.presets import PresetName, ProtocolName

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
Limit = Annotated[float, msgspec.Meta(gt=0, le=3_600)]
Argv = Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
SinkType = Literal["stdout", "jsonl", "webhook", "unix-socket"]
Envelope = Literal["record", "codewhale"]


class DispatchConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[dispatch]`: the preset of the user's handlers, and the time for all of them together."""

    preset: PresetName = "console"
    total_timeout_s: Limit | None = None


class MatchConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`match`: the events that a handler wants; every key that is given must fit.

    `tool` is a name, `prefix*` or `*`; `command_word` one whole word of a shell command.
    """

    tool: str | None = None
    command_contains: str | None = None
    command_word: str | None = None
    input_contains: str | None = None
    input_equals: Any = msgspec.UNSET
    regex: str | None = None
    agent: str | None = None
    session: str | None = None
    cwd: str | None = None


class HandlerConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[[handler]]`: one hook command of the user's own, run by the core.

    `matcher` is the tool matcher as the protocol's own system writes it; `cwd` replaces the
    session's folder; `env` adds variables to the allow-listed ones.
    """

    id: Id
    on: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    command: Argv
    role: Literal["gate", "observer"] = "gate"
    timeout_s: Limit | None = None
    on_failure: OnFailure | None = None
    priority: int = 100
    match: MatchConfig = MatchConfig()
    matcher: str | None = None
    protocol: ProtocolName | None = None
    continue_on_failure: bool | None = None
    once: bool = False
    enabled: bool = True
    cwd: str | None = None
    env: dict[str, str] = {}


class ExtensionConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[[extension]]`: one long-lived process; `permissions` are what the user grants it.

    `config` are the values of the keys that its manifest declares.
    """

    id: Id
    manifest: Annotated[str, msgspec.Meta(min_length=1)]
    permissions: tuple[Permission, ...] = ()
    role: Literal["gate", "observer"] = "gate"
    timeout_s: Limit | None = None
    on_failure: OnFailure | None = None
    priority: int = 100
    enabled: bool = True
    config: dict[str, str] = {}


class SinkConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[[sink]]`: a target for copies of records; `kinds` are record kinds or families (`tool.*`).

    `queue` is how many records wait for a slow reader before the oldest is dropped and counted.
    """

    type: SinkType
    path: str | None = None
    url: str | None = None
    envelope: Envelope = "record"
    kinds: tuple[str, ...] = ("*",)
    queue: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 1_000
