"""One question to the running core, and what its refusals mean to a script."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.command_environment import here
from watchgate.cli.base.printing import Exit, Stop, complain
from watchgate.cli.base.typed_input import at_terminal, needs_terminal, typed_secret
from watchgate.core.base import decoding
from watchgate.link.control_lines import ControlAnswer, LinkError, NoCore
from watchgate.link.protocol import Challenge, Presence, Refusal, Request

if TYPE_CHECKING:
    from watchgate.core.policy.rules.profiles import Profile

PIN_ASKED = "PIN (not shown; nothing leaves it locked): "
_CODES = {"already_settled": Exit.TOO_LATE, "too_late": Exit.TOO_LATE, "bad_request": Exit.USAGE}


class Unreached(Stop):
    """No core could be asked, so none did anything."""


def ask(request: Request) -> dict[str, Any]:
    """Returns the core's answer; raises `Unreached` without a core, `Stop` when it refuses.

    Where this terminal is locked and a PIN or a key is set, it is asked for, and the core again.
    """
    answer = request_answer(request)
    if isinstance(answer, Refusal) and answer.refused == "locked" and _unlocked():
        answer = request_answer(request)
    if isinstance(answer, Refusal):
        code = _CODES.get(answer.refused, Exit.REFUSED)
        raise Stop(f"{answer.refused}: {answer.message}{_when(answer.at)}", code)
    return answer.ok


def request_answer(request: Request) -> ControlAnswer:
    """The core's answer, a refusal included; raises `Unreached` without a core."""
    from watchgate.link.core_socket import call_once

    try:
        return call_once(here().control_socket, request)
    except NoCore as none:
        raise Unreached(str(none), Exit.NO_CORE) from None
    except LinkError as fault:
        raise Stop(str(fault), Exit.NO_CORE) from None


def core_profile() -> Profile | None:
    """The profile of the core that runs; None without one."""
    try:
        profile: Profile = ask(Request(id=1, verb="hello"))["hello"]["profile"]
    except Unreached:
        return None
    return profile


def check_person(doing: str) -> None:
    """Raises `Stop` where a core runs that takes this process for an agent's, or asks for a proof.

    A locked terminal that nothing could unlock is taken for a person's: who works in tmux or an
    editor alone could never leave.
    """
    try:
        stands = presence()
    except Unreached:
        return
    provable = stands.pin or stands.key
    if stands.proven or (stands.standing == "locked" and (not provable or _unlocked())):
        return
    raise Stop(f"{doing} takes a person: {stands.why}. Nothing was changed")


def needs_core_at_terminal(otherwise: str) -> None:
    """Ends the command where no core answers, and with this text where no person can be asked."""
    if not at_terminal():
        request_answer(Request(id=1, verb="hello"))  # a terminal would not help where no core runs
    needs_terminal(otherwise)


def presence() -> Presence:
    """Returns this terminal's standing with the core."""
    return decoding.convert(ask(Request(id=1, verb="presence")), Presence)


def _unlocked() -> bool:
    """Unlocks this terminal by a person, if one can be proven and asked; returns whether it is."""
    if not at_terminal():
        return False
    stands = presence()
    if stands.pin:
        return unlocked_by_pin(stands.why)
    return stands.key and unlocked_by_key(stands.why)


def unlocked_by_pin(why: str) -> bool:
    """Asks for the PIN until it is right; False where none was typed. Raises `Stop` at a pause."""
    complain(f"this terminal is locked: {why}")
    while pin := typed_secret(PIN_ASKED):
        answer = request_answer(Request(id=1, verb="unlock", pin=pin))
        if not isinstance(answer, Refusal):
            return True
        if answer.refused != "wrong_pin" or answer.wait_s:
            raise Stop(f"{answer.refused}: {answer.message}")
        complain(answer.message)
    return False


def unlocked_by_key(why: str) -> bool:
    """Has the security key touched. Raises `Stop` where it was not, or is not the one."""
    import anyio

    from watchgate.link.touching import TOUCH, NotTouched, touched

    answer = request_answer(Request(id=1, verb="unlock", challenge=True))
    if not isinstance(answer, Refusal):
        challenge = decoding.convert(answer.ok, Challenge)
        complain(f"this terminal is locked: {why}")
        complain(f"{TOUCH}; Ctrl+C leaves it locked")
        try:
            signature = anyio.run(partial(touched, challenge, at_terminal=True))
        except NotTouched as fault:
            raise Stop(f"{fault}: the terminal is locked as before, it may deny") from None
        answer = request_answer(Request(id=1, verb="unlock", signature=signature))
    if isinstance(answer, Refusal):
        raise Stop(f"{answer.refused}: {answer.message}", Exit.REFUSED)
    return True


def _when(at_us: int | None) -> str:
    if at_us is None:
        return ""
    moment = datetime.fromtimestamp(at_us / 1_000_000, UTC).astimezone()
    return f", at {moment:%H:%M:%S}"
