"""A terminal is unlocked by a touched security key, and by nothing that merely looks like one.

The key is one of software (tests/security_key.py): no hardware can be touched here.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.security_key import SoftKey, software_key
from tests.service.control.counter import Counter
from tests.service.control.test_proof_verbs import BELOW, PIN, allowed, in_tmux
from watchgate.core.presence.key_signature import ECDSA
from watchgate.link.protocol import Challenge
from watchgate.service.control.caller import Caller
from watchgate.service.identity.sealed_files import ProofFile
from watchgate.service.identity.unlock_proofs import Guesses, PinTries, TouchKey


@pytest.fixture
def key(tmp_path: Path) -> SoftKey:
    return software_key(tmp_path / "key")


@pytest.fixture
async def keyed(runtime_dir: Path, key: SoftKey) -> Counter:
    """An agent is known, and a security key is set, but no PIN."""
    counter = Counter(runtime_dir, "strict")
    counter.desk.paper.at_once = True
    await set_key(counter, key)
    await counter.held("high other")
    return counter


async def set_key(counter: Counter, key: SoftKey, caller: Caller | None = None) -> None:
    fields = {"action": "set", "key": key.line, "key_file": str(key.path)}
    await counter.ok("pin", caller, **fields)


async def challenged(counter: Counter, caller: Caller) -> str:
    """The text that this terminal's key has to sign."""
    answer = msgspec.convert(await counter.ok("unlock", caller, challenge=True), Challenge)
    assert (len(bytes.fromhex(answer.challenge)), answer.seconds) == (32, 120)
    return answer.challenge


async def test_a_touched_key_unlocks_its_terminal_and_no_other(
    keyed: Counter, key: SoftKey
) -> None:
    caller, other = in_tmux(keyed), in_tmux(keyed, 26)
    assert await allowed(keyed, caller, "medium") == "locked", "as with a PIN"
    challenge = await challenged(keyed, caller)
    stands = await keyed.ok("unlock", caller, signature=key.signed(challenge))
    assert (stands["standing"], stands["key"], stands["pin"]) == ("key", True, False)
    told = keyed.desk.last("policy.unlocked")
    assert "bash (pid 25) was unlocked by the security key" in told["what"]
    assert told["actor"]["standing"] == "key"
    assert await allowed(keyed, caller, "high") == "allowed"
    assert keyed.desk.last("approval.decided")["actor"]["standing"] == "key"
    assert await allowed(keyed, other, "medium") == "locked"
    await keyed.ok("unlock", caller, action="off")
    assert (await keyed.ok("presence", caller))["standing"] == "locked"


async def test_a_key_of_the_other_kind_unlocks_too(runtime_dir: Path, tmp_path: Path) -> None:
    key, counter = software_key(tmp_path / "key", ECDSA), Counter(runtime_dir, "strict")
    counter.desk.paper.at_once = True
    await set_key(counter, key)
    await counter.held("high other")
    caller = in_tmux(counter)
    signature = key.signed(await challenged(counter, caller))
    assert (await counter.ok("unlock", caller, signature=signature))["standing"] == "key"


async def test_a_signature_counts_once_and_for_the_terminal_that_asked(
    keyed: Counter, key: SoftKey
) -> None:
    caller, other = in_tmux(keyed), in_tmux(keyed, 26)
    signature = key.signed(await challenged(keyed, caller))
    said = await keyed.refused("unlock", other, signature=signature)
    assert (said.refused, said.wait_s) == ("wrong_pin", 0), "another terminal's challenge"
    await challenged(keyed, other)
    assert (await keyed.refused("unlock", other, signature=signature)).refused == "wrong_pin"
    await keyed.ok("unlock", caller, signature=signature)
    await keyed.ok("unlock", caller, action="off")
    assert (await keyed.refused("unlock", caller, signature=signature)).refused == "wrong_pin"
    await challenged(keyed, caller)
    assert (await keyed.refused("unlock", caller, signature=signature)).refused == "wrong_pin"
    assert (await keyed.ok("presence", caller))["standing"] == "locked"


async def test_a_challenge_ends_with_a_wrong_signature_a_new_one_or_two_minutes(
    keyed: Counter, key: SoftKey
) -> None:
    caller = in_tmux(keyed)
    signature = key.signed(await challenged(keyed, caller))
    assert (await keyed.refused("unlock", caller, signature="x")).refused == "wrong_pin"
    assert (await keyed.refused("unlock", caller, signature=signature)).refused == "wrong_pin"
    signature = key.signed(await challenged(keyed, caller))
    keyed.desk.clock.advance(120)
    assert (await keyed.refused("unlock", caller, signature=signature)).refused == "wrong_pin"
    signature = key.signed(await challenged(keyed, caller))
    await challenged(keyed, caller)
    assert (await keyed.refused("unlock", caller, signature=signature)).refused == "wrong_pin"


async def test_wrong_signatures_end_in_a_pause_for_the_pin_too(
    keyed: Counter, key: SoftKey, tmp_path: Path
) -> None:
    await keyed.ok("pin", action="set", pin=PIN)
    caller, stranger = in_tmux(keyed), software_key(tmp_path / "other")

    async def wait_s(signature: str) -> int | None:
        said = await keyed.refused("unlock", caller, signature=signature)
        assert said.refused == "wrong_pin"
        return said.wait_s

    assert await wait_s(stranger.signed(await challenged(keyed, caller))) == 0
    assert await wait_s(key.signed(await challenged(keyed, caller), "git")) == 0
    assert await wait_s(key.signed("00" * 32)) == 0, "no challenge is open"
    key.flags = 0
    assert await wait_s(key.signed(await challenged(keyed, caller))) == 0, "it was not touched"
    key.flags = 1
    await challenged(keyed, caller)
    assert await wait_s("\udc80garbage") == 30
    assert await wait_s(key.signed(await challenged(keyed, caller))) == 30, "nor the right one"
    assert (await keyed.refused("unlock", caller, pin=PIN)).wait_s == 30
    keyed.desk.clock.advance(30)
    await keyed.ok("unlock", caller, signature=key.signed(await challenged(keyed, caller)))


async def test_no_key_helps_what_runs_below_an_agent(keyed: Counter) -> None:
    below = keyed.caller(*BELOW)
    assert (await keyed.refused("unlock", below, challenge=True)).refused == "self_approval"
    assert (await keyed.refused("unlock", below, signature="x")).refused == "self_approval"


async def test_without_a_key_there_is_no_challenge(runtime_dir: Path) -> None:
    counter = Counter(runtime_dir, "strict")
    said = await counter.refused("unlock", challenge=True)
    assert "no security key is set" in said.message


async def test_the_refusal_says_to_touch_it(keyed: Counter) -> None:
    said = await keyed.refused("off", in_tmux(keyed), seconds=60)
    assert "touch your security key (watchgate unlock --key)" in said.message


async def test_a_key_is_set_and_removed_where_a_pin_could_be(
    keyed: Counter, tmp_path: Path
) -> None:
    caller, other = in_tmux(keyed), software_key(tmp_path / "other")
    before = keyed.presences.pin.file.content
    fields = {"key": other.line, "key_file": str(other.path)}
    assert (await keyed.refused("pin", caller, action="set", **fields)).refused == "locked"
    assert (await keyed.refused("pin", caller, action="remove", key="")).refused == "locked"
    below = keyed.caller(*BELOW)
    assert (await keyed.refused("pin", below, action="set", **fields)).refused == "self_approval"
    assert keyed.presences.pin.file.content == before
    await keyed.ok("pin", action="set", pin=PIN)
    await keyed.ok("pin", caller, action="set", current=PIN, **fields)
    await keyed.ok("pin", action="remove", key="")
    stands = await keyed.ok("presence")
    assert (stands["key"], stands["pin"]) == (False, True)


async def test_a_pin_and_a_key_unlock_either_and_one_outlives_the_other(
    keyed: Counter, key: SoftKey
) -> None:
    await keyed.ok("pin", action="set", pin=PIN)
    caller, other = in_tmux(keyed), in_tmux(keyed, 26)
    assert (await keyed.ok("unlock", caller, pin=PIN))["standing"] == "pin"
    signature = key.signed(await challenged(keyed, other))
    assert (await keyed.ok("unlock", other, signature=signature))["standing"] == "key"
    await keyed.ok("pin", action="remove")
    stands = await keyed.ok("presence", caller)
    assert (stands["standing"], stands["pin"], stands["key"]) == ("locked", False, True)


async def test_a_new_key_locks_what_the_old_one_unlocked(keyed: Counter, key: SoftKey) -> None:
    caller = in_tmux(keyed)
    await keyed.ok("unlock", caller, signature=key.signed(await challenged(keyed, caller)))
    await set_key(keyed, key)
    assert (await keyed.ok("presence", caller))["standing"] == "locked"


async def test_what_signs_without_a_touch_is_not_set(keyed: Counter) -> None:
    before = keyed.presences.pin.file.content
    line, path = "ssh-ed25519 AAAA ana", "/home/ana/.ssh/id.pub"
    said = await keyed.refused("pin", action="set", key=line, key_file=path)
    assert said.refused == "bad_request"
    assert "an agent could sign by itself" in said.message
    assert keyed.presences.pin.file.content == before


async def test_the_record_has_the_fingerprint_of_the_file_and_of_the_key(
    keyed: Counter, key: SoftKey
) -> None:
    told = keyed.desk.last("policy.pin")
    assert "the security key SHA256:" in told["what"]
    assert told["detail"] == keyed.presences.pin.file.fingerprint


async def test_a_key_put_into_the_file_counts_for_nothing(
    keyed: Counter, key: SoftKey, tmp_path: Path
) -> None:
    """Neither under a running core nor for the next one, which the journal tells of the file."""
    kept, stranger = keyed.presences.pin.file, software_key(tmp_path / "other")
    fingerprint = kept.fingerprint
    forged = ProofFile(kept.path)
    guesses = Guesses(PinTries(tmp_path / "pin-tries.json", keyed.desk.clock))
    await TouchKey(forged, guesses).set(stranger.line, str(stranger.path))
    assert kept.differs()
    caller = in_tmux(keyed)
    signature = stranger.signed(await challenged(keyed, caller))
    assert (await keyed.refused("unlock", caller, signature=signature)).refused == "wrong_pin"
    again = ProofFile(kept.path)
    again.load(fingerprint)
    assert again.distrusted
    assert not TouchKey(again, guesses).is_set
