"""sandbox-agent's hook lists, read into handlers of ours.

Source of the wire format: rivet-dev/sandbox-agent, pull request 45, where a session is created with
`hooks`. Its code says `timeoutSecs`; `timeout`, as its description has it, is refused.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from watchgate.core.base import decoding
from watchgate.core.dispatch.handler_config import HandlerConfig

_KINDS: Final = {
    "on_session_start": "session.start",
    "on_session_end": "session.end",
    "on_message_start": "prompt.submit",
    "on_message_end": "turn.end",
}


class SandboxHook(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """One hook: a line for `sh -c`, its limit in seconds, its folder, and what its failure ends."""

    command: Annotated[str, msgspec.Meta(min_length=1)]
    timeout_secs: Annotated[float, msgspec.Meta(gt=0, le=3_600)] = 30
    working_dir: str | None = None
    continue_on_failure: bool = True


class SandboxHookLists(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """The hooks of each lifecycle event, in order."""

    on_session_start: tuple[SandboxHook, ...] = ()
    on_session_end: tuple[SandboxHook, ...] = ()
    on_message_start: tuple[SandboxHook, ...] = ()
    on_message_end: tuple[SandboxHook, ...] = ()


class _SandboxSession(msgspec.Struct, frozen=True):
    hooks: msgspec.Raw = msgspec.Raw()


def sandbox_handlers(session: bytes) -> tuple[HandlerConfig, ...]:
    """Reads the handlers of a session's `hooks`, or of such an object itself.

    Raises `msgspec.DecodeError` with the mend.
    """
    try:
        hooks = decoding.decode(session, _SandboxSession).hooks
        lists = decoding.decode(bytes(hooks) or session, SandboxHookLists)
    except (UnicodeDecodeError, RecursionError) as fault:
        raise msgspec.DecodeError(f"not JSON that can be read: {fault}") from None
    return tuple(
        HandlerConfig(
            id=f"sandbox-{kind}-{number}",
            on=(kind,),
            command=("sh", "-c", entry.command),
            timeout_s=entry.timeout_secs,
            priority=number,
            protocol="sandbox-env",
            continue_on_failure=entry.continue_on_failure,
            cwd=entry.working_dir,
        )
        for field, kind in _KINDS.items()
        for number, entry in enumerate(getattr(lists, field), start=1)
    )
