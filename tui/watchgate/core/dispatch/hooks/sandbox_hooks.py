"""sandbox-agent's lifecycle hooks: no stdin, the event in variables, only the exit code counts.

Source of the wire format: rivet-dev/sandbox-agent, pull request 45. A message that no variable can
carry is left out there by a failing start; here `SANDBOX_MESSAGE_OMITTED` says why it is missing.

- sandbox-agent's hook lists, read into handlers of ours. Source of the wire format:
  rivet-dev/sandbox-agent, pull request 45, where a session is created with `hooks`. Its code says
  `timeoutSecs`; `timeout`, as its description has it, is refused.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from watchgate.core.base import decoding
from watchgate.core.dispatch.handler_config import HandlerConfig
from watchgate.core.dispatch.hooks.hook_exchange import HookInput, HookProtocol
from watchgate.core.dispatch.hooks.hook_texts import environment, event_text
from watchgate.core.model.events import Event
from watchgate.core.model.verdicts import Defer, Report

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


EVENTS: Final = {
    "session.start": "session_start",
    "session.end": "session_end",
    "prompt.submit": "message_start",
    "turn.end": "message_end",
}
MESSAGE_BYTES: Final = 8_192


def ask(event: Event, _handler_id: str) -> HookInput:
    """Builds the session's names, and at the start of a message its text."""
    hook_type = EVENTS.get(event.kind, event.kind.replace(".", "_"))
    return HookInput(
        None,
        environment(
            {
                "SANDBOX_SESSION_ID": event.session,
                "SANDBOX_AGENT": event.agent,
                "SANDBOX_AGENT_MODE": event.mode or "",
                "SANDBOX_HOOK_TYPE": hook_type,
                "SANDBOX_MESSAGE": event_text(event) if hook_type == "message_start" else None,
            },
            MESSAGE_BYTES,
        ),
    )


def read(_stdout: str, _event: Event) -> Report:
    """Returns no opinion: these hooks do not answer."""
    return Report(verdict=Defer())


SANDBOX_ENV: Final = HookProtocol(
    name="sandbox-env",
    ask=ask,
    read=read,
    events=EVENTS,
    exits={0: "pass", "other": "fail"},
    stdout_cap_bytes=64 * 1024,
    stderr_cap_bytes=64 * 1024,
)
