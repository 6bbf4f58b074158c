"""Files of who may decide: each is read or refused, and names no other terminal or program."""

from __future__ import annotations

import asyncio
from hashlib import sha256

from tests.fuzz.of_files import BROKEN, folder, written
from tests.fuzz.target import Target, demand
from watchgate.core.clock import Instant
from watchgate.core.decisions import Refused
from watchgate.service.clock import FakeClock
from watchgate.service.identity import agents_file
from watchgate.service.identity.agents_file import AgentsError
from watchgate.service.identity.pin import Pin
from watchgate.service.identity.sealed_file import SealedFile
from watchgate.service.identity.tokens import Tokens
from watchgate.service.identity.tries import LONGEST_PAUSE_S, TRIES, Tries
from watchgate.service.off_switch import boot_id


def agents(data: bytes) -> None:
    """`agents.json`; what is read is written and read again the same."""
    found = agents_file.load(written("agents.json", data.replace(b"BOOT", boot_id().encode())))
    path = folder() / "agents-again.json"
    agents_file.save(path, found)
    demand(agents_file.load(path) == found, "the same when read again")


def pin(data: bytes) -> None:
    """`pin`, with the fingerprint of which the journal knows."""
    tries = folder() / "tries-of-pin.json"
    tries.unlink(missing_ok=True)
    asyncio.run(Pin(_sealed("pin", data), tries, FakeClock(Instant(0, 0.0))).verify("123456"))


def tries(data: bytes) -> None:
    """`pin-tries.json`: whatever is in it, none waits for longer than a day."""
    found = Tries(written("pin-tries.json", data), FakeClock(Instant(1, 1.0)))
    demand(0 <= found.left_s <= LONGEST_PAUSE_S, "a pause of a day at most")
    demand(found.wrong >= TRIES or not found.left_s, "a pause only after five")


def tokens(data: bytes) -> None:
    """`tokens.json`, with the fingerprint of which the journal knows."""
    found = Tokens(_sealed("tokens.json", data))
    found.rows()
    found.program("t")


def _sealed(name: str, data: bytes) -> SealedFile:
    file = SealedFile(written(name, data))
    file.load(sha256(data).hexdigest())
    return file


_PIN = (
    b'{"version":1,"salt":"AAAAAAAAAAAAAAAAAAAAAA==",'
    b'"hash":"vOXKCa8oASQ7jZUYwY6EZjWOYYADQKLoUYbScK+wJGhUo7Nj5Hsxj60NOD9fSN/8kxL19J0/Ux8JFN6E53pTWw=="}'
)
_ROW = b'{"name":"ci","risk":"high","added_at":1,"hash":"'

IDENTITY = {
    "agents": Target(
        feed=agents,
        found=BROKEN,
        refusals=(AgentsError,),
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
    "tokens": Target(
        feed=tokens,
        found=(*BROKEN, b'{"tokens":[' + _ROW + b'\xc3\xa9"}]}'),
        refusals=(Refused,),
        seeds=(b'{"version":1,"tokens":[' + _ROW + sha256(b"t").hexdigest().encode() + b'"}]}',),
    ),
}
