"""One question to the running core, and what its refusals mean to a script."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from watchgate.cli.exits import Exit, Stop
from watchgate.cli.place import here

if TYPE_CHECKING:
    from watchgate.link.protocol import Request

_LATE = {"already_settled", "too_late"}


class Unreached(Stop):
    """No core could be asked, so none did anything."""


def ask(request: Request) -> dict[str, Any]:
    """What the core answers; raises `Unreached` without one, `Stop` when it refuses."""
    from watchgate.link.lines import LinkError, NoCore
    from watchgate.link.once import call_once
    from watchgate.link.protocol import Refusal

    try:
        answer = call_once(here().control_socket, request)
    except NoCore as none:
        raise Unreached(str(none), Exit.NO_CORE) from None
    except LinkError as fault:
        raise Stop(str(fault), Exit.NO_CORE) from None
    if isinstance(answer, Refusal):
        code = Exit.TOO_LATE if answer.refused in _LATE else Exit.REFUSED
        if answer.refused == "bad_request":
            code = Exit.USAGE
        raise Stop(f"{answer.refused}: {answer.message}{_when(answer.at)}", code)
    return answer.ok


def _when(at_us: int | None) -> str:
    if at_us is None:
        return ""
    moment = datetime.fromtimestamp(at_us / 1_000_000, UTC).astimezone()
    return f", at {moment:%H:%M:%S}"
