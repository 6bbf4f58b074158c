"""A core that refuses to allow until it is told a PIN, a code or a key's signature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from tests.security_key import SoftKey
from tests.ui.console_bench import LOCKED, Bench
from tests.ui.fake_source import FakeSource
from tests.ui.open_requests import SECOND, asked, pending
from watchgate.link.control_lines import ControlAnswer
from watchgate.link.protocol import (
    Challenge,
    Code,
    Presence,
    Refusal,
    Request,
    Result,
    Snapshot,
    Unlocked,
)

NO_PIN = msgspec.structs.replace(LOCKED, pin=False)


class Fed(Protocol):
    """A console with the core that a test turns."""

    source: FakeSource


def core(bench: Fed, *, pin: str = "4711") -> Callable[[Request], ControlAnswer]:
    """A core that refuses to allow until the PIN was told, or a code confirmed."""

    def answer(request: Request) -> ControlAnswer:
        if request.verb == "unlock":
            if request.code is not None:
                told = Unlocked(unlocked="pts/7", leader="bash 4242")
                return Result(id=0, ok=msgspec.to_builtins(told))
            if request.pin is None:
                return Result(id=0, ok=msgspec.to_builtins(Code(code="418207", seconds=300)))
            if request.pin != pin:
                return Refusal(id=0, refused="wrong_pin", message="not the PIN, 4 tries are left")
            bench.source.presence = Presence(standing="pin", pin=True)
            return Result(id=0, ok=msgspec.to_builtins(bench.source.presence))
        if request.decision == "allow" and not (bench.source.presence or NO_PIN).proven:
            return Refusal(id=0, refused="locked", message="this terminal is locked")
        return Result(id=0)

    return answer


def two() -> Snapshot:
    return pending(asked(), asked(id=SECOND))


def verbs(bench: Bench) -> list[str]:
    return [each.verb for each in bench.source.asked]


def keyed(bench: Fed, key: SoftKey) -> Callable[[Request], ControlAnswer]:
    """A core that a signature of this challenge unlocks; a real ssh-keygen makes that."""
    told = Challenge(challenge="5f" * 32, seconds=120, key_file=str(key.path))

    def answer(request: Request) -> ControlAnswer:
        if request.challenge:
            return Result(id=0, ok=msgspec.to_builtins(told))
        if request.signature is None:
            return core(bench)(request)
        if not key.is_accepted_by_openssh(told.challenge, request.signature):
            return Refusal(id=0, refused="wrong_pin", message="it is not of this challenge")
        bench.source.presence = Presence(standing="key", key=True)
        return Result(id=0, ok=msgspec.to_builtins(bench.source.presence))

    return answer
