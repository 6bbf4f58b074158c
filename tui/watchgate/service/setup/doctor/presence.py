"""Checks this machine: directories, sockets, disk, core, shell parser, PIN and terminal."""

from __future__ import annotations

from collections.abc import Iterator

from watchgate.core import decoding
from watchgate.link.lines import LinkError
from watchgate.link.once import call_once
from watchgate.link.paths import Paths
from watchgate.link.protocol import Presence, Refusal, Request
from watchgate.service.setup.doctor.check import Check
from watchgate.service.setup.doctor.places import HELLO_TIMEOUT_S


def check_presence(places: Paths) -> Iterator[Check]:
    """Yields one finding for each; none where no core answers."""
    try:
        answer = call_once(
            places.control_socket, Request(id=1, verb="presence"), timeout_s=HELLO_TIMEOUT_S
        )
    except LinkError:
        return
    if isinstance(answer, Refusal):
        return
    stands = decoding.convert(answer.ok, Presence)
    if stands.pin:
        yield Check("PIN", "ok", "a PIN is set: it unlocks a terminal once")
    elif stands.key:
        yield Check("PIN", "ok", "a security key is set: its touch unlocks a terminal once")
    else:
        yield Check(
            "PIN",
            "warn",
            "no PIN is set: a locked terminal may allow low and medium risk alone",
            "`watchgate pin set`, in a terminal from before any agent or while none runs",
        )
    if stands.proven:
        yield Check("this terminal", "ok", f"may allow ({stands.standing})")
    else:
        yield Check(
            "this terminal", "warn", f"is locked for allowing: {stands.why}", "`watchgate unlock`"
        )
