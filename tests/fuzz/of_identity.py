"""Files of who may decide: each is read or refused, and names no other terminal or program."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from typing import TypeVar

from tests.fuzz.of_files import BROKEN, folder, written
from tests.fuzz.target import Target, demand
from watchgate.core.base.clock import Instant
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.presence.key_signature import WireFault, check_touch, public_key
from watchgate.service.identity import agent_processes
from watchgate.service.identity.agent_processes import AgentsFileError
from watchgate.service.identity.sealed_files import ProofFile, SealedFile, TokenRegistry
from watchgate.service.identity.unlock_proofs import (
    LONGEST_PAUSE_S,
    MAX_TRIES,
    Guesses,
    Pin,
    PinTries,
)
from watchgate.service.system.off_switch import boot_id
from watchgate.service.system.system_clock import FakeClock

_File = TypeVar("_File", bound=SealedFile)


def agents(data: bytes) -> None:
    """`agents.json`; what is read is written and read again the same."""
    found = agent_processes.load_agents(
        written("agents.json", data.replace(b"BOOT", boot_id().encode()))
    )
    path = folder() / "agents-again.json"
    agent_processes.save_agents(path, found)
    demand(agent_processes.load_agents(path) == found, "the same when read again")


def pin(data: bytes) -> None:
    """`pin`, with the fingerprint of which the journal knows."""
    tries = folder() / "tries-of-pin.json"
    tries.unlink(missing_ok=True)
    guesses = Guesses(PinTries(tries, FakeClock(Instant(0, 0.0))))
    asyncio.run(Pin(_sealed(ProofFile, "pin", data), guesses).verify("123456"))


def tries(data: bytes) -> None:
    """`pin-tries.json`: whatever is in it, none waits for longer than a day."""
    found = PinTries(written("pin-tries.json", data), FakeClock(Instant(1, 1.0)))
    demand(0 <= found.left_s <= LONGEST_PAUSE_S, "a pause of a day at most")
    demand(found.wrong >= MAX_TRIES or not found.left_s, "a pause only after five")


def touch(data: bytes) -> None:
    """The signature of a security key; one that is cut or bent anywhere does not count."""
    check_touch(data.decode("latin-1"), public_key(_KEY), _CHALLENGE)


def tokens(data: bytes) -> None:
    """`tokens.json`, with the fingerprint of which the journal knows."""
    found = TokenRegistry(_sealed(SealedFile, "tokens.json", data))
    found.rows()
    found.program("t")


def _sealed(kind: type[_File], name: str, data: bytes) -> _File:
    file = kind(written(name, data))
    file.load(sha256(data).hexdigest())
    return file


_CHALLENGE = b"5f" * 32
_KEY = (
    "sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIPkj/YziI1r1hTVK880"
    "reoN7eEktGVLnHFmnz2++iPD6AAAABHNzaDo="
)
_SIGNATURE = (
    b"-----BEGIN SSH SIGNATURE-----\n"
    b"U1NIU0lHAAAAAQAAAEoAAAAac2stc3NoLWVkMjU1MTlAb3BlbnNzaC5jb20AAAAg+SP9jOIjWvWFNUrzzSt6g3t4SS"
    b"0ZUuccWafPb76I8PoAAAAEc3NoOgAAABB3YXRjaGdhdGUtdW5sb2NrAAAAAAAAAAZzaGE1MTIAAABnAAAAGnNrLXNz"
    b"aC1lZDI1NTE5QG9wZW5zc2guY29tAAAAQNxTEfQ0/9qH231hPsbEVbnK5OflOU1xtj3jW7yPzRlZFVzE1iUj+0gGMH"
    b"JwYbcbOgmCuFwM674wxwZVff5+fwEBAAAAAQ=="
    b"\n-----END SSH SIGNATURE-----\n"
)


_PIN = (
    b'{"version":1,"salt":"AAAAAAAAAAAAAAAAAAAAAA==",'
    b'"hash":"vOXKCa8oASQ7jZUYwY6EZjWOYYADQKLoUYbScK+wJGhUo7Nj5Hsxj60NOD9fSN/8kxL19J0/Ux8JFN6E53pTWw=="}'
)
_ROW = b'{"name":"ci","risk":"high","added_at":1,"hash":"'

IDENTITY = {
    "agents": Target(
        feed=agents,
        found=BROKEN,
        refusals=(AgentsFileError,),
        seeds=(
            (
                b'{"version":1,"boot":"BOOT","agents":[{"pid":4,"start":"9","comm":"claude",'
                b'"agent":"claude","session":"s"}]}'
            ),
        ),
    ),
    "pin": Target(
        feed=pin,
        found=BROKEN,
        refusals=(Refused,),
        seeds=(_PIN,),
    ),
    "pin-tries": Target(
        feed=tries,
        found=BROKEN,
        seeds=(b'{"version":1,"wrong":6,"until":60000000}', b'{"wrong":1,"until":0}'),
    ),
    "touch": Target(
        feed=touch,
        refusals=(WireFault,),
        seeds=(_SIGNATURE,),
    ),
    "tokens": Target(
        feed=tokens,
        found=(*BROKEN, b'{"tokens":[' + _ROW + b'\xc3\xa9"}]}'),
        refusals=(Refused,),
        seeds=(b'{"version":1,"tokens":[' + _ROW + sha256(b"t").hexdigest().encode() + b'"}]}',),
    ),
}
